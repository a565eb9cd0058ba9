"""Turns what a `Recording` heard into a `Trace`.

Everything that can be derived is derived here and not recorded: lines of code from code objects,
flows from correlation numbers, the two counters of API calls from the calls themselves, memory
curves from what was taken and given back.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mxprof_nb._typing import I64Array
from mxprof_nb.record.buffer import (
    CALL_FIELDS,
    MEMORY_FIELDS,
    OPERATOR_FIELDS,
    SAMPLE,
    Block,
    ThreadInfo,
)
from mxprof_nb.record.calibrate import cost_of
from mxprof_nb.record.carry import Carry, Line
from mxprof_nb.record.recorder import Recorder, Recording
from mxprof_nb.trace import Meta, Trace, TraceBuilder
from mxprof_nb.trace.schema import CATEGORIES, KINDS

__all__ = ["freeze"]

API_TRACK = "MXNET_C_API"
_SPAN = KINDS.index("span")


def freeze(
    recording: Recording,
    meta: Meta,
    *,
    lines: Mapping[str, str] | None = None,
    carry: Carry | None = None,
) -> Trace:
    """Return what was heard as a trace.

    Parameters
    ----------
    recording : Recording
        Stopped or paused.
    meta : Meta
        Facts about the trace; origin, window, configuration and cost are filled in.
    lines : Mapping of str to str, optional
        Source text per file name, for files that `linecache` does not know.
    carry : Carry, optional
        What the part before this one has left; it is brought up to date for the next.
    """
    return _Freezer(recording, meta, lines or {}, carry or Carry(last=True)).trace()


class _Freezer:
    """The state of one conversion."""

    def __init__(
        self, recording: Recording, meta: Meta, sources: Mapping[str, str], carry: Carry
    ) -> None:
        self.recording = recording
        self.carry = carry
        self.lines: dict[int, Line] = {}  # by row
        self.recorder: Recorder = recording.recorder
        self.blocks = _merged(recording.blocks)
        self.sources = {name: text.splitlines() for name, text in sources.items()}
        first = min((begin for begin, _ in recording.windows), default=0)
        # What was late ended after the last window.
        last = max([0, *(end for _, end in recording.windows), *map(_latest, self.blocks)])
        # Time 0 is the begin of the profile, or of the earliest thing seen in it: no time is
        # negative, which leaves -1 free for "not known".
        earliest = min([first, *(_earliest(block) for block in self.blocks)])
        self.origin, first, last = carry.window(earliest, first, last)
        self.builder = TraceBuilder(
            replace(
                meta,
                origin_epoch_ns=self.recorder.clock.epoch_of(self.origin),
                window_ns=(first - self.origin, last - self.origin),
                config=recording.config.as_dict(),
            )
        )

    def trace(self) -> Trace:
        recording, builder, carry = self.recording, self.builder, self.carry
        config = recording.config
        kept = self._within_limit()
        tracks = {id(block): self._track(block.thread) for block in self.blocks}
        call_rows, call_ids, calls_by_id = [], [], []
        sites = {n: self._row(line) for n, line in carry.awaited.items()}
        for block in self.blocks:
            calls = block.calls[kept.calls(block)]
            site = self._sites(calls[:, 4:]) if config.lines else np.full(len(calls), -1)
            known = (calls[:, 3] >= 0) & ~self._is_wait(calls[:, 2])
            # Backwards, so that the first of the calls that share a bulk names its line.
            numbers, lines = calls[known, 3][::-1], site[known][::-1]
            sites.update(zip(numbers.tolist(), lines.tolist(), strict=True))
            if config.api:
                rows = self._add_calls(calls, site, tracks[id(block)])
                call_rows.append(rows)
                call_ids.append(calls[:, 3])
                calls_by_id.append(calls[:, 2])
        operator_rows, operator_ids = [], []
        if config.operators:
            for block in self.blocks:
                operators = block.operators[kept.operators(block)]
                operator_rows.append(self._add_operators(operators, sites, tracks[id(block)]))
                operator_ids.append(operators[:, 4])
        if call_rows and operator_rows:
            self._link(
                np.concatenate(call_rows),
                np.concatenate(call_ids),
                np.concatenate(calls_by_id),
                np.concatenate(operator_rows),
                np.concatenate(operator_ids),
            )
        if config.operators and not carry.last:
            carry.keep_lines(sites, np.concatenate([*operator_ids, _NO_ROWS]), self.lines)
        self._add_user(tracks)
        if config.api:
            self._api_counters()
        if config.memory:
            self._memory_counters()
        if kept.lost:
            builder.note(
                "capped",
                kept.lost,
                f"{kept.lost:,} records beyond the limit of {config.max_events:,} were counted "
                "and not kept; the profile shows the beginning.",
            )
        if recording.dropped or carry.dropped:
            carry.dropped += recording.dropped
            builder.note(
                "dropped",
                carry.dropped,
                f"{carry.dropped:,} records were dropped, since those before them waited to be "
                f"written and took {config.max_bytes:,} bytes.",
            )
        cost = cost_of(self.recorder, sum(map(len, self.blocks)))
        builder.meta = replace(builder.meta, cost=cost)
        return builder.build()

    def _within_limit(self) -> _Kept:
        return _Kept(self.blocks, self.recording)

    def _track(self, thread: ThreadInfo) -> int:
        process = self.recorder.process or os.getpid()
        return self.builder.track(
            thread.name,
            role=thread.role,
            process=f"python {process}",
            device=thread.device,
            pid_text=str(process),
            tid_text=str(thread.ident),
        )

    def _columns(self, labels: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """Return name, category and domain codes for label numbers, shape (n,) each."""
        used, inverse = np.unique(labels, return_inverse=True)
        table = [self.recorder.labels[number] for number in used]
        code = self.builder.string
        return {
            "name": np.array([code(label.name) for label in table], dtype=np.int32)[inverse],
            "category": np.array(
                [CATEGORIES.index(label.category) for label in table], dtype=np.int8
            )[inverse],
            "domain": np.array([code(label.domain) for label in table], dtype=np.int32)[inverse],
        }

    def _is_wait(self, labels: NDArray[Any]) -> NDArray[np.bool_]:
        """Tell waits from calls that queue: both carry the number of an operator."""
        waits: NDArray[np.bool_] = self._columns(labels)["category"] == CATEGORIES.index("sync")
        return waits

    def _details(self, labels: NDArray[Any]) -> NDArray[Any]:
        """Return rows of the args table for label numbers, one row per distinct label."""
        used, inverse = np.unique(labels, return_inverse=True)
        rows = []
        for number in used:
            label = self.recorder.labels[number]
            rows.append(
                self.builder.arg(
                    bytes=label.bytes,
                    flops=label.flops,
                    shapes=label.shapes,
                    dtype=label.dtype,
                    raw=label.raw,
                )
                if label.has_details
                else -1
            )
        return np.array(rows, dtype=np.int32)[inverse]

    def _add_calls(self, calls: I64Array, site: NDArray[Any], track: int) -> NDArray[Any]:
        start, end, label, correlation = (calls[:, i] for i in range(4))
        return self.builder.add_events(
            start_ns=start - self.origin,
            dur_ns=end - start,
            kind=_SPAN,
            track=track,
            correlation=correlation,
            site=site,
            **self._columns(label),
        )

    def _add_operators(
        self, operators: I64Array, sites: Mapping[int, int], track: int
    ) -> NDArray[Any]:
        queued, start, end, label, correlation = (operators[:, i] for i in range(5))
        correlation = np.where(correlation > 0, correlation, -1)  # what was released has none
        return self.builder.add_events(
            start_ns=start - self.origin,
            dur_ns=end - start,
            kind=_SPAN,
            track=track,
            correlation=correlation,
            queued_ns=np.where(queued > 0, queued - self.origin, -1),
            site=np.array([sites.get(number, -1) for number in correlation.tolist()], dtype="i4"),
            arg=self._details(label),
            **self._columns(label),
        )

    def _add_user(self, tracks: Mapping[int, int]) -> None:
        """Add what the program marked: events under its thread, counters under their domain."""
        counters: dict[str, int] = {}
        for block in self.blocks:
            marks = block.user[block.user[:, 3] != SAMPLE]
            if len(marks):
                start, end, label, kind = (marks[:, i] for i in range(4))
                lines = self.recording.config.lines
                self.builder.add_events(
                    start_ns=start - self.origin,
                    dur_ns=end - start,
                    kind=kind,
                    track=tracks[id(block)],
                    site=self._sites(marks[:, 5:]) if lines else -1,
                    arg=self._details(label),
                    **self._columns(label),
                )
            samples = block.user[block.user[:, 3] == SAMPLE]
            for number in np.unique(samples[:, 2]):
                told, rows = self.recorder.labels[int(number)], samples[samples[:, 2] == number]
                track = counters.get(told.domain)
                if track is None:
                    track = counters[told.domain] = self.builder.track(
                        told.domain, role="counter", order=950
                    )
                self.builder.add_counters(
                    time_ns=rows[:, 0] - self.origin,
                    track=track,
                    name=self.builder.string(told.name),
                    value=rows[:, 4].copy().view(np.float64),
                )

    def _link(
        self,
        call_rows: NDArray[Any],
        call_ids: NDArray[Any],
        call_labels: NDArray[Any],
        operator_rows: NDArray[Any],
        operator_ids: NDArray[Any],
    ) -> None:
        """Add launch flows (call to operator) and wait flows (operator to wait)."""
        order = np.argsort(operator_ids, kind="stable")
        ids, rows = operator_ids[order], operator_rows[order]
        if not len(ids):
            return
        at = np.minimum(np.searchsorted(ids, call_ids), len(ids) - 1)
        found = (call_ids >= 0) & (ids[at] == call_ids)
        waits = self._is_wait(call_labels)
        launch, wait = found & ~waits, found & waits
        self.builder.add_flows(call_rows[launch], rows[at[launch]], "launch")
        self.builder.add_flows(rows[at[wait]], call_rows[wait], "read_after_write")

    def _sites(self, places: I64Array) -> NDArray[Any]:
        """Return rows of the sites table for code and offset, shape (n,), -1 where unknown."""
        codes, offsets = places.T
        key = codes * (1 << 32) + offsets
        used, inverse = np.unique(key, return_inverse=True)
        rows = [self._site(int(number >> 32), int(number & 0xFFFFFFFF)) for number in used]
        return np.array(rows, dtype=np.int32)[inverse] if len(used) else np.empty(0, np.int32)

    def _site(self, code_number: int, offset: int) -> int:
        if code_number < 0:
            return -1
        file, line, function, text = self.recorder.codes.place(code_number, offset)
        source = self.sources.get(file)
        if source is not None:
            text = source[line - 1].strip() if 0 < line <= len(source) else None
        return self._row((file, line, function, text))

    def _row(self, line: Line) -> int:
        row = self.builder.site(*line)
        self.lines[row] = line
        return row

    def _api_counters(self) -> None:
        """Derive MXNet's two counters: calls so far, and calls running at the same time."""
        api = [
            block.calls[
                self._columns(block.calls[:, 2])["domain"] == self.builder.string(API_TRACK)
            ]
            for block in self.blocks
        ]
        calls = np.concatenate(api) if api else np.empty((0, len(CALL_FIELDS)), np.int64)
        if not len(calls):
            return
        track = self.builder.track(API_TRACK, role="counter", order=1_000)
        begun = np.sort(calls[:, 0])
        self.builder.add_counters(
            time_ns=begun - self.origin,
            track=track,
            name=self.builder.string("MXNet C API Calls"),
            value=np.arange(1, len(begun) + 1) + self.carry.calls,
        )
        self.carry.calls += len(begun)
        times = np.concatenate([calls[:, 0], calls[:, 1]])
        change = np.repeat([1, -1], len(calls))
        # Where one call ends as another begins, the end counts first.
        order = np.lexsort((change, times))
        self.builder.add_counters(
            time_ns=times[order] - self.origin,
            track=track,
            name=self.builder.string("MXNet C API Concurrency"),
            value=np.maximum(np.cumsum(change[order]), 0),
        )

    def _memory_counters(self) -> None:
        """Derive bytes in use per device since the profile began, never below 0."""
        memory = np.concatenate([block.memory_changes() for block in self.blocks] or [_NO_MEMORY])
        for device in np.unique(memory[:, 1]):
            rows = memory[memory[:, 1] == device]
            rows = rows[np.argsort(rows[:, 0], kind="stable")]
            label = self.recorder.labels[int(device)]
            self.builder.add_counters(
                time_ns=rows[:, 0] - self.origin,
                track=self.builder.track(
                    label.name, role="counter", device=label.domain, order=900
                ),
                name=self.builder.string(label.name),
                value=self.carry.in_use(int(device), rows[:, 2]),
                unit=self.builder.string("B"),
            )


class _Kept:
    """Which records stay within the limit: the earliest, by their end, of those that are wanted."""

    def __init__(self, blocks: list[Block], recording: Recording) -> None:
        config = recording.config
        calls = [block.calls[:, 1] for block in blocks] if config.api else []
        operators = [block.operators[:, 2] for block in blocks] if config.operators else []
        ends = np.concatenate([*calls, *operators, np.empty(0, np.int64)])
        keep = np.ones(len(ends), dtype=bool)
        if recording.lost_since is not None:
            keep = ends < recording.lost_since
        if len(ends) > config.max_events:
            keep[np.argsort(ends, kind="stable")[config.max_events :]] = False
        self.lost = recording.lost + int((~keep).sum())
        masks = np.split(keep, np.cumsum([len(part) for part in (*calls, *operators)]))
        names = [id(block) for block in blocks]
        self._calls = dict(zip(names, masks[: len(calls)], strict=False))
        self._operators = dict(zip(names, masks[len(calls) : -1], strict=False))

    def calls(self, block: Block) -> Any:
        return self._calls.get(id(block), slice(None))

    def operators(self, block: Block) -> Any:
        return self._operators.get(id(block), slice(None))


def _merged(blocks: list[Block]) -> list[Block]:
    """Join the blocks of each thread, hosts first, in the order in which threads appeared."""
    by_thread: dict[int, list[Block]] = {}
    for block in blocks:
        by_thread.setdefault(block.thread.order, []).append(block)
    joined = [
        Block(
            group[0].thread,
            np.concatenate([b.calls for b in group]),
            np.concatenate([b.operators for b in group]),
            np.concatenate([b.memory for b in group]),
            np.concatenate([b.user for b in group]),
        )
        for group in by_thread.values()
    ]
    return sorted(joined, key=lambda b: (b.thread.role != "host", b.thread.order))


def _earliest(block: Block) -> int:
    queued = block.operators[:, OPERATOR_FIELDS.index("queued")]
    times = [block.calls[:, 0], block.operators[:, 1], queued[queued > 0]]
    return min(int(t.min()) for t in [*times, block.memory[:, 0], block.user[:, 0]] if len(t))


def _latest(block: Block) -> int:
    return int(block.operators[:, OPERATOR_FIELDS.index("end")].max(initial=0))


_NO_MEMORY = np.empty((0, len(MEMORY_FIELDS)), np.int64)
_NO_ROWS = np.empty(0, np.int64)
