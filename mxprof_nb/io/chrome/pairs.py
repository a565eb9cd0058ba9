"""Begins and ends that stand in a Chrome trace as two events."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from mxprof_nb._typing import I64Array

__all__ = ["pair_up"]


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
