"""The spool: records in a file of their own that says everything needed to read it.

- A magic number and a version, then frames: length, kind, checksum, payload. Frames are only
  appended, those of a part in one write, so whatever a killed process leaves is whole but for
  its last frame.
- A part begins with the time it covers, then defines the threads, labels and lines of code that
  no part before has, then holds blocks, their columns packed small.
- `SpoolReader` gives the parts back as recordings, one at a time; what is damaged is cut off
  from there on, and counted.
"""

from __future__ import annotations

import itertools
import json
import os
import struct
import threading
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from mxprof_nb._typing import StrPath
from mxprof_nb.errors import CorruptTraceError, UnsupportedVersionError
from mxprof_nb.record.buffer import TABLES, Block, ThreadInfo
from mxprof_nb.record.calibrate import record_cost_ns
from mxprof_nb.record.clock import Clock
from mxprof_nb.record.codes import CodeTable
from mxprof_nb.record.config import RecordConfig
from mxprof_nb.record.labels import Label
from mxprof_nb.record.packing import pack, unpack
from mxprof_nb.record.recorder import Recorder, Recording

__all__ = ["MAGIC", "Spool", "SpoolReader", "parts"]

MAGIC = b"\x89mxspool"
#: Raised when readers of the old version would misread the new one.
VERSION = 1
_START = struct.Struct("<8sI")
_FRAME = struct.Struct("<IBI")  # length of the payload, kind, CRC-32 of the kind and the payload
_HEAD, _PART, _THREADS, _LABELS, _PLACES, _BLOCK = range(1, 7)
_THREAD = struct.Struct("<q")
#: Records of a part at most: so many are in memory at a time when they are read part by part.
PART = 20_000
_OTHER_RELEASE = "Read it with the release of mxprof-nb that wrote it."
#: Bytes that a frame may have; more is damage.
_LONGEST = 1 << 30


def _frame(kind: int, payload: bytes) -> bytes:
    check = zlib.crc32(payload, zlib.crc32(bytes([kind])))
    return _FRAME.pack(len(payload), kind, check) + payload


def _text(kind: int, value: Any) -> bytes:
    return _frame(kind, json.dumps(value, separators=(",", ":")).encode())


class Spool:
    """A spool that is being written.

    Parameters
    ----------
    path : str or PathLike
        A file that exists is replaced, not written into: it may be another process's.
    recorder : Recorder
        Where the records come from.
    facts : Mapping
        Further facts for `SpoolReader.facts`.

    Raises
    ------
    OSError
        The file cannot be made.

    Attributes
    ----------
    size : int
        Bytes written, whole parts only.
    """

    def __init__(self, path: StrPath, recorder: Recorder, facts: Mapping[str, Any]) -> None:
        self.path = os.path.abspath(path)
        self.size = 0
        self._recorder = recorder
        self._threads: set[int] = set()
        self._labels: set[int] = set()
        self._places: set[int] = set()
        self._seeking = threading.Lock()
        temporary = f"{self.path}.{os.getpid()}.part"
        self._file = open(temporary, "w+b", buffering=0)  # noqa: SIM115 - closed by `remove`
        try:
            head = {
                "epoch_ns": recorder.clock.epoch_of(0),
                "process": recorder.process or os.getpid(),
                "record_cost_ns": record_cost_ns(recorder),
                "tables": TABLES,
                "facts": dict(facts),
            }
            self._write(_START.pack(MAGIC, VERSION) + _text(_HEAD, head))
            os.replace(temporary, self.path)
        except BaseException:
            self._file.close()
            os.unlink(temporary)
            raise

    def append(self, recording: Recording) -> None:
        """Write what a recording holds, in parts of bounded size; all of it or nothing.

        Raises
        ------
        OSError
            The disk is full, or the like.
        """
        before = self.size
        try:
            for part in parts(recording):
                self._write(b"".join(self._frames(part)))
        except BaseException:
            self._cut(before)
            raise

    def read_at(self, offset: int, size: int) -> bytes:
        """Return bytes of the whole parts written so far, fewer at their end."""
        with self._seeking:
            self._file.seek(offset)
            return self._file.read(max(0, min(size, self.size - offset)))

    def move(self, path: StrPath) -> None:
        """Give the file another name.

        Raises
        ------
        OSError
            It cannot have that name; it keeps the old one.
        """
        if self._is_there():
            os.replace(self.path, path)
            self.path = os.path.abspath(path)

    def reader(self) -> SpoolReader:
        """Return a reader that begins at the first part and goes on as the spool grows."""
        return SpoolReader(self.read_at, self.path)

    def remove(self) -> None:
        """Remove the file: what it held is elsewhere."""
        if self._is_there():
            os.unlink(self.path)
        self.close()

    def close(self) -> None:
        """Let go of the file; it stays as it is."""
        self._file.close()

    def _is_there(self) -> bool:
        """Whether the file under the path is this one."""
        try:
            return os.path.samestat(os.stat(self.path), os.fstat(self._file.fileno()))
        except OSError:
            return False

    def _write(self, data: bytes) -> None:
        with self._seeking:
            self._file.seek(self.size)
            view = memoryview(data)
            while view:
                view = view[self._file.write(view) :]
            self.size += len(data)

    def _cut(self, size: int) -> None:
        with self._seeking:
            self.size = size
            self._file.truncate(size)
        # What was defined behind it has to be defined again.
        self._threads, self._labels, self._places = set(), set(), set()

    def _frames(self, part: Recording) -> Iterator[bytes]:
        told = {"windows": part.windows, "lost": part.lost, "dropped": part.dropped}
        yield _text(_PART, told)
        threads = [b.thread for b in part.blocks if b.thread.order not in self._threads]
        if threads:
            self._threads.update(thread.order for thread in threads)
            yield _text(_THREADS, [asdict(thread) for thread in threads])
        labels = [one for one in self._recorder.labels.items() if one[0] not in self._labels]
        if labels:
            self._labels.update(number for number, _ in labels)
            yield _text(_LABELS, [[number, asdict(label)] for number, label in labels])
        if places := self._new_places(part.blocks):
            yield _text(_PLACES, places)
        for block in part.blocks:
            tables = [pack(getattr(block, name)) for name in TABLES]
            yield _frame(_BLOCK, b"".join([_THREAD.pack(block.thread.order), *tables]))

    def _new_places(self, blocks: list[Block]) -> list[Any]:
        """Return the lines that records name and no part has told yet."""
        keys: set[int] = set()
        for name, fields in TABLES.items():
            if "code" in fields:
                at = fields.index("code")
                for block in blocks:
                    code, offset = getattr(block, name)[:, at : at + 2].T
                    keys.update(np.unique(_place_key(code, offset)[code >= 0]).tolist())
        new = sorted(keys - self._places)
        self._places.update(new)
        numbers = [divmod(key, 1 << 32) for key in new]
        return [[*pair, *self._recorder.codes.place(*pair)] for pair in numbers]


def _place_key(code: Any, offset: Any) -> Any:
    return code * (1 << 32) + offset


def parts(recording: Recording) -> Iterator[Recording]:
    """Cut a recording into parts of bounded size, by the time at which records ended."""
    records = sum(map(len, recording.blocks))
    if records <= PART:
        yield recording
        return
    per_block = [block.ends() for block in recording.blocks]
    ranges = [(int(ends.min()), int(ends.max())) for ends in per_block]
    ends = np.sort(np.concatenate(per_block))
    borders = [int(ends[0]), *(int(end) for end in ends[PART::PART]), int(ends[-1]) + 1]
    first = replace(recording, blocks=[])
    nothing = replace(first, windows=[], lost=0, dropped=0)
    for begin, end in itertools.pairwise(borders):
        chosen = [
            block.between(begin, end - 1)
            for block, (low, high) in zip(recording.blocks, ranges, strict=True)
            if low < end and high >= begin
        ]
        yield replace(first, blocks=[block for block in chosen if len(block)])
        first = nothing


@dataclass(frozen=True, slots=True)
class _Frame:
    kind: int
    payload: bytes
    end: int


class _Places(CodeTable):
    """Lines of code as a file tells them."""

    def __init__(self) -> None:
        super().__init__()
        self.told: dict[tuple[int, int], tuple[str, int, str, str | None]] = {}

    def place(self, number: int, offset: int) -> tuple[str, int, str, str | None]:
        return self.told[number, offset]


class SpoolReader:
    """Reads a spool part by part, also one that still grows.

    Parameters
    ----------
    read_at : callable
        Takes an offset and a size; returns that many bytes, fewer at the end of the file.
    path : str
        For messages.

    Raises
    ------
    CorruptTraceError
        This is no spool, or its head is damaged.
    UnsupportedVersionError
        Another release of mxprof_nb wrote it.

    Attributes
    ----------
    offset : int
        Where the next part begins: all before is read and whole.
    facts : dict
        What its writer said besides.
    """

    def __init__(self, read_at: Callable[[int, int], bytes], path: str) -> None:
        self._read_at = read_at
        start = read_at(0, _START.size)
        self.offset = _START.size
        if len(start) < _START.size or not start.startswith(MAGIC):
            raise CorruptTraceError.at(path, "byte 0", "this is no spool of mxprof_nb.", "")
        if (version := _START.unpack(start)[1]) != VERSION:
            raise UnsupportedVersionError.at(
                path, "head", f"it is in version {version}, not {VERSION}.", _OTHER_RELEASE
            )
        frame = self._frame(self.offset)
        if frame is None or frame.kind != _HEAD:
            raise CorruptTraceError.at(
                path,
                f"byte {self.offset}",
                "its head is damaged, without which nothing can be read.",
                "The JSON beside it may hold what was recorded.",
            )
        head = json.loads(frame.payload)
        if {name: tuple(fields) for name, fields in head["tables"].items()} != TABLES:
            raise UnsupportedVersionError.at(
                path, "head", "its records have other fields.", _OTHER_RELEASE
            )
        self.offset = frame.end
        self.facts: dict[str, Any] = head["facts"]
        epoch = int(head["epoch_ns"])
        self._recorder = Recorder(Clock(now=lambda: 0, epoch_now=lambda: epoch))
        self._recorder.process = head["process"]
        self._recorder.record_cost_ns = head["record_cost_ns"]
        self._recorder.codes = self._places = _Places()
        self._threads: dict[int, ThreadInfo] = {}

    def next(self, *, skip: bool = False) -> Recording | None:
        """Return the next part, None where there is none or none that is whole.

        With ``skip=True`` its blocks are left out.
        """
        frame = self._frame(self.offset)
        if frame is None or frame.kind != _PART:
            return None
        told = json.loads(frame.payload)
        part = self._recording([tuple(window) for window in told["windows"]])
        part.lost, part.dropped = told["lost"], told["dropped"]
        while frame is not None:
            self.offset = frame.end
            frame = self._frame(self.offset)
            if frame is None or frame.kind == _PART:
                break
            if frame.kind == _BLOCK:
                if not skip:
                    part.blocks.append(self._block(frame.payload))
            else:
                self._define(frame)
        return part

    def all(self) -> Recording:
        """Return everything as one recording."""
        whole = self._recording([])
        while (part := self.next()) is not None:
            whole.windows += part.windows
            whole.blocks += part.blocks
            whole.lost += part.lost
            whole.dropped += part.dropped
        records = sum(map(len, whole.blocks))
        whole.config = RecordConfig(max_events=max(1, records))  # all of it was wanted
        return whole

    def _recording(self, windows: list[tuple[int, int]]) -> Recording:
        return Recording(self._recorder, RecordConfig(max_events=_LONGEST), windows=windows)

    def _frame(self, offset: int) -> _Frame | None:
        """Return the frame at an offset if it is whole."""
        head = self._read_at(offset, _FRAME.size)
        if len(head) < _FRAME.size:
            return None
        length, kind, check = _FRAME.unpack(head)
        payload = self._read_at(offset + _FRAME.size, length) if length <= _LONGEST else b""
        whole = len(payload) == length and check == zlib.crc32(payload, zlib.crc32(head[4:5]))
        return _Frame(kind, payload, offset + _FRAME.size + length) if whole else None

    def _define(self, frame: _Frame) -> None:
        told = json.loads(frame.payload)
        if frame.kind == _THREADS:
            self._threads.update((one["order"], ThreadInfo(**one)) for one in told)
        elif frame.kind == _LABELS:
            for number, label in told:
                self._recorder.labels.restore(number, Label(**label))
        elif frame.kind == _PLACES:
            for code, offset, *line in told:
                self._places.told[code, offset] = tuple(line)

    def _block(self, payload: bytes) -> Block:
        thread = self._threads[_THREAD.unpack_from(payload)[0]]
        at, tables = _THREAD.size, {}
        for name in TABLES:
            tables[name], at = unpack(payload, at)
        return Block(thread, **tables)  # type: ignore[arg-type]
