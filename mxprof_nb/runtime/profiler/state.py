"""The state of the process's profiler: what it records now, and what was recorded and not told.

One `Recording` serves all its runs. What it heard is handed on to two collections: one becomes
the file, the other the statistics.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading

from mxprof_nb._typing import StrPath
from mxprof_nb.errors import MxprofError
from mxprof_nb.record import RECORDER, RecordConfig, Recording, freeze
from mxprof_nb.record.buffer import OPERATOR_FIELDS, Block, ThreadBuffer
from mxprof_nb.runtime.engine import ThreadedEngine, default
from mxprof_nb.runtime.engine.bulk import SIZES
from mxprof_nb.runtime.engine.fork import in_child
from mxprof_nb.runtime.profiler.config import Options
from mxprof_nb.runtime.profiler.environment import initial_config
from mxprof_nb.trace import Meta, Trace

__all__ = ["LATE_S", "Profiler"]

#: How long a file or a table waits for operators that were queued before the profiler stopped.
LATE_S = 10.0
#: Marks kept at most that the program made before the profiler ran for the first time.
EARLY = 100_000


class Profiler:
    """What `mx.profiler` knows; its functions hold the lock.

    Attributes
    ----------
    running, paused : bool
        As MXNet has them: a stop also pauses, a run ends any pause.
    late : bool
        Whether operators may still come that were queued before it stopped listening.
    statistics, to_write : Recording
        What was heard since the last reset, and since the last finished dump.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.options = Options()
        self.config = initial_config()
        self.recording: Recording | None = None
        self.running = False
        self.paused = False
        self.late = False
        self.has_run = False
        self.statistics = self.nothing()
        self.to_write = self.nothing()
        self._finished: StrPath | None = None  # the file of the last finished dump
        self._early: dict[int, ThreadBuffer] = {}  # by thread

    def nothing(self) -> Recording:
        """Return a recording that never listens itself, to collect what was heard."""
        return Recording(RECORDER, RecordConfig())

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

    def configure(self, options: Options) -> None:
        """Go on with other options; what was recorded so far stays as the old ones had it."""
        self._hand_on(self._heard())
        self.options, self.config = options, options.record_config()
        if self.recording is not None:
            self.recording.config = self.config
        if not options.aggregate_stats:
            self.statistics = self.nothing()
        self.suspend_bulking()

    def run(self) -> None:
        """Record from now on."""
        self.has_run = True
        self.running = True
        self.resume()

    def stop(self) -> None:
        """Record no more."""
        self.running = False
        self.pause()

    def pause(self) -> None:
        """Record nothing until resumed."""
        self.paused = True
        if self.recording is not None and self.recording.listening:
            self.recording.pause()
            self._notice_late(_pending() > 0)
        self.suspend_bulking()

    def resume(self) -> None:
        """End a pause."""
        self.paused = False
        if self.running:
            if self.recording is None:
                self.recording = RECORDER.start(self.config, late=True)
            self.recording.resume()
        self.suspend_bulking()

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
                    made = ThreadBuffer(thread, RECORDER.codes.number)
                    buffer = self._early[thread.order] = made
                buffer.user.extend(record)

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
            chosen = [_only(block, self.config) for block in recording.blocks]
            heard.blocks = [block for block in chosen if len(block)]
            heard.windows = recording.windows
            heard.lost, heard.lost_since = recording.lost, recording.lost_since
            recording.windows, recording.blocks, recording.lost = [], [], 0
        return heard

    def _hand_on(self, heard: Recording) -> None:
        """Add what was heard to the file to come and to the statistics."""
        for whole in (self.to_write, *([self.statistics] if self.options.aggregate_stats else [])):
            whole.windows += heard.windows
            whole.blocks += heard.blocks
            whole.lost += heard.lost
            whole.lost_since = whole.lost_since or heard.lost_since

    @property
    def unwritten(self) -> bool:
        """Whether there is anything that no finished dump has written.

        A run without any record makes an empty file, but takes the place of none.
        """
        empty = self.to_write.windows and self.options.filename != self._finished
        return bool(self.to_write.blocks or empty)

    def finish(self) -> None:
        """Begin a new file: the one before is complete."""
        self._finished = self.options.filename
        self.to_write = self.nothing()

    def write(self) -> None:
        """Write what was collected to the configured file.

        Raises
        ------
        WriteError
            It cannot be written.
        """
        from mxprof_nb.io.chrome_writer import write_chrome
        from mxprof_nb.io.files import writing

        with writing(self.options.filename) as file:
            write_chrome(self.trace(self.to_write), file, layout="mxnet", devices=_devices())

    def trace(self, heard: Recording) -> Trace:
        """Return what was collected as a trace."""
        pending = _pending() if self.late and not self.listening else 0
        return freeze(heard, Meta(backend="embedded", title="mx.profiler", pending=pending))


def _only(block: Block, config: RecordConfig) -> Block:
    """Return the records of the kinds that a configuration asks for; marks always are."""
    operators = block.operators.copy() if config.operators else block.operators[:0]
    operators[:, OPERATOR_FIELDS.index("device")] = -1  # memory has records of its own below
    calls = block.calls if config.api else block.calls[:0]
    memory = block.memory_changes() if config.memory else block.memory[:0]
    return Block(block.thread, calls, operators, memory, block.user)


def _devices() -> list[str]:
    """Return the devices that MXNet's files name: a processor for each core, two kinds of memory."""
    return [
        *(f"cpu/{number}" for number in range(os.cpu_count() or 1)),
        "cpu pinned/",
        "cpu shared/",
    ]


def _pending() -> int:
    """Return how many operators are queued; asking makes no engine."""
    return default.engine.pending if default.engine is not None else 0


#: The profiler of this process.
PROFILER = Profiler()


@in_child
def _renew() -> None:
    """Begin anew in the child of a fork: the recording, and perhaps the lock, are the parent's."""
    global PROFILER
    PROFILER = Profiler()
    PROFILER.suspend_bulking()


@atexit.register
def _finish() -> None:
    """Write what no dump has written, as MXNet does, when the process ends."""
    profiler = PROFILER
    if not profiler.has_run:
        return
    with profiler.lock:
        profiler.stop()
    profiler.wait_for_late()
    try:
        with profiler.lock:
            profiler.collect()
            if profiler.unwritten:
                profiler.write()
    except MxprofError as error:
        reason = error.__cause__ or error
        print(f"mx.profiler: the profile could not be written at exit: {reason}", file=sys.stderr)
