"""`ParameterDict`: the parameters of a network, by name."""

from __future__ import annotations

import os
from collections.abc import ItemsView, Iterator, KeysView, Mapping, ValuesView
from typing import Any

import numpy as np

from mxprof_nb.errors import ArgumentError, ParameterError, close_match
from mxprof_nb.runtime import initializer, nd
from mxprof_nb.runtime.context import Context
from mxprof_nb.runtime.gluon.parameter.constant import Constant
from mxprof_nb.runtime.gluon.parameter.devices import Devices
from mxprof_nb.runtime.gluon.parameter.loading import load_arrays, named_arrays
from mxprof_nb.runtime.gluon.parameter.single import Parameter
from mxprof_nb.runtime.nd import NDArray

__all__ = ["ParameterDict"]


class ParameterDict:
    """The parameters of a network, by their whole names, in the order in which they were made.

    Parameters
    ----------
    prefix : str
        What names of parameters that `get` makes begin with.
    shared : ParameterDict, optional
        Where `get` looks first.
    """

    def __init__(self, prefix: str = "", shared: ParameterDict | None = None) -> None:
        self._prefix = prefix
        self._shared = shared
        self._params: dict[str, Parameter] = {}

    def __repr__(self) -> str:
        name = f"{self._prefix} " if self._prefix else ""
        lines = "\n".join(f"  {each!r}" for each in self.values())
        return f"{name}(\n{lines}\n)"

    def __getitem__(self, key: str) -> Parameter:
        found = self._params.get(key)
        if found is None:
            raise KeyError(f"There is no parameter {key!r}.{close_match(str(key), self._params)}")
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._params)

    def __len__(self) -> int:
        return len(self._params)

    def __contains__(self, key: object) -> bool:
        return key in self._params

    def items(self) -> ItemsView[str, Parameter]:
        """Return pairs of name and parameter."""
        return self._params.items()

    def keys(self) -> KeysView[str]:
        """Return the names."""
        return self._params.keys()

    def values(self) -> ValuesView[Parameter]:
        """Return the parameters."""
        return self._params.values()

    @property
    def prefix(self) -> str:
        """What names of parameters that `get` makes begin with."""
        return self._prefix

    def _found(self, name: str) -> Parameter | None:
        """Return a parameter of this dictionary or the shared one, which is then in this too."""
        found = self._params.get(name)
        if found is None and self._shared is not None:
            found = self._shared._params.get(name)
            if found is not None:
                self._params[name] = found
        return found

    def get(self, name: str, **kwargs: Any) -> Parameter:
        """Return the parameter of a name, made with these options if there is none.

        Parameters
        ----------
        name : str
            Without the prefix.
        **kwargs
            See `Parameter`.

        Raises
        ------
        ArgumentError
            There is one, and it does not have these options.
        """
        name = self._prefix + name
        found = self._found(name)
        if found is None:
            found = self._params[name] = Parameter(name, **kwargs)
            return found
        agreed = {option: _agreed(found, option, value) for option, value in kwargs.items()}
        for option, value in agreed.items():
            if value is not None:
                setattr(found, option, value)
        return found

    def get_constant(self, name: str, value: Any = None) -> Constant:
        """Return the constant of a name, made with this value if there is none.

        Raises
        ------
        KeyError
            There is none, and no value.
        ArgumentError
            There is one with another value, or a parameter that is no constant.
        """
        name = self._prefix + name
        found = self._found(name)
        if found is None:
            if value is None:
                raise KeyError(f"There is no constant {name!r}. Give a value to make it.")
            made = self._params[name] = Constant(name, value)
            return made
        if not isinstance(found, Constant):
            raise ArgumentError(f"Parameter {name!r} is no constant.")
        if value is not None:
            wanted = value.asnumpy() if isinstance(value, NDArray) else np.asarray(value)
            if not np.array_equal(found.value.asnumpy(), wanted):
                raise ArgumentError(f"Constant {name!r} exists, and has another value.")
        return found

    def update(self, other: ParameterDict | Mapping[str, Parameter]) -> None:
        """Take all parameters of another dictionary too.

        Raises
        ------
        ArgumentError
            One of them has the name of another parameter here; then none is taken.
        """
        for name, each in other.items():
            if self._params.get(name, each) is not each:
                raise ArgumentError(
                    f"There are two parameters {name!r}. Make child blocks within "
                    "`with self.name_scope():`, so that names are unlike."
                )
        self._params.update(other.items())

    # What is done to all

    def initialize(
        self,
        init: Any = None,
        ctx: Devices = None,
        verbose: bool = False,
        force_reinit: bool = False,
        device: Devices = None,
    ) -> None:
        """Initialize all parameters; if that fails for one, none is.

        Parameters
        ----------
        init : str or Initializer, optional
            For parameters without one of their own; `mx.init.Uniform()` by default.
        ctx, device : Context or list of Context, optional
            Where; on the current device by default.
        verbose : bool
            Whether to log what is filled how.
        force_reinit : bool
            Whether to do so with those that are initialized already.
        """
        default = initializer.create("uniform" if init is None else init)
        if verbose and isinstance(default, initializer.Initializer):
            default.set_verbosity(verbose)
        starts = [
            (each, each._started(None, ctx, default, force_reinit, device))
            for each in self.values()
        ]
        for each, start in starts:
            if start is not None:
                each._begin(*start)

    def zero_grad(self) -> None:
        """Set all gradients to 0."""
        for each in self.values():
            each.zero_grad()

    def reset_ctx(self, ctx: Devices = None, device: Devices = None) -> None:
        """Move all parameters to other devices."""
        for each in self.values():
            each.reset_ctx(ctx, device)

    reset_device = reset_ctx

    def list_ctx(self) -> list[Context]:
        """Return all devices that some parameter is on."""
        return list(dict.fromkeys(device for each in self.values() for device in each.list_ctx()))

    list_device = list_ctx

    def setattr(self, name: str, value: Any) -> None:
        """Set an attribute of all parameters, e.g. ``setattr("grad_req", "null")``."""
        for each in self.values():
            setattr(each, name, value)

    # Files

    def save(self, filename: str | os.PathLike[str], strip_prefix: str = "") -> None:
        """Write the values to a file that `load` and MXNet read.

        Parameters
        ----------
        filename : str or path
        strip_prefix : str
            What names in the file are without; all names must begin with it.
        """
        for name in self.keys():
            if not name.startswith(strip_prefix):
                raise ArgumentError(
                    f"The name of parameter {name!r} does not begin with {strip_prefix!r}. Was "
                    "its block made outside of `with net.name_scope():`, or is it shared?"
                )
        nd.save(
            filename,
            {name[len(strip_prefix) :]: each._reduce() for name, each in self.items()},
        )

    def load(
        self,
        filename: str | os.PathLike[str],
        ctx: Devices = None,
        allow_missing: bool = False,
        ignore_extra: bool = False,
        restore_prefix: str = "",
        cast_dtype: bool = False,
        dtype_source: str = "current",
        device: Devices = None,
    ) -> None:
        """Set the values to those in a file; all of them, or none if something does not fit.

        Parameters
        ----------
        filename : str or path
        ctx, device : Context or list of Context, optional
            Where parameters live that are not initialized yet.
        allow_missing, ignore_extra : bool
            Whether the file may lack parameters; whether it may hold others.
        restore_prefix : str
            What comes before the names in the file.
        cast_dtype : bool
            Whether types may differ.
        dtype_source : {'current', 'saved'}
            Which of them a parameter has then.

        Raises
        ------
        ParameterFileError
            The file does not fit.
        EngineError
            It is no file of arrays, or broken.
        """
        held = named_arrays(filename)
        self.load_dict(
            held,
            ctx,
            allow_missing,
            ignore_extra,
            restore_prefix,
            os.fspath(filename),
            cast_dtype,
            dtype_source,
            device,
        )

    def load_dict(
        self,
        param_dict: Mapping[str, NDArray],
        ctx: Devices = None,
        allow_missing: bool = False,
        ignore_extra: bool = False,
        restore_prefix: str = "",
        filename: str | None = None,
        cast_dtype: bool = False,
        dtype_source: str = "current",
        device: Devices = None,
    ) -> None:
        """Set the values to those of arrays by name; see `load`."""
        for name in self.keys():
            if not name.startswith(restore_prefix):
                raise ParameterError(
                    f"restore_prefix is {restore_prefix!r}, which the name of parameter {name!r} "
                    "does not begin with."
                )
        held = {
            restore_prefix + name.removeprefix("arg:").removeprefix("aux:"): array
            for name, array in param_dict.items()
        }
        load_arrays(
            dict(self.items()),
            held,
            f"file {filename!r}" if filename else "what is loaded",
            ctx,
            allow_missing=allow_missing,
            ignore_extra=ignore_extra,
            cast_dtype=cast_dtype,
            dtype_source=dtype_source,
            device=device,
        )


def _agreed(param: Parameter, option: str, value: Any) -> Any:
    """Return what an option becomes that is asked for anew, None if it stays as it is."""
    stored = getattr(param, option, None)
    if value is None or stored is None:
        return value
    if option == "shape":
        wanted = (value,) if isinstance(value, int) else tuple(value)
        if len(wanted) == len(stored) and all(
            mine == other or mine <= 0 or other <= 0
            for mine, other in zip(wanted, stored, strict=True)
        ):
            return tuple(max(pair) for pair in zip(wanted, stored, strict=True))
    elif (option == "dtype" and np.dtype(value) == np.dtype(stored)) or stored == value:
        return None
    raise ArgumentError(
        f"Parameter {param.name!r} exists with {option}={stored!r}; it cannot be had with "
        f"{option}={value!r}."
    )
