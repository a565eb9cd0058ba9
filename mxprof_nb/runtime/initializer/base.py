"""`Initializer`: fills arrays by rules that the names of parameters choose."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from mxprof_nb.errors import ArgumentError
from mxprof_nb.runtime.initializer.registry import create
from mxprof_nb.runtime.nd import NDArray

__all__ = ["InitDesc", "Initializer"]

_log = logging.getLogger(__name__)


class InitDesc(str):
    """The name of a parameter, with what else tells how to fill it.

    Parameters
    ----------
    name : str
    attrs : mapping of str to object, optional
        ``"__init__"`` names the initializer that the parameter has of its own.
    global_init : Initializer, optional
        What initializes the whole network.
    """

    attrs: Mapping[str, Any]
    global_init: Initializer | None

    def __new__(
        cls,
        name: str,
        attrs: Mapping[str, Any] | None = None,
        global_init: Initializer | None = None,
    ) -> InitDesc:
        """Keep what belongs to the name."""
        made = super().__new__(cls, name)
        made.attrs = attrs or {}
        made.global_init = global_init
        return made


class Initializer:
    """Fills the array of a parameter; to be inherited from.

    A subclass says in ``_init_weight(name, arr)`` how weights are filled. Called with a name, the
    end of the name chooses: bias and beta are 0, gamma 1, running_mean and other minima 0, ... A
    parameter with an initializer of its own is filled by that one's ``_init_weight``.

    Parameters
    ----------
    **kwargs
        What `dumps` writes, and a copy is made of.
    """

    def __init__(self, **kwargs: Any) -> None:
        self._kwargs = kwargs
        self._verbose = False
        self._print_func: Callable[[NDArray], str] = _root_mean_square

    def set_verbosity(
        self, verbose: bool = False, print_func: Callable[[NDArray], str] | None = None
    ) -> Initializer:
        """Choose whether to log what is filled, and what to tell of the values."""
        self._verbose = verbose
        self._print_func = print_func or _root_mean_square
        return self

    def dumps(self) -> str:
        """Return kind and parameters as JSON, from which `mx.init.create` makes another."""
        return json.dumps([type(self).__name__.lower(), self._kwargs])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Initializer):
            return NotImplemented
        return type(self) is type(other) and bool(self._kwargs == other._kwargs)

    __hash__ = None  # type: ignore[assignment]

    def __call__(self, desc: str, arr: NDArray) -> None:
        """Fill an array by the rule for its name.

        Raises
        ------
        ArgumentError
            There is no rule for it.
        """
        own = ""
        if isinstance(desc, InitDesc):
            if desc.global_init is None:
                desc.global_init = self
            own = desc.attrs.get("__init__") or ""
        if own:
            chosen = create(own)
            getattr(chosen, "_init_weight", chosen)(desc, arr)
            self._tell(desc, own, arr)
            return
        for ending, method in RULES:
            if desc.endswith(ending):
                getattr(self, method)(desc, arr)
                self._tell(desc, ending, arr)
                return
        self._init_default(desc, arr)

    def _tell(self, desc: str, rule: object, arr: NDArray) -> None:
        if self._verbose:
            _log.info("Initialized %s as %s: %s", desc, rule, self._print_func(arr))

    def _init_zero(self, name: str, arr: NDArray) -> None:
        arr[:] = 0.0

    def _init_one(self, name: str, arr: NDArray) -> None:
        arr[:] = 1.0

    _init_bias = _init_beta = _init_zero
    _init_gamma = _init_one

    def _init_weight(self, name: str, arr: NDArray) -> None:
        raise NotImplementedError(f"{type(self).__name__} needs a method _init_weight(name, arr).")

    def _init_default(self, name: str, arr: NDArray) -> None:
        endings = ", ".join(dict(RULES))
        raise ArgumentError(
            f"There is no rule to initialize {str(name)!r}: its name ends in none of {endings}. "
            "Give the parameter an initializer of its own, init=..."
        )


#: Ends of names, and the method for each; the first that fits counts.
RULES = (
    ("weight", "_init_weight"),
    ("bias", "_init_bias"),
    ("gamma", "_init_gamma"),
    ("beta", "_init_beta"),
    ("running_mean", "_init_zero"),
    ("running_var", "_init_one"),
    ("moving_mean", "_init_zero"),
    ("moving_var", "_init_one"),
    ("moving_inv_var", "_init_zero"),
    ("moving_avg", "_init_zero"),
    ("min", "_init_zero"),
    ("max", "_init_one"),
)


def _root_mean_square(arr: NDArray) -> str:
    values = arr.asnumpy().astype(np.float64)
    return str(float(np.sqrt(np.mean(values**2))))
