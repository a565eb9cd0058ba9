"""`invoke`: the one place through which every operator passes.

It infers the result, promises its memory, queues the work, and returns. What is the same for
every call with inputs of these shapes is worked out once and kept as a `Signature`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mxprof_nb.errors import ShapeError
from mxprof_nb.record import RECORDER, Label
from mxprof_nb.record.sites import Place
from mxprof_nb.runtime.context import Context, current_context
from mxprof_nb.runtime.engine import Operator, Variable, default_engine
from mxprof_nb.runtime.engine.blas import BLAS
from mxprof_nb.runtime.handle import Handle, View, look
from mxprof_nb.runtime.ops import Aval, OpSpec
from mxprof_nb.runtime.resource import resources
from mxprof_nb.runtime.storage import Chunk

__all__ = ["Attrs", "invoke"]

#: Attributes that decide the result's shape or type; hashable, sorted by name.
Attrs = tuple[tuple[str, Any], ...]

#: Signatures kept per operator: a program that never repeats itself must not fill the memory.
MAX_SIGNATURES = 10_000

_now = RECORDER.clock.now


@dataclass(frozen=True, slots=True)
class Signature:
    """What all calls of one operator with inputs of the same shapes and types share."""

    result: Aval
    label: int
    attrs: dict[str, Any]
    shapes: tuple[tuple[int, ...], ...]


class Invocation(Operator):
    """One call of an operator, on its way to a worker.

    Attributes
    ----------
    op : OpSpec
    signature : Signature
    inputs : sequence of (Chunk, View)
    output : Chunk
    into : View
        The part of the output to be written; None for all of it.
    dynamic : tuple
        Numbers that change from call to call without changing the shape.
    """

    __slots__ = ("dynamic", "inputs", "into", "op", "output", "signature")

    op: OpSpec
    signature: Signature
    inputs: Sequence[tuple[Chunk, View]]
    output: Chunk
    into: View
    dynamic: tuple[Any, ...]

    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """Shapes of its inputs."""
        return self.signature.shapes


def _not_an_array(op: OpSpec, inputs: Sequence[object]) -> TypeError:
    place, given = next((n, i) for n, i in enumerate(inputs, 1) if not isinstance(i, Handle))
    return TypeError(
        f"{op.name}: input {place} must be an NDArray, not {type(given).__name__}. "
        "Make one with nd.array(...)."
    )


def _signature(op: OpSpec, avals: Sequence[Aval], attrs: Attrs) -> Signature:
    named = dict(attrs)
    result = op.infer(*avals, **named)
    told = ", ".join(str(list(a.shape)) for a in avals)
    label = RECORDER.labels.number(
        Label(
            op.name,
            "copy" if op.name == "CopyCPU2CPU" else "operator",
            "operator",
            bytes=result.nbytes,
            shapes=f"{told} → {list(result.shape)}" if told else str(list(result.shape)),
            dtype=result.dtype.name,
        )
    )
    return Signature(result, label, named, tuple(a.shape for a in avals))


def invoke(
    op: OpSpec,
    inputs: Sequence[Handle],
    attrs: Attrs = (),
    dynamic: tuple[Any, ...] = (),
    out: Handle | None = None,
    context: Context | None = None,
    place: Place = (None, -1),
) -> tuple[Chunk, Aval, int]:
    """Queue one operator.

    Parameters
    ----------
    op : OpSpec
    inputs : sequence of Handle
    attrs : tuple of (name, value)
    dynamic : tuple
    out : Handle, optional
        Array to write to; a new one by default.
    context : Context, optional
        Where a new array lives; that of the first input by default.
    place : Place
        Where in the program it was called.

    Returns
    -------
    chunk : Chunk
        Memory of the result, promised.
    result : Aval
    number : int
        Number of the queued operator.

    Raises
    ------
    ShapeError
        The inputs do not fit the operator, or the result does not fit ``out``.
    TypeError
        An input is no array.
    """
    try:
        avals = [i.aval for i in inputs]
    except AttributeError:
        raise _not_an_array(op, inputs) from None
    key = (attrs, *avals)
    try:
        signature: Signature = op.signatures[key]
    except KeyError:
        if len(op.signatures) >= MAX_SIGNATURES:
            op.signatures.clear()
        signature = op.signatures[key] = _signature(op, avals, attrs)
    result = signature.result
    if context is None:
        context = inputs[0].chunk.context if inputs else current_context()
    call = Invocation(_run, label=signature.label)
    if out is None:
        call.output = output = Chunk(result.nbytes, context)
        call.into = None
    else:
        if out.aval is not result:
            raise ShapeError(
                f"{op.name} makes {result}, which cannot be written to out={out.aval}. "
                "Shape and type must agree."
            )
        call.output = output = out.chunk
        call.into = out.view
    call.op = op
    call.place = place
    call.signature = signature
    call.inputs = [(i.chunk, i.view) for i in inputs]
    call.dynamic = dynamic
    # A variable may not stand among reads and writes at once: who writes it has it to himself.
    reads: list[Variable] = [i.chunk for i in inputs if i.chunk is not output]
    call.writes = (output,)
    if op.workspace:
        manager = resources(context)
        if (ready := manager.ready) is not None:
            reads.append(ready)
        if op.draws:
            call.writes = (output, manager.variable)
    call.reads = reads
    if RECORDER.on:
        call.queued_ns = _now()
    return output, result, default_engine().push(call)


def _run(call: Operator) -> None:
    """Carry a call out; a worker does this."""
    if not isinstance(call, Invocation):
        raise TypeError(f"{call!r} is no invocation")
    arrays = []
    for chunk, view in call.inputs:
        if chunk.failure is not None:
            call.output.failure = chunk.failure  # dependants inherit the first cause
            return
        data = chunk.data
        arrays.append(data if view is None or data is None else look(data, view))
    op, output = call.op, call.output
    if op.draws:
        generator = resources(output.context).generator
        data = op.forward(generator, *arrays, *call.dynamic, **call.signature.attrs)
    elif op.blas:
        with BLAS:
            data = op.forward(*arrays, *call.dynamic, **call.signature.attrs)
    else:
        data = op.forward(*arrays, *call.dynamic, **call.signature.attrs)
    if call.into is not None:
        if output.data is not None:  # else the whole was never computed, and stays failed
            look(output.data, call.into)[...] = data
        return
    if data.base is not None and data is not output.data:
        data = np.array(data, order="C")  # a view of an input: results own their memory
    if output.data is None:  # the first write brings the memory along
        call.device, call.taken = output.context.memory_label, output.nbytes
    output.data = data
    output.failure = None
