"""`CustomOp` and `CustomOpProp`: what a program derives its own operators from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mxprof_nb.errors import ArgumentError
from mxprof_nb.runtime.context import Context
from mxprof_nb.runtime.nd import NDArray

__all__ = ["CustomOp", "CustomOpProp"]

Shapes = Sequence[Sequence[int]]
Types = Sequence[Any]


class CustomOp:
    """Computes an operator; derive from it.

    One object serves a call and its gradient, so what `forward` keeps in it `backward` finds. In
    a symbol that is bound it serves all calls.
    """

    def forward(
        self,
        is_train: bool,
        req: list[str],
        in_data: list[NDArray],
        out_data: list[NDArray],
        aux: list[NDArray],
    ) -> None:
        """Compute the results; derived classes must have it.

        Parameters
        ----------
        is_train : bool
        req : list of {"null", "write", "inplace", "add"}
            What is to become of each result; `assign` does it.
        in_data : list of NDArray
            To be read only.
        out_data : list of NDArray
            To be written; filled with 0 at first.
        aux : list of NDArray
            Auxiliary states, to be read and written.
        """
        raise NotImplementedError(f"{type(self).__name__} has no method forward.")

    def backward(
        self,
        req: list[str],
        out_grad: list[NDArray],
        in_data: list[NDArray],
        out_data: list[NDArray],
        in_grad: list[NDArray],
        aux: list[NDArray],
    ) -> None:
        """Compute the gradients ``in_grad``; derived classes need it where one is asked for.

        Only what `CustomOpProp.declare_backward_dependency` has named can be used.
        """
        raise NotImplementedError(
            f"{type(self).__name__} has no method backward, so no gradient flows through it."
        )

    def assign(self, dst: NDArray, req: str, src: Any) -> None:
        """Write an array or a number to ``dst`` as ``req`` asks.

        Raises
        ------
        ArgumentError
            ``req`` is none of ``null``, ``write``, ``inplace`` and ``add``.
        """
        if req == "add":
            dst[:] += src
        elif req in ("write", "inplace"):
            dst[:] = src
        elif req != "null":
            raise ArgumentError(f"assign: req={req!r} must be null, write, inplace or add.")


class CustomOpProp:
    """Describes an operator and makes the `CustomOp` that computes it; derive from it.

    Made for each call of ``nd.Custom``, with the call's keyword arguments as text.

    Parameters
    ----------
    need_top_grad : bool
        Whether the gradients of inputs depend on those of the results; not for a loss.
    """

    def __init__(self, need_top_grad: bool = True) -> None:
        self.need_top_grad_ = need_top_grad

    def list_arguments(self) -> list[str]:
        """Return names of the inputs."""
        return ["data"]

    def list_outputs(self) -> list[str]:
        """Return names of the results."""
        return ["output"]

    def list_auxiliary_states(self) -> list[str]:
        """Return names of the states, which calls hand in behind the inputs."""
        return []

    def infer_shape(self, in_shape: list[list[int]]) -> tuple[Shapes, Shapes, Shapes]:
        """Return shapes of inputs, results and states; the states may be left out."""
        return in_shape, [in_shape[0]] * len(self.list_outputs()), []

    def infer_type(self, in_type: list[Any]) -> tuple[Types, Types, Types]:
        """Return types of inputs, results and states; the states may be left out."""
        first = in_type[0] if in_type else np.float32
        outputs, states = len(self.list_outputs()), len(self.list_auxiliary_states())
        return in_type, [first] * outputs, [first] * states

    def declare_backward_dependency(
        self, out_grad: list[int], in_data: list[int], out_data: list[int]
    ) -> Sequence[int]:
        """Return the numbers of what `CustomOp.backward` uses, of those given."""
        return [*(out_grad if self.need_top_grad_ else ()), *in_data, *out_data]

    def create_operator(
        self, ctx: Context, in_shapes: list[list[int]], in_dtypes: list[Any]
    ) -> CustomOp:
        """Return what computes the operator for inputs of these shapes and types."""
        return CustomOp()
