"""What all errors have in common."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = ["MxprofError", "close_match"]


def close_match(word: str, known: Iterable[str]) -> str:
    """Return ``" Did you mean 'x'?"`` for the closest known word, or an empty string."""
    found = difflib.get_close_matches(word, list(known), n=1)
    return f" Did you mean {found[0]!r}?" if found else ""


class MxprofError(Exception):
    """Base of all errors that mxprof_nb raises on purpose."""

    __module__ = "mxprof_nb.errors"

    def __init_subclass__(cls) -> None:
        # As people import it, in tracebacks and in pickles.
        if cls.__module__.startswith("mxprof_nb.errors."):
            cls.__module__ = "mxprof_nb.errors"
