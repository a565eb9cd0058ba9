"""Optimisers that step along the gradient, or its sign, with or without momentum."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from mxprof_nb.errors import ArgumentError
from mxprof_nb.runtime.nd import (
    NDArray,
    mp_nag_mom_update,
    mp_sgd_update,
    multi_mp_sgd_mom_update,
    multi_mp_sgd_update,
    multi_sgd_mom_update,
    multi_sgd_update,
    nag_mom_update,
    sgd_update,
    signsgd_update,
    signum_update,
)
from mxprof_nb.runtime.optimizer.base import Optimizer, register, zeros_for

__all__ = ["NAG", "SGD", "Signum", "ccSGD"]

AGGREGATION = "MXNET_OPTIMIZER_AGGREGATION_SIZE"


def _aggregation_size() -> int:
    given = os.environ.get(AGGREGATION, "4")
    try:
        return int(given)
    except ValueError:
        raise ArgumentError(
            f"The environment variable {AGGREGATION}={given!r} is no whole number. It says how "
            "many weights SGD updates at once; 4 if it is not set."
        ) from None


class _HasMomentum(Optimizer):
    """An optimiser whose state is a momentum, or with a copy in float32, momentum and copy."""

    momentum: float

    def create_state(self, index: Any, weight: NDArray) -> NDArray | None:
        """Return the momentum, None without one."""
        return zeros_for(weight) if self.momentum else None

    def _is_half(self, weight: NDArray) -> bool:
        return self.multi_precision and weight.dtype == np.float16

    def _state_and_copy(self, index: Any, weight: NDArray) -> Any:
        if self._is_half(weight):
            wide = weight.astype(np.float32)
            return self.create_state(index, wide), wide
        return Optimizer.create_state_multi_precision(self, index, weight)


@register
class SGD(_HasMomentum):
    """Stochastic gradient descent, with momentum and weight decay.

    It updates several weights with one operator, four if the environment variable
    MXNET_OPTIMIZER_AGGREGATION_SIZE does not say otherwise.

    Parameters
    ----------
    momentum : float
        Share of the last step that is made again.
    lazy_update : bool
        Concerns sparse gradients, of which there are none.
    **kwargs
        Those of `Optimizer`.
    """

    def __init__(self, momentum: float = 0.0, lazy_update: bool = True, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.momentum = momentum
        self.lazy_update = lazy_update
        self.aggregate_num = _aggregation_size()

    def create_state_multi_precision(self, index: Any, weight: NDArray) -> Any:
        """Return momentum and copy of a weight in float16, the momentum alone of others."""
        return self._state_and_copy(index, weight)

    def update(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        """Take one step with a weight, or with each of several."""
        self._step(*_listed(index, weight, grad, state), half=False)

    def update_multi_precision(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        """Take one step with a weight, or several, on copies in float32 where there are some."""
        indices, weights, grads, states = _listed(index, weight, grad, state)
        self._step(indices, weights, grads, states, half=self._is_half(weights[0]))

    def _step(
        self,
        indices: Sequence[Any],
        weights: Sequence[NDArray],
        grads: Sequence[NDArray],
        states: Sequence[Any],
        half: bool,
    ) -> None:
        self._update_count(indices)
        numbers: dict[str, Any] = {
            "lrs": self._get_lrs(indices),
            "wds": self._get_wds(indices),
            "rescale_grad": self.rescale_grad,
        }
        if self.clip_gradient:
            numbers["clip_gradient"] = self.clip_gradient
        if self.momentum > 0:
            numbers["momentum"] = self.momentum
        inputs: list[NDArray] = []
        for weight, grad, state in zip(weights, grads, states, strict=True):
            inputs += [weight, grad]
            mom, *wide = state if half else (state,)
            inputs += [mom, *wide] if self.momentum > 0 else wide
        update = _SEVERAL[half, self.momentum > 0]
        update(*inputs, out=list(weights), num_weights=len(weights), **numbers)


#: The operator by whether weights have a copy in float32, and whether they have momentum.
_SEVERAL: dict[tuple[bool, bool], Any] = {
    (False, False): multi_sgd_update,
    (False, True): multi_sgd_mom_update,
    (True, False): multi_mp_sgd_update,
    (True, True): multi_mp_sgd_mom_update,
}


def _listed(index: Any, weight: Any, grad: Any, state: Any) -> tuple[Any, Any, Any, Any]:
    if isinstance(index, (list, tuple)):
        return index, weight, grad, state
    return [index], [weight], [grad], [state]


@register
class ccSGD(SGD):
    """`SGD` under a name it had once."""


@register
class NAG(_HasMomentum):
    """Nesterov's accelerated gradient: the gradient counts where the momentum leads to.

    Parameters
    ----------
    momentum : float
    **kwargs
        Those of `Optimizer`.
    """

    def __init__(self, momentum: float = 0.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.momentum = momentum

    def create_state_multi_precision(self, index: Any, weight: NDArray) -> Any:
        """Return momentum and copy of a weight in float16, the momentum alone of others."""
        return self._state_and_copy(index, weight)

    def update(self, index: Any, weight: NDArray, grad: NDArray, state: Any) -> None:
        """Take one step with a weight."""
        told = self._common(index)
        if state is None:
            sgd_update(weight, grad, out=weight, **told)
        else:
            nag_mom_update(weight, grad, state, momentum=self.momentum, out=weight, **told)

    def update_multi_precision(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        """Take one step with a weight, on its copy in float32 if it has one."""
        if not self._is_half(weight):
            self.update(index, weight, grad, state)
            return
        mom, wide = state
        told = self._common(index)
        if mom is None:
            mp_sgd_update(weight, grad, wide, out=weight, **told)
        else:
            mp_nag_mom_update(weight, grad, mom, wide, momentum=self.momentum, out=weight, **told)


@register
class Signum(_HasMomentum):
    """Steps of one length for all elements, by the sign of the gradient or of its momentum.

    Parameters
    ----------
    learning_rate : float
    momentum : float
        Share of the moving average of the gradient that stays; with 0 it is SignSGD.
    wd_lh : float
        Decay of the weight itself, which does not pass through the momentum.
    **kwargs
        Those of `Optimizer`.
    """

    def __init__(
        self, learning_rate: float = 0.01, momentum: float = 0.9, wd_lh: float = 0.0, **kwargs: Any
    ) -> None:
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.momentum = momentum
        self.wd_lh = wd_lh

    def update(self, index: Any, weight: NDArray, grad: NDArray, state: Any) -> None:
        """Take one step with a weight."""
        told = self._common(index)
        if state is None:
            signsgd_update(weight, grad, out=weight, **told)
        else:
            told |= {"momentum": self.momentum, "wd_lh": self.wd_lh}
            signum_update(weight, grad, state, out=weight, **told)
