"""A Chrome trace of any producer, on its way into a builder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import PurePath
from types import MappingProxyType
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from mxprof_nb._typing import I64Array
from mxprof_nb.errors import CorruptTraceError
from mxprof_nb.io.chrome import arrows
from mxprof_nb.io.chrome.columns import Columns
from mxprof_nb.io.chrome.counters import add_counters
from mxprof_nb.io.chrome.document import Document
from mxprof_nb.io.chrome.faults import Faults
from mxprof_nb.io.chrome.microseconds import InexactError
from mxprof_nb.io.chrome.producers import CATEGORIES, HOUSEKEEPING, add_launches
from mxprof_nb.io.chrome.rows import Rows
from mxprof_nb.io.chrome.samples import Frames, Sample, samples_beside
from mxprof_nb.io.chrome.tracks import Labels, add_tracks
from mxprof_nb.io.content import Progress
from mxprof_nb.io.limits import Limits
from mxprof_nb.trace import Meta, Trace, TraceBuilder, schema

__all__ = ["ForeignTrace"]

_INSTANT = schema.KINDS.index("instant")


class ForeignTrace:
    """Reads one file.

    Parameters
    ----------
    file : file object
        At its begin, and able to go back there.
    size : int
        How many bytes it has, 0 when not known.
    path : str
        For messages and the title.
    limits : Limits
    progress : callable, optional
    """

    def __init__(
        self,
        file: IO[bytes],
        size: int,
        path: str,
        limits: Limits,
        progress: Progress | None = None,
    ) -> None:
        self.path = path
        self.faults = Faults()
        self.builder = TraceBuilder()
        self._document = Document(file, path, limits, self.faults)
        self._size = size
        self._progress = progress
        self.columns = Columns(self.builder, limits, self.faults, path)

    @property
    def extras(self) -> dict[str, Any]:
        """What stands beside the events."""
        return self._document.extras

    def read(self) -> None:
        """Take all events out of the text."""
        first = 0
        for events in self._document.blocks():
            try:
                self.columns.take(events, first)
            except InexactError:
                self.columns.take(self._document.again(), first)
            first = self._document.rows
            if self._progress is not None and self._document.done != self._size:
                self._progress(
                    f"Decoding {PurePath(self.path).name}", self._document.done, self._size
                )
        if first and not self.columns.has_events:
            raise CorruptTraceError.at(
                self.path,
                "event 0",
                "none of its entries has a phase of the format: this is no Chrome trace.",
                "mxprof_nb.list_readers() names the formats that can be read.",
            )
        self._document.close()
        self.columns.finish()

    def build(self) -> Trace:
        """Return the trace of what was read."""
        columns, builder = self.columns, self.builder
        rows = Rows(columns, builder, self.faults)
        frames = Frames(self.extras.get("stackFrames"), self.faults)
        beside = list(samples_beside(self.extras, frames, self.faults))
        numbers = [columns.threads[sample.pid, sample.tid] for sample in beside]
        labels, others = self._labels()
        tracks, counter_tracks = self._tracks(rows, numbers, labels)
        self._add_rows(rows, tracks, frames)
        for sample, number in zip(beside, numbers, strict=True):
            self._add_sample(sample, int(tracks[number]))
        add_counters(builder, columns, rows.usable, counter_tracks)
        launched = add_launches(
            builder, columns.cat[rows.place], rows.start, self._correlation(rows)
        )
        arrows.add_arrows(builder, columns, rows, tracks, launched, self.faults)
        builder.meta = self._meta(others, rows.twins)
        for note in self.faults.notes():
            builder.note(note.code, note.count, note.message)
        return builder.build()

    def _meta(self, others: list[dict[str, Any]], twins: int) -> Meta:
        extra = dict(self.extras)
        if others:
            extra["metadata_events"] = others
        if twins:
            extra["operators_written_twice"] = twins
        base = extra.get("baseTimeNanoseconds")  # PyTorch: the Unix time of its time 0
        return Meta(
            title="" if self.path.startswith("<") else PurePath(self.path).name,
            origin_epoch_ns=base if type(base) is int and 0 <= base < 2**63 else -1,
            extra=MappingProxyType(extra),
        )

    # Tracks

    def _labels(self) -> tuple[Labels, list[dict[str, Any]]]:
        labels, others = Labels(), []
        for row, name, pid, tid, args in self.columns.metadata:
            ids = _id_text(pid), _id_text(tid)
            try:
                if not labels.take(name, *ids, args):
                    others.append({"name": name, "pid": ids[0], "tid": ids[1], "args": args})
            except ValueError:
                self.faults.add("bad_label", f"event {row}")
        return labels, others

    def _tracks(
        self, rows: Rows, more: list[int], labels: Labels
    ) -> tuple[NDArray[np.int32], Mapping[int, int]]:
        """Return tracks by number of the thread, and those of counters."""
        columns = self.columns
        texts = [(_id_text(pid), _id_text(tid)) for pid, tid in columns.threads]
        thread = columns.thread[rows.place]
        first = np.full(len(texts), len(thread))
        first[thread[::-1]] = np.arange(len(thread))[::-1]  # of equal ones the last is kept
        order = np.argsort(first)[: np.count_nonzero(first < len(thread))]
        used = [texts[number] for number in order.tolist()]
        used += [texts[number] for number in more]
        points = np.array(sorted({*columns.samples[0]}), dtype=np.intp)
        threads = list(dict.fromkeys(columns.thread[points].tolist()))
        counted = dict.fromkeys(texts[number][0] for number in threads)
        by_thread, by_process = add_tracks(self.builder, dict.fromkeys(used), counted, labels)
        tracks = np.array([by_thread.get(text, -1) for text in texts] or [-1], dtype=np.int32)
        return tracks, {number: by_process[texts[number][0]] for number in threads}

    # Rows

    def _add_rows(self, rows: Rows, tracks: NDArray[np.int32], frames: Frames) -> None:
        columns, builder = self.columns, self.builder
        cat = columns.cat[rows.place]
        name = columns.name[rows.place]
        of_cat = {
            code: schema.CATEGORIES.index(CATEGORIES.get(builder.text_of(code), "user"))
            for code in np.unique(cat).tolist()
        }
        table = np.zeros(max(of_cat, default=0) + 1, dtype=np.int8)
        for code, category in of_cat.items():
            table[code] = category
        category = table[cat]
        housekeeping = [builder.string(text) for text in HOUSEKEEPING]
        own = np.isin(name, housekeeping) & (cat == builder.string("operator"))
        category[own] = schema.CATEGORIES.index("engine")
        builder.add_events(
            start_ns=rows.start,
            dur_ns=rows.dur,
            kind=rows.kind,
            name=name,
            category=category,
            domain=cat,
            track=tracks[columns.thread[rows.place]],
            correlation=self._correlation(rows),
            arg=self._args(rows, frames),
        )

    def _correlation(self, rows: Rows) -> I64Array:
        places, numbers = self.columns.correlations
        found = np.full(len(self.columns), -1, dtype=np.int64)
        found[places] = numbers
        return found[rows.place]

    def _args(self, rows: Rows, frames: Frames) -> NDArray[Any]:
        """Return the rows of arguments; those of begin and end become one text."""
        columns = self.columns
        found: NDArray[Any] = columns.arg[rows.place]
        halves = np.array(list(columns.args), dtype=np.intp)
        told: list[bytes] = []
        which: list[int] = []
        if len(halves):
            has = np.isin(rows.place, halves) | np.isin(rows.end_place, halves)
            for row in np.flatnonzero(has).tolist():
                begin = columns.args.get(int(rows.place[row]), b"")
                end = columns.args.get(int(rows.end_place[row]), b"")
                told.append(_merged(begin, end))
                which.append(row)
        for place, frame in columns.frames.items():
            row = int(np.searchsorted(rows.place, place))
            stack = frames.stack(frame, f"event {int(columns.row[place])}")
            if stack and row < len(found) and rows.place[row] == place and found[row] < 0:
                told.append(json.dumps({"stack": stack}).encode())
                which.append(row)
        if told:
            found[which] = self.builder.add_raw_args(told) + np.arange(len(told))
        return found

    def _add_sample(self, sample: Sample, track: int) -> None:
        self.builder.event(
            sample.name,
            track=track,
            start_ns=sample.time_ns,
            kind="instant",
            domain="sample",
            arg=self.builder.arg(raw=sample.args),
        )


def _id_text(value: int | str | None) -> str | None:
    return None if value is None else str(value)


def _merged(begin: bytes, end: bytes) -> bytes:
    """Return the arguments of a begin and its end as one JSON text; the end's win."""
    if end in (b"", b"{}"):
        return begin
    if begin in (b"", b"{}"):
        return end
    if begin.startswith(b"{") and end.startswith(b"{"):
        return b"%b,%b" % (begin[:-1].rstrip(), end[1:].lstrip())
    return b"[%b,%b]" % (begin, end)
