"""Gradients of operators against central differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mxprof_nb.runtime.ops import OpSpec, aval
from mxprof_nb.runtime.ops.gradient import backward

__all__ = ["check_gradient", "gradients", "outputs_of"]

#: Step of the differences; their error is about its square.
STEP = 1e-5


def outputs_of(
    op: OpSpec, inputs: Sequence[Any], attrs: Mapping[str, Any] = {}, dynamic: Sequence[Any] = ()
) -> tuple[Any, ...]:
    """Return what the kernel makes of NumPy arrays, as a tuple."""
    with np.errstate(all="ignore"):
        made = op.forward(*inputs, *dynamic, **attrs)
    return made if isinstance(made, tuple) else (made,)


def gradients(
    op: OpSpec,
    inputs: Sequence[Any],
    heads: Sequence[Any],
    attrs: Mapping[str, Any] = {},
    dynamic: Sequence[Any] = (),
) -> dict[int, Any]:
    """Return what the operator's rule makes for each input that has a gradient, by its place."""
    rule, spec = op.gradient, backward(op)
    assert rule is not None
    assert spec is not None
    outputs = outputs_of(op, inputs, attrs, dynamic)
    like = tuple(aval(x.shape, x.dtype) for x in inputs)
    places = tuple(range(len(inputs))) if rule.wrt is None else rule.wrt
    wanted = tuple(range(len(places)))
    taken = range(len(outputs)) if rule.heads is None else rule.heads
    known = [*(inputs[place] for place in rule.inputs), *(outputs[place] for place in rule.outputs)]
    with np.errstate(all="ignore"):
        made = spec.forward(
            *(heads[place] for place in taken), *known, *dynamic, **attrs, like=like, wanted=wanted
        )
    found = dict(zip(places, made if isinstance(made, tuple) else (made,), strict=True))
    for place, gradient in found.items():
        assert gradient.shape == inputs[place].shape
        assert gradient.dtype == inputs[place].dtype
        assert gradient.flags.c_contiguous
        others = (found[other] for other in found if other != place)
        for array in (*inputs, *heads, *outputs, *others):
            assert not np.may_share_memory(gradient, array)
    return found


def check_gradient(
    op: OpSpec,
    inputs: Sequence[Any],
    attrs: Mapping[str, Any] = {},
    dynamic: Sequence[Any] = (),
    tolerance: float = 1e-6,
) -> None:
    """Compare an operator's gradients with central differences, for random heads in float64."""
    generator = np.random.default_rng(0)
    outputs = outputs_of(op, inputs, attrs, dynamic)
    rule = op.gradient
    assert rule is not None
    taken = range(len(outputs)) if rule.heads is None else rule.heads
    heads = [generator.uniform(0.5, 1.5, each.shape) for each in outputs]

    def weighed(place: int, changed: Any) -> float:
        given = [changed if n == place else x for n, x in enumerate(inputs)]
        results = outputs_of(op, given, attrs, dynamic)
        return float(sum((results[n] * heads[n]).sum() for n in taken))

    for place, gradient in gradients(op, inputs, heads, attrs, dynamic).items():
        expected = np.empty_like(inputs[place])
        for index in np.ndindex(expected.shape):
            up, down = inputs[place].copy(), inputs[place].copy()
            up[index] += STEP
            down[index] -= STEP
            expected[index] = (weighed(place, up) - weighed(place, down)) / (2 * STEP)
        np.testing.assert_allclose(
            gradient, expected, rtol=tolerance, atol=tolerance, err_msg=f"{op.name}, input {place}"
        )
