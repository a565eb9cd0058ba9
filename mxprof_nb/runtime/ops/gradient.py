"""The operators that compute gradients, one for each `Gradient` that an operator names."""

from __future__ import annotations

import inspect
from functools import cache
from typing import Any

import numpy as np

from mxprof_nb.runtime.ops.registry import Gradient, Kernel, OpSpec

__all__ = ["backward", "over_head"]

_known: dict[Gradient, OpSpec] = {}


def backward(op: OpSpec) -> OpSpec | None:
    """Return the operator that computes another's gradient, None where none flows.

    It takes the gradients of the outputs and what `Gradient` says besides, the operator's own
    dynamic arguments and attributes, and two attributes more: ``like``, the avals of the
    operator's inputs, and ``wanted``, the positions in ``wrt`` of the gradients to compute. It
    has one output for each of those.
    """
    gradient = op.gradient
    if gradient is None:
        return None
    # What a program wrote in Python is made anew for each call, and not kept.
    found = None if gradient.python else _known.get(gradient)
    if found is None:
        doc = f"Gradient of {op.name}."
        found = OpSpec(
            gradient.name,
            _kernel(gradient, gradient.forward),
            _infer(gradient),
            doc,
            flops=gradient.flops,
            mutates=gradient.mutates,
            blas=gradient.blas,
            python=gradient.python,
        )
        if gradient.python is None:
            found = _known.setdefault(gradient, found)
    return found


@cache
def over_head(gradient: Gradient) -> OpSpec | None:
    """Return `backward` as it may be called where nobody needs the head any more.

    Its gradient is to be written to the head; None where the rule knows no such way.
    """
    if gradient.over_head is None:
        return None
    return OpSpec(
        gradient.name,
        _kernel(gradient, gradient.over_head),
        _infer(gradient),
        "Gradient, written over the one it is computed from.",
        flops=gradient.flops,
        mutates=(0,),
        blas=gradient.blas,
    )


def _places(gradient: Gradient, inputs: int) -> tuple[int, ...]:
    return tuple(range(inputs)) if gradient.wrt is None else gradient.wrt


def _infer(gradient: Gradient) -> Any:
    def infer(*avals: Any, like: tuple[Any, ...], wanted: tuple[int, ...], **attrs: Any) -> Any:
        places = _places(gradient, len(like))
        results = tuple(like[places[position]] for position in wanted)
        return results[0] if len(results) == 1 else results

    return infer


def _kernel(gradient: Gradient, forward: Kernel) -> Any:
    """Return a kernel of the gradient with ``like`` and ``wanted`` passed only if it takes them."""
    # A function of NumPy's takes neither, and older NumPy gives it no signature to ask.
    numpy = isinstance(forward, np.ufunc)
    takes = set() if numpy else inspect.signature(forward).parameters.keys()
    extra = {"like", "wanted"} & takes

    def run(*arrays: Any, like: Any, wanted: tuple[int, ...], **attrs: Any) -> Any:
        given = {"like": like, "wanted": wanted}
        result = forward(*arrays, **attrs, **{name: given[name] for name in extra})
        if not isinstance(result, tuple):
            return result
        chosen = tuple(result[position] for position in wanted)
        return chosen[0] if len(chosen) == 1 else chosen

    return run
