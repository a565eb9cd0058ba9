"""Reductions and order against loops over lists, and MXNet's peculiarities."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mxprof_nb.runtime as mx
from mxprof_nb.errors import ArgumentError, ShapeError
from mxprof_nb.runtime.nd import NDArray
from mxprof_nb.runtime.ops import spec
from tests.gradients import check_gradient, gradients
from tests.values import FLOATS, INTEGERS, check

nd = mx.nd

# Reductions

REDUCTIONS: dict[str, Callable[[list[float]], float]] = {
    "sum": math.fsum,
    "mean": lambda values: math.fsum(values) / len(values),
    "max": max,
    "min": min,
    "prod": math.prod,
    "nansum": lambda values: math.fsum(v for v in values if v == v),
    "nanprod": lambda values: math.prod(v for v in values if v == v),
}
CUBE = (np.arange(24).reshape(2, 3, 4) * 7 % 11 - 5) / 4


def reduced(function: Any, values: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    """Reduce the slow way: pick the elements that share what is left of their index."""
    kept = [axis for axis in range(values.ndim) if axis not in axes]
    groups: dict[tuple[int, ...], list[float]] = {}
    for index in np.ndindex(values.shape):
        groups.setdefault(tuple(index[axis] for axis in kept), []).append(float(values[index]))
    shape = tuple(1 if axis in axes else n for axis, n in enumerate(values.shape))
    if not keepdims:
        shape = tuple(values.shape[axis] for axis in kept) or (1,)
    return np.array([function(groups[key]) for key in sorted(groups)]).reshape(shape)


@pytest.mark.parametrize("axis", [None, (), 0, 1, -1, (0, 2), (1, -1), (0, 1, 2)])
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_a_reduction_goes_over_its_axes(name, axis, keepdims):
    given = (axis,) if isinstance(axis, int) else axis or (0, 1, 2)
    axes = tuple(one % 3 for one in given)
    expected = reduced(REDUCTIONS[name], CUBE, axes, keepdims)
    x = nd.array(CUBE, dtype="float64")
    check(getattr(nd, name)(x, axis=axis, keepdims=keepdims), expected, "float64")
    if hasattr(NDArray, name):
        check(getattr(x, name)(axis=axis, keepdims=keepdims), expected, "float64")


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reducing_everything_leaves_one_element_of_the_same_type(name, dtype):
    values = [1.0, 2.0, 4.0]
    expected = REDUCTIONS[name](values)
    expected = math.trunc(expected) if dtype in INTEGERS else expected
    check(getattr(nd, name)(nd.array(values, dtype=dtype)), [expected], dtype)


@pytest.mark.parametrize(
    ("axis", "text"), [(3, "axis 3 is not in"), (-4, "axis -4 is not in"), ((0, 0), "twice")]
)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_axes_must_exist_and_be_named_once(name, axis, text):
    with pytest.raises(ShapeError, match=text):
        getattr(nd, name)(nd.ones((2, 3, 4)), axis=axis)


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS])
@pytest.mark.parametrize(("name", "best"), [("argmax", max), ("argmin", min)])
def test_positions_are_answered_in_the_type_of_the_array(name, best, dtype):
    values = [[1, 5, 2], [7, 0, 7]]
    x = nd.array(values, dtype=dtype)
    rows = [row.index(best(row)) for row in values]
    columns = [list(column).index(best(column)) for column in zip(*values, strict=True)]
    everything = [*values[0], *values[1]]
    flat = [everything.index(best(everything))]
    for call in (lambda **how: getattr(nd, name)(x, **how), getattr(x, name)):
        check(call(axis=1), rows, dtype)
        check(call(axis=0), columns, dtype)
        check(call(), flat, dtype)
        check(call(axis=-1, keepdims=True), [[row] for row in rows], dtype)


def test_a_position_is_looked_for_along_one_axis():
    with pytest.raises(ShapeError, match="one number or None"):
        nd.argmax(nd.ones((2, 2)), axis=(0, 1))  # type: ignore[arg-type]


# What MXNet's own parameters do


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_exclude_reduces_all_axes_but_those_named(name, keepdims):
    x = nd.array(CUBE, dtype="float64")
    for axis, axes in ((1, (0, 2)), ((0, -1), (1,)), ((0, 1, 2), ()), (None, (0, 1, 2))):
        expected = reduced(REDUCTIONS[name], CUBE, axes, keepdims)
        result = getattr(nd, name)(x, axis=axis, keepdims=keepdims, exclude=True)
        check(result, expected, "float64")


def test_sums_without_nan_take_it_for_the_neutral_element():
    x = nd.array([[np.nan, 2, 3], [np.nan, np.nan, 5]])
    check(nd.nansum(x, axis=1), [5, 5], "float32")
    check(x.nanprod(axis=0), [1, 2, 15], "float32")
    assert np.isnan(nd.sum(x).asnumpy()).all()
    assert np.isnan(nd.max(x, axis=1).asnumpy()).all()


def test_whole_numbers_wrap_and_means_are_cut():
    x = nd.array([100, 100, -3], dtype="int8")
    check(x.sum(), [-59], "int8")
    check(x[0:2].mean(), [100], "int8")
    check(nd.array([-3, -4], dtype="int32").mean(), [-3], "int32")
    check(nd.ones(3, dtype="bool").sum(), [True], "bool")


def test_half_precision_is_summed_in_single():
    check(nd.full((3000,), 1, dtype="float16").sum(), [3000], "float16")
    check(nd.full((3000, 2), 0.1, dtype="float16").mean(axis=0), [0.1, 0.1], "float16")


def test_nothing_sums_to_0_and_has_no_largest_element():
    x = nd.zeros((0, 3))
    check(x.sum(axis=0), [0, 0, 0], "float32")
    check(x.prod(), [1], "float32")
    for function in (nd.max, nd.min, nd.argmax, nd.argmin):
        with pytest.raises(ShapeError, match="no element to choose from"):
            function(x, axis=0)
    check(nd.max(x, axis=1), np.zeros(0), "float32")


def test_results_are_written_to_out():
    x, out = nd.array(CUBE), nd.zeros((2, 3))
    assert nd.sum_axis(x, axis=2, out=out) is out
    check(out, CUBE.sum(2), "float32")
    check(nd.max_axis(x, axis=2, out=out), CUBE.max(2), "float32")
    check(nd.argmin(x, axis=2, out=out), CUBE.argmin(2), "float32")


@pytest.mark.parametrize("dtype", FLOATS)
def test_norms_are_sums_of_sizes_or_roots_of_sums_of_squares(dtype):
    x = nd.array(CUBE, dtype=dtype)
    for axis, axes in ((None, (0, 1, 2)), (1, (1,)), ((0, -1), (0, 2))):
        for keepdims in (False, True):
            expected = reduced(lambda v: math.fsum(map(abs, v)), CUBE, axes, keepdims)
            check(nd.norm(x, ord=1, axis=axis, keepdims=keepdims), expected, dtype)
            expected = reduced(lambda v: math.hypot(*v), CUBE, axes, keepdims)
            check(x.norm(axis=axis, keepdims=keepdims), expected, dtype)


def test_a_norm_may_have_another_type():
    x = nd.array([300, 400], dtype="float16")
    check(nd.norm(x, out_dtype="float32"), [500], "float32")
    check(nd.norm(nd.array([3, 4], dtype="int32"), out_dtype="float64"), [5], "float64")
    check(nd.norm(nd.array([100, 100], dtype="int8")), [-115], "int8")
    with pytest.raises(ArgumentError, match="ord=3"):
        nd.norm(x, ord=3)


def test_vectors_are_divided_by_their_size():
    values = CUBE + 0.05
    for mode, axes in (("instance", (1, 2)), ("channel", (1,)), ("spatial", (2,))):
        sizes = reduced(lambda v: math.sqrt(math.fsum(e * e for e in v) + 0.5), values, axes, True)
        x = nd.array(values, dtype="float64")
        check(nd.L2Normalization(x, eps=0.5, mode=mode), values / sizes, "float64")
    check(nd.L2Normalization(nd.array([[3, 4]])), [[0.6, 0.8]], "float32")
    for call, text in (
        (lambda: nd.L2Normalization(nd.ones((2, 2)), mode="channel"), "three axes"),
        (lambda: nd.L2Normalization(nd.ones((2, 2)), mode="all"), "mode='all'"),
        (lambda: nd.L2Normalization(nd.ones((2, 2), dtype="int32")), "floating point"),
    ):
        with pytest.raises(ArgumentError, match=text):
            call()


def test_running_sums_go_along_an_axis_or_over_everything():
    values = [[1, -2, 3], [4, 5, -6]]
    x = nd.array(values, dtype="int32")
    check(nd.cumsum(x), [1, -1, 2, 6, 11, 5], "int32")
    check(nd.cumsum(x, axis=1), [[1, -1, 2], [4, 9, 3]], "int32")
    check(nd.cumsum(x, axis=0, dtype="float32"), [[1, -2, 3], [5, 3, -3]], "float32")
    check(nd.cumsum(nd.ones(3, dtype="bool")), [1, 2, 3], "int64")
    with pytest.raises(ShapeError, match="axis 2 is not in"):
        nd.cumsum(x, axis=2)
    with pytest.raises(ShapeError, match=r"axis -1 is not in \[0, 2\)"):
        nd.cumsum(x, axis=-1)


# Order

TIED = [[2, 5, 2, 7], [0, 0, -1, 0]]


def in_order(values: list[int], is_ascend: bool) -> list[int]:
    """Positions in order; what is equal keeps its order."""
    return sorted(range(len(values)), key=lambda n: values[n] if is_ascend else -values[n])


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "int64"])
@pytest.mark.parametrize("is_ascend", [True, False])
def test_sorting_keeps_the_order_of_what_is_equal(is_ascend, dtype):
    x = nd.array(TIED, dtype=dtype)
    orders = [in_order(row, is_ascend) for row in TIED]
    values = [[row[n] for n in order] for row, order in zip(TIED, orders, strict=True)]
    check(nd.argsort(x, is_ascend=is_ascend), orders, "float32")
    check(x.argsort(is_ascend=is_ascend, dtype="int32"), orders, "int32")
    check(nd.sort(x, is_ascend=is_ascend), values, dtype)
    check(x.sort(axis=1, is_ascend=is_ascend), values, dtype)
    flat = [*TIED[0], *TIED[1]]
    order = in_order(flat, is_ascend)
    check(nd.argsort(x, axis=None, is_ascend=is_ascend), order, "float32")
    check(nd.sort(x, axis=None, is_ascend=is_ascend), [flat[n] for n in order], dtype)
    check(x.T.sort(axis=0, is_ascend=is_ascend), np.transpose(values), dtype)


@pytest.mark.parametrize("is_ascend", [True, False])
@pytest.mark.parametrize("k", [0, 1, 2, 4])
def test_the_first_few_are_answered_in_four_ways(k, is_ascend):
    x = nd.array(TIED, dtype="float64")
    orders = [in_order(row, is_ascend)[: k or 4] for row in TIED]
    values = [[row[n] for n in order] for row, order in zip(TIED, orders, strict=True)]
    mask = [[n in order for n in range(4)] for order in orders]
    for axis, given, turned in ((-1, x, np.array), (0, x.T, np.transpose)):
        how = {"axis": axis, "k": k, "is_ascend": is_ascend}
        check(nd.topk(given, **how), turned(orders), "float32")
        check(given.topk(ret_typ="value", **how), turned(values), "float64")
        check(nd.topk(given, ret_typ="mask", **how), turned(mask), "float64")
        first, second = given.topk(ret_typ="both", dtype="uint8", **how)
        check(first, turned(values), "float64")
        check(second, turned(orders), "uint8")


def test_the_first_of_everything_are_found_in_one_row():
    x = nd.array(TIED)
    check(nd.topk(x, axis=None, k=3), [3, 1, 0], "float32")
    check(nd.topk(x, axis=None, k=1, ret_typ="mask"), [[0, 0, 0, 1], [0, 0, 0, 0]], "float32")


@pytest.mark.parametrize(
    ("how", "text"),
    [
        ({"k": 5}, "there are no 5 elements"),
        ({"ret_typ": "some"}, "ret_typ='some'"),
        ({"dtype": "int8"}, "dtype='int8'"),
        ({"axis": 2}, "axis 2 is not in"),
    ],
)
def test_wrong_wishes_for_the_first_few_are_refused(how, text):
    with pytest.raises(ArgumentError, match=text):
        nd.topk(nd.array(TIED), **how)


def test_not_a_number_is_sorted_last_and_found_as_the_largest():
    x = nd.array([np.nan, 3, 1])
    np.testing.assert_equal(nd.sort(x).asnumpy(), np.array([1, 3, np.nan], dtype="f4"))
    check(nd.argsort(x), [2, 1, 0], "float32")
    check(nd.argmax(x), [0], "float32")
    check(nd.topk(x), [0], "float32")


def test_the_strongest_channel_is_found_along_the_second_axis():
    check(nd.argmax_channel(nd.array([[1, 5, 2], [7, 0, 7]])), [1, 0], "float32")
    check(nd.array([[[1, 4], [3, 2]]], dtype="int32").argmax_channel(), [[1, 0]], "int32")
    with pytest.raises(ShapeError, match="a second axis"):
        nd.argmax_channel(nd.ones(3))


@pytest.mark.parametrize("call", [nd.argmax, nd.argmin, nd.argsort, nd.sort, nd.topk])
def test_truth_values_have_no_order(call):
    with pytest.raises(ShapeError, match="numbers are needed"):
        call(nd.ones(3, dtype="bool"))


# Gradients

DISTINCT = np.random.default_rng(3).permutation(24).reshape(2, 3, 4) / 7.3 - 1.61
AXES = [(), (0,), (1, -1), (0, 1, 2)]


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_the_gradient_of_a_reduction_is_its_slope(name, axis, keepdims):
    attrs = {"axis": axis, "keepdims": keepdims}
    check_gradient(spec(name), [DISTINCT], attrs)
    check_gradient(spec(name), [DISTINCT], {**attrs, "exclude": True})


@pytest.mark.parametrize("axis", AXES)
def test_the_gradients_of_norms_are_their_slopes(axis):
    for ord in (1, 2):
        check_gradient(spec("norm"), [DISTINCT], {"ord": ord, "axis": axis})
        check_gradient(spec("norm"), [DISTINCT], {"ord": ord, "axis": axis, "keepdims": True})
    for mode in ("instance", "channel", "spatial"):
        check_gradient(spec("L2Normalization"), [DISTINCT], {"eps": 0.3, "mode": mode})


@pytest.mark.parametrize("axis", [0, 1, -1, None])
def test_the_gradients_of_sorted_values_go_back_where_they_came_from(axis):
    for is_ascend in (True, False):
        how = {"axis": axis, "is_ascend": is_ascend}
        check_gradient(spec("sort"), [DISTINCT], how)
        check_gradient(spec("topk"), [DISTINCT], {**how, "k": 2, "ret_typ": "value"})
        check_gradient(spec("topk"), [DISTINCT], {**how, "k": 1, "ret_typ": "both"})
    check_gradient(spec("_np_cumsum"), [DISTINCT], {"axis": axis})


def test_no_gradient_flows_back_from_positions():
    for ret_typ in ("indices", "mask"):
        attrs = {"ret_typ": ret_typ}
        head = np.ones((2, 3, 4 if ret_typ == "mask" else 1))
        assert not gradients(spec("topk"), [DISTINCT], [head], attrs)[0].any()


def test_gradients_where_a_slope_is_not_defined():
    def slope(name: str, values: Any, **attrs: Any) -> Any:
        x = np.array(values, dtype="float32")
        return gradients(spec(name), [x], [np.ones(1, dtype="float32")], attrs)[0].tolist()

    assert slope("max", [1, 3, 3]) == [0, 1, 1]  # as in MXNet
    assert slope("prod", [0, 2, 3]) == [6, 0, 0]
    assert slope("prod", [0, 2, 0]) == [0, 0, 0]
    assert slope("nansum", [np.nan, 2]) == [0, 1]
    assert slope("nanprod", [np.nan, 2, 3]) == [0, 3, 2]
    assert slope("nanprod", [np.nan, 0, 3]) == [0, 3, 0]
    assert slope("norm", [0, 0]) == [0, 0]


@pytest.mark.parametrize("dtype", [*FLOATS, "int32"])
def test_gradients_keep_the_type(dtype):
    x = np.array([[1, 2, 3], [3, 1, 2]], dtype=dtype)
    for name in (*REDUCTIONS, "norm"):
        gradients(spec(name), [x], [np.ones(1, dtype=dtype)])
    gradients(spec("sort"), [x], [x])
    gradients(spec("_np_cumsum"), [x], [np.ones(6, dtype=dtype)])
    if dtype != "int32":
        gradients(spec("L2Normalization"), [x], [x])
