"""The spool: what was appended comes back, whatever happened to the end of the file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mxprof_nb.errors import CorruptTraceError, UnknownFormatError, UnsupportedVersionError
from mxprof_nb.io.registry import load
from mxprof_nb.io.spool import read
from mxprof_nb.record import Clock, Label, RecordConfig, Recorder, Recording, freeze
from mxprof_nb.record import spool as module
from mxprof_nb.record.buffer import TABLES, Block
from mxprof_nb.record.packing import pack, unpack
from mxprof_nb.record.spool import MAGIC, Spool, SpoolReader
from mxprof_nb.trace import Meta, Trace
from tests.unit.record.conftest import Stage

INT64 = st.integers(-(2**63), 2**63 - 1)


def written(path: Path, *recordings: Recording) -> bytes:
    """Return the content of a spool that these were appended to."""
    spool = Spool(path, recordings[0].recorder, {"title": "stage"})
    for recording in recordings:
        spool.append(recording)
    content = path.read_bytes()
    assert len(content) == spool.size
    spool.remove()
    assert not path.exists()
    return content


def reader_of(content: bytes) -> SpoolReader:
    return SpoolReader(lambda offset, size: content[offset : offset + size], "a.spool")


def recorded(stage: Stage, calls: int = 3) -> Recording:
    """Record calls, each with its line and the operator it queued."""
    recording = stage.start()
    here = recorded.__code__
    for number in range(1, calls + 1):
        begin = 1_000 + 10 * number
        stage.call(begin, begin + 5, number=number, place=(here, 2 * number))
        stage.operator(begin + 1, begin + 6, begin + 9, number, taken=(stage.memory, 64))
        stage.took(begin + 2, 32)
    stage.at(5_000)
    recording.stop()
    return recording


def frame_of(content: bytes | bytearray) -> pd.DataFrame:
    return read(bytes(content)).frame()


def same(one: Trace, other: Trace) -> bool:
    """Whether two traces hold the same rows, all columns compared."""
    return all(
        one.frame(table).equals(other.frame(table))
        for table in ("events", "tracks", "flows", "counters", "sites", "args")
    )


@given(arrays(np.int64, st.tuples(st.integers(0, 30), st.integers(1, 7)), elements=INT64))
def test_any_table_of_integers_survives_packing(table):
    data = b"before" + pack(table)
    found, end = unpack(data, 6)
    assert end == len(data)
    assert found.shape == table.shape
    assert (found == table).all()


def test_what_counts_up_or_stays_takes_next_to_nothing():
    table = np.stack([np.arange(4_000), np.full(4_000, 7)], axis=1)
    assert len(pack(table)) < 50


@given(
    st.lists(
        st.tuples(
            st.integers(0, 1),
            *(
                arrays(np.int64, st.tuples(st.integers(0, 4), st.just(len(fields))), elements=INT64)
                for fields in TABLES.values()
            ),
        ),
        max_size=4,
    )
)
def test_any_blocks_survive_the_spool(tmp_path_factory, blocks):
    stage = Stage()
    threads = stage.host.thread, stage.worker.thread
    made = []
    for thread, *tables in blocks:
        named = dict(zip(TABLES, tables, strict=True))
        for name, fields in TABLES.items():  # places are looked up, so they must exist
            if "code" in fields:
                named[name][:, fields.index("code")] = -1
        made.append(Block(threads[thread], **named))
    recording = Recording(stage.recorder, RecordConfig(), windows=[(1, 2), (3, 2**62)], blocks=made)
    recording.lost, recording.dropped = 3, 4
    found = reader_of(written(tmp_path_factory.mktemp("spool") / "a.spool", recording)).all()
    assert (found.windows, found.lost, found.dropped) == ([(1, 2), (3, 2**62)], 3, 4)
    assert [block.thread for block in found.blocks] == [block.thread for block in made]
    for one, other in zip(found.blocks, made, strict=True):
        for name in TABLES:
            assert (getattr(one, name) == getattr(other, name)).all()


def test_a_spool_gives_the_trace_that_the_recording_gives(tmp_path, stage):
    recording = recorded(stage)
    content = written(tmp_path / "a.spool", recording)
    expected = freeze(recording, Meta(title="stage"))
    found = load(content)
    assert same(found, expected)
    assert found.meta.origin_epoch_ns == expected.meta.origin_epoch_ns
    assert found.meta.window_ns == expected.meta.window_ns
    assert found.meta.title == "stage"
    assert found.health.ok


def test_what_is_appended_in_turn_is_one_trace(tmp_path, stage):
    whole = recorded(stage, 6)
    halves = []
    for begin, end in ((0, 1_035), (1_036, 9_000)):
        blocks = [block.between(begin, end) for block in whole.blocks]
        halves.append(Recording(stage.recorder, RecordConfig(), blocks=blocks))
    halves[0].windows = whole.windows
    found = load(written(tmp_path / "a.spool", *halves))
    assert same(found, freeze(whole, Meta(title="stage")))


def test_many_records_become_parts_of_bounded_size(tmp_path, stage, monkeypatch):
    monkeypatch.setattr(module, "PART", 10)
    recording = recorded(stage, 40)
    reader = reader_of(written(tmp_path / "a.spool", recording))
    sizes = []
    while (part := reader.next()) is not None:
        sizes.append(sum(map(len, part.blocks)))
    assert sum(sizes) == 120
    assert max(sizes) <= 12  # records that end at the same time stay together
    assert len(sizes) >= 10


def test_parts_can_be_skipped_and_later_ones_are_understood(tmp_path, stage):
    recording = recorded(stage)
    content = written(tmp_path / "a.spool", recording, recording)
    reader = reader_of(content)
    skipped = reader.next(skip=True)
    assert skipped is not None
    assert not skipped.blocks
    part = reader.next()
    assert part is not None
    assert len(freeze(part, Meta()).sites) == 1
    assert reader.next() is None


def test_a_spool_cut_off_anywhere_gives_everything_before_the_cut(tmp_path, stage):
    recording = recorded(stage)
    content = written(tmp_path / "a.spool", recording, recording)
    whole = len(read(content).events)
    assert whole == 12
    before, head = 0, reader_of(content).offset
    for size in range(len(MAGIC) + 4, len(content)):
        if size < head:
            with pytest.raises(CorruptTraceError, match="its head is damaged"):
                read(content[:size])
            continue
        found = read(content[:size])
        assert before <= len(found.events) <= whole
        before = len(found.events)
        for note in found.health.notes:
            assert note.code == "cut_off"
            assert f"The last {note.count} bytes of the spool" in note.message
    assert before > 0


@given(place=st.floats(0, 1, exclude_max=True), change=st.integers(1, 255))
def test_a_changed_byte_cuts_off_what_follows_and_nothing_else(tmp_path_factory, place, change):
    stage = Stage()
    path = tmp_path_factory.mktemp("spool") / "a.spool"
    recording = recorded(stage)
    content = bytearray(written(path, recording, recording))
    whole = len(read(bytes(content)).events)
    content[int(place * len(content))] ^= change
    try:
        found = read(bytes(content))
    except (CorruptTraceError, UnsupportedVersionError):
        assert place < 0.5  # the magic number, the version, or the head
        return
    assert len(found.events) <= whole
    (note,) = found.health.notes
    assert note.code == "cut_off"
    assert note.count >= (1 - place) * len(content) - 1
    assert frame_of(content[: len(content) - note.count]).equals(found.frame())


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda content: b"", UnknownFormatError, "it is empty"),
        (lambda content: b"{}" + content, CorruptTraceError, "this is no spool"),
        (lambda content: content[:8] + b"\x09" + content[9:], UnsupportedVersionError, "version 9"),
        (lambda content: content[:40], CorruptTraceError, "its head is damaged"),
    ],
)
def test_what_is_no_spool_of_this_version_is_refused(tmp_path, stage, change, error, message):
    content = written(tmp_path / "a.spool", recorded(stage))
    with pytest.raises(error, match=message):
        load(change(content), format="spool")


def test_records_with_other_fields_are_refused(tmp_path, stage, monkeypatch):
    content = written(tmp_path / "a.spool", recorded(stage))
    monkeypatch.setattr(module, "TABLES", {"calls": ("start", "end")})
    with pytest.raises(UnsupportedVersionError, match="its records have other fields"):
        load(content)


def test_an_empty_spool_is_a_trace_of_nothing(tmp_path, stage):
    recording = Recording(stage.recorder, RecordConfig(), windows=[(1_000, 2_000)])
    assert len(load(written(tmp_path / "a.spool", recording)).events) == 0


def test_what_cannot_be_written_leaves_the_spool_as_it_was(tmp_path, stage, monkeypatch):
    recording = recorded(stage)
    path = tmp_path / "a.spool"
    spool = Spool(path, stage.recorder, {})
    spool.append(recording)
    before = path.read_bytes()
    full: Callable[..., int] = _full
    with monkeypatch.context() as patched:
        patched.setattr(Spool, "_frames", full)
        with pytest.raises(OSError, match="No space"):
            spool.append(recording)
    assert path.read_bytes() == before
    spool.append(recording)
    assert len(load(path).events) == 2 * len(load(before).events)
    spool.remove()


def _full(*_: object) -> int:
    raise OSError(28, "No space left on device")


def test_a_spool_does_not_write_into_or_remove_the_file_of_another(tmp_path, stage):
    path = tmp_path / "a.spool"
    first, second = Spool(path, stage.recorder, {}), Spool(path, stage.recorder, {})
    first.append(recorded(stage))
    assert first.size > second.size
    assert len(load(path).events) == 0
    first.remove()
    assert path.exists()
    second.remove()
    assert list(tmp_path.iterdir()) == []


def test_times_of_day_are_those_of_the_recorder(tmp_path):
    recorder = Recorder(Clock(now=lambda: 50, epoch_now=lambda: 1_000_050))
    buffer = recorder.register("MainThread", "host")
    recording = recorder.start()
    buffer.calls.extend((60, 70, recorder.labels.number(Label("f", "api", "d")), -1, None, -1))
    recording.sync()
    recording.pause()
    found = load(written(tmp_path / "a.spool", recording))
    start = int(found.events.start_ns[0])
    assert found.meta.origin_epoch_ns + start == 1_000_060
