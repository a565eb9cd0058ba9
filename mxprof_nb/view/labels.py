"""`Label`: a text inside a bar, as long as the bar has room for."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Label"]

#: A usual width of a character at 11 px, and what stays free at the ends of a bar.
CHAR_PX = 6.1
LABEL_PADDING_PX = 8


@dataclass(frozen=True, slots=True)
class Label:
    """A text that may stand inside a bar: candidates, the longest first, one of which may fit."""

    start_ns: int
    end_ns: int
    y: float
    colour: str
    texts: tuple[str, ...]

    def fit(self, px_per_ns: float) -> str:
        """Return the longest candidate that the bar has room for, a cut one, or nothing."""
        room = ((self.end_ns - self.start_ns) * px_per_ns - LABEL_PADDING_PX) / CHAR_PX
        text = next((text for text in self.texts if len(text) <= room), "")
        if not text and room >= 5:
            return self.texts[-1][: int(room) - 1] + "…"
        return text
