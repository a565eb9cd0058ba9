"""`Screen`: profiles and tables as a terminal shows them, and as a file or pipe gets them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from mxprof_nb.trace import Trace
from mxprof_nb.view.headline import headline, remarks, sentences
from mxprof_nb.view.legible import legible
from mxprof_nb.view.paragraph import JOIN, folded, joined
from mxprof_nb.view.tables import Grid, aligned, grids
from mxprof_nb.view.words import shorten

__all__ = ["Screen"]

#: Where the width is not that of a terminal.
WIDTH = 100
MOST_ROWS = 15
BAR_CHARS = 10
#: A name gets at most so many characters; fewer, to the second, where there is little space.
NAME_CHARS, FEWEST_CHARS = 40, 8
GAP = "  "


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
        self._print(Text(joined(text), style=style))

    def show(self, trace: Trace, *, every_table: bool = False) -> list[str]:
        """Write headline, sentences, the table of operators (or every table), and remarks.

        Returns
        -------
        list of str
            Titles of the tables that were left out.
        """
        trace = legible(trace)
        for line in folded(headline(trace), self._console.width):
            self.line(line, "bold")
        for sentence in sentences(trace):
            self._point("•", sentence.text)
        found = grids(trace)
        shown = found if every_table else found[:1]
        for grid in shown:
            self.line("")
            self.line(grid.title, "bold")
            self._grid(grid, len(grid.rows) if every_table else MOST_ROWS)
            for note in grid.notes if every_table else ():
                self.line(note, "dim")
        for remark in remarks(trace):
            self._point("!", remark)
        return [grid.title for grid in found[len(shown) :]]

    def table(self, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Write a table of texts; long ones wrap in their cells."""
        table = _table()
        for heading in headings:
            table.add_column(Text(heading))
        for row in rows:
            table.add_row(*map(Text, row))
        self._print(table)

    def _print(self, thing: RenderableType) -> None:
        with self._console.capture() as shown:
            self._console.print(thing)
        # Tables fill their lines with spaces, which a file or a narrower window need not get.
        lines = shown.get().replace(JOIN, " ").removesuffix("\n").split("\n")
        self._stream.writelines(f"{line.rstrip()}\n" for line in lines)

    def _point(self, mark: str, text: str) -> None:
        self._print(Padding(_hanging(mark, text), (0, 0, 0, 1)))

    def _grid(self, grid: Grid, most: int) -> None:
        """Write a table of numbers; where it is too wide, bars go first, then ends of names."""
        columns = [
            aligned(column.texts[:most], digit=" ", point=" ") if column.values else column.texts
            for column in grid.columns
        ]
        rows = [*zip(*(column[:most] for column in columns), strict=True)]
        widths = [max(map(len, cells)) for cells in zip(grid.headings, *rows, strict=True)]
        left = self._console.width - sum(width + len(GAP) for width in widths[1:])
        bars = grid.shares and left >= min(widths[0], NAME_CHARS) + len(GAP) + BAR_CHARS
        table = _table()
        for place, heading in enumerate(grid.headings):
            table.add_column(Text(heading), justify="right" if place else "left", no_wrap=True)
        if bars:
            table.add_column("", no_wrap=True)
        for place, row in enumerate(rows):
            name = shorten(row[0], max(min(left, NAME_CHARS), FEWEST_CHARS))
            bar = [_bar(grid.shares[place])] if bars else []
            table.add_row(*map(Text, (name, *row[1:], *bar)))
        self._print(table)
        if len(rows) < len(grid.rows):
            self.line(f"and {grid.total - len(rows):,} more", "dim")


def _table() -> Table:
    return Table(box=None, pad_edge=False, padding=(0, len(GAP), 0, 0), header_style="dim")


def _hanging(mark: str, text: str) -> Table:
    """Return a text that stays at the right of its mark when it wraps."""
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_row(Text(mark), Text(joined(text)))
    return grid


def _bar(part: float) -> str:
    return "█" * round(part * BAR_CHARS)
