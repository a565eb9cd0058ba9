"""Gradients of gradients: computes gradients by operators that are recorded themselves.

`mxprof_nb.runtime.backward` uses one operator for each gradient, which is fast and has no gradient
of its own. Here the same gradients are written down in terms of ordinary operators, for those
operators whose gradient is short.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mxprof_nb.errors import GradientError
from mxprof_nb.runtime import mode, nd
from mxprof_nb.runtime.backward import Plan, check_heads, heads_of, in_order, targets_for
from mxprof_nb.runtime.calls import recorded
from mxprof_nb.runtime.engine.bulking import backward_size
from mxprof_nb.runtime.engine.default import bulked
from mxprof_nb.runtime.handle import Handle
from mxprof_nb.runtime.nd import NDArray
from mxprof_nb.runtime.ops import Aval
from mxprof_nb.runtime.ops.reduction import chosen, reduced
from mxprof_nb.runtime.tape import Edge, Node, Step

__all__ = ["gradients"]


@dataclass(frozen=True)
class _Call:
    """A recorded operator whose gradient is wanted.

    Attributes
    ----------
    head : NDArray
        Gradient of its result.
    arrays : list of NDArray
        The inputs and outputs that its gradient needs.
    attrs, dynamic, like
        As in `Step`.
    """

    head: NDArray
    arrays: list[NDArray]
    attrs: Mapping[str, Any]
    dynamic: tuple[Any, ...]
    like: tuple[Aval, ...]


#: Returns the gradient of each input.
Rule = Callable[[_Call], Sequence[NDArray]]


def _slope(derivative: Callable[[NDArray], Any]) -> Rule:
    """Return the rule for a function of one array, by its derivative at what is known."""
    return lambda call: [call.head * derivative(call.arrays[0])]


def _with_number(derivative: Callable[..., Any]) -> Rule:
    return lambda call: [derivative(call.head, *call.arrays, *call.dynamic)]


def _pair(rule: Callable[..., tuple[NDArray, NDArray]]) -> Rule:
    """Return the rule for an operator of two arrays that broadcasts."""

    def fitting(call: _Call) -> list[NDArray]:
        pulled = rule(call.head, *call.arrays)
        return [_summed(one, aval) for one, aval in zip(pulled, call.like, strict=True)]

    return fitting


def _summed(array: NDArray, like: Aval) -> NDArray:
    """Sum what broadcasting has repeated."""
    given, wanted = array.aval.shape, like.shape
    if given == wanted:
        return array
    more = len(given) - len(wanted)
    axes = tuple(
        place
        for place, extent in enumerate(given)
        if place < more or (wanted[place - more] == 1 and extent != 1)
    )
    return nd.reshape(nd.sum(array, axis=axes), wanted) if axes else nd.reshape(array, wanted)


def _spread(call: _Call) -> tuple[NDArray, int]:
    """Return the head repeated over the axes that were reduced, and how many each stands for."""
    shape = call.like[0].shape
    axes = chosen(len(shape), call.attrs.get("axis", ()), call.attrs.get("exclude", False))
    kept = nd.reshape(call.head, reduced(shape, axes, True))
    return nd.broadcast_to(kept, shape), int(np.prod([shape[axis] for axis in axes]))


def _mean(call: _Call) -> list[NDArray]:
    spread, count = _spread(call)
    return [spread / count]


def _dot(call: _Call) -> list[NDArray]:
    head, (left, right) = call.head, call.arrays
    if not len(call.like[0].shape) == len(call.like[1].shape) == 2:
        raise GradientError(
            "The gradient of dot can be differentiated for matrices only. Reshape before."
        )
    a, b = (bool(call.attrs.get(f"transpose_{side}")) for side in "ab")
    return [
        nd.dot(right, head, b, True) if a else nd.dot(head, right, False, not b),
        nd.dot(head, left, True, a) if b else nd.dot(left, head, not a, False),
    ]


def _fully_connected(call: _Call) -> list[NDArray]:
    data, weight = call.arrays
    slopes = nd.reshape(call.head, (-1, weight.aval.shape[0]))
    rows = nd.reshape(data, (-1, weight.aval.shape[1]))
    return [
        nd.reshape(nd.dot(slopes, weight), data.aval.shape),
        nd.dot(slopes, rows, transpose_a=True),
        nd.sum(slopes, axis=0),
    ]


def _transpose(call: _Call) -> list[NDArray]:
    axes = call.attrs.get("axes", ())
    return [nd.transpose(call.head, tuple(np.argsort(axes).tolist()) if axes else ())]


def _same_shape(call: _Call) -> list[NDArray]:
    return [nd.reshape(call.head, call.like[0].shape)]


def _same(call: _Call) -> list[NDArray]:
    return [call.head] * len(call.like)


def _cast(call: _Call) -> list[NDArray]:
    return [nd.cast(call.head, call.like[0].dtype)]


_BOTH: dict[str, Rule] = {
    "add": _pair(lambda head: (head, head)),
    "sub": _pair(lambda head: (head, -head)),
    "mul": _pair(lambda head, a, b: (head * b, head * a)),
    "div": _pair(lambda head, a, b: (head / b, -head * a / (b * b))),
}

#: By MXNet's name of the operator.
RULES: dict[str, Rule] = {
    **{f"broadcast_{name}": rule for name, rule in _BOTH.items()},
    **{f"elemwise_{name}": rule for name, rule in _BOTH.items()},
    "_plus_scalar": _with_number(lambda head, n: head),
    "_minus_scalar": _with_number(lambda head, n: head),
    "_rminus_scalar": _with_number(lambda head, n: -head),
    "_mul_scalar": _with_number(lambda head, n: head * n),
    "_div_scalar": _with_number(lambda head, n: head / n),
    "_rdiv_scalar": _with_number(lambda head, x, n: -head * n / (x * x)),
    "_power_scalar": _with_number(lambda head, x, n: head * n * x ** (n - 1)),
    "exp": _slope(lambda y: y),
    "log": _slope(lambda x: 1 / x),
    "sqrt": _slope(lambda y: 0.5 / y),
    "square": _slope(lambda x: 2 * x),
    "reciprocal": _slope(lambda x: -1 / (x * x)),
    "sin": _slope(lambda x: x.cos()),
    "cos": _slope(lambda x: -x.sin()),
    "tanh": _slope(lambda y: 1 - y * y),
    "sigmoid": _slope(lambda y: y * (1 - y)),
    "relu": _slope(lambda y: y > 0),
    "abs": _slope(lambda x: x.sign()),
    "negative": lambda call: [-call.head],
    "sum": lambda call: [_spread(call)[0]],
    "mean": _mean,
    "dot": _dot,
    "FullyConnected": _fully_connected,
    "Reshape": _same_shape,
    "Flatten": _same_shape,
    "expand_dims": _same_shape,
    "transpose": _transpose,
    "broadcast_to": lambda call: [_summed(call.head, call.like[0])],
    "_copy": _same,
    "add_n": _same,
    "Cast": _cast,
}


@recorded("MXAutogradBackwardEx")
def gradients(
    heads: Sequence[Handle],
    head_gradients: Sequence[NDArray | None],
    variables: Sequence[Handle],
) -> list[NDArray]:
    """Queue what computes the gradients of some variables, and record it; the tape stays.

    Parameters
    ----------
    heads, head_gradients, variables
        As for `mxprof_nb.runtime.api.gradients`.

    Raises
    ------
    GradientError
        As there; or an operator on the way has no rule here.
    """
    places = heads_of(heads)
    targets = targets_for(places, variables)
    check_heads(places, head_gradients)
    order = in_order(places)
    plan = Plan(order, places, targets)
    for node in plan.firing:
        if not (isinstance(node, Step) and node.op.name in RULES):
            told = node.op.name if isinstance(node, Step) else "a Function"
            raise GradientError(
                f"create_graph=True: the gradient of {told} cannot be differentiated itself. "
                f"Those of {', '.join(sorted(RULES))} can."
            )
    before = mode.set_recording(True)
    try:
        sums: dict[Edge, list[NDArray]] = {}
        for (node, place), given in zip(places, head_gradients, strict=True):
            if given is None:
                result = node.results[place]
                given = nd.ones(result.shape, node.context, result.dtype)
            sums.setdefault((node, place), []).append(given)
        found = []
        with bulked(backward_size()):
            for node in plan.firing:
                assert isinstance(node, Step)
                pulled = RULES[node.op.name](_call(node, _total(sums.pop((node, 0)))))
                for place in plan.wanted[node]:
                    sums.setdefault(node.parents[place], []).append(pulled[place])
            for leaf in targets:
                parts = sums.pop((leaf, 0), [])
                # A copy: what is asked for twice, or was given, must not be the same array.
                aval = leaf.results[0]
                none = nd.zeros(aval.shape, leaf.context, aval.dtype) if not parts else None
                found.append(nd.identity(_total(parts)) if none is None else none)
    finally:
        mode.set_recording(before)
    return found


def _total(parts: list[NDArray]) -> NDArray:
    return parts[0] if len(parts) == 1 else nd.add_n(*parts)


def _call(node: Step, head: NDArray) -> _Call:
    rule = node.op.gradient
    assert rule is not None
    edges: list[tuple[Node, int]] = [node.parents[place] for place in rule.inputs]
    edges += [(node, place) for place in rule.outputs]
    arrays = []
    for edge, saved in zip(edges, node.saved, strict=True):
        array = NDArray._of(saved.chunk, saved.aval, saved.view)
        array.entry = edge
        arrays.append(array)
    return _Call(head, arrays, dict(node.attrs), node.dynamic, node.like)
