"""The narrow layer between the front end and the engine; what profiles record as API calls.

Create, copy in and out, ask for shape and type, invoke, wait, free: the front end
(`mxprof_nb.runtime.nd`) reaches the engine through these functions alone. Each is recorded under
the name of MXNet's C function that does the same (``src/c_api/c_api.cc``), as often as it is
really called, with the line of the program it came from.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray as NumpyArray

from mxprof_nb.errors import ArgumentError, EngineError, ShapeError
from mxprof_nb.record import RECORDER
from mxprof_nb.runtime import mode
from mxprof_nb.runtime.backward import go_back, heads_of, targets_for, variables_of
from mxprof_nb.runtime.calls import WORTH_TIMING, api_label, here, note_wait, recorded
from mxprof_nb.runtime.context import Context
from mxprof_nb.runtime.engine import default_engine
from mxprof_nb.runtime.engine.threaded import WAIT_FOR_ALL, WAIT_FOR_VAR
from mxprof_nb.runtime.handle import Handle, look
from mxprof_nb.runtime.invoke import invoke
from mxprof_nb.runtime.ops import Aval, aval
from mxprof_nb.runtime.resource import resources, seed_all
from mxprof_nb.runtime.storage import Chunk, allocate, bring
from mxprof_nb.runtime.tape import REQUESTS, Leaf, bare, place_of

__all__ = [
    "at",
    "backward",
    "copy_from_cpu",
    "copy_to_cpu",
    "create",
    "detach",
    "free",
    "get_context",
    "get_dtype",
    "get_grad",
    "get_grad_state",
    "get_shape",
    "gradients",
    "invoke",
    "is_recording",
    "is_training",
    "mark_variables",
    "random_seed",
    "reshape",
    "set_grad_state",
    "set_recording",
    "set_training",
    "slice_rows",
    "wait_all",
    "wait_to_read",
]

#: Failures that `wait_all` describes besides the first.
MAX_NOTES = 10

_now = RECORDER.clock.now


@recorded("MXNDArrayCreateEx")
def create(shape: tuple[int, ...], dtype: np.dtype[Any], context: Context) -> tuple[Chunk, Aval]:
    """Make an array with uninitialised memory."""
    if any(extent < 0 for extent in shape):
        raise ShapeError(f"shape {shape}: no extent may be negative.")
    return allocate(shape, dtype, context), aval(shape, dtype)


@recorded("MXNDArraySyncCopyFromCPU")
def copy_from_cpu(handle: Handle, source: NumpyArray[Any]) -> None:
    """Copy NumPy data in, after everything queued that uses the memory."""
    chunk = handle.chunk
    _wait_for(chunk, to_write=True)
    if chunk.data is not None:
        look(chunk.data, handle.view)[...] = source
    elif handle.view is None:
        bring(chunk, np.array(source, dtype=handle.aval.dtype, order="C"))
    elif chunk.failure is not None:
        raise chunk.failure.error()  # a part of a value that was never computed
    if handle.view is None:
        chunk.failure = None


@recorded("MXNDArraySyncCopyToCPU")
def copy_to_cpu(handle: Handle, target: NumpyArray[Any]) -> None:
    """Wait for the value and copy it out."""
    _settle(handle.chunk)
    data = handle.chunk.data
    if data is not None:
        target[...] = look(data, handle.view)
    elif handle.aval.size:
        raise EngineError(
            "This array has no value: the call that should have made it was interrupted, or it is "
            "the result of an executor that has not run. Make it again, or call forward()."
        )


@recorded("MXNDArrayGetShapeEx")
def get_shape(handle: Handle) -> tuple[int, ...]:
    """Return the shape; known without waiting."""
    return handle.aval.shape


@recorded("MXNDArrayGetDType")
def get_dtype(handle: Handle) -> np.dtype[Any]:
    """Return the type of the elements; known without waiting."""
    return handle.aval.dtype


@recorded("MXNDArrayGetContext")
def get_context(handle: Handle) -> Context:
    """Return the device the array lives on."""
    return handle.chunk.context.base


@recorded("MXNDArrayAt")
def at(handle: Handle, position: int) -> tuple[Aval, int]:
    """Return shape and first element of one row, which shares the array's memory."""
    rest = handle.aval.shape[1:]
    part = aval(rest or (1,), handle.aval.dtype)
    first = handle.view[0] if handle.view else 0
    return part, first + position * part.size


@recorded("MXNDArraySlice")
def slice_rows(handle: Handle, begin: int, end: int) -> tuple[Aval, int]:
    """Return shape and first element of some rows, which share the array's memory."""
    shape = handle.aval.shape
    row = handle.aval.size // shape[0] if shape[0] else 0
    first = handle.view[0] if handle.view else 0
    return aval((end - begin, *shape[1:]), handle.aval.dtype), first + begin * row


@recorded("MXNDArrayReshape64")
def reshape(handle: Handle, shape: tuple[int, ...]) -> tuple[Aval, int]:
    """Return the array in another shape, sharing its memory."""
    part = aval(shape, handle.aval.dtype)
    if part.size != handle.aval.size:
        raise ShapeError(
            f"reshape: {handle.aval} has {handle.aval.size:,} elements, shape {shape} needs "
            f"{part.size:,}."
        )
    return part, handle.view[0] if handle.view else 0


@recorded("MXNDArrayWaitToRead")
def wait_to_read(handle: Handle) -> None:
    """Wait for the value.

    Raises
    ------
    OperatorError
        It could not be computed.
    """
    _settle(handle.chunk)


@recorded("MXNDArrayWaitAll")
def wait_all() -> None:
    """Wait until nothing is queued.

    Raises
    ------
    OperatorError
        The first failure that no sync point has raised yet; its notes name the others.
    """
    engine = default_engine()
    note_wait(WAIT_FOR_ALL, engine.wait_all)
    failures = engine.untold()
    if failures:
        error = failures[0].error()
        for other in failures[1 : MAX_NOTES + 1]:
            error.add_note(f"Also failed: {other.error()}")
        if len(failures) > MAX_NOTES + 1:
            error.add_note(f"{len(failures) - MAX_NOTES - 1:,} more failed.")
        raise error


@recorded("MXRandomSeed")
def random_seed(number: int, context: Context | None) -> None:
    """Queue the start of a new sequence of random numbers, on all devices for None."""
    if context is None:
        seed_all(number)
    else:
        resources(context).seed(number)


# Gradients


@recorded("MXAutogradSetIsRecording")
def set_recording(recording: bool) -> bool:
    """Choose for this thread, and return what was chosen before."""
    return mode.set_recording(recording)


@recorded("MXAutogradSetIsTraining")
def set_training(training: bool) -> bool:
    """Choose for this thread, and return what was chosen before."""
    return mode.set_training(training)


@recorded("MXAutogradIsRecording")
def is_recording() -> bool:
    """Whether this thread records."""
    return mode.is_recording()


@recorded("MXAutogradIsTraining")
def is_training() -> bool:
    """Whether this thread trains."""
    return mode.is_training()


@recorded("MXAutogradMarkVariables")
def mark_variables(
    variables: Sequence[Handle], gradients: Sequence[Handle], requests: Sequence[str]
) -> None:
    """Make arrays variables, whatever they were computed from."""
    for variable, gradient, request in zip(variables, gradients, requests, strict=True):
        if gradient.aval is not variable.aval:
            raise ShapeError(
                f"The gradient of {variable.aval} has its shape and type, not {gradient.aval}."
            )
        if request not in REQUESTS:
            raise ArgumentError(
                f"grad_req={request!r} is not one of {', '.join(map(repr, REQUESTS))}."
            )
    for variable, gradient, request in zip(variables, gradients, requests, strict=True):
        leaf = Leaf(variable.aval, variable.chunk.context, request, bare(gradient))
        variable.entry = (leaf, 0)


@recorded("MXAutogradBackwardEx")
def backward(
    heads: Sequence[Handle], head_gradients: Sequence[Handle | None], retain: bool
) -> None:
    """Queue what computes the gradients of all variables that the heads depend on."""
    places = heads_of(heads)
    go_back(places, head_gradients, variables_of(places), retain)


@recorded("MXAutogradBackwardEx")
def gradients(
    heads: Sequence[Handle],
    head_gradients: Sequence[Handle | None],
    variables: Sequence[Handle],
    retain: bool,
) -> list[Handle]:
    """Queue what computes the gradients of some variables, and return them."""
    places = heads_of(heads)
    targets = targets_for(places, variables)
    go_back(places, head_gradients, targets, retain)
    return [target for _, target in targets.values()]


@recorded("MXNDArrayGetGrad")
def get_grad(handle: Handle) -> Handle | None:
    """Return where the gradient of a variable is written, None for what is no variable."""
    leaf = _leaf_of(handle)
    return leaf.grad if leaf else None


@recorded("MXNDArrayGetGradState")
def get_grad_state(handle: Handle) -> bool:
    """Whether the gradient of a variable was written since `set_grad_state`."""
    leaf = _leaf_of(handle)
    return leaf is not None and leaf.fresh


@recorded("MXNDArraySetGradState")
def set_grad_state(handle: Handle, fresh: bool) -> None:
    """Say whether somebody still has to use the gradient of a variable."""
    if leaf := _leaf_of(handle):
        leaf.fresh = bool(fresh)


@recorded("MXNDArrayDetach")
def detach(handle: Handle) -> Handle:
    """Return the same array without where it comes from."""
    return bare(handle)


def _leaf_of(handle: Handle) -> Leaf | None:
    edge = place_of(handle)
    return edge[0] if edge is not None and isinstance(edge[0], Leaf) else None


_FREE = api_label("MXNDArrayFree")


def free(handle: Handle) -> None:
    """Drop an array while recording; its memory goes when no queued operator needs it any more.

    The line is not looked up: an array is dropped wherever its last name happens to go.
    """
    try:
        chunk = handle.chunk
    except AttributeError:
        return  # Ctrl-C left it half made
    if chunk.nbytes < WORTH_TIMING:
        here.drop((_now(), _FREE))
        return
    start = _now()
    del handle.chunk, chunk
    here.call((start, _now(), _FREE, -1, None, -1))


def _settle(chunk: Chunk) -> None:
    """Wait for a value and raise if it could not be computed."""
    _wait_for(chunk)
    if chunk.failure is not None:
        raise chunk.failure.error()


def _wait_for(chunk: Chunk, *, to_write: bool = False) -> None:
    engine = default_engine()
    note_wait(WAIT_FOR_VAR, lambda: engine.wait_for(chunk, to_write=to_write))
