"""`Recorder`: one stream of records, any number of independent listeners.

- Runtimes ask `Recorder.on` (a plain attribute, cheap enough for every call) and, while it is
  set, append records to the buffer of their thread.
- A `Recording` is one listener: it has windows of time in which it listens, and takes from the
  stream what ended inside them. `%%mxprofile` and `mx.profiler` are two such listeners, so
  neither notices the other.
- Records that no running listener can still want are dropped when a listener starts or stops.
- A listener may go by when operators were queued instead: its own are those queued while it
  listened, also if they end after it has stopped, and not those that were queued before. Engines
  record the late ones whoever listens then, and they are as many as were queued.
"""

from __future__ import annotations

import itertools
import threading
import weakref
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from mxprof_nb.errors import NotRecordingError
from mxprof_nb.record.buffer import Block, ThreadBuffer, ThreadInfo
from mxprof_nb.record.clock import SYSTEM, Clock
from mxprof_nb.record.codes import CodeTable
from mxprof_nb.record.config import RecordConfig
from mxprof_nb.record.labels import LabelTable

__all__ = ["RECORDER", "Recorder", "Recording"]

#: Begin of a window in which nothing ends.
_NEVER = 2**63 - 1
#: Windows that a recording remembers one by one, to know what is late.
_SPANS = 100


@dataclass(frozen=True, slots=True)
class _Amount:
    """How much was packed."""

    records: int = 0
    bytes: int = 0

    def plus(self, block: Block) -> _Amount:
        return _Amount(self.records + len(block), self.bytes + block.nbytes)

    def since(self, other: _Amount) -> _Amount:
        return _Amount(self.records - other.records, self.bytes - other.bytes)


class Here(threading.local):
    """The buffer of the calling thread, and the functions that append records to it.

    Looked up and called in one breath, ``here.call((...))``: what a record costs is what a small
    operator costs more under a profile.

    Attributes
    ----------
    buffer : ThreadBuffer
    call, operator, drop, release : callable
        Append one record, a tuple: see the fields of `mxprof_nb.record.buffer`.
    """

    buffer: ThreadBuffer
    call: Callable[[Iterable[Any]], None]
    operator: Callable[[Iterable[Any]], None]
    drop: Callable[[Iterable[Any]], None]
    release: Callable[[Iterable[Any]], None]

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder  # once for every thread

    def __getattr__(self, name: str) -> Any:
        """Give a thread that nobody has told about its buffer."""
        if name not in ("buffer", "call", "operator", "drop", "release"):
            raise AttributeError(name)
        self._recorder.register(threading.current_thread().name, "host")
        return vars(self)[name]

    def set(self, buffer: ThreadBuffer) -> None:
        """Have the calling thread append to a buffer."""
        self.buffer = buffer
        self.call, self.operator = buffer.calls.extend, buffer.operators.extend
        self.drop, self.release = buffer.drops.extend, buffer.releases.extend


class Recorder:
    """The stream of records of one process.

    Attributes
    ----------
    on : bool
        Whether anybody listens. Runtimes read it before each record.
    lines : bool
        Whether a listener wants to know the line each call came from.
    here : Here
        Where the calling thread's records go.
    """

    def __init__(self, clock: Clock = SYSTEM) -> None:
        self.clock = clock
        # What a file says of those who wrote it; None: of this process.
        self.process: int | None = None
        self.record_cost_ns: float | None = None
        self.labels = LabelTable()
        self.codes = CodeTable()
        self.on = False
        self.lines = False
        self.lost = 0
        self.lost_since: int | None = None
        self.dropped = 0
        self._packed = _Amount()  # ever
        self._counting = threading.RLock()
        self._next_order = itertools.count()
        self._listening: list[Recording] = []
        self._awaiting: list[weakref.ref[Recording]] = []  # stopped, but may get late operators
        self._switched: list[Callable[[bool], None]] = []
        self._buffers: list[ThreadBuffer] = []
        self.here = Here(self)
        self._lock = threading.RLock()

    def buffer(self) -> ThreadBuffer:
        """Return the buffer of the calling thread."""
        return self.here.buffer

    def records(self) -> int:
        """Return about how many records are at hand; any thread may ask."""
        return sum(buffer.records() for buffer in list(self._buffers))

    def register(self, name: str, role: str, device: str | None = None) -> ThreadBuffer:
        """Give the calling thread a buffer, saying what the thread is."""
        with self._lock:
            order = next(self._next_order)  # never given twice: records are joined by it
            info = ThreadInfo(name, role, device, order, threading.get_ident())
            made = ThreadBuffer(info, self.codes.numbers)
            self._buffers.append(made)
        self.here.set(made)
        return made

    def pack_long(self) -> None:
        """Pack the buffers that have grown long; the listeners' limits are applied here."""
        for buffer in list(self._buffers):
            if buffer.is_long():
                buffer.pack(wait=False, admit=self._admit)

    def _admit(self, block: Block) -> bool:
        """Return whether any listener still wants to keep more; count what none does."""
        with self._counting:
            listeners = [*self._listening, *self._wait_for_late()]
            held = [(one.config, self._packed.since(one._packed_before)) for one in listeners]
            if all(amount.records > config.max_events for config, amount in held):
                # What is kept is the beginning, without holes: from here on all is left out.
                self.lost += len(block)
                first = block.first_end()
                self.lost_since = first if self.lost_since is None else min(self.lost_since, first)
                return False
            if all(
                amount.records > config.max_events or amount.bytes + block.nbytes > config.max_bytes
                for config, amount in held
            ):
                self.dropped += len(block)
                return False
            return self._count(block)

    def _count(self, block: Block) -> bool:
        with self._counting:
            self._packed = self._packed.plus(block)
        return True

    def start(self, config: RecordConfig | None = None, *, late: bool = False) -> Recording:
        """Start a new listener and return it, listening; see `Recording` for ``late``."""
        config = RecordConfig() if config is None else config
        if not isinstance(config, RecordConfig):
            raise TypeError(f"config must be a RecordConfig, not {type(config).__name__}.")
        recording = Recording(self, config, late=late)
        recording.resume()
        return recording

    def _listen(self, recording: Recording) -> int:
        with self._lock:
            if not self._listening:
                self._clear()
            self._listening.append(recording)
            recording._lost_before, recording._dropped_before = self.lost, self.dropped
            recording._packed_before = self._packed.since(recording._held)
            begin = self.clock.now()
            self._set_flags()
            return begin

    def _unlisten(self, recording: Recording, begin: int) -> tuple[int, list[Block]]:
        """Stop listening; return the moment and what was heard."""
        with self._lock:
            end = self.clock.now()
            if recording.late:  # first: an operator may end while this looks
                recording._note_span(begin, end)
            heard = self._heard(recording, begin, end)
            if recording in self._listening:  # not in the child of a fork
                self._listening.remove(recording)
                if recording.late:
                    waiting = [r for r in self._wait_for_late() if r is not recording]
                    self._awaiting = [weakref.ref(r) for r in (*waiting, recording)]
            self._set_flags()
            self._tell_losses(recording)
            recording._packed_then = self._packed
            recording._held = self._packed.since(recording._packed_before)
            if not self._listening:
                self._clear()
            return end, heard

    def _hear(self, recording: Recording, begin: int) -> tuple[int, list[Block]]:
        """Return what is new since ``begin``, and the moment up to which it was collected."""
        with self._lock:
            heard = self._heard(recording, begin, None)
            self._tell_losses(recording)
            recording._packed_then = self._packed
            self._release()
            return self.clock.now(), heard

    def _tell_losses(self, recording: Recording) -> None:
        """Tell a listener how many records were not kept since it was told last."""
        with self._counting:
            if self.lost > recording._lost_before:
                recording.lost += self.lost - recording._lost_before
                recording.lost_since = self.lost_since
            recording.dropped += self.dropped - recording._dropped_before
            recording._lost_before, recording._dropped_before = self.lost, self.dropped

    def _release(self) -> None:
        """Let go of packed blocks that every listener has taken over."""
        listening, waiting = self._listening, self._wait_for_late()
        for buffer in self._buffers:
            known = []
            for block in list(buffer.blocks):
                if not all(block.number in one._known for one in listening):
                    break
                known.append(block)
            for recording in waiting:
                recording.blocks += recording._choose(known, _NEVER, None)
            del buffer.blocks[: len(known)]
            for recording in (*listening, *waiting):
                recording._known.difference_update(block.number for block in known)

    def _hear_late(self, recording: Recording) -> list[Block]:
        """Return operators queued while it listened that have ended since."""
        with self._lock:
            return self._heard(recording, _NEVER, None)

    def _heard(self, recording: Recording, begin: int, end: int | None) -> list[Block]:
        """Return what ended in the window and was not returned before."""
        blocks = []
        for buffer in list(self._buffers):
            buffer.pack(admit=self._count)
            blocks += recording._choose(list(buffer.blocks), begin, end)
        return blocks

    def _wait_for_late(self) -> list[Recording]:
        """Return the recordings that have stopped and may still get operators."""
        return [found for reference in list(self._awaiting) if (found := reference()) is not None]

    def when_switched(self, call: Callable[[bool], None]) -> None:
        """Have a function called whenever recording begins or ends, with whether it is on."""
        self._switched.append(call)
        call(self.on)

    def _set_flags(self) -> None:
        self.lines = any(recording.config.sites for recording in self._listening)
        on = bool(self._listening)
        if on is not self.on:
            self.on = on
            for call in self._switched:
                call(on)

    def _clear(self) -> None:
        alive = {thread.ident for thread in threading.enumerate()}
        self._buffers = [b for b in self._buffers if b.thread.ident in alive]
        waiting = self._wait_for_late()
        for buffer in self._buffers:
            buffer.pack()
            blocks = list(buffer.blocks)
            for recording in waiting:
                recording.blocks += recording._choose(blocks, _NEVER, None)
            del buffer.blocks[: len(blocks)]  # a worker may have added one meanwhile
        for recording in waiting:
            recording._known.clear()  # these blocks are gone
        self.lost, self.lost_since, self.dropped = 0, None, 0

    def forget(self) -> None:
        """Drop all listeners and the buffers of other threads; for the child of a fork.

        The listeners are the parent's: nobody in the child would ever stop them.
        """
        self._lock, self._counting = threading.RLock(), threading.RLock()
        self.codes.renew()
        self._buffers = [b for b in self._buffers if b is vars(self.here).get("buffer")]
        for buffer in self._buffers:
            buffer.packing, buffer.is_packing = threading.RLock(), False  # perhaps held by another
        self._listening.clear()
        self._awaiting.clear()
        self._set_flags()


@dataclass(eq=False)
class Recording:
    """One listener: when it listens, and what it heard.

    Attributes
    ----------
    windows : list of (int, int)
        Finished ranges of time in which it listened, in ns of the recorder's clock.
    blocks : list of Block
        What was heard in them.
    lost : int
        Records beyond the limit, not kept.
    lost_since : int or None
        The moment from which on none is kept.
    dropped : int
        Records that were not kept because those before them took too much memory.
    late : bool
        Whether operators are its own that were queued while it listened, whenever they end: those
        that end when it does so no more, which `sync` takes over, and none that were queued before.
    """

    recorder: Recorder
    config: RecordConfig
    windows: list[tuple[int, int]] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    lost: int = 0
    lost_since: int | None = None
    dropped: int = 0
    late: bool = False
    _spans: list[tuple[int, int]] = field(default_factory=list)  # to know what is late
    _since: int | None = None
    _begin: int = 0  # of the range that `_since` goes on with
    _known: set[int] = field(default_factory=set)
    _lost_before: int = 0
    _dropped_before: int = 0
    _packed_before: _Amount = field(default_factory=_Amount)
    _packed_then: _Amount = field(default_factory=_Amount)  # when it took over what was heard
    _held: _Amount = field(default_factory=_Amount)  # when it was paused

    @property
    def listening(self) -> bool:
        """Whether records are being taken now."""
        return self._since is not None

    @property
    def held_bytes(self) -> int:
        """Memory that packed records take which were not `saved`, in bytes."""
        if self._since is None:
            return self._held.bytes
        return self.recorder._packed.since(self._packed_before).bytes

    def resume(self) -> None:
        """Listen from now on; nothing happens when it listens already."""
        if self._since is None:
            self._since = self._begin = self.recorder._listen(self)

    def pause(self) -> None:
        """Stop listening and keep what was heard; nothing happens when it is paused already."""
        if self._since is not None:
            begin, self._since = self._since, None
            end, heard = self.recorder._unlisten(self, self._begin)
            self.windows.append((begin, end))
            self.blocks += heard

    def stop(self) -> None:
        """Stop listening for good.

        Raises
        ------
        NotRecordingError
            It has never listened.
        """
        self.pause()
        if not self.windows:
            raise NotRecordingError(
                "This recording was never started, so there is nothing to stop. "
                "Call `.resume()` first."
            )

    def sync(self) -> None:
        """Take over what was heard so far and go on listening, without a gap.

        Afterwards, of one that does not listen, what was late.
        """
        if self._since is not None:
            end, heard = self.recorder._hear(self, self._begin)
            self.windows.append((self._since, end))
            self.blocks += heard
            self._since = end
        elif self._spans:
            self.blocks += self.recorder._hear_late(self)

    def saved(self) -> None:
        """Say that what was taken over so far takes no memory any more."""
        self._packed_before, self._held = self._packed_then, _Amount()

    def settle(self) -> None:
        """Take over what was late for the last time: everything queued so far has ended."""
        if self._since is None:
            self.sync()
            self._spans.clear()

    def _note_span(self, begin: int, end: int) -> None:
        """Remember when it listened; of very many windows the oldest become one.

        Hardly anything is queued in between: without a listener no operator has a queue time.
        """
        self._spans.append((begin, end))
        if len(self._spans) > _SPANS:
            self._spans[:2] = [(self._spans[0][0], self._spans[1][1])]

    def _choose(self, blocks: list[Block], begin: int, end: int | None) -> list[Block]:
        """Return what is this recording's, of the blocks it has not met.

        Not told apart by time: a record is written after the moment it names, so one may come in
        that ended before the last time somebody looked.
        """
        fresh = [block for block in blocks if block.number not in self._known]
        self._known.update(block.number for block in fresh)
        chosen = [block.between(begin, end, self._queued(begin, end)) for block in fresh]
        return [block for block in chosen if len(block)]

    def _queued(self, begin: int, end: int | None) -> list[tuple[int, int]] | None:
        """Return when operators were queued that are its own; None if it goes by their ends."""
        if not self.late:
            return None
        return self._spans + ([] if begin == _NEVER else [(begin, _NEVER if end is None else end)])


#: The stream that all runtimes of this process write to.
RECORDER = Recorder()
