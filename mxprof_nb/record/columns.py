"""`ThreadColumns`: what one thread recorded, as whole columns for `mxprof_nb.record.freeze`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mxprof_nb._typing import I64Array
from mxprof_nb.record.buffer import Block, ThreadInfo
from mxprof_nb.record.recorder import Recording

__all__ = ["Columns", "ThreadColumns", "by_thread", "chosen", "within_limit"]

#: Field name to values, shape (n,) each.
Columns = Mapping[str, I64Array]


@dataclass(frozen=True, slots=True)
class ThreadColumns:
    """Records of one thread, by kind; the fields are those of `mxprof_nb.record.buffer`."""

    thread: ThreadInfo
    calls: Columns
    operators: Columns
    memory: Columns
    user: Columns

    def earliest(self) -> int | None:
        """Return the first moment that any record names, None if there is none."""
        queued = self.operators["queued"]
        times = [
            self.calls["start"],
            self.operators["start"],
            queued[queued > 0],
            self.memory["time"],
            self.user["start"],
        ]
        return min((int(each.min()) for each in times if len(each)), default=None)

    def latest_operator(self) -> int:
        """Return when its last operator ended, 0 if there is none."""
        return int(self.operators["end"].max(initial=0))

    def memory_changes(self) -> tuple[I64Array, I64Array, I64Array]:
        """Return when, on which device and by how many bytes memory changed, shape (n,) each."""
        ran = self.operators
        rows = np.flatnonzero(ran["device"] >= 0)
        size = ran["bytes"][rows]
        moment = np.where(size > 0, ran["start"][rows], ran["end"][rows])
        return (
            np.concatenate([self.memory["time"], moment]),
            np.concatenate([self.memory["device"], ran["device"][rows]]),
            np.concatenate([self.memory["bytes"], size]),
        )


def by_thread(blocks: Iterable[Block]) -> list[ThreadColumns]:
    """Join the blocks of each thread, hosts first, in the order in which threads appeared."""
    groups: dict[int, list[Block]] = {}
    for block in blocks:
        groups.setdefault(block.thread.order, []).append(block)
    joined = [
        ThreadColumns(
            group[0].thread,
            *(_joined([block.columns(kind) for block in group]) for kind in _KINDS),
        )
        for group in groups.values()
    ]
    return sorted(joined, key=lambda one: (one.thread.role != "host", one.thread.order))


_KINDS = ("calls", "operators", "memory", "user")


def _joined(parts: list[dict[str, I64Array]]) -> Columns:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def chosen(columns: Columns, rows: NDArray[np.bool_]) -> Columns:
    """Return the rows of a mask."""
    return {name: values[rows] for name, values in columns.items()}


def within_limit(
    threads: list[ThreadColumns], recording: Recording
) -> tuple[list[ThreadColumns], int]:
    """Return the records within the limit, and how many are beyond.

    Kept are the earliest, by their end, of those that are wanted.
    """
    config = recording.config
    calls = [one.calls["end"] for one in threads] if config.api else []
    operators = [one.operators["end"] for one in threads] if config.operators else []
    wanted = sum(map(len, calls)) + sum(map(len, operators))
    if recording.lost_since is None and wanted <= config.max_events:
        return threads, recording.lost
    ends = np.concatenate([*calls, *operators, np.empty(0, np.int64)])
    keep = np.ones(len(ends), dtype=bool)
    if recording.lost_since is not None:
        keep = ends < recording.lost_since
    if len(ends) > config.max_events:
        keep[np.argsort(ends, kind="stable")[config.max_events :]] = False
    masks = np.split(keep, np.cumsum([len(part) for part in (*calls, *operators)]))[:-1]
    of_calls, of_operators = masks[: len(calls)], masks[len(calls) :]
    kept = threads
    if of_calls:
        pairs = zip(kept, of_calls, strict=True)
        kept = [replace(one, calls=chosen(one.calls, mask)) for one, mask in pairs]
    if of_operators:
        pairs = zip(kept, of_operators, strict=True)
        kept = [replace(one, operators=chosen(one.operators, mask)) for one, mask in pairs]
    return kept, recording.lost + int((~keep).sum())
