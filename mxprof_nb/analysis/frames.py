"""`Frames`: tables by title, for a person who may not know the title."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mxprof_nb.errors import TraceError, close_match

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Frames", "NoTableError"]


class NoTableError(TraceError, KeyError):
    """There is no table of that title."""

    __str__ = Exception.__str__  # that of KeyError would put the sentence in quotes


class Frames(dict[str, "pd.DataFrame"]):
    """Pandas frames by title; a title that is not there is answered with those that are.

    Raises
    ------
    NoTableError
        For a title that is not there; it is a KeyError too.
    """

    def __missing__(self, title: object) -> pd.DataFrame:
        by_lower = {name.lower(): name for name in self}
        meant = close_match(str(title).lower(), by_lower)
        for lower, name in by_lower.items():
            meant = meant.replace(repr(lower), repr(name))
        known = f"It has {', '.join(map(repr, self))}." if self else "It has no events."
        raise NoTableError(f"This profile has no table {title!r}.{meant} {known}")
