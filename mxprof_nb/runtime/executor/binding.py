"""`Binding`: how a symbol is tied to arrays; what is given is checked before anything is made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mxprof_nb.errors import ArgumentError, ShapeError, close_match
from mxprof_nb.runtime.calls import recorded
from mxprof_nb.runtime.context import Context, current_context
from mxprof_nb.runtime.executor.executor import Executor
from mxprof_nb.runtime.graph import Entry
from mxprof_nb.runtime.graph.inference import Inference
from mxprof_nb.runtime.nd import NDArray
from mxprof_nb.runtime.ops import Aval, OpSpec, aval
from mxprof_nb.runtime.ops.cost import nothing
from mxprof_nb.runtime.sending import in_bulks
from mxprof_nb.runtime.tape import REQUESTS

__all__ = ["Binding"]

#: What MXNet calls setting new arrays to 0.
_ZEROS = OpSpec(
    "SetValueOp", lambda shape, dtype: np.full(shape, 0, dtype), aval, "Zeros.", flops=nothing
)

#: Arrays by place or by name.
Arrays = Sequence[NDArray] | Mapping[str, NDArray]
#: What becomes of gradients: of all, by place, or by name.
Requests = str | Sequence[str] | Mapping[str, str]


class Binding:
    """Methods of symbols that tie them to arrays."""

    __slots__ = ()

    _entries: tuple[Entry, ...]

    def list_arguments(self) -> list[str]:
        """Return the names of all variables that are no auxiliary states, in order."""
        raise NotImplementedError

    def list_auxiliary_states(self) -> list[str]:
        """Return the names of the variables that operators write."""
        raise NotImplementedError

    def list_outputs(self) -> list[str]:
        """Return the names of the results."""
        raise NotImplementedError

    @recorded("MXExecutorBindEX")
    def bind(
        self,
        ctx: Context,
        args: Arrays,
        args_grad: Arrays | None = None,
        grad_req: Requests = "write",
        aux_states: Arrays | None = None,
        group2ctx: Mapping[str, Context] | None = None,
        shared_exec: Executor | None = None,
    ) -> Executor:
        """Tie the graph to arrays.

        Parameters
        ----------
        ctx : Context
            Where it runs.
        args, aux_states : list or dict of NDArray
            Arguments and auxiliary states, in the order of the lists or by name.
        args_grad : list or dict of NDArray, optional
            Where gradients go; none are computed for arguments without.
        grad_req : {"write", "add", "null"}, or list or dict of them
            What becomes of gradients; ``"null"`` for those that a dict does not name.
        group2ctx, shared_exec
            Without effect: all runs on ``ctx``, in memory of its own.

        Returns
        -------
        Executor

        Raises
        ------
        ArgumentError
            A name is missing, unknown or no request; a list has another length.
        ShapeError
            Shapes or types do not fit; it names the node.
        TypeError
            Something is no array or no context.
        """
        context = _context(ctx)
        names = self.list_arguments()
        given = _arrays("args", args, names)
        states = _arrays("aux_states", aux_states or (), self.list_auxiliary_states())
        grads = _some_arrays("args_grad", args_grad, names)
        requests = _requests(grad_req, names)
        for name, array, grad in zip(names, given, grads, strict=True):
            if grad is not None and grad.aval is not array.aval:
                raise ShapeError(
                    f"args_grad: the gradient of {name!r} has its shape and type, {array.aval}; "
                    f"got {grad.aval}."
                )
        return Executor(self, context, given, grads, requests, states)

    @recorded("_SimpleBindImpl")
    def simple_bind(
        self,
        ctx: Context,
        grad_req: Requests = "write",
        type_dict: Mapping[str, Any] | None = None,
        stype_dict: Mapping[str, str] | None = None,
        group2ctx: Mapping[str, Context] | None = None,
        shared_arg_names: Sequence[str] | None = None,
        shared_exec: Executor | None = None,
        shared_buffer: Mapping[str, NDArray] | None = None,
        **kwargs: Sequence[int],
    ) -> Executor:
        """Tie the graph to new arrays, which are 0.

        Parameters
        ----------
        ctx : Context
            Where it runs.
        grad_req : {"write", "add", "null"}, or list or dict of them
            What becomes of gradients; ``"null"`` for those that a dict does not name.
        type_dict : mapping of str to dtype, optional
            Types of variables by name; the others follow, or are float32.
        stype_dict, group2ctx, shared_arg_names, shared_exec, shared_buffer
            Without effect: arrays are dense, on ``ctx``, and new.
        **kwargs : tuple of int
            Shapes of variables by name; those of parameters follow from that of the data.

        Returns
        -------
        Executor

        Raises
        ------
        ArgumentError
            A name is unknown or no request; a list has another length.
        ShapeError
            Shapes or types do not fit, or do not follow; it names the nodes.
        TypeError
            A shape is none, or ``ctx`` is no context.
        """
        context = _context(ctx)
        names, states = self.list_arguments(), self.list_auxiliary_states()
        requests = _requests(grad_req, names)
        types = {name: np.dtype(each) for name, each in (type_dict or {}).items()}
        shapes = {name: _shape(name, each) for name, each in kwargs.items()}
        _must_be_known("simple_bind", [*types, *shapes], [*names, *states])
        inferred = Inference(self._entries, shapes, types, train=False)
        inferred.must_be_whole()
        found: dict[str, Aval] = {
            node.name: inferred.results[node][0].aval for node in inferred.order if node.is_variable
        }
        args = [_zeros(found[name], context) for name in names]
        grads = [
            None if request == "null" else _zeros(found[name], context)
            for name, request in zip(names, requests, strict=True)
        ]
        kept = [_zeros(found[name], context) for name in states]
        return Executor(self, context, args, grads, requests, kept)

    def eval(self, ctx: Context | None = None, **kwargs: NDArray) -> list[NDArray]:
        """Return the results for arguments by name; bind once to do it often.

        Parameters
        ----------
        ctx : Context, optional
            Where it runs; the current context by default.
        **kwargs : NDArray

        Raises
        ------
        ArgumentError, ShapeError, TypeError
            As for `bind`.
        """
        return self.bind(current_context() if ctx is None else ctx, kwargs).forward()


def _zeros(wanted: Aval, context: Context) -> NDArray:
    attrs = (("shape", wanted.shape), ("dtype", wanted.dtype.name))
    with in_bulks(0) as send:
        call = send(_ZEROS, (), attrs, (), None, context)
    return NDArray._of(call.outputs[0], wanted)


def _context(given: Any) -> Context:
    if not isinstance(given, Context):
        raise TypeError(f"ctx is a context such as mx.cpu(), not {given!r:.60}.")
    return given


def _shape(name: str, given: Any) -> tuple[int, ...]:
    try:
        shape = tuple(given)
        if not all(type(extent) is int and extent >= 0 for extent in shape):
            raise TypeError
    except TypeError:
        raise TypeError(
            f"simple_bind: {name}={given!r:.60} is no shape; give a tuple of lengths."
        ) from None
    return shape


def _must_be_known(what: str, given: Sequence[str], known: Sequence[str]) -> None:
    for name in given:
        if name not in known:
            raise ArgumentError(
                f"{what}: the graph has no variable {name!r}.{close_match(str(name), known)} "
                f"There are {', '.join(map(repr, known[:10])) or 'none'}"
                f"{' and others' if len(known) > 10 else ''}."
            )


def _arrays(what: str, given: Any, names: Sequence[str]) -> list[NDArray]:
    """Return an array for each name."""
    found = _some_arrays(what, given, names)
    missing = [name for name, each in zip(names, found, strict=True) if each is None]
    if missing:
        raise ArgumentError(
            f"{what}: {', '.join(map(repr, missing[:10]))}"
            f"{' and others' if len(missing) > 10 else ''} missing. Give an array for each."
        )
    return [each for each in found if each is not None]


def _some_arrays(what: str, given: Any, names: Sequence[str]) -> list[NDArray | None]:
    """Return an array or None for each name."""
    if given is None:
        return [None] * len(names)
    if isinstance(given, Mapping):
        _must_be_known(what, list(given), names)
        found = [given.get(name) for name in names]
    else:
        found = list(given) if isinstance(given, list | tuple) else [given]
        if isinstance(given, list | tuple) and found and len(found) != len(names):
            raise ArgumentError(
                f"{what} has {len(found)} arrays; the graph has {len(names)} such variables: "
                f"{', '.join(map(repr, names[:10]))}{' and others' if len(names) > 10 else ''}."
            )
        found = found or [None] * len(names)
    for each in found:
        if each is not None and not isinstance(each, NDArray):
            raise TypeError(
                f"{what} is a list or a dict of NDArrays; it has {type(each).__name__}."
            )
    if len(found) != len(names):
        raise TypeError(f"{what} is a list or a dict of NDArrays, not {type(given).__name__}.")
    return found


def _requests(given: Any, names: Sequence[str]) -> list[str]:
    """Return what becomes of each argument's gradient."""
    if isinstance(given, str):
        found = [given] * len(names)
    elif isinstance(given, Mapping):
        _must_be_known("grad_req", list(given), names)
        found = [given.get(name, "null") for name in names]
    elif isinstance(given, list | tuple):
        found = list(given)
        if len(found) != len(names):
            raise ArgumentError(
                f"grad_req has {len(found)} entries; the graph has {len(names)} arguments: "
                f"{', '.join(map(repr, names[:10]))}{' and others' if len(names) > 10 else ''}."
            )
    else:
        raise TypeError(f"grad_req is a word, a list or a dict, not {type(given).__name__}.")
    for each in [given] if isinstance(given, str) else found:
        if each not in REQUESTS:
            raise ArgumentError(
                f"grad_req={each!r:.60} is none of {', '.join(map(repr, REQUESTS))}."
            )
    return found
