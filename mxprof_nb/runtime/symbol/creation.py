"""Symbols that are no calls of one operator: variables, groups, constants, numbers and symbols."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from numbers import Number
from typing import Any

from mxprof_nb.errors import ArgumentError
from mxprof_nb.runtime.attribute import current_scope
from mxprof_nb.runtime.calls import recorded
from mxprof_nb.runtime.graph import VARIABLE, Node
from mxprof_nb.runtime.graph.types import CODES
from mxprof_nb.runtime.graph.words import word_of
from mxprof_nb.runtime.initializer import Initializer
from mxprof_nb.runtime.nd.dtypes import dtype_name
from mxprof_nb.runtime.symbol import files
from mxprof_nb.runtime.symbol.arithmetic import Arithmetic, combine
from mxprof_nb.runtime.symbol.functions import call
from mxprof_nb.runtime.symbol.symbol import Symbol, set_attribute, symbol_of

__all__ = [
    "Group",
    "Variable",
    "arange",
    "eye",
    "fromjson",
    "full",
    "hypot",
    "linspace",
    "load",
    "load_json",
    "maximum",
    "minimum",
    "ones",
    "pow",
    "power",
    "split_v2",
    "var",
    "zeros",
]

Shape = Any


def var(
    name: str,
    attr: Mapping[str, str] | None = None,
    shape: Shape = None,
    lr_mult: float | None = None,
    wd_mult: float | None = None,
    dtype: Any = None,
    init: Initializer | str | None = None,
    stype: str | None = None,
    **kwargs: Any,
) -> Symbol:
    """Return a variable: an input of a graph.

    Parameters
    ----------
    name : str
    attr : mapping of str to str, optional
        Attributes.
    shape : int or tuple of int, optional
        Counts where none is given later; 0 for a length that is not known.
    lr_mult, wd_mult : float, optional
        Factors of the learning rate and of the weight decay.
    dtype : optional
    init : Initializer or str, optional
        How it begins.
    stype : str, optional
        How it is stored: ``"default"`` alone.
    **kwargs
        Further attributes, with two underscores on both sides of the name.

    Raises
    ------
    TypeError
        The name is no text.
    ArgumentError
        An attribute is none.
    """
    if not isinstance(name, str):
        raise TypeError(f"A variable needs a name, not {type(name).__name__}.")
    if stype not in (None, "default"):
        raise ArgumentError(f"stype={stype!r}: arrays are stored as 'default' only.")
    marks = current_scope().get(attr)
    told: dict[str, Any] = {
        "__shape__": shape,
        "__lr_mult__": lr_mult,
        "__wd_mult__": wd_mult,
        "__dtype__": None if dtype is None else CODES[dtype_name(dtype)],
        "__init__": init.dumps() if isinstance(init, Initializer) else init,
        "__storage_type__": None if stype is None else 0,
    }
    marks |= {key: word_of(value) for key, value in told.items() if value is not None}
    for key, value in kwargs.items():
        if not (key.startswith("__") and key.endswith("__")):
            raise ArgumentError(
                f"var({name!r}): there is no parameter {key!r}; further attributes have two "
                "underscores on both sides, like __mine__."
            )
        marks[key] = str(value)
    node = Node(VARIABLE, name)
    for key, value in marks.items():
        set_attribute(node, key, value)
    return symbol_of([(node, 0)])


Variable = var


def Group(symbols: Iterable[Symbol]) -> Symbol:
    """Return several symbols as one that has the results of all."""
    given = list(symbols) if isinstance(symbols, Iterable) else [symbols]
    if not given or not all(isinstance(each, Symbol) for each in given):
        raise TypeError("Group takes a list of one Symbol or more.")
    return symbol_of([entry for each in given for entry in each._entries])


# Files


@recorded("MXSymbolCreateFromFile")
def load(fname: str) -> Symbol:
    """Return the graph in a file of MXNet's JSON.

    Raises
    ------
    ArgumentError
        The file holds no graph.
    UnknownOperatorError
        A node has an operator that is not known.
    """
    return symbol_of(files.load(fname))


@recorded("MXSymbolCreateFromJSON")
def load_json(json_str: str) -> Symbol:
    """Return the graph in a text of MXNet's JSON; raises what `load` raises."""
    return symbol_of(files.from_json(json_str))


fromjson = load_json


# Constants


def zeros(shape: Shape, dtype: Any = None, **kwargs: Any) -> Symbol:
    """Return zeros, float32 by default."""
    return call("_zeros", shape=shape, dtype=dtype_name(dtype), **kwargs)


def ones(shape: Shape, dtype: Any = None, **kwargs: Any) -> Symbol:
    """Return ones, float32 by default."""
    return call("_ones", shape=shape, dtype=dtype_name(dtype), **kwargs)


def full(shape: Shape, val: float, dtype: Any = None, **kwargs: Any) -> Symbol:
    """Return an array of one number, float32 by default."""
    return call("_full", shape=shape, dtype=dtype_name(dtype), value=float(val), **kwargs)


def eye(N: int, M: int = 0, k: int = 0, dtype: Any = None, **kwargs: Any) -> Symbol:
    """Return an N x M matrix, square for M = 0, with ones on diagonal ``k``."""
    return call("_eye", N, M, k, dtype=dtype_name(dtype), **kwargs)


def arange(
    start: float,
    stop: float | None = None,
    step: float = 1.0,
    repeat: int = 1,
    infer_range: bool = False,
    name: str | None = None,
    dtype: Any = None,
) -> Symbol:
    """Return evenly spaced numbers in ``[start, stop)``, or in ``[0, start)``."""
    return call(
        "_arange",
        start=start,
        stop=stop,
        step=step,
        repeat=repeat,
        infer_range=infer_range,
        name=name,
        dtype=dtype_name(dtype),
    )


def linspace(
    start: float,
    stop: float,
    num: int,
    endpoint: bool = True,
    name: str | None = None,
    dtype: Any = None,
) -> Symbol:
    """Return ``num`` evenly spaced numbers from ``start`` to ``stop``."""
    return call(
        "_linspace",
        start=start,
        stop=stop,
        num=num,
        endpoint=endpoint,
        name=name,
        dtype=dtype_name(dtype),
    )


# Symbols and numbers


def _either(
    sign: str, left: Any, right: Any, numbers: Callable[[Any, Any], Any], exchanged: str = ""
) -> Any:
    if isinstance(left, Arithmetic) or isinstance(right, Arithmetic):
        return combine(sign, left, right, exchanged)
    if not isinstance(left, Number) or not isinstance(right, Number):
        raise TypeError(
            f"{sign} needs symbols or numbers, not {type(left).__name__} and "
            f"{type(right).__name__}."
        )
    return numbers(left, right)


def power(base: Any, exp: Any) -> Any:
    """Return base to the power of exp: symbols of one shape, or numbers."""
    return _either("Power", base, exp, lambda x, y: x**y, "RPower")


def maximum(left: Any, right: Any) -> Any:
    """Return the larger of both: symbols of one shape, or numbers."""
    return _either("Maximum", left, right, max)


def minimum(left: Any, right: Any) -> Any:
    """Return the smaller of both: symbols of one shape, or numbers."""
    return _either("Minimum", left, right, min)


def hypot(left: Any, right: Any) -> Any:
    """Return the root of the sum of both squares: symbols of one shape, or numbers."""
    return _either("Hypot", left, right, math.hypot)


pow = power


def split_v2(
    ary: Symbol,
    indices_or_sections: int | tuple[int, ...],
    axis: int = 0,
    squeeze_axis: bool = False,
) -> Symbol:
    """Return parts along an axis, cut before given positions, or so many equal ones."""
    sections = int(indices_or_sections) if isinstance(indices_or_sections, int) else 0
    indices = [] if isinstance(indices_or_sections, int) else [0, *indices_or_sections]
    return call(
        "_split_v2",
        ary,
        indices=indices,
        axis=axis,
        squeeze_axis=squeeze_axis,
        sections=sections,
    )
