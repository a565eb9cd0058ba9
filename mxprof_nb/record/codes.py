"""`CodeTable`: code objects as numbers, so that the lines of records can be found later."""

from __future__ import annotations

import itertools
import linecache
import threading
from types import CodeType

from mxprof_nb.record.sites import line_of

__all__ = ["CodeTable"]


class CodeTable:
    """Numbers code objects and keeps them alive, so that lines can be found later.

    Keyed by ``id``: hashing a code object costs 10 us and more for a long function on
    Python 3.12, and the table itself keeps the object alive, so its id stays its own.
    """

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {id(None): -1}
        self._codes: dict[int, CodeType] = {}
        self._next = itertools.count()
        self._lock = threading.RLock()  # a finaliser may pack while this thread is in here

    def number(self, code: CodeType | None) -> int:
        """Return the number of a code object, -1 for None."""
        if code is None:
            return -1
        with self._lock:
            found = self._numbers.get(id(code))
            if found is None:
                found = next(self._next)
                self._codes[found] = code
                self._numbers[id(code)] = found
        return found

    def numbers(self, codes: list[CodeType | None]) -> list[int]:
        """Return the number of each code object, -1 for None."""
        # Found without a Python call for each: a program queues from few functions.
        found = list(map(self._numbers.get, map(id, codes)))
        return [
            self.number(code) if number is None else number
            for number, code in zip(found, codes, strict=True)
        ]

    def __getitem__(self, number: int) -> CodeType:
        return self._codes[number]

    def place(self, number: int, offset: int) -> tuple[str, int, str, str | None]:
        """Return file, line, function and the line's text for a known code object."""
        code = self[number]
        line = line_of(code, offset)
        text = linecache.getline(code.co_filename, line).strip() or None
        return code.co_filename, line, code.co_qualname, text

    def renew(self) -> None:
        """Make the lock anew, in the child of a fork."""
        self._lock = threading.RLock()
