"""A Chrome trace that grows on disk and is whole after each piece."""

from __future__ import annotations

import os
from contextlib import suppress

from mxprof_nb._typing import StrPath
from mxprof_nb.io.chrome_writer.mxnet_layout import MxnetEncoder
from mxprof_nb.io.files import writing
from mxprof_nb.trace import Trace

__all__ = ["GrowingFile"]


class GrowingFile:
    """A file that holds a document with its end, which each new piece moves.

    Until it is finished, the end says that it is not. Our reader says so too, and takes also what
    a process leaves that is killed while it writes: a document without its end.

    Parameters
    ----------
    path : str or PathLike
        Replaced by an empty document. Not one that is to be compressed.
    encoder : MxnetEncoder
        Fresh.

    Raises
    ------
    WriteError
        The path cannot be written.
    """

    def __init__(self, path: StrPath, encoder: MxnetEncoder) -> None:
        self.path = os.path.realpath(path)
        self._encoder = encoder
        begin = "".join(encoder.begin()).encode()
        self._end = len(begin)
        self._tail = "".join(encoder.end()).encode()
        self._unfinished = self._tail.rstrip().removesuffix(b"}") + b',\n"unfinished":true}\n'
        with writing(self.path) as file:
            file.write(begin + self._unfinished)
        self._file = open(self.path, "r+b", buffering=0)  # noqa: SIM115 - closed by `close`

    def add(self, trace: Trace) -> None:
        """Write one more piece.

        Raises
        ------
        OSError
            The disk is full, or the like: the document is as it was, but the encoder is ahead of
            it, start another.
        """
        piece = "".join(self._encoder.add(trace)).encode()
        self._write(piece + self._unfinished)
        self._end += len(piece)

    def finish(self) -> None:
        """Say that nothing is missing; it may grow all the same.

        Raises
        ------
        OSError
            As of `add`.
        """
        self._write(self._tail)

    def _write(self, text: bytes) -> None:
        try:
            self._put(text)
        except BaseException:
            with suppress(OSError):
                self._put(self._unfinished)
            raise

    def _put(self, text: bytes) -> None:
        # First without its end: cut off in the middle of a write it would be beyond repair.
        self._file.truncate(self._end)
        self._file.seek(self._end)
        rest = memoryview(text)
        while rest:
            rest = rest[self._file.write(rest) :]

    def is_there(self) -> bool:
        """Whether the path still leads to this file: it may have been moved or replaced."""
        try:
            return os.path.samestat(os.stat(self.path), os.fstat(self._file.fileno()))
        except OSError:
            return False

    def close(self) -> None:
        """Let go of the file; it stays as it is."""
        self._file.close()
