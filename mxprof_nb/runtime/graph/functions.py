"""`FUNCTIONS`: for each operator, by MXNet's internal name, the function of `mx.nd` that calls it.

Most names are those of the functions; the others are listed. What arrays have signs for, and
programs no function, has one here.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from mxprof_nb.runtime import nd
from mxprof_nb.runtime.nd import NDArray
from mxprof_nb.runtime.nd.arguments import bounds, flag, integers, whole
from mxprof_nb.runtime.nd.array import apply, apply_several
from mxprof_nb.runtime.ops import OpSpec, spec
from mxprof_nb.runtime.ops.elementwise import ELEMWISE, SCALAR
from mxprof_nb.runtime.ops.registry import operator_names

__all__ = ["ALIASES", "FUNCTIONS"]

Integers = Any

#: Names under which MXNet has an operator besides its own; a file may hold any of them.
ALIASES: dict[str, str] = {
    "ElementWiseSum": "add_n",
    "_Plus": "elemwise_add",
    "_Minus": "elemwise_sub",
    "_Mul": "elemwise_mul",
    "_Div": "elemwise_div",
    "_Mod": "_mod",
    "_Power": "_power",
    "_Maximum": "_maximum",
    "_Minimum": "_minimum",
    "_Hypot": "_hypot",
    "_PlusScalar": "_plus_scalar",
    "_MinusScalar": "_minus_scalar",
    "_RMinusScalar": "_rminus_scalar",
    "_MulScalar": "_mul_scalar",
    "_DivScalar": "_div_scalar",
    "_RDivScalar": "_rdiv_scalar",
    "_ModScalar": "_mod_scalar",
    "_RModScalar": "_rmod_scalar",
    "_PowerScalar": "_power_scalar",
    "_RPowerScalar": "_rpower_scalar",
    "_MaximumScalar": "_maximum_scalar",
    "_MinimumScalar": "_minimum_scalar",
    "_HypotScalar": "_hypot_scalar",
    "_crop_assign": "_slice_assign",
    "_crop_assign_scalar": "_slice_assign_scalar",
    "broadcast_axes": "broadcast_axis",
    "broadcast_minus": "broadcast_sub",
    "broadcast_plus": "broadcast_add",
    "cast": "Cast",
    "choose_element_0index": "pick",
    "concat": "Concat",
    "crop": "slice",
    "cumsum": "_np_cumsum",
    "flatten": "Flatten",
    "flip": "reverse",
    "identity": "_copy",
    "max_axis": "max",
    "min_axis": "min",
    "normal": "_random_normal",
    "pad": "Pad",
    "random_exponential": "_random_exponential",
    "random_gamma": "_random_gamma",
    "random_negative_binomial": "_random_negative_binomial",
    "random_normal": "_random_normal",
    "random_poisson": "_random_poisson",
    "random_randint": "_random_randint",
    "random_uniform": "_random_uniform",
    "ravel_multi_index": "_ravel_multi_index",
    "reshape": "Reshape",
    "sample_exponential": "_sample_exponential",
    "sample_gamma": "_sample_gamma",
    "sample_multinomial": "_sample_multinomial",
    "sample_normal": "_sample_normal",
    "sample_poisson": "_sample_poisson",
    "sample_uniform": "_sample_uniform",
    "shuffle": "_shuffle",
    "split": "SliceChannel",
    "stop_gradient": "BlockGrad",
    "sum_axis": "sum",
    "swapaxes": "SwapAxis",
    "uniform": "_random_uniform",
    "unravel_index": "_unravel_index",
}


# What there are signs for, and no functions


def _of_two(op: OpSpec) -> Callable[..., Any]:
    def call(lhs: NDArray, rhs: NDArray) -> NDArray:
        return apply(op, (lhs, rhs))

    return call


def _of_array_and_number(op: OpSpec) -> Callable[..., Any]:
    def call(data: NDArray, scalar: float = 1.0) -> NDArray:
        return apply(op, (data,), (), (scalar,))

    return call


def _full(shape: Integers, value: float, ctx: Any = None, dtype: Any = None) -> NDArray:
    """Return an array of one number."""
    attrs = (("shape", integers(shape)), ("dtype", "float32" if dtype is None else dtype))
    return apply(spec("_full"), (), attrs, (value,))


def _linspace(
    start: float,
    stop: float | None = None,
    step: float = 1.0,
    repeat: int = 1,
    infer_range: bool = False,
    ctx: Any = None,
    dtype: Any = None,
    num: int = 50,
    endpoint: bool = True,
) -> NDArray:
    """Return evenly spaced numbers."""
    return nd.linspace(start, start if stop is None else stop, num, endpoint, dtype=dtype)


def _split_v2(
    data: NDArray,
    indices: Integers,
    axis: int = 1,
    squeeze_axis: bool = False,
    sections: int = 0,
) -> Any:
    """Return parts along an axis; MXNet's positions begin with 0, the first part's."""
    if sections:
        return nd.split_v2(data, sections, axis, squeeze_axis)
    attrs = (
        ("axis", whole(axis)),
        ("indices", integers(indices)[1:]),
        ("squeeze_axis", flag(squeeze_axis)),
    )
    return apply_several(spec("_split_v2"), (data,), attrs)


def _slice_assign(
    lhs: NDArray, rhs: NDArray, begin: Integers, end: Integers, step: Integers = ()
) -> NDArray:
    """Return ``lhs`` with the part between bounds replaced."""
    attrs = (("begin", bounds(begin)), ("end", bounds(end)), ("step", bounds(step)))
    return apply(spec("_slice_assign"), (lhs, rhs), attrs)


def _slice_assign_scalar(
    data: NDArray, scalar: float = 0.0, begin: Integers = (), end: Integers = (), step: Any = ()
) -> NDArray:
    """Return the data with the part between bounds replaced by a number."""
    attrs = (("begin", bounds(begin)), ("end", bounds(end)), ("step", bounds(step)))
    return apply(spec("_slice_assign_scalar"), (data,), attrs, (scalar,))


def _scatter_set_nd(lhs: NDArray, rhs: NDArray, indices: NDArray, shape: Integers = ()) -> NDArray:
    """Return ``lhs`` with elements at positions replaced."""
    return apply(spec("_scatter_set_nd"), (lhs, rhs, indices))


def _sample_negative_binomial(
    k: NDArray, p: NDArray, shape: Integers = (), dtype: Any = None
) -> NDArray:
    """Return numbers of failures before successes, for each two elements."""
    return nd.random.negative_binomial(k, p, shape or None, dtype)


_INTERNAL: dict[str, Callable[..., Any]] = {
    **{op.name: _of_two(op) for op in ELEMWISE.values()},
    **{op.name: _of_array_and_number(op) for op in SCALAR.values()},
    "_arange": nd.arange,
    "_eye": nd.eye,
    "_full": _full,
    "_linspace": _linspace,
    "_ones": nd.ones,
    "_sample_negative_binomial": _sample_negative_binomial,
    "_scatter_set_nd": _scatter_set_nd,
    "_slice_assign": _slice_assign,
    "_slice_assign_scalar": _slice_assign_scalar,
    "_split_v2": _split_v2,
    "_zeros": nd.zeros,
}


def _named() -> dict[str, Callable[..., Any]]:
    known = {*operator_names(), "Custom"}
    found = dict(_INTERNAL)
    for prefix, module, names in (
        ("", nd, nd.__all__),
        ("_linalg_", nd.linalg, nd.linalg.__all__),
        ("_image_", nd.image, nd.image.__all__),
        ("_contrib_", nd.contrib, nd.contrib.__all__),
        ("_random_", nd.random, [each for each in nd.random.__all__ if each.endswith("_like")]),
    ):
        for name in names:
            function = getattr(module, name)
            operator = prefix + name
            operator = ALIASES.get(operator, operator)
            if isinstance(function, FunctionType) and operator in known:
                found.setdefault(operator, function)
    return found


#: Operator to function.
FUNCTIONS: dict[str, Callable[..., Any]] = _named()
