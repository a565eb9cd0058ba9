"""Creation, random numbers and files of arrays on real MXNet 1.9.1 and on our runtime."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import mxprof_nb.runtime as mx
from tests.reference.agreement import Call, check_agreement
from tests.reference.conftest import Runtimes

pytestmark = pytest.mark.reference

TYPES = ("float16", "float32", "float64", "int8", "uint8", "int32", "int64", "bool")
types = st.sampled_from(TYPES)
maybe_types = st.sampled_from([*TYPES, None])
shapes = hnp.array_shapes(max_dims=4, max_side=4)


# Creation


@given(shape=shapes, dtype=types, number=st.floats(-4, 4, width=16))
@settings(max_examples=30)
def test_constants(runtimes: Runtimes, shape: Any, dtype: str, number: float):
    value = abs(number) if dtype == "uint8" else number
    calls: list[Call] = [
        ("nd.zeros", [shape], {"dtype": dtype}),
        ("nd.ones", [shape], {"dtype": dtype}),
        ("nd.zeros", [shape], {}),
        ("nd.full", [shape, value], {"dtype": dtype}),
        ("nd.full", [shape, value], {}),
        ("nd.zeros", [shape[0]], {}),
        ("nd.zeros", [(*shape, -1)], {}),
        ("nd.ones", [()], {}),
    ]
    check_agreement(runtimes, calls)


quarters = st.integers(-12, 12).map(lambda number: number / 4)


@given(
    start=quarters,
    length=st.integers(1, 9),
    step=quarters.filter(bool),
    repeat=st.integers(1, 3),
    dtype=st.sampled_from(["float32", "float64"]),  # MXNet makes steps of float16 whole
    number=st.integers(0, 6),
    endpoint=st.booleans(),
)
@settings(max_examples=40)
def test_ranges(
    runtimes: Runtimes,
    start: float,
    length: int,
    step: float,
    repeat: int,
    dtype: str,
    number: int,
    endpoint: bool,
):
    stop = start + length * step
    calls: list[Call] = [
        ("nd.arange", [start, stop], {"step": step, "repeat": repeat, "dtype": dtype}),
        ("nd.arange", [start, stop, step], {}),
        ("nd.arange", [length], {}),
        ("nd.arange", [length], {"dtype": "int32"}),
        ("nd.arange", [start, stop, 0], {}),
        ("nd.arange", [length], {"repeat": 0}),
        ("nd.linspace", [start, stop, number + 1], {"endpoint": endpoint, "dtype": dtype}),
        ("nd.eye", [number + 1], {"M": length, "k": int(start), "dtype": dtype}),
        ("nd.eye", [number + 1], {"k": int(start)}),
    ]
    check_agreement(runtimes, calls)


@pytest.mark.parametrize("source", ["[1, 2]", "(1.5, 2)", "range(3)", "[[1], [2]]", "[True]"])
@pytest.mark.parametrize("dtype", [*TYPES, None])
def test_the_type_of_an_array_of_something(runtimes: Runtimes, source: str, dtype: str | None):
    program = f"x = mx.nd.array({source}, dtype={dtype!r})\nshow(x.dtype)\nshow(x)"
    check_programs_agree(runtimes, program)


@pytest.mark.parametrize("kind", TYPES)
def test_the_type_of_an_array_of_an_array(runtimes: Runtimes, kind: str):
    check_programs_agree(
        runtimes,
        f"""
for x in (np.array([1, 0, 1], {kind!r}), mx.nd.array([1, 0, 1], dtype={kind!r})):
    for dtype in (None, 'float64', 'int8'):
        y = mx.nd.array(x, dtype=dtype)
        show(y.dtype)
        show(y)
""",
    )


PROGRAMS = {
    "what is known": """
x = mx.nd.ones((2, 3), mx.cpu(1), 'int8')
show([x.shape, x.size, x.ndim, len(x), x.dtype, x.stype, str(x.context), str(x.ctx)])
""",
    "printing": """
for shape in ((1,), (3,), (2, 3), (2, 1, 2)):
    x = mx.nd.ones(shape)
    show(repr(x))
    show(str(x))
    show(str(x.astype('int32')))
""",
    "conversions": """
x = mx.nd.array([[2.5]])
show(bool(x))
show(x.asscalar() + 0)
show([bool(mx.nd.zeros(1)), mx.nd.array([3], dtype='int64').asscalar() + 0])
""",
    "copies": """
x = mx.nd.array([1.5, -2.5])
y = mx.nd.zeros((2,), dtype='int32')
show(x.copyto(y))
show(y)
show(x.copyto(mx.cpu(1)))
show(str(x.as_in_context(mx.cpu(1)).context))
show(x.as_in_context(mx.cpu(0)) is x)
show(x.astype('float32', copy=False) is x)
show(x.astype('float16').dtype)
z = x.copy()
z[:] = 9
show(x)
""",
    "iteration": "show([row for row in mx.nd.array([[1, 2], [3, 4]])])",
    "views of views": """
x = mx.nd.zeros((2, 3, 2))
y = x[1][1:]
y[0] = 5
y += 1
y.reshape((-1,))[3] = 7
mx.nd.exp(x[0], out=x[0])
show(x)
show(y)
""",
    "keeping the last write": """
x = mx.nd.zeros((4,))
y, z = x[:2], x[2:]
for i in range(20):
    y += 1
    z -= y
    x *= 0.5
show(x)
""",
    "pickles": """
import copy, pickle
x = mx.nd.array([[1, 2]], dtype='int8')
y = pickle.loads(pickle.dumps(x))
show([y, y.dtype, copy.copy(x), copy.deepcopy([x])[0]])
""",
}


def check_programs_agree(runtimes: Runtimes, program: str) -> None:
    real, ours = runtimes.real().run(program), runtimes.ours().run(program)
    assert not real.error, real.message
    assert not ours.error, ours.message
    assert len(ours.values) == len(real.values)
    for found, expected in zip(ours.values, real.values, strict=True):
        alike(found, expected)


def alike(found: Any, expected: Any) -> None:
    if isinstance(expected, list):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            alike(one, other)
    elif isinstance(expected, np.ndarray):
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == expected.dtype
    else:
        assert found == expected


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(runtimes: Runtimes, name: str):
    check_programs_agree(runtimes, PROGRAMS[name])


# Random numbers

DRAWS = {
    "uniform": "low=-1, high=3",
    "normal": "loc=1, scale=2",
    "exponential": "scale=2.0",
    "gamma": "alpha=3.0, beta=0.5",
    "poisson": "lam=4.0",
    "negative_binomial": "k=3, p=0.4",
    "randint": "low=-2, high=5",
}


@pytest.mark.parametrize("name", DRAWS)
def test_distributions_have_the_same_moments(runtimes: Runtimes, name: str):
    program = f"""
mx.random.seed(7)
x = mx.nd.random.{name}({DRAWS[name]}, shape=(200, 200))
show(x.dtype)
show(x.shape)
x = x.asnumpy().astype('f8')
show([x.mean(), x.std(), ((x - x.mean()) ** 3).mean()])
"""
    real, ours = runtimes.real().run(program), runtimes.ours().run(program)
    assert not real.error, real.message
    assert not ours.error, ours.message
    assert ours.values[:2] == real.values[:2]
    np.testing.assert_allclose(ours.values[2][:2], real.values[2][:2], rtol=0.05, atol=0.03)
    spread = real.values[2][1] ** 3
    assert abs(ours.values[2][2] - real.values[2][2]) < 0.3 * spread


@pytest.mark.parametrize(
    "call",
    [
        "normal(0, -1, shape=2)",
        "normal(0, 0, shape=2)",
        "uniform(2, 1, shape=2)",
        "exponential(-1.0, shape=2)",
        "gamma(-1, 1, shape=2)",
        "gamma(1, -1, shape=2)",
        "poisson(-1, shape=2)",
        "negative_binomial(-1, 0.5, shape=2)",
        "randint(5, 2, shape=2)",
    ],
)
def test_a_distribution_that_does_not_exist_fails_where_it_is_read(runtimes: Runtimes, call: str):
    program = f"x = mx.nd.random.{call}\nshow(x.shape)\nx.wait_to_read()"
    for process in (runtimes.real(), runtimes.ours()):
        outcome = process.run(program)
        assert outcome.values == [[2]]
        assert "MXNetError" in outcome.error


def test_types_and_shapes_of_random_numbers(runtimes: Runtimes):
    check_programs_agree(
        runtimes,
        """
random, ones = mx.nd.random, mx.nd.ones
for x in (
    random.uniform(), random.normal(shape=3), random.randn(2, 3), random.randint(0, 5),
    random.randint(0, 5, dtype='int64'), random.uniform(shape=2, dtype='float16'),
    random.uniform(mx.nd.zeros(2), ones(2)), random.uniform(mx.nd.zeros(2), ones(2), shape=3),
    random.normal(mx.nd.zeros((2, 1)), ones((2, 1)), shape=(3, 2), dtype='float64'),
    random.multinomial(ones((2, 2)) / 2, shape=3), random.multinomial(ones(2) / 2),
    random.shuffle(mx.nd.arange(4)), mx.nd.random_uniform(0, 1, (2,)),
    mx.nd.sample_normal(ones(2), ones(2)), random.multinomial(mx.nd.array([[0, 1], [1, 0]])),
):
    show([x.shape, x.dtype])
show(random.multinomial(mx.nd.array([[0, 1], [1, 0]]), shape=3, get_prob=True))
show(sorted(random.shuffle(mx.nd.arange(9)).asnumpy().tolist()))
""",
    )


# Files

SAVED = """
arrays = {{
    dtype: mx.nd.array(np.arange(6).reshape(1, 2, 3) % 2, dtype=dtype) for dtype in {types}
}}
mx.nd.save({folder!r} + '/dict', arrays)
mx.nd.save({folder!r} + '/list', [*arrays.values(), mx.nd.ones(1, mx.cpu(1))])
mx.nd.save({folder!r} + '/one', arrays['int8'][0])
mx.nd.save({folder!r} + '/none', [])
"""
LOADED = """
show([[name, x, x.dtype] for name, x in mx.nd.load({folder!r} + '/dict').items()])
show([[x, x.dtype, str(x.context)] for x in mx.nd.load({folder!r} + '/list')])
show(mx.nd.load({folder!r} + '/one'))
show(mx.nd.load({folder!r} + '/none'))
"""


@pytest.mark.parametrize("writer", ["real", "ours"])
def test_what_either_saves_the_other_loads(runtimes: Runtimes, tmp_path: Path, writer: str):
    where = {"folder": str(tmp_path), "types": list(TYPES)}
    process = getattr(runtimes, writer)()
    assert not process.run(SAVED.format(**where)).error
    check_programs_agree(runtimes, LOADED.format(**where))


def test_both_write_the_same_bytes(runtimes: Runtimes, tmp_path: Path):
    written = []
    for writer in ("real", "ours"):
        folder = tmp_path / writer
        folder.mkdir()
        program = SAVED.format(folder=str(folder), types=list(TYPES))
        assert not getattr(runtimes, writer)().run(program).error
        written.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert written[0] == written[1]


@pytest.mark.parametrize("damage", ["x[:20]", "b'something else' * 9", "x + b'1'", "x[:-3]"])
def test_a_damaged_file_is_an_error_of_mxnet(runtimes: Runtimes, tmp_path: Path, damage: str):
    path = str(tmp_path / "file")
    program = f"""
mx.nd.save({path!r}, {{'a': mx.nd.ones((2, 3))}})
x = open({path!r}, 'rb').read()
open({path!r}, 'wb').write({damage})
show(mx.nd.load({path!r})['a'])
"""
    real, ours = runtimes.real().run(program), runtimes.ours().run(program)
    assert bool(ours.error) == bool(real.error), real.message
    if real.error:
        assert "MXNetError" in ours.error


# Names


def test_methods_are_those_of_mxnet(runtimes: Runtimes):
    """Sparse arrays, other libraries and autograd, which comes with it, apart."""
    theirs = runtimes.real().get("[n for n in dir(mx.nd.NDArray) if not n.startswith('_')]")
    left_out = {
        *("as_np_ndarray", "as_nd_ndarray", "handle", "writable", "tostype"),
        *("to_dlpack_for_read", "to_dlpack_for_write"),
        *("attach_grad", "backward", "detach", "grad"),
    }
    assert {*theirs} - left_out <= {*dir(mx.nd.NDArray)}


PARAMETERS = """
def parameters(name):
    import inspect
    function = mx.nd
    for part in name.split('.'):
        function = getattr(function, part)
    kept = [p for p in inspect.signature(function).parameters.values()
            if p.kind is not p.VAR_KEYWORD and p.name not in ('name', 'ctx', 'dtype', 'stype')]
    return [p.name for p in kept]
"""

FUNCTIONS = [
    *("array", "empty", "zeros", "ones", "full", "arange", "linspace", "eye"),
    *("concatenate", "split", "split_v2", "slice", "slice_axis", "slice_like", "take", "one_hot"),
    *("pick", "Embedding", "gather_nd", "scatter_nd", "batch_take", "dot", "batch_dot", "diag"),
    *("moveaxis", "swapaxes", "transpose", "expand_dims", "squeeze", "flatten", "reshape_like"),
    *("broadcast_to", "broadcast_axis", "broadcast_like", "tile", "repeat", "flip", "pad"),
    *("depth_to_space", "space_to_depth", "shape_array", "size_array", "reshape"),
    *("contrib.boolean_mask", "linalg.gemm", "linalg.gemm2", "linalg.potrf", "linalg.potri"),
    *("linalg.syrk", "linalg.trmm", "linalg.trsm", "linalg.sumlogdiag", "linalg.extractdiag"),
    *("random.uniform", "random.normal", "random.randint", "random.exponential", "random.gamma"),
    *("random.poisson", "random.negative_binomial", "random.multinomial", "random.shuffle"),
    *("random_uniform", "random_normal", "sample_uniform", "sample_normal", "save", "load"),
]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_parameters_have_the_names_and_order_of_mxnet(runtimes: Runtimes, name: str):
    real = runtimes.real()
    real.define(PARAMETERS)
    function: Any = mx.nd
    for part in name.split("."):
        function = getattr(function, part)
    own = inspect.signature(function).parameters
    ours = [each for each in own if each not in ("ctx", "dtype", "device")]
    theirs = real.get(f"parameters({name!r})")
    for gone in ("target_shape", "keep_highest"):  # deprecated in MXNet 1.9.1
        theirs = [each for each in theirs if each != gone]
    assert ours[: len(theirs)] == theirs
    assert set(ours[len(theirs) :]) <= {"out"}
