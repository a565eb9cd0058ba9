"""`mx.lr_scheduler`: the learning rate as a function of the number of updates.

An optimiser calls its schedule with the number of updates done; names and rules are MXNet's. All
can begin with a warm-up, in which the rate rises to ``base_lr`` or stays at its first value.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from math import cos, pi
from typing import Any

from mxprof_nb.errors import ArgumentError, close_match

__all__ = [
    "CosineScheduler",
    "FactorScheduler",
    "LRScheduler",
    "MultiFactorScheduler",
    "PolyScheduler",
]

WARM_UPS = ("linear", "constant")

_log = logging.getLogger(__name__)


class LRScheduler:
    """Base of all schedules.

    Parameters
    ----------
    base_lr : float
        Learning rate to begin with, after the warm-up.
    warmup_steps : int
        Updates that the warm-up lasts, 0 for none.
    warmup_begin_lr : float
        Learning rate at the first update of the warm-up.
    warmup_mode : {'linear', 'constant'}
        Whether it rises to ``base_lr`` or stays.

    Raises
    ------
    ArgumentError
        The warm-up would fall, lasts a negative number of updates, or has another mode.
    """

    def __init__(
        self,
        base_lr: float = 0.01,
        warmup_steps: int = 0,
        warmup_begin_lr: float = 0,
        warmup_mode: str = "linear",
    ) -> None:
        _must_be_whole("warmup_steps", warmup_steps, 0)
        if warmup_begin_lr > base_lr:
            raise ArgumentError(
                f"{type(self).__name__}: warmup_begin_lr={warmup_begin_lr} is above "
                f"base_lr={base_lr}; a warm-up rises."
            )
        if warmup_mode not in WARM_UPS:
            raise ArgumentError(
                f"{type(self).__name__}: warmup_mode={warmup_mode!r} is neither 'linear' nor "
                f"'constant'.{close_match(str(warmup_mode), WARM_UPS)}"
            )
        self.base_lr = base_lr
        self.warmup_steps = warmup_steps
        self.warmup_begin_lr = warmup_begin_lr
        self.warmup_final_lr = base_lr
        self.warmup_mode = warmup_mode

    def get_warmup_lr(self, num_update: int) -> float:
        """Return the learning rate at an update of the warm-up."""
        if self.warmup_mode == "constant":
            return self.warmup_begin_lr
        rise = self.warmup_final_lr - self.warmup_begin_lr
        return self.warmup_begin_lr + rise * num_update / self.warmup_steps

    def __call__(self, num_update: int) -> float:
        """Return the learning rate after so many updates, the largest number so far."""
        raise NotImplementedError(f"{type(self).__name__} has to define __call__(num_update).")

    def _lower(self, num_update: int, factor: float, least: float = 0) -> None:
        self.base_lr = max(self.base_lr * factor, least)
        _log.info("Update %d: the learning rate is %.5e from here on.", num_update, self.base_lr)


class FactorScheduler(LRScheduler):
    """Multiplies the rate by ``factor`` every ``step`` updates, but not below ``stop_factor_lr``.

    Raises
    ------
    ArgumentError
        ``step`` is below 1, or ``factor`` above 1.
    """

    def __init__(
        self,
        step: int,
        factor: float = 1,
        stop_factor_lr: float = 1e-8,
        base_lr: float = 0.01,
        warmup_steps: int = 0,
        warmup_begin_lr: float = 0,
        warmup_mode: str = "linear",
    ) -> None:
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        _must_be_whole("step", step, 1)
        _must_lower(factor)
        self.step = step
        self.factor = factor
        self.stop_factor_lr = stop_factor_lr
        self.count = 0

    def __call__(self, num_update: int) -> float:
        """Return the learning rate after so many updates."""
        if num_update < self.warmup_steps:
            return self.get_warmup_lr(num_update)
        while num_update > self.count + self.step:
            self.count += self.step
            self._lower(num_update, self.factor, self.stop_factor_lr)
        return self.base_lr


class MultiFactorScheduler(LRScheduler):
    """Multiplies the rate by ``factor`` after each of the numbers of updates in ``step``.

    Raises
    ------
    ArgumentError
        ``step`` is no list of whole numbers that rise from 1 or more, or ``factor`` is above 1.
    """

    def __init__(
        self,
        step: Sequence[int],
        factor: float = 1,
        base_lr: float = 0.01,
        warmup_steps: int = 0,
        warmup_begin_lr: float = 0,
        warmup_mode: str = "linear",
    ) -> None:
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        if not isinstance(step, (list, tuple)) or not step:
            raise ArgumentError(f"step={step!r:.60} must be a list of numbers of updates.")
        for before, each in zip((0, *step), step, strict=False):
            _must_be_whole("step", each, before + 1)
        _must_lower(factor)
        self.step = step
        self.factor = factor
        self.cur_step_ind = 0
        self.count = 0

    def __call__(self, num_update: int) -> float:
        """Return the learning rate after so many updates."""
        if num_update < self.warmup_steps:
            return self.get_warmup_lr(num_update)
        while self.cur_step_ind < len(self.step) and num_update > self.step[self.cur_step_ind]:
            self.count = self.step[self.cur_step_ind]
            self.cur_step_ind += 1
            self._lower(num_update, self.factor)
        return self.base_lr


class _Falling(LRScheduler):
    """A schedule that falls from ``base_lr`` to ``final_lr`` at ``max_update``, and stays there."""

    def __init__(
        self,
        max_update: int,
        base_lr: float,
        final_lr: float,
        warmup_steps: int,
        warmup_begin_lr: float,
        warmup_mode: str,
    ) -> None:
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        _must_be_whole("max_update", max_update, 1)
        self.max_update = max_update
        self.base_lr_orig = base_lr
        self.final_lr = final_lr
        self.max_steps = max_update - warmup_steps

    def __call__(self, num_update: int) -> float:
        """Return the learning rate after so many updates."""
        if num_update < self.warmup_steps:
            return self.get_warmup_lr(num_update)
        if num_update <= self.max_update:
            done = (num_update - self.warmup_steps) / self.max_steps if self.max_steps else 1.0
            height = self.base_lr_orig - self.final_lr
            self.base_lr = self.final_lr + height * self._share_left(done)
        return self.base_lr

    def _share_left(self, done: float) -> float:
        """Return the share of the height that is left when this share of the updates is done."""
        raise NotImplementedError


class PolyScheduler(_Falling):
    """Falls to ``final_lr`` as a power of the share of updates that is left."""

    def __init__(
        self,
        max_update: int,
        base_lr: float = 0.01,
        pwr: float = 2,
        final_lr: float = 0,
        warmup_steps: int = 0,
        warmup_begin_lr: float = 0,
        warmup_mode: str = "linear",
    ) -> None:
        super().__init__(max_update, base_lr, final_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        self.power = pwr

    def _share_left(self, done: float) -> float:
        share: float = (1 - done) ** self.power
        return share


class CosineScheduler(_Falling):
    """Falls to ``final_lr`` along half a period of a cosine."""

    def __init__(
        self,
        max_update: int,
        base_lr: float = 0.01,
        final_lr: float = 0,
        warmup_steps: int = 0,
        warmup_begin_lr: float = 0,
        warmup_mode: str = "linear",
    ) -> None:
        super().__init__(max_update, base_lr, final_lr, warmup_steps, warmup_begin_lr, warmup_mode)

    def _share_left(self, done: float) -> float:
        return (1 + cos(pi * done)) / 2


def _must_be_whole(parameter: str, given: Any, least: int) -> None:
    if not isinstance(given, int) or given < least:
        raise ArgumentError(
            f"{parameter}: {given!r:.60} must be a whole number of updates, {least} or more."
        )


def _must_lower(factor: float) -> None:
    if factor > 1:
        raise ArgumentError(f"factor={factor} is above 1; a schedule lowers the learning rate.")
