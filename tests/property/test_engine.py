"""Laws of the dependency engine: it agrees with running everything one after the other."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from numpy.typing import NDArray as NumpyArray

import mxprof_nb.runtime as mx
from mxprof_nb.errors import EngineError, OperatorError
from mxprof_nb.runtime.engine import (
    EngineState,
    Operator,
    ThreadedEngine,
    Variable,
    default_engine,
)
from mxprof_nb.runtime.nd import NDArray

VARIABLES = 4
some_variables = st.sets(st.integers(0, VARIABLES - 1), max_size=VARIABLES)


def nothing(operator: Operator) -> None:
    """What operators of these tests do when run."""


@dataclass(eq=False)
class Step:
    """One operator and the variables it uses, by number."""

    operator: Operator
    reads: set[int]
    writes: set[int]

    def needs(self, earlier: Step) -> bool:
        """Whether it must not begin before the earlier one has ended."""
        return bool(earlier.writes & (self.reads | self.writes) or earlier.reads & self.writes)


class EngineAgainstSerialModel(RuleBasedStateMachine):
    """Queues and ends operators in any order, and predicts what may run from first principles.

    An operator may run if and only if nothing earlier and unfinished conflicts with it. That is
    all there is to know: no overlap of a write, order per variable, and reads together follow.
    """

    @initialize()
    def start(self) -> None:
        self.state = EngineState()
        self.variables = [Variable() for _ in range(VARIABLES)]
        self.steps: list[Step] = []
        self.running: list[Step] = []
        self.finished: list[Step] = []

    def may_run(self) -> list[Step]:
        open_steps = [step for step in self.steps if step not in self.finished]
        return [
            step
            for place, step in enumerate(open_steps)
            if not any(step.needs(earlier) for earlier in open_steps[:place])
        ]

    @rule(reads=some_variables, writes=some_variables, twice=st.booleans())
    def queue(self, reads: set[int], writes: set[int], twice: bool) -> None:
        reads = reads - writes
        order = sorted(reads) * (2 if twice else 1)  # x + x reads one variable twice
        operator = Operator(
            nothing,
            [self.variables[number] for number in order],
            [self.variables[number] for number in sorted(writes)],
        )
        step = Step(operator, reads, writes)
        self.steps.append(step)
        if self.state.queue(operator):
            self.running.append(step)
        assert operator.number == len(self.steps)

    @precondition(lambda self: self.running)
    @rule(pick=st.integers(0, 1_000))
    def finish(self, pick: int) -> None:
        ended = self.running.pop(pick % len(self.running))
        released = self.state.done(ended.operator)
        self.finished.append(ended)
        by_operator = {id(step.operator): step for step in self.steps}
        let_go = [by_operator[id(operator)] for operator in released]
        assert all(step.needs(ended) and step not in self.running for step in let_go)
        assert all(operator.released_by == ended.operator.number for operator in released)
        assert [o.number for o in released] == sorted(o.number for o in released)
        self.running += let_go

    @invariant()
    def exactly_what_may_run_runs(self) -> None:
        assert {id(step) for step in self.running} == {id(step) for step in self.may_run()}
        assert self.state.pending == len(self.steps) - len(self.finished)
        assert self.state.queued == len(self.steps)

    def teardown(self) -> None:
        while self.running:
            self.finish(0)
            self.exactly_what_may_run_runs()
        assert len(self.finished) == len(self.steps) == len(set(map(id, self.finished)))
        assert self.state.pending == 0
        for variable in self.variables:
            assert not variable.readers
            assert not variable.writing
            assert not variable.queue


TestEngineAgainstSerialModel = EngineAgainstSerialModel.TestCase
TestEngineAgainstSerialModel.settings = settings(max_examples=60, stateful_step_count=30)


def test_reads_between_two_writes_run_together():
    state, variable = EngineState(), Variable()
    first, second = (Operator(nothing, writes=[variable]) for _ in range(2))
    readers = [Operator(nothing, [variable]) for _ in range(3)]
    assert state.queue(first)
    assert not any(state.queue(operator) for operator in (*readers, second))
    assert state.done(first) == readers
    assert [state.done(reader) for reader in readers] == [[], [], [second]]


def a_new_one(state: EngineState, variable: Variable) -> Operator:
    return Operator(nothing, writes=[variable])


def a_waiting_one(state: EngineState, variable: Variable) -> Operator:
    state.queue(Operator(nothing, writes=[variable]))
    waiting = Operator(nothing, writes=[variable])
    state.queue(waiting)
    return waiting


def a_finished_one(state: EngineState, variable: Variable) -> Operator:
    finished = Operator(nothing, writes=[variable])
    state.queue(finished)
    state.done(finished)
    return finished


@pytest.mark.parametrize("make", [a_new_one, a_waiting_one, a_finished_one])
def test_only_what_runs_can_end(make: Callable[[EngineState, Variable], Operator]):
    state = EngineState()
    operator = make(state, Variable())
    pending = state.pending
    with pytest.raises(EngineError, match=f"not running: operator {operator.number} "):
        state.done(operator)
    assert state.pending == pending


@pytest.mark.parametrize("make", [a_waiting_one, a_finished_one])
def test_nothing_is_queued_twice(make: Callable[[EngineState, Variable], Operator]):
    state = EngineState()
    operator = make(state, Variable())
    queued = state.queued
    with pytest.raises(EngineError, match=f"second time: operator {operator.number} "):
        state.queue(operator)
    assert state.queued == queued


# The engine with real threads

ENGINE = ThreadedEngine(workers=3, device="test/0")


@given(st.lists(st.tuples(some_variables, some_variables), max_size=40))
@settings(max_examples=40)
def test_workers_see_each_variable_as_the_program_left_it(program: list[Any]):
    variables = [Variable() for _ in range(VARIABLES)]
    values = [0] * VARIABLES
    seen: list[tuple[int, dict[int, int]]] = []
    expected: list[tuple[int, dict[int, int]]] = []
    serial = [0] * VARIABLES
    for place, (reads, writes) in enumerate(program, start=1):

        def run(operator: Operator, place=place, reads=reads | writes, writes=writes) -> None:
            seen.append((place, {number: values[number] for number in reads}))
            for number in writes:
                values[number] = place

        expected.append((place, {number: serial[number] for number in reads | writes}))
        for number in writes:
            serial[number] = place
        ENGINE.push(
            Operator(
                run,
                [variables[number] for number in reads - writes],
                [variables[number] for number in writes],
            )
        )
    ENGINE.wait_all()
    assert sorted(seen) == expected
    assert values == serial


class OutOfPaper(Exception):
    """What functions of these tests raise, with their number."""


@pytest.mark.parametrize("engine_type", ["ThreadedEnginePerDevice", "NaiveEngine"])
@pytest.mark.parametrize("bulk", [0, 3])
@given(program=st.lists(st.tuples(some_variables, some_variables, st.integers(0, 3)), max_size=25))
@settings(max_examples=30)
def test_an_error_reaches_exactly_its_dependants(engine_type: str, bulk: int, program: list[Any]):
    before = mx.engine.get_type()
    mx.engine.set_type(engine_type)
    try:
        with mx.engine.bulk(bulk):
            check_where_errors_arrive(program)
    finally:
        mx.engine.set_type(before)


def check_where_errors_arrive(program: list[Any]) -> None:
    variables = [mx.engine.Var(str(n)) for n in range(VARIABLES)]
    causes: list[int | None] = [None] * VARIABLES
    ran: list[int] = []
    expected: list[int] = []
    for place, (reads, writes, chance) in enumerate(program):

        def run(place=place, fails=chance == 0) -> None:
            ran.append(place)
            if fails:
                raise OutOfPaper(place)

        with suppress(OperatorError):  # NaiveEngine tells at once
            mx.engine.push(
                run, [variables[n] for n in sorted(reads)], [variables[n] for n in writes]
            )
        inherited = [causes[n] for n in sorted(reads) if causes[n] is not None]
        if not inherited:
            expected.append(place)
        for n in writes:
            causes[n] = inherited[0] if inherited else place if chance == 0 else None
    for variable, cause in zip(variables, causes, strict=True):
        for _ in range(2):  # again and again
            if cause is None:
                variable.wait_to_read()
            else:
                with pytest.raises(OperatorError, match=f"OutOfPaper: {cause}\n"):
                    variable.wait_to_read()
    default_engine().observe()
    default_engine().untold()
    assert sorted(ran) == expected


# Whole programs of arrays


@dataclass(eq=False)
class Pair:
    """An array of the runtime and the NumPy array it must equal."""

    ours: NDArray
    numpy: NumpyArray[Any]


def pairs_from(shape: tuple[int, ...], first: int) -> Pair:
    values = np.arange(first, first + int(np.prod(shape)), dtype=np.int64).reshape(shape)
    return Pair(mx.nd.array(values, dtype="int64"), values)


def fits(target: Pair, other: Pair) -> bool:
    """Whether the other can be broadcast to the target's shape."""
    try:
        return np.broadcast_shapes(target.numpy.shape, other.numpy.shape) == target.numpy.shape
    except ValueError:
        return False


def add(pool: list[Pair], x: Pair, y: Pair, n: int) -> None:
    if fits(x, y):
        pool.append(Pair(x.ours + y.ours, x.numpy + y.numpy))


def add_number(pool: list[Pair], x: Pair, y: Pair, n: int) -> None:
    pool.append(Pair(n - x.ours, n - x.numpy))


def add_in_place(pool: list[Pair], x: Pair, y: Pair, n: int) -> None:
    if fits(x, y):
        x.ours += y.ours
        x.numpy += y.numpy


def multiply_in_place(pool: list[Pair], x: Pair, y: Pair, n: int) -> None:
    x.ours *= n
    x.numpy *= n


def subtract_from_itself(pool: list[Pair], x: Pair, y: Pair, n: int) -> None:
    x.ours -= x.ours
    x.numpy -= x.numpy


def take_rows(pool: list[Pair], x: Pair, y: Pair, n: int) -> None:
    begin = n % len(x.numpy)
    pool.append(Pair(x.ours[begin:], x.numpy[begin:]))


def take_one_row(pool: list[Pair], x: Pair, y: Pair, n: int) -> None:
    row = n % len(x.numpy)
    view = x.numpy[row] if x.numpy.ndim > 1 else x.numpy[row : row + 1]
    pool.append(Pair(x.ours[row], view))


def flatten(pool: list[Pair], x: Pair, y: Pair, n: int) -> None:
    pool.append(Pair(x.ours.reshape(-1), x.numpy.reshape(-1)))


def transpose(pool: list[Pair], x: Pair, y: Pair, n: int) -> None:
    pool.append(Pair(x.ours.T, x.numpy.T.copy()))


def pick_every_second(pool: list[Pair], x: Pair, y: Pair, n: int) -> None:
    # What lies side by side is a view in MXNet, so one row is one.
    numpy = x.numpy[::-2] if len(x.numpy) <= 2 else x.numpy[::-2].copy()
    pool.append(Pair(x.ours[::-2], numpy))


def set_rows(pool: list[Pair], x: Pair, y: Pair, n: int) -> None:
    begin = n % len(x.numpy)
    x.ours[begin:] = n
    x.numpy[begin:] = n


def set_all(pool: list[Pair], x: Pair, y: Pair, n: int) -> None:
    x.ours[:] = n
    x.numpy[:] = n


def set_first_row_to_last(pool: list[Pair], x: Pair, y: Pair, n: int) -> None:
    x.ours[0] = x.ours[-1]
    x.numpy[0] = x.numpy[-1]


def shift_rows(pool: list[Pair], x: Pair, y: Pair, n: int) -> None:
    x.ours[1:] = x.ours[:-1]
    x.numpy[1:] = x.numpy[:-1].copy()


def copy_over(pool: list[Pair], x: Pair, y: Pair, n: int) -> None:
    if x.numpy.shape == y.numpy.shape:
        y.ours.copyto(x.ours)
        x.numpy[...] = y.numpy.copy()


def load_from_numpy(pool: list[Pair], x: Pair, y: Pair, n: int) -> None:
    x.ours[:] = y.numpy if fits(x, y) else x.numpy + 1
    x.numpy[...] = y.numpy.copy() if fits(x, y) else x.numpy + 1


def total(pool: list[Pair], x: Pair, y: Pair, n: int) -> None:
    pool.append(Pair(x.ours.sum(axis=0), np.atleast_1d(x.numpy.sum(axis=0))))


def read(pool: list[Pair], x: Pair, y: Pair, n: int) -> None:
    assert x.ours.asnumpy().tolist() == x.numpy.tolist()


def forget(pool: list[Pair], x: Pair, y: Pair, n: int) -> None:
    if len(pool) > 2:
        pool.remove(x)


ACTIONS = [
    add,
    add_number,
    add_in_place,
    multiply_in_place,
    subtract_from_itself,
    take_rows,
    take_one_row,
    flatten,
    transpose,
    pick_every_second,
    set_rows,
    set_all,
    set_first_row_to_last,
    shift_rows,
    copy_over,
    load_from_numpy,
    total,
    read,
    forget,
]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(ACTIONS),
            st.integers(0, 30),
            st.integers(0, 30),
            st.integers(-3, 5),
        ),
        max_size=30,
    )
)
@settings(max_examples=150)
def test_a_program_of_arrays_gives_what_numpy_gives(program: list[Any]):
    pool = [pairs_from((4, 3), 1), pairs_from((3,), 100), pairs_from((4, 3), 1_000)]
    for action, x, y, n in program:
        action(pool, pool[x % len(pool)], pool[y % len(pool)], n)
    for pair in pool:
        assert pair.ours.shape == pair.numpy.shape
        assert pair.ours.asnumpy().tolist() == pair.numpy.tolist()
