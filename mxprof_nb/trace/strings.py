"""The string table: each text once, everything else holds its number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from mxprof_nb.trace.later import LaterTexts

__all__ = ["StringBuilder", "Strings"]


class Strings(Sequence[str]):
    """Immutable list of the distinct texts of one trace; a code is an index into it.

    Behind them may stand texts that are decoded when they are looked at, arguments of events as
    they stood in a file. Of those, two may be the same, and of texts that something was taken out
    of: a code stays what it was.

    Examples
    --------
    >>> strings = Strings(["dot", "sum"])
    >>> strings[0], strings.code("sum"), strings.code("exp")
    ('dot', 1, -1)
    """

    __slots__ = ("_codes", "_later", "_later_codes", "_texts")

    def __init__(self, texts: Iterable[str] = (), later: LaterTexts | None = None) -> None:
        self._texts = tuple(texts)
        self._codes = {text: code for code, text in enumerate(self._texts)}
        if len(self._codes) < len(self._texts):
            for code in range(len(self._texts) - 1, -1, -1):
                self._codes[self._texts[code]] = code
        self._later = later or None
        self._later_codes: dict[str, int] | None = None

    @property
    def at_once(self) -> int:
        """How many texts stand before those that are decoded when looked at."""
        return len(self._texts)

    @property
    def all_differ(self) -> bool:
        """Whether no two texts can be the same."""
        return self._later is None and len(self._codes) == len(self._texts)

    def __len__(self) -> int:
        return len(self._texts) + (len(self._later) if self._later else 0)

    def __getitem__(self, code):  # type: ignore[no-untyped-def]
        if self._later is None or code < len(self._texts):
            return self._texts[code]
        return self._later[code - len(self._texts)]

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts) if self._later is None else chain(self._texts, self._later)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Strings) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"<Strings: {len(self)} texts>"

    def code(self, text: str) -> int:
        """Return the code of ``text``, the first one, -1 when no row uses it."""
        found = self._codes.get(text, -1)
        if found >= 0 or self._later is None:
            return found
        if self._later_codes is None:
            if text[:1] not in self._later.begins():
                return -1  # names of events do not make it decode all arguments
            self._later_codes = {}
            for code, other in enumerate(self._later, len(self._texts)):
                self._later_codes.setdefault(other, code)
        return self._later_codes.get(text, -1)

    def text(self, code: int, default: str = "") -> str:
        """Return the text of ``code``, ``default`` for the null code -1."""
        return self[code] if code >= 0 else default


class _Codes(dict[str, int]):
    """Numbers texts in the order they are first asked for."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def __missing__(self, text: str) -> int:
        code = self[text] = len(self)
        self.texts.append(text)
        return code


class StringBuilder:
    """Hands out codes while a trace is being built."""

    __slots__ = ("_codes", "_later")

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._codes = _Codes()
        self._later = LaterTexts()
        for text in texts:
            self.code(text)

    def __len__(self) -> int:
        return len(self._codes) + len(self._later)

    def code(self, text: str) -> int:
        """Return the code of ``text``, a new one when it is met for the first time."""
        return self._codes[text]

    def codes(self, texts: Iterable[str]) -> list[int]:
        """Return the codes of many texts."""
        return list(map(self._codes.__getitem__, texts))

    @property
    def code_of(self) -> Any:
        """What `code` does, for calls by the million."""
        return self._codes.__getitem__

    @property
    def count(self) -> int:
        """How many distinct texts there are."""
        return len(self._codes)

    def text_of(self, code: int) -> str:
        """Return the text of a code."""
        return self._codes.texts[code]

    def newest(self) -> Iterator[str]:
        """Yield the texts, those last met first."""
        return reversed(self._codes.texts)

    def later(self, texts: Sequence[Any]) -> int:
        """Add texts in UTF-8 that are decoded when looked at; return the number of the first.

        Their codes follow those of all others, and are known when the table is finished:
        ``number + table.at_once``.
        """
        return self._later.add(texts)

    def freeze(self) -> Strings:
        """Return the finished table."""
        return Strings(self._codes, self._later)
