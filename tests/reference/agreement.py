"""Calls done by real MXNet and by our runtime, and what has to agree."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tests.reference.conftest import Runtimes
from tests.reference.runtime_process import Outcome

__all__ = [
    "TOLERANCE",
    "Call",
    "alike",
    "check_agreement",
    "check_gradients",
    "graded",
    "operators",
]

#: Function, inputs, named arguments.
Call = tuple[str, Sequence[Any], dict[str, Any]]

# MXNet keeps some constants, such as pi, in single precision.
TOLERANCE = {"float16": 4e-3, "float32": 1e-5, "float64": 1e-6}

#: Calls a function of `mx.nd` on real MXNet, and goes back from one of its outputs.
GRADED = """
def graded(name, wrt, output, head, *inputs, **attrs):
    from operator import attrgetter
    for place in wrt:
        inputs[place].attach_grad()
    with mx.autograd.record():
        made = attrgetter(name)(mx.nd)(*inputs, **attrs)
    made = made if isinstance(made, list) else [made]
    made[output].backward(head)
    gradients = [getattr(each, "grad", None) for each in inputs]  # a number has none
    return [made, gradients, list(inputs)]

mx.graded = graded
"""


def alike(found: Any, expected: Any, told: str, tolerance: float | None = None) -> None:
    """Compare shapes, types and values, the latter to the tolerance of their type by default."""
    if isinstance(expected, list):
        assert len(found) == len(expected), told
        for one, other in zip(found, expected, strict=True):
            alike(one, other, told, tolerance)
    elif isinstance(expected, np.ndarray):
        assert (found.shape, found.dtype) == (expected.shape, expected.dtype), told
        if tolerance is None:
            tolerance = TOLERANCE.get(expected.dtype.name, 0)
        with np.errstate(all="ignore"):
            if expected.dtype.kind == "f":
                found, expected = found.astype("f8"), expected.astype("f8")
            np.testing.assert_allclose(
                found, expected, rtol=tolerance, atol=tolerance, err_msg=told
            )
    else:
        assert found == expected, told


def _told(call: Call) -> str:
    function, inputs, attrs = call
    given = ", ".join(
        f"{x.dtype}{x.tolist()}" if isinstance(x, np.ndarray) else repr(x) for x in inputs
    )
    return f"{function}({given}, {attrs})"


def check_agreement(runtimes: Runtimes, calls: Sequence[Call]) -> list[Outcome]:
    """Compare results, or the family of the error; return what real MXNet made of the calls."""
    real, ours = runtimes.real().calls(calls), runtimes.ours().calls(calls)
    for call, expected, found in zip(calls, real, ours, strict=True):
        told = f"{_told(call)}\nMXNet: {expected.message[-200:]}\nours: {found.message}"
        for kind in ("MXNetError", "TypeError", "AssertionError"):
            if kind in expected.error:
                break
        else:
            assert not expected.error, told
            assert not found.error, told
            alike(found.values, expected.values, told)
            continue
        # What MXNet asserts about types of arguments is a TypeError.
        assert ("TypeError" if kind == "AssertionError" else kind) in found.error, told
    return real


def graded(
    runtimes: Runtimes, call: Call, wrt: Sequence[int], head: Any, output: int = 0
) -> tuple[list[Any], list[Any], list[Any]]:
    """Go back through a function of `mx.nd` by MXNet's autograd.

    Parameters
    ----------
    runtimes : Runtimes
    call : Call
        The function's name is that in `mx.nd`, e.g. ``"linalg.gemm"``.
    wrt : sequence of int
        Inputs whose gradients are asked for.
    head : ndarray
        Gradient of the output.
    output : int
        Which output to go back from.

    Returns
    -------
    outputs, gradients, inputs : list
        A gradient is None where none was asked for; the inputs are as they are afterwards.
    """
    real = runtimes.real()
    if not real.get("hasattr(mx, 'graded')"):
        real.define(GRADED)
    name, inputs, attrs = call
    outcome = real.call("graded", [name, list(wrt), output, head, *inputs], **attrs)
    assert not outcome.error, f"{_told(call)}: {outcome.message}"
    outputs, gradients, after = outcome.values[0]
    return outputs, gradients, after


def check_gradients(
    runtimes: Runtimes,
    call: Call,
    wrt: Sequence[int],
    head: Any,
    found: Mapping[int, Any],
    output: int = 0,
) -> None:
    """Compare gradients with those of MXNet's autograd; arguments as for `graded`."""
    _, expected, _ = graded(runtimes, call, wrt, head, output)
    alike([found[place] for place in wrt], [expected[place] for place in wrt], _told(call))


#: Rows that have nothing to do with what a program computes.
APART = re.compile(r"DeleteVariable|Resource|WaitFor|SetupExec")


def operators(table: str) -> dict[str, int]:
    """Return how often each operator ran, from the profiler's table."""
    part = re.search(r"^operator\n=+\n(.*?)(?:\n\n|\Z)", table, re.MULTILINE | re.DOTALL)
    assert part, table
    rows = re.findall(r"^(\S+) +(\d+) ", part[1], re.MULTILINE)
    return {name: int(count) for name, count in rows if not APART.match(name)}
