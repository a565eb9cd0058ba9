"""`Traced`: the graph that a block has made of symbols, and what of the block it takes."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mxprof_nb.errors import ArgumentError, NoGraphError, ShapeError
from mxprof_nb.runtime import autograd, symbol
from mxprof_nb.runtime.cached_op import CachedOp, Options
from mxprof_nb.runtime.gluon.block.nesting import Nesting, flatten, regroup
from mxprof_nb.runtime.gluon.parameter import Parameter, ParameterDict
from mxprof_nb.runtime.nd import NDArray
from mxprof_nb.runtime.symbol import Symbol

if TYPE_CHECKING:
    from mxprof_nb.runtime.gluon.block.hybrid import HybridBlock

__all__ = ["TRACING", "Traced", "count_of_array", "count_of_symbol", "is_array"]

#: Held while a graph is made: two threads may call a block for the first time at once.
TRACING = threading.RLock()


def is_array(given: Any) -> bool:
    """Return whether a block computes with it."""
    return isinstance(given, (NDArray, Symbol))


class Traced:
    """A graph of a block.

    Parameters
    ----------
    name : str
        The block's, for errors.
    inputs : sequence of Symbol
        Variables that stand for its arguments, in their order.
    outputs : Symbol
    nesting : Nesting
        How results are nested.
    params : ParameterDict
        The block's.
    options : Options

    Attributes
    ----------
    structures : list of object
        Those of the block and all within when the graph was made: one that gets other blocks or
        parameters gets another one.
    newest_structure : object
        The latest that any block got: while it stays the same none needs to be looked at.
    """

    newest_structure = object()

    def __init__(
        self,
        name: str,
        inputs: Sequence[Symbol],
        outputs: Symbol,
        nesting: Nesting,
        params: ParameterDict,
        options: Options,
    ) -> None:
        self.name = name
        self.inputs = list(inputs)
        self.symbol = outputs
        self.nesting = nesting
        self.options = options
        self.structures: list[object] = []
        self._looked: object = None
        named = {each.name: each for each in params.values()}  # whatever attributes they are
        places = {each.name: place for place, each in enumerate(self.inputs)}
        names = outputs.list_inputs()
        self._params: list[Parameter] = []
        self._takes: list[int | Parameter] = []
        for each in names:
            if each in places:
                self._takes.append(places[each])
            elif each in named:
                self._takes.append(named[each])
                self._params.append(named[each])
            else:
                raise NoGraphError(
                    f"{name}: the graph takes {each!r}, which is neither an argument nor a "
                    "parameter of the block. Make parameters with self.params.get(...), and "
                    "variables as arguments."
                )
        data = tuple(place for place, one in enumerate(self._takes) if isinstance(one, int))
        self.op = CachedOp(outputs, options, data=data)

    @classmethod
    def of(cls, block: HybridBlock, nesting: Nesting, options: Options) -> Traced:
        """Return the graph of a block for arguments nested in this way."""
        count = _count(nesting)
        names = ["data"] if count == 1 else [f"data{place}" for place in range(count)]
        inputs = [symbol.var(each) for each in names]
        args, kwargs = regroup(inputs, nesting)
        made = block._compute_symbols(args, kwargs)
        results, of_results = flatten(made, count_of_symbol, f"{block.name}: what it returns")
        if not results:
            raise NoGraphError(f"{block.name} returns no symbol, so there is no graph to run.")
        params = block.collect_params()
        traced = cls(block.name, inputs, symbol.Group(results), of_results, params, options)
        _warn_of_unused(block.name, traced, names, params)
        return traced

    def with_options(self, options: Options) -> Traced:
        """Return the same graph, to be run in another way."""
        params = ParameterDict("")
        params.update({each.name: each for each in self._params})
        made = Traced(self.name, self.inputs, self.symbol, self.nesting, params, options)
        made.structures = self.structures
        return made

    def holds_for(self, block: HybridBlock) -> bool:
        """Return whether the blocks that made it are what they were then."""
        newest = Traced.newest_structure
        if self._looked is not newest:
            if block._structures() != self.structures:
                return False
            self._looked = newest
        return True

    def call(self, arrays: Sequence[NDArray]) -> Any:
        """Run it."""
        context = arrays[0].context
        for each in arrays:
            if each.chunk.context != arrays[0].chunk.context:
                raise ArgumentError(
                    f"{self.name}: a hybridized block takes arrays of one device; these live on "
                    f"{', '.join(dict.fromkeys(str(one.context) for one in arrays))}. Copy them "
                    "to one with as_in_context."
                )
        if any(each._deferred is not None for each in self._params):
            self._initialize(arrays)
        made = self.op._call(
            [arrays[take] if isinstance(take, int) else take.data(context) for take in self._takes]
        )
        return regroup(made, self.nesting)

    def _initialize(self, arrays: Sequence[NDArray]) -> None:
        """Make the values that waited for their shape."""
        with TRACING:
            waiting = [each for each in self._params if each._deferred is not None]
            before = [(each, each._shape, each._deferred) for each in waiting]
            try:
                self.infer_shapes(arrays)
                with autograd.pause():
                    for each in waiting:
                        each._finish_deferred_init()
            except BaseException:
                for each, shape, plan in before:
                    each._shape, each._deferred, each._data, each._grad = shape, plan, None, None
                raise

    def infer_shapes(self, arrays: Sequence[NDArray]) -> None:
        """Set the shapes of the parameters.

        Raises
        ------
        ShapeError
            One does not follow from those of the arrays.
        """
        found = self._inferred("infer_shape", [each.aval.shape for each in arrays])
        missing = [each.name for each in self._params if not found.get(each.name)]
        if missing:
            raise ShapeError(
                f"{self.name}: the shapes of {', '.join(missing)} do not follow from the data. "
                "Give all of them where the parameters are made."
            )
        for each in self._params:
            each.shape = found[each.name]

    def infer_types(self, arrays: Sequence[NDArray]) -> None:
        """Set the types of the parameters."""
        found = self._inferred("infer_type", [each.aval.dtype.name for each in arrays])
        for each in self._params:
            each.dtype = found[each.name]

    def _inferred(self, function: str, known: Sequence[Any]) -> dict[str, Any]:
        given = {str(each.name): one for each, one in zip(self.inputs, known, strict=True)}
        used = set(self.symbol.list_inputs())
        given = {name: one for name, one in given.items() if name in used}
        arguments, _, states = getattr(self.symbol, function)(**given)
        names = [*self.symbol.list_arguments(), *self.symbol.list_auxiliary_states()]
        return dict(zip(names, [*(arguments or ()), *(states or ())], strict=False))

    def values(self) -> dict[str, NDArray]:
        """Return the values of the parameters as files of graphs name them."""
        states = set(self.symbol.list_auxiliary_states())
        return {
            f"{'aux' if each.name in states else 'arg'}:{each.name}": each._reduce()
            for each in self._params
        }


def _count(nesting: Nesting) -> int:
    """Return how many arrays there are in it."""
    if nesting is None:
        return 0
    if isinstance(nesting, int):
        return nesting or 1
    kind, inner = nesting
    return sum(_count(each[1] if kind is dict else each) for each in inner)


def count_of_symbol(given: Any) -> int | None:
    """Return of how many arrays a symbol tells."""
    return len(given.list_outputs()) if isinstance(given, Symbol) else None


def count_of_array(given: Any) -> int | None:
    """Return 1 for an array or a symbol for one."""
    return 1 if is_array(given) else None


def _warn_of_unused(name: str, traced: Traced, names: Sequence[str], params: ParameterDict) -> None:
    used = set(traced.symbol.list_inputs())
    for kind, unused in (
        ("argument", [str(place) for place, each in enumerate(names) if each not in used]),
        ("parameter", [each.name for each in params.values() if each.name not in used]),
    ):
        if unused:
            warnings.warn(
                f"{name}: {kind} {', '.join(unused)} is not used by any computation.",
                stacklevel=6,
            )
