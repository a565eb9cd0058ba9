"""Begins and ends that stand in a Chrome trace as two events."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mxprof_nb._typing import I64Array

__all__ = ["matched", "pair_up"]


def pair_up(keys: Sequence[Hashable], opens: Sequence[bool], time_ns: I64Array) -> I64Array:
    """Find for every begin its end: an end closes the innermost begin of its key still open.

    Parameters
    ----------
    keys : sequence, length n
        What begin and end must have in common.
    opens : sequence of bool, length n
        Whether an event is a begin.
    time_ns : ndarray of int64, shape (n,)
        Events are taken in order of time, ties in the order given.

    Returns
    -------
    ndarray of int64, shape (n,)
        Position of the partner; -1 where there is none, on either side.
    """
    partner = np.full(len(keys), -1, dtype=np.int64)
    stacks: dict[Hashable, list[int]] = {}
    for place in np.argsort(time_ns, kind="stable").tolist():
        stack = stacks.setdefault(keys[place], [])
        if opens[place]:
            stack.append(place)
        elif stack:
            begin = stack.pop()
            partner[begin], partner[place] = place, begin
    return partner


def matched(
    group: NDArray[Any],
    name: NDArray[Any],
    opens: NDArray[np.bool_],
    time_ns: I64Array,
    *,
    empty: int,
    by_name: bool,
    at_once: NDArray[np.bool_],
) -> NDArray[np.intp]:
    """Find for every begin its end, of events by the million.

    An end closes the innermost begin of its group still open, in order of time, ties in the order
    given. But where both are known to be written at once, a begin directly followed by an end of
    its name and group is one event, whatever else is open.

    Parameters
    ----------
    group : ndarray of int, shape (n,)
        What begin and end must have in common.
    name : ndarray of int, shape (n,)
        Codes of their names.
    opens : ndarray of bool, shape (n,)
        Whether an event is a begin.
    time_ns : ndarray of int64, shape (n,)
    empty : int
        Code of the name of an end that has none, and closes any.
    by_name : bool
        Whether an end closes a begin of its own name only.
    at_once : ndarray of bool, shape (n,)
        Whether its producer writes begin and end together.

    Returns
    -------
    ndarray of int, shape (n,)
        Position of the partner; -1 where there is none, on either side.
    """
    partner = np.full(len(group), -1, dtype=np.intp)
    by_group = np.argsort(group, kind="stable")
    in_order = (np.diff(time_ns[by_group]) >= 0) | (np.diff(group[by_group]) != 0)
    if in_order.all():  # then the next of a group closes the last, which spares the loop below
        at_once = np.ones(len(group), dtype=bool)
    together = np.flatnonzero(
        at_once[:-1]
        & opens[:-1]
        & ~opens[1:]
        & (group[:-1] == group[1:])
        & ((name[:-1] == name[1:]) | (name[1:] == empty))
        & (time_ns[1:] >= time_ns[:-1])
    )
    partner[together], partner[together + 1] = together + 1, together
    rest = np.flatnonzero(partner < 0)
    rest = rest[np.argsort(time_ns[rest], kind="stable")]
    if not len(rest):
        return partner
    opened: dict[Any, list[int]] = {}
    closed: set[int] = set()
    for place, its_group, its_name, is_begin in zip(
        rest.tolist(), group[rest].tolist(), name[rest].tolist(), opens[rest].tolist(), strict=True
    ):
        stacks = [opened.setdefault(its_group, [])]
        if by_name:
            stacks.append(opened.setdefault((its_group, its_name), []))
        if is_begin:
            for stack in stacks:
                stack.append(place)
            continue
        stack = stacks[0] if its_name == empty else stacks[-1]
        while stack and stack[-1] in closed:  # by an end that goes by the other stack
            stack.pop()
        if stack:
            begin = stack.pop()
            if by_name:
                closed.add(begin)
            partner[begin], partner[place] = place, begin
    return partner
