"""`Screen`: profiles and tables as a terminal shows them, and as a file or pipe gets them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import IO

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from mxprof_nb.trace import Trace
from mxprof_nb.view.headline import headline, remarks, sentences
from mxprof_nb.view.legible import legible
from mxprof_nb.view.tables import Grid, grids

__all__ = ["Screen"]

#: Where the width is not that of a terminal.
WIDTH = 100
MOST_ROWS = 15
BAR_CHARS = 10


class Screen:
    """Writes to one stream; in colour where that is a terminal.

    Parameters
    ----------
    stream : text file
        Names of programs and files are never taken for markup.
    """

    def __init__(self, stream: IO[str]) -> None:
        wide = None if stream.isatty() else WIDTH
        self._stream = stream
        self._console = Console(file=stream, width=wide, highlight=False)

    def line(self, text: str, style: str = "") -> None:
        """Write a text; it wraps between words."""
        self._print(Text(text, style=style))

    def show(self, trace: Trace, *, every_table: bool = False) -> None:
        """Write headline, sentences, the table of operators (or every table), and remarks."""
        trace = legible(trace)
        for line in _folded(headline(trace), self._console.width):
            self.line(line, "bold")
        for sentence in sentences(trace):
            self._point("•", sentence.text)
        found = grids(trace)
        for grid in found if every_table else found[:1]:
            self.line("")
            if every_table:
                self.line(grid.title, "bold")
            self._grid(grid)
            for note in grid.notes if every_table else ():
                self.line(note, "dim")
        for remark in remarks(trace):
            self._point("!", remark)

    def table(
        self, headings: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: bool = False
    ) -> None:
        """Write a table; ``numbers``: all columns but the first stand at the right."""
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
        for place, heading in enumerate(headings):
            right = numbers and bool(place) and bool(heading)
            table.add_column(
                Text(heading),
                justify="right" if right else "left",
                no_wrap=numbers,
                overflow="ellipsis" if numbers else "fold",
            )
        for row in rows:
            table.add_row(*map(Text, row))
        self._print(table)

    def _print(self, thing: RenderableType) -> None:
        with self._console.capture() as shown:
            self._console.print(thing)
        # Tables fill their lines with spaces, which a file or a narrower window need not get.
        lines = shown.get().removesuffix("\n").split("\n")
        self._stream.writelines(f"{line.rstrip()}\n" for line in lines)

    def _point(self, mark: str, text: str) -> None:
        self._print(Padding(_hanging(mark, text), (0, 0, 0, 1)))

    def _grid(self, grid: Grid) -> None:
        shown = grid.rows[:MOST_ROWS]
        bars = [_bar(part) for part in grid.shares] or [""] * len(shown)
        rows = [(*row, bar) for row, bar in zip(shown, bars, strict=False)]
        self.table((*grid.headings, ""), rows, numbers=True)
        if grid.total > len(shown):
            self.line(f"and {grid.total - len(shown):,} more", "dim")


def _folded(text: str, width: int) -> list[str]:
    """Break a headline between its parts, rather than between a number and its unit."""
    lines = [""]
    for part in text.split(" · "):
        longer = f"{lines[-1]} · {part}" if lines[-1] else part
        if len(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(part)
    return [line for line in lines if line]


def _hanging(mark: str, text: str) -> Table:
    """Return a text that stays at the right of its mark when it wraps."""
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_row(Text(mark), Text(text))
    return grid


def _bar(part: float) -> str:
    return "█" * round(part * BAR_CHARS)
