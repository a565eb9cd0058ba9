"""`Recorder` and `Recording`: who hears what, exactly once."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mxprof_nb.errors import NotRecordingError
from mxprof_nb.record import RecordConfig, Recorder, Recording, freeze
from mxprof_nb.record.buffer import CALL_FIELDS, PACK_AT, ThreadBuffer, ThreadInfo
from mxprof_nb.record.codes import CodeTable
from mxprof_nb.record.sites import caller, on_behalf_of, user_frame_finder
from mxprof_nb.trace import Meta
from tests.threads import quick_switching
from tests.unit.record.conftest import Stage, heard


def test_nobody_listens_at_first(stage):
    assert not stage.recorder.on
    assert not stage.recorder.lines


def test_a_recording_hears_what_ends_while_it_listens(stage):
    stage.call(0, 900)
    recording = stage.start()
    stage.call(990, 1_000)
    stage.call(1_010, 1_090)
    stage.call(1_095, 1_101)
    stage.at(1_100)
    recording.stop()
    assert heard(recording) == [(990, 1_000), (1_010, 1_090)]
    assert recording.windows == [(1_000, 1_100)]


def test_a_pause_leaves_a_gap_and_nothing_else(stage):
    other = stage.start()
    recording = stage.start()
    for begin in range(1_000, 1_100, 10):
        stage.at(begin)
        if begin == 1_030:
            recording.pause()
            assert not recording.listening
        if begin == 1_070:
            recording.resume()
            assert recording.listening
        stage.at(begin + 5)
        stage.call(begin, begin + 5)
    recording.stop()
    other.stop()
    numbers = [begin for begin, _ in heard(recording)]
    assert numbers == [1_000, 1_010, 1_020, 1_070, 1_080, 1_090]
    assert recording.windows == [(1_000, 1_030), (1_070, 1_095)]
    assert len(heard(other)) == 10


def test_pausing_and_resuming_twice_is_as_good_as_once(stage):
    recording = stage.start()
    recording.resume()
    stage.call(1_000, 1_001)
    stage.at(1_010)
    recording.pause()
    recording.pause()
    assert recording.windows == [(1_000, 1_010)]
    assert heard(recording) == [(1_000, 1_001)]
    assert not stage.recorder.on


def test_what_never_listened_cannot_be_stopped(stage):
    with pytest.raises(NotRecordingError, match="never started"):
        Recording(stage.recorder, RecordConfig()).stop()


def test_a_paused_recording_can_be_stopped(stage):
    recording = stage.start()
    stage.call(1_000, 1_001)
    stage.at(1_002)
    recording.pause()
    recording.stop()
    assert heard(recording) == [(1_000, 1_001)]


def test_the_recorder_is_on_as_long_as_anybody_listens(stage):
    first, second = stage.start(sites=False), stage.start(sites=True)
    assert stage.recorder.on
    assert stage.recorder.lines
    second.pause()
    assert stage.recorder.on
    assert not stage.recorder.lines
    first.pause()
    assert not stage.recorder.on


def test_what_nobody_listens_for_any_more_is_dropped(stage):
    recording = stage.start()
    stage.call(1_000, 1_001)
    recording.stop()
    assert not stage.host.calls
    assert not stage.host.blocks
    stage.call(2_000, 2_001)
    again = stage.start()
    again.stop()
    assert heard(again) == []


def test_what_comes_in_late_is_heard_once(stage):
    """A thread reads the clock, is held up, and writes its record after somebody looked."""
    recording = stage.start()
    stage.at(1_020)
    recording.sync()
    stage.call(1_001, 1_010)
    stage.at(1_030)
    recording.sync()
    recording.stop()
    assert heard(recording) == [(1_001, 1_010)]


def test_an_operator_that_spans_a_sync_is_heard_with_its_memory(stage):
    recording = stage.start()
    stage.at(1_020)
    recording.sync()
    stage.operator(1_001, 1_002, 1_030, number=1, taken=(stage.memory, 64))
    stage.at(1_040)
    recording.stop()
    trace = stage.trace(recording)
    assert trace.frame("events")["name"].tolist() == ["dot"]
    assert trace.counters.value.tolist() == [64]


def test_records_of_a_thread_that_has_ended_are_heard():
    recorder = Recorder()
    recording = recorder.start()
    label = recorder.labels.define("call", "api", "MXNET_C_API")

    def work() -> None:
        now = recorder.clock.now()
        recorder.buffer().calls.extend((now, now, label, 7, None, -1))

    thread = threading.Thread(target=work, name="short-lived")
    thread.start()
    thread.join()
    recording.stop()
    (block,) = recording.blocks
    assert block.thread.name == "short-lived"
    assert block.thread.role == "host"
    assert block.calls[0, CALL_FIELDS.index("correlation")] == 7


def test_each_thread_has_a_buffer_of_its_own():
    recorder = Recorder()
    found: list[ThreadBuffer] = []
    threads = [threading.Thread(target=lambda: found.append(recorder.buffer())) for _ in range(3)]
    for thread in threads:
        thread.start()
        thread.join()
    found.append(recorder.buffer())
    assert recorder.buffer() is found[-1]
    assert len({id(buffer) for buffer in found}) == 4


# Two listeners against a model

actions = st.lists(
    st.sampled_from(["write", "write late", "A toggles", "B toggles", "A syncs", "B syncs"]),
    max_size=40,
)


@given(actions)
def test_two_recordings_hear_all_of_their_own_windows_and_nothing_twice(actions):
    stage = Stage()
    recordings = {name: Recording(stage.recorder, RecordConfig()) for name in "AB"}
    begun: dict[str, int] = {}
    expected: dict[str, list[tuple[int, int]]] = {"A": [], "B": []}
    for action in actions:
        stage.time[0] += 10
        now = stage.time[0]
        if action.startswith("write") and stage.recorder.on:
            end = now - 5 if action == "write late" else now
            stage.call(end - 1, end)
            for name, begin in begun.items():
                if begin <= end:
                    expected[name].append((end - 1, end))
        elif action.endswith("toggles"):
            name = action[0]
            if name in begun:
                del begun[name]
                recordings[name].pause()
            else:
                begun[name] = now
                recordings[name].resume()
        elif action.endswith("syncs"):
            recordings[action[0]].sync()
        assert stage.recorder.on is bool(begun)
    stage.time[0] += 10
    for name, recording in recordings.items():
        recording.pause()
        assert heard(recording) == expected[name]
        assert all(begin <= end for begin, end in recording.windows)


# Many threads at once


class Hammer:
    """Threads that write numbered records as fast as they can, some through full buffers."""

    def __init__(self, recorder: Recorder, threads: int, records: int) -> None:
        self.recorder, self.records = recorder, records
        self.label = recorder.labels.define("call", "api", "MXNET_C_API")
        self.threads = [threading.Thread(target=self.work, args=(n,)) for n in range(threads)]

    def work(self, thread: int) -> None:
        buffer, now = self.recorder.buffer(), self.recorder.clock.now
        for number in range(self.records):
            moment = now()
            buffer.calls.extend((moment, now(), self.label, number, None, thread))
            if number % 500 == 0:
                buffer.pack(wait=False)

    def __enter__(self) -> Hammer:
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        for thread in self.threads:
            thread.join()

    @property
    def alive(self) -> bool:
        return any(thread.is_alive() for thread in self.threads)


def check_whole_and_in_order(recording: Recording, label: int) -> dict[int, list[int]]:
    """Check that no record is torn, and return the numbers heard from each thread, sorted."""
    rows = np.concatenate([block.calls for block in recording.blocks])
    assert (rows[:, 0] <= rows[:, 1]).all()
    assert (rows[:, 2] == label).all()
    assert (rows[:, 4] == -1).all()
    heard_of: dict[int, list[int]] = {}
    for number, thread in rows[:, [3, 5]].tolist():
        heard_of.setdefault(thread, []).append(number)
    return {thread: sorted(numbers) for thread, numbers in heard_of.items()}


def test_nothing_is_lost_or_torn_while_another_thread_collects():
    recorder = Recorder()
    recording = recorder.start()
    with quick_switching(), Hammer(recorder, threads=3, records=6_000) as hammer:
        while hammer.alive:
            recording.sync()
    recording.stop()
    numbers = check_whole_and_in_order(recording, hammer.label)
    assert numbers == {thread: list(range(6_000)) for thread in range(3)}


def test_one_recording_goes_on_undisturbed_while_others_come_and_go():
    recorder = Recorder()
    recording = recorder.start()
    brief: list[Recording] = []
    with quick_switching(), Hammer(recorder, threads=2, records=6_000) as hammer:
        while hammer.alive:
            brief.append(recorder.start())
            brief[-1].stop()
    recording.stop()
    numbers = check_whole_and_in_order(recording, hammer.label)
    assert numbers == {thread: list(range(6_000)) for thread in range(2)}
    for other in brief:
        if other.blocks:
            for found in check_whole_and_in_order(other, hammer.label).values():
                # What one thread wrote between two moments has no holes.
                assert found == list(range(found[0], found[-1] + 1))


# Packing and the limit


def test_a_buffer_is_packed_when_it_has_grown_long(stage):
    recording = stage.start()
    full = 6 * PACK_AT // len(CALL_FIELDS)
    for number in range(full):
        stage.call(1_000, 1_000, number=number)
    stage.recorder.pack_long()
    assert not stage.host.blocks
    stage.call(1_000, 1_000, number=full)
    stage.recorder.pack_long()
    assert [len(block) for block in stage.host.blocks] == [full + 1]
    assert not stage.host.calls
    recording.stop()
    numbers = [n for block in recording.blocks for n in block.calls[:, 3].tolist()]
    assert numbers == list(range(full + 1))


def test_packing_leaves_half_written_records_alone():
    buffer = ThreadBuffer(ThreadInfo("t", "host", None, 0, 0), lambda codes: [-1] * len(codes))
    buffer.calls.extend((1, 2, 3, 4, None, 6))
    buffer.calls.extend((7, 8))
    buffer.pack()
    assert buffer.blocks[0].calls.tolist() == [[1, 2, 3, 4, -1, 6]]
    assert buffer.calls == [7, 8]


def test_packing_from_within_packing_does_not_wait_for_itself():
    """The garbage collector may run a finaliser, which records, in the middle of packing."""
    packed_inside: list[int] = []

    def numbers(codes: list[Any]) -> list[int]:
        buffer.pack(wait=False)
        packed_inside.append(len(buffer.blocks))
        return [5] * len(codes)

    buffer = ThreadBuffer(ThreadInfo("t", "host", None, 0, 0), numbers)
    buffer.calls.extend((1, 2, 3, 4, None, 6))
    buffer.pack()
    assert set(packed_inside) == {0}
    assert buffer.blocks[0].calls.tolist() == [[1, 2, 3, 4, 5, 6]]


def test_what_does_not_fit_while_recording_is_counted(stage):
    recording = stage.start(max_events=100)
    total = 0
    for _ in range(3):
        for _ in range(PACK_AT + 1):
            stage.call(1_000, 1_000)
            total += 1
        stage.recorder.pack_long()
    stage.call(1_000, 1_000)
    recording.stop()
    kept = sum(len(block) for block in recording.blocks)
    assert recording.lost + kept == total + 1
    assert recording.lost >= 2 * PACK_AT


def test_what_was_lost_before_a_recording_began_is_not_its_loss(stage):
    first = stage.start(max_events=1)
    for _ in range(2):
        for _ in range(PACK_AT + 1):
            stage.call(1_000, 1_000)
        stage.recorder.pack_long()
    second = stage.start(max_events=1)
    for recording in (second, first, first, second):
        recording.pause()
    assert first.lost == PACK_AT + 1  # the block in which the limit lies is cut when frozen
    assert second.lost == 0


def test_what_is_kept_under_a_limit_is_the_beginning_without_holes(stage):
    recording = stage.start(max_events=1_000)
    for number in range(5 * (PACK_AT + 1) + 7):
        stage.call(1_000, 1_000 + number)
        stage.recorder.pack_long()
    stage.at(1_000_000)
    recording.stop()
    trace = freeze(recording, Meta())
    assert len(trace) == 1_000
    total = sum(len(block.calls) for block in recording.blocks) + recording.lost
    (note,) = trace.health.notes
    assert note.count == total - 1_000
    assert sorted(trace.events.dur_ns.tolist()) == list(range(1_000))


def test_a_full_recording_does_not_starve_one_that_starts_later(stage):
    full = stage.start(max_events=1_000)
    for _ in range(3 * (PACK_AT + 1)):
        stage.call(1_000, 1_000)
        stage.recorder.pack_long()
    stage.at(2_000)
    later = stage.start(max_events=10_000)
    for _ in range(PACK_AT + 1):
        stage.call(2_000, 2_000)
        stage.recorder.pack_long()
    for recording in (later, full):
        recording.stop()
    assert later.lost == 0
    assert len(freeze(later, Meta())) == PACK_AT + 1


def test_threads_that_come_and_go_never_share_a_row(stage):
    orders = set()
    for _ in range(3):
        recording = stage.start()
        done = threading.Thread(target=lambda: stage.recorder.register("fresh", "host"))
        done.start()
        done.join()
        orders |= {buffer.thread.order for buffer in stage.recorder._buffers}
        recording.stop()
    assert len(orders) >= 3
    kept = [buffer.thread.order for buffer in stage.recorder._buffers]
    assert len(kept) == len(set(kept))


def test_something_that_is_no_configuration_is_refused_and_nothing_starts(stage):
    with pytest.raises(TypeError, match="RecordConfig, not dict"):
        stage.recorder.start({"sites": False})
    assert not stage.recorder.on
    stage.start().stop()


def test_a_loss_is_counted_once_however_often_a_recording_pauses(stage):
    other = stage.start(max_events=1)
    recording = stage.start(max_events=1)
    for _ in range(2):
        for _ in range(PACK_AT + 1):
            stage.call(1_000, 1_000)
        stage.recorder.pack_long()
    for _ in range(3):
        recording.pause()
        recording.resume()
    recording.stop()
    other.stop()
    assert recording.lost == other.lost == PACK_AT + 1


# Who called


def test_code_objects_keep_their_number_and_stay_alive():
    table = CodeTable()
    codes = [compile(f"x{n}", "<made up>", "eval") for n in range(50)]
    numbers = [table.number(code) for code in codes]
    assert len(set(numbers)) == 50
    assert [table.number(code) for code in codes] == numbers
    assert all(table[number] is code for number, code in zip(numbers, codes, strict=True))
    assert table.number(None) == -1


def test_the_caller_outside_the_package_is_found(tmp_path):
    find = user_frame_finder(str(tmp_path / "package"))
    names: dict[str, Any] = {"find": find}
    inner = compile("def inner(): return find(1)", str(tmp_path / "package" / "api.py"), "exec")
    exec(inner, names)
    outer = compile("def outer(): return inner()", str(tmp_path / "program.py"), "exec")
    exec(outer, names)
    code, offset = names["outer"]()
    assert code is names["outer"].__code__
    assert 0 <= offset < len(code.co_code)


def test_a_folder_whose_name_begins_like_the_package_belongs_to_the_program(tmp_path):
    find = user_frame_finder(str(tmp_path / "package"))
    names: dict[str, Any] = {"find": find}
    source = "def ours(): return find(1)"
    exec(compile(source, str(tmp_path / "package_examples" / "program.py"), "exec"), names)
    code, _ = names["ours"]()
    assert code is names["ours"].__code__


def test_with_no_caller_outside_the_package_there_is_none():
    find = user_frame_finder("")  # everything belongs to it
    assert find(1) == (None, -1)


def test_a_full_buffer_met_while_it_is_packed_is_left_to_whoever_packs_it(stage):
    recording = stage.start()
    for number in range(2 * PACK_AT):
        stage.call(1_000, 1_000, number=number)
    asked: list[bool] = []

    def number_and_look(codes: list[Any]) -> list[int]:
        if not asked:
            asked.append(True)
            for number in range(2 * PACK_AT, 4 * PACK_AT):
                stage.call(1_000, 1_000, number=number)
            stage.recorder.pack_long()
        return [-1] * len(codes)

    stage.host.code_numbers = number_and_look
    stage.recorder.pack_long()
    assert asked
    recording.stop()
    numbers = sorted(n for block in recording.blocks for n in block.calls[:, 3].tolist())
    assert numbers == list(range(4 * PACK_AT))


def test_a_thread_that_runs_nothing_of_the_program_works_for_the_line_it_is_told():
    def here() -> Any:
        return caller(1)

    mine = here()
    found: list[Any] = []

    def work() -> None:
        with on_behalf_of(mine):
            found.append(caller(3))  # from outside of this function
            found.append(caller(1))
        found.append(caller(3))

    for _ in range(2):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    told, own, nothing = found[:3]
    assert told == mine, "what begins a thread is no line of the program"
    assert own[0] is work.__code__
    assert nothing == (None, -1)
    assert [found[3], found[5]] == [mine, nothing]
