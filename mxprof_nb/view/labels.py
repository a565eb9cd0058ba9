"""`Label`: a text inside a bar, as long as the bar has room for."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Label"]

#: Widths of characters at 11 px, those that most have first, and what stays free of a bar.
CHAR_PX, NARROW_PX, CAPITAL_PX, WIDE_PX, FULL_PX = 6.1, 3.6, 7.4, 9.5, 12.0
NARROW, WIDE = " .,:;|!'()[]/\\fijlrtI-", "mwMW@%…"
#: From here on letters are as wide as they are high: Chinese, Japanese, Korean, pictures.
FIRST_FULL = 0x1100
LABEL_PADDING_PX = 8
#: So many letters of a cut name say something.
LEAST_LETTERS = 4
_PX = dict.fromkeys(NARROW, NARROW_PX) | dict.fromkeys(WIDE, WIDE_PX)


def width_px(text: str) -> float:
    """Return about how wide a text is drawn at 11 px, whatever the font; rather too wide."""
    return sum(_PX.get(letter) or _wide(letter) for letter in text)


def _wide(letter: str) -> float:
    if ord(letter) >= FIRST_FULL and not 0x2000 <= ord(letter) < 0x2E80:
        return FULL_PX
    return CAPITAL_PX if letter.isupper() else CHAR_PX


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
        room = (self.end_ns - self.start_ns) * px_per_ns - LABEL_PADDING_PX
        most = max(int(room / NARROW_PX), 0)  # a longer one is too long whatever its letters
        for text in self.texts:
            if len(text) <= most and width_px(text) <= room:
                return text
        cut = self.texts[-1][:most]
        while len(cut) >= LEAST_LETTERS and width_px(cut) + WIDE_PX > room:
            cut = cut[:-1]
        return f"{cut}…" if len(cut) >= LEAST_LETTERS else ""
