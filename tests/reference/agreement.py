"""Calls done by real MXNet and by our runtime, and what has to agree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.reference.conftest import Runtimes
from tests.reference.runtime_process import Outcome

__all__ = ["Call", "check_agreement", "check_gradients"]

#: Function, inputs, named arguments.
Call = tuple[str, Sequence[Any], dict[str, Any]]

# MXNet keeps some constants, such as pi, in single precision.
TOLERANCE = {"float16": 4e-3, "float32": 1e-5, "float64": 1e-6}

#: A function of the process that computes gradients by MXNet's autograd.
GRADED = """
def graded(name, wrt, head, *inputs, **attrs):
    for place in wrt:
        inputs[place].attach_grad()
    with mx.autograd.record():
        made = getattr(mx.nd, name)(*inputs, **attrs)
    made = made[0] if isinstance(made, list) else made
    made.backward(head)
    return [inputs[place].grad for place in wrt]

mx.graded = graded
"""


def _alike(found: Any, expected: Any, told: str) -> None:
    if isinstance(expected, list):
        assert len(found) == len(expected), told
        for one, other in zip(found, expected, strict=True):
            _alike(one, other, told)
    elif isinstance(expected, np.ndarray):
        assert (found.shape, found.dtype) == (expected.shape, expected.dtype), told
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
            _alike(found.values, expected.values, told)
            continue
        # What MXNet asserts about types of arguments is a TypeError.
        assert ("TypeError" if kind == "AssertionError" else kind) in found.error, told
    return real


def check_gradients(
    runtimes: Runtimes, call: Call, wrt: Sequence[int], head: Any, found: dict[int, Any]
) -> None:
    """Compare gradients with those of MXNet's autograd; ``call`` names a function of `mx.nd`."""
    real = runtimes.real()
    if not real.get("hasattr(mx, 'graded')"):
        real.define(GRADED)
    name, inputs, attrs = call
    outcome = real.call("graded", [name, list(wrt), head, *inputs], **attrs)
    assert not outcome.error, f"{_told(call)}: {outcome.message}"
    _alike([found[place] for place in wrt], outcome.values[0], _told(call))
