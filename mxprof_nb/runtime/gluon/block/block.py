"""`Block`: a layer or network, with parameters and blocks of its own."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np

from mxprof_nb.errors import ArgumentError, ShapeError
from mxprof_nb.runtime import nd
from mxprof_nb.runtime.gluon.block.hooks import HookHandle, Hooks
from mxprof_nb.runtime.gluon.block.scope import NameScope, named
from mxprof_nb.runtime.gluon.block.summary import print_summary
from mxprof_nb.runtime.gluon.parameter import Parameter, ParameterDict
from mxprof_nb.runtime.gluon.parameter.devices import Devices
from mxprof_nb.runtime.gluon.parameter.loading import load_arrays, named_arrays

__all__ = ["Block", "indented", "told", "tree"]

Self = TypeVar("Self", bound="Block")


class Block:
    """A layer or network; to be inherited from.

    A subclass makes its blocks and parameters in ``__init__``, within ``with self.name_scope():``,
    as attributes, and computes in ``forward(self, *args)``.

    Parameters
    ----------
    prefix : str, optional
        What the names of its parameters begin with; the class's name and a number by default.
    params : ParameterDict, optional
        Whose parameters it uses instead of new ones, where the names are the same.
    """

    #: Whether it only calls others, so that it is no layer of its own.
    _is_sequence = False

    _children: dict[str, Block]
    _reg_params: dict[str, Parameter]

    def __init__(self, prefix: str | None = None, params: ParameterDict | None = None) -> None:
        self._empty_prefix = prefix == ""
        self._prefix, self._params = named(prefix, params, self._alias())
        self._scope = NameScope(self)
        self._children = {}
        self._reg_params = {}
        self._forward_hooks: Hooks = {}
        self._forward_pre_hooks: Hooks = {}

    def __repr__(self) -> str:
        return tree(self, [(k, v) for k, v in vars(self).items() if isinstance(v, Block)])

    def __setattr__(self, name: str, value: Any) -> None:
        existing = getattr(self, name, None)
        if isinstance(existing, (Parameter, Block)) and not isinstance(value, type(existing)):
            raise TypeError(
                f"{type(self).__name__}.{name} is a {type(existing).__name__} and cannot become a "
                f"{type(value).__name__}."
            )
        if isinstance(value, (Parameter, Block)) and "_children" not in vars(self):
            raise ArgumentError(
                f"{type(self).__name__}.{name} is set before super().__init__() was called; call "
                "it first, in __init__."
            )
        if isinstance(value, Block):
            self.register_child(value, name)
        elif isinstance(value, Parameter):
            if name in self._reg_params:
                raise ArgumentError(
                    f"{type(self).__name__}.{name} is a parameter already. To share the parameters "
                    "of another block give params= when this one is made."
                )
            self._reg_params[name] = value
        super().__setattr__(name, value)

    def _alias(self) -> str:
        """Return the kind that names are made of."""
        return type(self).__name__.lower()

    @property
    def prefix(self) -> str:
        """What the names of its parameters begin with."""
        return self._prefix

    @property
    def name(self) -> str:
        """The prefix without the last underscore."""
        return self._prefix.removesuffix("_")

    def name_scope(self) -> NameScope:
        """Return the ``with`` block in which its own blocks are made."""
        return self._scope

    @property
    def params(self) -> ParameterDict:
        """Its own parameters, without those of its blocks."""
        return self._params

    def collect_params(self, select: str | None = None) -> ParameterDict:
        """Return its parameters and those of its blocks.

        Parameters
        ----------
        select : str, optional
            Regular expression that names begin with, e.g. ``".*weight|.*bias"``.
        """
        self._warn_of_containers()
        found = ParameterDict(self._params.prefix)
        pattern = re.compile(select or "")
        found.update({k: v for k, v in self._own_params().items() if pattern.match(k)})
        for child in self._children.values():
            found.update(child.collect_params(select))
        return found

    def _own_params(self) -> dict[str, Parameter]:
        """Return those of `params` and those that only are attributes, by whole names."""
        found = dict(self._params.items())
        known = set(map(id, found.values()))
        for name, each in self._reg_params.items():
            if id(each) not in known:
                found[self._prefix + name] = each
        return found

    def _warn_of_containers(self) -> None:
        children = set(map(id, self._children.values()))
        for name, value in vars(self).items():
            if name == "_children" or not isinstance(value, (list, tuple, dict)):
                continue
            if any(id(block) not in children for block in _blocks_in(value)):
                warnings.warn(
                    f"{type(self).__name__}.{name} holds blocks that are no children of it, so "
                    "their parameters are not found. Use nn.Sequential, or register_child().",
                    stacklevel=3,
                )

    def _collect_params_with_prefix(self, prefix: str = "") -> dict[str, Parameter]:
        """Return all parameters by the path of attributes that leads to them, as in files."""
        before = f"{prefix}." if prefix else ""
        found = {before + name: each for name, each in self._reg_params.items()}
        for name, child in self._children.items():
            found.update(child._collect_params_with_prefix(before + name))
        return found

    # Files

    def save_parameters(self, filename: str | os.PathLike[str], deduplicate: bool = False) -> None:
        """Write the values of all parameters to a file that `load_parameters` and MXNet read.

        Parameters
        ----------
        filename : str or path
        deduplicate : bool
            Whether a shared parameter is written once, under the last of its names.

        Raises
        ------
        ParameterError
            One was not initialized; then nothing is written.
        """
        params = self._collect_params_with_prefix()
        if deduplicate:
            last = {id(each): name for name, each in params.items()}
            params = {name: params[name] for name in last.values()}
        nd.save(filename, {name: each._reduce() for name, each in params.items()})

    def load_parameters(
        self,
        filename: str | os.PathLike[str],
        ctx: Devices = None,
        allow_missing: bool = False,
        ignore_extra: bool = False,
        cast_dtype: bool = False,
        dtype_source: str = "current",
        device: Devices = None,
    ) -> None:
        """Set the values of all parameters to those in a file; all of them, or none.

        Files of `save_parameters`, of `ParameterDict.save` and of MXNet are read. For parameters
        and errors see `ParameterDict.load`.
        """
        held = named_arrays(filename)
        if held and not any("." in name for name in held):  # whole names, of ParameterDict.save
            self.collect_params().load_dict(
                held,
                ctx,
                allow_missing,
                ignore_extra,
                self._prefix,
                os.fspath(filename),
                cast_dtype,
                dtype_source,
                device,
            )
            return
        load_arrays(
            self._collect_params_with_prefix(),
            held,
            f"file {os.fspath(filename)!r}",
            ctx,
            allow_missing=allow_missing,
            ignore_extra=ignore_extra,
            cast_dtype=cast_dtype,
            dtype_source=dtype_source,
            device=device,
        )

    def save_params(self, filename: str | os.PathLike[str]) -> None:
        """Write the values by whole names without the prefix; `save_parameters` is newer."""
        _warn_of_age("save_params", "save_parameters")
        self.collect_params().save(filename, strip_prefix=self._prefix)

    def load_params(
        self,
        filename: str | os.PathLike[str],
        ctx: Devices = None,
        allow_missing: bool = False,
        ignore_extra: bool = False,
    ) -> None:
        """Do what `load_parameters` does, which is newer."""
        _warn_of_age("load_params", "load_parameters")
        self.load_parameters(filename, ctx, allow_missing, ignore_extra)

    # Children and hooks

    def register_child(self, block: Block, name: str | None = None) -> None:
        """Make a block one of this one's; attributes are it anyway.

        Raises
        ------
        ArgumentError
            It is no block.
        """
        if not isinstance(block, Block):
            raise ArgumentError(
                f"{type(self).__name__}: {type(block).__name__} {block!r:.40} is no block. To use "
                "a function as one see nn.Lambda."
            )
        self._children[str(len(self._children)) if name is None else name] = block

    def register_forward_pre_hook(self, hook: Callable[..., Any]) -> HookHandle:
        """Call ``hook(block, args)`` before each `forward`, until the handle is detached."""
        return HookHandle(self._forward_pre_hooks, hook)

    def register_forward_hook(self, hook: Callable[..., Any]) -> HookHandle:
        """Call ``hook(block, args, result)`` after each `forward`, until the handle is detached."""
        return HookHandle(self._forward_hooks, hook)

    def apply(self: Self, fn: Callable[[Block], Any]) -> Self:
        """Call a function with all blocks within this one, then with it; return it."""
        for child in self._children.values():
            child.apply(fn)
        fn(self)
        return self

    # What is done to all parameters

    def initialize(
        self,
        init: Any = None,
        ctx: Devices = None,
        verbose: bool = False,
        force_reinit: bool = False,
        device: Devices = None,
    ) -> None:
        """Initialize all parameters, see `ParameterDict.initialize`."""
        self.collect_params().initialize(init, ctx, verbose, force_reinit, device)

    def hybridize(self, active: bool = True, **kwargs: Any) -> None:
        """Tell all blocks within to compute by a graph, see `HybridBlock.hybridize`."""
        for child in self._children.values():
            child.hybridize(active, **kwargs)

    def cast(self, dtype: Any) -> None:
        """Change the type of all parameters."""
        for child in self._children.values():
            child.cast(dtype)
        for each in self._own_params().values():
            each.cast(dtype)

    def zero_grad(self) -> None:
        """Set the gradients of all parameters to 0."""
        self.collect_params().zero_grad()

    def reset_ctx(self, ctx: Devices = None, device: Devices = None) -> None:
        """Move all parameters to other devices."""
        self.collect_params().reset_ctx(ctx, device)

    reset_device = reset_ctx

    def setattr(self, name: str, value: Any) -> None:
        """Set an attribute of all parameters."""
        self.collect_params().setattr(name, value)

    # Computing

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Compute: the hooks and `forward`.

        Raises
        ------
        ShapeError
            The arrays do not fit; the message names the innermost block.
        """
        for hook in tuple(self._forward_pre_hooks.values()):
            hook(self, args)
        try:
            made = self.forward(*args, **kwargs)
        except ShapeError as error:
            self._name_misfit(error, args)
            raise
        for hook in tuple(self._forward_hooks.values()):
            hook(self, args, made)
        return made

    def _name_misfit(self, error: ShapeError, args: tuple[Any, ...]) -> None:
        """Add to an operator's error which block called it; the innermost block does so first."""
        if error.layer:
            return
        error.layer = self.name
        params = ", ".join(f"{each.name} {each.shape}" for each in self._reg_params.values())
        which = f"{type(self).__name__} with {params}" if params else type(self).__name__
        error.args = (f"{self.name}: {which} does not fit data {told(args)}. {error}",)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute; subclasses say how."""
        raise NotImplementedError(f"{type(self).__name__} needs a method forward(self, *args).")

    def summary(self, *inputs: Any) -> None:
        """Print a table of all layers: shapes of their results, numbers of parameters.

        Parameters
        ----------
        *inputs
            What the block is called with for that.

        Raises
        ------
        ArgumentError
            A block is hybridized.
        """
        print_summary(self, inputs)


def tree(block: Block, children: list[tuple[str, Block]]) -> str:
    """Return how a block with others is shown."""
    lines = "\n".join(f"  ({key}): {indented(repr(child), 2)}" for key, child in children)
    return f"{type(block).__name__}(\n{lines}\n)"


def indented(text: str, spaces: int) -> str:
    """Return a text with all lines but the first moved to the right."""
    return text.replace("\n", "\n" + " " * spaces)


def told(args: tuple[Any, ...]) -> str:
    """Return what a block is called with: shapes of arrays, the beginning of other things."""
    return ", ".join(map(_told, args))


def _told(given: Any) -> str:
    if isinstance(given, nd.NDArray):
        return str(given.shape)
    if isinstance(given, np.ndarray):
        return f"a NumPy array {given.shape}"
    if isinstance(given, (list, tuple)):  # whose repr would wait for the arrays in it
        return f"[{', '.join(map(_told, given[:4]))}{', ...' if len(given) > 4 else ''}]"
    return f"{given!r:.40}"


def _blocks_in(value: object) -> Iterator[Block]:
    if isinstance(value, Block):
        yield value
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _blocks_in(each)
    elif isinstance(value, dict):
        yield from _blocks_in(list(value.values()))


def _warn_of_age(old: str, new: str) -> None:
    warnings.warn(f"{old} is deprecated; use {new}.", DeprecationWarning, stacklevel=3)
