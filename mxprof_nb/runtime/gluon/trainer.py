"""`Trainer`: applies an optimiser to the parameters of a network, step by step."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mxprof_nb.errors import ArgumentError, EngineError, StaleGradientError, close_match
from mxprof_nb.runtime import nd
from mxprof_nb.runtime.context import Context
from mxprof_nb.runtime.gluon.parameter import Parameter, ParameterDict
from mxprof_nb.runtime.nd import NDArray
from mxprof_nb.runtime.optimizer import Optimizer, create, get_updater

__all__ = ["Trainer"]

#: Key-value stores of MXNet that add gradients up within one process.
STORES = ("local", "device")

#: Weight, gradient and number of a parameter on one device.
Todo = tuple[int, NDArray, NDArray]


class Trainer:
    """Applies an optimiser to parameters, with what backward has computed of their gradients.

    Parameters
    ----------
    params : ParameterDict, dict or list of Parameter
        Dictionaries count in the order of their keys.
    optimizer : str or Optimizer
    optimizer_params : dict, optional
        Parameters of the optimiser, if it is named; see `mx.optimizer`.
    kvstore : {'device', 'local', None}
        How gradients of parameters on several devices come together: added up, or with None
        not at all. There is no store of its own for that.
    compression_params : None
    update_on_kvstore : False or None
        Updates are always made by the trainer.

    Raises
    ------
    ArgumentError
        Something is none of these; or the parameters live on different devices.
    ParameterError
        One was not initialized.
    """

    def __init__(
        self,
        params: Any,
        optimizer: str | Optimizer,
        optimizer_params: Mapping[str, Any] | None = None,
        kvstore: str | None = "device",
        compression_params: None = None,
        update_on_kvstore: bool | None = None,
    ) -> None:
        if kvstore not in (*STORES, None):
            raise ArgumentError(
                f"kvstore={kvstore!r:.60}: the embedded runtime has no key-value stores. "
                "'local' and 'device' add gradients up within this process, None does not."
                f"{close_match(str(kvstore), STORES)}"
            )
        if update_on_kvstore or compression_params:
            raise ArgumentError(
                "update_on_kvstore and compression_params concern key-value stores, which the "
                "embedded runtime does not have. Leave them out."
            )
        self._params = _listed(params)
        self._contexts = self._devices()
        self._init_optimizer(optimizer, optimizer_params)
        self._sums = kvstore is not None and len(self._contexts) > 1
        self._scale = self._optimizer.rescale_grad
        for each in self._params:
            each._set_trainer(self)

    def _devices(self) -> list[Context]:
        found: list[Context] = []
        for each in self._params:
            devices = each.list_ctx()
            if found and devices != found:
                raise ArgumentError(
                    f"Parameters of one trainer live on the same devices; {each.name!r} is on "
                    f"{devices}, {self._params[0].name!r} on {found}."
                )
            found = devices
        return found

    def _init_optimizer(
        self, optimizer: str | Optimizer, optimizer_params: Mapping[str, Any] | None
    ) -> None:
        if not isinstance(optimizer_params, (Mapping, type(None))):
            raise ArgumentError(
                f"optimizer_params={optimizer_params!r:.60} must be a dict, such as "
                "{'learning_rate': 0.1}."
            )
        by_number = dict(enumerate(self._params))
        if isinstance(optimizer, Optimizer):
            if optimizer_params:
                raise ArgumentError(
                    "optimizer_params are for an optimiser given by name; this one is made "
                    f"already: {type(optimizer).__name__}."
                )
            optimizer.param_dict = by_number
            self._optimizer = optimizer
        else:
            self._optimizer = create(optimizer, param_dict=by_number, **(optimizer_params or {}))
        self._updaters = [get_updater(self._optimizer) for _ in self._contexts]

    # The learning rate

    @property
    def optimizer(self) -> Optimizer:
        """The optimiser."""
        return self._optimizer

    @property
    def learning_rate(self) -> float:
        """The learning rate now."""
        return self._optimizer.learning_rate

    def set_learning_rate(self, lr: float) -> None:
        """Choose another learning rate.

        Raises
        ------
        ScheduledRateError
            A schedule chooses it.
        """
        self._optimizer.set_learning_rate(lr)

    # Steps

    def step(self, batch_size: float, ignore_stale_grad: bool = False) -> None:
        """Take one step with all parameters, after `backward`.

        Parameters
        ----------
        batch_size : int
            Gradients are divided by it.
        ignore_stale_grad : bool
            Whether parameters without a new gradient stay as they are; otherwise they are refused.

        Raises
        ------
        StaleGradientError
            A parameter has had no new gradient since the last step; then none has changed.
        ParameterError
            One was not initialized.
        """
        scale = self._scale_for(batch_size)
        todo = self._todo(ignore_stale_grad)
        self.allreduce_grads()
        self._update(todo, scale)

    def allreduce_grads(self) -> None:
        """Add the gradients of all devices up, on each of them; `step` does so by itself."""
        if not self._sums:
            return
        for each in self._params:
            if each.grad_req == "null":
                continue
            first, *others = each.list_grad()
            total = nd.add_n(first, *(other.as_in_context(first.context) for other in others))
            for target in (first, *others):
                total.copyto(target)

    def update(self, batch_size: float, ignore_stale_grad: bool = False) -> None:
        """Take one step with gradients as they are, after `allreduce_grads`; see `step`."""
        scale = self._scale_for(batch_size)
        self._update(self._todo(ignore_stale_grad), scale)

    def _scale_for(self, batch_size: float) -> float:
        if not isinstance(batch_size, (int, float)) and not hasattr(batch_size, "__float__"):
            raise ArgumentError(f"batch_size={batch_size!r:.60} is no number of samples.")
        if not batch_size > 0:
            raise ArgumentError(f"batch_size={batch_size!r:.60} must be above 0.")
        return self._scale / batch_size

    def _todo(self, ignore_stale_grad: bool) -> list[list[Todo]]:
        """Return for each device what is to be updated, and change nothing."""
        found: list[list[Todo]] = [[] for _ in self._updaters]
        stale: list[tuple[str, Context]] = []
        for number, param in enumerate(self._params):
            if param.grad_req == "null":
                continue
            arrays = zip(found, param.list_data(), param.list_grad(), strict=True)
            for todo, weight, grad in arrays:
                if weight._fresh_grad:
                    todo.append((number, grad, weight))
                elif not ignore_stale_grad:
                    stale.append((param.name, weight.context))
        if stale:
            name, device = stale[0]
            names = {each for each, _ in stale}
            raise StaleGradientError.of(name, device, len(names), len(self._params))
        return found

    def _update(self, found: Sequence[Sequence[Todo]], scale: float) -> None:
        self._optimizer.rescale_grad = scale
        for updater, todo in zip(self._updaters, found, strict=True):
            if todo:
                numbers, grads, weights = zip(*todo, strict=True)
                updater(numbers, grads, weights)
            for _, _, weight in todo:
                weight._fresh_grad = False

    # States

    def save_states(self, fname: str | os.PathLike[str]) -> None:
        """Wait for the optimiser's states and write them to a file, with its numbers.

        The file holds arrays and JSON, see `mxprof_nb.runtime.optimizer.states`; MXNet, which
        writes pickles, does not read it.

        Raises
        ------
        ArgumentError
            The optimiser holds something that a file cannot, e.g. a function as schedule.
        OSError
            The file cannot be written.
        """
        content = self._updaters[0].get_states(dump_optimizer=True)
        Path(fname).write_bytes(content)  # all is there: a failed operator leaves no file

    def load_states(self, fname: str | os.PathLike[str]) -> None:
        """Take states and numbers that `save_states` has written; all of them or none.

        Raises
        ------
        EngineError
            The file is none of these (MXNet's are pickles, which are not read), is broken, or
            belongs to other parameters.
        OSError
            It cannot be read.
        """
        content = Path(fname).read_bytes()
        trial = get_updater(self._optimizer)
        trial.set_states(content, os.fspath(fname))
        loaded = trial.optimizer
        for number, state in trial.states.items():
            self._must_fit(number, state, loaded, os.fspath(fname))
        loaded.param_dict = dict(enumerate(self._params))
        self._optimizer = loaded
        for updater in self._updaters:
            updater.optimizer = loaded
            updater.set_states(content, os.fspath(fname))
            updater.optimizer = loaded

    def _must_fit(self, number: Any, state: Any, optimizer: Optimizer, where: str) -> None:
        """Refuse a state that the parameter of that number would not have."""
        if not isinstance(number, int) or not 0 <= number < len(self._params):
            raise EngineError(
                f"{where} holds a state for parameter {number!r:.60}; this trainer has "
                f"{len(self._params)}, from 0. It was saved for another network."
            )
        param = self._params[number]
        wanted = optimizer.create_state_multi_precision(number, param.list_data()[0])
        if _outline(state) != _outline(wanted):
            raise EngineError(
                f"{where} does not fit: parameter {param.name!r} has a state of "
                f"{_outline(wanted)}, the file one of {_outline(state)}. It was saved for another "
                "network or optimiser."
            )


def _listed(params: Any) -> list[Parameter]:
    if isinstance(params, (dict, ParameterDict)):
        params = [params[name] for name in sorted(params.keys())]
    if not isinstance(params, (list, tuple)):
        raise ArgumentError(
            f"Trainer takes parameters as a list or dict, not {type(params).__name__}. "
            "Give net.collect_params()."
        )
    for each in params:
        if not isinstance(each, Parameter):
            raise ArgumentError(
                f"Trainer takes parameters, not {type(each).__name__}. Give net.collect_params()."
            )
    return list(params)


def _outline(state: Any) -> str:
    """Return shapes and types in a state, as text."""
    if isinstance(state, NDArray):
        return str(state.aval)
    if isinstance(state, (tuple, list)):
        return f"({', '.join(map(_outline, state))})"
    return "nothing" if state is None else type(state).__name__
