"""Calls of the operators that make, reshape, choose and multiply, as Hypothesis draws them.

Each is inputs, attributes and numbers, as `mxprof_nb.runtime.nd.array.apply` takes them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import mxprof_nb.runtime as mx
from mxprof_nb.runtime.nd import NDArray
from mxprof_nb.runtime.nd.keys import basic, expanded
from mxprof_nb.runtime.ops.draws import RANDOM, RANDOM_LIKE, SAMPLE

Call = tuple[list[NDArray], dict[str, Any], tuple[Any, ...]]
Draw = Any

FLOATS = ("float16", "float32", "float64")
TYPES = (*FLOATS, "int8", "uint8", "int32", "int64")
floats, types = st.sampled_from(FLOATS), st.sampled_from(TYPES)
shapes = hnp.array_shapes(max_dims=3, max_side=3)
numbers = st.integers(-4, 4)


def array(shape: tuple[int, ...], dtype: str = "float32") -> NDArray:
    """Small numbers, some of them 0 or negative."""
    values = (np.arange(int(np.prod(shape))) % 5 - 1).reshape(shape)
    return mx.nd.array(np.abs(values) if dtype == "uint8" else values, dtype=dtype)


def axis_of(shape: tuple[int, ...], more: int = 0) -> Any:
    return st.integers(-len(shape) - more, len(shape) + more - 1)


def positions(shape: tuple[int, ...], below: int, dtype: str = "int64") -> Any:
    return hnp.arrays(dtype, shape, elements=st.integers(0, below - 1)).map(
        lambda drawn: mx.nd.array(drawn, dtype=dtype)
    )


# Another shape


@st.composite
def reshape(draw: Draw) -> Call:
    shape = draw(hnp.array_shapes(min_dims=2, max_dims=3, max_side=3))
    wanted = draw(st.sampled_from([(-1,), (0, -1), (-2,), (-3, -2), (-2, 1), (-4, 1, -1, -2)]))
    return [array(shape, draw(types))], {"shape": wanted}, ()


@st.composite
def alone(draw: Draw) -> Call:
    return [array(draw(shapes), draw(types))], {}, ()


@st.composite
def one_axis_more(draw: Draw) -> Call:
    shape = draw(shapes)
    return [array(shape, draw(types))], {"axis": draw(axis_of(shape, 1))}, ()


@st.composite
def squeeze(draw: Draw) -> Call:
    shape = draw(shapes)
    narrow = [axis for axis, extent in enumerate(shape) if extent == 1]
    axis = draw(st.one_of(st.none(), st.sets(st.sampled_from(narrow or [0])).map(tuple)))
    return [array(shape, draw(types))], {"axis": axis if narrow else None}, ()


@st.composite
def reshape_like(draw: Draw) -> Call:
    shape, dtype = draw(shapes), draw(types)
    other = draw(st.permutations(shape))
    return [array(shape, dtype), array(tuple(other))], {}, ()


@st.composite
def transpose(draw: Draw) -> Call:
    shape = draw(shapes)
    order = draw(st.one_of(st.just(()), st.permutations(range(len(shape))).map(tuple)))
    return [array(shape, draw(types))], {"axes": order}, ()


@st.composite
def swap_axis(draw: Draw) -> Call:
    shape = draw(shapes)
    attrs = {"dim1": draw(axis_of(shape)), "dim2": draw(axis_of(shape))}
    return [array(shape, draw(types))], attrs, ()


@st.composite
def reverse(draw: Draw) -> Call:
    shape = draw(shapes)
    axis = draw(st.sets(st.integers(0, len(shape) - 1)).map(tuple))
    return [array(shape, draw(types))], {"axis": axis}, ()


@st.composite
def blocks(draw: Draw, *, deep: bool) -> Call:
    block = draw(st.integers(1, 2))
    n, c, h, w = (draw(st.integers(1, 2)) for _ in range(4))
    shape = (n, c * block**2, h, w) if deep else (n, c, h * block, w * block)
    return [array(shape, draw(types))], {"block_size": block}, ()


# Larger


@st.composite
def widened(draw: Draw) -> tuple[tuple[int, ...], tuple[int, ...]]:
    shape = draw(shapes)
    old = tuple(1 if draw(st.booleans()) else extent for extent in shape)
    return old, shape


@st.composite
def broadcast_to(draw: Draw) -> Call:
    old, new = draw(widened())
    return [array(old, draw(types))], {"shape": new}, ()


@st.composite
def broadcast_axis(draw: Draw) -> Call:
    old, new = draw(widened())
    axes = tuple(axis for axis, extent in enumerate(old) if extent == 1)
    size = tuple(new[axis] for axis in axes)
    return [array(old, draw(types))], {"axis": axes, "size": size}, ()


@st.composite
def broadcast_like(draw: Draw) -> Call:
    old, new = draw(widened())
    return [array(old, draw(types)), array(new)], {}, ()


@st.composite
def tile(draw: Draw) -> Call:
    reps = tuple(draw(st.lists(st.integers(1, 3), max_size=3)))
    return [array(draw(shapes), draw(types))], {"reps": reps}, ()


@st.composite
def repeat(draw: Draw) -> Call:
    shape = draw(shapes)
    axis = draw(st.one_of(st.none(), axis_of(shape)))
    return [array(shape, draw(types))], {"repeats": draw(st.integers(0, 3)), "axis": axis}, ()


@st.composite
def pad(draw: Draw) -> Call:
    shape = draw(hnp.array_shapes(min_dims=4, max_dims=5, min_side=2, max_side=3))
    widths = [0, 0, 0, 0]
    for extent in shape[2:]:
        widths += [draw(st.integers(0, extent - 1)) for _ in range(2)]
    attrs = {
        "mode": draw(st.sampled_from(["constant", "edge", "reflect"])),
        "pad_width": tuple(widths),
        "constant_value": 2.0,
    }
    return [array(shape, draw(floats))], attrs, ()


# Joined and split


@st.composite
def concat(draw: Draw) -> Call:
    shape, dtype = draw(shapes), draw(types)
    axis = draw(axis_of(shape))
    extents = draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    parts = []
    for extent in extents:
        part = list(shape)
        part[axis] = extent
        parts.append(array(tuple(part), dtype))
    return parts, {"dim": axis}, ()


@st.composite
def stack(draw: Draw) -> Call:
    shape, dtype = draw(shapes), draw(types)
    count = draw(st.integers(1, 3))
    return [array(shape, dtype)] * count, {"axis": draw(axis_of(shape, 1))}, ()


@st.composite
def split(draw: Draw) -> Call:
    shape = list(draw(shapes))
    axis = draw(axis_of(tuple(shape)))
    count, each = draw(st.integers(1, 3)), draw(st.integers(1, 2))
    shape[axis] = count * each
    squeeze = draw(st.booleans()) and each == 1
    attrs = {"num_outputs": count, "axis": axis, "squeeze_axis": squeeze}
    return [array(tuple(shape), draw(types))], attrs, ()


@st.composite
def split_v2(draw: Draw) -> Call:
    shape = draw(shapes)
    axis = draw(axis_of(shape))
    cuts = draw(st.lists(st.integers(0, shape[axis]), max_size=2).map(sorted).map(tuple))
    return [array(shape, draw(types))], {"indices": cuts, "axis": axis}, ()


# Parts


def bounds(shape: tuple[int, ...]) -> Any:
    keys = hnp.basic_indices(shape, allow_newaxis=False)
    return keys.map(lambda key: basic(expanded(key, shape), shape))


@st.composite
def part(draw: Draw) -> Call:
    shape = draw(shapes)
    return [array(shape, draw(types))], dict(draw(bounds(shape)).bounds), ()


@st.composite
def part_and_number(draw: Draw) -> Call:
    inputs, attrs, _ = draw(part())
    return inputs, attrs, (draw(numbers),)


@st.composite
def part_and_array(draw: Draw) -> Call:
    shape, dtype = draw(shapes), draw(types)
    chosen = draw(bounds(shape))
    new = mx.nd.zeros(chosen.chosen, dtype=dtype)
    return [array(shape, dtype), new], dict(chosen.bounds), ()


@st.composite
def slice_axis(draw: Draw) -> Call:
    shape = draw(shapes)
    axis = draw(axis_of(shape))
    begin = draw(st.integers(0, shape[axis] - 1))
    end = draw(st.one_of(st.none(), st.integers(begin + 1, shape[axis])))
    return [array(shape, draw(types))], {"axis": axis, "begin": begin, "end": end}, ()


@st.composite
def slice_like(draw: Draw) -> Call:
    shape = draw(shapes)
    less = tuple(draw(st.integers(1, extent)) for extent in shape)
    axes = draw(st.sets(st.integers(0, len(shape) - 1)).map(tuple))
    return [array(shape, draw(types)), array(less)], {"axes": axes}, ()


# By position


@st.composite
def take(draw: Draw) -> Call:
    shape = draw(shapes)
    axis = draw(axis_of(shape))
    indices = draw(positions(draw(shapes), shape[axis], draw(types)))
    mode = draw(st.sampled_from(["clip", "wrap", "raise"]))
    return [array(shape, draw(types)), indices], {"axis": axis, "mode": mode}, ()


@st.composite
def embedding(draw: Draw) -> Call:
    words, width = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    weight = array((words, width), draw(floats))
    attrs = {"input_dim": words, "output_dim": width}
    return [draw(positions(draw(shapes), words)), weight], attrs, ()


@st.composite
def one_hot(draw: Draw) -> Call:
    attrs = {"depth": draw(st.integers(0, 4)), "on_value": 2.0, "dtype": draw(types)}
    return [array(draw(shapes), draw(types))], attrs, ()


@st.composite
def pick(draw: Draw) -> Call:
    shape = draw(shapes)
    axis = draw(axis_of(shape))
    rest = list(shape)
    kept = list(shape)
    kept[axis] = 1
    rest.pop(axis)
    wanted = tuple(draw(st.sampled_from([rest or [1], kept])))
    attrs = {
        "axis": axis,
        "keepdims": draw(st.booleans()),
        "mode": draw(st.sampled_from(["clip", "wrap"])),
    }
    return [array(shape, draw(types)), array(wanted, draw(types))], attrs, ()


@st.composite
def batch_take(draw: Draw) -> Call:
    rows, columns = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    matrix = array((rows, columns), draw(types))
    return [matrix, draw(positions((rows,), columns, "int32"))], {}, ()


@st.composite
def places(draw: Draw) -> tuple[tuple[int, ...], Any, tuple[int, ...]]:
    """Return a shape, positions on some of its first axes, and the shape they choose."""
    shape = draw(shapes)
    axes = draw(st.integers(1, len(shape)))
    chosen = draw(hnp.array_shapes(max_dims=2, max_side=3))
    rows = [draw(positions(chosen, shape[axis])) for axis in range(axes)]
    return shape, mx.nd.stack(*rows), (*chosen, *shape[axes:])


@st.composite
def gather_nd(draw: Draw) -> Call:
    shape, indices, _ = draw(places())
    return [array(shape, draw(types)), indices], {}, ()


@st.composite
def distinct_places(draw: Draw) -> tuple[tuple[int, ...], Any, tuple[int, ...]]:
    """Return the same as `places`, no position twice."""
    shape = draw(shapes)
    axes = draw(st.integers(1, len(shape)))
    every = draw(st.permutations(range(int(np.prod(shape[:axes])))))
    some = every[: draw(st.integers(1, len(every)))]
    indices = mx.nd.array(np.unravel_index(some, shape[:axes]), dtype="int64")
    return shape, indices, (len(some), *shape[axes:])


@st.composite
def scatter_nd(draw: Draw) -> Call:
    shape, indices, chosen = draw(distinct_places())
    return [array(chosen, draw(types)), indices], {"shape": shape}, ()


@st.composite
def scatter_set_nd(draw: Draw) -> Call:
    shape, indices, chosen = draw(distinct_places())
    dtype = draw(types)
    return [array(shape, dtype), array(chosen, dtype), indices], {}, ()


@st.composite
def boolean_mask(draw: Draw) -> Call:
    shape = draw(shapes)
    mask = draw(hnp.arrays("int64", shape[:1], elements=st.integers(0, 1)))
    inputs = [array(shape, draw(types)), mx.nd.array(mask, dtype=draw(types))]
    return inputs, {"rows": int(mask.sum())}, ()


@st.composite
def ravel(draw: Draw) -> Call:
    shape, count = draw(shapes), draw(st.integers(1, 3))
    dtype = draw(types)
    rows = [draw(positions((count,), extent, dtype)) for extent in shape]
    return [mx.nd.stack(*rows)], {"shape": shape}, ()


@st.composite
def unravel(draw: Draw) -> Call:
    shape = draw(shapes)
    numbers = draw(positions((draw(st.integers(1, 3)),), int(np.prod(shape)), draw(types)))
    return [numbers], {"shape": shape}, ()


# Matrices


@st.composite
def dot(draw: Draw) -> Call:
    left, right = list(draw(shapes)), list(draw(shapes))
    names = ("transpose_a", "transpose_b") if len(left) + len(right) > 2 else ()
    flags = {name: True for name in names if draw(st.booleans())}
    right[-1 if "transpose_b" in flags else 0] = left[0 if "transpose_a" in flags else -1]
    dtype = draw(types)
    return [array(tuple(left), dtype), array(tuple(right), dtype)], flags, ()


@st.composite
def batch_dot(draw: Draw, dtypes: Any = types) -> Call:
    batch = draw(hnp.array_shapes(max_dims=2, max_side=2))
    m, k, n = (draw(st.integers(1, 3)) for _ in range(3))
    flags = {name: draw(st.booleans()) for name in ("transpose_a", "transpose_b")}
    left = (k, m) if flags["transpose_a"] else (m, k)
    right = (n, k) if flags["transpose_b"] else (k, n)
    dtype = draw(dtypes)
    return [array((*batch, *left), dtype), array((*batch, *right), dtype)], flags, ()


@st.composite
def diag(draw: Draw) -> Call:
    shape = draw(shapes)
    limit = min(shape[:2]) - 1 if len(shape) > 1 else 2
    axes = draw(st.permutations(range(len(shape)))) if len(shape) > 1 else (0, 1)
    low = -limit if len(shape) < 3 else 0
    attrs = {"k": draw(st.integers(low, -low)), "axis1": axes[0], "axis2": axes[1]}
    return [array(shape, draw(types))], attrs, ()


@st.composite
def copy(draw: Draw) -> Call:
    attrs = {"dtype": draw(types)} if draw(st.booleans()) else {}
    return [array(draw(shapes), draw(types))], attrs, ()


doubles = st.sampled_from(["float32", "float64"])


@st.composite
def gemm(draw: Draw, *, third: bool = False) -> Call:
    (a, b), attrs, _ = draw(batch_dot(doubles))
    rows, columns = a.shape[-1 if attrs["transpose_a"] else -2], None
    columns = b.shape[-2 if attrs["transpose_b"] else -1]
    c = array((*a.shape[:-2], rows, columns), np.dtype(a.dtype).name)
    return [a, b, c] if third else [a, b], {**attrs, "alpha": 0.5}, ()


@st.composite
def square(draw: Draw, *, positive: bool = False) -> Call:
    """Well-conditioned matrices, positive definite if asked for."""
    batch, extent = draw(hnp.array_shapes(max_dims=1, max_side=2)), draw(st.integers(1, 3))
    values = np.random.default_rng(draw(st.integers(0, 99))).uniform(
        -1, 1, (*batch, extent, extent)
    )
    values = values @ values.swapaxes(-1, -2) if positive else values
    return [mx.nd.array(values + 3 * np.eye(extent), dtype=draw(doubles))], {}, ()


@st.composite
def syrk(draw: Draw) -> Call:
    (a, _), _, _ = draw(batch_dot(doubles))
    return [a], {"transpose": draw(st.booleans()), "alpha": 2.0}, ()


@st.composite
def triangle(draw: Draw) -> Call:
    (a,), _, _ = draw(square())
    attrs = {name: draw(st.booleans()) for name in ("transpose", "rightside", "lower")}
    shape = list(a.shape)
    shape[-2 if attrs["rightside"] else -1] = draw(st.integers(1, 3))
    return [a, array(tuple(shape), np.dtype(a.dtype).name)], {**attrs, "alpha": 2.0}, ()


@st.composite
def extract_diag(draw: Draw) -> Call:
    (a,), _, _ = draw(square())
    limit = a.shape[-1] - 1
    return [a], {"offset": draw(st.integers(-limit, limit))}, ()


@st.composite
def make_diag(draw: Draw) -> Call:
    return [array(draw(shapes), draw(types))], {"offset": draw(st.integers(-2, 2))}, ()


# From nothing


@st.composite
def constant(draw: Draw) -> Call:
    return [], {"shape": draw(shapes), "dtype": draw(types)}, ()


@st.composite
def filled(draw: Draw) -> Call:
    return [], {"shape": draw(shapes), "dtype": draw(types)}, (draw(numbers),)


@st.composite
def counted(draw: Draw) -> Call:
    attrs = {
        "start": float(draw(numbers)),
        "stop": float(draw(numbers)),
        "step": draw(st.sampled_from([0.3, 1.0, -0.5])),
        "repeat": draw(st.integers(1, 3)),
        "dtype": draw(types),
    }
    return [], attrs, ()


@st.composite
def linspace(draw: Draw) -> Call:
    attrs = {
        "start": float(draw(numbers)),
        "stop": float(draw(numbers)),
        "num": draw(st.integers(0, 4)),
        "endpoint": draw(st.booleans()),
        "dtype": draw(types),
    }
    return [], attrs, ()


@st.composite
def eye(draw: Draw) -> Call:
    rows, columns = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    return [], {"rows": rows, "columns": columns, "k": draw(numbers), "dtype": draw(types)}, ()


#: Parameters for which each distribution exists.
PARAMETERS: dict[str, tuple[float, ...]] = {
    "uniform": (1.0, 2.0),
    "normal": (1.0, 2.0),
    "exponential": (0.5,),
    "gamma": (2.0, 0.5),
    "poisson": (3.0,),
    "negative_binomial": (3, 0.5),
    "randint": (-3, 5),
}


@st.composite
def drawn(draw: Draw, name: str) -> Call:
    dtypes = st.sampled_from(["int32", "int64"]) if name == "randint" else floats
    return [], {"shape": draw(shapes), "dtype": draw(dtypes)}, PARAMETERS[name]


@st.composite
def drawn_like(draw: Draw, name: str) -> Call:
    return [array(draw(shapes), draw(floats))], {}, PARAMETERS[name]


@st.composite
def sampled(draw: Draw, name: str) -> Call:
    shape = draw(shapes)
    parameters = [mx.nd.full(shape, value) for value in PARAMETERS[name]]
    return parameters, {"shape": draw(st.sampled_from([(), (2,)])), "dtype": draw(floats)}, ()


@st.composite
def multinomial(draw: Draw) -> Call:
    shape = draw(hnp.array_shapes(max_dims=2, max_side=3))
    chances = mx.nd.full(shape, 1 / shape[-1])
    attrs = {"shape": draw(st.sampled_from([(), (2,)])), "get_prob": draw(st.booleans())}
    return [chances], attrs, ()


CALLS: dict[str, Any] = {
    "Reshape": reshape(),
    **dict.fromkeys(["Flatten", "shape_array", "size_array", "_shuffle"], alone()),
    "expand_dims": one_axis_more(),
    "squeeze": squeeze(),
    "reshape_like": reshape_like(),
    "transpose": transpose(),
    "SwapAxis": swap_axis(),
    "reverse": reverse(),
    "depth_to_space": blocks(deep=True),
    "space_to_depth": blocks(deep=False),
    "broadcast_to": broadcast_to(),
    "broadcast_axis": broadcast_axis(),
    "broadcast_like": broadcast_like(),
    "tile": tile(),
    "repeat": repeat(),
    "Pad": pad(),
    "Concat": concat(),
    "stack": stack(),
    "SliceChannel": split(),
    "_split_v2": split_v2(),
    "slice": part(),
    "_slice_assign": part_and_array(),
    "_slice_assign_scalar": part_and_number(),
    "slice_axis": slice_axis(),
    "slice_like": slice_like(),
    "take": take(),
    "Embedding": embedding(),
    "one_hot": one_hot(),
    "pick": pick(),
    "batch_take": batch_take(),
    "gather_nd": gather_nd(),
    "scatter_nd": scatter_nd(),
    "_scatter_set_nd": scatter_set_nd(),
    "_contrib_boolean_mask": boolean_mask(),
    "_ravel_multi_index": ravel(),
    "_unravel_index": unravel(),
    "dot": dot(),
    "batch_dot": batch_dot(),
    "diag": diag(),
    "CopyCPU2CPU": copy(),
    "_linalg_gemm": gemm(third=True),
    "_linalg_gemm2": gemm(),
    "_linalg_syrk": syrk(),
    **dict.fromkeys(["_linalg_trmm", "_linalg_trsm"], triangle()),
    "_linalg_potrf": square(positive=True),
    **dict.fromkeys(
        [
            "_linalg_potri",
            "_linalg_inverse",
            "_linalg_det",
            "_linalg_slogdet",
            "_linalg_sumlogdiag",
        ],
        square(),
    ),
    "_linalg_extractdiag": extract_diag(),
    "_linalg_makediag": make_diag(),
    **dict.fromkeys(["_zeros", "_ones"], constant()),
    "_full": filled(),
    "_arange": counted(),
    "_linspace": linspace(),
    "_eye": eye(),
    **{op.name: drawn(name) for name, op in RANDOM.items()},
    **{op.name: drawn_like(name) for name, op in RANDOM_LIKE.items()},
    **{op.name: sampled(name) for name, op in SAMPLE.items()},
    "_sample_multinomial": multinomial(),
}
