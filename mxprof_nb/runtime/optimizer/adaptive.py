"""Optimisers that give each element of a weight a rate of its own, by the gradients it had."""

from __future__ import annotations

from math import sqrt
from typing import Any

from mxprof_nb.runtime import nd
from mxprof_nb.runtime.nd import NDArray
from mxprof_nb.runtime.optimizer.base import Optimizer, register, zeros_for

__all__ = ["AdaDelta", "AdaGrad", "Adam", "Adamax", "Ftrl", "Nadam", "RMSProp"]


class _MeanAndSquare(Optimizer):
    """An optimiser whose state is two moving averages: of the gradient, and of its size."""

    def create_state(self, index: Any, weight: NDArray) -> tuple[NDArray, NDArray]:
        """Return both, 0 at first."""
        return zeros_for(weight), zeros_for(weight)


@register
class Adam(_MeanAndSquare):
    """Adam (Kingma and Ba 2014).

    Parameters
    ----------
    learning_rate : float
    beta1, beta2 : float
        Shares of the moving averages of the gradient and of its square that stay.
    epsilon : float
        Added to the root of the latter.
    lazy_update : bool
        Concerns sparse gradients, of which there are none.
    **kwargs
        Those of `Optimizer`.
    """

    def __init__(
        self,
        learning_rate: float = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        lazy_update: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon
        self.lazy_update = lazy_update

    def update(self, index: Any, weight: NDArray, grad: NDArray, state: Any) -> None:
        """Take one step with a weight."""
        told = self._common(index)
        done = self._index_update_count[index]
        # Both averages begin at 0, and so are too small at first.
        told["lr"] *= sqrt(1 - self.beta2**done) / (1 - self.beta1**done)
        told |= {"beta1": self.beta1, "beta2": self.beta2, "epsilon": self.epsilon}
        mean, var = state
        nd.adam_update(weight, grad, mean, var, out=weight, **told)


@register
class RMSProp(Optimizer):
    """RMSProp (Tieleman and Hinton 2012), or with ``centered`` that of Graves (2013).

    Parameters
    ----------
    learning_rate : float
    gamma1 : float
        Share of the moving averages that stays.
    gamma2 : float
        Momentum, if centred.
    epsilon : float
    centered : bool
        Whether the square of the mean is taken off the mean square.
    clip_weights : float, optional
        Bound for the size of new weights.
    **kwargs
        Those of `Optimizer`.
    """

    def __init__(
        self,
        learning_rate: float = 0.001,
        gamma1: float = 0.9,
        gamma2: float = 0.9,
        epsilon: float = 1e-8,
        centered: bool = False,
        clip_weights: float | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.gamma1 = gamma1
        self.gamma2 = gamma2
        self.epsilon = epsilon
        self.centered = centered
        self.clip_weights = clip_weights

    def create_state(self, index: Any, weight: NDArray) -> tuple[NDArray, ...]:
        """Return the mean square, and if centred mean and momentum too, 0 at first."""
        return tuple(zeros_for(weight) for _ in range(3 if self.centered else 1))

    def update(self, index: Any, weight: NDArray, grad: NDArray, state: Any) -> None:
        """Take one step with a weight."""
        told = self._common(index) | {"gamma1": self.gamma1, "epsilon": self.epsilon}
        if self.clip_weights:
            told["clip_weights"] = self.clip_weights
        if self.centered:
            told["gamma2"] = self.gamma2
            n, g, delta = state
            nd.rmspropalex_update(weight, grad, n, g, delta, out=weight, **told)
        else:
            nd.rmsprop_update(weight, grad, state[0], out=weight, **told)


@register
class Ftrl(_MeanAndSquare):
    """FTRL-Proximal (McMahan et al. 2013), which leaves weights at 0 that matter little.

    Parameters
    ----------
    lamda1 : float
        Penalty on the size of weights.
    learning_rate : float
    beta : float
    **kwargs
        Those of `Optimizer`; ``wd`` is the penalty on squares.
    """

    def __init__(
        self, lamda1: float = 0.01, learning_rate: float = 0.1, beta: float = 1, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.lamda1 = lamda1
        self.beta = beta
        self.lr = learning_rate

    def update(self, index: Any, weight: NDArray, grad: NDArray, state: Any) -> None:
        """Take one step with a weight."""
        told = self._common(index) | {"lamda1": self.lamda1, "beta": self.beta}
        z, n = state
        nd.ftrl_update(weight, grad, z, n, out=weight, **told)


# Those that MXNet composes of operators, so that profiles show these


class _Composed(Optimizer):
    def _rescaled(self, grad: NDArray) -> NDArray:
        return self._clipped(grad * self.rescale_grad)

    def _clipped(self, grad: NDArray) -> NDArray:
        if self.clip_gradient is None:
            return grad
        return nd.clip(grad, -self.clip_gradient, self.clip_gradient)

    def _decayed(self, weight: NDArray, grad: NDArray, wd: float) -> NDArray:
        return self._clipped(grad * self.rescale_grad + weight * wd)


@register
class AdaGrad(_Composed):
    """AdaGrad (Duchi et al. 2011).

    Parameters
    ----------
    eps : float
        Added to the sum of squares.
    **kwargs
        Those of `Optimizer`.
    """

    def __init__(self, eps: float = 1e-7, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.float_stable_eps = eps

    def create_state(self, index: Any, weight: NDArray) -> NDArray:
        """Return the sum of the gradient's squares, 0 at first."""
        return zeros_for(weight)

    def update(self, index: Any, weight: NDArray, grad: NDArray, state: Any) -> None:
        """Take one step with a weight."""
        told = self._common(index)
        slope = self._rescaled(grad)
        state += nd.square(slope)
        step = slope / nd.sqrt(state + self.float_stable_eps)
        weight += (step + weight * told["wd"]) * -told["lr"]


@register
class AdaDelta(_Composed, _MeanAndSquare):
    """AdaDelta (Zeiler 2012), whose steps are as long as those before; it has no learning rate.

    Parameters
    ----------
    rho : float
        Share of the moving averages that stays.
    epsilon : float
        Added to both.
    **kwargs
        Those of `Optimizer`.
    """

    def __init__(self, rho: float = 0.9, epsilon: float = 1e-5, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.rho = rho
        self.epsilon = epsilon

    def update(self, index: Any, weight: NDArray, grad: NDArray, state: Any) -> None:
        """Take one step with a weight."""
        wd = self._common(index)["wd"]
        slope = self._rescaled(grad)
        square, moved = state
        square *= self.rho
        square += slope * (1 - self.rho) * slope
        step = nd.sqrt(moved + self.epsilon) / nd.sqrt(square + self.epsilon) * slope
        moved *= self.rho
        moved += step * (1 - self.rho) * step
        weight -= step + weight * wd


@register
class Adamax(_Composed, _MeanAndSquare):
    """Adam with the largest size of the gradient instead of its mean square.

    Parameters
    ----------
    learning_rate, beta1, beta2 : float
        As for `Adam`.
    **kwargs
        Those of `Optimizer`.
    """

    def __init__(
        self,
        learning_rate: float = 0.002,
        beta1: float = 0.9,
        beta2: float = 0.999,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.beta1 = beta1
        self.beta2 = beta2

    def update(self, index: Any, weight: NDArray, grad: NDArray, state: Any) -> None:
        """Take one step with a weight."""
        told = self._common(index)
        rate = told["lr"] / (1 - self.beta1 ** self._index_update_count[index])
        slope = self._decayed(weight, grad, told["wd"])
        mean, largest = state
        mean *= self.beta1
        mean += slope * (1 - self.beta1)
        largest[:] = nd.maximum(largest * self.beta2, nd.abs(slope))
        weight -= mean * rate / largest


@register
class Nadam(_Composed, _MeanAndSquare):
    """Adam with Nesterov's momentum (Dozat 2016).

    Parameters
    ----------
    learning_rate, beta1, beta2, epsilon : float
        As for `Adam`.
    schedule_decay : float
        How fast the momentum rises to ``beta1``.
    **kwargs
        Those of `Optimizer`.
    """

    def __init__(
        self,
        learning_rate: float = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        schedule_decay: float = 0.004,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon
        self.schedule_decay = schedule_decay
        #: Product of all momenta so far, one for each update of any weight, as in MXNet.
        self.m_schedule = 1.0

    def _momentum(self, update: int) -> float:
        momentum: float = self.beta1 * (1 - 0.5 * 0.96 ** (update * self.schedule_decay))
        return momentum

    def update(self, index: Any, weight: NDArray, grad: NDArray, state: Any) -> None:
        """Take one step with a weight."""
        told = self._common(index)
        done = self._index_update_count[index]
        slope = self._decayed(weight, grad, told["wd"])
        now, then = self._momentum(done), self._momentum(done + 1)
        self.m_schedule *= now
        mean, square = state
        mean *= self.beta1
        mean += slope * (1 - self.beta1)
        square *= self.beta2
        square += slope * (1 - self.beta2) * slope
        ahead = slope / (1 - self.m_schedule) * (1 - now)
        ahead = ahead + mean / (1 - self.m_schedule * then) * then
        root = nd.sqrt(square / (1 - self.beta2**done)) + self.epsilon
        weight -= ahead * told["lr"] / root
