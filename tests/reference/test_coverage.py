"""Every operator in the registry, and its gradient, against the operator of that name in MXNet.

The calls are those with which `tests.property` tries the laws of operators, where an operator
without any fails a test. So whoever adds an operator has it compared here too, under its internal
name, whether or not a function leads to it; the other files compare functions, and what is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import mxprof_nb.runtime as mx
from mxprof_nb.runtime.nd.array import apply_several
from mxprof_nb.runtime.ops import operator_names, spec
from tests.gradients import gradients, outputs_of
from tests.property.array_calls import PARAMETERS
from tests.property.operator_calls import CALLS, Call
from tests.reference.agreement import TOLERANCE, alike
from tests.reference.conftest import Runtimes
from tests.reference.runtime_process import Outcome, ProcessDied

#: No operators of MXNet: copies between arrays, which only its profiles call so. What they copy is
#: compared where arrays are, in `copyto` and `as_in_context`.
NOT_IN_MXNET = {"CopyCPU2CPU"}

IN_PLACE = ("_slice_assign", "_scatter_set")

#: What MXNet calls otherwise, or wants told and our operators see from their inputs.
TOLD: dict[str, Callable[[Sequence[Any], dict[str, Any]], dict[str, Any]]] = {
    "UpSampling": lambda inputs, attrs: {**attrs, "sample_type": "nearest"},
    "_contrib_boolean_mask": lambda inputs, attrs: {},
    "_eye": lambda inputs, attrs: {
        {"rows": "N", "columns": "M"}.get(key, key): value for key, value in attrs.items()
    },
    "_scatter_set_nd": lambda inputs, attrs: {"shape": inputs[0].shape},
    "_split_v2": lambda inputs, attrs: {**attrs, "indices": (0, *attrs["indices"])},
    **dict.fromkeys(
        ("argmax", "argmin"),
        lambda inputs, attrs: {**attrs, "axis": attrs["axis"][0] if attrs["axis"] else None},
    ),
}

#: Calls an operator by its internal name; numbers are given to its parameters in their order.
INVOKE = """
import contextlib, ctypes
from mxnet.base import _LIB, c_str, check_call
from mxnet.ndarray.register import _imperative_invoke

def parameters_of(handle):
    text = [ctypes.c_char_p() for _ in range(4)]
    lists = [ctypes.POINTER(ctypes.c_char_p)() for _ in range(3)]
    count = ctypes.c_uint()
    into = [ctypes.byref(each) for each in (*text[:2], count, *lists, *text[2:])]
    check_call(_LIB.MXSymbolGetAtomicSymbolInfo(handle, *into))
    names, types, _ = lists
    return [names[i].decode() for i in range(count.value) if b"NDArray" not in types[i]]

def called(name, inputs, attrs, numbers, out=None):
    handle = ctypes.c_void_p()
    check_call(_LIB.NNGetOpHandle(c_str(name), ctypes.byref(handle)))
    rest = [each for each in parameters_of(handle) if each != "ctx" and each not in attrs]
    attrs = {**attrs, **dict(zip(rest, numbers))}
    keys, values = [*attrs], [str(value) for value in attrs.values()]
    made = _imperative_invoke(handle.value, inputs, keys, values, out, False, True)
    return made if isinstance(made, list) else [made]

def invoke(name, inputs, attrs, numbers, train, targets):
    inputs = [mx.nd.array(x, dtype=x.dtype) for x in inputs]
    out = [inputs[place] for place in targets] or None
    with mx.autograd.train_mode() if train else contextlib.nullcontext():
        made = called(name, inputs, attrs, numbers, out)
    return [made, inputs]

def go_back(name, inputs, attrs, numbers, train, wrt, head):
    inputs = [mx.nd.array(x, dtype=x.dtype) for x in inputs]
    for place in wrt:
        inputs[place].attach_grad()
    with mx.autograd.record(train_mode=train):
        made = called(name, inputs, attrs, numbers)
    made[0].backward(head, train_mode=train)
    return [inputs[place].grad for place in wrt]

mx.invoke, mx.go_back = invoke, go_back
"""


@pytest.fixture(scope="module", autouse=True)
def _invoke(runtimes: Runtimes) -> None:
    runtimes.real().define(INVOKE)


def as_told(name: str, before: Sequence[Any], call: Call) -> list[Any]:
    """Return an operator and a call of it as `INVOKE` takes them."""
    _, attrs, numbers = call
    told = {key: value for key, value in attrs.items() if key != "train"}
    told = TOLD[name](before, told) if name in TOLD else told
    return [name, before, told, list(numbers), attrs.get("train", False)]


def targets_of(name: str, inputs: Sequence[Any]) -> list[int]:
    """Return which inputs the results are written to, as programs call the operator."""
    if name.startswith(IN_PLACE):
        return [0] if inputs else []
    # MXNet wants to be told where the results for several weights go, and knows of no other place.
    group = spec(name).group
    return [*range(0, len(inputs), group)] if group else []


def both(runtimes: Runtimes, name: str, call: Call) -> tuple[list[Any], Outcome]:
    """Return results and inputs afterwards, ours and what came of the call in MXNet."""
    inputs, attrs, numbers = call
    targets = targets_of(name, inputs)
    told = as_told(name, [x.asnumpy() for x in inputs], call)
    out = [inputs[place] for place in targets] or None
    made = apply_several(spec(name), inputs, tuple(attrs.items()), numbers, out)
    ours = [[x.asnumpy() for x in made], [x.asnumpy() for x in inputs]]
    return ours, runtimes.real().call("invoke", [*told, targets])


def is_defined(name: str, before: Sequence[Any], attrs: Mapping[str, Any], numbers: Any) -> bool:
    """Whether real MXNet has an answer that is meant."""
    whole = bool(before) and before[0].dtype.kind in "iu"
    if name.endswith("_div") and whole:
        return bool(before[1].all())  # the process ends
    if name == "_div_scalar" and whole:
        return bool(numbers[0])  # the process ends
    if name == "_rdiv_scalar" and whole:
        return bool(before[0].all())  # infinity, cut to a whole number
    if name == "_power_scalar" and before[0].dtype == np.uint8:
        return bool(numbers[0] >= 0)  # an exponent of 250 or so, and again cut
    if name == "erfinv":
        return not whole  # beyond 1, not a number, and again cut
    if name in ("argsort", "sort", "topk") and attrs["axis"] is None:
        return bool(before[0].size <= 16)  # in longer rows equal elements are in any order
    if name == "norm" and attrs["ord"] == 2:
        return not whole  # rounded to the root at every step
    if name == "L2Normalization" and before[0].dtype == np.float16:
        return bool(before[0].all())  # what keeps 0 from being divided by 0 is 0 in half precision
    if name == "SliceChannel" and attrs["squeeze_axis"]:
        return bool(before[0].ndim > 1)  # arrays without axes, which MXNet says it does not have
    if name == "_arange":
        # Steps are made whole, in half precision too.
        return bool(attrs["dtype"] in ("float32", "float64") or attrs["step"] % 1 == 0)
    if name == "Pooling" and attrs.get("pooling_convention") == "full":
        # The last window may lie beside the array, where it finds garbage, or in the padding,
        # where the largest element is -inf, but for half precision -65504.
        strides = attrs.get("stride") or (1,) * len(attrs["kernel"])
        beside = any(s > k for s, k in zip(strides, attrs["kernel"], strict=True))
        return not beside and not (attrs["pool_type"] == "max" and before[0].dtype == np.float16)
    if name == "SoftmaxActivation" and attrs["mode"] == "instance":
        return bool(before[0].ndim == 2)  # oneDNN takes the last axis alone
    if name == "mp_nag_mom_update":
        return not numbers[2]  # the momentum takes the decay of the new weight
    if name == "repeat":
        return bool(attrs["repeats"])  # the shape is not that of no elements
    return True


def tolerance_of(arrays: Sequence[Any], name: str = "") -> float:
    """Return the tolerance of the coarsest type, in which MXNet may have computed."""
    if name in UPDATES and any(x.dtype == np.float16 for x in arrays):
        return 0.05  # MXNet rounds each step, and a rule takes the difference of large terms
    return max((TOLERANCE.get(x.dtype.name, 0) for x in arrays), default=0)


#: Operators that move weights.
UPDATES = {name for name, op in operator_names().items() if op.mutates and "update" in name}

#: Types in which a gradient is not a matter of rounding.
PRECISE = (np.float32, np.float64)

VALUES = [name for name, op in operator_names().items() if not op.draws]


@pytest.mark.parametrize("name", sorted({*VALUES} - NOT_IN_MXNET))
@given(data=st.data())
@settings(max_examples=12, suppress_health_check=[HealthCheck.filter_too_much])
def test_an_operator_makes_what_it_makes_in_mxnet(runtimes: Runtimes, name: str, data: Any):
    inputs, attrs, numbers = call = data.draw(CALLS[name])
    before = [x.asnumpy() for x in inputs]
    assume(is_defined(name, before, attrs, numbers))
    (found, after), outcome = both(runtimes, name, call)
    assume("MXNetError" not in outcome.error)  # MXNet has fewer types, and no empty arrays
    assert not outcome.error, outcome.message
    expected, their_after = outcome.values[0]
    if name == "BatchNorm" and attrs.get("fix_gamma", True):
        their_after[1] = after[1]  # MXNet also writes 1 to gamma
    # Either may have more: mean and variance of BatchNorm, the mask of a random LeakyReLU.
    shown = min(len(found), len(expected))
    told = f"{name}({before}, {attrs}, {numbers})"
    tolerance = tolerance_of([*before, *expected], name)
    alike(found[:shown], expected[:shown], told, tolerance)
    alike(after, their_after, f"inputs after {told}", tolerance)


def test_what_is_not_compared_is_no_operator_of_mxnet(runtimes: Runtimes):
    for name in NOT_IN_MXNET:
        outcome = runtimes.real().call("invoke", [name, [], {}, (), False, []])
        assert "MXNetError" in outcome.error
        assert name in VALUES


# Gradients

SLOPED = [
    name for name in VALUES if operator_names()[name].gradient and not name.startswith(IN_PLACE)
]


def has_slope(name: str, attrs: Mapping[str, Any]) -> bool:
    """Whether real MXNet goes back as it should, and ours can be told from it."""
    if name == "LeakyReLU":
        # Its scale twice for selu; for rrelu a mask that is written in training only.
        return bool(attrs["act_type"] not in ("selu", "rrelu"))
    if name == "Pooling":
        # Of equal elements each has its own largest; averages of part windows are of other sizes.
        how = attrs["pool_type"], attrs["pooling_convention"]
        return how[0] == "sum" or how == ("avg", "valid")
    return True


@pytest.mark.parametrize("name", sorted({*SLOPED} - NOT_IN_MXNET))
@given(data=st.data())
@settings(max_examples=8, suppress_health_check=[HealthCheck.filter_too_much])
def test_gradients_are_those_of_mxnet(runtimes: Runtimes, name: str, data: Any):
    inputs, attrs, numbers = call = data.draw(CALLS[name])
    before = [x.asnumpy() for x in inputs]
    assume(is_defined(name, before, attrs, numbers) and has_slope(name, attrs))
    made = outputs_of(spec(name), [x.copy() for x in before], attrs, numbers)
    precise = all(x.dtype in PRECISE for x in made[:1] + tuple(x for x in before if is_float(x)))
    assume(precise and made[0].size)
    head = np.cos(np.arange(made[0].size)).reshape(made[0].shape).astype(made[0].dtype)
    told = as_told(name, [x.copy() for x in before], call)
    heads = [head, *map(np.zeros_like, made[1:])]
    found = gradients(spec(name), before, heads, attrs, numbers)
    wrt = [place for place in found if is_float(before[place])]
    try:
        outcome = runtimes.real().call("go_back", [*told, wrt, head])
    except ProcessDied:
        # MXNet's gradient of LRN ends its process now and then, with the same arguments too.
        runtimes.real().define(INVOKE)
        assume(name != "LRN")
        raise
    assume("MXNetError" not in outcome.error)
    assert not outcome.error, outcome.message
    for place, expected in zip(wrt, outcome.values[0], strict=True):
        # At poles, and where it divides by an element that is 0, MXNet has none; ours may.
        known = np.abs(expected) < 1e30
        assert (found[place].shape, found[place].dtype) == (expected.shape, expected.dtype)
        alike(found[place][known], expected[known], f"{name}({before}, {attrs}, {numbers})", 1e-4)


def is_float(x: Any) -> bool:
    return bool(x.dtype.kind == "f")


# Random draws

MANY = (200, 200)
WEIGHTS = np.tile(np.array([0.1, 0.2, 0.7], "f4"), (4, 1))


def drawn(name: str) -> Call:
    """Return a call with so many draws that their moments say what is drawn."""
    if name == "_sample_multinomial":
        return [mx.nd.array(WEIGHTS)], {"shape": (10_000,)}, ()
    if name == "_shuffle":
        return [mx.nd.arange(900)], {}, ()
    if name == "Dropout":
        return [mx.nd.ones(MANY)], {"p": 0.3, "train": True}, ()
    family, _, kind = name.removesuffix("_like")[1:].partition("_")
    numbers = PARAMETERS[kind]  # a KeyError: say there what to draw from the new distribution
    if family == "sample":
        each = [mx.nd.full((4,), number) for number in numbers]
        return each, {"shape": (10_000,), "dtype": "float32"}, ()
    if name.endswith("_like"):
        return [mx.nd.zeros(MANY)], {}, numbers
    dtype = "int32" if kind == "randint" else "float32"
    return [], {"shape": MANY, "dtype": dtype}, numbers


def moments(x: Any) -> list[float]:
    """Return mean, deviation and skewness."""
    mean, deviation = x.mean(dtype="f8"), x.std(dtype="f8")
    return [mean, deviation, ((x - mean) ** 3).mean(dtype="f8") / deviation**3]


@pytest.mark.parametrize("name", [name for name, op in operator_names().items() if op.draws])
def test_an_operator_draws_what_it_draws_in_mxnet(runtimes: Runtimes, name: str):
    runtimes.real().get("mx.random.seed(3)")
    mx.random.seed(3)
    ((found, *_), _), outcome = both(runtimes, name, drawn(name))
    assert not outcome.error, outcome.message
    (expected, *_), _ = outcome.values[0]
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    np.testing.assert_allclose(moments(found), moments(expected), rtol=0.05, atol=0.1)
