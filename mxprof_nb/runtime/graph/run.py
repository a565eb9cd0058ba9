"""Running a `Program`: its steps are queued, in bulks or as segments made beforehand.

::

    arrays = [*inputs, *[None] * (len(program.avals) - len(inputs))]
    with in_bulks(15) as send:
        run(program, arrays, send)
    with in_segments(15, brackets=True) as send:
        run(program, arrays, send, range(3, 9))  # some of the steps only
        go_back(heads, gradients, targets, retain=False, send=send)  # gradients in the same way

`mxprof_nb.runtime.sending` has the senders. ``arrays`` has a place for each of ``program.avals``:
the inputs, and what the steps make. A place that is None is filled by the step that makes it; one
that holds an array is written to. So who keeps ``arrays`` computes in the same memory every time.
"""

from __future__ import annotations

from mxprof_nb.runtime import tape
from mxprof_nb.runtime.context import Context
from mxprof_nb.runtime.graph.program import Program
from mxprof_nb.runtime.handle import Handle
from mxprof_nb.runtime.invoke import Send
from mxprof_nb.runtime.ops.custom import renewed
from mxprof_nb.runtime.sending import in_bulks, in_segments

__all__ = ["in_bulks", "in_segments", "run"]


def run(
    program: Program,
    arrays: list[Handle | None],
    send: Send,
    steps: range | None = None,
    *,
    context: Context | None = None,
    record: bool = False,
    anew: bool = False,
) -> None:
    """Queue the steps of a program.

    Parameters
    ----------
    program : Program
    arrays : list of Handle or None
        For each place of the program; what the steps make is put there.
    send : callable
        From `in_bulks` or `in_segments`.
    steps : range, optional
        Which ones; all by default.
    context : Context, optional
        Where arrays are made by operators without inputs; the current context by default.
    record : bool
        Whether to put the steps on the tape, where gradients may be asked through them.
    anew : bool
        Whether operators written in Python keep nothing from an earlier run.

    Raises
    ------
    ShapeError
        An array does not fit the program.
    OperatorError
        Only under ``NaiveEngine``, which runs each at once: one failed.
    """
    for step in program.steps if steps is None else program.steps[steps.start : steps.stop]:
        inputs = [_present(arrays[place], step.node) for place in step.inputs]
        kept = [arrays[place] for place in step.outputs]
        out = [each for each in kept if each is not None] if None not in kept else None
        dynamic = renewed(step.dynamic) if anew and step.op.python else step.dynamic
        call = send(step.op, inputs, step.attrs, dynamic, out, None if inputs else context)
        if out is None:
            made = call.signature.results
            for place, chunk, aval in zip(step.outputs, call.outputs, made, strict=True):
                handle = Handle()
                handle.chunk, handle.aval, handle.view = chunk, aval, None
                arrays[place] = handle
        if record:
            outputs = [_present(arrays[place], step.node) for place in step.outputs]
            tape.record(step.op, inputs, step.attrs, dynamic, outputs)


def _present(array: Handle | None, node: str) -> Handle:
    if array is None:
        raise LookupError(f"{node}: an input of it was not computed; run the steps before it.")
    return array
