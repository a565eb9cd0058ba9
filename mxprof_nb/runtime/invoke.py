"""`invoke`: the one place through which every operator passes.

It infers the result, promises its memory, queues the work, and returns. What is the same for
every call with inputs of these shapes is worked out once and kept as a `Signature`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray as NumpyArray

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

__all__ = ["Attrs", "Invocation", "invoke"]

#: Attributes that decide the result's shape or type; hashable, sorted by name.
Attrs = tuple[tuple[str, Any], ...]

#: Signatures kept per operator: a program that never repeats itself must not fill the memory.
MAX_SIGNATURES = 10_000

_now = RECORDER.clock.now


@dataclass(frozen=True, slots=True)
class Signature:
    """What all calls of one operator with inputs of the same shapes and types share.

    Attributes
    ----------
    results : tuple of Aval
    label : int
        Label under which it is recorded.
    attrs : dict
    shapes : tuple of tuple of int
        Shapes of the inputs.
    """

    results: tuple[Aval, ...]
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
    outputs : tuple of Chunk
    into : tuple of View, or None
        The parts of the outputs to be written; None for all of new arrays.
    dynamic : tuple
        Numbers that change from call to call without changing the shape.
    """

    __slots__ = ("dynamic", "inputs", "into", "op", "outputs", "signature")

    op: OpSpec
    signature: Signature
    inputs: Sequence[tuple[Chunk, View]]
    outputs: tuple[Chunk, ...]
    into: tuple[View, ...] | None
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


def _signature(op: OpSpec, avals: tuple[Aval, ...], attrs: Attrs) -> Signature:
    named = dict(attrs)
    inferred = op.infer(*avals, **named)
    results: tuple[Aval, ...] = inferred if isinstance(inferred, tuple) else (inferred,)
    taken = ", ".join(str(list(a.shape)) for a in avals)
    made = ", ".join(str(list(a.shape)) for a in results)
    label = RECORDER.labels.number(
        Label(
            op.name,
            "copy" if op.copies else "operator",
            "operator",
            bytes=sum(result.nbytes for result in results),
            shapes=f"{taken} → {made}" if taken else made,
            dtype=results[0].dtype.name,
        )
    )
    return Signature(results, label, named, tuple(a.shape for a in avals))


def invoke(
    op: OpSpec,
    inputs: Sequence[Handle],
    attrs: Attrs = (),
    dynamic: tuple[Any, ...] = (),
    out: Sequence[Handle] | None = None,
    context: Context | None = None,
    place: Place = (None, -1),
) -> Invocation:
    """Queue one operator.

    Parameters
    ----------
    op : OpSpec
    inputs : sequence of Handle
    attrs : tuple of (name, value)
    dynamic : tuple
    out : sequence of Handle, optional
        Arrays to write to, one for each result; new ones by default.
    context : Context, optional
        Where new arrays live; that of the first input by default.
    place : Place
        Where in the program it was called.

    Returns
    -------
    Invocation
        Its outputs are the promised memory, in the order of its signature's results.

    Raises
    ------
    ShapeError
        The inputs do not fit the operator, or a result does not fit its ``out``.
    TypeError
        An input is no array.
    """
    try:
        avals = tuple([i.aval for i in inputs])
    except AttributeError:
        raise _not_an_array(op, inputs) from None
    key = (attrs, avals)
    try:
        signature: Signature = op.signatures[key]
    except KeyError:
        if len(op.signatures) >= MAX_SIGNATURES:
            op.signatures.clear()
        signature = op.signatures[key] = _signature(op, avals, attrs)
    if context is None:
        context = inputs[0].chunk.context if inputs else current_context()
    call = Invocation(_run)
    call.label = signature.label
    call.op = op
    call.signature = signature
    call.place = place
    call.dynamic = dynamic
    call.inputs = parts = [(i.chunk, i.view) for i in inputs]
    if out is None:
        results = signature.results
        if len(results) == 1:
            outputs: tuple[Chunk, ...] = (Chunk(results[0].nbytes, context),)
        else:
            outputs = tuple([Chunk(result.nbytes, context) for result in results])
        call.into = None
        reads = [chunk for chunk, _ in parts]
    else:
        _must_fit(op, signature.results, out)
        outputs = tuple([target.chunk for target in out])
        call.into = tuple([target.view for target in out])
        # A variable may not stand among reads and writes at once: who writes has it to himself.
        reads = [chunk for chunk, _ in parts if chunk not in outputs]
    call.outputs = outputs
    call.reads = reads
    call.writes = outputs
    call.lane = context.lane
    if op.special:
        _ask_for_more(call, context)
    if RECORDER.on:
        call.queued_ns = _now()
    default_engine().push(call)
    return call


def _must_fit(op: OpSpec, results: tuple[Aval, ...], out: Sequence[Handle]) -> None:
    if len(results) != len(out):
        raise ShapeError(f"{op.name} has {len(results)} results; out= names {len(out)}.")
    for result, target in zip(results, out, strict=True):
        if target.aval is not result:
            raise ShapeError(
                f"{op.name} makes {result}, which cannot be written to out={target.aval}. "
                "Shape and type must agree."
            )


def _ask_for_more(call: Invocation, context: Context) -> None:
    """Add what an operator uses besides inputs and outputs."""
    op = call.op
    reads: list[Variable] = list(call.reads)
    writes: list[Variable] = list(call.writes)
    if op.copies:
        # MXNet runs copies between processors' memories on the device they come from.
        source = call.inputs[0][0].context if call.inputs else context
        call.lane = source.copy_lane
    if op.mutates:
        changed = [call.inputs[place][0] for place in op.mutates]
        reads = [chunk for chunk in reads if chunk not in changed]
        writes += [chunk for chunk in dict.fromkeys(changed) if chunk not in writes]
    if op.workspace:
        manager = resources(context)
        if (ready := manager.ready) is not None:
            reads.append(ready)
        if op.draws:
            writes.append(manager.variable)
    call.reads, call.writes = reads, writes


def _run(call: Operator) -> None:
    """Carry a call out; a worker does this."""
    if not isinstance(call, Invocation):
        raise TypeError(f"{call!r} is no invocation")
    op, signature, outputs = call.op, call.signature, call.outputs
    arrays = []
    for chunk, view in call.inputs:
        if chunk.failure is not None:
            _inherit(call, chunk.failure)
            return
        data = chunk.data
        arrays.append(data if view is None or data is None else look(data, view))
    if op.draws:
        generator = resources(outputs[0].context).generator
        made = op.forward(generator, *arrays, *call.dynamic, **signature.attrs)
    elif op.blas:
        with BLAS:
            made = op.forward(*arrays, *call.dynamic, **signature.attrs)
    else:
        made = op.forward(*arrays, *call.dynamic, **signature.attrs)
    if len(outputs) == 1:
        _store(call, outputs[0], call.into[0] if call.into else None, made)
    else:
        views = call.into or (None,) * len(outputs)
        for output, view, data in zip(outputs, views, made, strict=True):
            _store(call, output, view, data)


def _inherit(call: Invocation, failure: object) -> None:
    """Let what the call would have written fail by the first cause."""
    for output in call.outputs:
        output.failure = failure
    for place in call.op.mutates:
        call.inputs[place][0].failure = failure


def _store(call: Invocation, output: Chunk, view: View, data: NumpyArray[Any]) -> None:
    if view is not None:
        if output.data is not None:  # else the whole was never computed, and stays failed
            look(output.data, view)[...] = data
        return
    if data.base is not None and data is not output.data:
        data = np.array(data, order="C")  # a view of an input: results own their memory
    if output.data is None:  # the first write brings the memory along
        call.device = output.context.memory_label
        call.taken += output.nbytes
    output.data = data
    output.failure = None
