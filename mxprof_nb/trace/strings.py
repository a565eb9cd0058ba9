"""The string table: each text once, everything else holds its number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

__all__ = ["StringBuilder", "Strings"]


class Strings(Sequence[str]):
    """Immutable list of the distinct texts of one trace; a code is an index into it.

    Examples
    --------
    >>> strings = Strings(["dot", "sum"])
    >>> strings[0], strings.code("sum"), strings.code("exp")
    ('dot', 1, -1)
    """

    __slots__ = ("_codes", "_texts")

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._texts = tuple(texts)
        self._codes = {text: code for code, text in enumerate(self._texts)}

    def __len__(self) -> int:
        return len(self._texts)

    def __getitem__(self, code):  # type: ignore[no-untyped-def]
        return self._texts[code]

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Strings) and self._texts == other._texts

    def __hash__(self) -> int:
        return hash(self._texts)

    def __repr__(self) -> str:
        return f"<Strings: {len(self._texts)} texts>"

    def code(self, text: str) -> int:
        """Return the code of ``text``, -1 when no row uses it."""
        return self._codes.get(text, -1)

    def text(self, code: int, default: str = "") -> str:
        """Return the text of ``code``, ``default`` for the null code -1."""
        return self._texts[code] if code >= 0 else default


class StringBuilder:
    """Hands out codes while a trace is being built."""

    __slots__ = ("_codes",)

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._codes: dict[str, int] = {}
        for text in texts:
            self.code(text)

    def code(self, text: str) -> int:
        """Return the code of ``text``, a new one when it is met for the first time."""
        return self._codes.setdefault(text, len(self._codes))

    def codes(self, texts: Iterable[str]) -> list[int]:
        """Return the codes of many texts."""
        code = self.code
        return [code(text) for text in texts]

    def freeze(self) -> Strings:
        """Return the finished table."""
        return Strings(self._codes)
