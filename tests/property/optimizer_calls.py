"""Calls of the operators that update weights, for laws that hold for every operator."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

import mxprof_nb.runtime as mx
from mxprof_nb.runtime.nd import NDArray

__all__ = ["CALLS"]

Call = tuple[list[NDArray], dict[str, Any], tuple[Any, ...]]

floats = st.sampled_from(["float16", "float32", "float64"])
shapes = st.lists(st.integers(1, 3), min_size=1, max_size=3).map(tuple)

#: What each number may be, in units that no sum overflows; -1 is no bound.
NUMBERS = {
    "lr": (0.5, 0.125),
    "momentum": (0.0, 0.75),
    "wd": (0.0, 0.25),
    "rescale_grad": (1.0, 0.5),
    "clip_gradient": (-1.0, 0.75),
    "wd_lh": (0.0, 0.25),
    "beta1": (0.75,),
    "beta2": (0.5,),
    "epsilon": (0.5,),
    "gamma1": (0.5,),
    "gamma2": (0.75,),
    "clip_weights": (-1.0, 1.5),
    "lamda1": (0.25,),
    "beta": (1.0,),
}

PLAIN = "lr wd rescale_grad clip_gradient"
MOMENTUM = "lr momentum wd rescale_grad clip_gradient"

#: States and numbers of each, in the order of its parameters. The states that are squares, or
#: moving averages of squares, are positive: n, v (of Adam), and w, the weight in float32.
ONE: dict[str, tuple[str, str]] = {
    "sgd_update": ("", PLAIN),
    "sgd_mom_update": ("m", MOMENTUM),
    "nag_mom_update": ("m", MOMENTUM),
    "signsgd_update": ("", PLAIN),
    "signum_update": ("m", f"{MOMENTUM} wd_lh"),
    "adam_update": ("mv", f"lr beta1 beta2 epsilon {PLAIN[3:]}"),
    "rmsprop_update": ("n", f"lr gamma1 epsilon {PLAIN[3:]} clip_weights"),
    "rmspropalex_update": ("ngm", f"lr gamma1 gamma2 epsilon {PLAIN[3:]} clip_weights"),
    "ftrl_update": ("zn", f"lr lamda1 beta {PLAIN[3:]}"),
    "mp_sgd_update": ("w", PLAIN),
    "mp_sgd_mom_update": ("Mw", MOMENTUM),
    "mp_nag_mom_update": ("Mw", MOMENTUM),
}

SEVERAL = {
    "multi_sgd_update": ("", "rescale_grad clip_gradient"),
    "multi_sgd_mom_update": ("m", "momentum rescale_grad clip_gradient"),
    "multi_mp_sgd_update": ("w", "rescale_grad clip_gradient"),
    "multi_mp_sgd_mom_update": ("Mw", "momentum rescale_grad clip_gradient"),
}


def state(kind: str, weight: NDArray) -> NDArray:
    """A state of an optimiser; capital letters and w are in float32 whatever the weight is."""
    size = np.arange(weight.size).reshape(weight.shape)
    values = {"n": size % 3 + 4, "v": size % 4 + 1, "w": weight.asnumpy()}.get(kind, size % 5 / 4)
    dtype = "float32" if kind in "Mw" else weight.dtype
    return mx.nd.array(values, dtype=dtype)


def arrays(states: str, shape: tuple[int, ...], dtype: str) -> list[NDArray]:
    size = np.arange(int(np.prod(shape))).reshape(shape)
    weight = mx.nd.array((size % 7 - 3) / 4, dtype=dtype)
    gradient = mx.nd.array((size % 5 - 2) / 2, dtype=dtype)
    return [weight, gradient, *(state(kind, weight) for kind in states)]


def numbers(draw: Any, names: str) -> tuple[float, ...]:
    return tuple(draw(st.sampled_from(NUMBERS[name])) for name in names.split())


@st.composite
def one(draw: Any, states: str, names: str) -> Call:
    return arrays(states, draw(shapes), draw(floats)), {}, numbers(draw, names)


@st.composite
def several(draw: Any, states: str, names: str) -> Call:
    count, dtype = draw(st.integers(1, 3)), draw(floats)
    inputs = [each for _ in range(count) for each in arrays(states, draw(shapes), dtype)]
    rates = [tuple(numbers(draw, name)[0] for _ in range(count)) for name in ("lr", "wd")]
    return inputs, {"num_weights": count}, (*rates, *numbers(draw, names))


CALLS: dict[str, Any] = {
    **{name: one(*told) for name, told in ONE.items()},
    **{name: several(*told) for name, told in SEVERAL.items()},
}
