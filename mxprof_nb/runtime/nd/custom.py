"""`nd.Custom`: calls an operator that the program wrote in Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mxprof_nb.errors import ArgumentError
from mxprof_nb.runtime.context import current_context
from mxprof_nb.runtime.mode import is_training, noting
from mxprof_nb.runtime.nd.array import NDArray, apply_several
from mxprof_nb.runtime.ops.custom import Described, Later, custom

__all__ = ["Custom"]


def Custom(
    *data: NDArray,
    op_type: str = "",
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
    **attributes: Any,
) -> Any:
    """Return what the operator registered as ``op_type`` makes of arrays.

    Parameters
    ----------
    *data : NDArray
        Its inputs, then its auxiliary states; also by name.
    op_type : str
    out : NDArray or list of NDArray, optional
        Arrays to write to, one for each result.
    name : str, optional
        Of no use here; symbols have one.
    **attributes
        Handed on to it as text, as MXNet does.

    Returns
    -------
    NDArray or list of NDArray
        A list for an operator of several results.

    Raises
    ------
    UnknownOperatorError
        There is no such operator.
    CustomOperatorError
        Its description fails or contradicts itself.
    ShapeError, ArgumentError
        Inputs do not fit it, or are missing.
    """
    if not op_type:
        raise ArgumentError("Custom: op_type is missing. Name a registered operator.")
    named = {key: value for key, value in attributes.items() if isinstance(value, NDArray)}
    words = {key: value for key, value in attributes.items() if key not in named}
    described = custom(op_type, words)
    inputs = _in_order(op_type, described, data, named)
    avals = [each.aval for each in inputs]
    if noting() is None:
        context = inputs[0].chunk.context if inputs else current_context()
        computes = described.create(context, avals)
    else:
        context, computes = None, Later(described, avals)
    wanted = [out] if isinstance(out, NDArray) else out
    dynamic = (computes, is_training())
    results = apply_several(described.op, inputs, (), dynamic, out=wanted, context=context)
    return results[0] if len(results) == 1 else results


def _in_order(
    op_type: str, described: Described, data: Sequence[NDArray], named: Mapping[str, NDArray]
) -> list[NDArray]:
    """Return the inputs in the order in which the operator lists them."""
    wanted = [*described.arguments, *described.states]
    for each in data:
        if not isinstance(each, NDArray):
            raise TypeError(
                f"{op_type}: inputs must be NDArrays, not {type(each).__name__}. "
                "Make one with nd.array(...); give other arguments by name."
            )
    given = dict(zip(wanted, data, strict=False))
    twice = given.keys() & named.keys()
    unknown = named.keys() - set(wanted)
    if twice or unknown or len(data) + len(named) != len(wanted):
        told = f"{len(data)}" + (f" and {', '.join(sorted(named))}" if named else "")
        raise ArgumentError(
            f"{op_type}: it takes {len(wanted)} input{'' if len(wanted) == 1 else 's'}"
            f"{f' ({chr(44).join(wanted)})'.replace(',', ', ') if wanted else ''}, got {told}."
        )
    given.update(named)
    return [given[each] for each in wanted]
