"""Files named on the command line: traces to read, and places to write to."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from mxprof_nb.errors import ReadError, WriteError, close_match

if TYPE_CHECKING:
    from mxprof_nb.capture import Profile

__all__ = ["declare_columns", "open_trace", "save", "stages"]

Answer = TypeVar("Answer")


def declare_columns(parser: argparse.ArgumentParser) -> None:
    """Add the flag that says which column of a table is what."""
    parser.add_argument(
        "--column",
        action="append",
        metavar="NAME=COLUMN[:UNIT]",
        type=_column,
        default=[],
        help="of a table (CSV, Parquet): what a column is, e.g. start_ns=Begin:us",
    )


def _column(text: str) -> tuple[str, str | tuple[str, str]]:
    """Return one entry of a mapping of columns, see `mxprof_nb.io.tables`."""
    from mxprof_nb.io.tables.numbers import SCALES

    name, equals, column = text.partition("=")
    if not (name and equals and column):
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=COLUMN, e.g. start_ns=Begin:us")
    head, colon, unit = column.rpartition(":")
    return name, (head, unit) if colon and unit in SCALES else column


def open_trace(path: str, columns: Sequence[tuple[str, Any]] = ()) -> Profile:
    """Read a trace that somebody named; says which name was meant where there is none.

    Parameters
    ----------
    path : str
    columns : sequence of (name, column), optional
        Of a table: which column is what.

    Raises
    ------
    ReadError
        There is no such file, it is a folder, or it is no trace.
    OSError
        It cannot be read.
    """
    from mxprof_nb.capture import Profile
    from mxprof_nb.io import load

    target = Path(path).expanduser()
    if not target.exists():
        if "://" in path:
            load(path)  # which says that nothing is fetched
        raise ReadError.at(path, "", "there is no such file.", _meant(target))
    if target.is_dir():
        raise ReadError.at(path, "", "it is a folder.", "Name a trace in it.")
    options: dict[str, Any] = {"columns": dict(columns)} if columns else {}
    return Profile(load(target, **options))


def _meant(path: Path) -> str:
    try:
        near = os.listdir(path.parent)
    except OSError:
        return ""
    return close_match(path.name, near).strip()


def save(
    profile: Profile, target: Path, out: Callable[[str], object] = print, **options: Any
) -> None:
    """Write a profile, with options of its format, and say so.

    Raises
    ------
    WriteError
        It cannot be written. What a library says, that the profile is still in memory, is of no
        use to somebody whose command ends with this.
    """
    try:
        profile.save(target, **options)
    except WriteError as error:
        if not error.reason:
            raise
        problem = f"Cannot write {error.path}: {error.reason}. Name a file that can be written."
        raise WriteError(problem) from error
    hints = {".html": " (open it in a browser)", ".json": " (for Perfetto, or for mxprof-nb)"}
    name = target.name.removesuffix(".gz")
    out(f"Wrote {_near(target)}{hints.get(Path(name).suffix.lower(), '')}")


def _near(path: Path) -> str:
    """Return a path as a person would write it here."""
    try:
        return str(path.relative_to(Path.cwd()))
    except (ValueError, OSError):
        return str(path)


def stages(*steps: tuple[str, Callable[[Any], Any]]) -> Any:
    """Do one thing after the other, each with what the last one returned, under a progress bar.

    The bar stands on a terminal only, and goes away at the end.
    """
    from tqdm import tqdm

    tqdm.monitor_interval = 0  # no thread of its own for a bar of three steps
    answer: Any = None
    form = "{desc} {bar:20} {n_fmt}/{total_fmt} {elapsed}"
    with tqdm(total=len(steps), bar_format=form, disable=None, leave=False) as bar:
        for text, step in steps:
            bar.set_description_str(text)
            answer = step(answer)
            bar.update()
    return answer
