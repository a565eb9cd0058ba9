"""Texts that stay bytes until somebody looks at them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from mxprof_nb._typing import I64Array

__all__ = ["LaterTexts"]


class LaterTexts(Sequence[str]):
    """Many texts in few pieces of memory; each is decoded when it is asked for.

    A million arguments of a trace take their own size and 8 bytes each here, as strings in a
    table more than twice that, and most are never looked at. Repeated texts are not found.

    Examples
    --------
    >>> texts = LaterTexts()
    >>> texts.add([b'{"a":1}', b'{"b":2}'])
    0
    >>> len(texts), texts[1]
    (2, '{"b":2}')
    """

    __slots__ = ("_blocks", "_firsts", "_length", "_stops")

    def __init__(self) -> None:
        self._blocks: list[bytes] = []
        self._stops: list[I64Array] = []
        self._firsts: list[int] = []  # number of the first text of each block
        self._length = 0

    def add(self, texts: Sequence[Any]) -> int:
        """Add texts in UTF-8, bytes or alike; return the number of the first."""
        first = self._length
        if len(texts):
            self._blocks.append(b"".join(texts))
            lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
            self._stops.append(np.cumsum(lengths))
            self._firsts.append(first)
            self._length += len(texts)
        return first

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, number):  # type: ignore[no-untyped-def]
        if not 0 <= number < self._length:
            raise IndexError(number)
        block = bisect_right(self._firsts, number) - 1
        place = number - self._firsts[block]
        stops = self._stops[block]
        begin = int(stops[place - 1]) if place else 0
        return self._text(self._blocks[block][begin : int(stops[place])])

    def __iter__(self) -> Iterator[str]:
        for block, stops in zip(self._blocks, self._stops, strict=True):
            begin = 0
            for stop in stops.tolist():
                yield self._text(block[begin:stop])
                begin = stop

    @staticmethod
    def _text(raw: bytes) -> str:
        return raw.decode("utf-8", "replace")

    def begins(self) -> set[str]:
        """Return the characters, all ASCII, that the texts begin with."""
        found: Iterable[int] = set()
        for block, stops in zip(self._blocks, self._stops, strict=True):
            begin = np.concatenate([[0], stops[:-1]])
            used = begin[begin < stops]
            found = {*found, *np.unique(np.frombuffer(block, dtype=np.uint8)[used]).tolist()}
        return {chr(code) for code in found}
