"""`Backlog`: what was recorded since the last finished dump, on disk: the spool and its JSON.

Records go to the spool, which is cheap. The JSON is made of the spool part by part, when there is
time for it; a dump makes the rest. So nothing of a long program has to stay in memory, and when
the process is killed the spool has everything and the JSON what it had come to.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from mxprof_nb._typing import StrPath
from mxprof_nb.errors import WriteError
from mxprof_nb.io.chrome_writer.mxnet_layout import MxnetEncoder
from mxprof_nb.io.files import is_special, writing
from mxprof_nb.io.growing import GrowingFile
from mxprof_nb.record import Recorder, Recording, freeze
from mxprof_nb.record.carry import Carry
from mxprof_nb.record.spool import Spool, parts
from mxprof_nb.trace import Meta, Trace
from mxprof_nb.trace.privacy import private

__all__ = ["Backlog"]

SUFFIX = ".spool"


class Backlog:
    """A spool beside a file, and that file as far as it has come.

    Parameters
    ----------
    path : str or PathLike
        The file; it is not touched before the first `update` or `complete`.
    recorder : Recorder
        Where the records come from.
    meta : Meta
        Facts for the file.
    devices : list of str
        Devices that the file names.

    Raises
    ------
    OSError
        The spool cannot be made.
    """

    def __init__(self, path: StrPath, recorder: Recorder, meta: Meta, devices: list[str]) -> None:
        self.path = os.path.abspath(path)
        self._meta, self._devices = meta, devices
        facts = {"backend": meta.backend, "title": meta.title}
        self.spool = Spool(self.path + SUFFIX, recorder, facts)
        self._pieces = _Pieces(self.spool)
        self._file: GrowingFile | None = None
        self._closed = False
        self._lock = threading.Lock()  # of the file; whoever holds it waits for no other lock

    def append(self, recording: Recording) -> None:
        """Add to the spool.

        Raises
        ------
        OSError
            It cannot be written; it is as it was.
        """
        self.spool.append(recording)

    def update(self) -> bool:
        """Put one more part of the spool into the file; return whether there was one.

        Raises
        ------
        OSError
            The file cannot be written.
        """
        with self._lock:
            return not (self._closed or self._cannot_grow) and self._add_one()

    def complete(self, pending: int = 0, rest: Recording | None = None) -> None:
        """Put all that is left of the spool into the file.

        Parameters
        ----------
        pending : int
            Operators that are still queued, for the facts of the file.
        rest : Recording, optional
            What is not in the spool and comes last, when the file ends with it.

        Raises
        ------
        WriteError
            The file cannot be written; the spool stays.
        """
        with self._lock:
            self._meta = replace(self._meta, pending=pending)
            try:
                if self._cannot_grow:
                    self._write_whole(rest)
                else:
                    while self._add_one():
                        pass
                    for part in parts(rest) if rest is not None else ():
                        self._add(self._pieces.of(part, self._meta))
                    self._add(None)
                if rest is not None:
                    self._let_go()  # nothing comes after it
                    # Nor may the thread begin the file anew before this is removed.
                    self._closed = True
            except BaseException as cause:
                self._let_go()  # it may have a part of the rest: the next time it begins anew
                if not isinstance(cause, OSError) or isinstance(cause, WriteError):
                    raise
                raise WriteError.to(self.path, cause) from cause

    def move(self, path: StrPath) -> None:
        """Go on with another file, which gets everything."""
        with self._lock:
            self._let_go()
            self.path = os.path.abspath(path)
            with suppress(OSError):  # it can stay where it is
                self.spool.move(self.path + SUFFIX)

    def remove(self) -> None:
        """Remove the spool: the file is complete."""
        with self._lock:
            self.spool.remove()
            self.abandon()

    def close(self) -> None:
        """Let go of both files; they stay as they are."""
        with self._lock:
            self.abandon()

    def abandon(self) -> None:
        """Do so without waiting, in the child of a fork: nobody there gives the lock back."""
        self._closed = True
        self._let_go()
        self.spool.close()

    @property
    def _cannot_grow(self) -> bool:
        return self.path.endswith(".gz") or is_special(self.path)

    def _add_one(self) -> bool:
        if self._file is None or not self._file.is_there():
            self._let_go()
            self._pieces = _Pieces(self.spool)
            self._file = GrowingFile(self.path, MxnetEncoder(self._devices))
        try:
            piece = self._pieces.next(self._meta)
        except BaseException:
            self._let_go()  # this piece would be missing
            raise
        if piece is not None:
            self._add(piece)
        return piece is not None

    def _add(self, piece: Trace | None) -> None:
        """Write a piece, or with None that nothing is missing."""
        if self._file is None:
            raise FileNotFoundError(2, "the file was closed", self.path)
        try:
            if piece is None:
                self._file.finish()
            else:
                self._file.add(piece)
        except BaseException:
            self._let_go()  # half a piece may be in it
            raise

    def _write_whole(self, rest: Recording | None) -> None:
        pieces, encoder = _Pieces(self.spool), MxnetEncoder(self._devices)
        with writing(self.path) as file:

            def put(texts: Iterator[str]) -> None:
                for text in texts:
                    file.write(text.encode())

            put(encoder.begin())
            while (piece := pieces.next(self._meta)) is not None:
                put(encoder.add(piece))
            for part in parts(rest) if rest is not None else ():
                put(encoder.add(pieces.of(part, self._meta)))
            put(encoder.end())

    def _let_go(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


class _Pieces:
    """The parts of a spool as traces of one time line."""

    def __init__(self, spool: Spool) -> None:
        self._reader = spool.reader()
        self._carry = Carry()

    def next(self, meta: Meta) -> Trace | None:
        """Return the next one, None if there is none yet."""
        part = self._reader.next()
        return None if part is None else self.of(part, meta)

    def of(self, part: Recording, meta: Meta) -> Trace:
        """Return a part that comes next as a trace."""
        self._carry.calls = 0  # the encoder counts on
        return private(freeze(part, meta, carry=self._carry))
