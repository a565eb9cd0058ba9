"""Functions of `mx.nd` that update weights; the names, parameters and defaults are MXNet's.

Each returns the new weight, which with ``out=weight`` is written in place, as optimisers do it;
states always are. Common to all:

- ``lr``: learning rate; ``wd``: weight decay, a share of the weight added to its gradient.
- ``rescale_grad``: factor of the gradient. ``clip_gradient``: bound of its size after that, none
  if negative.
- ``lazy_update`` concerns sparse gradients, which there are none of.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mxprof_nb.errors import ArgumentError
from mxprof_nb.runtime.handle import Handle
from mxprof_nb.runtime.invoke import Attrs
from mxprof_nb.runtime.nd.arguments import number, real, required, whole
from mxprof_nb.runtime.nd.array import NDArray, apply, apply_several
from mxprof_nb.runtime.ops import OpSpec
from mxprof_nb.runtime.ops.optimizer import MULTI, UPDATES

__all__ = [
    "adam_update",
    "ftrl_update",
    "mp_nag_mom_update",
    "mp_sgd_mom_update",
    "mp_sgd_update",
    "multi_mp_sgd_mom_update",
    "multi_mp_sgd_update",
    "multi_sgd_mom_update",
    "multi_sgd_update",
    "nag_mom_update",
    "rmsprop_update",
    "rmspropalex_update",
    "sgd_mom_update",
    "sgd_update",
    "signsgd_update",
    "signum_update",
]

_IN_PLACE: Attrs = (("in_place", True),)


def _is_in_place(targets: Sequence[Any], weights: Sequence[Any], others: Sequence[Any]) -> bool:
    """Whether kernels may write the weights themselves: nothing else shares their memory."""
    taken = {id(each.chunk) for each in others if isinstance(each, Handle)}
    for target, weight in zip(targets, weights, strict=False):
        if not (isinstance(target, Handle) and isinstance(weight, Handle)):
            return False
        if target.chunk is not weight.chunk or target.view != weight.view:
            return False
        if id(weight.chunk) in taken:
            return False
        taken.add(id(weight.chunk))
    return True


def _update(name: str, inputs: Sequence[NDArray], out: NDArray | None, **numbers: Any) -> NDArray:
    """Queue the update of one weight, the first input."""
    required(name, "lr", "the learning rate", numbers["lr"])
    dynamic = tuple([number(name, each, real(given)) for each, given in numbers.items()])
    in_place = out is not None and _is_in_place((out,), inputs[:1], inputs[1:])
    return apply(UPDATES[name], inputs, _IN_PLACE if in_place else (), dynamic, out)


def sgd_update(
    weight: NDArray,
    grad: NDArray,
    lr: float | None = None,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    lazy_update: bool = True,
    out: NDArray | None = None,
) -> NDArray:
    """Return the weight one step of gradient descent further."""
    numbers = {"lr": lr, "wd": wd, "rescale_grad": rescale_grad, "clip_gradient": clip_gradient}
    return _update("sgd_update", (weight, grad), out, **numbers)


def sgd_mom_update(
    weight: NDArray,
    grad: NDArray,
    mom: NDArray,
    lr: float | None = None,
    momentum: float = 0.0,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    lazy_update: bool = True,
    out: NDArray | None = None,
) -> NDArray:
    """Return the weight one step of gradient descent further, which keeps some of its speed.

    ``mom`` holds that speed, of which a share ``momentum`` stays from step to step.
    """
    return _with_momentum("sgd_mom_update", (weight, grad, mom), lr, momentum, wd,
                          rescale_grad, clip_gradient, out)  # fmt: skip


def nag_mom_update(
    weight: NDArray,
    grad: NDArray,
    mom: NDArray,
    lr: float | None = None,
    momentum: float = 0.0,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    out: NDArray | None = None,
) -> NDArray:
    """Return the weight one step of Nesterov's accelerated gradient further."""
    return _with_momentum("nag_mom_update", (weight, grad, mom), lr, momentum, wd,
                          rescale_grad, clip_gradient, out)  # fmt: skip


def mp_sgd_update(
    weight: NDArray,
    grad: NDArray,
    weight32: NDArray,
    lr: float | None = None,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    lazy_update: bool = True,
    out: NDArray | None = None,
) -> NDArray:
    """Return the weight one step further, computed on its copy in float32, which moves too."""
    numbers = {"lr": lr, "wd": wd, "rescale_grad": rescale_grad, "clip_gradient": clip_gradient}
    return _update("mp_sgd_update", (weight, grad, weight32), out, **numbers)


def mp_sgd_mom_update(
    weight: NDArray,
    grad: NDArray,
    mom: NDArray,
    weight32: NDArray,
    lr: float | None = None,
    momentum: float = 0.0,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    lazy_update: bool = True,
    out: NDArray | None = None,
) -> NDArray:
    """Return what `sgd_mom_update` does, computed on a copy of the weight in float32."""
    return _with_momentum("mp_sgd_mom_update", (weight, grad, mom, weight32), lr, momentum, wd,
                          rescale_grad, clip_gradient, out)  # fmt: skip


def mp_nag_mom_update(
    weight: NDArray,
    grad: NDArray,
    mom: NDArray,
    weight32: NDArray,
    lr: float | None = None,
    momentum: float = 0.0,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    out: NDArray | None = None,
) -> NDArray:
    """Return what `nag_mom_update` does, computed on a copy of the weight in float32."""
    return _with_momentum("mp_nag_mom_update", (weight, grad, mom, weight32), lr, momentum, wd,
                          rescale_grad, clip_gradient, out)  # fmt: skip


def _with_momentum(
    name: str,
    inputs: Sequence[NDArray],
    lr: float | None,
    momentum: float,
    wd: float,
    rescale_grad: float,
    clip_gradient: float,
    out: NDArray | None,
) -> NDArray:
    return _update(
        name, inputs, out, lr=lr, momentum=momentum, wd=wd, rescale_grad=rescale_grad,
        clip_gradient=clip_gradient,
    )  # fmt: skip


def signsgd_update(
    weight: NDArray,
    grad: NDArray,
    lr: float | None = None,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    out: NDArray | None = None,
) -> NDArray:
    """Return the weight, each element ``lr`` further against the sign of its gradient."""
    numbers = {"lr": lr, "wd": wd, "rescale_grad": rescale_grad, "clip_gradient": clip_gradient}
    return _update("signsgd_update", (weight, grad), out, **numbers)


def signum_update(
    weight: NDArray,
    grad: NDArray,
    mom: NDArray,
    lr: float | None = None,
    momentum: float = 0.0,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    wd_lh: float = 0.0,
    out: NDArray | None = None,
) -> NDArray:
    """Return the weight, each element ``lr`` further by the sign of its speed ``mom``.

    ``wd_lh`` is a decay of the weight itself, which does not pass through the speed.
    """
    return _update(
        "signum_update", (weight, grad, mom), out, lr=lr, momentum=momentum, wd=wd,
        rescale_grad=rescale_grad, clip_gradient=clip_gradient, wd_lh=wd_lh,
    )  # fmt: skip


def adam_update(
    weight: NDArray,
    grad: NDArray,
    mean: NDArray,
    var: NDArray,
    lr: float | None = None,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-8,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    lazy_update: bool = True,
    out: NDArray | None = None,
) -> NDArray:
    """Return the weight one step of Adam further.

    ``mean`` and ``var`` hold the moving averages of the gradient and its square, of which shares
    ``beta1`` and ``beta2`` stay; ``epsilon`` is added to the root of the latter. That both begin
    at 0 is not corrected for: the learning rate has to.
    """
    return _update(
        "adam_update", (weight, grad, mean, var), out, lr=lr, beta1=beta1, beta2=beta2,
        epsilon=epsilon, wd=wd, rescale_grad=rescale_grad, clip_gradient=clip_gradient,
    )  # fmt: skip


def rmsprop_update(
    weight: NDArray,
    grad: NDArray,
    n: NDArray,
    lr: float | None = None,
    gamma1: float = 0.95,
    epsilon: float = 1e-8,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    clip_weights: float = -1.0,
    out: NDArray | None = None,
) -> NDArray:
    """Return the weight one step of RMSProp further.

    ``n`` holds the moving average of the gradient's square, of which a share ``gamma1`` stays;
    ``clip_weights`` bounds the size of the new weight, unless it is negative.
    """
    return _update(
        "rmsprop_update", (weight, grad, n), out, lr=lr, gamma1=gamma1, epsilon=epsilon, wd=wd,
        rescale_grad=rescale_grad, clip_gradient=clip_gradient, clip_weights=clip_weights,
    )  # fmt: skip


def rmspropalex_update(
    weight: NDArray,
    grad: NDArray,
    n: NDArray,
    g: NDArray,
    delta: NDArray,
    lr: float | None = None,
    gamma1: float = 0.95,
    gamma2: float = 0.9,
    epsilon: float = 1e-8,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    clip_weights: float = -1.0,
    out: NDArray | None = None,
) -> NDArray:
    """Return the weight one step of Graves' centred RMSProp further.

    ``n`` and ``g`` hold the moving averages of the gradient's square and of the gradient,
    ``delta`` the speed, of which a share ``gamma2`` stays.
    """
    return _update(
        "rmspropalex_update", (weight, grad, n, g, delta), out, lr=lr, gamma1=gamma1,
        gamma2=gamma2, epsilon=epsilon, wd=wd, rescale_grad=rescale_grad,
        clip_gradient=clip_gradient, clip_weights=clip_weights,
    )  # fmt: skip


def ftrl_update(
    weight: NDArray,
    grad: NDArray,
    z: NDArray,
    n: NDArray,
    lr: float | None = None,
    lamda1: float = 0.01,
    beta: float = 1.0,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    out: NDArray | None = None,
) -> NDArray:
    """Return the weight one step of FTRL-Proximal (McMahan et al. 2013) further.

    ``z`` and ``n`` hold what it sums up; ``lamda1`` is the penalty on the weight's size, ``wd``
    that on its square.
    """
    return _update(
        "ftrl_update", (weight, grad, z, n), out, lr=lr, lamda1=lamda1, beta=beta, wd=wd,
        rescale_grad=rescale_grad, clip_gradient=clip_gradient,
    )  # fmt: skip


# Several weights in one call


def _several(
    name: str,
    data: Sequence[Any],
    lrs: Any,
    wds: Any,
    numbers: dict[str, Any],
    num_weights: int,
    out: Any,
) -> Any:
    """Queue the update of several weights; ``data`` holds all arrays of each, side by side."""
    if len(data) == 1 and isinstance(data[0], (list, tuple)):
        data = data[0]
    op: OpSpec = MULTI[name]
    count = whole(num_weights)
    dynamic: list[Any] = [
        _rates(name, "lrs", "the learning rate of each weight", lrs, count),
        _rates(name, "wds", "the decay of each weight", wds, count),
    ]
    dynamic += [number(name, each, real(given)) for each, given in numbers.items()]
    attrs: Attrs = (("num_weights", count),)
    targets: Any = [out] if isinstance(out, Handle) else out
    if isinstance(targets, (list, tuple)):
        weights = data[:: op.group]
        others = [each for place, each in enumerate(data) if place % op.group]
        if _is_in_place(targets, weights, others):
            attrs += _IN_PLACE
    made = apply_several(op, data, attrs, tuple(dynamic), targets)
    return made[0] if len(made) == 1 else made


def _rates(name: str, parameter: str, meaning: str, given: Any, count: Any) -> tuple[float, ...]:
    """Return one number for each weight."""
    parts = required(name, parameter, meaning, given)
    rates = tuple(
        [
            number(name, parameter, real(each))
            for each in (parts if isinstance(parts, (list, tuple)) else (parts,))
        ]
    )
    if isinstance(count, int) and len(rates) != count:
        raise ArgumentError(
            f"{name}: {parameter} has {len(rates)} numbers, num_weights is {count}. "
            "Give one for each weight."
        )
    return rates


def multi_sgd_update(
    *data: Any,
    lrs: Sequence[float] | None = None,
    wds: Sequence[float] | None = None,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    num_weights: int = 1,
    out: Any = None,
) -> Any:
    """Return several weights one step further; ``data`` is weight, gradient, weight, ..."""
    numbers = {"rescale_grad": rescale_grad, "clip_gradient": clip_gradient}
    return _several("multi_sgd_update", data, lrs, wds, numbers, num_weights, out)


def multi_sgd_mom_update(
    *data: Any,
    lrs: Sequence[float] | None = None,
    wds: Sequence[float] | None = None,
    momentum: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    num_weights: int = 1,
    out: Any = None,
) -> Any:
    """Return several weights one step further; ``data`` is weight, gradient, speed, ..."""
    numbers = {"momentum": momentum, "rescale_grad": rescale_grad, "clip_gradient": clip_gradient}
    return _several("multi_sgd_mom_update", data, lrs, wds, numbers, num_weights, out)


def multi_mp_sgd_update(
    *data: Any,
    lrs: Sequence[float] | None = None,
    wds: Sequence[float] | None = None,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    num_weights: int = 1,
    out: Any = None,
) -> Any:
    """Return several weights one step further; of each weight, gradient, copy in float32."""
    numbers = {"rescale_grad": rescale_grad, "clip_gradient": clip_gradient}
    return _several("multi_mp_sgd_update", data, lrs, wds, numbers, num_weights, out)


def multi_mp_sgd_mom_update(
    *data: Any,
    lrs: Sequence[float] | None = None,
    wds: Sequence[float] | None = None,
    momentum: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    num_weights: int = 1,
    out: Any = None,
) -> Any:
    """Return several weights one step further; of each weight, gradient, speed, float32 copy."""
    numbers = {"momentum": momentum, "rescale_grad": rescale_grad, "clip_gradient": clip_gradient}
    return _several("multi_mp_sgd_mom_update", data, lrs, wds, numbers, num_weights, out)
