"""Arrays nested in lists, tuples and dictionaries, as one flat list and a note of their places."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from mxprof_nb.errors import ArgumentError

__all__ = ["Nesting", "flatten", "leaves", "regroup"]

#: None where there is none, a number for so many arrays in a place (0 for one that is no list),
#: or the kind of a container and what is in it. Hashable: it names a graph.
Nesting = Any


def flatten(value: Any, count: Callable[[Any], int | None], told: str) -> tuple[list[Any], Nesting]:
    """Return what a nested value holds, and how.

    Parameters
    ----------
    value
        Lists, tuples and dictionaries of one another, of None, and of leaves.
    count : callable
        Gives for a leaf how many arrays it stands for, and None for what is no leaf.
    told : str
        What this is, for the error.

    Raises
    ------
    ArgumentError
        Something in it is neither.
    """
    found: list[Any] = []

    def note(each: Any) -> Nesting:
        if each is None:
            return None
        if isinstance(each, (list, tuple)):
            return type(each) if type(each) in (list, tuple) else list, tuple(map(note, each))
        if isinstance(each, dict):
            return dict, tuple((key, note(inner)) for key, inner in each.items())
        length = count(each)
        if length is None:
            raise ArgumentError(
                f"{told}: a hybridized block takes and gives arrays, nested in lists if need be; "
                f"{each!r:.60} of type {type(each).__name__} is none. Make it an array, or an "
                "attribute of the block."
            )
        found.append(each)
        return 0 if length == 1 else length

    return found, note(value)


def regroup(flat: Sequence[Any], nesting: Nesting) -> Any:
    """Return things nested as they were before `flatten`."""
    rest = iter(flat)

    def build(each: Nesting) -> Any:
        if each is None:
            return None
        if each == 0:
            return next(rest)
        if isinstance(each, int):
            return [next(rest) for _ in range(each)]
        kind, inner = each
        if kind is dict:
            return {key: build(one) for key, one in inner}
        return kind(map(build, inner))

    return build(nesting)


def leaves(value: Any) -> Iterator[Any]:
    """Go through all that is no container and not None."""
    if isinstance(value, (list, tuple)):
        for each in value:
            yield from leaves(each)
    elif isinstance(value, dict):
        yield from leaves(list(value.values()))
    elif value is not None:
        yield value
