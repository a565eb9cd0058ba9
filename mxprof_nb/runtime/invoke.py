"""`invoke`: the one place through which every operator passes.

It infers the result, promises its memory, queues the work, and returns. What is the same for
every call with inputs of these shapes is worked out once and kept as a `Signature`.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray as NumpyArray

from mxprof_nb.errors import ArgumentError, ShapeError
from mxprof_nb.record import RECORDER, Label
from mxprof_nb.record.sites import Place
from mxprof_nb.runtime.calls import api_label, caller, here
from mxprof_nb.runtime.context import Context, current_context
from mxprof_nb.runtime.engine import Operator, Variable, default
from mxprof_nb.runtime.engine.blas import BLAS, WORTH_THREADS
from mxprof_nb.runtime.handle import Handle, View, look
from mxprof_nb.runtime.ops import Aval, OpSpec
from mxprof_nb.runtime.ops.inference import inferred
from mxprof_nb.runtime.ops.registry import refuse
from mxprof_nb.runtime.pool import empty, owned
from mxprof_nb.runtime.resource import resources
from mxprof_nb.runtime.storage import Chunk

__all__ = ["Attrs", "Invocation", "Send", "invoke", "prepared"]

#: Attributes that decide the result's shape or type; hashable, sorted by name.
Attrs = tuple[tuple[str, Any], ...]

#: Signatures kept per operator, for programs whose shapes never repeat.
MAX_SIGNATURES = 10_000

#: Bytes from which on an element-wise sum gains by memory that was used before.
WORTH_POOLING = 4 * 2**20

_INVOKE = api_label("MXImperativeInvokeEx")
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
    draws : bool
        Whether it draws random numbers.
    shares_blas : bool
        Whether it is a product so large that BLAS may use several threads.
    pooled : bool
        Whether the kernel is one of NumPy's functions and its result so large that memory from the
        pool is worth it; other kernels take it themselves.
    """

    results: tuple[Aval, ...]
    label: int
    attrs: dict[str, Any]
    shapes: tuple[tuple[int, ...], ...]
    draws: bool
    shares_blas: bool
    pooled: bool


class Invocation(Operator):
    """One call of an operator, on its way to a worker.

    Attributes
    ----------
    op : OpSpec
    signature : Signature
    inputs : tuple of Chunk
    views : tuple of View
        Which part of each input is meant.
    outputs : tuple of Chunk
    into : tuple of View, or None
        The parts of the outputs to be written; None for all of new arrays.
    dynamic : tuple
        Numbers that change from call to call without changing the shape.
    """

    __slots__ = ("dynamic", "inputs", "into", "op", "outputs", "signature", "views")

    def __init__(
        self,
        op: OpSpec,
        signature: Signature,
        inputs: tuple[Chunk, ...],
        views: tuple[View, ...],
        outputs: tuple[Chunk, ...],
        into: tuple[View, ...] | None,
        dynamic: tuple[Any, ...],
    ) -> None:
        # Not by way of `Operator.__init__`: a second call would be felt in every operator.
        self.run = _run
        self.reads: Sequence[Variable] = inputs
        self.writes: Sequence[Variable] = outputs
        self.label = signature.label
        self.op = op
        self.signature = signature
        self.inputs = inputs
        self.views = views
        self.outputs = outputs
        self.into = into
        self.dynamic = dynamic

    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """Shapes of its inputs."""
        return self.signature.shapes

    @property
    def results(self) -> Sequence[Variable]:
        """Outputs, and inputs that it changes."""
        mutated = self.op.mutated(len(self.inputs))
        return [*self.outputs, *(self.inputs[place] for place in mutated)]


def _not_an_array(op: OpSpec, inputs: Sequence[object]) -> TypeError:
    place, given = next((n, i) for n, i in enumerate(inputs, 1) if not isinstance(i, Handle))
    return TypeError(
        f"{op.name}: input {place} must be an NDArray, not {type(given).__name__}. "
        "Make one with nd.array(...)."
    )


def _no_attribute(op: OpSpec, avals: tuple[Aval, ...], attrs: Attrs) -> ArgumentError:
    """Return the error for an attribute that is no number and no text: it cannot be hashed."""
    name, given = next((n, v) for n, v in attrs if not isinstance(v, Hashable))
    told = f"{name}={given!r:.60} is of type {type(given).__name__}"
    return refuse(op.name, told, *avals, remedy="Give a number or text.")


def _signature(op: OpSpec, avals: tuple[Aval, ...], attrs: Attrs) -> Signature:
    named = dict(attrs)
    results = inferred(op, avals, named)
    taken = ", ".join(str(list(a.shape)) for a in avals)
    made = ", ".join(str(list(a.shape)) for a in results)
    flops = op.flops(avals, results, named)
    label = RECORDER.labels.number(
        Label(
            op.name,
            "copy" if op.copies else "operator",
            "operator",
            bytes=sum(result.nbytes for result in results),
            flops=flops,
            shapes=f"{taken} → {made}" if taken else made,
            dtype=results[0].dtype.name,
        )
    )
    shapes = tuple(each.shape for each in avals)
    pooled = isinstance(op.forward, np.ufunc) and results[0].nbytes >= WORTH_POOLING
    draws = op.draws or bool(named.get(op.draws_if))
    shared = op.blas and flops >= WORTH_THREADS
    return Signature(results, label, named, shapes, draws, shared, pooled)


def invoke(
    op: OpSpec,
    inputs: Sequence[Handle],
    attrs: Attrs = (),
    dynamic: tuple[Any, ...] = (),
    out: Sequence[Handle] | None = None,
    context: Context | None = None,
) -> Invocation:
    """Queue one operator for the function that calls this; recorded as ``MXImperativeInvokeEx``.

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
    place = caller(2)  # also without a profile: a failure names the line that queued it
    start = _now() if RECORDER.on else 0
    number = -1
    try:
        call = prepared(op, inputs, attrs, dynamic, out, context, place, start)
        number = (default.engine or default.default_engine()).push(call)
        return call
    finally:
        if start:
            # Workers pack what grows long.
            code, offset = place  # twice as fast as a star below
            here.call((start, _now(), _INVOKE, number, code, offset))


class Send(Protocol):
    """Queues an operator: `invoke`, or what `mxprof_nb.runtime.sending` offers instead."""

    def __call__(
        self,
        op: OpSpec,
        inputs: Sequence[Handle],
        attrs: Attrs = (),
        dynamic: tuple[Any, ...] = (),
        out: Sequence[Handle] | None = None,
        context: Context | None = None,
    ) -> Invocation:
        """Queue it; parameters, result and errors as for `invoke`."""


def prepared(
    op: OpSpec,
    inputs: Sequence[Handle],
    attrs: Attrs,
    dynamic: tuple[Any, ...],
    out: Sequence[Handle] | None,
    context: Context | None,
    place: Place,
    queued: int,
) -> Invocation:
    """Return the call of an operator, ready to be queued.

    Parameters
    ----------
    op, inputs, attrs, dynamic, out, context
        As for `invoke`, which also tells what is raised.
    place : Place
        Where in the program it is queued.
    queued : int
        When, in ns; 0 unless somebody records.
    """
    # One and two inputs written out: this is what a small operator costs.
    try:
        if len(inputs) == 2:
            one, two = inputs
            avals: tuple[Aval, ...] = (one.aval, two.aval)
            chunks: tuple[Chunk, ...] = (one.chunk, two.chunk)
            views: tuple[View, ...] = (one.view, two.view)
        elif len(inputs) == 1:
            one = inputs[0]
            avals, chunks, views = (one.aval,), (one.chunk,), (one.view,)
        else:
            avals = tuple([each.aval for each in inputs])
            chunks = tuple([each.chunk for each in inputs])
            views = tuple([each.view for each in inputs])
    except AttributeError:
        raise _not_an_array(op, inputs) from None
    key = (attrs, avals)
    try:
        signature = op.signatures.get(key)
    except TypeError:
        raise _no_attribute(op, avals, attrs) from None
    if signature is None:
        if len(op.signatures) >= MAX_SIGNATURES:
            op.signatures.clear()
        signature = op.signatures[key] = _signature(op, avals, attrs)
        if queued:
            queued = _now()  # that took its time; what follows, less than reading the clock
    if context is None:
        context = chunks[0].context if chunks else current_context()
    results = signature.results
    if out is not None:
        _must_fit(op, results, out)
        outputs = tuple([target.chunk for target in out])
        into = tuple([target.view for target in out])
    else:
        into = None
        if len(results) == 1:
            outputs = (Chunk(results[0].nbytes, context),)
        else:
            outputs = tuple([Chunk(result.nbytes, context) for result in results])
    call = Invocation(op, signature, chunks, views, outputs, into, dynamic)
    call.place = place
    if context.lane:
        call.lane = context.lane
    if into is not None:
        # A variable may not stand among reads and writes at once: who writes has it to himself.
        call.reads = [chunk for chunk in chunks if chunk not in outputs]
        if len(outputs) > 1:
            call.writes = [*dict.fromkeys(outputs)]  # parts of one array are one variable
    if op.special:
        _ask_for_more(call, context)
    if queued:
        call.queued_ns = queued
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
        source = call.inputs[0].context if call.inputs else context
        call.lane, call.bulkable = source.copy_lane, False
    if op.mutates:
        changed = [call.inputs[place] for place in op.mutated(len(call.inputs))]
        reads = [chunk for chunk in reads if chunk not in changed]
        writes += [chunk for chunk in dict.fromkeys(changed) if chunk not in writes]
    draws = call.signature.draws
    if op.workspace or draws:
        manager = resources(context)
        if (ready := manager.ready) is not None:
            reads.append(ready)
        if draws:
            writes.append(manager.variable)
    call.reads, call.writes = reads, writes


def _run(call: Any) -> None:
    """Carry an `Invocation` out; a worker does this."""
    op, outputs, attrs = call.op, call.outputs, call.signature.attrs
    arrays = []
    for chunk, view in zip(call.inputs, call.views):  # noqa: B905  (of one length; strict costs)
        if chunk.failure is not None:
            _inherit(call, chunk.failure)
            return
        data = chunk.data
        arrays.append(data if view is None or data is None else look(data, view))
    if call.signature.draws:
        arrays.insert(0, resources(outputs[0].context).generator)
    if call.dynamic:
        arrays += call.dynamic
    if call.signature.pooled:
        (result,) = call.signature.results
        made = op.forward(*arrays, out=empty(result.shape, result.dtype))
    elif call.signature.shares_blas:
        token = object()
        try:
            BLAS.begin(token)
            made = op.forward(*arrays, **attrs)
        finally:
            BLAS.end(token)
    else:
        made = op.forward(*arrays, **attrs) if attrs else op.forward(*arrays)
    into = call.into
    if into is None and len(outputs) == 1:
        _store(call, outputs[0], made)
        return
    results = made if isinstance(made, tuple) else (made,)
    for output, view, data in zip(outputs, into or (None,) * len(outputs), results, strict=True):
        if view is None:
            _store(call, output, data)
        elif not arrays or data is not arrays[0]:  # what works in place returns that
            _store_part(output, view, data)


def _inherit(call: Invocation, failure: object) -> None:
    """Let what the call would have written fail by the first cause."""
    for variable in call.results:
        variable.failure = failure


def _store(call: Invocation, output: Chunk, data: NumpyArray[Any]) -> None:
    if not owned(data) and data is not output.data:
        data = np.array(data, order="C")  # a view of an input: results own their memory
    if output.data is None:  # the first write brings the memory along
        call.device = output.context.memory_label
        call.taken += output.nbytes
    output.data = data
    output.failure = None


def _store_part(output: Chunk, view: View, data: NumpyArray[Any]) -> None:
    if output.data is not None:  # else the whole was never computed, and stays failed
        look(output.data, view)[...] = data
