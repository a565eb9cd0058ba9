"""Turns what a `Recording` heard into a `Trace`.

Everything that can be derived is derived here and not recorded: lines of code from code objects,
flows from correlation numbers, the two counters of API calls from the calls themselves, memory
curves from what was taken and given back.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mxprof_nb._typing import I64Array
from mxprof_nb.record.buffer import SAMPLE, ThreadInfo
from mxprof_nb.record.calibrate import cost_of
from mxprof_nb.record.carry import Carry, Line
from mxprof_nb.record.columns import Columns, by_thread, chosen, within_limit
from mxprof_nb.record.lookup import LabelColumns, NumberLookup
from mxprof_nb.record.memory import memory_curves, with_scopes
from mxprof_nb.record.recorder import Recorder, Recording
from mxprof_nb.record.steps import STEP_DOMAIN, number_steps
from mxprof_nb.trace import Meta, Trace, TraceBuilder
from mxprof_nb.trace.schema import CATEGORIES, KINDS
from mxprof_nb.trace.tables import frozen

__all__ = ["freeze"]

API_TRACK = "MXNET_C_API"
_SPAN = KINDS.index("span")
_SYNC = CATEGORIES.index("sync")


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
        self.threads = by_thread(recording.blocks)
        self.sources = {name: text.splitlines() for name, text in sources.items()}
        first = min((begin for begin, _ in recording.windows), default=0)
        # What was late ended after the last window.
        ends = [end for _, end in recording.windows]
        last = max([0, *ends, *(one.latest_operator() for one in self.threads)])
        # Time 0 is the begin of the profile, or of the earliest thing seen in it: no time is
        # negative, which leaves -1 free for "not known".
        moments = [moment for one in self.threads if (moment := one.earliest()) is not None]
        self.origin, first, last = carry.window(min([first, *moments]), first, last)
        self.builder = TraceBuilder(
            replace(
                meta,
                origin_epoch_ns=self.recorder.clock.epoch_of(self.origin),
                window_ns=(first - self.origin, last - self.origin),
                config=recording.config.as_dict(),
            )
        )
        self._label_columns = LabelColumns(self.builder, self.recorder, self.threads)

    def trace(self) -> Trace:
        recording, builder, carry = self.recording, self.builder, self.carry
        config = recording.config
        threads, lost = within_limit(self.threads, recording)
        tracks = [self._track(one.thread) for one in threads]
        calls = [one.calls for one in threads]
        sites = [self._sites(each) if config.sites else _unknown(each) for each in calls]
        numbers = [np.array(list(carry.awaited), dtype=np.int64)]
        lines = [np.array([self._row(line) for line in carry.awaited.values()], dtype=np.int32)]
        call_rows, operator_rows = [], []
        for each, site, track in zip(calls, sites, tracks, strict=True):
            # Waits, too, carry the number of an operator.
            queues = (each["correlation"] >= 0) & ~self._is_wait(each["label"])
            numbers.append(each["correlation"][queues])
            lines.append(site[queues])
            if config.api:
                call_rows.append(self._add_calls(each, site, track))
        if config.operators:
            site_of = NumberLookup(np.concatenate(numbers), np.concatenate(lines))
            for one, track in zip(threads, tracks, strict=True):
                operator_rows.append(self._add_operators(one.operators, site_of, track))
        if call_rows and operator_rows:
            self._link(
                np.concatenate(call_rows),
                np.concatenate([each["correlation"] for each in calls]),
                np.concatenate([each["label"] for each in calls]),
                np.concatenate(operator_rows),
                np.concatenate([one.operators["correlation"] for one in threads]),
            )
        if config.operators and not carry.last:
            ran = _together([one.operators["correlation"] for one in threads], np.int64)
            carry.keep_lines(np.concatenate(numbers), np.concatenate(lines), ran, self.lines)
        self._add_user(tracks)
        if config.api:
            self._api_counters()
        if config.memory:
            self._memory_counters()
        if lost:
            builder.note(
                "capped",
                lost,
                f"{lost:,} records beyond the limit of {config.max_events:,} were counted "
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
        cost = cost_of(self.recorder, sum(map(len, recording.blocks)))
        builder.meta = replace(builder.meta, cost=cost)
        return number_steps(builder.build())

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

    def _is_wait(self, labels: I64Array) -> NDArray[np.bool_]:
        waits: NDArray[np.bool_] = self._label_columns.category[labels] == _SYNC
        return waits

    def _add_events(self, **columns: Any) -> NDArray[Any]:
        """Add events whose columns nobody changes any more."""
        for values in columns.values():
            if isinstance(values, np.ndarray):
                frozen(values)
        return self.builder.add_events(**columns)

    def _add_calls(self, calls: Columns, site: NDArray[Any], track: int) -> NDArray[Any]:
        return self._add_events(
            start_ns=calls["start"] - self.origin,
            dur_ns=calls["end"] - calls["start"],
            kind=_SPAN,
            track=track,
            correlation=calls["correlation"],
            site=site,
            **self._label_columns.of(calls["label"]),
        )

    def _add_operators(self, ran: Columns, site_of: NumberLookup, track: int) -> NDArray[Any]:
        queued, correlation = ran["queued"], ran["correlation"]
        details = self._label_columns.details(ran["label"])
        return self._add_events(
            start_ns=ran["start"] - self.origin,
            dur_ns=ran["end"] - ran["start"],
            kind=_SPAN,
            track=track,
            correlation=np.where(correlation > 0, correlation, -1),  # what was released has none
            queued_ns=np.where(queued > 0, queued - self.origin, -1),
            site=site_of.find(correlation),
            arg=with_scopes(details, ran, self.recorder.labels, self.builder),
            **self._label_columns.of(ran["label"]),
        )

    def _add_user(self, tracks: list[int]) -> None:
        """Add what the program marked: events under its thread, counters under their domain."""
        counters: dict[str, int] = {}
        for one, track in zip(self.threads, tracks, strict=True):
            samples = one.user["kind"] == SAMPLE
            marks = chosen(one.user, ~samples)
            if len(marks["start"]):
                columns = self._label_columns.of(marks["label"])
                step = columns["domain"] == self.builder.string(STEP_DOMAIN)
                step &= marks["kind"] == _SPAN
                self._add_events(
                    start_ns=marks["start"] - self.origin,
                    dur_ns=marks["end"] - marks["start"],
                    kind=marks["kind"],
                    track=track,
                    site=self._sites(marks) if self.recording.config.sites else -1,
                    arg=self._label_columns.details(marks["label"]),
                    step=np.where(step, marks["value"], -1),
                    **columns,
                )
            for number in np.unique(one.user["label"][samples]).tolist():
                told = self.recorder.labels[number]
                rows = chosen(one.user, samples & (one.user["label"] == number))
                found = counters.get(told.domain)
                if found is None:
                    found = counters[told.domain] = self.builder.track(
                        told.domain, role="counter", order=950
                    )
                self.builder.add_counters(
                    time_ns=rows["start"] - self.origin,
                    track=found,
                    name=self.builder.string(told.name),
                    value=rows["value"].view(np.float64),
                )

    def _link(
        self,
        call_rows: NDArray[Any],
        call_numbers: I64Array,
        call_labels: I64Array,
        operator_rows: NDArray[Any],
        operator_numbers: I64Array,
    ) -> None:
        """Add launch flows (call to operator) and wait flows (operator to wait)."""
        ran = operator_numbers > 0
        row_of = NumberLookup(operator_numbers[ran], operator_rows[ran])
        target = row_of.find(call_numbers)
        found, waits = target >= 0, self._is_wait(call_labels)
        launch, wait = found & ~waits, found & waits
        self.builder.add_flows(call_rows[launch], target[launch], "launch")
        self.builder.add_flows(target[wait], call_rows[wait], "read_after_write")

    def _sites(self, records: Columns) -> NDArray[np.int32]:
        """Return rows of the sites table for code and offset, shape (n,), -1 where unknown."""
        code, offset = records["code"], records["offset"]
        reach = int(offset.max(initial=-1)) + 2
        key = (code + 1) * reach + (offset + 1)
        if int(key.max(initial=0)) < 8 * len(key) + 10_000:
            # Without sorting: places are few, records many.
            occurs = np.zeros(int(key.max(initial=0)) + 1, dtype=bool)
            occurs[key] = True
            used = np.flatnonzero(occurs)
            place = (np.cumsum(occurs) - 1)[key]
        else:
            used, place = np.unique(key, return_inverse=True)
        pairs = [(number // reach - 1, number % reach - 1) for number in used.tolist()]
        rows = np.array([self._site(*pair) for pair in pairs], dtype=np.int32)
        found: NDArray[np.int32] = rows[place]
        return found

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
        domain = self.builder.string(API_TRACK)
        calls = [
            chosen(one.calls, self._label_columns.domain[one.calls["label"]] == domain)
            for one in self.threads
        ]
        # In half nanoseconds. Where one call ends as another begins, the end counts first; one
        # that was too short to be timed ends after it has begun. Each thread's are in order,
        # which a stable sort makes use of.
        begun = _together([2 * c["start"] for c in calls], np.int64)
        ended = _together([2 * c["end"] + (c["start"] == c["end"]) for c in calls], np.int64)
        begun, ended = (np.sort(each, kind="stable") for each in (begun, ended))
        if not len(begun):
            return
        add = partial(
            self.builder.add_counters,
            track=self.builder.track(API_TRACK, role="counter", order=1_000),
        )
        count = np.arange(1, len(begun) + 1)
        begin, end = begun // 2 - self.origin, ended // 2 - self.origin
        so_far = self.builder.string("MXNet C API Calls")
        add(time_ns=begin, name=so_far, value=count + self.carry.calls)
        self.carry.calls += len(begun)
        before = np.searchsorted(ended, begun, side="right")
        still = np.searchsorted(begun, ended, side="left")
        order = np.argsort(np.concatenate([ended, begun]), kind="stable")
        value = np.concatenate([still - count, count - before])
        add(
            time_ns=np.concatenate([end, begin])[order],
            name=self.builder.string("MXNet C API Concurrency"),
            value=np.maximum(value, 0)[order],
        )

    def _memory_counters(self) -> None:
        """Derive bytes in use per device, and per scope, since the profile began."""
        parts = [one.memory_changes() for one in self.threads]
        moments, labels, sizes = (
            np.concatenate([*(part[n] for part in parts), _NOTHING]) for n in range(3)
        )
        for label, time, changes in memory_curves(self.recorder.labels, moments, labels, sizes):
            self.builder.add_counters(
                time_ns=time - self.origin,
                track=self.builder.track(
                    label.name, role="counter", device=label.domain, order=900
                ),
                name=self.builder.string(label.name),
                value=self.carry.in_use(label, changes),
                unit=self.builder.string("B"),
            )


_NOTHING = np.empty(0, np.int64)


def _together(parts: list[NDArray[Any]], dtype: Any) -> NDArray[Any]:
    return np.concatenate([*parts, np.empty(0, dtype)])


def _unknown(records: Columns) -> NDArray[np.int32]:
    return np.full(len(records["start"]), -1, np.int32)
