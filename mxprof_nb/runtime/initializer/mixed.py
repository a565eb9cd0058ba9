"""Initializers that hand on to others, by the name of the parameter."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Mapping, Sequence

from mxprof_nb.errors import ArgumentError, ShapeError
from mxprof_nb.runtime.nd import NDArray, load

__all__ = ["Load", "Mixed"]

#: Fills the array of the parameter that has the name.
Filler = Callable[[str, NDArray], None]

_log = logging.getLogger(__name__)


class Mixed:
    """Uses for each parameter the initializer of the first pattern that its name begins with.

    Parameters
    ----------
    patterns : sequence of str
        Regular expressions; ``".*"`` as the last one fits all names.
    initializers : sequence of callable
        As many.
    """

    def __init__(self, patterns: Sequence[str], initializers: Sequence[Filler]) -> None:
        if len(patterns) != len(initializers):
            raise ArgumentError(
                f"Mixed: {len(patterns)} patterns and {len(initializers)} initializers; give one "
                "for each."
            )
        self.map = [
            (re.compile(pattern), each)
            for pattern, each in zip(patterns, initializers, strict=True)
        ]

    def __call__(self, name: str, arr: NDArray) -> None:
        """Fill an array by the rule for its name."""
        for pattern, fill in self.map:
            if pattern.match(name):
                fill(name, arr)
                return
        raise ArgumentError(
            f"Mixed: no pattern fits {str(name)!r}. Let the last one be '.*', for all other names."
        )

    _init_weight = __call__


class Load:
    """Copies arrays that were saved, by name.

    Parameters
    ----------
    param : str, path, or mapping of str to NDArray
        A file of `nd.save`, or what it holds.
    default_init : callable, optional
        Fills what is not in there.
    verbose : bool
        Whether to log what is filled from where.
    """

    def __init__(
        self,
        param: str | os.PathLike[str] | Mapping[str, NDArray],
        default_init: Filler | None = None,
        verbose: bool = False,
    ) -> None:
        held = load(param) if isinstance(param, (str, os.PathLike)) else param
        if not isinstance(held, Mapping):
            raise ArgumentError("Load: arrays need names; save them as a dict.")
        self.param = {re.sub(r"^(arg|aux):", "", name): array for name, array in held.items()}
        self.default_init = default_init
        self.verbose = verbose

    def __call__(self, name: str, arr: NDArray) -> None:
        """Fill an array with the one of that name."""
        found = self.param.get(name)
        if found is None and self.default_init is None:
            raise ArgumentError(
                f"Load: there is no array {str(name)!r}, and no default_init to fill it."
            )
        if found is not None:
            if found.shape != arr.shape:
                raise ShapeError(
                    f"Load: parameter {str(name)!r} has shape {arr.shape}, the array of that name "
                    f"{found.shape}."
                )
            arr[:] = found
        elif self.default_init is not None:
            self.default_init(name, arr)
        if self.verbose:
            _log.info("Initialized %s by %s", name, "default" if found is None else "loading")

    _init_weight = __call__
