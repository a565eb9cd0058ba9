"""`mx.profiler`: states, what is kept until when, and its independence of other listeners."""

from __future__ import annotations

import json
import re
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mxprof_nb.runtime as mx
from mxprof_nb.backends.embedded import EmbeddedBackend
from mxprof_nb.errors import (
    AlreadyRecordingError,
    CaptureError,
    NotRecordingError,
    OperatorError,
    ProfilerOptionError,
    WriteError,
)
from mxprof_nb.io.registry import load
from mxprof_nb.record import RECORDER, RecordConfig
from mxprof_nb.runtime.aggregate import aggregate, format_table
from mxprof_nb.runtime.engine import default_engine
from mxprof_nb.runtime.profiler import state
from mxprof_nb.trace import Trace, TraceBuilder

nd, profiler = mx.nd, mx.profiler

pytestmark = pytest.mark.usefixtures("fresh_profiler")


def configure(path: Path, **options: Any) -> None:
    settings = {"profile_all": True, "aggregate_stats": True, "filename": path / "p.json"}
    profiler.set_config(**settings | options)


def work() -> None:
    """Queue one dot, which no other test's table holds by chance, and wait."""
    x = nd.ones((3, 3))
    nd.dot(x, x).wait_to_read()
    del x
    nd.waitall()


def counts(text: str) -> dict[str, int]:
    """Return the count of each row of a table; row names repeat in no domain."""
    rows = re.findall(r"^(\S[^\n]*?) +(\d+)(?: +\d+\.\d{4})+$", text, re.MULTILINE)
    return {name: int(count) for name, count in rows}


def names_in(path: Path) -> list[str]:
    trace = load(path / "p.json")
    return [trace.strings[code] for code in trace.events.name]


# States


def test_nothing_is_recorded_before_run_and_after_stop(tmp_path):
    configure(tmp_path)
    work()
    assert not RECORDER.on
    profiler.set_state("run")
    assert RECORDER.on
    work()
    profiler.set_state("stop")
    assert not RECORDER.on
    work()
    assert counts(profiler.dumps())["dot"] == 1


def test_running_and_stopping_twice_is_as_good_as_once(tmp_path):
    configure(tmp_path)
    profiler.set_state("run")
    work()
    profiler.set_state("run")
    work()
    profiler.set_state("stop")
    profiler.set_state("stop")
    assert counts(profiler.dumps())["dot"] == 2


def test_statistics_of_several_runs_add_up(tmp_path):
    configure(tmp_path)
    for _ in range(3):
        profiler.set_state("run")
        work()
        profiler.set_state("stop")
    found = counts(profiler.dumps())
    assert found["dot"] == found["MXNDArrayWaitToRead"] == found["MXNDArrayWaitAll"] == 3


def test_one_resume_ends_any_number_of_pauses(tmp_path):
    configure(tmp_path)
    profiler.set_state("run")
    work()
    profiler.pause()
    profiler.pause()
    assert not RECORDER.on
    work()
    profiler.resume()
    work()
    profiler.resume()
    profiler.set_state("stop")
    assert counts(profiler.dumps())["dot"] == 2


def test_run_ends_a_pause_and_stop_may_come_during_one(tmp_path):
    configure(tmp_path)
    profiler.set_state("run")
    profiler.pause()
    profiler.set_state("run")
    work()
    profiler.pause()
    profiler.set_state("stop")
    assert counts(profiler.dumps())["dot"] == 1
    assert not RECORDER.on


def test_pausing_what_does_not_run_does_nothing(tmp_path):
    configure(tmp_path)
    profiler.pause()
    profiler.resume()
    assert not RECORDER.on
    profiler.set_state("run")
    work()
    profiler.set_state("stop")
    profiler.resume()
    assert not RECORDER.on
    assert counts(profiler.dumps())["dot"] == 1


def test_states_and_choices_that_do_not_exist_are_refused():
    with pytest.raises(ProfilerOptionError, match=r"state='go' does not exist.*'run', 'stop'"):
        profiler.set_state("go")
    with pytest.raises(ProfilerOptionError, match=r"format='xml'.*'table', 'json'"):
        profiler.dumps(format="xml")
    with pytest.raises(ProfilerOptionError, match=r"'totl'.*Did you mean 'total'.*Choose one of"):
        profiler.dumps(sort_by="totl")
    with pytest.raises(ProfilerOptionError, match="ascending='x' is neither true nor false"):
        profiler.dumps(ascending="x")  # type: ignore[arg-type]


# What is recorded


@pytest.mark.parametrize(
    ("options", "missing"),
    [
        ({}, set()),
        ({"profile_all": True, "profile_api": False}, set()),
        ({"profile_api": False}, {"MXNDArrayWaitAll", "MXNet C API Calls"}),
        ({"profile_memory": False}, {"Memory: cpu/0"}),
        ({"profile_imperative": False}, {"dot"}),
        ({"profile_symbolic": False}, set()),
        ({"profile_all": True, "profile_imperative": False}, set()),
    ],
)
def test_the_flags_say_what_is_recorded(tmp_path, options, missing):
    configure(tmp_path, **{"profile_all": False, **options})
    profiler.set_state("run")
    work()
    profiler.set_state("stop")
    some = {"dot", "MXNDArrayWaitAll", "MXNet C API Calls", "Memory: cpu/0"}
    assert some - counts(profiler.dumps()).keys() == missing


def test_a_wait_that_did_not_block_has_no_row(tmp_path):
    x = nd.ones(2)
    nd.waitall()
    configure(tmp_path)
    profiler.set_state("run")
    x.wait_to_read()
    x.asnumpy()
    nd.waitall()
    profiler.set_state("stop")
    found = counts(profiler.dumps())
    assert "WaitForVar" not in found
    assert found["MXNDArrayWaitToRead"] == found["MXNDArraySyncCopyToCPU"] == 1
    assert found["MXNDArrayWaitAll"] == 1


def test_a_wait_that_blocked_has_one(tmp_path, gate):
    x = nd.ones(2)
    nd.waitall()
    configure(tmp_path)
    profiler.set_state("run")
    gate.hold(x)

    def open_when_waited_for() -> None:
        while not x.chunk.queue:
            pass
        gate.open()

    opener = threading.Thread(target=open_when_waited_for)
    opener.start()
    x.wait_to_read()
    opener.join()
    nd.waitall()
    profiler.set_state("stop")
    text = profiler.dumps()
    assert counts(text)["WaitForVar"] == 1
    assert text.index("\noperator\n") < text.index("WaitForVar")
    assert "WaitForAll" not in text


def test_each_call_has_a_row_as_often_as_it_happened(tmp_path):
    configure(tmp_path)
    profiler.set_state("run")
    x = nd.array([[1.0, 2.0], [3.0, 4.0]])
    view = x[0]
    rows = x[0:1]
    flat = x.reshape((4,))
    y = x + 1
    assert x.context == mx.cpu(0)
    y.asnumpy()
    mx.random.seed(1)
    nd.waitall()
    del x, y, view, rows, flat
    nd.waitall()
    profiler.set_state("stop")
    found = counts(profiler.dumps())
    expected = {
        "MXNDArrayCreateEx": 1,
        "MXNDArraySyncCopyFromCPU": 1,
        "MXNDArrayAt": 1,
        "MXNDArraySlice": 1,
        "MXNDArrayReshape64": 1,
        "MXImperativeInvokeEx": 1,
        "MXNDArrayGetContext": 1,
        "MXNDArraySyncCopyToCPU": 1,
        "MXRandomSeed": 1,
        "MXNDArrayWaitAll": 2,
        "MXNDArrayGetShapeEx": 2,
        "MXNDArrayGetDType": 2,
        "MXNDArrayFree": 5,
        "DeleteVariable": 2,
        "broadcast_add": 0,
        "_plus_scalar": 1,
        "Memory: cpu/0": 4,
        "MXNet C API Calls": 20,
        "MXNet C API Concurrency": 40,
    }
    assert {name: found.get(name, 0) for name in expected} == expected


def test_an_operator_that_fails_is_recorded_all_the_same(tmp_path):
    configure(tmp_path)
    profiler.set_state("run")
    nd.random.normal(scale=-1)
    with pytest.raises(OperatorError, match="scale=-1"):
        nd.waitall()
    profiler.set_state("stop")
    assert counts(profiler.dumps())["_random_normal"] == 1


# The table


def test_there_is_no_text_without_statistics(tmp_path):
    assert profiler.dumps() == ""
    configure(tmp_path, aggregate_stats=False)
    profiler.set_state("run")
    work()
    profiler.set_state("stop")
    assert profiler.dumps() == ""


def test_statistics_of_nothing_are_a_title():
    profiler.set_config(aggregate_stats=True)
    assert profiler.dumps() == (
        "\nProfile Statistics:\n\tNote the difference in units for different entries.\n"
    )


def test_the_same_statistics_are_told_again_until_they_are_reset(tmp_path):
    configure(tmp_path)
    profiler.set_state("run")
    work()
    profiler.set_state("stop")
    text = profiler.dumps()
    assert profiler.dumps() == text
    assert profiler.dumps(reset=True) == text
    assert "dot" not in profiler.dumps()


def test_statistics_can_be_had_while_running_and_lose_nothing(tmp_path):
    configure(tmp_path)
    profiler.set_state("run")
    for number in range(1, 4):
        work()
        assert counts(profiler.dumps())["dot"] == number
    profiler.set_state("stop")
    assert counts(profiler.dumps())["dot"] == 3
    profiler.dump()
    assert names_in(tmp_path).count("dot") == 3


def test_statistics_start_anew_when_they_are_switched_off(tmp_path):
    configure(tmp_path)
    profiler.set_state("run")
    work()
    configure(tmp_path)
    profiler.set_state("stop")
    assert counts(profiler.dumps())["dot"] == 1
    configure(tmp_path, aggregate_stats=False)
    configure(tmp_path)
    assert "dot" not in profiler.dumps()


def small_trace() -> Trace:
    builder = TraceBuilder()
    host = builder.track("MainThread", role="host")
    for name, domain, durations in (
        ("b", "operator", [3_000, 1_000]),
        ("a", "operator", [2_000]),
        ("c", "operator", [2_000]),
        ("a name of more than twenty-five letters", "My domain", [1_234_567]),
        ("hidden", "engine", [5]),
    ):
        for number, dur in enumerate(durations):
            builder.event(
                name,
                track=host,
                start_ns=number * 5_000,
                dur_ns=dur,
                domain=domain,
                kind="async",
                category="sync" if domain == "engine" else "user",
            )
    return builder.build()


def test_each_domain_has_a_table_in_the_order_of_their_bytes():
    assert list(aggregate(small_trace())) == ["My domain", "operator"]


@pytest.mark.parametrize(
    ("sort_by", "ascending", "order"),
    [
        ("total", False, "b c a"),
        ("total", True, "c a b"),
        ("avg", False, "c b a"),
        ("min", False, "c a b"),
        ("min", True, "b c a"),
        ("max", False, "b c a"),
        ("count", False, "b c a"),
        ("count", True, "c a b"),
    ],
)
def test_ties_are_told_by_descending_name_in_either_direction(sort_by, ascending, order):
    text = format_table(small_trace(), sort_by, ascending)
    rows = re.findall(r"^([abc]) ", text.split("\noperator\n")[1], re.MULTILINE)
    assert " ".join(rows) == order


def test_a_long_name_pushes_its_figures_to_the_right():
    (row,) = [line for line in format_table(small_trace()).splitlines() if "letters" in line]
    assert row == (
        "a name of more than twenty-five letters               1 "
        "          1.2346           1.2346           1.2346           1.2346"
    )


# The file


def test_dumping_before_anything_ran_is_an_error_that_says_what_to_do(tmp_path):
    configure(tmp_path)
    with pytest.raises(CaptureError, match=r"not been run.*set_state\('run'\)"):
        profiler.dump()
    assert not (tmp_path / "p.json").exists()


def test_the_file_is_json_and_reads_back_with_the_same_counts(tmp_path):
    configure(tmp_path)
    profiler.set_state("run")
    work()
    profiler.set_state("stop")
    text = profiler.dumps()
    profiler.dump()
    assert json.loads((tmp_path / "p.json").read_text())["traceEvents"]
    trace = load(tmp_path / "p.json")
    found = {name: np.sum(trace.events.name == trace.strings.code(name)) for name in counts(text)}
    for name, number in counts(text).items():
        if name.startswith(("Memory", "MXNet C API")):
            found[name] = np.sum(trace.counters.name == trace.strings.code(name))
        assert found[name] == number, name


def test_a_finished_dump_ends_its_file_and_the_next_run_begins_a_new_one(tmp_path):
    configure(tmp_path)
    profiler.set_state("run")
    work()
    profiler.set_state("stop")
    profiler.dump()
    first = (tmp_path / "p.json").read_bytes()
    profiler.dump()
    assert (tmp_path / "p.json").read_bytes() == first
    profiler.set_state("run")
    nd.ones(2).exp().wait_to_read()
    profiler.set_state("stop")
    profiler.dump()
    names = names_in(tmp_path)
    assert "exp" in names
    assert "dot" not in names


def test_an_unfinished_dump_is_written_again_with_what_came_since(tmp_path):
    configure(tmp_path)
    profiler.set_state("run")
    for number in range(1, 4):
        work()
        profiler.dump(finished=False)
        assert names_in(tmp_path).count("dot") == number
    profiler.set_state("stop")
    profiler.dump()
    assert names_in(tmp_path).count("dot") == 3


def test_resetting_the_statistics_does_not_touch_the_file(tmp_path):
    configure(tmp_path)
    profiler.set_state("run")
    work()
    profiler.set_state("stop")
    profiler.dumps(reset=True)
    profiler.dump()
    assert names_in(tmp_path).count("dot") == 1


def test_dumping_does_not_touch_the_statistics(tmp_path):
    configure(tmp_path)
    profiler.set_state("run")
    work()
    profiler.set_state("stop")
    profiler.dump()
    assert counts(profiler.dumps())["dot"] == 1


def test_a_program_that_dumps_again_and_again_keeps_no_records_of_files_that_are_finished(tmp_path):
    file = tmp_path / "a.json"
    profiler.set_config(filename=file, aggregate_stats=True, continuous_dump=False)
    for _ in range(3):
        profiler.set_state("run")
        nd.ones(2).exp().wait_to_read()
        profiler.pause()
        profiler.set_state("stop")
        profiler.dump()
        kept = state.PROFILER.statistics.recent
        assert (kept.blocks, kept.windows) == ([], [])
    assert json.loads(profiler.dumps(format="json"))["Time"]["operator"]["exp"]["Count"] == 3


def test_a_path_that_cannot_be_written_loses_nothing(tmp_path):
    configure(tmp_path, filename=tmp_path / "nowhere" / "p.json")
    profiler.set_state("run")
    work()
    profiler.set_state("stop")
    with pytest.raises(WriteError, match="Nothing is lost"):
        profiler.dump()
    assert counts(profiler.dumps())["dot"] == 1
    configure(tmp_path)
    profiler.dump()
    assert names_in(tmp_path).count("dot") == 1


# Other listeners


def kinds(trace: Trace) -> dict[str, int]:
    names = [trace.strings[code] for code in trace.events.name]
    return {name: names.count(name) for name in names if not name.startswith("WaitFor")}


def test_a_capture_inside_a_running_profile_and_the_profile_are_both_whole(tmp_path):
    configure(tmp_path)
    profiler.set_state("run")
    work()
    profiler.set_state("stop")
    alone = counts(profiler.dumps(reset=True))
    profiler.set_state("run")
    session = EmbeddedBackend().capture(RecordConfig())
    work()
    assert session.wait()
    trace = session.stop()
    profiler.set_state("stop")
    both = counts(profiler.dumps(reset=True))
    assert {k: v for k, v in both.items() if k != "WaitForVar"} == {
        k: v for k, v in alone.items() if k != "WaitForVar"
    }
    for name, number in kinds(trace).items():
        assert both[name] == number


def test_a_capture_hears_its_own_window_and_the_profile_all_of_it(tmp_path):
    configure(tmp_path)
    profiler.set_state("run")
    work()
    session = EmbeddedBackend().capture(RecordConfig())
    work()
    trace = session.stop()
    work()
    profiler.set_state("stop")
    assert kinds(trace)["dot"] == 1
    assert counts(profiler.dumps())["dot"] == 3


def test_the_profile_may_stop_first(tmp_path):
    configure(tmp_path)
    session = EmbeddedBackend().capture(RecordConfig())
    profiler.set_state("run")
    work()
    profiler.set_state("stop")
    work()
    assert kinds(session.stop())["dot"] == 2
    assert counts(profiler.dumps())["dot"] == 1


# The backend


def test_one_thread_captures_once_at_a_time():
    session = EmbeddedBackend().capture(RecordConfig())
    with pytest.raises(AlreadyRecordingError, match="one thread records one"):
        EmbeddedBackend().capture(RecordConfig())
    session.stop()
    EmbeddedBackend().capture(RecordConfig()).stop()


def test_another_thread_may_capture_at_the_same_time():
    session = EmbeddedBackend().capture(RecordConfig())
    traces: list[Trace] = []
    thread = threading.Thread(
        target=lambda: traces.append(EmbeddedBackend().capture(RecordConfig()).stop())
    )
    thread.start()
    thread.join()
    session.stop()
    assert len(traces) == 1


def test_a_thread_that_ended_without_stopping_is_in_nobodys_way():
    sessions: list[Any] = []
    refused: list[Exception] = []

    def forget() -> None:
        try:
            sessions.append(EmbeddedBackend().capture(RecordConfig()))
        except AlreadyRecordingError as error:
            refused.append(error)

    for _ in range(5):  # the system gives a new thread the number of one that has ended
        thread = threading.Thread(target=forget)
        thread.start()
        thread.join()
    for session in sessions:
        session.stop()
    assert not refused


def test_a_capture_is_stopped_once():
    session = EmbeddedBackend().capture(RecordConfig())
    session.stop()
    with pytest.raises(NotRecordingError, match="stopped already"):
        session.stop()


def test_a_capture_says_what_was_still_queued(gate):
    x = nd.ones(2)
    nd.waitall()
    session = EmbeddedBackend().capture(RecordConfig())
    gate.hold(x)
    y = x + 1
    assert session.pending() == 2
    assert not session.wait(0.001)
    trace = session.stop()
    assert trace.meta.pending == 2
    assert trace.meta.backend == "embedded"
    assert set(trace.meta.versions) >= {"python", "numpy"}
    gate.open()
    assert y.asnumpy().tolist() == [2, 2]


def test_waiting_for_a_capture_leaves_errors_to_the_program():
    session = EmbeddedBackend().capture(RecordConfig())
    nd.random.normal(scale=-1)
    assert session.wait()
    session.stop()
    assert default_engine().untold()


def test_lines_of_a_capture_are_those_of_the_program():
    session = EmbeddedBackend().capture(RecordConfig())
    x = nd.ones((3, 3))
    nd.dot(x, x).wait_to_read()  # this line
    trace = session.stop()
    events, sites = trace.events, trace.sites
    dot = np.flatnonzero(events.name == trace.strings.code("dot"))[0]
    assert trace.strings[sites.file[events.site[dot]]] == __file__
    assert trace.strings[sites.text[events.site[dot]]] == (
        "nd.dot(x, x).wait_to_read()  # this line"
    )


def test_a_backend_is_always_there():
    assert EmbeddedBackend().availability().ok
    assert EmbeddedBackend.name == "embedded"


def test_what_an_earlier_configuration_asked_for_is_kept_when_it_changes(tmp_path):
    configure(tmp_path)
    profiler.set_state("run")
    work()
    profiler.set_state("stop")
    before = counts(profiler.dumps())
    configure(tmp_path, profile_all=False, profile_api=False)
    profiler.set_state("run")
    work()
    profiler.set_state("stop")
    after = counts(profiler.dumps())
    assert before["MXNDArrayWaitAll"] == after["MXNDArrayWaitAll"] >= 1
    assert after["dot"] == 2 * before["dot"]
