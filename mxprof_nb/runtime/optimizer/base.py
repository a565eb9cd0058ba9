"""`Optimizer`: what all optimisers have: rates and decays of parameters, and counts of updates."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from mxprof_nb.errors import ArgumentError, ScheduledRateError, close_match
from mxprof_nb.runtime.nd import NDArray, cast, zeros

__all__ = ["Optimizer", "create", "named", "register", "zeros_for"]

#: What tells one parameter from the others: its number in a trainer, or a name.
Index = int | str

Kind = TypeVar("Kind", bound="type[Optimizer]")


class Optimizer:
    """Base of all optimisers.

    Parameters
    ----------
    rescale_grad : float
        Factor of every gradient, often 1 / batch size.
    param_idx2name : dict of int to str, optional
        Names of the parameters. Where there is one, those that do not end in ``_weight`` or
        ``_gamma`` have no decay.
    wd : float
        Weight decay: a share of the weight that is added to its gradient.
    clip_gradient : float, optional
        Bound for the size of each element of a gradient, after the factor.
    learning_rate : float, optional
        By default that of the schedule, or 0.01. With both, it replaces the schedule's own.
    lr_scheduler : callable, optional
        Gives the learning rate for the number of updates done; see `mx.lr_scheduler`.
    sym : None
        There are no symbols here.
    begin_num_update : int
        Number of updates to begin counting with.
    multi_precision : bool
        Whether weights in float16 have a copy in float32, on which updates are computed.
    param_dict : dict of int to Parameter, optional
        Parameters by number, for their ``lr_mult`` and ``wd_mult``.

    Attributes
    ----------
    lr : float
    num_update : int
        Updates done: those of the parameter that has had most.
    lr_mult, wd_mult : dict
        Factors of rate and decay by number or name, for parameters not in ``param_dict``.
    aggregate_num : int
        How many weights one operator updates; 0 if it is always one.
    """

    #: All optimisers by name in lower case.
    opt_registry: dict[str, type[Optimizer]] = {}  # noqa: RUF012  # shared, as in MXNet

    def __init__(
        self,
        rescale_grad: float = 1.0,
        param_idx2name: Mapping[int, str] | None = None,
        wd: float = 0.0,
        clip_gradient: float | None = None,
        learning_rate: float | None = None,
        lr_scheduler: Any = None,
        sym: None = None,
        begin_num_update: int = 0,
        multi_precision: bool = False,
        param_dict: Mapping[int, Any] | None = None,
    ) -> None:
        if sym is not None:
            raise ArgumentError("sym: symbols do not exist here; name parameters instead.")
        if not isinstance(param_idx2name, (dict, type(None))):
            raise ArgumentError(
                f"param_idx2name must be a dict of numbers to names, not {param_idx2name!r:.60}."
            )
        _must_be_numbers(rescale_grad=rescale_grad, wd=wd)
        _must_be_numbers(or_none=True, clip_gradient=clip_gradient, learning_rate=learning_rate)
        if lr_scheduler is not None and not callable(lr_scheduler):
            raise ArgumentError(
                f"lr_scheduler={lr_scheduler!r:.60} must be callable with the number of updates "
                "done, such as lr_scheduler.FactorScheduler(100)."
            )
        self.rescale_grad = rescale_grad
        self.wd = wd
        self.clip_gradient = clip_gradient
        self.multi_precision = multi_precision
        self.aggregate_num = 0
        self.lr_scheduler = lr_scheduler
        self.lr: float | None
        if lr_scheduler is None:
            self.lr = 0.01 if learning_rate is None else learning_rate
        else:
            self.lr = learning_rate
            self._start_schedule_at(learning_rate)
        self.begin_num_update = begin_num_update
        self.num_update = begin_num_update
        #: For each device, how often each parameter was updated.
        self._all_index_update_counts: dict[int, dict[Index, int]] = {0: {}}
        self._index_update_count = self._all_index_update_counts[0]
        self.idx2name = dict(param_idx2name or {})
        self.param_dict = param_dict or {}
        self.set_lr_mult({})
        self.set_wd_mult({})

    def _start_schedule_at(self, learning_rate: float | None) -> None:
        own = getattr(self.lr_scheduler, "base_lr", learning_rate)
        if learning_rate is not None and own != learning_rate:
            warnings.warn(
                f"learning_rate={learning_rate}, given or {type(self).__name__}'s own, replaces "
                f"base_lr={own} of the schedule, as in MXNet. Give learning_rate={own} to keep it.",
                stacklevel=4,
            )
            self.lr_scheduler.base_lr = learning_rate

    @staticmethod
    def register(klass: Kind) -> Kind:
        """Make a class known to `create`, under its name in lower case."""
        name = klass.__name__.lower()
        known = Optimizer.opt_registry.get(name)
        if known is not None and (known.__module__, known.__qualname__) != (
            klass.__module__,
            klass.__qualname__,
        ):
            warnings.warn(
                f"The optimiser {name!r} is now {klass.__module__}.{klass.__name__}, and no longer "
                f"{known.__module__}.{known.__name__}.",
                stacklevel=2,
            )
        Optimizer.opt_registry[name] = klass
        return klass

    @staticmethod
    def create_optimizer(name: str, **kwargs: Any) -> Optimizer:
        """Return a new optimiser.

        Parameters
        ----------
        name : str
            ``"sgd"``, ``"adam"``, ...; capitals do not matter.
        **kwargs
            Its parameters.

        Raises
        ------
        ArgumentError
            No optimiser has the name, or text is given for a number.
        """
        kind = named(name)
        own = inspect.signature(kind).parameters
        numbers = {key for key, each in own.items() if isinstance(each.default, float)}
        if kwargs.get("learning_rate") is None:  # leaves the choice to a schedule
            numbers.discard("learning_rate")
        _must_be_numbers(**{key: kwargs[key] for key in numbers & kwargs.keys()})
        return kind(**kwargs)

    # Rates

    @property
    def learning_rate(self) -> float:
        """The learning rate now."""
        rate: Any = self.lr if self.lr_scheduler is None else self.lr_scheduler(self.num_update)
        found: float = rate
        return found

    def set_learning_rate(self, lr: float) -> None:
        """Choose another learning rate.

        Raises
        ------
        ScheduledRateError
            A schedule chooses it.
        """
        if self.lr_scheduler is not None:
            raise ScheduledRateError(
                f"The learning rate comes from a schedule, {type(self.lr_scheduler).__name__}; "
                "set_learning_rate works without one. Change the schedule's base_lr, or set "
                "optimizer.lr_scheduler = None first."
            )
        self.lr = lr

    def set_lr_mult(self, args_lr_mult: Mapping[Index, float]) -> None:
        """Choose factors of the learning rate, by number or name of parameters."""
        self.lr_mult: dict[Index, float] = dict(args_lr_mult)

    def set_wd_mult(self, args_wd_mult: Mapping[Index, float]) -> None:
        """Choose factors of the decay, by number or name of parameters.

        It is 0 for those whose names are known and end neither in ``_weight`` nor in ``_gamma``.
        """
        self.wd_mult: dict[Index, float] = {
            name: 0.0 for name in self.idx2name.values() if not name.endswith(("_weight", "_gamma"))
        }
        self.wd_mult.update(args_wd_mult)

    def _factor(self, index: Any, kind: str, factors: Mapping[Index, float]) -> float:
        if index in self.param_dict:
            found: float = getattr(self.param_dict[index], kind)
            return found
        if index in factors:
            return factors[index]
        return factors.get(self.idx2name.get(index, index), 1.0)

    def _get_lrs(self, indices: Sequence[Any]) -> list[float]:
        """Return the learning rate of each parameter."""
        rate = self.learning_rate
        return [rate * self._factor(index, "lr_mult", self.lr_mult) for index in indices]

    def _get_wds(self, indices: Sequence[Any]) -> list[float]:
        """Return the weight decay of each parameter."""
        return [self.wd * self._factor(index, "wd_mult", self.wd_mult) for index in indices]

    def _get_lr(self, index: Any) -> float:
        return self._get_lrs([index])[0]

    def _get_wd(self, index: Any) -> float:
        return self._get_wds([index])[0]

    # Counts

    def _set_current_context(self, device_id: int) -> None:
        """Count the updates of one device from here on."""
        self._index_update_count = self._all_index_update_counts.setdefault(device_id, {})

    def _update_count(self, index: Any) -> None:
        """Count an update of one parameter, or of several."""
        for each in index if isinstance(index, (list, tuple)) else [index]:
            count = self._index_update_count.get(each, self.begin_num_update) + 1
            self._index_update_count[each] = count
            self.num_update = max(self.num_update, count)

    # Updates

    def create_state(self, index: Any, weight: NDArray) -> Any:
        """Return what is kept between the updates of a weight: arrays, None, or a tuple of them."""
        return None

    def create_state_multi_precision(self, index: Any, weight: NDArray) -> Any:
        """Return the state of a weight, with a copy in float32 where updates work on one."""
        if weight.dtype == np.float16:
            if self.multi_precision:
                wide = weight.astype(np.float32)
                return wide, self.create_state(index, wide)
            self._warn_of_half_precision()
        return self.create_state(index, weight)

    def _warn_of_half_precision(self) -> None:
        warnings.warn(
            f"{type(self).__name__} adds up in float16, which loses small steps. "
            "multi_precision=True keeps a copy of the weights in float32.",
            stacklevel=4,
        )

    def update(self, index: Any, weight: NDArray, grad: NDArray, state: Any) -> None:
        """Take one step with a weight, in place."""
        raise NotImplementedError(f"{type(self).__name__} has to define update().")

    def update_multi_precision(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        """Take one step with a weight, on its copy in float32 if it has one."""
        if self.multi_precision and weight.dtype == np.float16:
            wide, rest = state
            self.update(index, wide, grad.astype(np.float32), rest)
            cast(wide, dtype=weight.dtype, out=weight)
        else:
            self.update(index, weight, grad, state)

    def _common(self, index: Any) -> dict[str, Any]:
        """Count an update, and return what the operators that do it are told by all optimisers."""
        self._update_count(index)
        told: dict[str, Any] = {
            "lr": self._get_lr(index),
            "wd": self._get_wd(index),
            "rescale_grad": self.rescale_grad,
        }
        if self.clip_gradient:
            told["clip_gradient"] = self.clip_gradient
        return told

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "param_dict"}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        vars(self).update(state, param_dict={})


def zeros_for(weight: NDArray) -> NDArray:
    """Return zeros in the shape and type of a weight, on its device."""
    return zeros(weight.shape, ctx=weight.context, dtype=weight.dtype)


def _must_be_numbers(or_none: bool = False, **given: Any) -> None:
    for name, value in given.items():
        if or_none and value is None:
            continue
        if isinstance(value, str) or not hasattr(value, "__float__"):
            raise ArgumentError(f"{name}={value!r:.60} must be a number.")


def named(name: str) -> type[Optimizer]:
    """Return the optimiser of a name.

    Raises
    ------
    ArgumentError
        There is none.
    """
    known = Optimizer.opt_registry
    found = known.get(name.lower()) if isinstance(name, str) else None
    if isinstance(name, type):
        raise ArgumentError(f"An optimiser goes by name or is one, {name.__name__}(), no class.")
    if found is None:
        raise ArgumentError(
            f"There is no optimiser {name!r:.60}.{close_match(str(name).lower(), known)} "
            f"There are {', '.join(sorted(known))}."
        )
    return found


register = Optimizer.register
create = Optimizer.create_optimizer
