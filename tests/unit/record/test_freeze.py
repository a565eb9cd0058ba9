"""`freeze`: what a recording heard as a trace, with everything that is derived on the way."""

from __future__ import annotations

import sys
from types import CodeType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mxprof_nb.record import Label
from mxprof_nb.trace import Trace
from tests.unit.record.conftest import Stage


def rows(trace: Trace) -> list[tuple[str, int, int]]:
    """Name, begin and duration of each event."""
    events = trace.events
    names = [trace.strings[code] for code in events.name]
    return list(zip(names, events.start_ns.tolist(), events.dur_ns.tolist(), strict=True))


def samples(trace: Trace, name: str) -> list[tuple[int, float]]:
    """Time and value of each sample of one counter, as the trace has them."""
    chosen = trace.counters.name == trace.strings.code(name)
    times, values = trace.counters.time_ns[chosen], trace.counters.value[chosen]
    return list(zip(times.tolist(), values.tolist(), strict=True))


def flows(trace: Trace) -> list[tuple[str, int, str, int]]:
    """Kind, begin of the source, name of the target, begin of the target."""
    frame = trace.frame("flows")
    events = trace.events
    return sorted(
        (
            kind,
            int(events.start_ns[source]),
            trace.strings[events.name[target]],
            int(events.start_ns[target]),
        )
        for kind, source, target in zip(
            frame["kind"].tolist(), frame["source"], frame["target"], strict=True
        )
    )


def test_a_recording_of_nothing_is_a_trace_of_nothing(stage):
    recording = stage.start()
    stage.at(3_000)
    recording.stop()
    trace = stage.trace(recording)
    assert len(trace) == 0
    assert trace.window_ns == (0, 2_000)
    assert trace.meta.origin_epoch_ns == 1_005
    assert trace.health.ok


def test_times_count_from_the_begin_of_the_window(stage):
    recording = stage.start()
    stage.call(1_100, 1_150, number=1)
    stage.operator(1_120, 1_200, 1_300, number=1)
    stage.at(1_500)
    recording.stop()
    trace = stage.trace(recording)
    assert rows(trace) == [("MXImperativeInvokeEx", 100, 50), ("dot", 200, 100)]
    assert trace.events.queued_ns.tolist() == [-1, 120]
    assert trace.window_ns == (0, 500)
    assert trace.meta.origin_epoch_ns == 1_005


def test_no_time_is_negative_when_something_began_before_the_window(stage):
    recording = stage.start()
    stage.operator(700, 900, 1_200, number=1)
    stage.call(990, 1_010)
    stage.at(2_000)
    recording.stop()
    trace = stage.trace(recording)
    assert rows(trace) == [("dot", 200, 300), ("MXImperativeInvokeEx", 290, 20)]
    assert trace.events.queued_ns.tolist() == [0, -1]
    assert trace.window_ns == (300, 1_300)
    assert trace.meta.origin_epoch_ns == 705


def test_an_operator_queued_before_anybody_listened_has_no_queueing_time(stage):
    recording = stage.start()
    stage.operator(0, 1_100, 1_200, number=1)
    stage.at(2_000)
    recording.stop()
    assert stage.trace(recording).events.queued_ns.tolist() == [-1]


def test_tracks_say_who_ran_where_hosts_first(stage):
    recording = stage.start()
    stage.operator(1_001, 1_002, 1_003, number=1)
    late = stage.recorder.register("Thread-2", "host")
    stage.call(1_000, 1_001)
    stage.call(1_000, 1_001, buffer=late)
    stage.at(2_000)
    recording.stop()
    tracks = stage.trace(recording).frame("tracks")
    told = tracks[["name", "role", "device"]].astype(object).fillna("").values.tolist()
    assert told == [
        ["MainThread", "host", ""],
        ["Thread-2", "host", ""],
        ["cpu/0 worker 1", "worker", "cpu/0"],
        ["MXNET_C_API", "counter", ""],
    ]


def test_what_was_lost_and_kept_is_in_the_configuration(stage):
    recording = stage.start(sites=False, max_events=7)
    recording.stop()
    config = stage.trace(recording).meta.config
    assert config["sites"] is False
    assert config["max_events"] == 7


# Flows


def test_a_call_launches_its_operator_and_an_operator_ends_the_wait_for_it(stage):
    recording = stage.start()
    stage.call(1_010, 1_020, number=1)
    stage.call(1_030, 1_040, number=2)
    stage.operator(1_015, 1_100, 1_200, number=1)
    stage.operator(1_035, 1_210, 1_300, number=2)
    stage.call(1_052, 1_301, stage.wait, number=2)
    stage.call(1_050, 1_310, stage.copy_out)
    stage.at(2_000)
    recording.stop()
    trace = stage.trace(recording)
    assert flows(trace) == [
        ("launch", 10, "dot", 100),
        ("launch", 30, "dot", 210),
        ("read_after_write", 210, "WaitForVar", 52),
    ]
    wait = trace.where(name="WaitForVar")
    assert wait.events.correlation.tolist() == [2]
    parent = trace.events.parent[trace.events.category == wait.events.category[0]]
    assert trace.strings[trace.events.name[parent[0]]] == "MXNDArraySyncCopyToCPU"


def test_flows_whose_other_end_was_not_heard_are_left_out(stage):
    recording = stage.start()
    stage.call(1_010, 1_020, number=5)
    stage.operator(1_015, 1_100, 1_200, number=4)
    stage.call(1_052, 1_301, stage.wait, number=9)
    stage.at(2_000)
    recording.stop()
    trace = stage.trace(recording)
    assert flows(trace) == []
    assert len(trace) == 3


def test_what_has_no_number_is_tied_to_nothing(stage):
    recording = stage.start()
    stage.operator(1_001, 1_002, 1_003, number=0, taken=(stage.memory, -8))
    stage.call(1_004, 1_005, number=-1)
    stage.at(2_000)
    recording.stop()
    trace = stage.trace(recording)
    assert trace.events.correlation.tolist() == [-1, -1]
    assert flows(trace) == []


@given(st.permutations(range(12)), st.permutations(range(12)))
def test_every_launch_joins_what_has_the_same_number(call_order, operator_order):
    stage = Stage()
    recording = stage.start()
    for place, number in enumerate(call_order):
        stage.call(1_000 + place, 1_000 + place, number=number + 1)
    for place, number in enumerate(operator_order):
        stage.operator(1_000, 1_100 + 2 * place, 1_101 + 2 * place, number=number + 1)
    stage.at(2_000)
    recording.stop()
    trace = stage.trace(recording)
    ids = trace.events.correlation
    assert len(trace.flows) == 12
    assert (ids[trace.flows.source] == ids[trace.flows.target]).all()


# Lines


def place_in(code: CodeType, line: int) -> tuple[CodeType, int]:
    """Return a code object and the offset of the first instruction of one of its lines."""
    return code, next(begin for begin, _, found in code.co_lines() if found == line)


def sites_of(stage: Stage, places: list[Any], **sources: str) -> list[tuple[str, int, str, Any]]:
    """File, line, function and text of where each call came from, in order of the calls."""
    recording = stage.start()
    for place in places:
        stage.time[0] += 1
        stage.call(stage.time[0], stage.time[0], place=place)
    recording.stop()
    trace = stage.trace(recording, **sources)
    sites, strings = trace.sites, trace.strings
    return [
        (
            strings[sites.file[site]],
            int(sites.line[site]),
            strings[sites.function[site]],
            strings[sites.text[site]] if sites.text[site] >= 0 else None,
        )
        for site in trace.events.site.tolist()
        if site >= 0
    ]


def test_the_line_is_that_of_the_instruction_and_not_of_the_function(stage):
    def program() -> Any:
        frame = sys._getframe()
        return frame.f_code, frame.f_lasti

    code, offset = program()
    line = program.__code__.co_firstlineno
    ((file, found, function, text),) = sites_of(stage, [(code, offset)])
    assert file == __file__
    assert found == line + 2
    assert function.endswith("<locals>.program")
    assert text == "return frame.f_code, frame.f_lasti"


def test_every_line_of_a_function_of_two_thousand_lines_is_found(stage):
    source = "def long():\n" + "".join(f"    x{n} = {n}\n" for n in range(2, 2_002))
    names: dict[str, Any] = {}
    exec(compile(source, "<long>", "exec"), names)
    code = names["long"].__code__
    wanted = [2, 3, 300, 1_023, 2_000, 2_001]
    found = sites_of(stage, [place_in(code, line) for line in wanted], **{"<long>": source})
    assert [(line, text) for _, line, _, text in found] == [
        (line, f"x{line} = {line}") for line in wanted
    ]


def test_code_without_a_file_is_found_in_the_sources_given(stage):
    source = "a = 1\n\n\nf = lambda: a + (\n    1)\n"
    module = compile(source, "<cell 7>", "exec")
    inner = next(c for c in module.co_consts if isinstance(c, CodeType))
    found = sites_of(
        stage,
        [place_in(module, 1), place_in(module, 4), place_in(inner, 4)],
        **{"<cell 7>": source},
    )
    assert found == [
        ("<cell 7>", 1, "<module>", "a = 1"),
        ("<cell 7>", 4, "<module>", "f = lambda: a + ("),
        ("<cell 7>", 4, "<lambda>", "f = lambda: a + ("),
    ]


def test_a_source_that_nobody_knows_leaves_the_line_without_text(stage):
    code = compile("a = 1\nb = 2", "<nowhere>", "exec")
    assert sites_of(stage, [place_in(code, 2)]) == [("<nowhere>", 2, "<module>", None)]
    assert sites_of(stage, [place_in(code, 2)], **{"<nowhere>": "a = 1"}) == [
        ("<nowhere>", 2, "<module>", None)
    ]


def test_a_call_of_unknown_origin_has_no_line(stage):
    assert sites_of(stage, [(None, -1)]) == []


def test_an_operator_has_the_line_of_the_call_that_queued_it_and_not_of_the_wait_for_it(stage):
    code = compile("a\nb\nc", "<cell>", "exec")
    recording = stage.start()
    stage.call(1_001, 1_002, number=1, place=place_in(code, 2))
    stage.operator(1_001, 1_003, 1_010, number=1)
    stage.call(1_004, 1_010, stage.wait, number=1, place=place_in(code, 3))
    stage.operator(1_001, 1_020, 1_021, number=2)
    stage.at(2_000)
    recording.stop()
    trace = stage.trace(recording)
    lines = np.append(trace.sites.line, -1)[trace.events.site]
    assert list(zip(rows(trace), lines.tolist(), strict=True)) == [
        (("MXImperativeInvokeEx", 1, 1), 2),
        (("dot", 3, 7), 2),
        (("WaitForVar", 4, 6), 3),
        (("dot", 20, 1), -1),
    ]


def test_lines_that_nobody_asked_for_are_not_looked_up(stage):
    code = compile("a", "<cell>", "exec")
    recording = stage.start(sites=False)
    stage.call(1_001, 1_002, place=place_in(code, 1))
    stage.at(2_000)
    recording.stop()
    trace = stage.trace(recording)
    assert trace.events.site.tolist() == [-1]
    assert len(trace.sites) == 0


# Details


def test_details_of_a_label_are_kept_once(stage):
    label = stage.recorder.labels.number(
        Label("sum", "operator", "operator", bytes=4, flops=8, shapes="[2] → [1]", dtype="float32")
    )
    recording = stage.start()
    for number in (1, 2):
        stage.worker.operators.extend((1_001, 1_002, 1_003, label, number, -1, 0))
    stage.at(2_000)
    recording.stop()
    trace = stage.trace(recording)
    (row,) = set(trace.events.arg.tolist())
    args = trace.frame("args").iloc[row]
    assert (args["bytes"], args["flops"], args["shapes"], args["dtype"]) == (
        4,
        8,
        "[2] → [1]",
        "float32",
    )


# Counters, against the obvious way to count


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(1, 20)), max_size=25))
def test_calls_are_counted_and_so_are_those_that_run_at_once(spans):
    stage = Stage()
    recording = stage.start()
    for begin, length in spans:
        stage.call(1_000 + begin, 1_000 + begin + length)
    stage.at(2_000)
    recording.stop()
    trace = stage.trace(recording)
    calls = samples(trace, "MXNet C API Calls")
    assert calls == [(begin, n) for n, begin in enumerate(sorted(b for b, _ in spans), start=1)]
    concurrency = samples(trace, "MXNet C API Concurrency")
    assert len(concurrency) == 2 * len(spans)
    after = dict(concurrency)  # the last sample of each moment
    for moment, value in after.items():
        assert value == sum(begin <= moment < begin + length for begin, length in spans)
    assert all(value >= 0 for _, value in concurrency)


def test_only_api_calls_count_as_calls(stage):
    recording = stage.start()
    stage.call(1_001, 1_020)
    stage.call(1_002, 1_019, stage.wait)
    stage.at(2_000)
    recording.stop()
    assert samples(stage.trace(recording), "MXNet C API Calls") == [(1, 1)]


@given(st.lists(st.integers(-50, 50), max_size=30))
def test_memory_in_use_is_never_below_zero(changes):
    stage = Stage()
    recording = stage.start()
    expected, in_use = [], 0
    for moment, change in enumerate(changes, start=1_001):
        if change > 25:
            stage.took(moment, change)
        elif change > 0:
            stage.operator(0, moment, 1_900, number=moment, taken=(stage.memory, change))
        elif change < 0:
            stage.operator(0, moment - 1, moment, number=0, taken=(stage.memory, change))
        if change:
            in_use = max(in_use + change, 0)
            expected.append((moment - 1_000, in_use))
    stage.at(2_000)
    recording.stop()
    assert samples(stage.trace(recording), "Memory: cpu/0") == expected


def test_each_device_has_a_curve_of_its_own_in_bytes(stage):
    other = stage.recorder.labels.define("Memory: cpu/1", "memory", "cpu/1")
    recording = stage.start()
    stage.took(1_001, 10)
    stage.host.memory.extend((1_002, other, 7))
    stage.took(1_003, 5)
    stage.at(2_000)
    recording.stop()
    trace = stage.trace(recording)
    assert samples(trace, "Memory: cpu/0") == [(1, 10), (3, 15)]
    assert samples(trace, "Memory: cpu/1") == [(2, 7)]
    frame = trace.frame("counters")
    assert frame["unit"].tolist() == ["B"] * 3
    assert frame["track_name"].tolist() == ["Memory: cpu/0", "Memory: cpu/1", "Memory: cpu/0"]


# What was asked for


@pytest.mark.parametrize(
    ("switched_off", "names", "counters"),
    [
        ({}, {"dot", "MXImperativeInvokeEx"}, {"Memory: cpu/0", "MXNet C API Calls"}),
        ({"operators": False}, {"MXImperativeInvokeEx"}, {"Memory: cpu/0", "MXNet C API Calls"}),
        ({"api": False}, {"dot"}, {"Memory: cpu/0"}),
        ({"memory": False}, {"dot", "MXImperativeInvokeEx"}, {"MXNet C API Calls"}),
    ],
)
def test_what_nobody_asked_for_is_left_out(stage, switched_off, names, counters):
    recording = stage.start(**switched_off)
    stage.call(1_001, 1_002, number=1)
    stage.operator(1_002, 1_003, 1_004, number=1, taken=(stage.memory, 8))
    stage.at(2_000)
    recording.stop()
    trace = stage.trace(recording)
    assert {name for name, _, _ in rows(trace)} == names
    found = set(trace.frame("counters")["name"].tolist()) - {"MXNet C API Concurrency"}
    assert found == counters


@given(st.lists(st.booleans(), max_size=40), st.integers(1, 40), st.booleans())
def test_the_earliest_events_are_kept_and_the_others_counted(kinds, limit, api):
    stage = Stage()
    recording = stage.start(max_events=limit, api=api)
    wanted = []
    for number, is_call in enumerate(kinds, start=1):
        end = 1_000 + number // 3  # several end at the same moment
        if is_call:
            stage.call(end - 1, end, number=number)
        else:
            stage.operator(1_000, end - 1, end, number=number)
        if api or not is_call:
            wanted.append(end)
    stage.at(2_000)
    recording.stop()
    trace = stage.trace(recording)
    origin = 1_000 - trace.window_ns[0]
    ends = sorted((trace.events.end_ns + origin).tolist())
    assert ends == sorted(wanted)[:limit]
    lost = len(wanted) - len(ends)
    assert [note.count for note in trace.health.notes] == ([lost] if lost else [])
    assert all(note.code == "capped" for note in trace.health.notes)


def test_what_was_lost_while_recording_is_in_the_health(stage):
    recording = stage.start()
    stage.at(2_000)
    recording.stop()
    recording.lost = 12
    (note,) = stage.trace(recording).health.notes
    assert (note.code, note.count) == ("capped", 12)
    assert "12 records beyond the limit of 5,000,000" in note.message


def test_the_cost_of_recording_is_told():
    stage = Stage()
    recording = stage.recorder.start()
    stage.call(1_000, 1_000)
    stage.operator(0, 1_000, 1_000, number=1)
    stage.took(1_000, 1)
    recording.stop()
    cost = stage.trace(recording).meta.cost
    assert cost is not None
    assert cost.records == 3
    assert cost.total_ns == round(3 * cost.per_record_ns)


def test_the_cost_is_measured_with_the_recorders_clock():
    from mxprof_nb.record import Recorder, fake_clock
    from mxprof_nb.record.calibrate import PER_ROUND, record_cost_ns

    recorder = Recorder(fake_clock(step_ns=10)[0])
    # Per record the clock is read twice, and per round twice more, of which one counts.
    expected = 10 * (2 * PER_ROUND + 1) / PER_ROUND
    assert record_cost_ns(recorder) == pytest.approx(expected)
    assert record_cost_ns(recorder) == record_cost_ns(recorder)


def test_columns_are_whole_numbers_of_nanoseconds(stage):
    recording = stage.start()
    stage.call(1_001, 1_002)
    recording.stop()
    assert stage.trace(recording).events.start_ns.dtype == np.int64
