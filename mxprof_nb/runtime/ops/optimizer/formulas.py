"""The formulas by which optimisers update a weight, in place: rules of `updates`.

Each takes arrays of one shape, the weight, its gradient and the states, then numbers: the learning
rate ``lr``, the weight decay ``wd``, factor and bound of the gradient (none if negative), and its
own. It writes all arrays but the gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray as NumpyArray

__all__ = [
    "Rule",
    "adam",
    "ftrl",
    "in_single",
    "nag_mom",
    "rmsprop",
    "rmspropalex",
    "sgd",
    "sgd_mom",
    "signsgd",
    "signum",
]

Array = NumpyArray[Any]

#: Takes weight, gradient and states, then the numbers; writes all but the gradient.
Rule = Callable[..., None]


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


def sgd(
    weight: Array, grad: Array, lr: float, wd: float, rescale_grad: float, clip_gradient: float
) -> None:
    """Step against the gradient."""
    step = _scaled(grad, lr, rescale_grad, clip_gradient)
    if wd:
        weight *= 1 - lr * wd
    weight -= step


def sgd_mom(
    weight: Array,
    grad: Array,
    mom: Array,
    lr: float,
    momentum: float,
    wd: float,
    rescale_grad: float,
    clip_gradient: float,
) -> None:
    """Step by the speed, that of before and a new one."""
    mom *= momentum
    mom -= _scaled(grad, lr, rescale_grad, clip_gradient)
    if wd:
        mom -= weight * (lr * wd)
    weight += mom


def nag_mom(
    weight: Array,
    grad: Array,
    mom: Array,
    lr: float,
    momentum: float,
    wd: float,
    rescale_grad: float,
    clip_gradient: float,
) -> None:
    """Step to where the speed will have led."""
    step = _scaled(grad, lr, rescale_grad, clip_gradient)
    if wd:
        step += weight * (lr * wd)
    mom *= momentum
    mom -= step
    step -= mom * momentum
    weight -= step


def signsgd(
    weight: Array, grad: Array, lr: float, wd: float, rescale_grad: float, clip_gradient: float
) -> None:
    """Step against the sign of the gradient."""
    # The sign is that of the gradient as it came: neither scale nor clipping changes it.
    step = np.sign(grad)
    step *= lr
    if wd:
        weight *= 1 - lr * wd
    weight -= step


def signum(
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
    """Step by the sign of the speed."""
    mom *= momentum
    mom -= _scaled(grad, 1 - momentum, rescale_grad, clip_gradient)
    if wd:
        mom -= weight * ((1 - momentum) * wd)
    step = np.sign(mom)
    step *= lr
    if wd_lh:
        weight *= 1 - lr * wd_lh
    weight += step


def adam(
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
    """Step by the mean gradient over the root of its mean square."""
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


def rmsprop(
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
    """Step by the gradient over the root of its mean square."""
    slope = _slope(weight, grad, wd, rescale_grad, clip_gradient)
    square = np.square(slope)
    _average(n, square, gamma1)
    root = np.add(n, epsilon, out=square)
    np.sqrt(root, out=root)
    slope *= lr
    slope /= root
    weight -= slope
    _clip_weights(weight, clip_weights)


def rmspropalex(
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
    """Step by a speed of gradients over their deviation."""
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


def ftrl(
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
    """Step to where the sum of all gradients and penalties is least."""
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


def in_single(rule: Rule, *, narrow: bool = False) -> Rule:
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
