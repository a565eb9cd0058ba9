"""`SymbolBlock`: a block made of a graph, such as one that was read from a file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mxprof_nb.errors import ArgumentError
from mxprof_nb.runtime import symbol
from mxprof_nb.runtime.gluon.block.hybrid import HybridBlock
from mxprof_nb.runtime.gluon.block.nesting import flatten, leaves, regroup
from mxprof_nb.runtime.gluon.block.traced import TRACING, Traced, count_of_array, count_of_symbol
from mxprof_nb.runtime.gluon.parameter import ParameterDict
from mxprof_nb.runtime.gluon.parameter.devices import Devices
from mxprof_nb.runtime.symbol import Symbol

__all__ = ["SymbolBlock"]


class SymbolBlock(HybridBlock):
    """A block that computes a graph of symbols; it is always one of the hybridized kind.

    Variables of the graph that are no inputs become parameters of their names.

    Parameters
    ----------
    outputs : Symbol or list of Symbol
        What it computes; a list, also nested, gives results nested like it.
    inputs : Symbol or list of Symbol
        Variables that stand for its arguments, in their order.
    params : ParameterDict, optional
        Whose parameters it uses instead of new ones, where the names are the same.

    Raises
    ------
    ArgumentError
        An input is no variable.
    """

    def __init__(self, outputs: Any, inputs: Any, params: ParameterDict | None = None) -> None:
        super().__init__(prefix="", params=None)
        self._params = ParameterDict("", params)
        arguments, _ = flatten(inputs, count_of_symbol, "SymbolBlock: inputs")
        for each in arguments:
            if len(each.get_internals().list_outputs()) != 1:
                raise ArgumentError(
                    f"SymbolBlock: input {each.name!r} is the result of operators; inputs are "
                    "variables. Make them with mx.sym.var(...)."
                )
        if isinstance(outputs, (list, tuple)) and len(outputs) == 1:
            outputs = outputs[0]
        results, self._gives = flatten(outputs, count_of_symbol, "SymbolBlock: outputs")
        self._inputs = arguments
        self._outputs = results[0] if len(results) == 1 else symbol.Group(results)
        self._make_params({each.name for each in arguments})

    def _make_params(self, inputs: set[str]) -> None:
        graph = self._outputs
        types = _types_of(graph)
        states = set(graph.list_auxiliary_states())
        for name in graph.list_inputs():
            if name not in inputs:
                self.params.get(
                    name,
                    grad_req="null" if name in states else "write",
                    allow_deferred_init=True,
                    dtype=types.get(name, np.float32),
                )
        common = _common(list(self._params.keys()))
        self._reg_params = {name[len(common) :]: each for name, each in self._params.items()}

    @staticmethod
    def imports(
        symbol_file: str | os.PathLike[str],
        input_names: str | Sequence[str],
        param_file: str | os.PathLike[str] | None = None,
        ctx: Devices = None,
        allow_missing: bool = False,
        ignore_extra: bool = False,
        device: Devices = None,
    ) -> SymbolBlock:
        """Return the block that `HybridBlock.export`, ours or MXNet's, has written.

        Parameters
        ----------
        symbol_file : str or path
            The graph, ``...-symbol.json``.
        input_names : str or sequence of str
            Names of the variables that stand for arguments, e.g. ``"data"``.
        param_file : str or path, optional
            The values, ``...-0000.params``; without it `initialize` is to be called.
        ctx, device : Context or list of Context, optional
            Where the values go; to the current device by default.
        allow_missing, ignore_extra : bool
            Whether the file may have values for less or more than the graph has.

        Raises
        ------
        ParameterFileError
            The file's values do not fit the graph.
        """
        graph = symbol.load(os.fspath(symbol_file))
        names = [input_names] if isinstance(input_names, str) else list(input_names)
        # The types of values follow from the file, else from that of data.
        dtype = None if param_file is not None else "float32"
        made = SymbolBlock(graph, [symbol.var(each, dtype=dtype) for each in names])
        if param_file is not None:
            made.collect_params().load(
                param_file,
                ctx,
                allow_missing,
                ignore_extra,
                cast_dtype=True,
                dtype_source="saved",
                device=device,
            )
        return made

    def __repr__(self) -> str:
        told = ", ".join(each.name for each in self._inputs)
        return f"{type(self).__name__}(\n{self._outputs!r} : {told} -> {self._outputs.name}\n)"

    def forward(self, x: Any, *args: Any, **kwargs: Any) -> Any:
        """Compute: arrays by the graph, or a larger graph with symbols for its inputs."""
        arguments = (x, *args)
        given = list(leaves(arguments))
        if given and isinstance(given[0], Symbol):
            self._must_be_all(given)
            # Parameters too: their variables are the same ones in all of the larger graph.
            placed = {each.name: each.var() for each in self._params.values()}
            placed |= zip([each.name for each in self._inputs], given, strict=True)
            made: Any = self._outputs(**placed)  # type: ignore[arg-type]
            return regroup(list(made), self._gives)
        return self._call_graph(arguments, kwargs)

    def _trace(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Traced:
        """Return the graph, which is there already."""
        given, nesting = flatten((args, dict(kwargs)), count_of_array, self.name)
        self._must_be_all(given)
        found = Traced(
            type(self).__name__,
            self._inputs,
            self._outputs,
            self._gives,
            self.collect_params(),
            self._options,
        )
        with TRACING:
            return self._keep(nesting, found)

    def _must_be_all(self, given: Sequence[Any]) -> None:
        if len(given) != len(self._inputs):
            raise ArgumentError(
                f"SymbolBlock: the graph takes {len(self._inputs)} arguments, "
                f"{', '.join(each.name for each in self._inputs)}; got {len(given)}."
            )

    def hybrid_forward(self, F: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
        """Refuse: the graph is what it computes."""
        raise NotImplementedError("A SymbolBlock computes its graph and has no hybrid_forward.")


def _types_of(graph: Symbol) -> dict[str, Any]:
    """Return the types of a graph's variables, as far as they follow from what the graph says."""
    arguments, _, states = graph.infer_type_partial()
    found = dict(zip(graph.list_arguments(), arguments or (), strict=False))
    found |= zip(graph.list_auxiliary_states(), states or (), strict=False)
    return {name: dtype for name, dtype in found.items() if dtype is not None}


def _common(names: Sequence[str]) -> str:
    """Return what all names begin with."""
    if not names:
        return ""
    first, last = min(names), max(names)
    length = next((n for n, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), None)
    return first if length is None else first[:length]
