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
_CORRELATION = re.compile(rb'"correlation(?:_id)?"\s*:\s*"?(\d{1,18})\b')


def correlated(builder: TraceBuilder) -> list[int]:
    """Return the codes of the categories whose events carry a correlation."""
    return [builder.string(text) for text in (*_CALLS, *_WORK)]


def correlations(args: Sequence[Any]) -> list[int]:
    """Return the numbers that tie calls to the work they launched, -1 where there is none.

    Parameters
    ----------
    args : sequence of bytes-like
        Arguments as they stand in the file.
    """
    stops = np.cumsum(np.fromiter(map(len, args), np.int64, len(args)))
    matches = list(_CORRELATION.finditer(b"".join(args)))
    rows = np.searchsorted(stops, [match.start() for match in matches], side="right")
    numbers = [-1] * len(args)
    # Backwards, so that the first one of an event stays.
    for row, match in zip(reversed(rows.tolist()), reversed(matches), strict=True):
        numbers[row] = int(match[1])
    return numbers


def add_launches(
    builder: TraceBuilder,
    domain: NDArray[Any],
    start: I64Array,
    number: I64Array,
) -> set[tuple[int, int]]:
    """Link each call to all the work it launched; return the links.

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
        return set()
    # The last to begin is the innermost, which a call of the runtime makes to the driver.
    order = calls[np.lexsort((-start[calls], number[calls]))]
    first = np.unique(number[order], return_index=True)[1]
    order = order[first]
    at = np.minimum(np.searchsorted(number[order], number[work]), len(order) - 1)
    found = number[order[at]] == number[work]
    source, target = order[at[found]], work[found]
    builder.add_flows(source, target, "launch")
    return set(zip(source.tolist(), target.tolist(), strict=True))
