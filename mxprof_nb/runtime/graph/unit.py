"""`Unit`: what is known of the operators of one call of a graph, for the way back over them.

- A `Workspace` is the memory that one call uses for what is neither argument nor result; graphs
  with ``static_alloc`` use it again.
- It belongs to a call until its operators are queued; if gradients may be asked through them, until
  the tape forgets them. The engine sees to it that nobody writes there before others have read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from mxprof_nb.runtime.context import Context
from mxprof_nb.runtime.engine import bulk
from mxprof_nb.runtime.handle import Handle
from mxprof_nb.runtime.invoke import Attrs, Invocation, Send
from mxprof_nb.runtime.ops import OpSpec
from mxprof_nb.runtime.sending import in_bulks, in_segments
from mxprof_nb.runtime.storage import Chunk

__all__ = ["Unit", "Workspace", "give_back"]

#: Arrays by their places in `Program.avals`; bare, so that none leads to the tape.
Workspace = dict[int, Handle]
#: Workspaces kept for later calls; more are in use where a block is called again and again before
#: gradients are asked.
MAX_SPARE = 8


class Unit:
    """One call of a graph that is recorded for gradients.

    Parameters
    ----------
    backward_size : int
        How many operators of the way back make a bulk or segment, 0 lets each go alone.
    static : set of Chunk or None
        Memory of parameters and workspace where operators that touch nothing else make segments;
        None where all go in bulks.
    workspace : Workspace or None
    spare : list of Workspace
        Where the workspace goes when nobody needs it for this call any more.
    """

    __slots__ = ("_size", "_spare", "_static", "_workspace")

    def __init__(
        self,
        backward_size: int,
        static: set[Chunk] | None = None,
        workspace: Workspace | None = None,
        spare: list[Workspace] | None = None,
    ) -> None:
        self._size = backward_size
        self._static = static
        self._workspace = workspace
        self._spare = spare

    def __del__(self) -> None:
        if self._workspace is not None and self._spare is not None:
            give_back(self._workspace, self._spare)

    @contextmanager
    def way_back(self) -> Iterator[Send]:
        """Queue gradients as the graph has it."""
        if self._static is not None:
            with _Parts(self._size, self._static) as send:
                yield send
            return
        if self._workspace is not None:
            with bulk(0):  # as in MXNet, what was begun before ends here
                pass
        with in_bulks(self._size) as send:
            yield send


class _Parts:
    """Queues operators in segments where they touch nothing but memory that stays, else in bulks.

    Parameters
    ----------
    size : int
    static : set of Chunk
    """

    def __init__(self, size: int, static: set[Chunk]) -> None:
        self._size = size
        self._static = set(static)
        self._within = ExitStack()
        self._kind: bool | None = None
        self._send: Any = None

    def __enter__(self) -> _Parts:
        return self

    def __exit__(self, *error: Any) -> None:
        self._within.__exit__(*error)

    def __call__(
        self,
        op: OpSpec,
        inputs: Sequence[Handle],
        attrs: Attrs = (),
        dynamic: tuple[Any, ...] = (),
        out: Sequence[Handle] | None = None,
        context: Context | None = None,
    ) -> Invocation:
        kind = all(each.chunk in self._static for each in inputs)
        if kind is not self._kind:
            self._within.close()
            self._kind = kind
            self._send = self._within.enter_context(
                in_segments(self._size, brackets=False) if kind else in_bulks(self._size)
            )
        call: Invocation = self._send(op, inputs, attrs, dynamic, out, context)
        self._static.update(call.outputs)
        return call


def give_back(workspace: Workspace, spare: list[Workspace]) -> None:
    """Keep a workspace for another call, if there are not many yet."""
    if len(spare) < MAX_SPARE:
        spare.append(workspace)
