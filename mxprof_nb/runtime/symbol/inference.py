"""`Inferring`: what shapes and types of a symbol's variables and results follow from some."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mxprof_nb.errors import ArgumentError, EngineError, ShapeError, close_match
from mxprof_nb.runtime.calls import recorded
from mxprof_nb.runtime.graph import Entry, in_order
from mxprof_nb.runtime.graph.inference import Inference, Shape
from mxprof_nb.runtime.graph.types import infer_types
from mxprof_nb.runtime.nd.dtypes import dtype_name

__all__ = ["Inferring"]

Shapes = tuple[Any, Any, Any]

#: Put in the place of lengths that are not known; large, so that windows fit, and with many
#: divisors, so that they can be split.
TRIAL_LENGTHS = (27720, 32760)


class Inferring:
    """The methods, for symbols to inherit."""

    __slots__ = ()

    _entries: tuple[Entry, ...]

    @recorded("MXSymbolInferShapeEx")
    def infer_shape(self: Any, *args: Any, **kwargs: Any) -> Shapes:
        """Return the shapes of arguments, results and auxiliary states.

        Parameters
        ----------
        *args : tuple of int or None
            Shapes of the arguments in their order, or by name:
        **kwargs : tuple of int
            0 stands for a length that is not known.

        Returns
        -------
        tuple of list, or of None
            Three lists in the order of `list_arguments`, `list_outputs` and
            `list_auxiliary_states`; None three times if a shape does not follow.

        Raises
        ------
        ShapeError
            Shapes do not fit; it names the node.
        ArgumentError
            There is no variable of a name.
        """
        found = self._shapes(args, kwargs)
        whole = all(shape and all(shape) for group in found for shape in group)
        return found if whole else (None, None, None)

    @recorded("MXSymbolInferShapeEx")
    def infer_shape_partial(self: Any, *args: Any, **kwargs: Any) -> Shapes:
        """Return the same as `infer_shape`, with () for what does not follow, 0 for a length."""
        told = self._told(args, kwargs)
        found: Shapes = self._shapes(args, kwargs)
        if not any(0 in _shape(name, each) for name, each in told.items()):
            return found
        # What comes out for two lengths alike does not depend on those that are not known.
        trials = []
        for length in TRIAL_LENGTHS:
            filled = {
                name: tuple(extent or length for extent in _shape(name, each))
                for name, each in told.items()
            }
            try:
                trials.append(self._shapes((), filled))
            except EngineError:  # lengths that are not known stand for others, or fit no window
                return found
        arguments, results, states = (
            [_common(known, *tried) for known, *tried in zip(*group, strict=True)]
            for group in zip(found, *trials, strict=True)
        )
        return arguments, results, states

    def _shapes(self: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Shapes:
        told = {name: _shape(name, each) for name, each in self._told(args, kwargs).items()}
        inferred = Inference(self._entries, told, {}, train=True)
        arguments: list[Shape] = []
        states: list[Shape] = []
        for node, state in self._variables():
            (states if state else arguments).append(inferred.partly(node))
        results = []
        for entry in self._entries:
            known = inferred.known(entry)
            unknown = inferred.partly(entry[0]) if entry[0].is_variable else ()
            results.append(unknown if known is None else known.shape)
        return arguments, results, states

    @recorded("MXSymbolInferType")
    def infer_type(self: Any, *args: Any, **kwargs: Any) -> Shapes:
        """Return the types of arguments, results and auxiliary states.

        Parameters are those of `infer_shape`, with types in the place of shapes; None three times
        if a type does not follow.
        """
        found = self._kinds(args, kwargs)
        whole = all(kind is not None for group in found for kind in group)
        return found if whole else (None, None, None)

    @recorded("MXSymbolInferType")
    def infer_type_partial(self: Any, *args: Any, **kwargs: Any) -> Shapes:
        """Return the same as `infer_type`, with None for what does not follow."""
        found: Shapes = self._kinds(args, kwargs)
        return found

    def _kinds(self: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Shapes:
        told = {name: dtype_name(each) for name, each in self._told(args, kwargs).items()}
        found = infer_types(in_order(self._entries), told)
        arguments: list[Any] = []
        states: list[Any] = []
        for node, state in self._variables():
            (states if state else arguments).append(_kind(found[node][0]))
        return arguments, [_kind(found[node][place]) for node, place in self._entries], states

    def _told(self: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Return what is given by place and by name, by name."""
        if args and kwargs:
            raise ArgumentError("Give what is known by place or by name, not both.")
        known = self.list_arguments()
        if len(args) > len(known):
            raise ArgumentError(
                f"{self!r} has {len(known)} arguments; {len(args)} are given. "
                f"They are {', '.join(known)}."
            )
        for name in kwargs:
            if name not in known and name not in self.list_inputs():
                raise ArgumentError(
                    f"{self!r} has no variable {name!r}.{close_match(name, known)} "
                    f"It has {', '.join(self.list_inputs())}."
                )
        given = kwargs or dict(zip(known, args, strict=False))
        return {name: each for name, each in given.items() if each is not None}


def _shape(name: str, given: Any) -> Shape:
    if isinstance(given, (int, np.integer)) and not isinstance(given, bool):
        given = (given,)
    if not isinstance(given, (tuple, list)) or not all(
        isinstance(each, (int, np.integer)) and each >= 0 for each in given
    ):
        raise ShapeError(f"{name}={given!r:.60} is no shape: give a tuple of whole numbers.")
    return tuple(map(int, given))


def _common(known: Shape, one: Shape, other: Shape) -> Shape:
    """Return a shape, or with 0 where two trials differ, or () where their axes do."""
    if (all(known) and known) or len(one) != len(other):
        return known
    return tuple(left if left == right else 0 for left, right in zip(one, other, strict=True))


def _kind(dtype: np.dtype[Any] | None) -> type[np.generic] | None:
    return None if dtype is None else dtype.type
