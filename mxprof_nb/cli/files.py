"""Files named on the command line: traces to read, and places to write to."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from mxprof_nb.errors import ReadError, close_match

if TYPE_CHECKING:
    from mxprof_nb.capture import Profile

__all__ = ["open_trace", "save", "stages"]

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
    from mxprof_nb.capture import Profile
    from mxprof_nb.io import load

    target = Path(path).expanduser()
    if not target.exists():
        raise ReadError.at(path, "", "there is no such file.", _meant(target))
    if target.is_dir():
        raise ReadError.at(path, "", "it is a folder.", "Name a trace in it.")
    return Profile(load(target))


def _meant(path: Path) -> str:
    try:
        near = os.listdir(path.parent)
    except OSError:
        return ""
    return close_match(path.name, near).strip()


def save(
    profile: Profile, target: Path, out: Callable[[str], object] = print, **options: Any
) -> None:
    """Write a profile, with options of its format, and say so."""
    profile.save(target, **options)
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
