"""`OpSpec`: an operator is a name with rules attached; this is where they are kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mxprof_nb.errors import ArgumentError, ShapeError, UnknownOperatorError, close_match
from mxprof_nb.runtime.ops.cost import Rule, moved, per_element
from mxprof_nb.runtime.ops.shapes import Aval, aval

__all__ = [
    "Aval",
    "Gradient",
    "Kernel",
    "OpSpec",
    "aval",
    "operator_names",
    "refuse",
    "register",
    "spec",
]

Kernel = Callable[..., Any]
Infer = Callable[..., Any]


@dataclass(frozen=True, slots=True, eq=False)
class Gradient:
    """How the gradient of an operator is computed: by an operator of its own.

    Attributes
    ----------
    name : str
        MXNet's name of that operator, e.g. ``_backward_relu``.
    forward : callable
        ``forward(*heads, *inputs, *outputs, *dynamic, **attrs)`` returns the gradient for each
        input in ``wrt``, in its shape and type: an array where there is one, else a tuple. Heads
        are the gradients of the outputs. It may have two parameters more: ``like``, the `Aval`
        of each input of the operator, and ``wanted``, the positions in ``wrt`` that are asked
        for; what is not wanted may be None.
    inputs, outputs : tuple of int
        Which inputs and outputs of the operator it needs besides.
    heads : tuple of int or None
        Outputs whose gradients it takes; the first alone by default, all for None.
    wrt : tuple of int or None
        Inputs that have a gradient, all for None.
    mutates : tuple of int
        Which of the arrays that it takes it also writes in place.
    over_head : callable or None
        Does what ``forward`` does and may write the gradient over the head, which it returns:
        for rules of one head and one gradient in its shape and type.
    loss : bool
        Whether it makes no use of the gradients of the outputs.
    flops, blas, python
        As in `OpSpec`.
    """

    name: str
    forward: Kernel
    inputs: tuple[int, ...] = ()
    outputs: tuple[int, ...] = ()
    heads: tuple[int, ...] | None = (0,)
    wrt: tuple[int, ...] | None = None
    mutates: tuple[int, ...] = ()
    over_head: Kernel | None = None
    flops: Rule = per_element
    blas: bool = False
    python: Kernel | None = None
    loss: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class OpSpec:
    """All rules of one operator.

    Attributes
    ----------
    name : str
        MXNet's internal name, which profiles show.
    forward : callable
        ``forward(*arrays, *dynamic, **attrs)`` returns an ndarray, or a tuple of them for an
        operator of several outputs; runs on a worker.
    infer : callable
        ``infer(*avals, **attrs)`` returns the `Aval` of the result, or a tuple of them; runs when
        the operator is called.
    doc : str
        One sentence.
    gradient : Gradient or None
        None where none flows back, e.g. through a comparison.
    flops, bytes : callable
        ``rule(inputs, results, attrs)``, avals and a mapping in, a number out: floating point
        operations, and bytes read and written.
    mutates : tuple of int
        Inputs that it also writes in place, e.g. the state of an optimiser.
    group : int
        Where it does one thing to any number of groups of inputs: how many there are in a group.
        ``mutates`` then names inputs of each; 0 for other operators.
    workspace : bool
        Whether it asks the resource manager for space; the first that does sets it up.
    draws : bool
        Whether it draws random numbers: ``forward`` then gets the device's generator first, and
        such operators run in program order.
    draws_if : str
        Attribute that makes it draw in those calls only in which it is true.
    blas : bool
        Whether it spends its time in BLAS, which has threads of its own to be shared out.
    copies : bool
        Whether it only copies: then it runs beside the others, on the device's copy lane.
    python : callable or None
        For an operator whose code calls others and may wait for them: ``python(call)`` carries an
        `mxprof_nb.runtime.invoke.Invocation` out instead of ``forward``, on a thread for such.
        It never becomes part of a bulk.
    """

    name: str
    forward: Kernel
    infer: Infer
    doc: str
    gradient: Gradient | None = None
    flops: Rule = per_element
    bytes: Rule = moved
    mutates: tuple[int, ...] = ()
    group: int = 0
    workspace: bool = False
    draws: bool = False
    draws_if: str = ""
    blas: bool = False
    copies: bool = False
    python: Kernel | None = None
    #: Whether it is more than inputs in, new arrays out; worked out from the above.
    special: bool = field(init=False)
    #: Inferred results by (attributes, inputs); filled by `mxprof_nb.runtime.invoke`.
    signatures: dict[Any, Any] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        asks = self.workspace or self.draws or self.draws_if
        special = bool(self.mutates or asks or self.copies or self.python)
        object.__setattr__(self, "special", special)

    def mutated(self, count: int) -> Sequence[int]:
        """Return which of so many inputs it writes in place."""
        if not self.group:
            return self.mutates
        return [first + each for first in range(0, count, self.group) for each in self.mutates]


_REGISTRY: dict[str, OpSpec] = {}


def register(name: str, infer: Infer, doc: str, **rules: Any) -> Callable[[Kernel], OpSpec]:
    """Return a decorator that makes a kernel the operator ``name``.

    Parameters
    ----------
    name : str
    infer : callable
    doc : str
    **rules
        The other attributes of `OpSpec`.

    Raises
    ------
    ValueError
        The name is taken.
    """

    def keep(forward: Kernel) -> OpSpec:
        made = OpSpec(name, forward, infer, doc, **rules)
        if name in _REGISTRY:
            raise ValueError(f"Operator {name!r} is registered already; choose another name.")
        _REGISTRY[name] = made
        return made

    return keep


def spec(name: str) -> OpSpec:
    """Return the operator of the given name.

    Raises
    ------
    UnknownOperatorError
        Nothing is registered under the name.
    """
    found = _REGISTRY.get(name)
    if found is None:
        raise UnknownOperatorError(
            f"There is no operator {name!r}.{close_match(name, _REGISTRY)} "
            "`mxprof_nb.runtime.ops.operator_names()` lists all."
        )
    return found


def operator_names() -> Mapping[str, OpSpec]:
    """Return all registered operators by name."""
    return dict(sorted(_REGISTRY.items()))


def refuse(operator: str, problem: str, *avals: Aval, remedy: str = "") -> ArgumentError:
    """Return the error for inputs that do not fit an operator, or for parameters alone."""
    told = f" got {' and '.join(map(str, avals))}" if avals else ""
    kind = ShapeError if avals else ArgumentError
    return kind(f"{operator}{told}: {problem}.{' ' + remedy if remedy else ''}")
