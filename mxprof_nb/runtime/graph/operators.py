"""`operator_of`: what a node of a graph may say about its operator.

Inputs, parameters and their defaults are read from the signature of the function of `mx.nd`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from mxprof_nb.errors import ArgumentError, UnknownOperatorError, close_match
from mxprof_nb.runtime.graph.functions import ALIASES, FUNCTIONS
from mxprof_nb.runtime.graph.words import value_of
from mxprof_nb.runtime.ops.registry import operator_names

__all__ = ["Operator", "operator_of"]

#: Inputs and results of one node are listed one by one; no program has more.
MOST = 10_000

Values = Mapping[str, Any]

#: Inputs that only some parameters ask for.
_OPTIONAL: dict[tuple[str, str], Callable[[Values], Any]] = {
    ("FullyConnected", "bias"): lambda given: not given["no_bias"],
    ("Convolution", "bias"): lambda given: not given["no_bias"],
    ("Deconvolution", "bias"): lambda given: not given["no_bias"],
    ("LeakyReLU", "gamma"): lambda given: given["act_type"] == "prelu",
    ("softmax", "length"): lambda given: given["use_length"],
}

#: Parameters without which an operator cannot do, though its function has a default to say so.
_REQUIRED: dict[str, tuple[str, ...]] = {
    "Activation": ("act_type",),
    "Convolution": ("kernel", "num_filter"),
    "Deconvolution": ("kernel", "num_filter"),
    "FullyConnected": ("num_hidden",),
    "LRN": ("nsize",),
    "UpSampling": ("scale",),
}

#: Operators of any number of inputs that keep the number as a parameter.
_COUNTED = ("Concat", "UpSampling", "add_n", "stack")

#: Parameters that MXNet writes down and that change nothing here.
_WITHOUT_EFFECT = ("ctx", "device", "is_int", "num_args")


def _count(wanted: Any) -> int:
    if type(wanted) is not int or not 0 < wanted <= MOST:
        raise ArgumentError(f"{wanted} inputs or results of one operator: give 1 to {MOST:,}.")
    return wanted


def _numbered(count: int) -> tuple[str, ...]:
    return tuple([f"output{place}" for place in range(count)])


def _parts(given: Values) -> tuple[str, ...]:
    indices = given["indices"]
    count = given["sections"] or (len(indices) if isinstance(indices, tuple) else 1)
    return _numbered(_count(count))


def _first_few(given: Values) -> tuple[str, ...]:
    return {"both": _numbered(2), "value": _numbered(1)}.get(given["ret_typ"], ("output",))


def _moments(*names: str) -> Callable[[Values], tuple[str, ...]]:
    return lambda given: ("output", *names) if given["output_mean_var"] else ("output",)


#: Names of the results where there may be several.
_OUTPUTS: dict[str, Callable[[Values], tuple[str, ...]]] = {
    "BatchNorm": _moments("mean", "var"),
    "GroupNorm": _moments("mean", "std"),
    "LayerNorm": _moments("mean", "std"),
    "SliceChannel": lambda given: _numbered(_count(given["num_outputs"])),
    "_split_v2": _parts,
    "make_loss": lambda given: ("loss",),
    "sort": lambda given: ("output0",),
    "_linalg_det": lambda given: ("output0",),
    "topk": _first_few,
    "_linalg_slogdet": lambda given: _numbered(2),
    "_sample_multinomial": lambda given: _numbered(2) if given["get_prob"] else ("output",),
    **dict.fromkeys(
        (
            "multi_sgd_update",
            "multi_sgd_mom_update",
            "multi_mp_sgd_update",
            "multi_mp_sgd_mom_update",
        ),
        lambda given: (
            _numbered(_count(given["num_weights"])) if given["num_weights"] != 1 else ("output",)
        ),
    ),
}


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator as graphs know it.

    Attributes
    ----------
    name : str
        MXNet's internal name.
    function : callable
        Function of `mx.nd` that calls it: arrays by place, parameters by name.
    inputs : tuple of str
        Names of what it takes; empty if it takes any number.
    variadic : bool
        Whether it takes any number of arrays.
    parameters : dict
        Its parameters by name.
    required : tuple of str
        Parameters that must be told.
    free : bool
        Whether it takes parameters of any other name.
    """

    name: str
    function: Callable[..., Any]
    inputs: tuple[str, ...]
    variadic: bool
    parameters: dict[str, inspect.Parameter]
    free: bool
    mutates: tuple[int, ...] = ()
    group: int = 0
    required: tuple[str, ...] = ()

    @property
    def counted(self) -> bool:
        """Whether it keeps the number of its inputs as a parameter."""
        return self.name in _COUNTED

    def values(self, words: Mapping[str, str]) -> dict[str, Any]:
        """Return the parameters that words give, as values.

        Raises
        ------
        ArgumentError
            One is not known, of the wrong kind, or missing.
        """
        found: dict[str, Any] = {}
        for name, word in words.items():
            parameter = self.parameters.get(name)
            if name in _WITHOUT_EFFECT:
                continue
            if parameter is None:
                if not self.free:
                    raise self._unknown(name)
                found[name] = word
                continue
            found[name] = _checked(self.name, name, word, parameter)
        for name in self.required:
            if name not in found:
                raise ArgumentError(
                    f"{self.name}: the required parameter {name} is missing. "
                    f"Call it with {name}=..."
                )
        return found

    def _unknown(self, name: str) -> ArgumentError:
        known = [*self.inputs, *self.parameters]
        return ArgumentError(
            f"{self.name} has no parameter {name!r}.{close_match(name, known)} "
            f"It has {', '.join(known) or 'none'}."
        )

    def defaults(self, values: Values) -> dict[str, Any]:
        """Return the values, and the defaults of the other parameters."""
        default = {
            name: None if each.default is each.empty else each.default
            for name, each in self.parameters.items()
        }
        return {**default, **values}

    def input_names(self, words: Mapping[str, str], count: int = 0) -> tuple[str, ...]:
        """Return the names of the inputs that it takes with these parameters.

        Parameters
        ----------
        words : mapping
        count : int
            How many are given, if it takes any number.
        """
        if self.variadic:
            told = value_of(words.get("num_args", str(count)), "int")
            number = _count(told) if told else 0
            return tuple([f"arg{place}" for place in range(number)])
        values = self.defaults(self.values(words))
        return tuple(
            [
                name
                for name in self.inputs
                if (self.name, name) not in _OPTIONAL or _OPTIONAL[self.name, name](values)
            ]
        )

    def outputs(self, words: Mapping[str, str]) -> tuple[str, ...]:
        """Return the names of the results that programs see."""
        rule = _OUTPUTS.get(self.name)
        return ("output",) if rule is None else rule(self.defaults(self.values(words)))

    def mutated(self, count: int) -> Sequence[int]:
        """Return which of so many inputs it writes in place: states, not arguments."""
        if not self.group:
            return [place for place in self.mutates if place < count]
        return [
            first + each
            for first in range(0, count, self.group)
            for each in self.mutates
            if first + each < count
        ]


def _checked(operator: str, name: str, word: str, parameter: inspect.Parameter) -> Any:
    wanted = str(parameter.annotation)
    value = value_of(word, wanted)
    kind = wanted.removesuffix(" | None")
    fits: dict[str, tuple[type, ...]] = {"int": (int,), "float": (int, float), "bool": (bool,)}
    if value is None and (kind != wanted or kind not in fits):
        return None
    if kind in fits and (
        not isinstance(value, fits[kind]) or (kind != "bool" and isinstance(value, bool))
    ):
        kinds = {"int": "whole number", "float": "number", "bool": "truth value"}
        raise ArgumentError(f"{operator}: {name}={word!r:.60} is no {kinds[kind]}.")
    return value


def _is_array(parameter: inspect.Parameter) -> bool:
    return "NDArray" in str(parameter.annotation)


@cache
def _read(name: str) -> Operator:
    function = FUNCTIONS[name]
    known = operator_names().get(name)
    inputs: list[str] = []
    parameters: dict[str, inspect.Parameter] = {}
    variadic = free = False
    for each in inspect.signature(function).parameters.values():
        if each.kind is each.VAR_POSITIONAL:
            variadic = True
        elif each.kind is each.VAR_KEYWORD:
            free = True
        elif each.name == "out":
            continue
        elif _is_array(each):
            inputs.append(each.name)
        else:
            parameters[each.name] = each
    needed = [each.name for each in parameters.values() if each.default is each.empty]
    needed += _REQUIRED.get(name, ())
    return Operator(
        name,
        function,
        () if variadic else tuple(inputs),
        variadic,
        parameters,
        free,
        known.mutates if known else (),
        known.group if known else 0,
        tuple(needed),
    )


def operator_of(name: str) -> Operator:
    """Return the operator of a name, also one of MXNet's other names for it.

    Raises
    ------
    UnknownOperatorError
        There is none.
    """
    found = ALIASES.get(name, name)
    if found not in FUNCTIONS:
        raise UnknownOperatorError(
            f"There is no operator {name!r} here.{close_match(name, _known())}"
        )
    return _read(found)


def _known() -> Iterable[str]:
    return [*FUNCTIONS, *ALIASES]
