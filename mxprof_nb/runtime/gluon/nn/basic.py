"""Layers of neurons, of words, and functions as layers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mxprof_nb.errors import ArgumentError
from mxprof_nb.runtime import nd
from mxprof_nb.runtime.gluon.block import Block, HybridBlock
from mxprof_nb.runtime.gluon.block.scope import fwd
from mxprof_nb.runtime.gluon.nn.activations import Activation
from mxprof_nb.runtime.gluon.nn.windows import count, must_be_number

__all__ = ["Dense", "Dropout", "Embedding", "Flatten", "HybridLambda", "Lambda"]


class Dense(HybridBlock):
    """A layer of neurons that are connected to all inputs.

    Parameters
    ----------
    units : int
        How many neurons there are.
    activation : str, optional
        Function of their results, see `Activation`.
    use_bias, flatten : bool
        Without ``flatten`` only the last axis of the data is what neurons are connected to.
    dtype : optional
    weight_initializer, bias_initializer : str or Initializer, optional
    in_units : int
        Number of inputs; 0 if the first data tell.
    **kwargs
        See `Block`.
    """

    def __init__(
        self,
        units: int,
        activation: str | None = None,
        use_bias: bool = True,
        flatten: bool = True,
        dtype: Any = "float32",
        weight_initializer: Any = None,
        bias_initializer: Any = "zeros",
        in_units: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        units, in_units = count("units", units), count("in_units", in_units, least=0)
        self._units = units
        self._in_units = in_units
        self._flatten = flatten
        with self.name_scope():
            self.weight = self.params.get(
                "weight",
                shape=(units, in_units),
                init=weight_initializer,
                dtype=dtype,
                allow_deferred_init=True,
            )
            self.bias = (
                self.params.get(
                    "bias",
                    shape=(units,),
                    init=bias_initializer,
                    dtype=dtype,
                    allow_deferred_init=True,
                )
                if use_bias
                else None
            )
            self.act = Activation(activation, prefix=f"{activation}_") if activation else None

    def hybrid_forward(self, F: Any, x: Any, weight: Any = None, bias: Any = None) -> Any:
        """Return the activation of the sums."""
        sums = F.FullyConnected(
            x,
            weight,
            bias,
            no_bias=bias is None,
            num_hidden=self._units,
            flatten=self._flatten,
            **fwd(F),
        )
        return sums if self.act is None else self.act(sums)

    def __repr__(self) -> str:
        units, inputs = self.weight.shape or (self._units, 0)
        return f"{type(self).__name__}({inputs or None} -> {units}, {self.act or 'linear'})"


class Dropout(HybridBlock):
    """Sets a share of the elements to 0 while training.

    Parameters
    ----------
    rate : float
        The share.
    axes : tuple of int
        Axes along which all elements are dropped together.
    **kwargs
        See `Block`.
    """

    def __init__(self, rate: float, axes: Sequence[int] = (), **kwargs: Any) -> None:
        must_be_number("rate", rate, most=1)
        super().__init__(**kwargs)
        self._rate = rate
        self._axes = axes

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Return the data with less in them."""
        if self._rate > 0:
            return F.Dropout(x, p=self._rate, axes=self._axes, **fwd(F))
        return F.identity(x)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(p = {self._rate}, axes={self._axes})"


class Embedding(HybridBlock):
    """Gives a vector for each number of a word.

    Parameters
    ----------
    input_dim, output_dim : int
        How many words there are, and elements in a vector.
    dtype : optional
    weight_initializer : str or Initializer, optional
    sparse_grad : bool
        Accepted; gradients are dense here.
    **kwargs
        See `Block`.
    """

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        dtype: Any = "float32",
        weight_initializer: Any = None,
        sparse_grad: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        input_dim, output_dim = count("input_dim", input_dim), count("output_dim", output_dim)
        self._kwargs = {
            "input_dim": input_dim,
            "output_dim": output_dim,
            "dtype": dtype,
            "sparse_grad": sparse_grad,
        }
        self.weight = self.params.get(
            "weight",
            shape=(input_dim, output_dim),
            init=weight_initializer,
            dtype=dtype,
            allow_deferred_init=True,
        )

    def hybrid_forward(self, F: Any, x: Any, weight: Any = None) -> Any:
        """Return the vectors."""
        return F.Embedding(x, weight, **self._kwargs, **fwd(F))

    def __repr__(self) -> str:
        told = self._kwargs
        return (
            f"{type(self).__name__}({told['input_dim']} -> {told['output_dim']}, {told['dtype']})"
        )


class Flatten(HybridBlock):
    """Makes all axes but the first one."""

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Return the data with two axes."""
        return F.flatten(x)

    def __repr__(self) -> str:
        return type(self).__name__


class Lambda(Block):
    """A function of arrays as a block.

    Parameters
    ----------
    function : str or callable
        Name of a function of `mx.nd`, or a function.
    prefix : str, optional
    """

    def __init__(self, function: str | Callable[..., Any], prefix: str | None = None) -> None:
        super().__init__(prefix=prefix)
        self._func_impl = _function(function) if isinstance(function, str) else function
        _must_be_callable(self._func_impl)

    def forward(self, *args: Any) -> Any:
        """Return what the function gives."""
        return self._func_impl(*args)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({_name_of(self._func_impl)})"


class HybridLambda(HybridBlock):
    """A function of ``F`` and arrays as a hybrid block.

    Parameters
    ----------
    function : str or callable
        Name of a function of `mx.nd`, or a function whose first argument is ``F``.
    prefix : str, optional
    """

    def __init__(self, function: str | Callable[..., Any], prefix: str | None = None) -> None:
        super().__init__(prefix=prefix)
        if isinstance(function, str):
            _function(function)  # so that a wrong name is told now
        else:
            _must_be_callable(function)
        self._func = function

    def hybrid_forward(self, F: Any, x: Any, *args: Any) -> Any:
        """Return what the function gives."""
        if isinstance(self._func, str):
            return getattr(F, self._func)(x, *args)
        return self._func(F, x, *args)

    def __repr__(self) -> str:
        told = self._func if isinstance(self._func, str) else _name_of(self._func)
        return f"{type(self).__name__}({told})"


def _function(name: str) -> Callable[..., Any]:
    try:
        found: Callable[..., Any] = getattr(nd, name)
    except AttributeError as error:
        raise ArgumentError(f"There is no function {name!r} for a lambda: {error}") from None
    return found


def _must_be_callable(function: object) -> None:
    if not callable(function):
        raise ArgumentError(
            f"A lambda needs a function or the name of one, not {type(function).__name__}."
        )


def _name_of(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", repr(function))
