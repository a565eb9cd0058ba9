"""Programs on real MXNet 1.9.1 and on our engine: order of writes, values and errors agree.

Every program runs under each engine and number of workers, and with each bulk size. It ends with
its first error: after that MXNet forgets the error and hands out memory that was never written.
The last tests show that and two other habits of MXNet that are no example to follow.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.reference.conftest import Runtimes
from tests.reference.random_programs import random_program
from tests.reference.runtime_process import Outcome

#: Engine type and number of workers.
ENGINES = (
    ("ThreadedEnginePerDevice", "1"),
    ("ThreadedEnginePerDevice", "2"),
    ("ThreadedEnginePerDevice", "4"),
    ("ThreadedEngine", "2"),
    ("NaiveEngine", "1"),
)

#: Operators that go to a worker together; 0 and 1 are each for itself.
BULK_SIZES = (0, 4, 15)

WITHOUT_ERRORS = {
    "a chain runs in order": """
        x = mx.nd.ones((2, 3))
        for i in range(50):
            x = x * 0.5 + i
        show(x)
    """,
    "updates in place run in order": """
        x = mx.nd.arange(4)
        for i in range(50):
            x *= 0.5
            x += i
        show(x)
    """,
    "readers see the value before the next write": """
        x = mx.nd.zeros(3)
        seen = []
        for i in range(30):
            x += 1
            seen.append(x * 2)
        show(seen)
    """,
    "a write waits for slow readers": """
        x = mx.nd.ones((200, 200))
        product = mx.nd.dot(x, x)
        x[:] = 0
        show(product[0, 0:3])
        show(x[0, 0:3])
    """,
    "a read waits for a slow write": """
        x = mx.nd.ones((200, 200))
        y = mx.nd.dot(x, x) * 2
        x[:] = y
        x -= 1
        show(x[3, 0:3])
    """,
    "one value goes out to many and comes back": """
        x = mx.nd.arange(6)
        parts = [x * i for i in range(20)]
        total = mx.nd.zeros(6)
        for part in parts:
            total = total * 0.5 + part
        show(total)
    """,
    "two arrays swap by turns": """
        x, y = mx.nd.ones(2), mx.nd.ones(2) * 3
        for _ in range(12):
            x += y
            y -= x * 0.5
        show([x, y])
    """,
    "an array updates itself": """
        x = mx.nd.arange(4)
        x += x
        x *= x
        x -= x * 0.5
        show(x)
    """,
    "all of an array is set to a number": """
        x = mx.nd.arange(4)
        y = x + 1
        x[:] = 7
        show([x, y])
    """,
    "all of an array is set to another": """
        x, y = mx.nd.arange(4), mx.nd.ones(4)
        x[:] = y
        y += 1
        show([x, y])
    """,
    "all of an array is set to NumPy data, copied at once": """
        x, data = mx.nd.arange(4), np.ones(4)
        x[:] = data
        data[:] = 9
        x += 1
        show(x)
    """,
    "a row is a view in both directions": """
        x = mx.nd.arange(6).reshape((2, 3))
        row = x[1]
        row *= 10
        show(x)
        x[:] = 1
        show(row)
    """,
    "rows are a view in both directions": """
        x = mx.nd.arange(8)
        middle = x[2:5]
        middle -= 1
        x *= 2
        show([x, middle])
    """,
    "another shape is a view in both directions": """
        x = mx.nd.arange(6)
        y = x.reshape((2, 3))
        y[0] = 5
        x += 1
        show([x, y])
    """,
    "views of one array are written in order": """
        x = mx.nd.zeros(6)
        for i in range(20):
            x[i % 3 : i % 3 + 3] += i
            x *= 0.5
        show(x)
    """,
    "any part can be set": """
        x = mx.nd.zeros((4, 4))
        x[1, 2] = 5
        x[:, 3] = 1
        x[::2, 0:2] = 7
        x[3] = mx.nd.arange(4)
        x[0:2, 0:2] = mx.nd.ones((2, 2))
        show(x)
    """,
    "a part is copied when it is taken by steps": """
        x = mx.nd.arange(6)
        y = x[::2]
        y += 10
        show([x, y])
    """,
    "a result goes into an array that is read before": """
        x, y = mx.nd.ones((2, 2)), mx.nd.zeros((2, 2))
        before = y + 1
        mx.nd.dot(x, x, out=y)
        mx.nd.broadcast_sub(y, x, out=x)
        show([before, x, y])
    """,
    "copies between devices are in order": """
        x = mx.nd.ones(3, ctx=mx.cpu(1))
        y = x.as_in_context(mx.cpu(0))
        y += 1
        z = y.copyto(mx.cpu(1))
        z *= 3
        x[:] = z
        y[:] = x
        x -= 1
        show([x, y, z, x.context, y.context])
    """,
    "a ping-pong between devices is in order": """
        x, y = mx.nd.zeros(2), mx.nd.ones(2, ctx=mx.cpu(1))
        for i in range(20):
            x.copyto(y)
            y += i
            y.copyto(x)
            x *= 0.5
        show([x, y])
    """,
    "the same array on its own device is no copy": """
        x = mx.nd.zeros(2)
        y = x.as_in_context(mx.cpu(0))
        y += 1
        show(x)
    """,
    "a copy is apart from then on": """
        x = mx.nd.zeros(2)
        y = x.copy()
        x += 1
        y -= 1
        show([x, y])
    """,
    "the bulk size before is told": """
        sizes = [mx.engine.set_bulk_size(size) for size in (4, 15, 0, 1, 3, 0)]
        show(sizes[1:])
    """,
    "bulks may be nested and end early": """
        x = mx.nd.zeros(2)
        with mx.engine.bulk(8):
            x += 1
            with mx.engine.bulk(2):
                x *= 4
                x -= 1
                show(x)
                x *= 4
            x -= 1
        show(x)
    """,
}

FAILING_KERNELS = {
    "an error comes where the value is read": """
        bad = mx.nd.random.normal(scale=-1, shape=(2,))
        good = mx.nd.ones(2)
        show(bad)
    """,
    "an error comes where all is waited for": """
        bad = mx.nd.random.normal(scale=-1, shape=(2,))
        good = mx.nd.ones(2)
        mx.nd.waitall()
    """,
    "an error reaches what depends on it": """
        bad = mx.nd.random.normal(scale=-1, shape=(2,))
        worse = (bad + 1) * 2
        show(worse)
    """,
    "an error reaches what is updated with it": """
        x = mx.nd.ones(2)
        bad = mx.nd.random.normal(scale=-1, shape=(2,))
        x += bad
        show(x)
    """,
    "an error reaches the whole array of which a row is written": """
        x = mx.nd.ones((2, 2))
        bad = mx.nd.random.normal(scale=-1, shape=(2,))
        x[0] = bad
        show(x[1])
    """,
    "an error goes with a copy to another device": """
        bad = mx.nd.random.normal(scale=-1, shape=(2,)).copyto(mx.cpu(1))
        bad += 1
        bad.wait_to_read()
    """,
    "values read before the failure stand": """
        x = mx.nd.ones(2)
        y = x * 2
        show(y)
        bad = mx.nd.random.normal(scale=-1, shape=(2,)) + y
        show(bad)
    """,
    "the operand of a failed operator is unharmed": """
        x = mx.nd.ones(2)
        y = x + mx.nd.random.normal(scale=-1, shape=(2,))
        show(x)
        show(y)
    """,
    "an independent array can be read first": """
        x, y = mx.nd.ones(2), mx.nd.ones(2)
        bad = mx.nd.random.normal(scale=-1, shape=(2,))
        for _ in range(8):
            x = x * y - x
            y += x
        show([x, y])
        show(bad)
    """,
    "a part of what failed cannot be repaired": """
        bad = mx.nd.random.normal(scale=-1, shape=(2, 2))
        bad[0] = 1
        show(bad)
    """,
    "a failed value has no truth": """
        if mx.nd.random.normal(scale=-1, shape=(1,)) > 0:
            show("unreachable")
    """,
}

REFUSED_CALLS = {
    "shapes that cannot be broadcast": "mx.nd.ones(2) + mx.nd.ones(3)",
    "types that differ": "mx.nd.ones(2) + mx.nd.ones(2, dtype='int32')",
    "shapes that cannot be multiplied": "mx.nd.dot(mx.nd.ones((2, 3)), mx.nd.ones((2, 3)))",
    "an axis that does not exist": "mx.nd.sum(mx.nd.ones(2), axis=4)",
    "all of an array set to one that does not fit": "mx.nd.ones((2, 2))[:] = mx.nd.ones(3)",
    "a row set to one that does not fit": "mx.nd.ones((2, 2))[0] = mx.nd.ones(3)",
    "a row that does not exist": "mx.nd.ones((2, 2))[5]",
    "a shape with too few elements": "mx.nd.ones((2, 2)).reshape((3,))",
    "a result that does not fit": "mx.nd.dot(x, x, out=mx.nd.ones(3))",
    "a scalar of many": "mx.nd.ones((2, 2)).asscalar()",
    "the truth of many": "bool(mx.nd.ones((2, 2)))",
    "a NumPy array as operand": "mx.nd.ones(2) + np.ones(2)",
    "a function that does not exist": "mx.nd.no_such_function(x)",
}


@pytest.fixture(params=ENGINES, ids="-".join)
def engine(request: pytest.FixtureRequest) -> dict[str, str]:
    """Environment of both processes."""
    kind, workers = request.param
    return {"MXNET_ENGINE_TYPE": kind, "MXNET_CPU_WORKER_NTHREADS": workers}


def both(runtimes: Runtimes, engine: dict[str, str], program: str, bulk: int) -> list[Outcome]:
    """Run a program on both; its text starts after the line that sets the bulk size."""
    text = f"mx.engine.set_bulk_size({bulk})\n{program}"
    return [process.run(text) for process in (runtimes.real(**engine), runtimes.ours(**engine))]


def dedented(program: str) -> str:
    return "\n".join(line[8:] for line in program.splitlines() if line.strip())


def same_values(theirs: list, ours: list) -> None:
    assert len(ours) == len(theirs)
    for expected, found in zip(theirs, ours, strict=True):
        if isinstance(expected, list):
            same_values(expected, found)
        else:
            np.testing.assert_array_equal(found, expected, strict=isinstance(expected, np.ndarray))


def same_error(theirs: Outcome, ours: Outcome) -> None:
    """MXNet's class is the class of ours or one of its bases."""
    assert bool(ours.error) == bool(theirs.error), (theirs, ours)
    assert not theirs.error or theirs.error[0] in ours.error, (theirs, ours)


def same(theirs: Outcome, ours: Outcome) -> None:
    same_error(theirs, ours)
    assert ours.line == theirs.line, (theirs, ours)
    same_values(theirs.values, ours.values)


def same_but_for_bulks(theirs: Outcome, ours: Outcome) -> None:
    """In MXNet all results of a bulk fail with one of its operators; ours are told apart.

    Hence a value that does not depend on the failed one may be read here and raise there, and
    MXNet's error comes at the same statement or at an earlier one.
    """
    same_error(theirs, ours)
    assert ours.line >= theirs.line, (theirs, ours)
    same_values(theirs.values, ours.values[: len(theirs.values)])


@pytest.mark.parametrize("name", WITHOUT_ERRORS)
def test_values_are_those_of_mxnet(runtimes, engine, name):
    for bulk in BULK_SIZES:
        theirs, ours = both(runtimes, engine, dedented(WITHOUT_ERRORS[name]), bulk)
        assert theirs.error == ()
        same(theirs, ours)


@pytest.mark.parametrize("name", FAILING_KERNELS)
def test_a_kernel_that_fails_is_told_at_the_statement_where_mxnet_tells_it(runtimes, engine, name):
    for bulk in BULK_SIZES:
        theirs, ours = both(runtimes, engine, dedented(FAILING_KERNELS[name]), bulk)
        assert theirs.error
        (same_but_for_bulks if bulk else same)(theirs, ours)


@pytest.mark.parametrize("name", REFUSED_CALLS)
def test_what_mxnet_refuses_at_the_call_is_refused_there(runtimes, engine, name):
    program = f"x = mx.nd.ones((2, 2))\nx += 1\n{REFUSED_CALLS[name]}\nshow('unreachable')"
    for bulk in BULK_SIZES:
        theirs, ours = both(runtimes, engine, program, bulk)
        assert theirs.line == 4
        same(theirs, ours)


@pytest.mark.parametrize("seed", range(24))
def test_random_programs_give_the_values_of_mxnet(runtimes, engine, seed):
    theirs, ours = both(runtimes, engine, random_program(seed), BULK_SIZES[seed % 3])
    assert theirs.error == ()
    same(theirs, ours)


@pytest.mark.parametrize("seed", range(100, 112))
def test_random_programs_with_a_failing_kernel_fail_where_mxnet_does(runtimes, engine, seed):
    bulk = BULK_SIZES[seed % 3]
    theirs, ours = both(runtimes, engine, random_program(seed, failing=True), bulk)
    (same_but_for_bulks if bulk else same)(theirs, ours)


@pytest.mark.parametrize("seed", range(200, 208))
def test_random_programs_with_a_refused_call_fail_where_mxnet_does(runtimes, engine, seed):
    theirs, ours = both(runtimes, engine, random_program(seed, refused=True), BULK_SIZES[seed % 3])
    assert theirs.error
    same(theirs, ours)


def test_a_failure_in_a_bulk_fails_all_of_it_in_mxnet_and_its_dependants_in_ours(runtimes):
    program = dedented("""
        x = mx.nd.ones(2)
        x.wait_to_read()
        before = x + 1
        bad = mx.nd.random.normal(scale=-1, shape=(2,))
        show(before)
        show(bad)
    """)
    theirs, ours = both(runtimes, {}, program, 4)
    assert theirs.line == 6
    assert ours.line == 7
    assert ours.values[0].tolist() == [2, 2]


def test_a_failure_reaches_who_gets_the_same_workspace_in_mxnet_only(runtimes):
    program = dedented("""
        x = mx.nd.ones(2)
        bad = mx.nd.random.normal(scale=-1, shape=(2,))
        unrelated = [x + i for i in range(20)]
        show(unrelated)
        show(bad)
    """)
    theirs, ours = both(runtimes, {}, program, 0)
    assert theirs.line == 5
    assert ours.line == 6
    assert [value[0] for value in ours.values[0]] == list(range(1, 21))


def test_an_error_is_forgotten_once_raised_in_mxnet_and_stays_in_ours(runtimes):
    program = dedented("""
        bad = mx.nd.random.normal(scale=-1, shape=(2,))
        try:
            bad.wait_to_read()
        except mx.MXNetError:
            show("told")
        bad.wait_to_read()
    """)
    theirs, ours = both(runtimes, {}, program, 0)
    assert (theirs.values, theirs.error) == (["told"], ())
    assert (ours.values, ours.line) == (["told"], 7)


def test_waiting_for_all_tells_of_all_failures_at_once(runtimes, engine):
    """Written to be alike under NaiveEngine, where the call itself raises."""
    program = dedented("""
        for wait in (False, True):
            try:
                if not wait:
                    bad = [mx.nd.random.normal(scale=-1, shape=(2,)) for _ in range(3)]
                mx.nd.waitall()
                show("silent")
            except mx.MXNetError:
                show("told")
        x = mx.nd.ones(2)
        show(x * x)
    """)
    theirs, ours = both(runtimes, engine, program, 0)
    assert theirs.values[:2] == ["told", "silent"]
    same(theirs, ours)


def test_writing_all_of_an_array_that_failed_repairs_it_in_ours_only(runtimes):
    program = dedented("""
        bad = mx.nd.random.normal(scale=-1, shape=(2,))
        bad[:] = 3
        show(bad)
    """)
    theirs, ours = both(runtimes, {}, program, 0)
    assert theirs.line == 4
    assert (ours.error, ours.values[0].tolist()) == ((), [3, 3])


def test_a_failure_does_not_reach_what_the_generator_makes_next(runtimes, engine):
    program = dedented("""
        try:
            mx.nd.random.normal(scale=-1, shape=(2,)).wait_to_read()
        except mx.MXNetError:
            show("told")
        show(mx.nd.random.normal(scale=1, shape=(2,)).shape)
        mx.nd.waitall()
    """)
    theirs, ours = both(runtimes, engine, program, 0)
    assert theirs.error == ()
    same(theirs, ours)
