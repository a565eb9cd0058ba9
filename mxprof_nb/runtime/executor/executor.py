"""`Executor`: a graph tied to arrays, run forward and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray as NumpyArray

from mxprof_nb.errors import ArgumentError, GradientError, ShapeError, close_match
from mxprof_nb.runtime.backward import Target
from mxprof_nb.runtime.calls import recorded
from mxprof_nb.runtime.context import Context
from mxprof_nb.runtime.executor.passes import Pass
from mxprof_nb.runtime.graph import Entry, lower
from mxprof_nb.runtime.nd import NDArray
from mxprof_nb.runtime.storage import Chunk

__all__ = ["Executor", "Graph", "named"]


class Graph(Protocol):
    """What an executor asks of a symbol."""

    @property
    def _entries(self) -> tuple[Entry, ...]: ...

    def list_arguments(self) -> list[str]:
        """Return the names of its arguments."""

    def list_auxiliary_states(self) -> list[str]:
        """Return the names of the variables that operators write."""

    def list_outputs(self) -> list[str]:
        """Return the names of its results."""


class Executor:
    """A graph tied to arrays; made by `Symbol.bind` and `Symbol.simple_bind`.

    Attributes
    ----------
    arg_arrays, aux_arrays : list of NDArray
        Arguments and auxiliary states, in the order of the symbol's lists.
    grad_arrays : list of NDArray or None
        Gradients of the arguments; None for one that has none.
    outputs : list of NDArray
        The results; each pass writes to the same ones.
    """

    def __init__(
        self,
        symbol: Graph,
        context: Context,
        args: Sequence[NDArray],
        grads: Sequence[NDArray | None],
        requests: Sequence[str],
        states: Sequence[NDArray],
    ) -> None:
        self.arg_arrays = list(args)
        self.grad_arrays = list(grads)
        self.aux_arrays = list(states)
        self.symbol = symbol
        self.context = context
        self.requests = list(requests)
        self._passes: dict[bool, Pass] = {}  # by whether they are for training
        self._last: Pass | None = None
        names = symbol.list_arguments()
        self._inputs = dict(
            zip([*names, *symbol.list_auxiliary_states()], [*args, *states], strict=True)
        )
        self._targets: dict[str, Target] = {
            name: (request, grad)
            for name, request, grad in zip(names, requests, grads, strict=True)
            if request != "null" and grad is not None
        }
        self._made: list[NDArray] = []
        self._pass(train=bool(self._targets))  # shapes that do not fit are found here
        self.outputs = self._results()

    def _pass(self, *, train: bool) -> Pass:
        found = self._passes.get(train)
        if found is None:
            known = {name: each.aval for name, each in self._inputs.items()}
            program = lower(self.symbol._entries, known, train=train)
            if not self._made:
                self._made = self._promise(program.avals, program.outputs, program.inputs)
            found = self._passes[train] = Pass(
                program,
                train,
                self._inputs,
                self._targets,
                self._made,
                self.symbol.list_outputs(),
                self.context,
            )
        return found

    def _promise(
        self, avals: Sequence[Any], places: Sequence[int], inputs: Sequence[str]
    ) -> list[NDArray]:
        """Return arrays for the results; the same result is the same array."""
        made = {place: self._inputs[inputs[place]] for place in places if place < len(inputs)}
        for place in places:
            if place not in made:
                chunk = Chunk(avals[place].nbytes, self.context)
                made[place] = NDArray._of(chunk, avals[place])
        return [made[place] for place in places]

    @recorded("MXExecutorOutputs")
    def _results(self) -> list[NDArray]:
        return list(self._made)

    @recorded("MXExecutorForward")
    def _forward(self, train: bool) -> None:
        self._last = self._pass(train=train)
        self._last.forward()

    @recorded("MXExecutorBackwardEx")
    def _backward(self, gradients: Sequence[NDArray | None]) -> None:
        if self._last is None:
            raise GradientError("backward() goes back over a forward pass; call forward() first.")
        if not self._targets:
            raise GradientError(
                "No argument was bound with an array for its gradient. Give bind(args_grad=...), "
                "and a grad_req other than 'null'."
            )
        self._last.backward(gradients)

    def forward(self, is_train: bool = False, **kwargs: NDArray | NumpyArray[Any]) -> list[NDArray]:
        """Queue the operators of the graph.

        Parameters
        ----------
        is_train : bool
            Whether operators such as Dropout work as in training.
        **kwargs : NDArray or ndarray
            New values of arguments by name, in their shapes.

        Returns
        -------
        list of NDArray
            The results.

        Raises
        ------
        ArgumentError
            There is no such argument.
        ShapeError
            A value has another shape than the argument.
        TypeError
            A value is no array.
        """
        arguments = self.arg_dict if kwargs else {}
        for name, value in kwargs.items():
            if not isinstance(value, NDArray | np.ndarray):
                raise TypeError(
                    f"forward({name}=...): a value is an NDArray or a NumPy array, not "
                    f"{type(value).__name__}."
                )
            known = named(arguments, name, "argument")
            if known.shape != value.shape:
                raise ShapeError(
                    f"Argument {name!r} was bound with shape {known.shape}; got {value.shape}. See "
                    "Executor.reshape."
                )
        for name, value in kwargs.items():
            arguments[name][:] = value
        self._forward(bool(is_train))
        self.outputs = self._results()
        return self.outputs

    def backward(
        self,
        out_grads: NDArray | Sequence[NDArray] | Mapping[str, NDArray] | None = None,
        is_train: bool = True,
    ) -> None:
        """Queue what computes the gradients of arguments, of the last forward pass.

        Parameters
        ----------
        out_grads : NDArray, or list or dict of them, optional
            Gradients of the results, in order or by name; losses need none.
        is_train : bool
            Without effect: gradients are those of the mode of the forward pass.

        Raises
        ------
        GradientError
            There was no forward pass, no argument has a gradient, or one of ``out_grads`` is
            missing.
        ArgumentError
            They do not fit the results.
        """
        self._backward(self._gradients(out_grads))

    def _gradients(self, given: Any) -> list[NDArray | None]:
        """Return a gradient, or None, for each result."""
        names = self.symbol.list_outputs()
        if given is None:
            given = []
        elif isinstance(given, NDArray):
            given = [given]
        elif isinstance(given, Mapping):
            for name in given:
                named(dict.fromkeys(names), name, "result")
            given = [given.get(name) for name in names]
        found = list(given)
        if len(found) > len(names):
            raise ArgumentError(
                f"backward() got {len(found)} gradients; the graph has {len(names)} results."
            )
        for each in found:
            if each is not None and not isinstance(each, NDArray):
                raise TypeError(f"out_grads must be NDArrays, not {type(each).__name__}.")
        return found + [None] * (len(names) - len(found))

    @property
    def arg_dict(self) -> dict[str, NDArray]:
        """Arguments by name."""
        return dict(zip(self.symbol.list_arguments(), self.arg_arrays, strict=True))

    @property
    def grad_dict(self) -> dict[str, NDArray | None]:
        """Gradients of arguments by name; None for one that has none."""
        return dict(zip(self.symbol.list_arguments(), self.grad_arrays, strict=True))

    @property
    def aux_dict(self) -> dict[str, NDArray]:
        """Auxiliary states by name."""
        return dict(zip(self.symbol.list_auxiliary_states(), self.aux_arrays, strict=True))

    @property
    def output_dict(self) -> dict[str, NDArray]:
        """Results by name."""
        return dict(zip(self.symbol.list_outputs(), self.outputs, strict=True))

    def copy_params_from(
        self,
        arg_params: Mapping[str, NDArray],
        aux_params: Mapping[str, NDArray] | None = None,
        allow_extra_params: bool = False,
    ) -> None:
        """Copy values into arguments and auxiliary states.

        Parameters
        ----------
        arg_params, aux_params : mapping of str to NDArray
        allow_extra_params : bool
            Whether names that the graph does not have are passed over.

        Raises
        ------
        ArgumentError
            There is no such argument or state.
        ShapeError
            A value has another shape.
        """
        pairs = []
        for known, given, kind in (
            (self.arg_dict, arg_params, "argument"),
            (self.aux_dict, aux_params or {}, "auxiliary state"),
        ):
            for name, value in given.items():
                if name not in known and allow_extra_params:
                    continue
                target = named(known, name, kind)
                if target.shape != value.shape:
                    raise ShapeError(
                        f"{kind.capitalize()} {name!r} has shape {target.shape}; got {value.shape}."
                    )
                pairs.append((value, target))
        for value, target in pairs:
            value.astype(target.dtype, copy=False).copyto(target)

    def reshape(
        self,
        partial_shaping: bool = False,
        allow_up_sizing: bool = False,
        **kwargs: tuple[int, ...],
    ) -> Executor:
        """Return an executor of the same graph for other shapes; what keeps its shape is shared.

        Parameters
        ----------
        partial_shaping : bool
            Whether arguments that are not named may change their shape.
        allow_up_sizing : bool
            Whether arrays may become larger; they are new then, and zero.
        **kwargs : tuple of int
            New shapes of arguments by name.

        Raises
        ------
        ArgumentError
            There is no such argument; or one changes its shape or size that may not.
        ShapeError
            The shapes do not fit.
        """
        from mxprof_nb.runtime.executor.reshaping import reshaped

        return reshaped(self, partial_shaping, allow_up_sizing, kwargs)


def named(known: Mapping[str, Any], name: str, kind: str) -> Any:
    """Return what has a name.

    Raises
    ------
    ArgumentError
        Nothing has.
    """
    if name not in known:
        raise ArgumentError(
            f"The graph has no {kind} {name!r}.{close_match(str(name), known)} "
            f"It has {', '.join(map(repr, list(known)[:10])) or 'none'}."
        )
    return known[name]
