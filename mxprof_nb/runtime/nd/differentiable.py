"""`Differentiable`: what an array has to do with gradients; see `mxprof_nb.runtime.autograd`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mxprof_nb.errors import ArgumentError
from mxprof_nb.runtime import api
from mxprof_nb.runtime.ops.elementwise import ZEROS_LIKE
from mxprof_nb.runtime.tape import REQUESTS

if TYPE_CHECKING:
    from mxprof_nb.runtime.nd.array import NDArray

__all__ = ["Differentiable"]


class Differentiable:
    """The methods, for arrays to inherit."""

    __slots__ = ()

    def attach_grad(self: Any, grad_req: str = "write", stype: str | None = None) -> None:
        """Make the array a variable, whose gradient `backward` then computes.

        Parameters
        ----------
        grad_req : {'write', 'add', 'null'}
            Whether a gradient replaces the one before, is added to it, or is not computed.
        stype : str, optional
            How the gradient is stored: ``"default"``, side by side.

        Raises
        ------
        ArgumentError
            There is no such choice.

        Notes
        -----
        Within `autograd.record` the array no longer counts as computed from others.
        """
        if grad_req not in REQUESTS:
            raise ArgumentError(
                f"grad_req={grad_req!r} is not one of {', '.join(map(repr, REQUESTS))}."
            )
        if stype not in (None, "default"):
            raise ArgumentError(f"stype={stype!r}: arrays are stored as 'default' only.")
        call = api.invoke(ZEROS_LIKE, (self,))
        grad = self._of(call.outputs[0], self.aval)
        api.mark_variables((self,), (grad,), (grad_req,))

    @property
    def grad(self: Any) -> Any:
        """Gradient of a variable, zeros before the first `backward`; None for other arrays."""
        found = api.get_grad(self)
        return None if found is None else self._of(found.chunk, found.aval, found.view)

    @property
    def _fresh_grad(self: Any) -> bool:
        """Whether the gradient was computed since this was set to False; for trainers."""
        return api.get_grad_state(self)

    @_fresh_grad.setter
    def _fresh_grad(self: Any, fresh: bool) -> None:
        api.set_grad_state(self, fresh)

    def detach(self: Any) -> NDArray:
        """Return the same array, sharing memory, as one that was not computed from others."""
        found = api.detach(self)
        made: NDArray = self._of(found.chunk, found.aval, found.view)
        return made

    def backward(
        self: Any,
        out_grad: NDArray | None = None,
        retain_graph: bool = False,
        train_mode: bool = True,
    ) -> None:
        """Compute the gradients of all variables that the array depends on.

        Parameters
        ----------
        out_grad : NDArray, optional
            Gradient of this array, in its shape and type; ones by default.
        retain_graph : bool
            Whether to keep what was recorded, to go back once more.
        train_mode : bool
            Without effect: gradients are those of the mode in which operators were called.

        Raises
        ------
        GradientError
            The array was not recorded, or depends on no variable.
        ShapeError
            ``out_grad`` has another shape or type.
        """
        api.backward((self,), (out_grad,), retain_graph)
