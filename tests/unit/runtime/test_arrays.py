"""`NDArray`: what shares memory, what is copied, what waits, and how values get in and out."""

from __future__ import annotations

import copy
import pickle
import re
from typing import Any

import numpy as np
import pytest

import mxprof_nb.runtime as mx
from mxprof_nb.errors import EngineError, ShapeError
from mxprof_nb.runtime.engine import default_engine

nd = mx.nd


def cube() -> Any:
    return nd.arange(24).reshape((2, 3, 4))


# Known without waiting


def test_shape_type_and_place_are_known_before_the_value(gate):
    x = nd.ones((2, 3), dtype="int8")
    gate.hold(x)
    y = x + 1
    assert (y.shape, y.dtype, y.size, y.ndim, len(y)) == ((2, 3), np.int8, 6, 2, 2)
    assert y.context == y.ctx == mx.cpu(0)
    gate.open()
    assert y.asnumpy().tolist() == [[2, 2, 2], [2, 2, 2]]


def test_an_operator_returns_before_it_has_run(gate):
    x = nd.ones(2)
    gate.hold(x)
    y = (x + 1).sum()
    assert default_engine().pending >= 3
    gate.open()
    assert y.asscalar() == 4
    nd.waitall()
    assert default_engine().pending == 0


# Views and copies

VIEWS = {
    "row": (lambda x: x[1], (3, 4)),
    "last row": (lambda x: x[-1], (3, 4)),
    "row of a row": (lambda x: x[1][2], (4,)),
    "element": (lambda x: x[1][2][3], (1,)),
    "rows": (lambda x: x[0:1], (1, 3, 4)),
    "last rows": (lambda x: x[-1:], (1, 3, 4)),
    "rows of a row": (lambda x: x[1][1:], (2, 4)),
    "no rows": (lambda x: x[1:1], (0, 3, 4)),
    "rows backwards": (lambda x: x[2:1], (0, 3, 4)),
    "all rows": (lambda x: x[:], (2, 3, 4)),
    "reshape": (lambda x: x.reshape((4, 6)), (4, 6)),
    "reshape by numbers": (lambda x: x.reshape(4, 6), (4, 6)),
    "what is left": (lambda x: x.reshape((-1, 4)), (6, 4)),
    "as it was": (lambda x: x.reshape((0, -1)), (2, 12)),
    "reshape of rows": (lambda x: x[1:].reshape(-1), (12,)),
    "rows and columns": (lambda x: x[1, 1:], (2, 4)),
    "part of the last axis": (lambda x: x[1, 2, 1:3], (2,)),
    "one number per axis": (lambda x: x[1, 2, 3], (1,)),
    "ellipsis": (lambda x: x[...], (2, 3, 4)),
    "nothing": (lambda x: x[()], (2, 3, 4)),
    "new axis": (lambda x: x[None, 1], (1, 3, 4)),
    "one row by steps": (lambda x: x[::2], (1, 3, 4)),
    "one row backwards": (lambda x: x[:0:-1], (1, 3, 4)),
    "the rest of the axes": (lambda x: x.reshape((0, -2)), (2, 3, 4)),
    "two axes as one": (lambda x: x.reshape((-3, 4)), (6, 4)),
    "an axis as two": (lambda x: x.reshape((-4, 1, -1, -3)), (1, 2, 12)),
    "read from the right": (lambda x: x.reshape((-1, 0), reverse=True), (6, 4)),
    "by keyword": (lambda x: x.reshape(shape=(6, 4)), (6, 4)),
}


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_shares_memory_both_ways(name):
    make, shape = VIEWS[name]
    x = cube()
    view = make(x)
    assert view.shape == shape
    assert view.asnumpy().shape == shape
    x[:] = 5
    assert (view.asnumpy() == 5).all()
    view[:] = 7
    assert (x.asnumpy() == 7).sum() == view.size
    view += 1
    assert (x.asnumpy() == 8).sum() == view.size
    assert view.chunk is x.chunk


COPIES = {
    "column": lambda x: x[:, 1],
    "every second column": lambda x: x[:, ::2],
    "backwards": lambda x: x[::-1],
    "by positions": lambda x: x[[0, 1]],
    "by a mask": lambda x: x[np.array([True, False])],
    "function": lambda x: nd.reshape(x, (24,)),
    "one axis more": lambda x: x.expand_dims(0),
    "flat": lambda x: x.flatten(),
    "transpose": lambda x: x.T,
    "the same type": lambda x: x.astype("float32"),
    "copy": lambda x: x.copy(),
    "array of an array": lambda x: nd.array(x),
    "asnumpy": lambda x: nd.array(x.asnumpy()),
    "another device": lambda x: x.copyto(mx.cpu(1)),
    "sum over nothing left": lambda x: x.max(axis=0),
}


@pytest.mark.parametrize("name", COPIES)
def test_a_copy_has_memory_of_its_own(name):
    x = cube()
    copy = COPIES[name](x)
    before = copy.asnumpy()
    x[:] = -1
    np.testing.assert_array_equal(copy.asnumpy(), before)
    copy[:] = -2
    assert (x.asnumpy() == -1).all()


def test_a_one_dimensional_transpose_is_a_copy_too():
    x = nd.arange(3)
    y = x.T
    y[:] = 9
    assert x.asnumpy().tolist() == [0, 1, 2]


def test_the_value_handed_out_is_a_copy():
    x = nd.ones(2)
    x.asnumpy()[:] = 9
    assert x.asnumpy().tolist() == [1, 1]


def test_astype_without_copy_returns_the_array_itself_if_it_can():
    x = nd.ones(2)
    assert x.astype("float32", copy=False) is x
    assert x.astype("float64", copy=False).dtype is np.float64


def test_a_view_of_an_array_that_is_gone_keeps_the_memory():
    view = (nd.arange(4) + 1)[2:]
    assert view.asnumpy().tolist() == [3, 4]


def test_what_was_written_before_a_view_was_taken_is_seen_through_it(gate):
    x = nd.zeros((2, 2))
    gate.hold(x)
    x += 3
    row = x[1]
    x *= 2
    gate.open()
    assert row.asnumpy().tolist() == [6, 6]


@pytest.mark.parametrize(
    "shape",
    [(5, 5), (-1, 5), (-1, -1), (-5,), (25,), (0, 0, 0, 0), (-3, -3), (-4, -1, -1), (), (4,)],
)
def test_an_impossible_shape_is_refused_when_called(shape):
    with pytest.raises(ShapeError, match="reshape"):
        cube().reshape(shape)


# Indexing


@pytest.mark.parametrize("key", [2, -3, (0, 3), (0, 0, 0, 0), (slice(None), 5)])
def test_an_index_outside_the_array_is_an_index_error(key):
    with pytest.raises(IndexError):
        cube()[key]


@pytest.mark.parametrize("key", [True, "a", 1.5, (0, None, {}), ([0], "b")])
def test_only_numbers_slices_ellipsis_none_and_arrays_are_an_index(key):
    with pytest.raises(IndexError, match=r"indexed by numbers, slices, \.\.\., None and arrays"):
        cube()[key]


def test_numbers_of_numpy_are_an_index_too():
    x = cube()
    assert x[np.int64(1)].shape == (3, 4)
    assert x[np.int8(1) : np.int8(2)].shape == (1, 3, 4)
    assert x[np.uint8(1), np.int16(2), 0].asscalar() == 20


def test_iteration_goes_over_rows():
    assert [row.asnumpy().tolist() for row in nd.array([[1, 2], [3, 4]])] == [[1, 2], [3, 4]]


SETS: dict[str, tuple[Any, Any]] = {
    "number to all": (slice(None), 5),
    "number to a row": (1, 5),
    "number to rows": (slice(1, 2), 5),
    "number to a column": ((slice(None), 1), 5),
    "number to one element": ((1, 2, 3), 5),
    "list to all rows": (slice(None), [1, 2, 3, 4]),
    "list to a row": (1, [1, 2, 3, 4]),
    "array to an axis": ((0, slice(None), 1), np.array([7, 8, 9])),
    "array of another type": (0, np.arange(12, dtype="int64").reshape(3, 4)),
    "array that is broadcast": (slice(None), np.array([[1], [2], [3]])),
    "one element to many": ((slice(None), 1), np.array([6])),
}


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("wrap", [False, True], ids=["host data", "NDArray"])
def test_assignment_does_what_it_does_in_numpy(name, wrap):
    key, value = SETS[name]
    expected = np.arange(24, dtype="f4").reshape(2, 3, 4)
    x = cube()
    expected[key] = value
    x[key] = nd.array(value) if wrap and not np.isscalar(value) else value
    np.testing.assert_array_equal(x.asnumpy(), expected)


def test_an_array_of_another_type_is_converted_on_assignment():
    x = nd.zeros(2, dtype="int32")
    x[:] = nd.array([1.5, -2.5])
    assert x.asnumpy().tolist() == [1, -2]
    x[0:1] = nd.array([7.5], dtype="float64")
    assert x.asnumpy().tolist() == [7, -2]


@pytest.mark.parametrize("key", [slice(None), slice(0, 2), 0, (0, 0)])
def test_a_value_that_does_not_fit_is_refused_and_nothing_changes(key):
    x = cube()
    for value in (np.zeros(5), nd.zeros(5)):
        with pytest.raises(ShapeError):
            x[key] = value
    assert x.asnumpy().tolist() == cube().asnumpy().tolist()


def test_assigning_an_array_to_itself_changes_nothing():
    x = nd.arange(3)
    x[:] = x
    assert x.asnumpy().tolist() == [0, 1, 2]


def test_copying_into_an_array_must_keep_its_shape():
    with pytest.raises(ShapeError, match="Shape and type must agree"):
        nd.zeros(3).copyto(nd.zeros((2, 3)))


def test_data_is_copied_in_after_everything_that_still_reads_the_old(gate):
    x = nd.array([1, 2])
    blocker = nd.zeros(2)
    gate.hold(blocker)
    y = x + blocker
    gate.open()
    x[:] = np.array([8, 9])
    assert y.asnumpy().tolist() == [1, 2]
    assert x.asnumpy().tolist() == [8, 9]


# Conversions


def test_one_element_is_a_number():
    x = nd.array([2.5])
    assert x.asscalar() == 2.5
    assert isinstance(x.asscalar(), np.float32)
    assert float(x) == 2.5
    assert int(x) == 2
    assert nd.array([[3]], dtype="int8").asscalar() == 3
    assert [10, 11, 12][nd.array([1], dtype="int32")] == 11


def test_more_than_one_element_is_no_number():
    for convert in (lambda x: x.asscalar(), float, int, bool):
        with pytest.raises(ValueError, match=r"not a scalar|ambiguous"):
            convert(nd.ones(2))


def test_only_whole_numbers_are_an_index():
    with pytest.raises(TypeError, match="Only integer arrays"):
        [0, 1][nd.array([1])]


@pytest.mark.parametrize(("values", "truth"), [([0], False), ([2], True), ([], False)])
def test_truth_is_that_of_the_only_element(values, truth):
    assert bool(nd.array(values)) is truth


def test_numpy_takes_the_value_as_a_copy():
    x = nd.array([1, 2])
    taken = np.asarray(x)
    taken[:] = 5
    assert x.asnumpy().tolist() == [1, 2]
    assert np.asarray(x, dtype="int32").dtype == np.int32
    with pytest.raises(ValueError, match="copied out"):
        x.__array__(copy=False)


def test_an_array_prints_its_value_shape_and_place():
    assert repr(nd.ones((2, 2))) == "\n[[1. 1.]\n [1. 1.]]\n<NDArray 2x2 @cpu(0)>"
    assert str(nd.array([5], mx.cpu(1), "int32")) == "\n[5]\n<NDArray 1 @cpu(1)>"


def test_arrays_hash_by_identity_though_they_compare_by_element():
    x, y = nd.ones(1), nd.ones(1)
    assert hash(x) == hash(x) != hash(y)


@pytest.mark.parametrize("other", ["a", None, [1, 1]])
def test_what_is_no_number_cannot_be_compared(other: Any):
    with pytest.raises(TypeError, match="compared with an NDArray or a number"):
        nd.ones(2) == other  # noqa: B015


@pytest.mark.parametrize(
    ("key", "shape"), [(slice(None), (3, 4)), (slice(0, 2), (2, 4)), (1, (4,)), ([0, 2], (2, 4))]
)
def test_what_does_not_fit_a_part_is_told_with_its_own_shape_and_that_of_the_part(
    key: Any, shape: tuple[int, ...]
):
    told = r"float32\[3\] cannot be assigned to a part of float32\[3, 4\] whose shape is "
    with pytest.raises(ShapeError, match=told + re.escape(str(shape))):
        nd.zeros((3, 4))[key] = nd.ones(3)


# Devices


def test_a_device_is_equal_to_itself_wherever_it_comes_from():
    assert mx.cpu(1) is mx.Context("cpu", 1)
    assert mx.cpu(1) != mx.cpu(0)
    assert str(mx.cpu(2)) == repr(mx.cpu(2)) == "cpu(2)"
    assert mx.cpu(2).label == "cpu/2"
    assert mx.current_context() is mx.cpu(0)


def test_a_device_survives_pickling():
    import pickle

    assert pickle.loads(pickle.dumps(mx.cpu(1))) is mx.cpu(1)


@pytest.mark.parametrize("device", [("gpu", 0), ("cpu", -1)])
def test_a_device_that_does_not_exist_is_refused(device):
    with pytest.raises(EngineError, match="no device"):
        mx.Context(*device)


def test_results_live_where_the_first_input_does():
    x = nd.ones(2, mx.cpu(1))
    assert (x + 1).context == mx.cpu(1)
    assert x.as_in_context(mx.cpu(1)) is x
    moved = x.as_in_context(mx.cpu(0))
    assert moved.context == mx.cpu(0)
    assert moved.asnumpy().tolist() == [1, 1]


# In and out


@pytest.mark.parametrize(
    "source",
    [[1, 2], (1, 2), np.array([1, 2], "int8"), range(1, 3), np.arange(1, 5)[::2] * 0 + [1, 2]],
)
def test_an_array_is_made_of_anything_numpy_reads(source):
    x = nd.array(source)
    assert x.dtype is np.float32
    assert x.asnumpy().tolist() == [1, 2]


def test_changing_the_source_later_changes_nothing():
    source = np.ones(2, "float32")
    x = nd.array(source)
    source[:] = 5
    assert x.asnumpy().tolist() == [1, 1]


def test_something_that_is_no_array_is_named_with_its_position():
    for call in (lambda: nd.dot(nd.ones(2), 3), lambda: nd.dot(nd.ones(2), np.ones(2))):  # type: ignore[arg-type]
        with pytest.raises(TypeError, match=r"dot: input 2 must be an NDArray, not (int|ndarray)"):
            call()


def test_copies_and_pickles_of_a_pending_array_have_its_value_and_their_own_memory():
    pending = nd.ones((300, 300)) * 2 + 1
    for made in (copy.copy(pending), copy.deepcopy(pending), pickle.loads(pickle.dumps(pending))):
        made += 1
        assert made.asnumpy()[0, 0] == 4
        assert made.dtype == pending.dtype
    assert pending.asnumpy()[0, 0] == 3


def test_functions_of_two_arrays_refuse_what_is_none():
    for call in (lambda: nd.add(None, nd.ones(2)), lambda: nd.add(nd.ones(2), "a")):
        with pytest.raises(TypeError, match="add needs an NDArray"):
            call()


def test_an_axis_may_be_a_numpy_integer():
    assert nd.ones((2, 3)).sum(axis=np.int64(0)).shape == (3,)  # type: ignore[arg-type]
