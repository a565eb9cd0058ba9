"""`joined`: traces of one run that different profilers wrote, put on one time line.

Clocks of two profilers count from different moments. What both saw tells how far apart these are:
a program with NVTX, such as MXNet built with it, brackets its operators in ranges that bear their
names, so the k-th range of a name is the k-th operator of that name in the other file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mxprof_nb._typing import BoolArray, I64Array
from mxprof_nb.errors import AlignmentError
from mxprof_nb.trace import Health, Meta, Trace, TraceBuilder, concat, schema
from mxprof_nb.trace.meta import HealthNote
from mxprof_nb.trace.tables import EventTable, frozen

__all__ = ["Alignment", "aligned", "joined"]

_SPANS = [schema.KINDS.index(kind) for kind in ("span", "async")]
_LAUNCH = schema.FLOW_KINDS.index("launch")
#: The domains of ranges of NVTX: this, and what begins with it and a slash.
_NVTX = "NVTX"
_MOST_NAMES = 5
#: What a trace knows that was read from a dump of MXNet.
_WRITTEN_TWICE = "operators_written_twice"
_HOUR_NS = 3_600 * 10**9
_DAY_NS = 24 * _HOUR_NS
_YEAR_NS = 365 * _DAY_NS
#: Files of one run do not lie further apart.
_LONG_PAUSE_NS = 12 * _HOUR_NS


@dataclass(frozen=True, slots=True, eq=False)
class Alignment:
    """How much later the clock of one trace began than that of another.

    Attributes
    ----------
    shift_ns : int
        What to add to times of the second to get times of the first, in ns.
    median_ns, largest_ns : int
        By how much ranges still differ with it.
    pairs : ndarray of int64, shape (2, ranges)
        Rows of events of both that are the same range.
    uneven : tuple of str
        Names that both have, but not equally often; not used.
    """

    shift_ns: int
    median_ns: int
    largest_ns: int
    pairs: I64Array
    uneven: tuple[str, ...]


def joined(traces: Sequence[Trace]) -> Trace:
    """Return one trace with the rows of all, on one time line that begins with the first event.

    Parameters
    ----------
    traces : sequence of Trace
        At least one. Where one of them has ranges of NVTX, all are joined by ranges of equal name
        and order, the health of the trace states how well; otherwise by their Unix time, or as
        they are when they do not know it, as `mxprof_nb.trace.concat` does.

    Raises
    ------
    AlignmentError
        There are ranges of NVTX, but no name of them occurs equally often in another file, and
        not all files know their Unix time; says which names there are.
    EmptyTraceError
        The sequence is empty.

    Notes
    -----
    - The shift is the median of the differences of starts, so ranges that one profiler saw late
      do not matter. The residual is the distance from it: its median and its largest value.
    - An operator of one file has a flow "launch" to each kernel that its range in the other
      launched.
    - Of more than two files, each is joined to the one with which it shares most ranges.
    - In dumps of one stream of MXNet, one after another, a thread is one track.
    """
    if len(traces) < 2 or not any(_has_nvtx(trace).any() for trace in traces):
        return traces[0] if len(traces) == 1 else _apart_told(_whole(traces), traces)
    links = _spanning(traces)
    if len(links) < len(traces) - 1:
        if all(trace.meta.origin_epoch_ns >= 0 for trace in traces):
            return _by_clock(traces)
        raise _no_common(traces)
    shifts = {0: 0}
    for link in links:
        shifts[link.target] = shifts[link.source] + link.shift_ns
    begin = min(trace.window_ns[0] + shifts[at] for at, trace in enumerate(traces))
    offsets = [shifts[at] - begin for at in range(len(traces))]
    apart = [_with_correlations_apart(trace, at) for at, trace in enumerate(traces)]
    builder = TraceBuilder.joining(apart, offsets)
    builder.meta = _meta(traces, offsets, builder.meta)
    firsts = np.cumsum([0, *(len(trace) for trace in traces)])
    for link in links:
        for source, target in ((link.source, link.target), (link.target, link.source)):
            if not _has_nvtx(traces[source]).any():
                rows = link.rows_of(source), link.rows_of(target)
                _add_launches(
                    builder, traces[target], *rows, int(firsts[source]), int(firsts[target])
                )
        builder.health = _told(builder, link, traces)
    return builder.build()


def aligned(one: Trace, other: Trace) -> Alignment | None:
    """Return how the times of two traces lie to each other, None when they share no range.

    Ranges are those of NVTX where a trace has any, else all spans of operators, calls and the
    program itself.
    """
    rows = [_anchors(trace) for trace in (one, other)]
    by_name = [_by_name(trace, these) for trace, these in zip((one, other), rows, strict=True)]
    pairs, uneven = [], []
    for name, first in sorted(by_name[0].items()):
        second = by_name[1].get(name)
        if second is None:
            continue
        if len(first) == len(second):
            pairs.append(np.stack([first, second]))
        else:
            uneven.append(name)
    if not pairs:
        return None
    every = np.concatenate(pairs, axis=1)
    apart = one.events.start_ns[every[0]] - other.events.start_ns[every[1]]
    ascending = np.sort(apart)
    middle = int(ascending[(len(ascending) - 1) // 2])
    residual = np.sort(np.abs(apart - middle))
    return Alignment(
        middle, int(residual[len(residual) // 2]), int(residual[-1]), every, tuple(uneven)
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Link:
    """Two traces by number, the first of which is placed already."""

    source: int
    target: int
    shift_ns: int
    found: Alignment
    is_turned: bool

    def rows_of(self, trace: int) -> I64Array:
        """Return the rows of the ranges in one of the two."""
        rows: I64Array = self.found.pairs[int((trace == self.target) != self.is_turned)]
        return rows


def _spanning(traces: Sequence[Trace]) -> list[_Link]:
    """Return links that lead from the first trace to as many as can be reached, the best first."""
    known: dict[tuple[int, int], Alignment | None] = {}
    for one in range(len(traces)):
        for other in range(one + 1, len(traces)):
            is_turned = _key(traces[other]) < _key(traces[one])
            pair = (other, one) if is_turned else (one, other)
            if any(_has_nvtx(traces[at]).any() for at in pair):
                known[pair] = aligned(traces[pair[0]], traces[pair[1]])
    links: list[_Link] = []
    placed = {0}
    while True:
        best: tuple[tuple[int, int], Alignment] | None = None
        for pair, found in known.items():
            if found is None or (pair[0] in placed) == (pair[1] in placed):
                continue
            if best is None or found.pairs.shape[1] > best[1].pairs.shape[1]:
                best = pair, found
        if best is None:
            return links
        (one, other), found = best
        is_turned = one not in placed
        source, target = (other, one) if is_turned else (one, other)
        shift = -found.shift_ns if is_turned else found.shift_ns
        links.append(_Link(source, target, shift, found, is_turned))
        placed.add(target)


def _key(trace: Trace) -> tuple[bool, str, int]:
    """Return what decides which of two traces is the first, in whatever order they are given."""
    return bool(_has_nvtx(trace).any()), trace.meta.title, len(trace)


def _has_nvtx(trace: Trace) -> BoolArray:
    """Return which events are ranges of NVTX."""
    codes = [
        code
        for code, text in enumerate(trace.strings)
        if text == _NVTX or text.startswith(f"{_NVTX}/")
    ]
    found: BoolArray = np.isin(trace.events.domain, codes) & np.isin(trace.events.kind, _SPANS)
    return found


def _anchors(trace: Trace) -> I64Array:
    """Return the rows that may be found again in another trace, in order of time."""
    found = _has_nvtx(trace)
    if not found.any():
        found = trace.events.is_category("operator", "api", "sync", "copy", "user", "python")
        found &= np.isin(trace.events.kind, _SPANS)
    return np.flatnonzero(found)


def _by_name(trace: Trace, rows: I64Array) -> dict[str, I64Array]:
    """Return rows by the names of their events, in order."""
    codes = trace.events.name[rows]
    order = np.argsort(codes, kind="stable")
    names, first = np.unique(codes[order], return_index=True)
    groups = np.split(rows[order], first[1:])
    return {trace.strings[code]: group for code, group in zip(names.tolist(), groups, strict=False)}


def _by_clock(traces: Sequence[Trace]) -> Trace:
    """Return the traces joined by their Unix time, which is said."""
    whole = concat(traces)
    note = HealthNote(
        "clocks", len(traces), "The files share no ranges; they are joined by the clocks of their "
        "machines, which may differ by milliseconds."
    )  # fmt: skip
    return _apart_told(replace(whole, health=Health((*whole.health.notes, note))), traces)


def _whole(traces: Sequence[Trace]) -> Trace:
    """Return one trace with the rows of all; of MXNet's dumps of one stream a thread is one track.

    Those are dumps whose threads have the same numbers and, thread by thread, do not overlap in
    time. Threads that overlap are of programs that ran side by side, and stay apart.
    """
    whole = concat(traces)
    if not all(_WRITTEN_TWICE in trace.meta.extra for trace in traces):
        return whole
    tracks, events, count = whole.tracks, whole.events, len(whole.tracks)
    is_counter = tracks.role == schema.ROLES.index("counter")
    keys = np.stack([tracks.pid_text, tracks.tid_text, is_counter], axis=1)
    group = np.unique(keys, axis=0, return_inverse=True)[1].reshape(-1)
    # The earliest of them names it: only the first piece of a stream has names.
    began = [max(trace.meta.origin_epoch_ns, 0) + trace.window_ns[0] for trace in traces]
    age = np.argsort(np.repeat(began, [len(trace.tracks) for trace in traces]), kind="stable")
    first = age[np.unique(group[age], return_index=True)[1]]
    begin, end = np.full(count, np.iinfo(np.int64).max), np.full(count, np.iinfo(np.int64).min)
    np.minimum.at(begin, events.track, events.start_ns)
    np.maximum.at(end, events.track, events.end_ns)
    order = np.lexsort((begin, group))
    one, next_one = order[:-1], order[1:]
    overlap = (group[one] == group[next_one]) & (begin[next_one] < end[one])
    is_apart = np.isin(group, group[one][overlap])
    kept, number = np.unique(
        np.where(is_apart, np.arange(count), first[group]), return_inverse=True
    )
    number = number.reshape(-1).astype(events.track.dtype)
    return replace(
        whole,
        tracks=tracks.take(kept),
        events=replace(events, track=frozen(number[events.track])),
        counters=replace(whole.counters, track=frozen(number[whole.counters.track])),
    )


def _apart_told(whole: Trace, traces: Sequence[Trace]) -> Trace:
    """Return the joined trace, which says so where nothing happened for hours between two files.

    Clocks that count from different moments, or runs of different days, give such gaps; all of
    one file is a hair on the time line then.
    """
    epochs = [trace.meta.origin_epoch_ns for trace in traces]
    know = min(epochs) >= 0
    windows = sorted(
        (epoch * know + trace.window_ns[0], epoch * know + trace.window_ns[1], _name(trace))
        for trace, epoch in zip(traces, epochs, strict=True)
        if len(trace)
    )
    health = whole.health
    reached, before = (windows[0][1], windows[0][2]) if windows else (0, "")
    for begin, end, name in windows:
        if begin - reached > _LONG_PAUSE_NS:
            cause = (
                "they are of different runs"
                if know
                else "their clocks count from different moments, and nothing in them tells how far "
                "apart these are"
            )
            health = health.with_note(
                "apart",
                1,
                f"{name} begins {_time(begin - reached)} after {before} ends: {cause}. Load them "
                "one by one.",
            )
        if end > reached:
            reached, before = end, name
    return replace(whole, health=health)


def _with_correlations_apart(trace: Trace, number: int) -> Trace:
    """Return a trace whose correlations no other of those that are joined has."""
    correlation = trace.events.correlation
    if not 0 < number < 120 or correlation.max(initial=-1) >= 2**55:
        return trace
    columns = {column.name: values for column, values in trace.events.columns()}
    moved = np.where(correlation >= 0, correlation + (number << 56), correlation)
    return replace(trace, events=EventTable.of(columns | {"correlation": moved}))


def _meta(traces: Sequence[Trace], offsets: Sequence[int], first: Meta) -> Meta:
    epochs = [
        trace.meta.origin_epoch_ns - offset
        for trace, offset in zip(traces, offsets, strict=True)
        if trace.meta.origin_epoch_ns >= 0
    ]
    names = ", ".join(_name(trace) for trace in traces)
    history = (*traces[0].meta.history, f"joined({names})")
    return replace(first, history=history, origin_epoch_ns=max(0, min(epochs)) if epochs else -1)


def _add_launches(
    builder: TraceBuilder,
    ranged: Trace,
    operators: I64Array,
    ranges: I64Array,
    first_operator: int,
    first_range: int,
) -> None:
    """Lead from operators to the kernels that their ranges in another trace launched."""
    operator = np.full(len(ranged) + 1, -1, dtype=np.int64)
    operator[ranges] = operators
    flows, parent = ranged.flows, np.append(ranged.events.parent, -1)
    launch = flows.kind == _LAUNCH
    kernel, event = flows.target[launch], flows.source[launch].astype(np.int64)
    while (climbing := (event >= 0) & (operator[event] < 0)).any():
        event[climbing] = parent[event[climbing]]
    known = event >= 0
    if known.any():
        builder.add_flows(
            first_operator + operator[event[known]], first_range + kernel[known], "launch"
        )


def _told(builder: TraceBuilder, link: _Link, traces: Sequence[Trace]) -> Health:
    """Return the health with how well two traces are joined."""
    found = link.found
    names = sorted(_name(traces[at]) for at in (link.source, link.target))
    count = found.pairs.shape[1]
    ranges = "1 range" if count == 1 else f"{count:,} ranges"
    said = (
        f"{names[0]} and {names[1]} are joined by {ranges} of equal name and order, which differ "
        f"by {_time(found.median_ns)} in the median and {_time(found.largest_ns)} at most."
    )
    health = builder.health.with_note("joined", count, said)
    if found.uneven:
        few = ", ".join(found.uneven[:_MOST_NAMES])
        more = len(found.uneven) - _MOST_NAMES
        told = f"{few} and {more:,} others" if more > 0 else few
        health = health.with_note(
            "uneven_ranges",
            len(found.uneven),
            f"Not equally often in {names[0]} and {names[1]}, and not used to join them: {told}.",
        )
    return health


def _time(ns: int) -> str:
    """Return a time in its usual unit."""
    for unit, size in (("years", _YEAR_NS), ("days", _DAY_NS), ("hours", _HOUR_NS)):
        if ns >= 2 * size:
            return f"{round(ns / size):,} {unit}"
    for unit, size in (("s", 10**9), ("ms", 10**6), ("µs", 10**3)):
        if ns >= size:
            return f"{ns / size:.3g} {unit}"
    return f"{ns} ns"


def _name(trace: Trace) -> str:
    return trace.meta.title or trace.meta.backend or "a trace"


def _no_common(traces: Sequence[Trace]) -> AlignmentError:
    told = "; ".join(_described(traces))
    return AlignmentError(
        f"The files cannot be put on one time line: {told}. No name occurs equally often in "
        "both. Record the same part of one run with both profilers, with ranges of NVTX (MXNet: "
        "built with USE_NVTX=1), or load the files one by one."
    )


def _described(traces: Sequence[Trace]) -> Iterator[str]:
    """Say of each trace which ranges it has."""
    for trace in traces:
        kind = "ranges of NVTX" if _has_nvtx(trace).any() else "operators and calls"
        names = sorted(_by_name(trace, _anchors(trace)))
        few = ", ".join(names[:_MOST_NAMES]) or "none"
        yield f"{_name(trace)} has {kind} {few}" + (", ..." if len(names) > _MOST_NAMES else "")
