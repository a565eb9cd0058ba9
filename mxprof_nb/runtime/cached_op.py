"""`CachedOp`: a graph of operators that is run by one call; what hybridized blocks are made of.

- Each call queues the operators of a `Program`, made once for inputs of these shapes and types, for
  training or prediction.
- Usually they go in bulks, see `mxprof_nb.runtime.engine.bulk`. With ``static_shape`` those that
  touch neither data nor results are put together in segments, which bear the names of their
  members.
- While the thread records each operator gets its place on the tape, so gradients, and gradients of
  those, are what they are for single calls; a `Unit` notes which belong to one call.
- Several threads may call it at once: each call has arrays of its own.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mxprof_nb.errors import ArgumentError
from mxprof_nb.runtime import mode
from mxprof_nb.runtime.calls import recorded
from mxprof_nb.runtime.context import Context
from mxprof_nb.runtime.graph.launch import Plan, run_plan
from mxprof_nb.runtime.graph.lowering import lower
from mxprof_nb.runtime.handle import Handle
from mxprof_nb.runtime.nd import NDArray
from mxprof_nb.runtime.ops import Aval
from mxprof_nb.runtime.symbol import Symbol

__all__ = ["CachedOp", "Options"]

#: Programs kept of one graph, for data whose shapes never repeat.
MAX_PROGRAMS = 100


@dataclass(frozen=True)
class Options:
    """How a graph is run.

    Attributes
    ----------
    static_alloc : bool
        Whether the memory of what is neither argument nor result is kept from call to call.
    static_shape : bool
        Whether operators are put together in segments beforehand; needs ``static_alloc``. Other
        shapes may come all the same.
    inline_limit : int
        Accepted; graphs have no graphs in them here.
    forward_bulk_size, backward_bulk_size : int, optional
        How many operators make a bulk; by default what
        `mxprof_nb.runtime.engine.bulking` says.

    Raises
    ------
    ArgumentError
        A number is no number, or ``static_shape`` stands without ``static_alloc``.
    """

    static_alloc: bool = False
    static_shape: bool = False
    inline_limit: int = 2
    forward_bulk_size: int | None = None
    backward_bulk_size: int | None = None

    def __post_init__(self) -> None:
        if self.static_shape and not self.static_alloc:
            raise ArgumentError(
                "static_shape=True needs static_alloc=True too: segments are made for arrays that "
                "stay where they are."
            )
        for name in ("inline_limit", "forward_bulk_size", "backward_bulk_size"):
            given = getattr(self, name)
            if given is None and name != "inline_limit":
                continue
            if not isinstance(given, int) or isinstance(given, bool) or given < 0:
                raise ArgumentError(f"{name}={given!r} must be a whole number, 0 or more.")


class CachedOp:
    """A graph that one call runs.

    Parameters
    ----------
    sym : Symbol
    flags : Options, mapping or sequence of pairs
        See `Options`; MXNet's ``data_indices`` and ``param_indices`` are taken too.
    data : tuple of int, optional
        Which inputs change from call to call, by their places in ``sym.list_inputs()``: those
        that are no parameters. All by default.

    Raises
    ------
    ArgumentError
        There is no such option.
    """

    def __init__(
        self,
        sym: Symbol,
        flags: Options | Mapping[str, Any] | Sequence[tuple[str, Any]] = (),
        data: Sequence[int] | None = None,
    ) -> None:
        if isinstance(flags, Options):
            options = flags
        else:
            given = dict(flags)
            data = given.pop("data_indices", data)
            given.pop("param_indices", None)
            try:
                options = Options(**given)
            except TypeError:
                raise ArgumentError(
                    f"CachedOp: {', '.join(given)} are not all options. There are "
                    f"{', '.join(Options.__dataclass_fields__)}."
                ) from None
        self._symbol = sym
        self._names = tuple(sym.list_inputs())
        self._options = options
        self._data = frozenset(range(len(self._names)) if data is None else data)
        self._plans: OrderedDict[Any, Plan] = OrderedDict()

    def __repr__(self) -> str:
        return f"<CachedOp of {', '.join(self._symbol.list_outputs())}>"

    def __call__(self, *args: NDArray, out: Any = None) -> Any:
        """Run the graph: an array, or a list of them if it has several results.

        Parameters
        ----------
        *args : NDArray
            One for each of ``list_inputs()``, on one device.
        out : NDArray or sequence of NDArray, optional
            What the results are copied to.

        Raises
        ------
        ArgumentError
            There are more or fewer arrays.
        ShapeError
            They do not fit; the message names the node.
        """
        if len(args) != len(self._names):
            raise ArgumentError(
                f"This graph takes {len(self._names)} arrays: {', '.join(self._names)}; "
                f"got {len(args)}."
            )
        for place, each in enumerate(args):
            if not isinstance(each, NDArray):
                raise TypeError(
                    f"{self._names[place]} must be an NDArray, not {type(each).__name__}."
                )
        made = self._call(args)
        if out is not None:
            targets = [out] if isinstance(out, NDArray) else list(out)
            made = [one.copyto(target) for one, target in zip(made, targets, strict=True)]
        return made[0] if len(made) == 1 else made

    @recorded("MXInvokeCachedOpEx")
    def _call(self, arrays: Sequence[NDArray]) -> list[NDArray]:
        return self._call_nested(arrays)

    @recorded("MXInvokeCachedOp")  # MXNet records both
    def _call_nested(self, arrays: Sequence[NDArray]) -> list[NDArray]:
        training = mode.is_training()
        plan = self._plan(tuple([each.aval for each in arrays]), training)
        context = arrays[0].chunk.context
        results = run_plan(plan, arrays, context, recording=mode.is_recording(), train=training)
        return [_array(each) for each in results]

    def _plan(self, avals: tuple[Aval, ...], train: bool) -> Plan:
        key = avals, train
        plan = self._plans.get(key)
        if plan is None:
            known = dict(zip(self._names, avals, strict=True))
            program = lower(self._symbol.entries, known, train=train)
            plan = Plan(program, self._options, self._data)
            while len(self._plans) >= MAX_PROGRAMS:
                try:
                    self._plans.popitem(last=False)
                except KeyError:  # another thread was faster
                    break
            self._plans[key] = plan
        return plan


def _array(handle: Handle) -> NDArray:
    made = NDArray._of(handle.chunk, handle.aval, handle.view)
    if hasattr(handle, "entry"):
        made.entry = handle.entry
    return made
