"""`reshaped`: an executor of the same graph for other shapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from mxprof_nb.errors import ArgumentError
from mxprof_nb.runtime import nd
from mxprof_nb.runtime.executor.executor import Executor, named
from mxprof_nb.runtime.graph.inference import Inference
from mxprof_nb.runtime.nd import NDArray
from mxprof_nb.runtime.ops import Aval

__all__ = ["reshaped"]


def reshaped(
    executor: Executor,
    partial_shaping: bool,
    allow_up_sizing: bool,
    shapes: Mapping[str, Sequence[int]],
) -> Executor:
    """Return the executor; parameters and errors as for `Executor.reshape`."""
    arguments, states = executor.arg_dict, executor.aux_dict
    for name in shapes:
        named(arguments | states, name, "variable")
    types = {name: each.dtype for name, each in (arguments | states).items()}
    known = {name: tuple(shape) for name, shape in shapes.items()}
    inferred = Inference(executor.symbol._entries, known, types, train=False)
    inferred.must_be_whole()
    found = {
        node.name: inferred.results[node][0].aval for node in inferred.order if node.is_variable
    }

    def fitting(name: str, array: NDArray | None) -> NDArray | None:
        if array is None or array.aval is found[name]:
            return array
        if name not in shapes and not partial_shaping:
            raise ArgumentError(
                f"reshape(): the shape of {name!r} changes from {array.shape} to "
                f"{found[name].shape} and it is not named. Name it, or allow it by "
                "partial_shaping=True."
            )
        return _part(name, array, found[name], allow_up_sizing)

    return Executor(
        executor.symbol,
        executor.context,
        [_present(fitting(name, each)) for name, each in arguments.items()],
        [fitting(name, each) for name, each in executor.grad_dict.items()],
        executor.requests,
        [_present(fitting(name, each)) for name, each in states.items()],
    )


def _part(name: str, array: NDArray, wanted: Aval, allow_up_sizing: bool) -> NDArray:
    """Return the first elements of an array in another shape, or a new one if it is too small."""
    size = prod(wanted.shape)
    if size <= array.size:
        return array.reshape((-1,))[:size].reshape(wanted.shape)
    if not allow_up_sizing:
        raise ArgumentError(
            f"reshape(): {name!r} grows from {array.shape} to {wanted.shape}. Allow it by "
            "allow_up_sizing=True; its values are lost then."
        )
    return nd.zeros(wanted.shape, array.context, wanted.dtype)


def _present(array: NDArray | None) -> NDArray:
    assert array is not None  # only gradients may be absent
    return array
