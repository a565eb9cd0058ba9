"""The operators with which optimisers update weights, by MXNet's names and formulas.

Each takes a weight, its gradient and the optimiser's state for it, and numbers that may change
from step to step. States are written in place, and so is the weight where the call says that the
result goes there (``in_place``); otherwise the result is a new array.

All work on blocks that stay in the processor's caches, so that a formula of many terms reads and
writes each array in memory once. float16 is computed in float32 and rounded once, at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray as NumpyArray

from mxprof_nb.runtime.ops.cost import times
from mxprof_nb.runtime.ops.nn.checks import floating, matching
from mxprof_nb.runtime.ops.optimizer import formulas
from mxprof_nb.runtime.ops.registry import Aval, OpSpec, aval, refuse, register

__all__ = ["MULTI", "UPDATES"]

Array = NumpyArray[Any]

#: Bytes of one array that a rule gets at a time.
BLOCK = 2**20


# Kernels


def _widened(rule: formulas.Rule, parts: Sequence[Array], numbers: Sequence[float]) -> None:
    """Apply a rule to float16, in float32."""
    wide = [part.astype(np.float32) for part in parts]
    rule(*wide, *numbers)
    for place, (part, value) in enumerate(zip(parts, wide, strict=True)):
        if place != 1:  # the gradient
            part[...] = value


def _updated(
    rule: formulas.Rule, arrays: Sequence[Array], numbers: Sequence[float], new: bool
) -> Array:
    """Apply a rule to a weight, in place or to a copy, block by block, and return that."""
    weight = arrays[0].copy() if new else arrays[0]
    half = arrays[-1].dtype == np.float16
    for parts in _blocks((weight, *arrays[1:])):
        if half:
            _widened(rule, parts, numbers)
        else:
            rule(*parts, *numbers)
    return weight


def _blocks(arrays: Sequence[Array]) -> Iterable[Sequence[Array]]:
    """Return the arrays in parts that lie side by side; whole if they are small."""
    size, step = arrays[0].size, BLOCK // arrays[-1].itemsize
    if size <= step:
        return (arrays,)
    flat = [each.reshape(-1) for each in arrays]
    return ([each[begin : begin + step] for each in flat] for begin in range(0, size, step))


def _one(rule: formulas.Rule, count: int, *given: Any, in_place: bool = False) -> Array:
    return _updated(rule, given[:count], given[count:], not in_place)


def _several(
    rule: formulas.Rule, group: int, *given: Any, num_weights: int = 1, in_place: bool = False
) -> Array | tuple[Array, ...]:
    count = group * num_weights
    lrs, wds, *rest = given[count:]  # rest: momentum where the rule has it, scale, bound
    made = tuple(
        _updated(
            rule,
            given[group * place : group * (place + 1)],
            (lrs[place], *rest[:-2], wds[place], *rest[-2:]),
            not in_place,
        )
        for place in range(num_weights)
    )
    return made if num_weights > 1 else made[0]


# What they demand


def _alike(name: str, weight: Aval, **others: Aval) -> Aval:
    for argument, given in others.items():
        matching(name, argument, given, weight.shape, "that of weight")
    floating(name, weight, *others.values())
    return weight


def _single(name: str, weight: Aval, grad: Aval, weight32: Aval, **states: Aval) -> Aval:
    """Check the inputs of an update with a copy of the weight in float32."""
    _alike(name, weight, grad=grad)
    _alike(name, aval(weight.shape, np.float32), weight32=weight32, **states)
    return weight


def _stateless(name: str, weight: Aval, grad: Aval, in_place: bool = False) -> Aval:
    return _alike(name, weight, grad=grad)


def _mom(name: str, weight: Aval, grad: Aval, mom: Aval, in_place: bool = False) -> Aval:
    return _alike(name, weight, grad=grad, mom=mom)


def _n(name: str, weight: Aval, grad: Aval, n: Aval, in_place: bool = False) -> Aval:
    return _alike(name, weight, grad=grad, n=n)


def _z_n(name: str, weight: Aval, grad: Aval, z: Aval, n: Aval, in_place: bool = False) -> Aval:
    return _alike(name, weight, grad=grad, z=z, n=n)


def _mean_var(
    name: str, weight: Aval, grad: Aval, mean: Aval, var: Aval, in_place: bool = False
) -> Aval:
    return _alike(name, weight, grad=grad, mean=mean, var=var)


def _n_g_delta(
    name: str, weight: Aval, grad: Aval, n: Aval, g: Aval, delta: Aval, in_place: bool = False
) -> Aval:
    return _alike(name, weight, grad=grad, n=n, g=g, delta=delta)


def _mp(name: str, weight: Aval, grad: Aval, weight32: Aval, in_place: bool = False) -> Aval:
    return _single(name, weight, grad, weight32)


def _mp_mom(
    name: str, weight: Aval, grad: Aval, mom: Aval, weight32: Aval, in_place: bool = False
) -> Aval:
    return _single(name, weight, grad, weight32, mom=mom)


def _each(
    name: str, infer: Callable[..., Aval], group: int, *avals: Aval, num_weights: int = 1,
    in_place: bool = False,
) -> tuple[Aval, ...]:  # fmt: skip
    if num_weights < 1 or len(avals) != group * num_weights:
        told = f"num_weights={num_weights} needs {group} arrays for each weight"
        raise refuse(name, f"{told}, not {len(avals)} in all", *avals)
    first = avals[0].dtype
    made = [infer(name, *avals[begin : begin + group]) for begin in range(0, len(avals), group)]
    if any(each.dtype != first for each in made):
        raise refuse(name, "the weights have different types", *made)
    return tuple(made)


# The registry


def _spec(
    name: str, rule: formulas.Rule, infer: Callable[..., Aval], states: int, flops: int
) -> OpSpec:
    """Register the update of one weight."""
    count = 2 + states
    return register(
        name,
        partial(infer, name),
        f"A weight one step further, by {name.removesuffix('_update')}.",
        mutates=tuple(range(2, count)),
        flops=times(flops),
    )(partial(_one, rule, count))


#: Updates of one weight, by name.
UPDATES = {
    name: _spec(name, rule, infer, states, flops)
    for name, rule, infer, states, flops in (
        ("sgd_update", formulas.sgd, _stateless, 0, 4),
        ("sgd_mom_update", formulas.sgd_mom, _mom, 1, 6),
        ("nag_mom_update", formulas.nag_mom, _mom, 1, 8),
        ("signsgd_update", formulas.signsgd, _stateless, 0, 4),
        ("signum_update", formulas.signum, _mom, 1, 8),
        ("adam_update", formulas.adam, _mean_var, 2, 14),
        ("rmsprop_update", formulas.rmsprop, _n, 1, 11),
        ("rmspropalex_update", formulas.rmspropalex, _n_g_delta, 3, 18),
        ("ftrl_update", formulas.ftrl, _z_n, 2, 14),
        ("mp_sgd_update", formulas.in_single(formulas.sgd), _mp, 1, 4),
        ("mp_sgd_mom_update", formulas.in_single(formulas.sgd_mom), _mp_mom, 2, 6),
        ("mp_nag_mom_update", formulas.in_single(formulas.nag_mom), _mp_mom, 2, 8),
    )
}


def _multi(
    name: str, rule: formulas.Rule, infer: Callable[..., Aval], states: int, flops: int
) -> OpSpec:
    """Register the update of several weights in one call: of each all arrays, side by side."""
    group = 2 + states
    return register(
        name,
        partial(_each, name, infer, group),
        f"Several weights one step further, by {name.removeprefix('multi_')[:-7]}.",
        mutates=tuple(range(2, group)),
        group=group,
        flops=times(flops),
    )(partial(_several, rule, group))


#: Updates of several weights, by name.
MULTI = {
    name: _multi(name, rule, infer, states, flops)
    for name, rule, infer, states, flops in (
        ("multi_sgd_update", formulas.sgd, _stateless, 0, 4),
        ("multi_sgd_mom_update", formulas.sgd_mom, _mom, 1, 6),
        ("multi_mp_sgd_update", formulas.in_single(formulas.sgd, narrow=True), _mp, 1, 4),
        (
            "multi_mp_sgd_mom_update",
            formulas.in_single(formulas.sgd_mom, narrow=True),
            _mp_mom,
            2,
            6,
        ),
    )
}
