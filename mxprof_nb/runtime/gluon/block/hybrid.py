"""`HybridBlock`: a block whose computation is written for arrays and symbols alike."""

from __future__ import annotations

from typing import Any

from mxprof_nb.errors import ArgumentError
from mxprof_nb.runtime import nd
from mxprof_nb.runtime.context import Context
from mxprof_nb.runtime.gluon.block.block import Block, told
from mxprof_nb.runtime.gluon.block.deduction import LENIENT, Unshaped
from mxprof_nb.runtime.gluon.parameter import Parameter
from mxprof_nb.runtime.gluon.parameter.shape import is_known
from mxprof_nb.runtime.nd import NDArray

__all__ = ["HybridBlock"]


class HybridBlock(Block):
    """A block that computes in ``hybrid_forward(self, F, x, *args, **params)``.

    ``F`` is `mx.nd`, ``params`` are the block's parameters by the names of their attributes.
    Extents of parameters that are not known follow from the first data.

    Parameters
    ----------
    prefix, params
        See `Block`.
    """

    def __init__(self, prefix: str | None = None, params: Any = None) -> None:
        super().__init__(prefix, params)
        self._active = False
        self._flags: dict[str, Any] = {}
        self._gives_names = False

    def register_child(self, block: Block, name: str | None = None) -> None:
        """Make a block one of this one's; it must be a `HybridBlock` too."""
        if not isinstance(block, HybridBlock):
            raise ArgumentError(
                f"{type(self).__name__} is a HybridBlock, so its blocks must be some too; "
                f"{type(block).__name__} is none. In Sequential they may be any."
            )
        super().register_child(block, name)

    def hybridize(self, active: bool = True, **kwargs: Any) -> None:
        """Choose whether to compute by a graph; here it is kept, and makes no difference.

        Parameters
        ----------
        active : bool
        **kwargs
            MXNet's options, e.g. ``static_alloc=True``.
        """
        self._active = bool(active)
        self._flags = kwargs
        super().hybridize(active, **kwargs)

    def forward(self, x: Any, *args: Any, **kwargs: Any) -> Any:
        """Give `hybrid_forward` the parameters on the device where the data are."""
        context = x.context if isinstance(x, NDArray) else _device_of((x, *args))
        if context is None:
            raise ArgumentError(
                f"{self.name}: {type(self).__name__} is called with arrays; there is none in "
                f"{told((x, *args))}. Make one with mx.nd.array(...)."
            )
        params: dict[str, Any] = {}
        waiting = [each for each in self._reg_params.values() if each._deferred is not None]
        if waiting:
            waiting = self._still_waiting(waiting, x, *args)
        for name, each in self._reg_params.items():
            params[name] = Unshaped(each, context) if each in waiting else each.data(context)
        F: Any = LENIENT if waiting or self._gives_names else nd
        with context:
            try:
                return self.hybrid_forward(F, x, *args, **kwargs, **params)
            except TypeError as error:
                if F is not nd or "unexpected keyword argument 'name'" not in str(error):
                    raise
            # Functions of arrays take no name; those of symbols do, and a block may give some.
            self._gives_names = True
            return self.hybrid_forward(LENIENT, x, *args, **kwargs, **params)

    def _still_waiting(self, waiting: list[Parameter], *args: Any) -> list[Parameter]:
        """Initialize parameters whose shapes are known by now; return the others.

        A block may have a method ``infer_shape(*args)`` that sets them, as in MXNet's next
        generation.
        """
        infer = getattr(self, "infer_shape", None)
        if infer is not None:
            infer(*args)
        for each in waiting:
            if is_known(each.shape):
                each._finish_deferred_init()
        return [each for each in waiting if each._deferred is not None]

    def hybrid_forward(self, F: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
        """Compute; subclasses say how."""
        raise NotImplementedError(
            f"{type(self).__name__} needs a method hybrid_forward(self, F, x, *args, **params)."
        )


def _device_of(args: Any) -> Context | None:
    """Return where the first array lives."""
    for each in args:
        if isinstance(each, NDArray):
            return each.context
        if isinstance(each, (list, tuple)):
            found = _device_of(each)
            if found is not None:
                return found
    return None
