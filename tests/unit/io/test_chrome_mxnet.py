"""MXNet's layout of Chrome traces, made piece by piece from traces built by hand."""

from __future__ import annotations

import json
from typing import Any

import pytest

import mxprof_nb.runtime as mx
from mxprof_nb.errors import UnsupportedVersionError
from mxprof_nb.io import load
from mxprof_nb.io.chrome_writer.mxnet_layout import MxnetEncoder
from mxprof_nb.record import RECORDER, freeze
from mxprof_nb.trace import Meta, Trace, TraceBuilder


def piece(*events: dict[str, Any], at: int = 10**18, calls: int = 0) -> Trace:
    """Return a partial trace of one thread whose time 0 is at a time since 1970."""
    builder = TraceBuilder(Meta(origin_epoch_ns=at))
    host = builder.track("MainThread", role="host")
    for event in events:
        builder.event(**{"track": host, "domain": "d", "kind": "async", **event})
    if calls:
        track = builder.track("MXNET_C_API", role="counter")
        for number in range(calls):
            builder.counter("MXNet C API Calls", track=track, time_ns=number, value=number + 1)
    return builder.build()


def document(*pieces: Trace, devices: tuple[str, ...] = ("cpu/0",)) -> str:
    encoder = MxnetEncoder(devices)
    texts = [*encoder.begin()]
    for one in pieces:
        texts += encoder.add(one)
    return "".join([*texts, *encoder.end()])


def records(text: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(text)["traceEvents"]
    return found


def test_processes_threads_and_lines_are_told_once_whatever_the_number_of_pieces():
    event = {"name": "t", "start_ns": 0, "dur_ns": 5}
    text = document(piece(event), piece(event, at=10**18 + 100), piece(event, at=10**18 + 200))
    named = [e for e in records(text) if e["name"] in ("process_name", "thread_name")]
    assert [e["args"]["name"] for e in named] == ["cpu/0", "d", "MainThread"]
    assert load(text.encode()).tracks.name.tolist() == [load(text.encode()).tracks.name[0]]


def test_times_of_all_pieces_count_from_the_origin_of_the_first():
    event = {"name": "t", "start_ns": 7, "dur_ns": 5, "queued_ns": 3}
    trace = load(document(piece(event), piece(event, at=10**18 + 1000)).encode())
    assert trace.events.start_ns.tolist() == [7, 1007]
    assert trace.events.queued_ns.tolist() == [3, 1003]
    assert trace.meta.origin_epoch_ns == 10**18


def test_the_number_of_calls_goes_on_from_piece_to_piece():
    text = document(piece(calls=3), piece(calls=2, at=10**18 + 10))
    values = [e["args"]["MXNet C API Calls"] for e in records(text) if e["ph"] == "C"]
    assert values == [1, 2, 3, 4, 5]


def test_what_overlaps_gets_a_further_thread_of_the_same_name_and_one_track_when_read():
    overlapping = [
        {"name": "first", "start_ns": 0, "dur_ns": 10},
        {"name": "second", "start_ns": 5, "dur_ns": 10},
        {"name": "inside second", "start_ns": 6, "dur_ns": 2},
        {"name": "third", "start_ns": 20, "dur_ns": 1},
    ]
    text = document(piece(*overlapping))
    tids = {e["name"]: e["tid"] for e in records(text) if e["ph"] == "b"}
    assert tids["first"] == tids["third"] != tids["second"]
    assert tids["inside second"] in (tids["first"], tids["second"])
    threads = [e["args"]["name"] for e in records(text) if e["name"] == "thread_name"]
    assert threads == ["MainThread", "MainThread"]
    assert set(load(text.encode()).events.track.tolist()) == {0}


def test_what_began_before_the_end_of_an_earlier_piece_does_not_go_back_in_time():
    late = {"name": "around all", "start_ns": 0, "dur_ns": 200}
    early = {"name": "inside", "start_ns": 50, "dur_ns": 10}
    after = {"name": "after", "start_ns": 300, "dur_ns": 10}
    text = document(piece(early), piece(late, after))
    tids = {e["name"]: e["tid"] for e in records(text) if e["ph"] == "b"}
    assert tids["inside"] == tids["after"] != tids["around all"]


def test_an_operator_of_a_thread_without_a_device_stands_under_the_first():
    event = {"name": "DeleteVariable", "start_ns": 0, "dur_ns": 5, "kind": "span"}
    text = document(piece({**event, "domain": "operator"}), devices=("cpu/0", "gpu/0"))
    assert [e["pid"] for e in records(text) if e["ph"] == "B"] == [0]


def test_a_device_that_was_not_named_at_first_is_named_when_it_is_met():
    builder = TraceBuilder()
    track = builder.track("worker", role="worker", device="gpu/3")
    builder.event("dot", track=track, start_ns=0, dur_ns=1, domain="operator")
    found = records(document(builder.build()))
    (begin,) = [e for e in found if e["ph"] == "B"]
    names = {e["pid"]: e["args"]["name"] for e in found if e["name"] == "process_name"}
    assert names[begin["pid"]] == "gpu/3"


def test_python_code_of_a_custom_operator_is_not_on_the_device():
    event = {"name": "Mine::pure_python", "start_ns": 0, "dur_ns": 5, "kind": "span"}
    found = records(document(piece({**event, "domain": "Custom Operator"})))
    assert [e["ph"] for e in found if e["name"] == event["name"]] == ["b", "e"]


@pytest.mark.parametrize(
    ("before", "after"),
    [('"layout":"mxnet"', '"layout":"other"'), ('"version":1,"layout"', '"version":2,"layout"')],
)
def test_a_layout_that_is_not_known_is_refused_with_what_to_do(before, after):
    text = document(piece()).replace(before, after)
    with pytest.raises(UnsupportedVersionError, match="Update mxprof-nb"):
        load(text.encode())


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ('"clock_ns":1000000000000000000', '"clock_ns":"?"', "metadata events 'mxprof'"),
        ('"tid":1,"process"', '"tid":9,"process"', "no piece tells what thread 1 is"),
        ('"MXNet C API Calls":1}', '"MXNet C API Calls":true}', "a sample is one number"),
        ('"args":{}', '"args":{"step":"?"}', "its args"),
    ],
)
def test_a_file_that_was_changed_is_read_as_one_of_mxnet_and_the_place_is_told(before, after, told):
    text = document(piece({"name": "t", "start_ns": 0, "dur_ns": 5}, calls=1))
    assert before in text
    trace = load(text.replace(before, after).encode())
    assert [trace.strings[code] for code in trace.events.name] == ["t"]
    note = trace.health.notes[-1]
    assert note.code == "own_part"
    assert told in note.message


def test_a_recording_comes_back_with_its_times_and_its_arrows():
    recording = RECORDER.start()
    try:
        a = mx.nd.array([[1, 2], [3, 4]])
        (mx.nd.dot(a, a) + 1).asnumpy()
        mx.nd.exp(a).copyto(mx.cpu(1)).wait_to_read()
        mx.nd.waitall()
    finally:
        recording.stop()
    trace = freeze(recording, Meta())
    found = load(document(trace).encode())
    assert arrows(found) == arrows(trace)
    assert len(arrows(trace)) > 3
    for column in ("start_ns", "dur_ns", "correlation", "queued_ns"):
        assert getattr(found.events, column).tolist() == getattr(trace.events, column).tolist()


def arrows(trace: Trace) -> list[tuple[int, ...]]:
    """Return begins of both events and kind of every flow."""
    start, flows = trace.events.start_ns, trace.flows
    return sorted(
        zip(
            start[flows.source].tolist(),
            start[flows.target].tolist(),
            flows.kind.tolist(),
            strict=True,
        )
    )


def test_what_a_later_piece_says_again_of_the_recording_is_told_once():
    def noted(count: int) -> Trace:
        builder = TraceBuilder(Meta(origin_epoch_ns=10**18))
        builder.note("capped", count, f"{count} are missing.")
        return builder.build()

    health = load(document(noted(3), piece(), noted(5)).encode()).health
    assert [note.message for note in health.notes] == ["5 are missing."]


def test_a_file_without_its_end_says_so_and_how_much_was_cut_in_two():
    text = document(piece({"name": "t", "start_ns": 0, "dur_ns": 5}))
    whole = load(text[: text.index('\n],\n"displayTimeUnit"')].encode())
    assert [(note.code, note.count) for note in whole.health.notes] == [("no_end", 0)]
    assert len(whole) == 1
    half = load(text[: text.index('"ph":"e"')].encode())
    assert [(note.code, note.count) for note in half.health.notes] == [("no_end", 1)]
    assert len(half) == 0
