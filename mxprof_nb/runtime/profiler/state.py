"""The state of the process's profiler: what it records now, and what was recorded and not told.

One `Recording` serves all its runs. What it heard is handed on to two collections: one becomes
the file, the other the statistics. While a continuous dump runs, a thread moves them to a
`Backlog` on disk every period; before the first one nothing differs from a dump at the end.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from mxprof_nb._typing import StrPath
from mxprof_nb.errors import MxprofError, ProfilerError, WriteError
from mxprof_nb.record import RECORDER, RecordConfig, Recording, freeze
from mxprof_nb.record.buffer import ThreadBuffer
from mxprof_nb.record.signals import held_back
from mxprof_nb.runtime.engine import ThreadedEngine, default
from mxprof_nb.runtime.engine.bulk import SEGMENTS, SIZES
from mxprof_nb.runtime.engine.fork import PATIENCE_S, around, in_child
from mxprof_nb.runtime.profiler import pool
from mxprof_nb.runtime.profiler.config import Options
from mxprof_nb.runtime.profiler.continuous import Continuous
from mxprof_nb.runtime.profiler.environment import LIMIT, initial_config
from mxprof_nb.runtime.profiler.statistics import Statistics
from mxprof_nb.trace import Meta, Trace
from mxprof_nb.trace.privacy import private

if TYPE_CHECKING:
    from mxprof_nb.runtime.profiler.backlog import Backlog

__all__ = ["LATE_S", "Profiler"]

#: How long a file or a table waits for operators that were queued before the profiler stopped.
LATE_S = 10.0
#: Marks kept at most that the program made before the profiler ran for the first time.
EARLY = 100_000
#: Bytes that wait in memory before they are moved to disk ahead of time.
MANY_BYTES = 64 * 2**20


class Profiler:
    """What `mx.profiler` knows; its functions hold the lock.

    Attributes
    ----------
    running, paused : bool
        As MXNet has them: a stop also pauses, a run ends any pause.
    late : bool
        Whether operators may still come that were queued before it stopped listening.
    statistics : Statistics
        Of what was heard since the last reset.
    to_write : Recording
        What was heard since the last finished dump and is not on disk.
    backlog : Backlog or None
        What is.
    complete : bool
        Whether the configured file is a finished dump, which only a call of the program may
        replace: neither the end of a period nor that of the process does. As in MXNet, a run
        begins the next file.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.options = Options(continuous_dump=False)  # as in MXNet, until it is configured
        self.config = initial_config()
        self.recording: Recording | None = None
        self.running = False
        self.paused = False
        self.late = False
        self.has_run = False
        self.statistics = Statistics(self.nothing())
        self.to_write = self.nothing()
        self.backlog: Backlog | None = None
        self.continuous: Continuous | None = None
        self.complete = False
        self._at_work = False
        self._complaints: set[str] = set()
        self._finished: StrPath | None = None  # the file of the last finished dump
        self._early: dict[int, ThreadBuffer] = {}  # by thread

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Hold the lock for one function of `mx.profiler`.

        Raises
        ------
        ProfilerError
            The calling thread is in the middle of one already.
        """
        with self.lock:
            if self._at_work:
                raise ProfilerError(
                    "mx.profiler was called by a signal handler or finaliser that struck in the "
                    "middle of another call of it. Set a flag there, and call it from the program."
                )
            try:
                self._at_work = True
                yield
            finally:
                self._at_work = False

    def nothing(self) -> Recording:
        """Return a recording that never listens itself, to collect what was heard."""
        limits = {name: getattr(self.config, name) for name in ("max_events", "max_bytes")}
        return Recording(RECORDER, RecordConfig(**limits))

    @property
    def listening(self) -> bool:
        """Whether it records now."""
        return self.running and not self.paused

    @property
    def keeps_early(self) -> bool:
        """Whether it wants what the program marks though nothing is recorded.

        MXNet keeps marks unless it is paused, so those made before the first run are in its file.
        """
        return not self.running and not self.paused

    @held_back()
    def configure(self, options: Options) -> None:
        """Go on with other options; what was recorded so far stays as the old ones had it."""
        config = options.record_config()
        self._hand_on(self._heard())
        before, self.options, self.config = self.options, options, config
        self.complete &= options.filename == before.filename
        if self.recording is not None:
            self.recording.config = self.config
        if not options.aggregate_stats:
            self.statistics = Statistics(self.nothing())
        self.to_write.config = self.nothing().config
        if self.backlog is not None:
            if options.filename != before.filename:
                self.backlog.move(options.filename)
            if options.aggregate_stats and not before.aggregate_stats:
                self.statistics.follow(self.backlog.spool, skip=True)
        pool.switch(options.profile_pool)
        self.suspend_bulking()
        self.attend()

    @held_back()
    def run(self) -> None:
        """Record from now on."""
        self.has_run = True
        self.running = True
        self.complete = False
        self.resume()
        self.attend()

    @held_back()
    def stop(self) -> None:
        """Record no more."""
        self.running = False
        self.pause()
        self.attend()
        if self.backlog is not None:
            self._try_to_spool()

    @held_back()
    def pause(self) -> None:
        """Record nothing until resumed."""
        self.paused = True
        if self.recording is not None and self.recording.listening:
            self.recording.pause()
            self._notice_late(_pending() > 0)
        self.suspend_bulking()

    @held_back()
    def resume(self) -> None:
        """End a pause."""
        self.paused = False
        if self.running:
            if self.recording is None:
                self.recording = RECORDER.start(self.config, late=True)
            self.recording.resume()
            pool.sample()
        self.suspend_bulking()

    def attend(self) -> None:
        """Have a thread keep the file up to date while it runs and that is asked for."""
        period = self.options.dump_period
        wanted = self.running and self.options.continuous_dump
        if self.continuous is not None and not (wanted and self.continuous.period_s == period):
            self.continuous.end()
            self.continuous = None
        if wanted and self.continuous is None:
            with suppress(RuntimeError):  # the interpreter ends: no more threads, and no need
                self.continuous = Continuous(period, self.flush, self.catch_up)

    def flush(self, due: bool, caller: Continuous) -> None:
        """Move what was recorded to disk, also ahead of time if it is much."""
        with self.lock:
            if self.continuous is caller and (due or self._is_much_in_memory()):
                self._try_to_spool()

    def _is_much_in_memory(self) -> bool:
        limit = min(MANY_BYTES, self.config.max_bytes // 2)
        return self.recording is not None and self.recording.held_bytes > limit

    def _try_to_spool(self) -> None:
        self.collect()
        if not self.to_write.blocks:
            return
        try:
            self._spool()
        except OSError as error:
            limit = self.config.max_bytes / 2**20
            self._complain(
                f"mx.profiler: what was recorded cannot be moved to disk ({error}). Up to "
                f"{limit:,g} MB of it are kept in memory until a dump."
            )

    @held_back()
    def _spool(self) -> None:
        """Move what was collected to disk."""
        if self.backlog is None:
            from mxprof_nb.runtime.profiler.backlog import Backlog  # most programs need none

            self.backlog = Backlog(self.options.filename, RECORDER, self._meta(), _devices())
        if not (alike := self.statistics.holds(self.to_write.blocks)):
            self.statistics.fold()
        self.backlog.append(self.to_write)
        if self.options.aggregate_stats:
            self.statistics.follow(self.backlog.spool, skip=not alike)
        self.to_write = self.nothing()
        if self.recording is not None:
            self.recording.saved()

    def catch_up(self) -> bool:
        """Put one more part of what is on disk into the file; return whether there may be more."""
        backlog = self.backlog
        try:
            return backlog is not None and not self.complete and backlog.update()
        except OSError as error:
            self._complain(f"mx.profiler: the file is not kept up to date: {error}")
            return False

    def _complain(self, text: str) -> None:
        """Warn, once; a warning that is made an error must not end the thread."""
        if text not in self._complaints:
            self._complaints.add(text)
            with suppress(RuntimeWarning):
                warnings.warn(text, RuntimeWarning, stacklevel=2)

    def suspend_bulking(self) -> None:
        """Keep operators apart while statistics are kept, as MXNet does: a bulk has no names."""
        SIZES.suspended = self.listening and self.options.aggregate_stats

    def wait_for_late(self) -> None:
        """Let operators end that were queued before it stopped; the lock must not be held."""
        engine = default.engine
        if not self.late or self.listening:
            return
        if isinstance(engine, ThreadedEngine) and not engine.is_worker():
            self._notice_late(not engine.observe(LATE_S))

    def _notice_late(self, late: bool) -> None:
        """Note whether something may still come."""
        with self.lock:
            self.late = late
            if not late and self.recording is not None:
                self.recording.settle()

    def mark_early(self, record: tuple[object, ...]) -> None:
        """Keep what the program marked while nobody listens."""
        thread = RECORDER.buffer().thread
        with self.lock:
            if sum(len(buffer.user) for buffer in self._early.values()) < EARLY * len(record):
                buffer = self._early.get(thread.order)
                if buffer is None:
                    made = ThreadBuffer(thread, RECORDER.codes.numbers)
                    buffer = self._early[thread.order] = made
                buffer.user.extend(record)

    @held_back()
    def collect(self) -> None:
        """Take over what was heard since the last time, and what was marked before."""
        heard = self._heard()
        for buffer in self._early.values():
            buffer.pack()
            heard.blocks += buffer.blocks
        self._early.clear()
        self._hand_on(heard)

    def _heard(self) -> Recording:
        """Return what was heard since the last time, the kinds that are wanted.

        What is not wanted is left out now: the next configuration may want other things.
        """
        heard, recording = self.nothing(), self.recording
        if recording is not None:
            recording.sync()
            chosen = [block.of_kinds(self.config, SEGMENTS) for block in recording.blocks]
            heard.blocks = [block for block in chosen if len(block)]
            heard.windows = recording.windows
            heard.lost, heard.lost_since = recording.lost, recording.lost_since
            heard.dropped = recording.dropped
            recording.windows, recording.blocks = [], []
            recording.lost = recording.dropped = 0
        return heard

    def _hand_on(self, heard: Recording) -> None:
        """Add what was heard to the file to come and to the statistics."""
        if heard.dropped:
            self._complain(
                f"mx.profiler: records are dropped, since more than {self.config.max_bytes:,} "
                f"bytes of them wait to be written. Record less, or set {LIMIT} to more MB."
            )
        counted = [self.statistics.recent] if self.options.aggregate_stats else []
        for whole in (self.to_write, *counted):
            whole.windows += heard.windows
            whole.blocks += heard.blocks
            whole.lost += heard.lost
            whole.dropped += heard.dropped
            whole.lost_since = whole.lost_since or heard.lost_since

    @property
    def unwritten(self) -> bool:
        """Whether there is anything that no finished dump has written.

        A run without any record makes an empty file, but takes the place of none.
        """
        empty = self.to_write.windows and self.options.filename != self._finished
        return bool(self.backlog or self.to_write.blocks or empty)

    @held_back()
    def finish(self) -> None:
        """Begin a new file: the one before is complete."""
        self._finished = self.options.filename
        self.complete = True
        self.statistics.fold()  # records are not kept for their figures
        self.to_write = self.nothing()
        if self.backlog is not None:
            self.statistics.leave_spool()
            self.backlog.remove()
            self.backlog = None
        if self.recording is not None:
            self.recording.saved()

    def write(self, *, last: bool) -> None:
        """Write what was collected to the configured file, for the last time or not.

        Raises
        ------
        WriteError
            It cannot be written.
        """
        from mxprof_nb.io.chrome_writer import write_chrome
        from mxprof_nb.io.files import writing

        if self.backlog is not None:
            if not last:
                try:
                    self._spool()
                except OSError as cause:
                    raise WriteError.to(self.backlog.spool.path, cause) from cause
            self.backlog.complete(self._pending_late(), self.to_write if last else None)
            return
        with writing(self.options.filename) as file:
            trace = private(self.trace(self.to_write))
            write_chrome(trace, file, layout="mxnet", devices=_devices())

    def trace(self, heard: Recording) -> Trace:
        """Return what was collected as a trace."""
        return freeze(heard, replace(self._meta(), pending=self._pending_late()))

    def _pending_late(self) -> int:
        return _pending() if self.late and not self.listening else 0

    @staticmethod
    def _meta() -> Meta:
        return Meta(backend="embedded", title="mx.profiler")


def _devices() -> list[str]:
    """Return the devices that MXNet's files name: one for each core, and two kinds of memory."""
    processors = [f"cpu/{number}" for number in range(os.cpu_count() or 1)]
    return [*processors, "cpu pinned/", "cpu shared/"]


def _pending() -> int:
    """Return how many operators are queued; asking makes no engine."""
    return default.engine.pending if default.engine is not None else 0


#: The profiler of this process.
PROFILER = Profiler()


#: Locks of profilers that a fork holds, by the thread that forks.
_held: dict[int, threading.RLock] = {}


def _hold() -> None:
    """Let nobody be in the middle of a table or file: modules that it imports stay locked."""
    lock = PROFILER.lock
    if lock.acquire(timeout=PATIENCE_S):
        _held[threading.get_ident()] = lock


def _go_on() -> None:
    lock = _held.pop(threading.get_ident(), None)
    if lock is not None:
        lock.release()


around(_hold, _go_on)


@in_child
def _renew() -> None:
    """Begin anew in the child of a fork: the recording, and perhaps the lock, are the parent's."""
    global PROFILER
    _held.clear()
    if PROFILER.backlog is not None:
        PROFILER.backlog.abandon()
    PROFILER = Profiler()
    PROFILER.suspend_bulking()


@atexit.register
def _finish() -> None:
    """Write what no dump has written, as MXNet does, when the process ends."""
    profiler = PROFILER
    if not profiler.has_run:
        return
    with profiler.lock:
        thread = profiler.continuous
        profiler.stop()
    profiler.wait_for_late()
    try:
        with profiler.lock:
            profiler.collect()
            if profiler.unwritten and not profiler.complete:
                profiler.write(last=True)
            if profiler.backlog is not None:
                profiler.backlog.remove()
    except MxprofError as error:
        reason = error.__cause__ or error
        print(f"mx.profiler: the profile could not be written at exit: {reason}", file=sys.stderr)
    if thread is not None:
        thread.join(1.0)
