"""The limit on what packed records take: what is beyond is dropped and counted, to the record."""

from __future__ import annotations

import threading

import pytest

from mxprof_nb.record import RecordConfig, Recorder, Recording, freeze
from mxprof_nb.record.buffer import PACK_AT
from mxprof_nb.trace import Meta

#: Of a call, packed: two times in four bytes each, four small numbers.
CALL_BYTES = 12


def record(recorder: Recorder, calls: int) -> None:
    """Write calls as a runtime does, from the calling thread."""
    buffer = recorder.register(threading.current_thread().name, "host")
    label = recorder.labels.define("f", "api", "d")
    for _ in range(calls):
        now = recorder.clock.now()
        buffer.calls.extend((now, now, label, -1, None, -1))
        if len(buffer.calls) > 6 * PACK_AT:
            recorder.pack_long()


def kept(recording: Recording) -> int:
    return sum(map(len, recording.blocks))


def test_kept_and_dropped_are_all_that_was_made():
    recorder = Recorder()
    recording = recorder.start(RecordConfig(max_bytes=250_000))
    record(recorder, 60_000)
    recording.stop()
    assert kept(recording) + recording.dropped == 60_000
    assert recording.dropped > 0
    # The last, which were never packed by their thread, are kept in any case.
    assert kept(recording) * CALL_BYTES <= 250_000 + (PACK_AT + 1) * CALL_BYTES
    trace = freeze(recording, Meta())
    assert [(note.code, note.count) for note in trace.health.notes] == [
        ("dropped", recording.dropped)
    ]


def test_they_add_up_while_threads_record_and_another_takes_over_and_saves():
    recorder = Recorder()
    recording = recorder.start(RecordConfig(max_bytes=500_000))
    makers = [threading.Thread(target=record, args=(recorder, 40_000)) for _ in range(3)]
    for maker in makers:
        maker.start()
    saved = turns = 0
    while any(maker.is_alive() for maker in makers):
        recording.sync()
        turns += 1
        if turns % 3 == 0:
            saved += kept(recording)
            recording.blocks = []
            recording.saved()
    recording.stop()
    assert saved + kept(recording) + recording.dropped == 120_000


def test_there_is_room_again_when_records_were_saved():
    recorder = Recorder()
    recording = recorder.start(RecordConfig(max_bytes=250_000))
    record(recorder, 60_000)
    recording.sync()
    assert (dropped := recording.dropped) > 0
    recording.saved()
    before = kept(recording)
    record(recorder, 10_000)
    recording.stop()
    assert kept(recording) == before + 10_000
    assert recording.dropped == dropped


def test_a_pause_makes_no_room():
    recorder = Recorder()
    recording = recorder.start(RecordConfig(max_bytes=250_000))
    record(recorder, 20_000)
    recording.pause()
    held = recording.held_bytes
    assert held > 225_000
    recording.resume()
    assert recording.held_bytes == held
    record(recorder, 20_000)
    recording.stop()
    assert recording.dropped > 10_000


@pytest.mark.parametrize("limit", [1, CALL_BYTES * PACK_AT - 1])
def test_a_limit_below_one_packed_block_keeps_only_what_was_never_packed(limit):
    recorder = Recorder()
    recording = recorder.start(RecordConfig(max_bytes=limit))
    record(recorder, 2 * PACK_AT + 100)
    recording.stop()
    assert kept(recording) + recording.dropped == 2 * PACK_AT + 100
    assert kept(recording) < 200


def test_another_listener_with_more_room_keeps_what_this_one_would_drop():
    recorder = Recorder()
    small = recorder.start(RecordConfig(max_bytes=1))
    large = recorder.start(RecordConfig())
    record(recorder, 20_000)
    small.stop()
    large.stop()
    assert kept(large) == 20_000
    assert large.dropped == 0
