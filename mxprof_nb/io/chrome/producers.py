"""What is known about the producers of Chrome traces: their categories, and their numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mxprof_nb._typing import I64Array
from mxprof_nb.trace import TraceBuilder

__all__ = ["CATEGORIES", "HOUSEKEEPING", "add_launches", "correlated", "correlations"]

#: What an event is about, by the ``cat`` its producer gives it; others are the program's own.
CATEGORIES = {
    "operator": "operator",
    "Custom Operator": "operator",
    "cpu_op": "operator",
    "MXNET_C_API": "api",
    "cuda_runtime": "api",
    "cuda_driver": "api",
    "xpu_runtime": "api",
    "privateuse1_runtime": "api",
    "Runtime": "api",
    "kernel": "kernel",
    "Kernel": "kernel",
    "gpu_memcpy": "copy",
    "Memcpy": "copy",
    "gpu_memset": "copy",
    "Memset": "copy",
    "python_function": "python",
}
#: What MXNet's engine does for itself; it stands among the operators of its dumps.
HOUSEKEEPING = (
    "DeleteOperator",
    "DeleteVariable",
    "ResourceNativeRandomSetSeed",
    "ResourceParallelRandomSetSeed",
    "ResourceRandomSetSeed",
    "SetupExec",
    "WaitForVar",
)
_CALLS = ("cuda_runtime", "cuda_driver", "xpu_runtime", "privateuse1_runtime", "Runtime")
_WORK = ("kernel", "Kernel", "gpu_memcpy", "Memcpy", "gpu_memset", "Memset")
_KEY = b'"correlation'
_VALUE = re.compile(rb'(?:_id)?"\s*:\s*"?(\d{1,18})\b')


def correlated(builder: TraceBuilder) -> list[int]:
    """Return the codes of the categories whose events carry a correlation."""
    return [builder.string(text) for text in (*_CALLS, *_WORK)]


def correlations(args: Sequence[Any], lengths: I64Array) -> I64Array:
    """Return the numbers that tie calls to the work they launched, -1 where there is none.

    Parameters
    ----------
    args : sequence of bytes-like, length n
        Arguments as they stand in the file.
    lengths : ndarray of int64, shape (n,)
        Their lengths.
    """
    numbers = np.full(len(args), -1, dtype=np.int64)
    parts = b"".join(args).split(_KEY)
    places = np.cumsum(np.fromiter(map(len, parts), np.int64, len(parts)) + len(_KEY))[:-1]
    rows = np.searchsorted(np.cumsum(lengths), places - len(_KEY), side="right")
    matches = map(_VALUE.match, parts[1:])
    told = np.array([int(match[1]) if match else -1 for match in matches], dtype=np.int64)
    told, rows = told[told >= 0], rows[told >= 0]
    numbers[rows[::-1]] = told[::-1]  # backwards, so that the first one of an event stays
    return numbers


def add_launches(
    builder: TraceBuilder,
    domain: NDArray[Any],
    start: I64Array,
    number: I64Array,
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Link each call to all the work it launched; return calls and work, link by link.

    Parameters
    ----------
    builder : TraceBuilder
        Holds the rows.
    domain : ndarray of int, shape (n,)
        Codes of the categories of rows as their producer gave them.
    start, number : ndarray of int64, shape (n,)
        Begin, and correlation or -1.
    """
    calls = np.flatnonzero(np.isin(domain, [builder.string(t) for t in _CALLS]) & (number > 0))
    work = np.flatnonzero(np.isin(domain, [builder.string(t) for t in _WORK]) & (number > 0))
    if not len(calls) or not len(work):
        return calls[:0], work[:0]
    # The last to begin is the innermost, which a call of the runtime makes to the driver.
    order = calls[np.lexsort((-start[calls], number[calls]))]
    first = np.unique(number[order], return_index=True)[1]
    order = order[first]
    at = np.minimum(np.searchsorted(number[order], number[work]), len(order) - 1)
    found = number[order[at]] == number[work]
    source, target = order[at[found]], work[found]
    builder.add_flows(source, target, "launch")
    return source, target
