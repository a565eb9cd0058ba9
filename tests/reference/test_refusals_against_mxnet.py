"""What MXNet refuses, every operator of the registry refuses; what it takes, they take.

A call that fits is changed in one respect: an extent, an axis, a type, an input or an attribute
more or less. Either both runtimes refuse it with an `MXNetError`, or both make the same of it. The
tables below say where not: each of their entries belongs to a line of the differences that the
docstring of `mxprof_nb.runtime` lists.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import mxprof_nb.runtime as mx
from mxprof_nb.errors import EngineError, OperatorError
from mxprof_nb.runtime.nd.array import apply_several
from mxprof_nb.runtime.ops import operator_names, spec
from tests.property.operator_calls import CALLS
from tests.reference.agreement import alike
from tests.reference.conftest import Runtimes
from tests.reference.misuse import Misuse, misuses
from tests.reference.runtime_process import ProcessDied
from tests.reference.test_coverage import (
    INVOKE,
    NOT_IN_MXNET,
    as_told,
    is_defined,
    targets_of,
    tolerance_of,
)
from tests.reference.test_shape_against_mxnet import is_read_by_mxnet

#: Tells a refusal from a result, and at which of its two places it came.
ATTEMPT = """
def attempt(*call):
    made = []
    try:
        made, _ = invoke(*call)
        return ["made", [x.asnumpy() for x in made]]
    except (mx.MXNetError, IndexError) as error:
        for _ in range(100):
            try:
                mx.nd.waitall()
                break
            except Exception:
                pass
        told = "" if isinstance(error, mx.MXNetError) else f"{type(error).__name__}: "
        return ["read" if made else "call", f"{told}{error}"]

mx.attempt = attempt
"""

#: What MXNet says when it refuses a type or a number of axes alone, which we take.
TAKEN = re.compile(
    "only support|not support|not implemented|valid values are|Unsupported data type|"
    "data type do not match|Too many reduction axes"
)

#: What MXNet does not look at, and makes something of, or ends, or uses memory beside an array:
#: operator to what our refusal says.
STRICTER = {
    "BatchNorm": "must have shape",
    "GroupNorm": "must have shape",
    "Pad": "reflects more than there is",
    "Pooling": r"needs one number for each axis|must be \d or more",
    "Reshape": "holds|at least one axis",
    "SoftmaxOutput": "an axis of samples and one of classes|label must have shape",
    "batch_take": "needs a matrix and a position for each row",
    "scatter_nd": "out of bounds",
    "stack": "the shapes differ",
    "transpose": "must name each axis once",
    "_unravel_index": "numbers in a row|has no elements",
    # Several images are not joined here.
    "UpSampling": "it takes 1 input, not 2",
    # Parameters for which there is no distribution.
    "_random_negative_binomial": "probability must be above 0",
    "_random_negative_binomial_like": "probability must be above 0",
    "_sample_exponential": "must be above 0",
    "_sample_multinomial": "probability is negative",
    "_sample_poisson": "must not be negative",
}


def ends_mxnet(name: str, call: Misuse) -> bool:
    """Whether the process of real MXNet would end, or write beside an array."""
    if name == "Reshape":
        return not is_read_by_mxnet(call.attrs["shape"])
    if name in ("Convolution", "Deconvolution"):
        return bool(call.attrs["num_group"] == 0)
    if name == "GroupNorm":
        return bool(call.attrs["num_groups"] == 0)
    if name == "_unravel_index":
        return 0 in call.attrs["shape"][1:] or (call.inputs[:1] != [] and call.inputs[0].ndim != 1)
    if name == "scatter_nd":
        _, indices = call.inputs if len(call.inputs) == 2 else (None, np.zeros((1, 1)))
        extents = call.attrs["shape"][: len(indices)]
        return any(row.max() >= extent for row, extent in zip(indices, extents, strict=False))
    return False


def is_meant(name: str, call: Misuse, base: Misuse) -> bool:
    """Whether a result of real MXNet has values that are meant."""
    if len(call.inputs) != len(base.inputs):
        return True
    if name == "clip" and call.inputs[0].dtype == np.uint8:
        return bool(min(call.numbers) > -1)  # a bound of 255
    if name == "Pooling" and len({len(call.attrs[key]) for key in ("kernel", "stride")}) > 1:
        return True
    if name == "_rpower_scalar":
        return bool(call.inputs[0].dtype.kind == "f")  # whole numbers that overflow
    return is_defined(name, call.inputs, call.attrs, call.numbers)


def here(name: str, call: Misuse) -> tuple[str, Any]:
    """Return at which place our runtime refuses a call and with what error, or what it makes."""
    inputs = [mx.nd.array(x, dtype=x.dtype) for x in call.inputs]
    out = [inputs[place] for place in targets_of(name, inputs)] or None
    attrs, numbers = tuple(call.attrs.items()), tuple(call.numbers)
    place = "call"
    try:
        made = apply_several(spec(name), inputs, attrs, numbers, out)
        place = "read"
        return "made", [x.asnumpy() for x in made]
    except EngineError as error:
        return place, error


def there(runtimes: Runtimes, name: str, call: Misuse) -> tuple[str, Any]:
    """Return the same of real MXNet, with its message; where its process ends, it refuses."""
    real = runtimes.real()
    if not real.get("hasattr(mx, 'attempt')"):
        real.define(INVOKE + ATTEMPT)
    told = as_told(name, call.inputs, ([], dict(call.attrs), tuple(call.numbers)))
    try:
        outcome = real.call("attempt", [*told, targets_of(name, call.inputs)])
    except ProcessDied as end:
        return "call", str(end)
    assert not outcome.error, outcome.message
    place, what = outcome.values[0]
    return place, what


def check_message(name: str, place: str, error: EngineError) -> None:
    """Demand that a refusal names the operator, and on a worker the line that queued it too."""
    public = re.sub("^_(contrib_|np_)?", "", name)
    assert public.lower() in str(error).lower()
    if place == "read":
        assert isinstance(error, OperatorError)
        assert error.operator == name
        assert "test_refusals_against_mxnet.py, line" in error.site


@pytest.mark.parametrize("name", sorted({*operator_names()} - NOT_IN_MXNET))
@given(data=st.data())
# The same calls each time: a rare one that differs is for whoever raises the number to find.
@settings(max_examples=10, derandomize=True, suppress_health_check=[HealthCheck.filter_too_much])
def test_a_call_that_does_not_fit_is_refused_where_mxnet_refuses_it(
    runtimes: Runtimes, name: str, data: Any
):
    inputs, attrs, numbers = data.draw(CALLS[name])
    base = Misuse("as it is", [x.asnumpy() for x in inputs], attrs, numbers)
    call = data.draw(st.sampled_from([*misuses(name, base)]))
    assume(not ends_mxnet(name, call) and is_meant(name, call, base))
    (ours, mine), (theirs, expected) = here(name, call), there(runtimes, name, call)
    told = f"{name}, {call}\nMXNet, {theirs}: {expected}\nours, {ours}: {mine}"
    if ours != "made":
        check_message(name, ours, mine)
    if ours == theirs == "made":
        shown = min(len(mine), len(expected))
        if spec(name).draws:
            mine, expected = ([(x.shape, x.dtype) for x in each] for each in (mine, expected))
        tolerance = tolerance_of([*call.inputs, *(x for x in expected if hasattr(x, "dtype"))])
        alike(mine[:shown], expected[:shown], told, tolerance)
    elif theirs == "made":
        assume(all(x.size for x in call.inputs))  # no arrays in MXNet
        assert re.search(STRICTER.get(name, "never"), str(mine)), told
    elif ours == "made":
        empty = any(x.size == 0 for x in (*call.inputs, *mine))
        one_label = name == "SoftmaxOutput" and "Shape inconsistent" in expected
        assert empty or one_label or TAKEN.search(expected), told
    else:
        # Ours may come earlier, never later.
        assert (ours, theirs) != ("read", "call"), told
        assert isinstance(mine, IndexError) or not expected.startswith("IndexError"), told
