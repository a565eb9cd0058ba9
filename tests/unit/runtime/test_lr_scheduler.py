"""Learning-rate schedules: the shape of each, and what is refused."""

from __future__ import annotations

import pytest

import mxprof_nb.runtime as mx
from mxprof_nb.errors import ArgumentError

schedules = mx.lr_scheduler


def test_a_warm_up_rises_in_a_line_or_stays():
    rising = schedules.FactorScheduler(100, base_lr=1.0, warmup_steps=4, warmup_begin_lr=0.2)
    assert [rising(update) for update in range(6)] == pytest.approx([0.2, 0.4, 0.6, 0.8, 1, 1])
    flat = schedules.PolyScheduler(
        10, base_lr=1.0, warmup_steps=2, warmup_begin_lr=0.5, warmup_mode="constant"
    )
    assert [flat(update) for update in range(3)] == [0.5, 0.5, 1]


def test_a_factor_counts_after_each_step_down_to_the_least():
    schedule = schedules.FactorScheduler(2, 0.1, stop_factor_lr=0.05, base_lr=1.0)
    rates = [schedule(update) for update in range(1, 8)]
    assert rates == pytest.approx([1, 1, 0.1, 0.1, 0.05, 0.05, 0.05])


def test_falling_schedules_end_where_they_should_and_stay_there():
    for schedule in (
        schedules.CosineScheduler(8, base_lr=1.0, final_lr=0.25),
        schedules.PolyScheduler(8, base_lr=1.0, final_lr=0.25, pwr=3),
    ):
        rates = [schedule(update) for update in range(12)]
        assert rates == sorted(rates, reverse=True)
        assert rates[0] == 1
        assert rates[8:] == [0.25] * 4


def test_a_warm_up_may_last_to_the_end():
    schedule = schedules.CosineScheduler(3, base_lr=1.0, final_lr=0.5, warmup_steps=3)
    assert [schedule(update) for update in range(5)] == pytest.approx([0, 1 / 3, 2 / 3, 0.5, 0.5])


WRONG = {
    "FactorScheduler(0)": "step: 0 must be a whole number of updates, 1 or more",
    "FactorScheduler(2.5)": r"step: 2\.5",
    "FactorScheduler(2, 2)": "factor=2 is above 1",
    "MultiFactorScheduler([])": r"step=\[\]",
    "MultiFactorScheduler(5)": "step=5 must be a list",
    "MultiFactorScheduler([5, 5])": "step: 5 must be .*, 6 or more",
    "PolyScheduler(0)": "max_update: 0",
    "CosineScheduler(9.5)": r"max_update: 9\.5",
    "CosineScheduler(9, warmup_steps=-1)": "warmup_steps: -1",
    "CosineScheduler(9, 0.1, warmup_begin_lr=1)": r"warmup_begin_lr=1 is above base_lr=0\.1",
    "CosineScheduler(9, warmup_mode='liner')": "Did you mean 'linear'",
}


@pytest.mark.parametrize("call", WRONG)
def test_schedules_that_cannot_be_are_refused(call):
    with pytest.raises(ArgumentError, match=WRONG[call]):
        eval(f"schedules.{call}", {"schedules": schedules})


def test_a_schedule_of_ones_own_has_to_say_its_rate():
    with pytest.raises(NotImplementedError, match="has to define __call__"):
        schedules.LRScheduler()(1)
