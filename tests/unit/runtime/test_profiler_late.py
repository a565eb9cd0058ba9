"""Operators that were queued before `mx.profiler` stopped or paused belong to the profile."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest

import mxprof_nb.runtime as mx
from mxprof_nb.backends.embedded import EmbeddedBackend
from mxprof_nb.io.registry import load
from mxprof_nb.record import RECORDER, RecordConfig
from mxprof_nb.runtime.profiler import state

nd, profiler = mx.nd, mx.profiler

pytestmark = pytest.mark.usefixtures("fresh_profiler")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The file of a profiler that does not run yet."""
    made = tmp_path / "a.json"
    profiler.set_config(filename=made, aggregate_stats=True)
    return made


def names_in(file: Path) -> list[str]:
    trace = load(file)
    return [trace.strings[code] for code in trace.events.name]


def test_stopping_does_not_wait_and_loses_nothing(file, gate):
    x = nd.ones(2)
    nd.waitall()
    gate.hold(x)
    profiler.set_state("run")
    y = x.exp()
    profiler.set_state("stop")
    assert not RECORDER.on
    z = y.sqrt()
    gate.open()
    nd.waitall()
    assert z.shape == (2,)
    text = profiler.dumps()
    assert "\nexp " in text
    assert "\nsqrt " not in text
    profiler.dump()
    assert names_in(file).count("exp") == 1


def test_what_was_queued_before_the_start_or_in_a_pause_is_left_out_as_in_mxnet(file, gate):
    x = nd.ones(2)
    nd.waitall()
    gate.hold(x)
    before = x.sin()
    profiler.set_state("run")
    y = x.exp()
    profiler.pause()
    meanwhile = x.cos()
    profiler.resume()
    gate.open()
    nd.waitall()
    profiler.set_state("stop")
    assert before.shape == meanwhile.shape == y.shape
    text = profiler.dumps()
    assert "\nexp " in text
    assert "\nsin " not in text
    assert "\ncos " not in text
    profiler.dump()
    names = names_in(file)
    assert "exp" in names
    assert not {"sin", "cos"} & {*names}


def test_pausing_neither(file, gate):
    x = nd.ones(2)
    nd.waitall()
    gate.hold(x)
    profiler.set_state("run")
    x.exp()
    profiler.pause()
    x.sqrt()
    gate.open()
    nd.waitall()
    profiler.resume()
    x.log()
    nd.waitall()
    profiler.set_state("stop")
    profiler.dump()
    found = names_in(file)
    assert (found.count("exp"), found.count("sqrt"), found.count("log")) == (1, 0, 1)


@pytest.mark.parametrize("read", [lambda: profiler.dumps(), lambda: profiler.dump()])
def test_a_table_and_a_finished_file_wait_for_what_is_late(file, gate, read):
    x = nd.ones(2)
    nd.waitall()
    gate.hold(x)
    profiler.set_state("run")
    x.exp()
    profiler.set_state("stop")
    reader = threading.Thread(target=read)
    reader.start()
    reader.join(0.05)
    assert reader.is_alive()
    profiler.pause()  # nobody is kept from using the profiler meanwhile
    gate.open()
    reader.join()
    assert "\nexp " in profiler.dumps()


def test_the_wait_is_limited_and_the_file_says_what_is_missing(file, gate, monkeypatch):
    monkeypatch.setattr(state, "LATE_S", 0.01)
    x = nd.ones(2)
    nd.waitall()
    gate.hold(x)
    profiler.set_state("run")
    x.exp()
    profiler.set_state("stop")
    profiler.dump(finished=False)
    trace = load(file)
    assert trace.meta.pending == 2
    assert "exp" not in names_in(file)
    gate.open()
    nd.waitall()
    profiler.dump()
    assert load(file).meta.pending == 0
    assert names_in(file).count("exp") == 1


def test_nothing_is_waited_for_that_was_queued_after_the_stop(file, gate):
    profiler.set_state("run")
    x = nd.ones(2)
    nd.waitall()
    profiler.set_state("stop")
    gate.hold(x)
    x.exp()
    assert "\n_ones " in profiler.dumps()
    profiler.dump()
    assert "exp" not in names_in(file)


def test_what_comes_late_comes_once_though_it_ends_in_the_next_run(file, gate):
    x = nd.ones(2)
    nd.waitall()
    gate.hold(x)
    profiler.set_state("run")
    x.exp()
    profiler.set_state("stop")
    profiler.set_state("run")
    gate.open()
    nd.waitall()
    profiler.set_state("stop")
    profiler.dump()
    assert names_in(file).count("exp") == 1


def test_a_capture_in_between_takes_nothing_away(file, gate):
    x = nd.ones(2)
    nd.waitall()
    gate.hold(x)
    profiler.set_state("run")
    x.exp()
    profiler.set_state("stop")
    session = EmbeddedBackend().capture(RecordConfig())
    x.sqrt()
    gate.open()
    session.wait()
    heard = session.stop()
    assert "sqrt" in list(heard.strings)
    profiler.dump()
    found = names_in(file)
    assert (found.count("exp"), found.count("sqrt")) == (1, 0)


def test_a_late_operator_has_its_queue_time_and_its_line(file, gate):
    x = nd.ones(2)
    nd.waitall()
    gate.hold(x)
    profiler.set_state("run")
    x.exp()  # this line
    profiler.set_state("stop")
    gate.open()
    profiler.dump()
    trace = load(file)
    (row,) = np.flatnonzero(trace.events.name == trace.strings.code("exp"))
    assert 0 <= trace.events.queued_ns[row] < trace.events.start_ns[row]
    site = trace.events.site[row]
    assert trace.strings[trace.sites.text[site]] == "x.exp()  # this line"
    assert trace.window_ns[1] >= trace.events.end_ns[row]


def test_a_worker_may_ask_for_the_table(file):
    told: list[str] = []
    x = nd.ones(2)
    profiler.set_state("run")
    y = x.exp()
    mx.engine.push(lambda: told.append(profiler.dumps()), reads=[y.chunk])
    profiler.set_state("stop")
    nd.waitall()
    assert len(told) == 1
    assert "\nexp " in profiler.dumps()
