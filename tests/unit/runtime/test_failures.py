"""Failures travel to where a value is needed: to exactly the dependants, and never as garbage."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import mxprof_nb.runtime as mx
from mxprof_nb.errors import OperatorError, ShapeError
from mxprof_nb.runtime.engine import Operator, ThreadedEngine, Variable, default_engine
from mxprof_nb.runtime.nd import NDArray

nd = mx.nd


def bad(shape: Any = 2) -> NDArray:
    """Return an array whose value cannot be computed, as MXNet's own example makes one."""
    return nd.random.normal(scale=-1, shape=shape)


SYNC_POINTS: dict[str, Callable[[NDArray], Any]] = {
    "asnumpy": lambda x: x.asnumpy(),
    "asscalar": lambda x: x.asscalar(),
    "wait_to_read": lambda x: x.wait_to_read(),
    "print": lambda x: print(x),
    "repr": repr,
    "float": float,
    "bool": bool,
    "numpy": np.asarray,
    "waitall": lambda x: nd.waitall(),
    "array of it": nd.array,
}


@pytest.mark.parametrize("point", SYNC_POINTS)
def test_a_failure_surfaces_at_the_sync_point_and_not_before(point):
    x = bad(1)
    y = x + 1
    with pytest.raises(OperatorError) as caught:
        SYNC_POINTS[point](y)
    assert caught.value.operator == "_random_normal"
    assert "scale=-1" in str(caught.value)
    assert isinstance(caught.value.__cause__, ValueError)


def test_the_message_names_the_operator_that_failed_first_and_its_inputs(failing):
    x = nd.zeros((2, 3))
    broken = failing(ZeroDivisionError("by hand"))
    with pytest.raises(OperatorError, match="' failed: ZeroDivisionError: by hand"):
        (broken + 1).wait_to_read()
    negative = nd.array([[-1, 0], [0, 1]])
    with pytest.raises(
        OperatorError, match=r"Operator '_linalg_potrf' failed on inputs \(2, 2\): .*Error"
    ):
        (nd.linalg.potrf(negative).reshape((1, 4)).sum() + x).wait_to_read()


def test_the_message_names_the_line_that_queued_it_though_nobody_recorded():
    broken = nd.random.normal(scale=-1)  # this line
    with pytest.raises(
        OperatorError, match=r"queued at test_failures.py, line \d+: broken = nd"
    ) as e:
        (broken + 1).wait_to_read()
    assert e.value.site.endswith("# this line")


def test_waitall_raises_the_first_failure_and_names_the_others():
    kept = [nd.random.normal(scale=scale) for scale in (-1, -2)]
    with pytest.raises(OperatorError, match="scale=-1") as first:
        nd.waitall()
    assert ["scale=-2" in note for note in first.value.__notes__] == [True]
    nd.waitall()
    for array in kept:
        with pytest.raises(OperatorError):
            array.asnumpy()


def test_a_failure_reaches_dependants_however_far_and_nobody_else():
    x = bad()
    chain = x
    for _ in range(5):
        chain = chain * 2
    sibling = nd.ones(2) + 1
    mixed = sibling + x
    for dependant in (x, chain, mixed, x[0], x.reshape((2, 1)), x.sum(), nd.dot(mixed, sibling)):
        with pytest.raises(OperatorError, match="_random_normal"):
            dependant.wait_to_read()
    assert sibling.asnumpy().tolist() == [2, 2]


def test_a_value_that_was_never_computed_raises_each_time_and_is_never_garbage():
    x = bad()
    for _ in range(3):
        with pytest.raises(OperatorError):
            x.asnumpy()
    with pytest.raises(OperatorError):
        (x + 1).asnumpy()


def test_each_raise_is_an_error_of_its_own():
    x = bad()
    errors = []
    for _ in range(3):
        with pytest.raises(OperatorError) as caught:
            x.wait_to_read()
        errors.append(caught.value)
    assert len(set(map(id, errors))) == 3

    def depth(error: BaseException) -> int:
        trace, found = error.__traceback__, 0
        while trace is not None:
            trace, found = trace.tb_next, found + 1
        return found

    assert depth(errors[0]) == depth(errors[-1])
    cause = errors[0].__cause__
    assert cause is not None
    assert cause.__traceback__ is None


def test_waitall_raises_the_first_failure_once():
    first, second = bad(), bad()
    with pytest.raises(OperatorError):
        nd.waitall()
    nd.waitall()
    for x in (first, second):
        with pytest.raises(OperatorError):
            x.wait_to_read()
    nd.waitall()


def test_waitall_tells_which_failed_first(failing):
    for text in ("first", "second"):
        failing(ValueError(text))
        default_engine().observe()
    with pytest.raises(OperatorError, match="ValueError: first"):
        nd.waitall()
    nd.waitall()


def test_waitall_is_silent_about_what_was_raised_before():
    x = bad()
    with pytest.raises(OperatorError):
        x.wait_to_read()
    nd.waitall()


def test_waitall_raises_for_an_array_that_nobody_has_any_more():
    bad()
    with pytest.raises(OperatorError):
        nd.waitall()


def test_observing_neither_raises_nor_clears():
    x = bad()
    engine = default_engine()
    assert engine.observe()
    assert engine.observe(1.0)
    with pytest.raises(OperatorError):
        nd.waitall()
    with pytest.raises(OperatorError):
        x.wait_to_read()


def test_an_array_that_is_written_over_is_good_again():
    x = bad()
    with pytest.raises(OperatorError):
        x.wait_to_read()
    x[:] = 5
    assert x.asnumpy().tolist() == [5, 5]
    y = bad()
    y[:] = np.array([1, 2])
    assert y.asnumpy().tolist() == [1, 2]
    z = bad()
    nd.array([3, 4]).copyto(z)
    assert (z + 1).asnumpy().tolist() == [4, 5]


@pytest.mark.parametrize(
    "write",
    [
        lambda x: x.__setitem__(0, 5),
        lambda x: x.__setitem__(slice(0, 1), nd.ones(1)),
        lambda x: x[0:1].__setitem__(slice(None), 5),
        lambda x: x[0:1].__setitem__(slice(None), nd.ones(1)),
        lambda x: x[0:1].__iadd__(1),
        lambda x: x.__iadd__(1),
    ],
)
def test_writing_a_part_of_what_was_never_computed_does_not_make_the_rest_good(write):
    x = bad()
    write(x)
    for array in (x, x[0], x[1], x.reshape((2, 1))):
        with pytest.raises(OperatorError, match="_random_normal"):
            array.asnumpy()
    x[:] = 3
    assert x.asnumpy().tolist() == [3, 3]


def test_copying_host_data_into_a_part_of_what_was_never_computed_raises():
    x = bad()
    with pytest.raises(OperatorError, match="_random_normal"):
        x[0:1][:] = np.array([1])
    with pytest.raises(OperatorError):
        x.asnumpy()


def test_an_update_in_place_that_fails_leaves_no_half_value():
    x = nd.ones(2)
    x += bad()
    with pytest.raises(OperatorError):
        x.asnumpy()
    x[:] = 1
    assert x.asnumpy().tolist() == [1, 1]


def test_random_numbers_go_on_after_a_failure():
    mx.random.seed(3)
    expected = nd.random.uniform(shape=2).asnumpy().tolist()
    mx.random.seed(3)
    bad()
    assert nd.random.uniform(shape=2).asnumpy().tolist() == expected


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt("odd"), GeneratorExit()])
def test_no_error_of_a_kernel_ends_a_worker(failing, error):
    engine = default_engine()
    assert isinstance(engine, ThreadedEngine)
    arrays = [failing(error) for _ in range(engine.workers + 1)]
    for x in arrays:
        with pytest.raises(OperatorError, match=type(error).__name__):
            x.wait_to_read()
    assert (nd.ones(2) + 1).asnumpy().tolist() == [2, 2]
    assert all(thread.is_alive() for thread in engine.lanes[0].threads)


def test_what_does_not_fit_is_refused_when_called_and_not_later():
    engine = default_engine()
    assert isinstance(engine, ThreadedEngine)
    before = engine.state.queued
    for refused in (
        lambda: nd.dot(nd.ones((2, 3)), nd.ones((2, 3))),
        lambda: nd.ones((2, 3)) + nd.ones(4),
        lambda: nd.ones((2, 3)).sum(axis=2),
        lambda: nd.ones((2, 3)).reshape((4, 4)),
        lambda: nd.zeros((2, -3)),
    ):
        with pytest.raises(ShapeError):
            refused()
    nd.waitall()
    assert engine.state.queued - before == 6  # the arrays of ones, and nothing else


def test_a_failure_keeps_no_array_alive_but_the_one_that_failed(failing):
    class Token:
        pass

    token = Token()
    gone = weakref.ref(token)

    def run(operator: Operator, token: Any = token) -> None:
        local = token
        try:
            raise KeyError(id(local))
        except KeyError:
            raise ValueError("while handling another") from None

    array = nd.empty(2)
    default_engine().push(Operator(run, writes=(array.chunk,)))
    del run, token
    with pytest.raises(OperatorError):
        array.wait_to_read()
    default_engine().observe()
    gc.collect()
    assert gone() is None
    assert array.chunk.failure is not None


def test_a_failure_that_was_told_and_whose_arrays_are_gone_is_forgotten(failing):
    class Mine(Exception):
        pass

    error = Mine()
    kept = weakref.ref(error)
    array = failing(error)
    with pytest.raises(OperatorError):
        nd.waitall()
    del array, error
    default_engine().observe()
    gc.collect()
    assert kept() is None


def test_an_operator_without_a_name_is_called_one():
    variable = Variable()

    def run(operator: Operator) -> None:
        raise ValueError("x")

    default_engine().push(Operator(run, writes=(variable,)))
    with pytest.raises(OperatorError, match="Operator 'operator' failed"):
        nd.waitall()


class Unspeakable(Exception):
    """An error of which nothing can be asked."""

    def __str__(self) -> str:
        raise RuntimeError("no words")

    def with_traceback(self, traceback: object) -> Unspeakable:
        raise RuntimeError("no")

    @property
    def __traceback__(self) -> object:  # type: ignore[override]
        raise RuntimeError("no")


def test_an_error_that_raises_when_looked_at_ends_no_worker_and_hides_no_other():
    for _ in range(4):
        variable = mx.engine.Var()

        def fail() -> None:
            raise Unspeakable

        mx.engine.push(fail, writes=[variable])
        with pytest.raises(OperatorError, match=r"Unspeakable: .its text cannot be shown"):
            variable.wait_to_read()
    assert (nd.ones((2,)) + 1).asnumpy().tolist() == [2, 2]


def test_a_failed_function_names_the_lines_inside_it():
    def inner(value: int) -> float:
        return 1 / value  # where it broke

    def outer() -> None:
        inner(0)

    variable = mx.engine.Var()
    mx.engine.push(outer, writes=[variable])
    with pytest.raises(OperatorError) as caught:
        variable.wait_to_read()
    text = str(caught.value)
    assert text.index("in outer, line") < text.index("in inner, line")
    assert "return 1 / value  # where it broke" in text


def test_errors_that_led_to_a_failure_keep_no_frames_either():
    class Token:
        pass

    def fail(token: Token) -> None:
        saved: Exception | None = None
        try:
            raise KeyError("first")
        except KeyError as error:
            saved = error
        raise ValueError("second") from saved

    token = Token()
    gone = weakref.ref(token)
    variable = mx.engine.Var()
    mx.engine.push(partial(fail, token), writes=[variable])
    with pytest.raises(OperatorError):
        variable.wait_to_read()
    del token
    default_engine().observe()
    nd.ones((1,)).wait_to_read()  # the workers have put down what they held
    gc.collect()
    assert gone() is None


def test_waiting_for_everything_describes_ten_more_failures_and_counts_the_rest():
    for _ in range(30):
        nd.random.normal(scale=-1)
    with pytest.raises(OperatorError) as caught:
        nd.waitall()
    assert len(caught.value.__notes__) == 11
    assert caught.value.__notes__[-1] == "19 more failed."


def test_naive_engine_raises_the_failure_of_a_function_that_writes_nothing():
    before = mx.engine.get_type()
    mx.engine.set_type("NaiveEngine")
    try:
        with pytest.raises(OperatorError, match="division by zero"):
            mx.engine.push(lambda: 1 / 0)
        variable = mx.engine.Var()

        def leave() -> None:
            raise SystemExit(3)

        with pytest.raises(SystemExit):
            mx.engine.push(leave, writes=[variable])
        with pytest.raises(OperatorError, match="SystemExit"):
            variable.wait_to_read()
    finally:
        mx.engine.set_type(before)
