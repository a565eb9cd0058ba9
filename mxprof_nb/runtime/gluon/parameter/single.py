"""`Parameter`: arrays that a network learns, one on each device, with their gradients."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from mxprof_nb.errors import (
    ArgumentError,
    DeferredInitializationError,
    ParameterError,
    ShapeError,
)
from mxprof_nb.runtime import autograd, initializer, nd, symbol
from mxprof_nb.runtime.context import Context, cpu, current_context
from mxprof_nb.runtime.gluon.parameter.devices import Devices, devices_of
from mxprof_nb.runtime.gluon.parameter.shape import Shape, fits, is_known, shape_of
from mxprof_nb.runtime.nd import NDArray
from mxprof_nb.runtime.nd.dtypes import dtype_name
from mxprof_nb.runtime.symbol import Symbol
from mxprof_nb.runtime.tape import REQUESTS

__all__ = ["Parameter"]


class Deferred(NamedTuple):
    """What to do when the shape of a parameter is known."""

    init: Any
    devices: list[Context]
    default_init: Any
    data: NDArray | None = None


class Parameter:
    """Arrays that a network learns: one with its gradient on each device.

    Parameters
    ----------
    name : str
    grad_req : {'write', 'add', 'null'}
        What becomes of the gradient, see `NDArray.attach_grad`.
    shape : int or tuple of int, optional
        0 for an extent that the first data tell.
    dtype : optional
        Type of the elements.
    lr_mult, wd_mult : float
        Factors of learning rate and weight decay, for this parameter.
    init : str or Initializer, optional
        How it is initialized; if None, as the whole network is.
    allow_deferred_init : bool
        Whether `initialize` may wait for the shape.
    differentiable : bool
        If not, there is no gradient whatever ``grad_req`` says.
    stype, grad_stype : str
        How arrays are stored: ``"default"``, there is no other way here.

    Attributes
    ----------
    name, init, lr_mult, wd_mult
        As given.
    """

    def __init__(
        self,
        name: str = "weight",
        grad_req: str = "write",
        shape: int | Sequence[int] | None = None,
        dtype: Any = np.float32,
        lr_mult: float = 1.0,
        wd_mult: float = 1.0,
        init: Any = None,
        allow_deferred_init: bool = False,
        differentiable: bool = True,
        stype: str = "default",
        grad_stype: str = "default",
    ) -> None:
        for option, kind in (("stype", stype), ("grad_stype", grad_stype)):
            if kind != "default":
                raise ArgumentError(
                    f"Parameter {name!r}: {option}={kind!r}, but arrays are stored as 'default' "
                    "only; there are no sparse ones here."
                )
        dtype_name(dtype)  # refuses what arrays cannot have
        self.name = name
        self.init = init
        self.lr_mult = lr_mult
        self.wd_mult = wd_mult
        self._dtype = dtype
        self._shape = shape_of(name, shape)
        self._differentiable = differentiable
        self._allow_deferred_init = allow_deferred_init
        self._data: dict[Context, NDArray] | None = None
        self._grad: dict[Context, NDArray] | None = None
        self._deferred: Deferred | None = None
        self._trainer: Any = None
        self._var: Symbol | None = None
        self._grad_req = "null"
        self.grad_req = grad_req

    def __repr__(self) -> str:
        return f"{type(self).__name__} {self.name} (shape={self.shape}, dtype={self.dtype})"

    # What it is

    @property
    def grad_req(self) -> str:
        """What becomes of the gradient: ``"write"``, ``"add"`` or ``"null"``."""
        return self._grad_req

    @grad_req.setter
    def grad_req(self, request: str) -> None:
        if request not in REQUESTS:
            raise ArgumentError(
                f"Parameter {self.name!r}: grad_req={request!r} is not one of "
                f"{', '.join(map(repr, REQUESTS))}."
            )
        wanted = request if self._differentiable else "null"
        if wanted == self._grad_req:
            return
        self._grad_req = wanted
        if self._data is None:
            return
        if wanted == "null":
            self._grad = None
            self._data = {device: each.detach() for device, each in self._data.items()}
        else:
            self._attach()

    @property
    def dtype(self) -> Any:
        """Type of the elements, as it was given; setting it casts."""
        return self._dtype

    @dtype.setter
    def dtype(self, dtype: Any) -> None:
        self.cast(dtype)

    @property
    def shape(self) -> Shape | None:
        """Lengths of the axes, 0 where not known yet; can be set where it was not known."""
        return self._shape

    @shape.setter
    def shape(self, shape: int | Sequence[int]) -> None:
        wanted = shape_of(self.name, shape)
        if wanted is not None:
            self._must_fit(wanted)
        self._shape = wanted

    def _must_fit(self, wanted: Shape) -> None:
        if not fits(self._shape, wanted):
            raise ShapeError(
                f"Parameter {self.name!r} has shape {self._shape}, which does not fit shape "
                f"{wanted}."
            )

    def var(self) -> Symbol:
        """Return the variable that stands for it in graphs: the same one each time."""
        if self._var is None:
            self._var = symbol.var(
                self.name,
                shape=self._shape,
                dtype=dtype_name(self._dtype),
                lr_mult=self.lr_mult,
                wd_mult=self.wd_mult,
                init=self.init if isinstance(self.init, (str, initializer.Initializer)) else None,
            )
        return self._var

    # Initialization

    def initialize(
        self,
        init: Any = None,
        ctx: Devices = None,
        default_init: Any = None,
        force_reinit: bool = False,
        device: Devices = None,
    ) -> None:
        """Make the arrays and fill them, now or as soon as the shape is known.

        Parameters
        ----------
        init : str or Initializer, optional
            How; by default the parameter's own, else ``default_init``.
        ctx, device : Context or list of Context, optional
            Where; on the current device by default.
        default_init : str or Initializer, optional
            `mx.init.Uniform()` by default.
        force_reinit : bool
            Whether to do so although it was done before.

        Raises
        ------
        ShapeError
            The shape is not known, and may not be left for later.
        ArgumentError
            There is no such initializer.
        """
        start = self._started(init, ctx, default_init, force_reinit, device)
        if start is not None:
            self._begin(*start)

    def _started(
        self, init: Any, ctx: Devices, default_init: Any, force_reinit: bool, device: Devices
    ) -> tuple[Deferred, NDArray | None] | None:
        """Return plan and value, None if there is nothing to do; nothing is changed yet."""
        if self._data is not None and not force_reinit:
            warnings.warn(
                f"Parameter {self.name!r} is initialized already, so this does nothing. "
                "Say force_reinit=True to do it anew.",
                stacklevel=3,
            )
            return None
        default = initializer.create("uniform" if default_init is None else default_init)
        own = self.init if init is None else init
        own = None if own is None else initializer.create(own)
        plan = Deferred(own, devices_of(ctx, device), default)
        if is_known(self._shape):
            return plan, self._filled(plan)
        if not self._allow_deferred_init:
            raise ShapeError(
                f"Parameter {self.name!r} cannot be initialized: its shape {self._shape} is not "
                "known. Give all of it, or allow_deferred_init=True."
            )
        return plan, None

    def _begin(self, plan: Deferred, value: NDArray | None) -> None:
        self._data = self._grad = None
        if value is None:
            self._deferred = plan
        else:
            self._place(value, plan.devices)

    def _filled(self, plan: Deferred) -> NDArray:
        """Return the value of the parameter as the plan makes it."""
        assert self._shape is not None
        with autograd.pause():
            if plan.data is not None:
                return plan.data
            made = nd.zeros(self._shape, dtype=self._dtype, ctx=cpu())
            default = plan.default_init
            if isinstance(default, initializer.Initializer):
                # Without one of its own too the name does not choose: all are filled as weights.
                own = {"__init__": plan.init or default}
                default(initializer.InitDesc(self.name, own), made)
            elif plan.init is None:
                default(initializer.InitDesc(self.name), made)
            else:
                fill = getattr(plan.init, "_init_weight", plan.init)
                fill(initializer.InitDesc(self.name), made)
            return made

    def _finish_deferred_init(self) -> None:
        """Make the arrays that waited for their shape."""
        plan = self._deferred
        if plan is None:
            return
        if not is_known(self._shape):
            raise ShapeError(
                f"Parameter {self.name!r} cannot be initialized: its shape {self._shape} is not "
                "known. Give the layer in_units, in_channels or alike."
            )
        self._place(self._filled(plan), plan.devices)

    def _place(self, value: NDArray, devices: Iterable[Context]) -> None:
        """Make the arrays on all devices, and those of their gradients."""
        with autograd.pause():
            self._data = {device: value.copyto(device) for device in devices}
            self._deferred = None
            self._attach()

    def _attach(self) -> None:
        """Make the arrays variables."""
        self._grad = None
        if self._grad_req == "null" or self._data is None:
            return
        with autograd.pause():
            self._grad = {
                device: nd.zeros(each.shape, dtype=each.dtype, ctx=device)
                for device, each in self._data.items()
            }
        self._mark()

    def _mark(self) -> None:
        assert self._data is not None
        assert self._grad is not None
        autograd.mark_variables(
            list(self._data.values()), list(self._grad.values()), self._grad_req
        )

    # The arrays

    def data(self, ctx: Context | None = None, device: Context | None = None) -> NDArray:
        """Return the array on a device; the current one by default, if there are several.

        Raises
        ------
        ParameterError
            The parameter was not initialized, or not on this device.
        DeferredInitializationError
            Its initialization waits for its shape.
        """
        held = self._data
        if held is not None and ctx in held:  # the rule, for layers
            return held[ctx]
        return self._on(held, ctx or device)

    def list_data(self) -> list[NDArray]:
        """Return the arrays on all devices, in the order of `list_ctx`."""
        return list(self._all(self._data).values())

    def grad(self, ctx: Context | None = None, device: Context | None = None) -> NDArray:
        """Return the gradient on a device; see `data` for errors.

        Raises
        ------
        ParameterError
            There is none, as ``grad_req`` is ``"null"``.
        """
        self._must_have_grad()
        return self._on(self._grad, ctx or device)

    def list_grad(self) -> list[NDArray]:
        """Return the gradients on all devices."""
        self._must_have_grad()
        return list(self._all(self._grad).values())

    def list_ctx(self) -> list[Context]:
        """Return the devices that it is initialized on, or will be."""
        if self._data is None and self._deferred is not None:
            return list(self._deferred.devices)
        return list(self._all(self._data))

    list_device = list_ctx

    def zero_grad(self) -> None:
        """Set the gradients to 0 on all devices."""
        for each in (self._grad or {}).values():
            nd.zeros_like(each, out=each)

    def set_data(self, data: NDArray) -> None:
        """Set the value on all devices, or the one to begin with if initialization waits.

        Raises
        ------
        ShapeError
            The shape does not fit.
        ParameterError
            The parameter was not initialized.
        """
        shape = tuple(data.shape)
        self._must_fit(shape)
        if self._data is None and self._deferred is None:
            raise self._uninitialized()
        self._shape = shape
        if self._data is None:
            assert self._deferred is not None
            self._deferred = self._deferred._replace(data=data)
            return
        for each in self._data.values():
            each[:] = data

    def reset_ctx(self, ctx: Devices = None, device: Devices = None) -> None:
        """Move the parameter to other devices.

        Raises
        ------
        ParameterError
            It was not initialized.
        """
        devices = devices_of(ctx, device)
        if self._data is not None:
            self._place(self._reduce(), devices)
        elif self._deferred is not None:
            self._deferred = self._deferred._replace(devices=devices)
        else:
            raise self._uninitialized()

    reset_device = reset_ctx

    def cast(self, dtype: Any) -> None:
        """Change the type of the elements, of gradients too."""
        dtype_name(dtype)
        self._dtype = dtype
        self._var = None  # it knows the type
        if self._data is None:
            return
        with autograd.pause():
            self._data = {device: each.astype(dtype) for device, each in self._data.items()}
            if self._grad is not None:
                self._grad = {device: each.astype(dtype) for device, each in self._grad.items()}
                self._mark()

    def _reduce(self) -> NDArray:
        """Return a copy of the value on the host, the mean of those of all devices."""
        copies = [each.copyto(cpu()) for each in self.list_data()]
        return copies[0] if len(copies) == 1 else nd.add_n(*copies) / len(copies)

    def _set_trainer(self, trainer: Any) -> None:
        """Remember who updates it."""
        self._trainer = trainer

    def _all(self, arrays: dict[Context, NDArray] | None) -> dict[Context, NDArray]:
        if arrays is None:
            raise self._uninitialized()
        return arrays

    def _on(self, arrays: dict[Context, NDArray] | None, device: Context | None) -> NDArray:
        found = self._all(arrays)
        if device is None:
            if len(found) == 1:
                return next(iter(found.values()))
            device = current_context()
        if device not in found:
            raise ParameterError(
                f"Parameter {self.name!r} was not initialized on {device}, only on "
                f"{', '.join(map(str, found))}. Copy the data there with as_in_context, or "
                "initialize the network on more devices, ctx=[...]."
            )
        return found[device]

    def _must_have_grad(self) -> None:
        if self._data is not None and self._grad is None:
            raise ParameterError(
                f"Parameter {self.name!r} has no gradient: its grad_req is 'null'."
            )

    def _uninitialized(self) -> ParameterError:
        if self._deferred is not None:
            return DeferredInitializationError(
                f"Parameter {self.name!r} waits to be initialized until its shape is known; so "
                f"far it is {self._shape}. Pass one batch through the network before, or give its "
                "layer in_units, in_channels or alike."
            )
        return ParameterError(
            f"Parameter {self.name!r} has not been initialized. Call net.initialize() first, or "
            "net.collect_params().initialize(), which knows the parameters of all layers."
        )
