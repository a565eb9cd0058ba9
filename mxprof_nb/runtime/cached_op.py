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
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any

from mxprof_nb.errors import ArgumentError
from mxprof_nb.runtime import mode, tape
from mxprof_nb.runtime.calls import recorded
from mxprof_nb.runtime.context import Context
from mxprof_nb.runtime.engine.bulking import backward_size, forward_size
from mxprof_nb.runtime.graph.lowering import lower
from mxprof_nb.runtime.graph.program import Program, Step
from mxprof_nb.runtime.graph.run import run
from mxprof_nb.runtime.graph.unit import Unit, Workspace, give_back
from mxprof_nb.runtime.handle import Handle
from mxprof_nb.runtime.invoke import Send
from mxprof_nb.runtime.nd import NDArray
from mxprof_nb.runtime.ops import Aval, OpSpec
from mxprof_nb.runtime.sending import in_bulks, in_segments
from mxprof_nb.runtime.symbol import Symbol
from mxprof_nb.runtime.tape import bare

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
        self._trained = False

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
        train = mode.is_training()
        plan = self._plan(tuple([each.aval for each in arrays]), train)
        self._trained |= train
        return [_array(each) for each in plan.run(arrays, self._trained)]

    def _plan(self, avals: tuple[Aval, ...], train: bool) -> Plan:
        key = avals, train
        plan = self._plans.get(key)
        if plan is None:
            known = dict(zip(self._names, avals, strict=True))
            program = lower(self._symbol._entries, known, train=train)
            plan = Plan(program, self._options, self._data, train)
            if len(self._plans) >= MAX_PROGRAMS:
                with suppress(KeyError):  # another thread was faster
                    self._plans.popitem(last=False)
            self._plans[key] = plan
        return plan


class Plan:
    """A program, and which of its steps go together.

    Parameters
    ----------
    program : Program
    options : Options
    data : set of int
        Places of the inputs that change from call to call.
    train : bool
        Whether it is one for training.
    """

    def __init__(
        self, program: Program, options: Options, data: frozenset[int], train: bool
    ) -> None:
        self._program = program
        self._options = options
        self._data = data
        self._train = train
        self._spare: dict[Context, list[Workspace]] = {}
        inputs, results = len(program.inputs), set(program.outputs)
        self._kept = [
            place
            for step in program.steps
            if not results.intersection(step.outputs)
            for place in step.outputs
            if place >= inputs
        ]

    def run(self, arrays: Sequence[Handle], trained: bool) -> list[Handle]:
        """Queue it, and return the results.

        Parameters
        ----------
        arrays : sequence of Handle
            The inputs.
        trained : bool
            Whether the graph has ever run for training.
        """
        program, context = self._program, arrays[0].chunk.context
        recording = mode.is_recording()
        places: list[Handle | None] = [*arrays, *[None] * (len(program.avals) - len(arrays))]
        spare = self._spare.setdefault(context, []) if self._options.static_alloc else None
        if spare:
            with suppress(IndexError):  # another thread was faster
                for place, kept in spare.pop().items():
                    places[place] = bare(kept)
        for steps, kind in self._parts(trained):
            with kind as send:
                run(program, places, send, steps, context=context, record=recording, anew=True)
        workspace = None
        if spare is not None:
            workspace = {place: bare(each) for place in self._kept if (each := places[place])}
            if not recording:
                give_back(workspace, spare)
        if recording:
            self._note_unit(places, workspace, spare)
        return [_present(places[place]) for place in program.outputs]

    def _parts(self, trained: bool) -> Iterator[tuple[range, AbstractContextManager[Send]]]:
        """Give ranges of steps, and how each is queued."""
        steps, options = self._program.steps, self._options
        size = _size(options.forward_bulk_size, forward_size(train=self._train))
        if not options.static_alloc:
            yield range(len(steps)), in_bulks(size)
            return
        if not options.static_shape:
            # As in MXNet, what draws random numbers begins a new bulk once it did so for training.
            begins = [place for place, step in enumerate(steps) if trained and _draws(step.op)]
            for first, behind in pairwise([0, *begins, len(steps)]):
                yield range(first, behind), in_bulks(size)
            return
        touched = self._data.union(self._program.outputs)
        whole = None if size and not self._train else size
        first = 0
        for moving, group in groupby(steps, lambda step: _touches(step, touched)):
            behind = first + len(list(group))
            kind = in_bulks(size) if moving else in_segments(whole, brackets=False)
            yield range(first, behind), kind
            first = behind

    def _note_unit(
        self,
        places: Sequence[Handle | None],
        workspace: Workspace | None,
        spare: list[Workspace] | None,
    ) -> None:
        """Tell the tape how the way back over this call is queued, if not as usual."""
        options = self._options
        if workspace is None and options.backward_bulk_size is None:
            return
        size = _size(options.backward_bulk_size, backward_size())
        static = None
        if options.static_shape and workspace is not None:
            static = {each.chunk for each in workspace.values()}
            static.update(
                _present(places[place]).chunk
                for place in range(len(self._program.inputs))
                if place not in self._data
            )
        unit = Unit(size, static, workspace, spare)
        for step in self._program.steps:
            for place in step.outputs:
                node, _ = getattr(places[place], "entry", (None, 0))
                if isinstance(node, tape.Step):
                    node.unit = unit


def _size(chosen: int | None, usual: int) -> int:
    """Return how many operators go together: none where the environment says so."""
    return chosen if chosen is not None and usual else usual


def _draws(op: OpSpec) -> bool:
    return op.draws or bool(op.draws_if)


def _touches(step: Step, places: Set[int]) -> bool:
    return not places.isdisjoint((*step.inputs, *step.outputs))


def _present(array: Handle | None) -> Handle:
    if array is None:
        raise LookupError("a result of the program was not computed")
    return array


def _array(handle: Handle) -> NDArray:
    made = NDArray._of(handle.chunk, handle.aval, handle.view)
    if hasattr(handle, "entry"):
        made.entry = handle.entry
    return made
