"""Colours by category: Okabe and Ito's set, which colour-blind people tell apart.

Grey for API calls, so that work stands out; waits are pale and hatched. Figures are built with
names of colours (``"@operator"``), and each theme puts its own in place, so that a notebook can
change from light to dark without a new figure. Names stand under keys that end in "color", and
only there: a text of the trace that looks like one stays as it is.

References
----------
M. Okabe and K. Ito, "Color Universal Design", 2008.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

__all__ = ["THEMES", "TITLES", "Theme", "colours", "contrast", "mix", "paint"]

Theme = Literal["light", "dark"]
THEMES: tuple[Theme, ...] = ("light", "dark")

#: What a category is called on screen, in the order of a legend.
TITLES: dict[str, str] = {
    "operator": "operator",
    "kernel": "kernel",
    "api": "API call",
    "sync": "wait",
    "copy": "copy",
    "memory": "memory",
    "engine": "engine",
    "io": "files and data",
    "user": "span",
    "python": "Python",
    "gc": "garbage collection",
}

_SURFACE = {
    "light": {
        "background": "#ffffff",
        "text": "#1f2328",
        "muted": "#59636e",
        "grid": "#e4e7eb",
        "accent": "#0072B2",
        "link": "#6e7781",
        "waitlink": "#B34700",
        "counter": "#8A4A74",
        "failed": "#C4001A",
    },
    "dark": {
        "background": "#111111",
        "text": "#e6e6e6",
        "muted": "#a8b0b8",
        "grid": "#2f3338",
        "accent": "#56B4E9",
        "link": "#8b949e",
        "waitlink": "#F0883E",
        "counter": "#DE9CC1",
        "failed": "#FF6B6B",
    },
}

_FILL = {
    "light": {
        "operator": "#0072B2",
        "kernel": "#0072B2",
        "api": "#A9AFB6",
        "sync": "#FCE8DC",
        "copy": "#009E73",
        "memory": "#CC79A7",
        "engine": "#56B4E9",
        "io": "#F0E442",
        "user": "#E69F00",
        "python": "#D0D4D9",
        "gc": "#4A4F55",
    },
    "dark": {
        "operator": "#56B4E9",
        "kernel": "#56B4E9",
        "api": "#7D848C",
        "sync": "#3A2416",
        "copy": "#009E73",
        "memory": "#CC79A7",
        "engine": "#0072B2",
        "io": "#F0E442",
        "user": "#E69F00",
        "python": "#565C63",
        "gc": "#C3C8CE",
    },
}

#: Lines of the hatching of waits.
_HATCH = {"light": "#E9A57C", "dark": "#A3541E"}


def _channels(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def mix(colour: str, other: str, part: float) -> str:
    """Return ``colour`` with ``part`` (0 to 1) of ``other`` mixed in, both ``#rrggbb``."""
    pairs = zip(_channels(colour), _channels(other), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * part):02x}" for a, b in pairs)


def contrast(colour: str, other: str) -> float:
    """Return the contrast ratio of two colours, 1 to 21, as WCAG 2.2 defines it."""

    def luminance(of: str) -> float:
        parts = (c / 255 for c in _channels(of))
        r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
        return 0.2126 * r + 0.7152 * g + 0.0722 * b

    low, high = sorted((luminance(colour), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def colours(theme: Theme) -> dict[str, str]:
    """Return every named colour of a theme.

    Returns
    -------
    dict of str to str
        Surface colours by their names, and for each category ``<category>``, ``<category>.many``
        (runs of several events, lighter) and ``<category>.text`` (legible on both).
    """
    named = dict(_SURFACE[theme])
    named["sync.hatch"] = _HATCH[theme]
    named["counter.fill"] = mix(named["counter"], named["background"], 0.8)
    for category, fill in _FILL[theme].items():
        many = mix(fill, named["background"], 0.45)
        named[category] = fill
        named[f"{category}.many"] = many
        for suffix, on in (("text", fill), ("many.text", many)):
            named[f"{category}.{suffix}"] = _ink(on)
    return named


def _ink(on: str) -> str:
    """Return black or white, whichever reads better on a colour."""
    dark, light = "#111111", "#ffffff"
    return dark if contrast(dark, on) >= contrast(light, on) else light


def paint(figure: Any, theme: Theme) -> Any:
    """Return a figure, nested dicts and lists, with named colours replaced by those of a theme.

    Only what stands under a key that ends in "color" is a colour, or a list of them.
    """
    return _replace(figure, {f"@{name}": colour for name, colour in colours(theme).items()})


def _replace(part: Any, named: Mapping[str, str], *, colour: bool = False) -> Any:
    if isinstance(part, dict):
        return {
            key: _replace(inner, named, colour=key.endswith("color")) for key, inner in part.items()
        }
    if isinstance(part, list):
        return [_replace(inner, named, colour=colour) for inner in part]
    return named.get(part, part) if colour and isinstance(part, str) else part
