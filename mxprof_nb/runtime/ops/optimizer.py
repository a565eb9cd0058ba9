"""The operators with which optimisers update weights, by MXNet's names and formulas.

Each takes a weight, its gradient and the optimiser's state for it, and numbers that may change
from step to step. States are written in place, and so is the weight where the call says that the
result goes there (``in_place``); otherwise the result is a new array.

All work on blocks that stay in the processor's caches, so that a formula of many terms reads and
writes each array in memory once. float16 is computed in float32 and rounded once, at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray as NumpyArray

from mxprof_nb.runtime.ops.cost import times
from mxprof_nb.runtime.ops.nn.checks import floating, matching
from mxprof_nb.runtime.ops.registry import Aval, OpSpec, aval, refuse, register

__all__ = ["MULTI", "UPDATES"]

Array = NumpyArray[Any]

#: Takes blocks of weight, gradient and states, then the numbers; writes all but the gradient.
Rule = Callable[..., None]

#: Bytes of one array that a rule gets at a time.
BLOCK = 2**19


# Formulas


def _scaled(grad: Array, factor: float, rescale_grad: float, clip_gradient: float) -> Array:
    """Return a multiple of the rescaled gradient, which is clipped before."""
    if clip_gradient < 0:
        return grad * (factor * rescale_grad)
    step = grad * rescale_grad
    np.clip(step, -clip_gradient, clip_gradient, out=step)
    step *= factor
    return step


def _slope(
    weight: Array, grad: Array, wd: float, rescale_grad: float, clip_gradient: float
) -> Array:
    """Return the rescaled gradient with that of the decay, clipped together."""
    slope = grad * rescale_grad
    if wd:
        slope += weight * wd
    if clip_gradient >= 0:
        np.clip(slope, -clip_gradient, clip_gradient, out=slope)
    return slope


def _average(state: Array, new: Array, keep: float) -> None:
    """Let a moving average take a new value in, of which it keeps nothing."""
    state *= keep
    new *= 1 - keep
    state += new


def _sgd(
    weight: Array, grad: Array, lr: float, wd: float, rescale_grad: float, clip_gradient: float
) -> None:
    step = _scaled(grad, lr, rescale_grad, clip_gradient)
    if wd:
        weight *= 1 - lr * wd
    weight -= step


def _sgd_mom(
    weight: Array,
    grad: Array,
    mom: Array,
    lr: float,
    momentum: float,
    wd: float,
    rescale_grad: float,
    clip_gradient: float,
) -> None:
    mom *= momentum
    mom -= _scaled(grad, lr, rescale_grad, clip_gradient)
    if wd:
        mom -= weight * (lr * wd)
    weight += mom


def _nag_mom(
    weight: Array,
    grad: Array,
    mom: Array,
    lr: float,
    momentum: float,
    wd: float,
    rescale_grad: float,
    clip_gradient: float,
) -> None:
    step = _scaled(grad, lr, rescale_grad, clip_gradient)
    if wd:
        step += weight * (lr * wd)
    mom *= momentum
    mom -= step
    step -= mom * momentum
    weight -= step


def _signsgd(
    weight: Array, grad: Array, lr: float, wd: float, rescale_grad: float, clip_gradient: float
) -> None:
    # The sign is that of the gradient as it came: neither scale nor clipping changes it.
    step = np.sign(grad)
    step *= lr
    if wd:
        weight *= 1 - lr * wd
    weight -= step


def _signum(
    weight: Array,
    grad: Array,
    mom: Array,
    lr: float,
    momentum: float,
    wd: float,
    rescale_grad: float,
    clip_gradient: float,
    wd_lh: float,
) -> None:
    mom *= momentum
    mom -= _scaled(grad, 1 - momentum, rescale_grad, clip_gradient)
    if wd:
        mom -= weight * ((1 - momentum) * wd)
    step = np.sign(mom)
    step *= lr
    if wd_lh:
        weight *= 1 - lr * wd_lh
    weight += step


def _adam(
    weight: Array,
    grad: Array,
    mean: Array,
    var: Array,
    lr: float,
    beta1: float,
    beta2: float,
    epsilon: float,
    wd: float,
    rescale_grad: float,
    clip_gradient: float,
) -> None:
    slope = _slope(weight, grad, wd, rescale_grad, clip_gradient)
    square = np.square(slope)
    _average(mean, slope, beta1)
    _average(var, square, beta2)
    root = np.sqrt(var, out=square)
    root += epsilon
    step = np.divide(mean, root, out=slope)
    step *= lr
    weight -= step


def _clip_weights(weight: Array, bound: float) -> None:
    if bound >= 0:
        np.clip(weight, -bound, bound, out=weight)


def _rmsprop(
    weight: Array,
    grad: Array,
    n: Array,
    lr: float,
    gamma1: float,
    epsilon: float,
    wd: float,
    rescale_grad: float,
    clip_gradient: float,
    clip_weights: float,
) -> None:
    slope = _slope(weight, grad, wd, rescale_grad, clip_gradient)
    square = np.square(slope)
    _average(n, square, gamma1)
    root = np.add(n, epsilon, out=square)
    np.sqrt(root, out=root)
    slope *= lr
    slope /= root
    weight -= slope
    _clip_weights(weight, clip_weights)


def _rmspropalex(
    weight: Array,
    grad: Array,
    n: Array,
    g: Array,
    delta: Array,
    lr: float,
    gamma1: float,
    gamma2: float,
    epsilon: float,
    wd: float,
    rescale_grad: float,
    clip_gradient: float,
    clip_weights: float,
) -> None:
    slope = _slope(weight, grad, wd, rescale_grad, clip_gradient)
    _average(n, np.square(slope), gamma1)
    _average(g, slope.copy(), gamma1)
    root = np.square(g)
    np.subtract(n, root, out=root)
    root += epsilon
    np.sqrt(root, out=root)
    slope *= lr
    slope /= root
    delta *= gamma2
    delta -= slope
    weight += delta
    _clip_weights(weight, clip_weights)


def _ftrl(
    weight: Array,
    grad: Array,
    z: Array,
    n: Array,
    lr: float,
    lamda1: float,
    beta: float,
    wd: float,
    rescale_grad: float,
    clip_gradient: float,
) -> None:
    slope = _scaled(grad, 1.0, rescale_grad, clip_gradient)
    before = np.sqrt(n)
    n += np.square(slope)
    root = np.sqrt(n)
    np.subtract(root, before, out=before)
    before *= weight
    before /= lr
    slope -= before
    z += slope
    root += beta
    root /= lr
    root += wd
    # Up to lamda1 away from 0 the weight is 0, beyond it what is left of z.
    np.clip(z, -lamda1, lamda1, out=before)
    before -= z
    np.divide(before, root, out=weight)


def _in_single(rule: Rule, *, narrow: bool = False) -> Rule:
    """Return a rule for a weight with a copy in float32, its last array, that counts.

    With ``narrow`` it does not for a weight that is in float32 itself.
    """

    def update(weight: Array, grad: Array, *rest: Any) -> None:
        *states, wide = [each for each in rest if isinstance(each, np.ndarray)]
        numbers = rest[len(states) + 1 :]
        if narrow and weight.dtype == wide.dtype:
            rule(weight, grad, *states, *numbers)
            return
        rule(wide, grad.astype(wide.dtype), *states, *numbers)
        weight[...] = wide

    return update


# Kernels


def _widened(rule: Rule, parts: Sequence[Array], numbers: Sequence[float]) -> None:
    """Apply a rule to float16, in float32."""
    wide = [part.astype(np.float32) for part in parts]
    rule(*wide, *numbers)
    for place, (part, value) in enumerate(zip(parts, wide, strict=True)):
        if place != 1:  # the gradient
            part[...] = value


def _updated(rule: Rule, arrays: Sequence[Array], numbers: Sequence[float], new: bool) -> Array:
    """Apply a rule to a weight, in place or to a copy, block by block, and return that."""
    weight = arrays[0].copy() if new else arrays[0]
    flat = [each.reshape(-1) for each in (weight, *arrays[1:])]
    half = flat[-1].dtype == np.float16
    step = BLOCK // flat[-1].itemsize
    for begin in range(0, weight.size, step):
        parts = [each[begin : begin + step] for each in flat]
        if half:
            _widened(rule, parts, numbers)
        else:
            rule(*parts, *numbers)
    return weight


def _one(rule: Rule, count: int, *given: Any, in_place: bool = False) -> Array:
    return _updated(rule, given[:count], given[count:], not in_place)


def _several(
    rule: Rule, group: int, *given: Any, num_weights: int = 1, in_place: bool = False
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


def _spec(name: str, rule: Rule, infer: Callable[..., Aval], states: int, flops: int) -> OpSpec:
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
        ("sgd_update", _sgd, _stateless, 0, 4),
        ("sgd_mom_update", _sgd_mom, _mom, 1, 6),
        ("nag_mom_update", _nag_mom, _mom, 1, 8),
        ("signsgd_update", _signsgd, _stateless, 0, 4),
        ("signum_update", _signum, _mom, 1, 8),
        ("adam_update", _adam, _mean_var, 2, 14),
        ("rmsprop_update", _rmsprop, _n, 1, 11),
        ("rmspropalex_update", _rmspropalex, _n_g_delta, 3, 18),
        ("ftrl_update", _ftrl, _z_n, 2, 14),
        ("mp_sgd_update", _in_single(_sgd), _mp, 1, 4),
        ("mp_sgd_mom_update", _in_single(_sgd_mom), _mp_mom, 2, 6),
        ("mp_nag_mom_update", _in_single(_nag_mom), _mp_mom, 2, 8),
    )
}


def _multi(name: str, rule: Rule, infer: Callable[..., Aval], states: int, flops: int) -> OpSpec:
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
        ("multi_sgd_update", _sgd, _stateless, 0, 4),
        ("multi_sgd_mom_update", _sgd_mom, _mom, 1, 6),
        ("multi_mp_sgd_update", _in_single(_sgd, narrow=True), _mp, 1, 4),
        ("multi_mp_sgd_mom_update", _in_single(_sgd_mom, narrow=True), _mp_mom, 2, 6),
    )
}
