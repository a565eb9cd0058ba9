"""`Drawing`: a handful of shapes, painted as SVG text or as PNG bytes.

No display, browser or font file is needed: SVG is text, and PNG is painted by Pillow with the
font that it carries.
"""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw

__all__ = ["Drawing", "Line", "Rect", "Text"]

Anchor = Literal["start", "middle", "end"]

HATCH_PX = 7.0
FAMILY = "system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif"
#: What Pillow's own font lacks, and what stands for it.
_MISSING = str.maketrans({"µ": "u", "→": ">", "←": "<", "▸": ">"})
_PIL_ANCHOR = {"start": "ls", "middle": "ms", "end": "rs"}


@dataclass(frozen=True, slots=True)
class Rect:
    """A filled rectangle, hatched in ``hatch`` where that is given."""

    x: float
    y: float
    width: float
    height: float
    fill: str
    hatch: str = ""


@dataclass(frozen=True, slots=True)
class Text:
    """One line of text; ``y`` is its base line."""

    x: float
    y: float
    text: str
    fill: str
    size: float = 12
    anchor: Anchor = "start"


@dataclass(frozen=True, slots=True)
class Line:
    """A line through points; closed and filled when ``fill`` is given."""

    points: tuple[tuple[float, float], ...]
    stroke: str = ""
    width: float = 1
    fill: str = ""


@dataclass(slots=True)
class Drawing:
    """Shapes in the order of painting, on a background.

    Attributes
    ----------
    width, height : float
        Size in px.
    background : str
        Colour, ``#rrggbb``.
    """

    width: float
    height: float
    background: str
    shapes: list[Rect | Text | Line] = field(default_factory=list)

    def add(self, shape: Rect | Text | Line) -> None:
        """Put a shape on top."""
        self.shapes.append(shape)

    def svg(self, title: str = "") -> str:
        """Return the drawing as one SVG element; ``title`` is what a screen reader says."""
        hatches = sorted(
            {(s.fill, s.hatch) for s in self.shapes if isinstance(s, Rect) and s.hatch}
        )
        number = {pair: k for k, pair in enumerate(hatches)}
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width:g}" '
            f'height="{self.height:g}" viewBox="0 0 {self.width:g} {self.height:g}" '
            f'font-family="{FAMILY}" role="img">',
            f"<title>{escape(title)}</title>",
            "<defs>",
            *(
                f'<pattern id="h{k}" width="{HATCH_PX:g}" height="{HATCH_PX:g}" '
                'patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
                f'<rect width="{HATCH_PX:g}" height="{HATCH_PX:g}" fill="{fill}"/>'
                f'<rect width="1.4" height="{HATCH_PX:g}" fill="{hatch}"/></pattern>'
                for k, (fill, hatch) in enumerate(hatches)
            ),
            "</defs>",
            f'<rect width="100%" height="100%" rx="4" fill="{self.background}"/>',
        ]
        # Neighbours that look alike share one element: a third of the bytes, in every notebook.
        for _, shapes in groupby(self.shapes, _look):
            alike = list(shapes)
            first = alike[0]
            if isinstance(first, Rect):
                paint = f"url(#h{number[first.fill, first.hatch]})" if first.hatch else first.fill
                edge = f' stroke="{first.hatch}" stroke-width=".8"' if first.hatch else ""
                outline = "".join(_outline(shape) for shape in alike if isinstance(shape, Rect))
                parts.append(f'<path d="{outline}" fill="{paint}"{edge}/>')
            elif isinstance(first, Line):
                stroke = f' stroke="{first.stroke}" stroke-width="{first.width:g}"'
                way = "".join(_way(shape) for shape in alike if isinstance(shape, Line))
                parts.append(
                    f'<path d="{way}" fill="{first.fill or "none"}"'
                    f"{stroke if first.stroke else ''}/>"
                )
            else:
                anchor = "" if first.anchor == "start" else f' text-anchor="{first.anchor}"'
                written = (
                    f'<text x="{_short(shape.x)}" y="{_short(shape.y)}">{escape(shape.text)}</text>'
                    for shape in alike
                    if isinstance(shape, Text)
                )
                parts.append(
                    f'<g font-size="{first.size:g}" fill="{first.fill}"{anchor}>'
                    f"{''.join(written)}</g>"
                )
        parts.append("</svg>")
        return "".join(parts)

    def png(self, scale: float = 2.0) -> bytes:
        """Return the drawing as a PNG file, ``scale`` pixels per px."""
        from PIL import Image, ImageDraw, ImageFont

        size = (round(self.width * scale), round(self.height * scale))
        image = Image.new("RGB", size, self.background)
        draw = ImageDraw.Draw(image)
        fonts = {
            text: ImageFont.load_default(size=text * scale)
            for text in {s.size for s in self.shapes if isinstance(s, Text)}
        }
        for shape in self.shapes:
            if isinstance(shape, Rect):
                _paint_rect(draw, shape, scale)
            elif isinstance(shape, Text):
                draw.text(
                    (shape.x * scale, shape.y * scale),
                    shape.text.translate(_MISSING),
                    fill=shape.fill,
                    font=fonts[shape.size],
                    anchor=_PIL_ANCHOR[shape.anchor],
                )
            else:
                points = [(x * scale, y * scale) for x, y in shape.points]
                if shape.fill:
                    draw.polygon(points, fill=shape.fill)
                if shape.stroke:
                    draw.line(points, fill=shape.stroke, width=max(round(shape.width * scale), 1))
        out = io.BytesIO()
        # Few colours: a palette makes the file a third of its size at no visible loss.
        image.quantize(colors=128, dither=Image.Dither.NONE).save(out, "PNG", optimize=True)
        return out.getvalue()


def _look(shape: Rect | Text | Line) -> tuple[object, ...]:
    """Return what shapes have in common that one element may hold."""
    if isinstance(shape, Rect):
        return (Rect, shape.fill, shape.hatch)
    if isinstance(shape, Text):
        return (Text, shape.fill, shape.size, shape.anchor)
    return (Line, shape.stroke, shape.width, shape.fill)


def _short(number: float) -> str:
    """Return a coordinate, to a tenth of a px, in few characters."""
    return f"{number:.1f}".removesuffix(".0")


def _outline(rect: Rect) -> str:
    x0, x1 = _short(rect.x), _short(rect.x + rect.width)
    y0, y1 = _short(rect.y), _short(rect.y + rect.height)
    return f"M{x0} {y0}H{x1}V{y1}H{x0}Z"


def _way(line: Line) -> str:
    points = "L".join(f"{_short(x)} {_short(y)}" for x, y in line.points)
    return f"M{points}{'Z' if line.fill else ''}"


def _paint_rect(draw: ImageDraw, shape: Rect, scale: float) -> None:
    x0, y0 = shape.x * scale, shape.y * scale
    x1 = max(x0 + shape.width * scale - 1, x0)
    y1 = max(y0 + shape.height * scale - 1, y0)
    draw.rectangle((x0, y0, x1, y1), fill=shape.fill)
    if not shape.hatch:
        return
    step, width, height = HATCH_PX * scale * 1.41, x1 - x0, y1 - y0
    offset = -height
    while offset < width:  # rising lines, each cut where the rectangle ends
        left, right = max(offset, 0.0), min(offset + height, width)
        if right > left:
            ends = ((x0 + left, y1 - (left - offset)), (x0 + right, y1 - (right - offset)))
            draw.line(ends, fill=shape.hatch, width=max(round(1.4 * scale), 1))
        offset += step
    draw.rectangle((x0, y0, x1, y1), outline=shape.hatch)
