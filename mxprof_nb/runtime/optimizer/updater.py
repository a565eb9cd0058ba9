"""`Updater`: an optimiser, and its states for the parameters that it was given so far."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mxprof_nb.errors import EngineError
from mxprof_nb.runtime.context import Context
from mxprof_nb.runtime.nd import NDArray
from mxprof_nb.runtime.optimizer import states
from mxprof_nb.runtime.optimizer.base import Optimizer

__all__ = ["Updater", "get_updater"]


class Updater:
    """Updates weights, and keeps the states that this needs.

    Parameters
    ----------
    optimizer : Optimizer

    Attributes
    ----------
    states : dict
        State by the parameter's number or name.
    aggregate_updates : bool
        Whether one operator updates several weights.
    """

    def __init__(self, optimizer: Optimizer) -> None:
        self.optimizer = optimizer
        self.states: dict[Any, Any] = {}
        #: Of which the states were loaded, and may not yet be on the parameter's device.
        self._loaded: set[Any] = set()

    @property
    def aggregate_updates(self) -> bool:
        """Whether one operator updates several weights."""
        return self.optimizer.aggregate_num > 0

    def __call__(self, index: Any, grad: Any, weight: Any) -> None:
        """Take one step with a weight, or with each of several.

        Parameters
        ----------
        index : int or str, or sequence of them
        grad, weight : NDArray, or sequence of NDArray
        """
        many = isinstance(index, (list, tuple))
        indices, grads, weights = (index, grad, weight) if many else ([index], [grad], [weight])
        if not weights:
            return
        optimizer = self.optimizer
        optimizer._set_current_context(weights[0].context.device_id)
        for each, value in zip(indices, weights, strict=True):
            if each not in self.states:
                self.states[each] = optimizer.create_state_multi_precision(each, value)
            elif each in self._loaded:
                self.states[each] = _moved(self.states[each], value.context)
            self._loaded.discard(each)
        todo = list(zip(indices, weights, grads, strict=True))
        if not self.aggregate_updates:
            for each, value, slope in todo:
                optimizer.update_multi_precision(each, value, slope, self.states[each])
            return
        for alike in _by_type(todo):
            for begin in range(0, len(alike), optimizer.aggregate_num):
                part = alike[begin : begin + optimizer.aggregate_num]
                chosen, values, slopes = (list(column) for column in zip(*part, strict=True))
                kept = [self.states[each] for each in chosen]
                optimizer.update_multi_precision(chosen, values, slopes, kept)

    def get_states(self, dump_optimizer: bool = False) -> bytes:
        """Wait for the states and return them, and the optimiser if wanted, as `states.packed`."""
        return states.packed(self.states, self.optimizer if dump_optimizer else None)

    def set_states(self, content: bytes, where: str = "the states given") -> None:
        """Take what `get_states` has returned.

        Parameters
        ----------
        content : bytes
        where : str
            What held them, for errors.

        Raises
        ------
        EngineError
            It is something else; then nothing is changed.
        """
        if not isinstance(content, (bytes, bytearray, memoryview)):
            raise EngineError(
                f"set_states takes the bytes that get_states returns, not {type(content).__name__}."
            )
        self.states, found = states.unpacked(bytes(content), where)
        self.optimizer = found or self.optimizer
        self._loaded = set(self.states)


def _moved(state: Any, device: Context) -> Any:
    """Return a state on a device."""
    if isinstance(state, NDArray):
        return state.as_in_context(device)
    if isinstance(state, (tuple, list)):
        return type(state)(_moved(each, device) for each in state)
    return state


def _by_type(
    todo: Sequence[tuple[Any, NDArray, NDArray]],
) -> list[list[tuple[Any, NDArray, NDArray]]]:
    """Group what is to be done by the type of the weights."""
    groups: dict[Any, list[tuple[Any, NDArray, NDArray]]] = {}
    for each in todo:
        groups.setdefault(each[1].dtype, []).append(each)
    return list(groups.values())


def get_updater(optimizer: Optimizer) -> Updater:
    """Return an updater that begins without states."""
    return Updater(optimizer)
