"""`function`: makes a node of an operator; the functions of `mx.sym` are made from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from mxprof_nb.errors import ArgumentError
from mxprof_nb.runtime.attribute import current_scope
from mxprof_nb.runtime.calls import recorded
from mxprof_nb.runtime.graph import VARIABLE, Entry, Node
from mxprof_nb.runtime.graph.operators import Operator, operator_of
from mxprof_nb.runtime.graph.words import word_of
from mxprof_nb.runtime.name import current_manager
from mxprof_nb.runtime.symbol.marks import HIDDEN, hidden, is_mark
from mxprof_nb.runtime.symbol.symbol import Symbol, entry_of, symbol_of

__all__ = ["call", "function"]

#: How variables begin that are told nothing else, in MXNet's words.
_BEGINNINGS = {
    ("BatchNorm", "moving_mean"): '["zero", {}]',
    ("BatchNorm", "moving_var"): '["one", {}]',
    ("LeakyReLU", "gamma"): '["Constant", {"value": 0.25}]',
}


def call(operator: str, *args: Any, **kwargs: Any) -> Symbol:
    """Make a node of an operator, named for how it is called here, and return its results."""
    return function(operator, operator)(*args, **kwargs)


@cache
def function(name: str, shown: str) -> Callable[..., Symbol]:
    """Return the function that makes nodes of an operator.

    Parameters
    ----------
    name : str
        One of the operator's names.
    shown : str
        Name of the function; nodes without a name are called for it.
    """
    operator = operator_of(name)
    hint = shown.lower()

    def make(
        *args: Any, name: str | None = None, attr: Mapping[str, str] | None = None, **kwargs: Any
    ) -> Symbol:
        kwargs.pop("out", None)
        named = current_manager().get(name, hint)
        inputs, words = _sorted(operator, args, kwargs)
        words = {**current_scope().get(attr), **words}  # parameters may be attributes, and these be
        marks = {hidden(key): words.pop(key) for key in list(words) if is_mark(key)}
        _must_be_of_node(operator, words)
        if operator.counted:
            words.setdefault("num_args", str(len(inputs)))
        operator.values(words)
        node = Node(operator.name, named, attrs=words, marks=marks)
        node.inputs = _inputs(operator, node, inputs)
        count = len(operator.outputs(words))
        return symbol_of([(node, place) for place in range(count)])

    make.__name__ = make.__qualname__ = shown
    make.__doc__ = (operator.function.__doc__ or shown).split("\n")[0]
    return recorded("MXSymbolCreateAtomicSymbol")(make)


def _must_be_of_node(operator: Operator, words: Mapping[str, str]) -> None:
    """Refuse what MXNet once took: ``weight_lr_mult`` for ``lr_mult`` of the weight."""
    for key in words:
        for each in HIDDEN:
            if key.endswith(f"_{each}"):
                raise ArgumentError(
                    f"{operator.name}: {key} is no attribute of a node. Make the variable: "
                    f"{key.removesuffix(f'_{each}')}=mx.sym.var(..., {each}=...)."
                )


def _sorted(
    operator: Operator, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[dict[str, Entry], dict[str, str]]:
    """Return the inputs and the parameters of a call, by name."""
    inputs: dict[str, Entry] = {}
    words: dict[str, str] = {}
    if operator.variadic:
        if len(args) == 1 and isinstance(args[0], (list, tuple)):
            args = tuple(args[0])
        given = {f"arg{place}": each for place, each in enumerate(args)}
    else:
        names = [*operator.inputs, *operator.parameters]
        if len(args) > len(names):
            raise ArgumentError(
                f"{operator.name} takes {', '.join(names)}; {len(args)} arguments are too many."
            )
        given = dict(zip(names, args, strict=False))
    if twice := given.keys() & kwargs.keys():
        raise ArgumentError(f"{operator.name}: {', '.join(sorted(twice))} is given twice.")
    positional = set(given)
    for key, value in {**given, **kwargs}.items():
        if isinstance(value, Symbol):
            if key in operator.parameters:
                raise ArgumentError(f"{operator.name}: the parameter {key} cannot be a Symbol.")
            inputs[key] = entry_of(value, f"{operator.name}: {key}")
        elif key in operator.inputs or (operator.variadic and key in positional):
            if value is not None:
                raise TypeError(
                    f"{operator.name}: {key} must be a Symbol, not {type(value).__name__}. "
                    "Make one with mx.sym.var(...)."
                )
        elif value is not None or key not in ("ctx", "device", "dtype"):
            words[key] = word_of(value)
    return inputs, words


def _inputs(operator: Operator, node: Node, given: dict[str, Entry]) -> list[Entry]:
    """Return what a node takes: what is given, and variables for the rest."""
    names = operator.input_names(node.attrs, len(given))
    if unknown := [key for key in given if key not in names]:
        raise ArgumentError(
            f"{operator.name} has no input {unknown[0]!r} here; it takes {', '.join(names)}."
        )
    found: list[Entry] = []
    for key in names:
        entry = given[key] if key in given else (_variable(node, key), 0)
        if entry[0].is_variable and (operator.name, key) in _BEGINNINGS:
            entry[0].marks.setdefault("__init__", _BEGINNINGS[operator.name, key])
        found.append(entry)
    return found


def _variable(node: Node, key: str) -> Node:
    """Return a variable for an input that was not given, with the node's attributes, as MXNet."""
    return Node(VARIABLE, f"{node.name}_{key}", marks={**node.attrs, **node.marks})
