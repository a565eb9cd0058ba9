"""Functions that bend what layers compute."""

from __future__ import annotations

from typing import Any

from mxprof_nb.runtime import initializer
from mxprof_nb.runtime.gluon.block import HybridBlock
from mxprof_nb.runtime.gluon.block.scope import fwd
from mxprof_nb.runtime.gluon.nn.windows import must_be_number

__all__ = ["ELU", "GELU", "SELU", "Activation", "LeakyReLU", "PReLU", "Swish"]


class Activation(HybridBlock):
    """A function of each element.

    Parameters
    ----------
    activation : {'relu', 'sigmoid', 'tanh', 'softrelu', 'softsign'}
    **kwargs
        See `Block`.
    """

    def __init__(self, activation: str, **kwargs: Any) -> None:
        self._act_type = activation
        super().__init__(**kwargs)

    def _alias(self) -> str:
        return self._act_type

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Return the function of the data."""
        return F.Activation(x, act_type=self._act_type, **fwd(F))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._act_type})"


class LeakyReLU(HybridBlock):
    """The data above 0, and a fraction of them below.

    Parameters
    ----------
    alpha : float
        The fraction.
    **kwargs
        See `Block`.
    """

    def __init__(self, alpha: float, **kwargs: Any) -> None:
        must_be_number("alpha", alpha)
        super().__init__(**kwargs)
        self._alpha = alpha

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Return the function of the data."""
        return F.LeakyReLU(x, act_type="leaky", slope=self._alpha, **fwd(F))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._alpha})"


class PReLU(HybridBlock):
    """The data above 0, and a fraction of them below, which is learnt.

    Parameters
    ----------
    alpha_initializer : str or Initializer
    in_channels : int
        How many fractions there are: 1, or one for each channel.
    **kwargs
        See `Block`.
    """

    def __init__(self, alpha_initializer: Any = None, in_channels: int = 1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        chosen = initializer.Constant(0.25) if alpha_initializer is None else alpha_initializer
        with self.name_scope():
            self.alpha = self.params.get("alpha", shape=(in_channels,), init=chosen)

    def hybrid_forward(self, F: Any, x: Any, alpha: Any = None) -> Any:
        """Return the function of the data."""
        return F.LeakyReLU(x, gamma=alpha, act_type="prelu", **fwd(F))


class ELU(HybridBlock):
    """The data above 0, and alpha * (exp(x) - 1) below.

    Parameters
    ----------
    alpha : float
    **kwargs
        See `Block`.
    """

    def __init__(self, alpha: float = 1.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._alpha = alpha

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Return the function of the data."""
        return F.LeakyReLU(x, act_type="elu", slope=self._alpha)


class SELU(HybridBlock):
    """An `ELU` with fixed factors, which keeps mean and variance from layer to layer."""

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Return the function of the data."""
        return F.LeakyReLU(x, act_type="selu", **fwd(F))


class GELU(HybridBlock):
    """The data times the share of a normal distribution that lies below them."""

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Return the function of the data."""
        return F.LeakyReLU(x, act_type="gelu", **fwd(F))


class Swish(HybridBlock):
    """The data times the sigmoid of beta times the data.

    Parameters
    ----------
    beta : float
    **kwargs
        See `Block`.
    """

    def __init__(self, beta: float = 1.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._beta = beta

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Return the function of the data."""
        return x * F.sigmoid(self._beta * x)
