"""A continuous dump: what goes to disk when, what is left there, and what memory it takes."""

from __future__ import annotations

import json
import os
import random
import re
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import mxprof_nb.runtime as mx
from mxprof_nb.errors import ProfilerOptionError, WriteError
from mxprof_nb.io.registry import load
from mxprof_nb.record import RECORDER, RecordConfig, spool
from mxprof_nb.runtime.profiler import state
from mxprof_nb.runtime.profiler.continuous import SHARE, Continuous
from mxprof_nb.trace import Trace

nd, profiler = mx.nd, mx.profiler

pytestmark = pytest.mark.usefixtures("fresh_profiler")

#: The tests say themselves when a period is over.
NEVER = 10_000


def configure(path: Path, **options: Any) -> None:
    settings = {"profile_all": True, "filename": path / "p.json", "dump_period": NEVER}
    profiler.set_config(**settings | options)


def work(times: int = 1) -> None:
    """Queue dots, which nothing else here does, and wait."""
    x = nd.ones((3, 3))
    for _ in range(times):
        nd.dot(x, x)
    del x
    nd.waitall()


def period_ends(*, really: bool = True) -> None:
    """Do what the thread does when a period is over, or when it only looks."""
    made = state.PROFILER
    assert made.continuous is not None
    made.flush(really, made.continuous)


def catch_up() -> None:
    while state.PROFILER.catch_up():
        pass


def dots(trace: Trace) -> int:
    return [trace.strings[code] for code in trace.events.name].count("dot")


def told(text: str) -> dict[str, int]:
    """Return the count of each row of a table."""
    rows = re.findall(r"^(\S[^\n]*?) +(\d+)(?: +\d+\.\d{4})+$", text, re.MULTILINE)
    return {name: int(count) for name, count in rows}


def files(path: Path) -> list[str]:
    return sorted(file.name for file in path.iterdir())


# What is on disk


def test_before_the_first_period_is_over_nothing_is_on_disk(tmp_path):
    configure(tmp_path)
    profiler.set_state("run")
    work()
    profiler.set_state("stop")
    assert files(tmp_path) == []
    profiler.dump()
    assert files(tmp_path) == ["p.json"]


def test_after_a_period_the_spool_has_everything_and_the_file_what_it_came_to(tmp_path):
    configure(tmp_path)
    profiler.set_state("run")
    work(3)
    period_ends()
    assert files(tmp_path) == ["p.json.spool"]
    assert dots(load(tmp_path / "p.json.spool")) == 3
    catch_up()
    assert dots(load(tmp_path / "p.json")) == 3
    work(2)
    period_ends()
    assert dots(load(tmp_path / "p.json")) == 3
    assert dots(load(tmp_path / "p.json.spool")) == 5
    catch_up()
    assert dots(load(tmp_path / "p.json")) == 5


def test_a_file_that_is_not_finished_says_so(tmp_path):
    configure(tmp_path)
    profiler.set_state("run")
    work()
    period_ends()
    for _ in range(2):
        catch_up()
        (note,) = load(tmp_path / "p.json").health.notes
        assert (note.code, note.count) == ("no_end", 0)
        assert "The end of the file is missing" in note.message
        profiler.dump(finished=False)
        assert load(tmp_path / "p.json").health.ok
        work()
        period_ends()
    profiler.dump()
    assert load(tmp_path / "p.json").health.ok


def test_the_file_is_valid_json_after_every_part(tmp_path, monkeypatch):
    monkeypatch.setattr(spool, "PART", 10)
    configure(tmp_path)
    profiler.set_state("run")
    work(10)
    period_ends()
    seen = []
    while state.PROFILER.catch_up():
        seen.append(len(json.loads((tmp_path / "p.json").read_text())["traceEvents"]))
    assert len(seen) > 3
    assert seen == sorted(seen)


def test_a_finished_dump_leaves_one_file_like_that_of_a_dump_at_the_end(tmp_path):
    configure(tmp_path)
    profiler.set_state("run")
    work(2)
    period_ends()
    catch_up()
    work(2)
    period_ends()  # in the spool, not in the file
    work(2)  # in neither
    profiler.set_state("stop")
    profiler.dump()
    assert files(tmp_path) == ["p.json"]
    found = load(tmp_path / "p.json")
    assert dots(found) == 6
    assert found.health.ok
    # Each operator knows its line and the call that queued it, whatever part they came in.
    operators = found.where(name="dot").events
    assert (operators.site >= 0).all()
    launch = found.flows.kind == 0
    rows = {row for row in range(len(found)) if found.strings[found.events.name[row]] == "dot"}
    assert rows <= set(found.flows.target[launch].tolist())


def test_links_and_lines_lead_from_one_part_to_the_next(tmp_path, gate):
    configure(tmp_path)
    x = nd.ones((3, 3))
    nd.waitall()
    profiler.set_state("run")
    gate.hold(x)
    y = nd.dot(x, x)
    period_ends()  # the call is in this part, the operator in the next
    gate.open()
    y.wait_to_read()
    profiler.set_state("stop")
    profiler.dump()
    found = load(tmp_path / "p.json")
    (row,) = [r for r in range(len(found)) if found.strings[found.events.name[r]] == "dot"]
    site = int(found.events.site[row])
    assert found.strings[int(found.sites.text[site])] == "y = nd.dot(x, x)"
    assert row in found.flows.target.tolist()


def test_counters_go_on_from_one_part_to_the_next(tmp_path):
    configure(tmp_path)
    profiler.set_state("run")
    kept = []
    for _ in range(3):
        kept.append(nd.ones((256, 256)))
        nd.waitall()
        period_ends()
    profiler.set_state("stop")
    profiler.dump()
    found = load(tmp_path / "p.json")
    names = [found.strings[code] for code in found.counters.name]
    values = found.counters.value
    calls = [
        value for name, value in zip(names, values, strict=True) if name == "MXNet C API Calls"
    ]
    memory = [value for name, value in zip(names, values, strict=True) if name == "Memory: cpu/0"]
    assert calls == list(range(1, len(calls) + 1))
    assert memory == [256 * 256 * 4 * n for n in (1, 2, 3)]


def test_an_unfinished_dump_brings_the_file_up_to_date_and_recording_goes_on(tmp_path):
    configure(tmp_path)
    profiler.set_state("run")
    for number in range(1, 4):
        work()
        period_ends()
        work()
        profiler.dump(finished=False)
        assert dots(load(tmp_path / "p.json")) == 2 * number
    profiler.set_state("stop")
    profiler.dump()
    assert dots(load(tmp_path / "p.json")) == 6
    assert files(tmp_path) == ["p.json"]


def test_another_file_name_takes_over_everything(tmp_path):
    configure(tmp_path)
    profiler.set_state("run")
    work(1)
    period_ends()
    catch_up()
    configure(tmp_path, filename=tmp_path / "q.json")
    assert files(tmp_path) == ["p.json", "q.json.spool"]
    work(2)
    period_ends()
    catch_up()
    assert dots(load(tmp_path / "q.json")) == 3
    assert dots(load(tmp_path / "p.json")) == 1
    profiler.dump()
    assert files(tmp_path) == ["p.json", "q.json"]
    assert dots(load(tmp_path / "q.json")) == 3


@pytest.mark.parametrize("harm", [os.unlink, lambda path: path.write_text("other")])
def test_a_file_that_was_removed_or_replaced_is_made_again(tmp_path, harm):
    configure(tmp_path)
    profiler.set_state("run")
    work(1)
    period_ends()
    catch_up()
    other = tmp_path / "other"
    other.write_text("")
    harm(other)
    if other.exists():
        os.replace(other, tmp_path / "p.json")
    else:
        os.unlink(tmp_path / "p.json")
    work(1)
    period_ends()
    catch_up()
    assert dots(load(tmp_path / "p.json")) == 2


def test_a_compressed_file_is_written_by_a_dump_only(tmp_path):
    configure(tmp_path, filename=tmp_path / "p.json.gz")
    profiler.set_state("run")
    work(1)
    period_ends()
    catch_up()
    assert files(tmp_path) == ["p.json.gz.spool"]
    work(1)
    profiler.dump()
    assert files(tmp_path) == ["p.json.gz"]
    assert dots(load(tmp_path / "p.json.gz")) == 2


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_pipe_is_written_by_a_dump_only_and_stays_a_pipe(tmp_path):
    pipe, heard = tmp_path / "p.json", []
    os.mkfifo(pipe)
    configure(tmp_path)
    profiler.set_state("run")
    work()
    period_ends()
    catch_up()
    work()
    profiler.set_state("stop")
    reader = threading.Thread(target=lambda: heard.append(pipe.read_bytes()), daemon=True)
    reader.start()
    profiler.dump()
    reader.join(10.0)
    assert dots(load(heard[0])) == 2
    assert pipe.is_fifo()
    assert files(tmp_path) == ["p.json"]


def test_switching_it_off_keeps_what_is_on_disk_for_the_dump(tmp_path):
    configure(tmp_path)
    profiler.set_state("run")
    work(1)
    period_ends()
    configure(tmp_path, continuous_dump=False)
    assert state.PROFILER.continuous is None
    work(1)
    profiler.dump()
    assert dots(load(tmp_path / "p.json")) == 2
    assert files(tmp_path) == ["p.json"]


def test_a_stop_moves_the_rest_to_disk(tmp_path):
    configure(tmp_path)
    profiler.set_state("run")
    work(1)
    period_ends()
    work(1)
    profiler.set_state("stop")
    assert dots(load(tmp_path / "p.json.spool")) == 2


# The table


@pytest.mark.parametrize("when", [(), (0,), (0, 2), (0, 1, 2, 3)])
def test_statistics_are_the_same_whatever_went_to_disk(tmp_path, when):
    configure(tmp_path, aggregate_stats=True)
    profiler.set_state("run")
    for number in range(4):
        work(number + 1)
        if number in when:
            period_ends()
    profiler.set_state("stop")
    found = told(profiler.dumps())
    assert (found["dot"], found["MXNDArrayWaitAll"]) == (10, 4)
    assert found["MXNet C API Concurrency"] == 2 * found["MXNet C API Calls"]
    assert told(profiler.dumps()) == found
    profiler.dump()
    assert told(profiler.dumps(reset=True)) == found
    assert "dot" not in profiler.dumps()


def test_the_number_of_calls_goes_on_in_the_statistics(tmp_path):
    configure(tmp_path, aggregate_stats=True)
    profiler.set_state("run")
    for _ in range(3):
        work(5)
        period_ends()
    profiler.set_state("stop")
    (row,) = [
        line for line in profiler.dumps().splitlines() if line.startswith("MXNet C API Calls")
    ]
    count, total, least, most, average = map(float, row.split()[4:])
    assert (total, least, most) == (count / 1000, 0.001, count / 1000)
    assert average == pytest.approx((count + 1) / 2000, abs=1e-4)


def test_statistics_since_a_reset_do_not_count_what_is_on_disk(tmp_path):
    configure(tmp_path, aggregate_stats=True)
    profiler.set_state("run")
    work(1)
    period_ends()
    work(2)
    assert told(profiler.dumps(reset=True))["dot"] == 3
    work(4)
    period_ends()  # also what was told before the reset
    work(8)
    assert told(profiler.dumps())["dot"] == 12
    profiler.set_state("stop")
    profiler.dump()
    assert told(profiler.dumps())["dot"] == 12
    assert dots(load(tmp_path / "p.json")) == 15


def test_statistics_that_are_switched_on_later_begin_there(tmp_path):
    configure(tmp_path)
    profiler.set_state("run")
    work(1)
    period_ends()
    work(2)
    configure(tmp_path, aggregate_stats=True)
    work(4)
    period_ends()
    work(8)
    assert told(profiler.dumps())["dot"] == 12
    profiler.dump()
    assert dots(load(tmp_path / "p.json")) == 15


def test_statistics_of_two_files_add_up(tmp_path):
    configure(tmp_path, aggregate_stats=True)
    profiler.set_state("run")
    work(1)
    profiler.dump()  # nothing of it was ever on disk
    work(2)
    period_ends()
    work(4)
    profiler.dump()
    work(8)
    period_ends()
    profiler.set_state("stop")
    assert told(profiler.dumps())["dot"] == 15


# The thread


def threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if "continuous" in thread.name]


def wait_until(condition: Any) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_there_is_a_thread_only_while_it_is_wanted(tmp_path):
    wait_until(lambda: not threads())
    profiler.set_state("run")  # as in MXNet: not before set_config
    assert not threads()
    configure(tmp_path, continuous_dump=False)
    assert not threads()
    configure(tmp_path)
    assert len(threads()) == 1
    profiler.pause()
    assert len(threads()) == 1
    profiler.set_state("stop")
    wait_until(lambda: not threads())
    configure(tmp_path)
    assert not threads()


def test_the_thread_does_it_every_period_also_a_new_one(tmp_path):
    configure(tmp_path)
    profiler.set_state("run")
    work(1)
    configure(tmp_path, dump_period=0.01)
    wait_until((tmp_path / "p.json").exists)
    for number in (2, 3):
        work(1)
        wait_until(lambda expected=number: dots(load(tmp_path / "p.json.spool")) == expected)
    profiler.set_state("stop")
    profiler.dump()
    assert dots(load(tmp_path / "p.json")) == 3
    assert files(tmp_path) == ["p.json"]


def test_the_thread_does_not_outlive_a_dump_that_comes_in_between(tmp_path):
    configure(tmp_path, dump_period=0.001)
    profiler.set_state("run")
    for number in range(1, 20):
        work(number)
        profiler.dump()
        assert dots(load(tmp_path / "p.json")) == number
    profiler.set_state("stop")
    assert files(tmp_path) == ["p.json"]


def test_what_can_wait_is_done_in_its_share_of_a_core():
    counts = {"flush": 0, "catch up": 0}

    def burn(name: str) -> None:
        counts[name] += 1
        end = time.thread_time() + 0.02
        while time.thread_time() < end:
            pass

    def catch_up() -> bool:
        burn("catch up")
        return True

    def flush(due: bool, _: object) -> None:
        if due:
            burn("flush")

    began = time.perf_counter()
    made = Continuous(0.05, flush, catch_up)
    wait_until(lambda: counts["catch up"] >= 12)
    made.end()
    made.join(60)
    wall = time.perf_counter() - began
    # It begins with what it may use in a second; the last turn is not paid for yet, nor is a
    # flush, which never waits for the rest.
    assert 0.02 * (sum(counts.values()) - 2) <= SHARE * (wall + 1)
    assert counts["flush"] > 0


def test_a_finished_dump_is_not_replaced_by_what_the_program_did_afterwards(tmp_path):
    configure(tmp_path)
    profiler.set_state("run")
    work(50)
    profiler.dump()
    work(3)
    period_ends()
    assert dots(load(tmp_path / "p.json.spool")) == 3
    catch_up()
    assert dots(load(tmp_path / "p.json")) == 50
    profiler.dump()  # now the program asks for it
    assert dots(load(tmp_path / "p.json")) == 3
    assert files(tmp_path) == ["p.json"]


def test_after_a_finished_dump_a_run_begins_the_next_file(tmp_path):
    configure(tmp_path)
    profiler.set_state("run")
    work(50)
    profiler.dump()
    profiler.set_state("run")
    work(3)
    period_ends()
    catch_up()
    assert dots(load(tmp_path / "p.json")) == 3


@pytest.mark.parametrize("seed", range(4))
def test_nothing_is_lost_whatever_is_called_in_between(tmp_path, seed):
    choose = random.Random(seed)
    options = {"aggregate_stats": True, "dump_period": 0.002}
    configure(tmp_path, **options)
    profiler.set_state("run")
    made, ended, written, number = [0, 0], threading.Event(), 0, 0

    def queue(maker: int) -> None:
        x = nd.ones((3, 3))
        while not ended.is_set() and made[maker] < 2_000:
            nd.dot(x, x)
            made[maker] += 1
            if made[maker] % 20 == 0:
                nd.waitall()
                time.sleep(0.001)

    makers = [threading.Thread(target=queue, args=(maker,)) for maker in range(2)]
    for maker in makers:
        maker.start()

    def finish() -> int:
        profiler.dump()
        return dots(load(path)) if (path := tmp_path / f"{number}.json").exists() else 0

    configure(tmp_path, filename=tmp_path / "0.json", **options)
    for _ in range(20):
        time.sleep(choose.random() * 0.01)
        call = choose.choice(["unfinished", "finished", "table", "file", "again"])
        if call == "unfinished":
            profiler.dump(finished=False)
        elif call == "finished":
            written += finish()
            number += 1
            configure(tmp_path, filename=tmp_path / f"{number}.json", **options)
        elif call == "table":
            assert "dot" in profiler.dumps()
        elif call == "file":
            number += 1
            configure(tmp_path, filename=tmp_path / f"{number}.json", **options)
        else:
            profiler.set_state("run")
    ended.set()
    for maker in makers:
        maker.join()
    nd.waitall()
    profiler.set_state("stop")
    written += finish()
    assert written == sum(made)
    assert told(profiler.dumps())["dot"] == sum(made)
    assert not list(tmp_path.glob("*.spool*"))


# When the disk or the memory is full


def test_a_folder_that_does_not_exist_is_said_once_and_the_records_stay_in_memory(tmp_path):
    configure(tmp_path, filename=tmp_path / "no" / "p.json")
    profiler.set_state("run")
    work(1)
    with pytest.warns(RuntimeWarning, match=r"cannot be moved to disk.*kept in memory") as warned:
        period_ends()
    assert len(warned) == 1
    work(1)
    period_ends()
    with pytest.raises(WriteError, match="No such file"):
        profiler.dump()
    configure(tmp_path)
    profiler.dump()
    assert dots(load(tmp_path / "p.json")) == 2


def full(*_: object) -> None:
    raise OSError(28, "No space left on device")


def test_a_full_disk_costs_nothing_when_another_has_room(tmp_path, monkeypatch):
    configure(tmp_path)
    profiler.set_state("run")
    work(1)
    period_ends()
    catch_up()
    monkeypatch.setattr(spool.Spool, "_write", full)
    work(2)
    with pytest.warns(RuntimeWarning, match="No space left"):
        period_ends()
    with pytest.raises(WriteError, match="No space left"):
        profiler.dump(finished=False)
    (tmp_path / "other").mkdir()
    configure(tmp_path / "other")
    profiler.dump()
    assert dots(load(tmp_path / "other" / "p.json")) == 3
    assert files(tmp_path / "other") == ["p.json"]


def test_a_file_that_could_not_be_written_to_its_end_is_begun_again(tmp_path, monkeypatch):
    configure(tmp_path)
    profiler.set_state("run")
    work(1)
    period_ends()
    catch_up()
    work(1)
    period_ends()
    growing = state.PROFILER.backlog._file  # type: ignore[union-attr]
    with monkeypatch.context() as patched:
        patched.setattr(growing, "_write", full)
        with pytest.warns(RuntimeWarning, match="not kept up to date"):
            catch_up()
    profiler.dump()
    assert dots(load(tmp_path / "p.json")) == 2


class AlmostFull:
    """A file on a disk with room for some bytes more."""

    def __init__(self, file: Any) -> None:
        self.file, self.room = file, 1000

    def write(self, text: memoryview) -> int:
        written: int = self.file.write(text[: self.room])
        self.room -= written
        if not written:
            raise OSError(28, "No space left on device")
        return written

    def truncate(self, size: int) -> None:
        self.room += self.file.seek(0, os.SEEK_END) - size
        self.file.truncate(size)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)


def test_a_disk_that_is_full_in_the_middle_of_a_part_leaves_valid_json(tmp_path):
    configure(tmp_path)
    profiler.set_state("run")
    work(1)
    period_ends()
    catch_up()
    work(5)
    period_ends()
    growing = state.PROFILER.backlog._file  # type: ignore[union-attr]
    growing._file = AlmostFull(growing._file)  # type: ignore[union-attr]
    with pytest.warns(RuntimeWarning, match="not kept up to date.*No space left"):
        catch_up()
    assert dots(load((tmp_path / "p.json").read_bytes())) == 1
    json.loads((tmp_path / "p.json").read_bytes())
    profiler.dump()
    assert dots(load(tmp_path / "p.json")) == 6


def test_records_beyond_the_memory_limit_are_dropped_and_said(tmp_path, monkeypatch):
    monkeypatch.setenv("MXPROF_NB_MEMORY_LIMIT", "0.125")
    configure(tmp_path)
    profiler.set_state("run")
    work(8_000)
    profiler.set_state("stop")
    with pytest.warns(RuntimeWarning, match="records are dropped, since more than 131,072 bytes"):
        profiler.dump()
    found = load(tmp_path / "p.json")
    (note,) = found.health.notes
    assert note.code == "dropped"
    assert note.message.startswith(f"{note.count:,} records were dropped")
    assert 0 < dots(found) < 8_000


def test_after_a_drop_recording_goes_on_as_soon_as_there_is_room(tmp_path, monkeypatch):
    monkeypatch.setenv("MXPROF_NB_MEMORY_LIMIT", "0.125")
    configure(tmp_path)
    profiler.set_state("run")
    work(8_000)
    with pytest.warns(RuntimeWarning, match="records are dropped"):
        period_ends()
    before = dots(load(tmp_path / "p.json.spool"))
    work(100)
    profiler.set_state("stop")
    profiler.dump()
    found = load(tmp_path / "p.json")
    assert dots(found) == before + 100
    assert [note.code for note in found.health.notes] == ["dropped"]


def test_much_is_moved_to_disk_before_the_period_is_over(tmp_path, monkeypatch):
    monkeypatch.setenv("MXPROF_NB_MEMORY_LIMIT", "0.25")
    configure(tmp_path)
    profiler.set_state("run")
    work(10)
    period_ends(really=False)
    assert files(tmp_path) == []
    work(8_000)
    period_ends(really=False)
    assert files(tmp_path) == ["p.json.spool"]
    assert state.PROFILER.recording is not None
    assert state.PROFILER.recording.held_bytes < 2**17


@pytest.mark.parametrize("value", ["0", "-1", "much", "nan", "inf"])
def test_a_limit_that_is_none_is_refused(monkeypatch, value):
    monkeypatch.setenv("MXPROF_NB_MEMORY_LIMIT", value)
    with pytest.raises(ProfilerOptionError, match="MXPROF_NB_MEMORY_LIMIT="):
        profiler.set_config()


def test_packed_records_are_let_go_once_they_are_on_disk(tmp_path):
    configure(tmp_path)
    profiler.set_state("run")
    work(8_000)
    period_ends()
    made = state.PROFILER
    assert sum(len(buffer.blocks) for buffer in RECORDER._buffers) == 0
    assert made.recording is not None
    assert made.recording._known == set()
    assert made.recording.held_bytes == 0
    assert not made.to_write.blocks


def test_another_listener_keeps_what_it_has_not_taken(tmp_path):
    configure(tmp_path)
    other = RECORDER.start(RecordConfig())
    profiler.set_state("run")
    work(3)
    period_ends()
    work(4)
    other.stop()
    operators = sum(len(block.operators) for block in other.blocks)
    assert operators >= 7
