"""Processes and threads of a Chrome trace, and what its metadata events call them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from mxprof_nb.trace import TraceBuilder

__all__ = ["Labels", "add_tracks"]

#: Names of processes that stand for a device rather than a program (MXNet writes them).
_DEVICE = re.compile(r"(?:cpu|gpu)/\d+|cpu (?:pinned|shared)/")
#: What PyTorch labels the processes with that stand for a device, and what JAX calls them; their
#: threads are streams.
_STREAMS = re.compile(r"(?:/device:)?(GPU|TPU|XPU)[ :](\d+)(?:\D.*)?")

#: Longer ids of threads are no numbers that a person could look up; Linux counts to 4194304.
_LONGEST_ID = 8
#: A number, a hash, an address or an id of the system: not what a person would call a process.
_NUMBER = re.compile(r"[0-9a-fA-F:x.+-]*")
_DIGIT = re.compile(r"\d")
_LAST_PLACE = 2**62

Identity = str | None


@dataclass(slots=True)
class Labels:
    """What metadata events say, by process or by process and thread."""

    process_name: dict[Identity, str] = field(default_factory=dict)
    process_order: dict[Identity, int] = field(default_factory=dict)
    thread_name: dict[tuple[Identity, Identity], str] = field(default_factory=dict)
    thread_order: dict[tuple[Identity, Identity], int] = field(default_factory=dict)
    process_labels: dict[Identity, str] = field(default_factory=dict)

    def take(self, name: str, pid: Identity, tid: Identity, args: Any) -> bool:
        """Keep what one metadata event says; return whether it was one of those known here.

        Raises
        ------
        ValueError
            Its arguments are not what its name demands.
        """
        if name in ("process_name", "thread_name"):
            text = args.get("name") if isinstance(args, dict) else None
            if not isinstance(text, str):
                raise ValueError("args.name must be a text")
            if name == "process_name":
                self.process_name[pid] = text
            else:
                self.thread_name[pid, tid] = text
        elif name in ("process_sort_index", "thread_sort_index"):
            place = args.get("sort_index") if isinstance(args, dict) else None
            if isinstance(place, str) and place.strip().lstrip("-").isdecimal():
                place = int(place[:20])
            if isinstance(place, float) and place.is_integer():
                place = int(place)
            if type(place) is not int or abs(place) >= 2**62:
                raise ValueError("args.sort_index must be a whole number")
            if name == "process_sort_index":
                self.process_order[pid] = place
            else:
                self.thread_order[pid, tid] = place
        else:
            if name == "process_labels" and isinstance(args, dict):
                self.process_labels[pid] = str(args.get("labels", ""))
            return False
        return True

    def device(self, pid: Identity) -> tuple[str | None, str, str]:
        """Return the device that a process stands for, what its threads are, and its name."""
        process = self.process(pid)
        if _DEVICE.fullmatch(process):
            return process, "worker", process
        for text in (self.process_labels.get(pid, ""), process):
            found = _STREAMS.fullmatch(text.strip())
            if found:
                device = f"{found[1].lower()}/{found[2]}"
                return device, "stream", text.strip() if process == text else device
        return None, "host", process

    def process(self, pid: Identity) -> str:
        """Return the name of a process."""
        if named := self.process_name.get(pid):
            return named
        return f"process {pid}" if _is_number(pid) else pid or ""

    def place(self, pid: Identity) -> int:
        """Return where a process stands among others; equal ones in order of appearance.

        PyTorch keeps its own remarks under the names "Spans", "Traces" and none at all in place of
        a number, and gives the first alone a place, the last one. All such stand behind the rest.
        """
        told = self.process_order.get(pid)
        if told is not None:
            return told
        if pid is None or pid in self.process_name:
            return 0
        return 0 if _is_number(pid) else _LAST_PLACE


def add_tracks(
    builder: TraceBuilder,
    threads: Iterable[tuple[Identity, Identity]],
    counters: Iterable[Identity],
    labels: Labels,
) -> tuple[dict[tuple[Identity, Identity], int], dict[Identity, int]]:
    """Add a track per thread that has events, and one per process that has counters.

    Parameters
    ----------
    builder : TraceBuilder
    threads : iterable of tuple of str or None
        Process and thread ids, in the order they were met.
    counters : iterable of str or None
        Process ids.
    labels : Labels

    Returns
    -------
    threads, counters : dict
        Row of the track by its ids.
    """
    threads, counters = list(threads), list(counters)
    place: dict[Identity, int] = {}
    for pid, _ in threads:
        place.setdefault(pid, len(place))
    for pid in counters:
        place.setdefault(pid, len(place))
    per_process: dict[Identity, int] = {}
    for pid, _ in threads:
        per_process[pid] = per_process.get(pid, 0) + 1

    # By what the file says first, by the order of appearance where it says nothing; counters of
    # a process come after its threads.
    wanted = [
        (
            (
                labels.place(pid),
                place[pid],
                0,
                labels.thread_order.get((pid, tid), 0),
            ),
            row,
            True,
        )
        for row, (pid, tid) in enumerate(threads)
    ] + [((labels.place(pid), place[pid], 1, 0), row, False) for row, pid in enumerate(counters)]
    thread_rows: dict[tuple[Identity, Identity], int] = {}
    met: dict[Identity, int] = {}
    counter_rows: dict[Identity, int] = {}
    for order, (_, row, is_thread) in enumerate(sorted(wanted, key=lambda entry: entry[0])):
        if is_thread:
            pid, tid = threads[row]
            met[pid] = met.get(pid, 0) + 1
            device, role, process = labels.device(pid)
            name = labels.thread_name.get((pid, tid), "").strip() or _name(
                labels.process_name.get(pid), tid, met[pid], per_process[pid]
            )
            thread_rows[pid, tid] = builder.track(
                name,
                role=role,
                process=process,
                device=device,
                order=order,
                pid_text=pid,
                tid_text=tid,
            )
        else:
            pid = counters[row]
            device, _, process = labels.device(pid)
            counter_rows[pid] = builder.track(
                process or "counters",
                role="counter",
                process=process,
                device=device,
                order=order,
                pid_text=pid,
            )
    return thread_rows, counter_rows


def _is_number(identity: Identity) -> bool:
    """Return whether an id is one that a system gives, and no word."""
    return bool(identity and _NUMBER.fullmatch(identity) and _DIGIT.search(identity))


def _name(process: str | None, tid: Identity, number: int, threads: int) -> str:
    """Return a name for a thread that has none of its own: ``number`` of so many of a process."""
    # A hash or an address says nothing: the track keeps it, its name does not.
    if tid and not _is_number(tid):
        return tid
    thread = f"thread {number if len(tid) > _LONGEST_ID else tid}" if tid else "events"
    if not process:
        return thread
    return process if threads == 1 else f"{process} {thread}"
