"""`mx.profiler.scope`: memory is counted under the name of the scope that made the array."""

from __future__ import annotations

import asyncio
import json
import pickle
import sys
import threading
from collections.abc import Sequence

import pytest

import mxprof_nb as mp
import mxprof_nb.runtime as mx
from mxprof_nb.analysis import memory_scope
from mxprof_nb.errors import ProfilerOptionError
from mxprof_nb.runtime.context import ScopedContext
from mxprof_nb.view.scene import Stage
from tests.environment import run

nd, profiler = mx.nd, mx.profiler

pytestmark = pytest.mark.usefixtures("fresh_profiler")

KB = 1000


def curves(profile: mp.Profile) -> dict[str, list[int]]:
    """Return the values of each curve of memory, in order."""
    memory = profile.counters[profile.counters.unit == "B"]
    return {
        str(name): [int(value) for value in rows.value]
        for name, rows in memory.groupby("name", observed=True)
    }


def test_memory_of_arrays_made_inside_has_a_curve_of_its_own():
    nd.ones((2,)).sum().wait_to_read()  # set up
    with mp.profile() as p:
        outside = nd.ones((250,))
        with profiler.scope("encoder:"):
            inside = nd.ones((500,))
            nd.waitall()
        nd.waitall()
        del inside
        nd.waitall()
        del outside
    found = curves(p)
    assert found["Memory: cpu/0 encoder:"] == [2 * KB, 0]
    assert found["Memory: cpu/0"] == [1 * KB, 3 * KB, 1 * KB, 0]


def test_the_records_of_what_takes_and_gives_back_tell_bytes_and_scope(tmp_path):
    with mp.profile() as p:
        with profiler.scope("<a & b>"):
            x = nd.ones((250,))
        y = x + 1
        nd.waitall()
        del x
    for profile in (p, mp.load(p.save(tmp_path / "a.json"))):
        trace = profile.trace
        arg_of = dict(zip(profile.events.name, trace.events.arg.tolist(), strict=True))
        assert memory_scope(trace, arg_of["_ones"]) == "<a & b>:"
        assert memory_scope(trace, arg_of["DeleteVariable"]) == "<a & b>:"
        assert memory_scope(trace, arg_of["_plus_scalar"]) == ""
    (row,) = p.events.index[p.events.name == "DeleteVariable"]
    assert p.trace.args.bytes[p.trace.events.arg[row]] == 1000
    hover = [text for bars in Stage(p.trace).scene().bars for text in bars.hover]
    assert sum("made in the scope &lt;a &amp; b&gt;:" in text for text in hover) == 2
    assert y.shape == (250,)


def test_the_scope_is_that_of_the_call_and_not_of_the_inputs():
    with profiler.scope("a"):
        x = nd.ones((250,))
    nd.waitall()
    with mp.profile() as p:
        y = x + 1
        with profiler.scope("b"):
            z = x * y
        nd.waitall()
        del y, z
    found = curves(p)
    assert found.keys() == {"Memory: cpu/0", "Memory: cpu/0 b:"}
    assert found["Memory: cpu/0 b:"] == [KB, 0]


def test_data_from_numpy_and_copies_to_other_devices_belong_to_it_too():
    with mp.profile() as p, profiler.scope("data"):
        x = nd.array([1.0] * 250)
        y = x.copyto(mx.cpu(1))
        nd.waitall()
    found = curves(p)
    assert found["Memory: cpu/0 data:"][-1] == KB
    assert found["Memory: cpu/1 data:"] == [KB]
    assert y.context == mx.cpu(1)


def test_scopes_inside_of_others_are_appended_or_not():
    alone = profiler.scope("alone:", append_mode=False)
    with profiler.scope("outer") as outer, profiler.scope("inner") as inner, alone as last:
        assert (outer, inner, last) == ("outer:", "outer:inner:", "alone:")


def test_a_scope_without_a_name_has_that_of_mxnet():
    with profiler.scope() as name:
        assert name == "<unk>:"


@pytest.mark.parametrize("name", ["", None, 3])
def test_a_name_must_be_a_text(name):
    with pytest.raises(ProfilerOptionError, match="scope needs a name"), profiler.scope(name):
        pass


def test_a_scope_that_fails_ends():
    with pytest.raises(ZeroDivisionError), profiler.scope("a"):
        _ = 1 / 0
    with profiler.scope("b") as name:
        assert name == "b:"


def test_threads_and_tasks_have_scopes_of_their_own():
    names = []

    def other() -> None:
        with profiler.scope("other") as name:
            names.append(name)

    with profiler.scope("main"):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert names == ["other:"]

    async def one(name: str) -> str:
        with profiler.scope(name) as full:
            await asyncio.sleep(0)
            return full

    async def both() -> Sequence[str]:
        return await asyncio.gather(one("a"), one("b"))

    assert list(asyncio.run(both())) == ["a:", "b:"]


def test_the_table_has_a_row_for_it_under_device_storage():
    profiler.set_config(profile_all=True, aggregate_stats=True)
    profiler.set_state("run")
    with profiler.scope("encoder"):
        x = nd.ones((250,))
        x.wait_to_read()
    profiler.set_state("stop")
    told = json.loads(profiler.dumps(format="json"))["Memory"]["Device Storage"]
    assert told["Memory: cpu/0 encoder:"]["Max"] == 1.0
    assert "Memory: cpu/0 encoder:" in profiler.dumps()


def test_the_file_of_the_profiler_tells_scopes_too(tmp_path):
    profiler.set_config(profile_all=True, filename=tmp_path / "a.json")
    profiler.set_state("run")
    with profiler.scope("encoder"):
        nd.ones((250,)).wait_to_read()
    profiler.set_state("stop")
    profiler.dump()
    text = (tmp_path / "a.json").read_text()
    assert '"memory_scope"' in text
    found = curves(mp.load(tmp_path / "a.json"))
    assert found["Memory: cpu/0 encoder:"][0] == KB


def test_a_device_of_a_scope_is_the_device_everywhere_else():
    with profiler.scope("a"):
        x = nd.ones((2,), ctx=mx.cpu(1))
        assert x.context is mx.cpu(1)
        assert x.as_in_context(mx.cpu(1)) is x
        device = x.chunk.context
        assert isinstance(device, ScopedContext)
    assert device == mx.cpu(1)
    assert mx.cpu(1) == device
    assert device != mx.cpu(0)
    assert device != "cpu(1)"
    assert {mx.cpu(1): 1}[device] == 1
    assert repr(device) == "cpu(1)"
    assert pickle.loads(pickle.dumps(device)) is mx.cpu(1)
    assert nd.random_uniform(shape=(2,), ctx=mx.cpu(1)).sum().context is mx.cpu(1)


def test_a_program_without_scopes_makes_arrays_as_before():
    program = (
        "import mxprof_nb.runtime as mx; from mxprof_nb.runtime.storage import Chunk;"
        "plain = Chunk.__init__; mx.nd.ones((2,)); print(Chunk.__init__ is plain)"
    )
    assert run(sys.executable, "-c", program).strip() == "True"
