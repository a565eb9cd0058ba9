"""`mx.autograd`: gradients of what was computed within `record`.

    x.attach_grad()
    with autograd.record():
        y = (x * x).sum()
    y.backward()
    x.grad

Gradients are computed by operators of their own, which are queued like all others: `backward`
returns at once, and profiles show them under MXNet's names.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Any

from mxprof_nb.errors import ArgumentError, GradientError
from mxprof_nb.runtime import api, higher, tape
from mxprof_nb.runtime.api import is_recording, is_training, set_recording, set_training
from mxprof_nb.runtime.graph.raising import raised
from mxprof_nb.runtime.handle import Handle
from mxprof_nb.runtime.nd import NDArray
from mxprof_nb.runtime.symbol.symbol import Symbol, symbol_of

__all__ = [
    "Function",
    "backward",
    "get_symbol",
    "grad",
    "is_recording",
    "is_training",
    "mark_variables",
    "pause",
    "predict_mode",
    "record",
    "set_recording",
    "set_training",
    "train_mode",
]


class _Scope:
    """Sets recording and training for the length of a ``with`` block; None leaves as it is."""

    def __init__(self, recording: bool | None, training: bool | None) -> None:
        self._wanted = recording, training
        self._before: list[tuple[bool | None, bool | None]] = []

    def __enter__(self) -> None:
        recording, training = self._wanted
        self._before.append(
            (
                None if recording is None else set_recording(recording),
                None if training is None else set_training(training),
            )
        )

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        recording, training = self._before.pop()
        # As MXNet, only what has changed is set back.
        if recording is not None and recording != self._wanted[0]:
            set_recording(recording)
        if training is not None and training != self._wanted[1]:
            set_training(training)


def record(train_mode: bool | None = True) -> _Scope:
    """Return a scope in which operators are recorded for gradients.

    Parameters
    ----------
    train_mode : bool or None
        Whether they compute for training meanwhile; None leaves it as it is.
    """
    return _Scope(True, train_mode)


def pause(train_mode: bool | None = False) -> _Scope:
    """Return a scope in which nothing is recorded, within one of `record`."""
    return _Scope(False, train_mode)


def train_mode() -> _Scope:
    """Return a scope in which operators compute for training: Dropout drops."""
    return _Scope(None, True)


def predict_mode() -> _Scope:
    """Return a scope in which operators compute for prediction."""
    return _Scope(None, False)


def mark_variables(
    variables: NDArray | Sequence[NDArray],
    gradients: NDArray | Sequence[NDArray],
    grad_reqs: str | Sequence[str] = "write",
) -> None:
    """Make arrays variables whose gradients are written to others.

    Parameters
    ----------
    variables, gradients : NDArray or sequence of NDArray
        As many of both, in the same shapes and types.
    grad_reqs : str or sequence of str
        See `NDArray.attach_grad`; one for all, or one for each.

    Raises
    ------
    ArgumentError
        Numbers or shapes do not agree, or there is no such choice; then none becomes a variable.
    """
    marked, written = _arrays("variables", variables), _arrays("gradients", gradients)
    requests = [grad_reqs] * len(marked) if isinstance(grad_reqs, str) else list(grad_reqs)
    if not len(marked) == len(written) == len(requests):
        raise ArgumentError(
            f"mark_variables: {len(marked)} variables, {len(written)} gradients and "
            f"{len(requests)} choices; as many of each are needed."
        )
    api.mark_variables(marked, written, requests)


def backward(
    heads: NDArray | Sequence[NDArray],
    head_grads: NDArray | Sequence[NDArray | None] | None = None,
    retain_graph: bool = False,
    train_mode: bool = True,
) -> None:
    """Compute the gradients of all variables that arrays depend on, of the sum of all.

    Parameters
    ----------
    heads : NDArray or sequence of NDArray
    head_grads : NDArray or sequence of NDArray, optional
        Gradients of the heads, in their shapes and types; ones for None.
    retain_graph : bool
        Whether to keep what was recorded, to go back once more.
    train_mode : bool
        Without effect: gradients are those of the mode in which operators were called.

    Raises
    ------
    GradientError
        A head was not recorded, or none depends on a variable.
    ArgumentError
        The heads' gradients do not fit them.
    """
    given = _arrays("heads", heads)
    api.backward(given, _gradients_of(given, head_grads), retain_graph)


def grad(
    heads: NDArray | Sequence[NDArray],
    variables: NDArray | Sequence[NDArray],
    head_grads: NDArray | Sequence[NDArray | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    train_mode: bool = True,
) -> list[NDArray]:
    """Return the gradients of variables; what `NDArray.grad` gives stays as it is.

    Parameters
    ----------
    heads, head_grads, train_mode
        As for `backward`.
    variables : NDArray or sequence of NDArray
    retain_graph : bool, optional
        Whether to keep what was recorded; by default with ``create_graph``.
    create_graph : bool
        Whether to record how the gradients are computed, for gradients of gradients.

    Raises
    ------
    GradientError
        As for `backward`; or a variable is none, or the heads do not depend on it; or a gradient
        that is to be recorded passes an operator whose gradient has none, or what was recorded is
        not to be kept for it.
    """
    given = _arrays("heads", heads)
    wanted = _arrays("variables", variables)
    retain = create_graph if retain_graph is None else retain_graph
    head_gradients = _gradients_of(given, head_grads)
    if create_graph:
        if not retain:
            raise GradientError(
                "grad(create_graph=True, retain_graph=False): the gradient of a gradient passes "
                "through what was recorded, which would be gone. Leave retain_graph out."
            )
        return higher.gradients(given, head_gradients, wanted)
    found = api.gradients(given, head_gradients, wanted, retain)
    return [NDArray._of(each.chunk, each.aval, each.view) for each in found]


def get_symbol(x: NDArray) -> Symbol:
    """Return the graph of what was recorded for an array.

    Parameters
    ----------
    x : NDArray

    Returns
    -------
    Symbol
        Its variables are ``var0``, ... for arrays with gradients and ``null1``, ... for others.

    Raises
    ------
    GradientError
        Nothing was recorded, or an `autograd.Function`, which is no operator.
    TypeError
        It is no array.
    """
    if not isinstance(x, NDArray):
        raise TypeError(f"get_symbol takes an NDArray, not {type(x).__name__}.")
    edge = tape.place_of(x)
    if edge is None:
        raise GradientError(
            "get_symbol: the array was not computed within autograd.record(), or backward() has "
            "used up what was recorded. Ask before, or call backward(retain_graph=True)."
        )
    return symbol_of([raised(edge)])


def _arrays(name: str, given: Any) -> list[NDArray]:
    """Return one array or several as a list."""
    found = [given] if isinstance(given, NDArray) else list(given)
    for each in found:
        if not isinstance(each, NDArray):
            raise TypeError(f"{name} must be NDArrays, not {type(each).__name__}.")
    if not found:
        raise ArgumentError(f"{name}: at least one array is needed.")
    return found


def _gradients_of(heads: Sequence[NDArray], given: Any) -> list[NDArray | None]:
    if given is None:
        return [None] * len(heads)
    found = [given] if isinstance(given, NDArray) else list(given)
    if len(found) != len(heads):
        raise ArgumentError(
            f"{len(heads)} heads and {len(found)} gradients: give one for each, None for ones."
        )
    for each in found:
        if each is not None and not isinstance(each, NDArray):
            raise TypeError(
                f"head_grads must be NDArrays, not {type(each).__name__}. See nd.array(...)."
            )
    return found


class Function:
    """An operator whose gradient is written in Python, to be inherited from; used once each.

    `forward` and `backward` compute with arrays. What `forward` saves by `save_for_backward` is
    in `saved_tensors` for `backward`, which gets a gradient for each result of `forward` and
    returns one for each of its inputs.

    Examples
    --------
    >>> class Square(Function):
    ...     def forward(self, x):
    ...         self.save_for_backward(x)
    ...         return x * x
    ...
    ...     def backward(self, dy):
    ...         (x,) = self.saved_tensors
    ...         return 2 * x * dy
    """

    _used = False
    saved_tensors: tuple[Any, ...] = ()

    def save_for_backward(self, *args: Any) -> None:
        """Keep arrays for `backward`."""
        self.saved_tensors = args

    def forward(self, *inputs: Any) -> Any:
        """Return an array or a tuple of them."""
        raise NotImplementedError(f"{type(self).__name__} needs a method forward(self, *inputs).")

    def backward(self, *output_grads: Any) -> Any:
        """Return the gradient of each input."""
        raise NotImplementedError(
            f"{type(self).__name__} needs a method backward(self, *output_grads)."
        )

    def __call__(self, *inputs: NDArray) -> Any:
        """Compute, and record this as one step."""
        if self._used:
            raise GradientError(
                f"This {type(self).__name__} was called before; make another, "
                f"{type(self).__name__}(...), for each call."
            )
        self._used = True
        recording = set_recording(False)
        try:
            made = self.forward(*inputs)
        finally:
            set_recording(recording)
        if not recording:
            return made
        results = [made] if isinstance(made, NDArray) else list(made)
        # New arrays: this object may hold those that forward made, and they must not hold it.
        fresh = [NDArray._of(each.chunk, each.aval, each.view) for each in results]
        tape.record_function(_Step, self, inputs, fresh)
        return fresh[0] if isinstance(made, NDArray) else tuple(fresh)


class _Step(tape.Node):
    """One call of a `Function`."""

    __slots__ = ("function",)

    def __init__(
        self,
        function: Function,
        outputs: Sequence[Handle],
        parents: tuple[tape.Edge, ...],
    ) -> None:
        results = tuple([each.aval for each in outputs])
        super().__init__(results, outputs[0].chunk.context, parents)
        self.function: Function | None = function

    def erase(self) -> None:
        super().erase()
        self.function = None

    def pull(self, heads: Sequence[Handle]) -> list[Handle]:
        """Return what the function makes of the heads' gradients, one for each input."""
        assert self.function is not None
        name = type(self.function).__name__
        recording = set_recording(False)
        try:
            made = self.function.backward(
                *(NDArray._of(each.chunk, each.aval, each.view) for each in heads)
            )
        finally:
            set_recording(recording)
        found = [made] if isinstance(made, NDArray) else list(made)
        if len(found) != len(self.parents):
            raise GradientError(
                f"{name}.backward returned {len(found)} gradients; {name} has "
                f"{len(self.parents)} inputs."
            )
        for number, (each, (parent, place)) in enumerate(zip(found, self.parents), 1):  # noqa: B905
            if not isinstance(each, NDArray) or each.aval is not parent.results[place]:
                told = each.aval if isinstance(each, NDArray) else type(each).__name__
                raise GradientError(
                    f"{name}.backward: gradient {number} must be {parent.results[place]} as its "
                    f"input is, not {told}."
                )
        return found
