"""Layers that give their data mean 0 and deviation 1."""

from __future__ import annotations

from typing import Any

import numpy as np

from mxprof_nb.runtime.gluon.block import HybridBlock
from mxprof_nb.runtime.gluon.block.scope import fwd

__all__ = ["BatchNorm", "GroupNorm", "InstanceNorm", "LayerNorm"]


class _Norm(HybridBlock):
    """A layer with a scale gamma and a shift beta.

    Parameters
    ----------
    options : dict
        What is shown of it.
    size : int
        Length of gamma and beta, 0 if the first data tell.
    scale, center : bool
        Whether they are learnt.
    gamma_initializer, beta_initializer : str or Initializer
    differentiable : bool
        Whether those that are not learnt may be later.
    **kwargs
        See `Block`.
    """

    def __init__(
        self,
        options: dict[str, Any],
        size: int,
        scale: bool,
        center: bool,
        gamma_initializer: Any,
        beta_initializer: Any,
        differentiable: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._kwargs = options
        self.gamma = self.params.get(
            "gamma",
            grad_req="write" if scale else "null",
            shape=(size,),
            init=gamma_initializer,
            allow_deferred_init=True,
            differentiable=scale or differentiable,
        )
        self.beta = self.params.get(
            "beta",
            grad_req="write" if center else "null",
            shape=(size,),
            init=beta_initializer,
            allow_deferred_init=True,
            differentiable=center or differentiable,
        )

    def _told(self) -> str:
        return ", ".join(f"{name}={value!r}" for name, value in self._kwargs.items())

    def _length(self) -> int:
        return (self.gamma.shape or (0,))[0]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._told()}, in_channels={self._length()})"


class BatchNorm(_Norm):
    """Gives each channel of a batch mean 0 and deviation 1, then scale and shift.

    While training, running averages of mean and variance are kept, for prediction.

    Parameters
    ----------
    axis : int
        Axis of the channels.
    momentum : float
        Share of the running averages that stays with each batch.
    epsilon : float
        Added to the variance.
    center, scale : bool
        Whether shift and scale are learnt.
    use_global_stats : bool
        Whether running averages are used for training too.
    beta_initializer, gamma_initializer : str or Initializer
    running_mean_initializer, running_variance_initializer : str or Initializer
    in_channels : int
        0 if the first data tell.
    **kwargs
        See `Block`.
    """

    def __init__(
        self,
        axis: int = 1,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        center: bool = True,
        scale: bool = True,
        use_global_stats: bool = False,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        running_mean_initializer: Any = "zeros",
        running_variance_initializer: Any = "ones",
        in_channels: int = 0,
        **kwargs: Any,
    ) -> None:
        options = {
            "axis": axis,
            "eps": epsilon,
            "momentum": momentum,
            "fix_gamma": not scale,
            "use_global_stats": use_global_stats,
        }
        super().__init__(
            options,
            in_channels,
            scale,
            center,
            gamma_initializer,
            beta_initializer,
            differentiable=False,
            **kwargs,
        )
        self.running_mean = self._running("running_mean", running_mean_initializer)
        self.running_var = self._running("running_var", running_variance_initializer)

    def _running(self, name: str, init: Any) -> Any:
        return self.params.get(
            name,
            grad_req="null",
            shape=self.gamma.shape,
            init=init,
            allow_deferred_init=True,
            differentiable=False,
        )

    def cast(self, dtype: Any) -> None:
        """Change the type of all parameters; of half precision is only the data."""
        super().cast("float32" if np.dtype(dtype) == np.float16 else dtype)

    def hybrid_forward(
        self,
        F: Any,
        x: Any,
        gamma: Any = None,
        beta: Any = None,
        running_mean: Any = None,
        running_var: Any = None,
    ) -> Any:
        """Return the data, normalized."""
        return F.BatchNorm(x, gamma, beta, running_mean, running_var, **self._kwargs, **fwd(F))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._told()}, in_channels={self._length() or None})"


class LayerNorm(_Norm):
    """Gives each sample mean 0 and deviation 1 along an axis, then scale and shift.

    Parameters
    ----------
    axis : int
    epsilon : float
        Added to the variance.
    center, scale : bool
        Whether shift and scale are learnt.
    beta_initializer, gamma_initializer : str or Initializer
    in_channels : int
        Length of the axis, 0 if the first data tell.
    prefix, params
        See `Block`.
    """

    def __init__(
        self,
        axis: int = -1,
        epsilon: float = 1e-5,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        in_channels: int = 0,
        prefix: str | None = None,
        params: Any = None,
    ) -> None:
        super().__init__(
            {"eps": epsilon, "axis": axis, "center": center, "scale": scale},
            in_channels,
            scale,
            center,
            gamma_initializer,
            beta_initializer,
            prefix=prefix,
            params=params,
        )

    def hybrid_forward(self, F: Any, data: Any, gamma: Any = None, beta: Any = None) -> Any:
        """Return the data, normalized."""
        told = self._kwargs
        return F.LayerNorm(data, gamma=gamma, beta=beta, axis=told["axis"], eps=told["eps"])


class InstanceNorm(_Norm):
    """Gives each channel of each sample mean 0 and deviation 1, then scale and shift.

    Parameters
    ----------
    axis : int
        Axis of the channels.
    epsilon, center, scale, beta_initializer, gamma_initializer, in_channels
        See `LayerNorm`.
    **kwargs
        See `Block`.
    """

    def __init__(
        self,
        axis: int = 1,
        epsilon: float = 1e-5,
        center: bool = True,
        scale: bool = False,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        in_channels: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            {"eps": epsilon, "axis": axis, "center": center, "scale": scale},
            in_channels,
            scale,
            center,
            gamma_initializer,
            beta_initializer,
            **kwargs,
        )

    def hybrid_forward(self, F: Any, x: Any, gamma: Any = None, beta: Any = None) -> Any:
        """Return the data, normalized."""
        axis, eps = self._kwargs["axis"], self._kwargs["eps"]
        if axis == 1:
            return F.InstanceNorm(x, gamma, beta, eps=eps, **fwd(F))
        turned = F.InstanceNorm(x.swapaxes(1, axis), gamma, beta, eps=eps, **fwd(F))
        return turned.swapaxes(1, axis)


class GroupNorm(_Norm):
    """Gives each group of channels of each sample mean 0 and deviation 1, then scale and shift.

    Parameters
    ----------
    num_groups : int
    epsilon, center, scale, beta_initializer, gamma_initializer, prefix, params
        See `LayerNorm`.
    """

    def __init__(
        self,
        num_groups: int = 1,
        epsilon: float = 1e-5,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        prefix: str | None = None,
        params: Any = None,
    ) -> None:
        super().__init__(
            {"eps": epsilon, "num_groups": num_groups, "center": center, "scale": scale},
            num_groups,
            scale,
            center,
            gamma_initializer,
            beta_initializer,
            prefix=prefix,
            params=params,
        )

    def hybrid_forward(self, F: Any, data: Any, gamma: Any = None, beta: Any = None) -> Any:
        """Return the data, normalized."""
        told = self._kwargs
        return F.GroupNorm(
            data, gamma=gamma, beta=beta, num_groups=told["num_groups"], eps=told["eps"]
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._told()})"
