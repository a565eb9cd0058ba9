"""Domains, tasks, frames, events, counters and markers of `mx.profiler`."""

from __future__ import annotations

import copy
import json
import pickle
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mxprof_nb.runtime as mx
from mxprof_nb.backends.embedded import EmbeddedBackend
from mxprof_nb.errors import ProfilerError, ProfilerOptionError
from mxprof_nb.io.registry import load
from mxprof_nb.record import RecordConfig
from mxprof_nb.runtime.profiler import state
from mxprof_nb.trace import Trace, schema
from tests.environment import ROOT

nd, profiler = mx.nd, mx.profiler

pytestmark = pytest.mark.usefixtures("fresh_profiler")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The file of a profiler that runs."""
    made = tmp_path / "a.json"
    profiler.set_config(filename=made, aggregate_stats=True)
    profiler.set_state("run")
    return made


def told(domain: str | None = None) -> Any:
    """Return the statistics of a domain, of all when none is given."""
    times = json.loads(profiler.dumps(format="json"))["Time"]
    return times if domain is None else times[domain]


def written(file: Path) -> Trace:
    profiler.set_state("stop")
    profiler.dump()
    return load(file)


def event(trace: Trace, name: str) -> int:
    (row,) = np.flatnonzero(trace.events.name == trace.strings.code(name))
    return int(row)


def test_each_kind_of_span_has_a_row_in_the_domain_that_mxnet_puts_it_in(file):
    domain = profiler.Domain("MyDomain")
    for span in (
        domain.new_task("task"),
        domain.new_frame("frame"),
        profiler.Event("event"),
        profiler.Task(domain, "other task"),
        profiler.Frame(domain, "other frame"),
    ):
        span.start()
        span.stop()
    found = told()
    assert found["MyDomain"].keys() == {"task", "other task"}
    assert found["MyDomain,frame"].keys() == {"frame", "other frame"}
    assert found["event"].keys() == {"event"}
    assert all(row["Count"] == 1 for rows in found.values() for row in rows.values())


def test_a_span_lasts_from_its_start_to_its_stop_in_the_file(file):
    domain = profiler.Domain("MyDomain")
    with domain.new_task("task"), domain.new_frame("frame"), profiler.Event("event"):
        nd.ones(2).exp().wait_to_read()
    trace = written(file)
    events, strings = trace.events, trace.strings
    kinds = {name: schema.KINDS[events.kind[event(trace, name)]] for name in ("task", "event")}
    assert kinds == {"task": "async", "event": "span"}
    wait = event(trace, "MXNDArrayWaitToRead")
    for name in ("task", "frame", "event"):
        row = event(trace, name)
        assert schema.CATEGORIES[events.category[row]] == "user"
        assert events.start_ns[row] < events.start_ns[wait]
        assert events.end_ns[row] > events.end_ns[wait]
        assert events.track[row] == events.track[wait]
    assert events.parent[wait] == event(trace, "event")
    assert strings[events.domain[event(trace, "frame")]] == "MyDomain,frame"


def test_a_span_knows_the_line_it_ended_on(file):
    task = profiler.Domain("D").new_task("t")
    task.start()
    task.stop()  # this line
    trace = written(file)
    row = trace.events.site[event(trace, "t")]
    assert trace.strings[trace.sites.text[row]] == "task.stop()  # this line"


def test_names_are_what_objects_print_as():
    domain = profiler.Domain("D")
    things = (domain.new_task("t"), domain.new_frame("f"), profiler.Event("e"))
    assert [str(thing) for thing in things] == ["t", "f", "e"]
    assert str(domain) == "D"
    assert str(domain.new_marker("m")) == "m"
    assert repr(domain.new_counter("c")) == "<Counter 'c' of 'D'>"


# Misuse


@pytest.mark.parametrize("name", ["", None, 3, b"D"])
def test_a_domain_needs_a_name(name):
    with pytest.raises(ProfilerOptionError, match="Domain"):
        profiler.Domain(name)


def test_what_is_no_domain_is_refused():
    for kind in (profiler.Task, profiler.Frame, profiler.Counter, profiler.Marker):
        with pytest.raises(ProfilerOptionError, match="first argument is a Domain"):
            kind("D", "name")  # type: ignore[arg-type]
    with pytest.raises(ProfilerOptionError, match="a name is a str"):
        profiler.Event(1)  # type: ignore[arg-type]


def test_a_stop_without_a_start_is_an_error_and_records_nothing(file):
    task = profiler.Domain("D").new_task("t")
    with pytest.raises(ProfilerError, match=r"Task 't' is stopped and was not started"):
        task.stop()
    assert "D" not in told()


def test_the_second_of_two_stops_is_an_error_and_the_first_is_recorded(file):
    task = profiler.Domain("D").new_task("t")
    task.start()
    task.stop()
    with pytest.raises(ProfilerError, match="has been stopped already"):
        task.stop()
    assert told("D")["t"]["Count"] == 1


def test_the_later_of_two_starts_counts(file):
    domain = profiler.Domain("D")
    task, mark = domain.new_task("t"), domain.new_marker("between")
    task.start()
    mark.mark()
    task.start()
    task.stop()
    trace = written(file)
    start = trace.events.start_ns
    assert start[event(trace, "t")] >= start[event(trace, "between")]


def test_a_task_that_is_never_stopped_is_in_no_file(file):
    profiler.Domain("D").new_task("forgotten").start()
    assert trace_has(written(file), "forgotten") == 0


def trace_has(trace: Trace, name: str) -> int:
    return [trace.strings[code] for code in trace.events.name].count(name)


def test_a_block_that_fails_is_recorded_and_the_error_goes_on(file):
    with pytest.raises(ZeroDivisionError), profiler.Domain("D").new_task("t"):
        _ = 1 / 0
    assert told("D")["t"]["Count"] == 1


# When they are recorded


def test_flags_do_not_concern_them(tmp_path):
    profiler.set_config(
        filename=tmp_path / "a.json",
        aggregate_stats=True,
        **dict.fromkeys(("profile_imperative", "profile_api", "profile_memory"), False),
    )
    profiler.set_state("run")
    with profiler.Domain("D").new_task("t"):
        nd.waitall()
    assert told().keys() == {"D"}


def test_only_the_end_must_lie_outside_of_pauses(file):
    domain = profiler.Domain("D")
    names = ("began in a pause", "ended in a pause", "spans a pause", "within a pause")
    began, ended, spans, within = (domain.new_task(name) for name in names)
    ended.start()
    spans.start()
    profiler.pause()
    began.start()
    within.start()
    within.stop()
    ended.stop()
    profiler.resume()
    began.stop()
    spans.stop()
    assert told("D").keys() == {"began in a pause", "spans a pause"}


def test_what_was_marked_before_the_first_run_is_in_the_first_profile(tmp_path):
    domain = profiler.Domain("D")
    counter = domain.new_counter("c", 3)
    with domain.new_task("before anything"):
        pass
    profiler.set_config(filename=tmp_path / "a.json", aggregate_stats=True)
    with domain.new_task("after the configuration"):
        pass
    profiler.set_state("run")
    counter += 1
    profiler.set_state("stop")
    with domain.new_task("after the stop"):
        pass
    profiler.resume()
    with domain.new_task("after a resume while stopped"):
        pass
    found = told("D")
    assert found.keys() == {
        "c", "before anything", "after the configuration", "after a resume while stopped",
    }  # fmt: skip
    assert found["c"]["Count"] == 2
    profiler.dump()
    assert trace_has(load(tmp_path / "a.json"), "before anything") == 1


def test_a_program_that_never_profiles_keeps_a_limited_number(monkeypatch):
    monkeypatch.setattr(state, "EARLY", 10)
    counter = profiler.Domain("D").new_counter("c")
    for _ in range(50):
        counter += 1
    profiler.set_config(aggregate_stats=True)
    assert told("D")["c"]["Count"] == 10


def test_a_capture_has_them_too_and_the_profile_all_the_same(file):
    domain = profiler.Domain("D")
    session = EmbeddedBackend().capture(RecordConfig())
    with domain.new_task("t"):
        domain.new_counter("c", 5)
    trace = session.stop()
    assert trace_has(trace, "t") == 1
    assert trace.counters.value[trace.counters.name == trace.strings.code("c")].tolist() == [5]
    assert told("D").keys() == {"t", "c"}


def test_a_capture_has_them_when_the_profiler_is_stopped(file):
    profiler.set_state("stop")
    session = EmbeddedBackend().capture(RecordConfig())
    with profiler.Domain("D").new_task("t"):
        pass
    assert trace_has(session.stop(), "t") == 1
    assert "D" not in told()


def test_a_task_may_be_stopped_by_another_thread(file):
    task = profiler.Domain("D").new_task("t")
    task.start()
    thread = threading.Thread(target=task.stop, name="stopper")
    thread.start()
    thread.join()
    trace = written(file)
    track = trace.events.track[event(trace, "t")]
    assert trace.strings[trace.tracks.name[track]] == "stopper"


# Copies


PICKLED = """
import pickle, mxprof_nb.runtime as mx
D = mx.profiler.Domain("D")
pad = [D.new_task(f"pad {number}") for number in range(200)]
things = [D.new_task("t"), D.new_frame("f"), mx.profiler.Event("e"), D.new_marker("m")]
things[0].start()
print(pickle.dumps([*things, D.new_counter("c", 5)]).hex())
"""


def test_objects_that_came_from_another_process_keep_their_names(file):
    told = subprocess.run(
        [sys.executable, "-c", PICKLED], capture_output=True, text=True, check=True, cwd=ROOT
    )
    task, frame, event, marker, counter = pickle.loads(bytes.fromhex(told.stdout))
    with pytest.raises(ProfilerError, match="was not started"):
        task.stop()
    for one in (task, frame, event):
        with one:
            pass
    marker.mark()
    counter += 1
    trace = written(file)
    found = {
        (trace.strings[name], trace.strings[domain])
        for name, domain in zip(trace.events.name, trace.events.domain, strict=True)
    }
    assert found >= {("t", "D"), ("f", "D,frame"), ("e", "event"), ("m", "D,instant_marker")}
    assert samples(trace, "c") == [6]


def test_a_copy_of_what_was_started_was_not_started(file):
    with profiler.Domain("D").new_task("t") as task:
        other = copy.deepcopy(task)
    with pytest.raises(ProfilerError, match="was not started"):
        other.stop()
    assert told("D")["t"]["Count"] == 1


# Counters


def samples(trace: Trace, name: str) -> list[float]:
    values: list[float] = trace.counters.value[
        trace.counters.name == trace.strings.code(name)
    ].tolist()
    return values


def test_each_change_of_a_counter_is_a_sample(file):
    domain = profiler.Domain("D")
    counter = first = domain.new_counter("c", value=5)
    counter += 2
    counter -= 10
    counter.increment()
    counter.increment(3)
    counter.decrement(0.5)
    counter.decrement()
    counter.set_value(100)
    assert counter is first
    silent = domain.new_counter("silent")
    trace = written(file)
    assert samples(trace, "c") == [5, 7, -3, -2, 1, 0.5, -0.5, 100]
    assert str(silent) not in list(trace.strings)
    track = trace.counters.track[trace.counters.name == trace.strings.code("c")][0]
    assert trace.strings[trace.tracks.name[track]] == "D"
    assert schema.ROLES[trace.tracks.role[track]] == "counter"


def test_a_counter_without_a_value_begins_at_zero(file):
    counter = profiler.Domain("D").new_counter("c")
    counter -= 1
    assert samples(written(file), "c") == [-1]


@pytest.mark.parametrize("value", ["1", None, 1j, [1]])
def test_a_counter_takes_numbers(value):
    counter = profiler.Domain("D").new_counter("c")
    for change in (counter.set_value, counter.increment, counter.decrement):
        with pytest.raises(ProfilerOptionError, match=r"Counter 'c'.*is no number"):
            change(value)


def test_a_number_that_no_float_holds_is_refused_and_changes_nothing(file):
    counter = profiler.Domain("D").new_counter("c", 1)
    with pytest.raises(ProfilerOptionError, match=r"Counter 'c'.*64-bit float"):
        counter += 10**400
    assert samples(written(file), "c") == [1]


def test_threads_that_count_together_lose_nothing(file):
    counter = profiler.Domain("D").new_counter("c")

    def count() -> None:
        for _ in range(500):
            counter.increment()

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(samples(written(file), "c")) == list(range(1, 2001))


def test_a_counter_with_the_name_of_memory_stays_in_its_domain(file):
    profiler.Domain("D").new_counter("Memory: mine", 7)
    assert told("D").keys() == {"Memory: mine"}


# Markers


def test_a_marker_is_an_instant_and_has_no_row_in_the_table(file):
    marker = profiler.Domain("D").new_marker("m")
    marker.mark()
    marker.mark("global")
    assert told("D,instant_marker") == {}
    assert "\nD,instant_marker\n=================\nName " in profiler.dumps()
    trace = written(file)
    rows = np.flatnonzero(trace.events.name == trace.strings.code("m"))
    assert {schema.KINDS[kind] for kind in trace.events.kind[rows]} == {"instant"}
    raw = [trace.strings[trace.args.raw[trace.events.arg[row]]] for row in rows]
    assert [json.loads(text)["scope"] for text in raw] == ["process", "global"]


@pytest.mark.parametrize("scope", ["global", "process", "thread", "task", "marker"])
def test_a_marker_may_have_each_scope_of_mxnet(file, scope):
    profiler.Domain("D").new_marker("m").mark(scope)
    assert trace_has(written(file), "m") == 1


def test_a_scope_that_does_not_exist_is_refused(file):
    with pytest.raises(ProfilerOptionError, match=r"'bogus' does not exist.*'global'"):
        profiler.Domain("D").new_marker("m").mark("bogus")


# Names


NAMES = [
    'quo"te',
    "back\\slash",
    "line\nbreak",
    "ä ☃",
    "</script>",
    "x" * 300,
    "",
    "\0\x1b",
    "\udcff",
]


@pytest.mark.parametrize("name", NAMES)
def test_any_name_survives_in_table_json_and_file(file, name):
    domain = profiler.Domain("D" + name)
    with domain.new_task(name):
        pass
    domain.new_counter(name + "c", 1)
    assert told("D" + name).keys() == {name, name + "c"}
    lines = profiler.dumps().split("\nD")[1].splitlines()
    assert len([line for line in lines if re.search(r" 1( +\d+\.\d{4}){4}$", line)]) == 2
    trace = written(file)
    assert trace_has(trace, name) == 1
    assert samples(trace, name + "c") == [1]


def test_a_domain_may_be_called_like_one_that_the_table_hides(file):
    with profiler.Domain("engine").new_task("mine"):
        pass
    assert told("engine").keys() == {"mine"}
