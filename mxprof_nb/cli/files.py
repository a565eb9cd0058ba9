"""Files named on the command line: traces to read, and places to write to."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from mxprof_nb.errors import ReadError, WriteError, close_match

if TYPE_CHECKING:
    from mxprof_nb.capture import Profile

__all__ = ["check_target", "open_trace", "save", "stages"]

Answer = TypeVar("Answer")


def open_trace(path: str) -> Profile:
    """Read a trace that somebody named; says which name was meant where there is none.

    Raises
    ------
    ReadError
        There is no such file, it is a folder, or it is no trace.
    OSError
        It cannot be read.
    """
    from mxprof_nb.capture import load

    target = Path(path).expanduser()
    if not target.exists():
        raise ReadError.at(path, "", "there is no such file.", _meant(target))
    if target.is_dir():
        raise ReadError.at(path, "", "it is a folder.", "Name a trace in it.")
    return load(target)


def _meant(path: Path) -> str:
    try:
        near = os.listdir(path.parent)
    except OSError:
        return ""
    return close_match(path.name, near).strip()


def check_target(path: str, source: str | None = None) -> Path:
    """Return an absolute path that a profile can be written to, found out without writing.

    It may not be the file ``source``: what a reader left out would be lost for good.

    Raises
    ------
    UnknownFormatError
        No format goes with its ending.
    WriteError
        It, or its folder, cannot be written.
    """
    from mxprof_nb.capture import check_suffix

    target = Path(path).expanduser().absolute()
    check_suffix(target)
    if target.is_dir():
        problem = "it is a folder"
    elif not target.parent.is_dir():
        problem = f"there is no folder {target.parent}"
    elif not os.access(target if target.exists() else target.parent, os.W_OK):
        problem = "it may not be written"
    elif source is not None and target.exists() and os.path.exists(source):
        if not target.samefile(source):
            return target
        problem = "it is the trace that is read"
    else:
        return target
    raise WriteError(f"Cannot write {path}: {problem}. Name a file that can be written.")


def save(profile: Profile, target: Path, out: Callable[[str], object] = print) -> None:
    """Write a profile and say so."""
    profile.save(target)
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
