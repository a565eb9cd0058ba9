"""Optimisers, schedules and trainers step by step against real MXNet: values and operators."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.reference.agreement import alike, operators
from tests.reference.conftest import Runtimes
from tests.reference.runtime_process import Outcome

#: Optimisers as programs make them: name and options, as source.
OPTIMIZERS = {
    "sgd": "'sgd', learning_rate=0.1",
    "sgd, decay": "'sgd', learning_rate=0.1, wd=0.05",
    "sgd, momentum": "'sgd', learning_rate=0.1, momentum=0.9, wd=0.05",
    "sgd, clipped": "'sgd', learning_rate=0.1, momentum=0.5, clip_gradient=0.3, rescale_grad=0.5",
    "sgd, factors": "'SGD', learning_rate=0.1, wd=0.05, param_idx2name=NAMES",
    "sgd, schedule": "'sgd', lr_scheduler=mx.lr_scheduler.FactorScheduler(2, 0.5, base_lr=0.2)",
    "sgd, two weights at once": "'sgd', momentum=0.9, wd=0.01",
    "sgd, begun": "'sgd', begin_num_update=3, lr_scheduler=mx.lr_scheduler.PolyScheduler(10, 0.2)",
    "ccsgd": "'ccsgd', learning_rate=0.1",
    # Without decay, which is that of the new weight in MXNet.
    "nag": "'nag', learning_rate=0.1, momentum=0.9",
    "nag without momentum": "'nag', learning_rate=0.1",
    "signum": "'signum', learning_rate=0.1, wd=0.05, wd_lh=0.02, clip_gradient=0.4",
    "signsgd": "'signum', learning_rate=0.1, momentum=0.0, wd=0.05",
    "adam": "'adam', learning_rate=0.1",
    "adam, decay": "'adam', learning_rate=0.1, wd=0.05, clip_gradient=0.4, beta1=0.8, beta2=0.9",
    "adam, schedule": "'adam', lr_scheduler=mx.lr_scheduler.CosineScheduler(5, 0.2, 0.01)",
    "rmsprop": "'rmsprop', learning_rate=0.1",
    "rmsprop, bounds": "'rmsprop', wd=0.05, clip_gradient=0.4, clip_weights=0.6, epsilon=1e-3",
    "rmsprop, centred": "'rmsprop', learning_rate=0.1, centered=True, gamma2=0.5, wd=0.05",
    "ftrl": "'ftrl', learning_rate=0.1, lamda1=0.1, beta=0.5, wd=0.05, clip_gradient=0.4",
    "adagrad": "'adagrad', learning_rate=0.1, wd=0.05",
    "adagrad, clipped": "'adagrad', learning_rate=0.1, clip_gradient=0.4, rescale_grad=0.5",
    "adadelta": "'adadelta', wd=0.05",
    "adamax": "'adamax', learning_rate=0.1, wd=0.05",
    "nadam": "'nadam', learning_rate=0.1, wd=0.05",
}

#: Five steps with six weights, of which the last is profiled.
STEPS = """
import os, re, tempfile
NAMES = dict(enumerate(["a_weight", "a_bias", "b_gamma", "b_beta", "c_weight", "c_bias"]))
shapes = [(3, 4), (3,), (5,), (5,), (2, 3, 2), (2,)]
random = np.random.RandomState(0)
weights = [mx.nd.array(random.uniform(-1, 1, shape), dtype=DTYPE) for shape in shapes]
optimizer = mx.optimizer.create(OPTIONS)
optimizer.set_lr_mult({"c_weight": 0.5, 1: 2.0})
optimizer.set_wd_mult({"c_weight": 3.0, 0: 0.5})
update = mx.optimizer.get_updater(optimizer)

def step():
    grads = [mx.nd.array(random.uniform(-1, 1, shape), dtype=DTYPE) for shape in shapes]
    mx.nd.waitall()
    return lambda: update([*range(len(shapes))], grads, list(weights))

for number in range(4):
    step()()
    show([optimizer.num_update, optimizer.learning_rate, *weights])
last = step()
mx.profiler.set_config(
    profile_all=True, aggregate_stats=True, continuous_dump=False,
    filename=os.path.join(tempfile.mkdtemp(), "profile.json"))
mx.profiler.set_state("run")
last()
mx.nd.waitall()
mx.profiler.set_state("stop")
show(mx.profiler.dumps(reset=True))
show([optimizer.num_update, *weights])
"""


def compared(runtimes: Runtimes, program: str, told: str, **environment: str) -> None:
    """Run a program on both runtimes and compare what it shows, of profiles the operators."""
    expected = runtimes.real(**environment).run(program)
    found = runtimes.ours(**environment).run(program)
    assert not expected.error, expected.message
    assert not found.error, f"{told}: {found.message}"
    close(without_tables(found), without_tables(expected), told)


def without_tables(outcome: Outcome) -> list[Any]:
    """Return what a program showed, of tables of the profiler the operators."""
    return [
        operators(value) if isinstance(value, str) and "Profile Statistics" in value else value
        for value in outcome.values
    ]


def close(found: Any, expected: Any, told: str) -> None:
    if isinstance(expected, list):
        assert len(found) == len(expected), told
        for one, other in zip(found, expected, strict=True):
            close(one, other, told)
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-12), told
    else:
        alike(found, expected, told)


@pytest.mark.parametrize("case", OPTIMIZERS)
def test_five_steps_are_those_of_mxnet(runtimes: Runtimes, case: str):
    program = f"DTYPE = 'float32'\n{STEPS.replace('OPTIONS', OPTIMIZERS[case])}"
    size = {"MXNET_OPTIMIZER_AGGREGATION_SIZE": "2"} if case.endswith("at once") else {}
    compared(runtimes, program, case, **size)


HALF = {
    "sgd": "'sgd', learning_rate=0.1, wd=0.05, multi_precision=True",
    "sgd, momentum": "'sgd', learning_rate=0.1, momentum=0.9, multi_precision=True",
    "nag": "'nag', learning_rate=0.1, momentum=0.9, multi_precision=True",
    "nag without momentum": "'nag', learning_rate=0.1, multi_precision=True",
    "adam": "'adam', learning_rate=0.1, wd=0.05, multi_precision=True",
}


@pytest.mark.parametrize("case", HALF)
def test_steps_in_half_precision_are_those_of_mxnet(runtimes: Runtimes, case: str):
    compared(runtimes, f"DTYPE = 'float16'\n{STEPS.replace('OPTIONS', HALF[case])}", case)


# Schedules

SCHEDULES = [
    "FactorScheduler(7, 0.5, base_lr=0.4)",
    "FactorScheduler(3, 0.3, stop_factor_lr=0.01, base_lr=0.4, warmup_steps=10)",
    "FactorScheduler(step=1, factor=0.9)",
    "MultiFactorScheduler([10, 20, 50], 0.1, base_lr=0.4)",
    "MultiFactorScheduler([4, 20], 0.5, 0.4, 12, 0.1, 'constant')",
    "PolyScheduler(60, 0.4, 3, 0.05)",
    "PolyScheduler(60, 0.4, warmup_steps=15, warmup_begin_lr=0.1)",
    "CosineScheduler(60, 0.4, 0.05)",
    "CosineScheduler(60, base_lr=0.4, warmup_steps=15, warmup_mode='constant')",
]


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_schedules_give_the_rates_of_mxnet(runtimes: Runtimes, schedule: str):
    compared(
        runtimes,
        f"schedule = mx.lr_scheduler.{schedule}\n"
        "show([float(schedule(update)) for update in range(1, 101)])\n"
        "show([schedule.base_lr, schedule.warmup_steps, schedule.warmup_final_lr])",
        schedule,
    )


WRONG = [
    "FactorScheduler(0)",
    "FactorScheduler(3, 1.5)",
    "MultiFactorScheduler([3, 2])",
    "MultiFactorScheduler([0])",
    "PolyScheduler(0)",
    "CosineScheduler(9, base_lr=0.1, warmup_begin_lr=0.2)",
    "CosineScheduler(9, warmup_mode='curved')",
    "FactorScheduler(3, warmup_steps=-1)",
]


@pytest.mark.parametrize("schedule", WRONG)
def test_schedules_refuse_what_those_of_mxnet_refuse(runtimes: Runtimes, schedule: str):
    for runtime in (runtimes.real(), runtimes.ours()):
        outcome = runtime.run(f"mx.lr_scheduler.{schedule}")
        assert "ValueError" in outcome.error, (schedule, outcome)


# Trainers

TRAINER = """
import os, tempfile
from operator import attrgetter
gluon, autograd = mx.gluon, mx.autograd
random = np.random.RandomState(1)
params = gluon.ParameterDict()
for name, shape in [("d_weight", (3, 4)), ("d_bias", (3,)), ("c_gamma", (4,)), ("a_scale", (1,)),
                    ("b_shift", (3,))]:
    params.get(name, shape=shape)
params.get("fixed", shape=(3,), grad_req="null")
params.initialize()
for name in sorted(params.keys()):
    params[name].set_data(mx.nd.array(random.uniform(-1, 1, params[name].shape)))
params["d_weight"].lr_mult = 0.5
params["c_gamma"].wd_mult = 2.0

def forward(left_out=()):
    x = mx.nd.array(random.uniform(-1, 1, (6, 4)))
    with autograd.record():
        y = mx.nd.FullyConnected(x * params["c_gamma"].data(), params["d_weight"].data(),
                                 params["d_bias"].data(), num_hidden=3)
        y = y + params["fixed"].data()
        if "b_shift" not in left_out:
            y = y * params["a_scale"].data() + params["b_shift"].data()
        loss = (y * y).mean(axis=1)
    loss.backward()

def values():
    return [params[name].data() for name in sorted(params.keys())]

def new():
    return gluon.Trainer(params, OPTIONS)
"""

TRAINERS = {
    "sgd": "'sgd', {'learning_rate': 0.1, 'wd': 0.01}",
    "momentum": "'sgd', {'learning_rate': 0.1, 'momentum': 0.9}",
    "schedule": "'sgd', {'lr_scheduler': mx.lr_scheduler.FactorScheduler(2, 0.5, base_lr=0.2)}",
    "adam": "'adam', {'learning_rate': 0.05, 'wd': 0.01}",
    "rmsprop": "mx.optimizer.RMSProp(learning_rate=0.05, centered=True), kvstore=None",
    "nag": "'nag', {'momentum': 0.9, 'rescale_grad': 0.5}, 'local'",
    "adagrad": "'adagrad'",
}

TRAINER_PROGRAMS = {
    "steps": """
trainer = new()
for batch in (6, 6, 3):
    forward(); trainer.step(batch)
    show([trainer.learning_rate, trainer.optimizer.rescale_grad, *values()])
""",
    "stale gradients": """
trainer = new()
forward(); trainer.step(6)
forward({"b_shift"})
trainer.step(6, ignore_stale_grad=True)
show(values())
forward({"b_shift"})
try:
    trainer.step(6)
except UserWarning as error:
    show(str(error).split(" (")[0].split(". ")[0].split(" This could")[0].rstrip("."))
""",
    "in two parts": """
trainer = new()
for _ in range(2):
    forward(); trainer.allreduce_grads(); trainer.update(6)
show(values())
""",
    "saved and loaded": """
trainer = new()
for _ in range(3):
    forward(); trainer.step(6)
path = os.path.join(tempfile.mkdtemp(), "states")
trainer.save_states(path)
other = new()
other.load_states(path)
for _ in range(2):
    forward(); other.step(6)
    show([other.learning_rate, other.optimizer.num_update, *values()])
""",
    "profiled": """
trainer = new()
forward(); trainer.step(6)
forward()
mx.nd.waitall()
mx.profiler.set_config(
    profile_all=True, aggregate_stats=True, continuous_dump=False,
    filename=os.path.join(tempfile.mkdtemp(), "profile.json"))
mx.profiler.set_state("run")
trainer.step(6)
mx.nd.waitall()
mx.profiler.set_state("stop")
show(mx.profiler.dumps(reset=True))
""",
    "another rate": """
trainer = new()
forward(); trainer.step(6)
try:
    trainer.set_learning_rate(0.01)
except UserWarning:
    show("refused")
show(trainer.learning_rate)
forward(); trainer.step(6)
show(values())
""",
    "several devices": """
params.reset_ctx([mx.cpu(0), mx.cpu(1)])
trainer = new()
for _ in range(2):
    with autograd.record():
        losses = [sum((param.data(ctx) ** 2).sum() for param in params.values()) * (1 + place)
                  for place, ctx in enumerate([mx.cpu(0), mx.cpu(1)])]
    autograd.backward(losses)
    trainer.step(6)
    show([each for name in sorted(params.keys()) for each in params[name].list_data()])
""",
}


@pytest.mark.parametrize("options", TRAINERS)
@pytest.mark.parametrize("program", TRAINER_PROGRAMS)
def test_a_trainer_does_what_it_does_in_mxnet(runtimes: Runtimes, program: str, options: str):
    start = TRAINER.replace("OPTIONS", TRAINERS[options])
    compared(runtimes, start + TRAINER_PROGRAMS[program], f"{program}, {options}")


def test_states_that_mxnet_wrote_are_refused_by_name(runtimes: Runtimes, tmp_path: Path):
    start = TRAINER.replace("OPTIONS", TRAINERS["momentum"]) + f"path = {str(tmp_path / 'a')!r}\n"
    written = runtimes.real().run(f"{start}t = new()\nforward(); t.step(6); t.save_states(path)")
    assert not written.error, written
    outcome = runtimes.ours().run(f"{start}new().load_states(path)")
    assert "MXNetError" in outcome.error
    assert "is a pickle, as MXNet writes states" in outcome.message
