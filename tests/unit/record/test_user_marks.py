"""What the program itself marks, from the buffer to the trace."""

from __future__ import annotations

import struct

from mxprof_nb.record import Label, RecordConfig
from mxprof_nb.record.buffer import SAMPLE
from mxprof_nb.trace import Trace
from mxprof_nb.trace.schema import KINDS

SPAN, INSTANT, ASYNC = (KINDS.index(kind) for kind in ("span", "instant", "async"))


def mark(stage, kind: int, name: str, domain: str, start: int, end: int, value: float = 0) -> None:
    (bits,) = struct.unpack("=q", struct.pack("=d", value))
    label = stage.recorder.labels.number(Label(name, "user", domain))
    place = (mark.__code__, 0)
    stage.recorder.buffer().user.extend((start, end, label, kind, bits, *place))


def told(trace: Trace) -> list[tuple[str, str, str, int, int]]:
    events = trace.events
    return [
        (
            trace.strings[events.name[row]],
            trace.strings[events.domain[row]],
            KINDS[events.kind[row]],
            int(events.start_ns[row]),
            int(events.dur_ns[row]),
        )
        for row in range(len(events))
    ]


def test_each_kind_of_mark_is_an_event_whatever_else_is_recorded(stage):
    recording = stage.recorder.start(RecordConfig(operators=False, api=False, memory=False))
    mark(stage, ASYNC, "task", "D", 1_100, 1_300)
    mark(stage, SPAN, "event", "event", 1_150, 1_200)
    mark(stage, INSTANT, "marker", "D,instant_marker", 1_250, 1_250)
    stage.at(2_000)
    recording.stop()
    trace = stage.trace(recording)
    origin = 1_000
    assert told(trace) == [
        ("task", "D", "async", 1_100 - origin, 200),
        ("event", "event", "span", 1_150 - origin, 50),
        ("marker", "D,instant_marker", "instant", 1_250 - origin, 0),
    ]
    assert trace.strings[trace.sites.function[trace.events.site[0]]] == "mark"


def test_samples_are_a_counter_of_their_domain_with_every_bit_of_their_value(stage):
    recording = stage.start()
    for time, value in ((1_100, 0.1), (1_200, -2.0), (1_300, 1e300)):
        mark(stage, SAMPLE, "c", "D", time, time, value)
    mark(stage, SAMPLE, "d", "D", 1_100, 1_100, 7)
    stage.at(2_000)
    recording.stop()
    trace = stage.trace(recording)
    chosen = trace.counters.name == trace.strings.code("c")
    assert trace.counters.value[chosen].tolist() == [0.1, -2.0, 1e300]
    assert trace.counters.time_ns[chosen].tolist() == [100, 200, 300]
    assert len(set(trace.counters.track.tolist())) == 1
    assert trace.strings[trace.tracks.name[trace.counters.track[0]]] == "D"


def test_a_mark_that_began_before_the_recording_is_whole_and_moves_the_origin(stage):
    recording = stage.start()
    mark(stage, ASYNC, "task", "D", 400, 1_300)
    stage.at(2_000)
    recording.stop()
    trace = stage.trace(recording)
    assert told(trace) == [("task", "D", "async", 0, 900)]
    assert trace.window_ns == (600, 1_600)


def test_only_marks_that_end_inside_the_window_are_heard(stage):
    mark(stage, ASYNC, "before", "D", 400, 500)
    recording = stage.start()
    mark(stage, ASYNC, "inside", "D", 1_100, 1_200)
    stage.at(2_000)
    recording.pause()
    mark(stage, ASYNC, "after", "D", 1_500, 2_500)
    assert [row[0] for row in told(stage.trace(recording))] == ["inside"]
