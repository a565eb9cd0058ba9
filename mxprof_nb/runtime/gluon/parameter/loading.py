"""Values from files: checked all before one is set."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

import numpy as np

from mxprof_nb.errors import ArgumentError, ParameterFileError, close_match
from mxprof_nb.runtime import nd
from mxprof_nb.runtime.context import Context, cpu
from mxprof_nb.runtime.gluon.parameter.devices import Devices, named_devices
from mxprof_nb.runtime.gluon.parameter.shape import fits
from mxprof_nb.runtime.gluon.parameter.single import Parameter
from mxprof_nb.runtime.nd import NDArray

__all__ = ["load_arrays", "named_arrays"]

#: Names that an error lists.
MAX_NAMES = 6


def named_arrays(filename: str | os.PathLike[str]) -> dict[str, NDArray]:
    """Return the arrays in a file, which must have names.

    Raises
    ------
    ParameterFileError
        They have none.
    EngineError
        It is no file of arrays, or broken.
    """
    held = nd.load(filename)
    if isinstance(held, Mapping):
        return held
    if held:
        raise ParameterFileError(
            f"File {os.fspath(filename)!r} holds {len(held)} arrays without names, so it is none "
            "of save_parameters."
        )
    return {}


def load_arrays(
    params: Mapping[str, Parameter],
    held: Mapping[str, NDArray],
    origin: str,
    ctx: Devices = None,
    *,
    allow_missing: bool = False,
    ignore_extra: bool = False,
    cast_dtype: bool = False,
    dtype_source: str = "current",
    device: Devices = None,
) -> None:
    """Set the values of parameters to those of arrays; all of them, or none.

    Parameters
    ----------
    params, held : mapping by name
        One parameter may have several names; one of them is enough.
    origin : str
        Where the arrays are from, for errors.
    ctx, device, allow_missing, ignore_extra, cast_dtype, dtype_source
        See `ParameterDict.load`.

    Raises
    ------
    ParameterFileError
        The arrays do not fit the parameters.
    """
    if dtype_source not in ("current", "saved"):
        raise ArgumentError(f"dtype_source={dtype_source!r} is neither 'current' nor 'saved'.")
    there = {id(param) for name, param in params.items() if name in held}
    for name, param in params.items():
        if not allow_missing and id(param) not in there:
            raise ParameterFileError(
                f"Parameter {name!r} is missing in {origin}, which holds {_told(held)}."
                f"{close_match(name, held)} Say allow_missing=True to leave it as it is."
            )
    for name in held:
        if not ignore_extra and name not in params:
            raise ParameterFileError(
                f"{origin[:1].upper()}{origin[1:]} holds {name!r}, and no parameter has that "
                f"name. There are {_told(params)}. Say ignore_extra=True to skip it."
            )
    devices = named_devices(ctx, device)
    set_all = [
        _checked(params[name], array, devices, cast_dtype, dtype_source, origin)
        for name, array in held.items()
        if name in params
    ]
    for set_one in set_all:
        set_one()


def _checked(
    param: Parameter,
    array: NDArray,
    devices: list[Context] | None,
    cast_dtype: bool,
    source: str,
    origin: str,
) -> Callable[[], None]:
    """Return what sets a parameter, once it is sure that it can."""
    saved = array.shape
    if not fits(param.shape, saved):
        raise ParameterFileError(
            f"Parameter {param.name!r} has shape {param.shape}, but in {origin} its shape is "
            f"{saved}."
        )
    own, its = np.dtype(param.dtype), np.dtype(array.dtype)
    if own != its and not cast_dtype:
        raise ParameterFileError(
            f"Parameter {param.name!r} has type {own}, but in {origin} its type is {its}. Say "
            "cast_dtype=True to convert it."
        )
    initialized = param._data is not None or param._deferred is not None
    placed = param.list_ctx() if initialized else None
    if placed is not None and devices is not None and set(devices) != set(placed):
        raise ParameterFileError(
            f"Parameter {param.name!r} is on {', '.join(map(str, placed))}, so it cannot be "
            f"loaded on {', '.join(map(str, devices))}. Leave ctx out, or call reset_ctx before."
        )

    def set_it() -> None:
        value = array
        if own != its and source == "saved":
            param.cast(its.name)
        elif own != its:
            value = array.astype(own)
        param._shape = saved
        if param._data is None:
            param._place(value, placed or devices or [cpu()])
        else:
            param.set_data(value)

    return set_it


def _told(names: Mapping[str, object]) -> str:
    """Return the first names and how many more there are."""
    listed = list(names)
    told = ", ".join(map(repr, listed[:MAX_NAMES])) or "nothing"
    more = len(listed) - MAX_NAMES
    return f"{told} and {more} more" if more > 0 else told
