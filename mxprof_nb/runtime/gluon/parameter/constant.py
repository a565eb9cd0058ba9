"""`Constant`: an array that a network uses and does not learn."""

from __future__ import annotations

import warnings
from typing import Any

from mxprof_nb.runtime import nd
from mxprof_nb.runtime.gluon.parameter.single import Parameter
from mxprof_nb.runtime.nd import NDArray

__all__ = ["Constant"]


class Constant(Parameter):
    """A parameter with one value from the beginning, and no gradient.

    Parameters
    ----------
    name : str
    value : NDArray or array_like

    Attributes
    ----------
    value : NDArray
    """

    def __init__(self, name: str, value: Any) -> None:
        self.value = value if isinstance(value, NDArray) else nd.array(value)
        super().__init__(
            name, "null", self.value.shape, self.value.dtype, init=self._fill, differentiable=False
        )

    def _fill(self, name: str, arr: NDArray) -> None:
        self.value.copyto(arr)

    @property
    def grad_req(self) -> str:
        """Always ``"null"``."""
        return "null"

    @grad_req.setter
    def grad_req(self, request: str) -> None:
        if request != "null":
            warnings.warn(
                f"Constant {self.name!r} has no gradient; grad_req={request!r} changes nothing.",
                stacklevel=2,
            )
