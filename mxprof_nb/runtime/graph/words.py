"""Parameters of operators as the words that MXNet keeps them as: ``(3, 3)``, ``True``, ``relu``.

Words come from files of strangers: they are read by patterns, and nothing in them is run.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from mxprof_nb.errors import ArgumentError
from mxprof_nb.runtime.context import Context
from mxprof_nb.runtime.nd.dtypes import dtype_name

__all__ = ["value_of", "word_of"]

#: Longer words are refused: no parameter has so many numbers.
MAX_LENGTH = 100_000

_WHOLE = re.compile(r"[+-]?\d{1,20}L?")
_NAMED: dict[str, Any] = {"None": None, "True": True, "False": False, "true": True, "false": False}


def word_of(value: Any) -> str:
    """Return a value as Python writes it, which is what MXNet keeps.

    Raises
    ------
    ArgumentError
        It is neither a number, a text, a type, a device, None nor several of those.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, (list, tuple)):
        parts = [each.item() if isinstance(each, np.generic) else each for each in value]
        if all(isinstance(each, (int, float, str, type(None))) for each in parts):
            return str(tuple(parts) if isinstance(value, tuple) else parts)
    elif value is None or isinstance(value, (bool, int, float, Context)):
        return str(value)
    elif isinstance(value, (type, np.dtype)):
        return dtype_name(value)
    raise ArgumentError(
        f"{value!r:.60} is {type(value).__name__}; parameters of symbols are numbers, texts, "
        "types, None, or several of those."
    )


def value_of(word: str, wanted: str) -> Any:
    """Return what a word says.

    Parameters
    ----------
    word : str
    wanted : str
        Annotation of the parameter; one that wants texts gets the word itself.

    Raises
    ------
    ArgumentError
        The word is too long.
    """
    if len(word) > MAX_LENGTH:
        raise ArgumentError(
            f"{word[:40]}... has {len(word):,} characters; at most {MAX_LENGTH:,} are read."
        )
    word = word.strip()
    if word[:1] in ("(", "[") and word[-1:] == {"(": ")", "[": "]"}[word[0]]:
        return tuple(_single(part.strip()) for part in word[1:-1].split(",") if part.strip())
    if wanted.startswith("str"):
        return None if word == "None" and "None" in wanted else word
    value = _single(word)
    if "bool" in wanted and type(value) is int and value in (0, 1):
        return bool(value)
    return value


def _single(word: str) -> Any:
    if word in _NAMED:
        return _NAMED[word]
    if _WHOLE.fullmatch(word):
        return int(word.rstrip("L"))
    try:
        return float(word)
    except ValueError:
        return word.strip("'\"")
