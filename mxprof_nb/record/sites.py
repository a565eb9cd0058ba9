"""Lines of the program: the caller outside the package, and what its place is in words."""

from __future__ import annotations

import bisect
import linecache
import os
import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType

__all__ = [
    "Place",
    "caller",
    "describe_place",
    "is_cell",
    "line_of",
    "on_behalf_of",
    "user_frame_finder",
]

#: A code object and the offset of an instruction in it; None and -1 when unknown.
Place = tuple[CodeType | None, int]

#: Names under which IPython compiles cells: ipykernel's files, and the shell's own.
_CELL = re.compile(r"ipykernel_\d+[\\/]\d+\.py$|^<ipython-input-.*>$")
#: Progress bars, in site-packages or dist-packages: what a loop over one waits for, the loop does.
_PASSED_OVER = os.path.join("-packages", "tqdm", "")


class _Behalf(threading.local):
    """For whose line a thread works that runs none of the program's own."""

    place: Place = (None, -1)


_behalf = _Behalf()


@contextmanager
def on_behalf_of(place: Place) -> Iterator[None]:
    """Blame what this thread does on a line of the program, unless a line of it calls."""
    before, _behalf.place = _behalf.place, place
    try:
        yield
    finally:
        _behalf.place = before


def user_frame_finder(*roots: str) -> Callable[[int], Place]:
    """Return a function that finds the innermost caller outside some folders.

    Parameters
    ----------
    *roots : str
        These files, and those below these folders, are not the program's: our own, a shell's, so
        that showing the value of a cell is blamed on the cell's last line, and what begins a
        thread. Nor are those of progress bars.

    Returns
    -------
    callable
        Takes the number of frames to skip; returns code object and offset in it. The line is
        found when it is needed: asking a frame for it costs time in proportion to its position
        in the function (28 us at line 2,000).
    """
    getframe = sys._getframe
    # With the separator, so that a folder whose name begins alike is not meant.
    inside = tuple(os.path.join(root, "") for root in roots)
    known: dict[str, bool] = {}  # a file name hashes once; comparing its beginning costs each time

    def find(skip: int) -> Place:
        frame = getframe(skip)
        while frame is not None:
            code = frame.f_code
            file = code.co_filename
            ours = known.get(file)
            if ours is None:
                ours = file in roots or file.startswith(inside) or _PASSED_OVER in file
                known[file] = ours
            if not ours:
                return code, frame.f_lasti
            frame = frame.f_back  # type: ignore[assignment]
        return _behalf.place

    return find


#: Returns the place in the program that called; takes the number of frames to skip.
caller = user_frame_finder(
    str(Path(__file__).parents[1]),
    threading.Thread.run.__code__.co_filename,
    *(root for shell in [sys.modules.get("IPython")] if shell for root in shell.__path__),
)


def line_of(code: CodeType, offset: int) -> int:
    """Return the line of an instruction, that of the function where it has none."""
    starts = [(begin, line) for begin, _, line in code.co_lines() if line is not None]
    at = bisect.bisect_right([begin for begin, _ in starts], offset) - 1
    return starts[at][1] if at >= 0 else code.co_firstlineno


def is_cell(file: str) -> bool:
    """Return whether a file name is one that IPython gave to a cell."""
    return bool(_CELL.search(file))


def describe_place(place: Place) -> str:
    """Return e.g. ``"train.py, line 3: y = x + 1"`` for an error message; empty if unknown."""
    code, offset = place
    if code is None:
        return ""
    line = line_of(code, offset)
    text = linecache.getline(code.co_filename, line).strip()
    file = "" if is_cell(code.co_filename) else f"{os.path.basename(code.co_filename)}, "
    return f"{file}line {line}" + (f": {text}" if text else "")
