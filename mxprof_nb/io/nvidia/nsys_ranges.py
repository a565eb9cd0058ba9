"""The NVTX ranges, marks and names of an Nsight Systems database."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from mxprof_nb._typing import I64Array
from mxprof_nb.io.nvidia.activities import Activities, Texts
from mxprof_nb.io.nvidia.database import UNKNOWN, Database
from mxprof_nb.io.nvidia.nsys_tracks import NsysTracks
from mxprof_nb.trace import TraceBuilder, schema

__all__ = ["DEFAULT_DOMAIN", "Ranges", "domain_name"]

_TABLE = "NVTX_EVENTS"
_PUSHED, _STARTED, _MARKS = (59, 70), (60, 71), (34, 65)
_CATEGORY_NAME, _THREAD_NAME, _DOMAIN_NAME = 33, 39, 75
#: Other kinds that hold nothing to show: ends of domains, names of devices, contexts, streams.
_SILENT = (76, 97, 98, 99)
_USER = schema.CATEGORIES.index("user")
#: What ranges belong to whose program named no domain.
DEFAULT_DOMAIN = "NVTX"
_PAYLOAD = ("uint64Value", "int64Value", "uint32Value", "int32Value", "doubleValue", "floatValue")


def domain_name(name: str) -> str:
    """Return the domain in a trace of a domain of NVTX."""
    return f"{DEFAULT_DOMAIN}/{name}" if name else DEFAULT_DOMAIN


class Ranges:
    """The rows of ``NVTX_EVENTS``: read at once, added when the tracks are known."""

    def __init__(self, database: Database, builder: TraceBuilder) -> None:
        self.builder = builder
        self._columns: dict[str, I64Array] = {}
        if _TABLE not in database or database.lacks(_TABLE, "start", "eventType"):
            return
        self._columns = database.integers(
            _TABLE, "start", "end", "eventType", "globalTid", "endGlobalTid", "domainId",
            "category", "textId", "jsonTextId",
        )  # fmt: skip
        cells = database.cells(_TABLE, "text", _PAYLOAD, "jsonText")
        self._strings = database.texts("StringIds", "id", "value")
        referred = self._columns["textId"].tolist()
        self._names = [
            text if isinstance(text, str) else self._strings.get(number, "")
            for (text, _, _), number in zip(cells, referred, strict=True)
        ]
        self._payloads = {
            row: (payload, text)
            for row, (_, payload, text) in enumerate(cells)
            if payload is not None or text is not None
        }
        for row in np.flatnonzero(self._columns["jsonTextId"] > UNKNOWN).tolist():
            payload = self._payloads.get(row, (None, None))[0]
            told = self._strings.get(int(self._columns["jsonTextId"][row]))
            self._payloads[row] = (payload, told)

    def _rows(self, *kinds: int) -> I64Array:
        if not self._columns:
            return np.empty(0, np.int64)
        return np.flatnonzero(np.isin(self._columns["eventType"], kinds)).astype(np.int64)

    def threads(self) -> I64Array:
        """Return the threads of all that is shown."""
        rows = self._rows(*_PUSHED, *_STARTED, *_MARKS)
        return self._columns["globalTid"][rows] if len(rows) else np.empty(0, np.int64)

    def latest(self) -> int:
        """Return the latest time of them, in ns."""
        if not self._columns:
            return 0
        times = np.concatenate([self._columns["start"], self._columns["end"]])
        return int(times[np.abs(times) < 2**60].max(initial=0))

    def thread_names(self) -> dict[int, str]:
        """Return the names that the program gave to threads."""
        rows = self._rows(_THREAD_NAME).tolist()
        named = {int(self._columns["globalTid"][row]): self._names[row][:100] for row in rows}
        return {thread: name for thread, name in named.items() if name}

    def add(
        self, activities: Activities, tracks: NsysTracks, texts: Texts, horizon_ns: int
    ) -> None:
        """Add ranges and marks; ranges without end last until ``horizon_ns``."""
        if not self._columns:
            return
        columns = self._columns
        rows = self._rows(*_PUSHED, *_STARTED)
        start, end = columns["start"][rows], columns["end"][rows]
        is_open = (end == UNKNOWN) & (start > UNKNOWN)
        if count := int(is_open.sum()):
            told = "1 range of NVTX" if count == 1 else f"{count:,} ranges of NVTX"
            self.builder.note(
                "open_range", count, f"{told} had not ended; shown until the end of the trace."
            )
            end = np.where(is_open, np.maximum(start, horizon_ns), end)
        thread, ends_on = columns["globalTid"][rows], columns["endGlobalTid"][rows]
        if len(rows):
            activities.add_ranges(
                _TABLE,
                start,
                end,
                names=[self._names[row] or "(unnamed)" for row in rows.tolist()],
                track=tracks.of_threads(thread),
                free=np.isin(columns["eventType"][rows], _STARTED),
                apart=(ends_on > 0) & (ends_on != thread),
                domain=self._domains(rows),
                arg=self._args(rows),
            )
        rows = self._rows(*_MARKS)
        if len(rows):
            names = [self._names[row] or "(unnamed)" for row in rows.tolist()]
            activities.add(
                _TABLE,
                columns["start"][rows],
                columns["start"][rows],
                name=np.array(self.builder.strings(names), dtype=np.int64),
                track=tracks.of_threads(columns["globalTid"][rows]),
                kind=schema.KINDS.index("instant"),
                category=_USER,
                domain=self._domains(rows),
                arg=self._args(rows),
            )
        known = (*_PUSHED, *_STARTED, *_MARKS, _CATEGORY_NAME, _THREAD_NAME, _DOMAIN_NAME, *_SILENT)
        if left := len(columns["start"]) - len(self._rows(*known)):
            told = "1 row" if left == 1 else f"{left:,} rows"
            self.builder.note(
                "passed_over", left, f"{told} of table {_TABLE} of other kinds are not shown."
            )

    def _named(self, kind: int, number: str) -> dict[tuple[int, ...], str]:
        """Return names of domains or categories, by process, domain and number."""
        columns = self._columns
        found: dict[tuple[int, ...], str] = {}
        for row in self._rows(kind).tolist():
            process = int(columns["globalTid"][row]) >> 24
            key = (process, int(columns["domainId"][row]), int(columns[number][row]))
            found[key] = self._names[row]
        return found

    def _domains(self, rows: I64Array) -> I64Array:
        names = self._named(_DOMAIN_NAME, "domainId")
        process, domain = self._columns["globalTid"][rows] >> 24, self._columns["domainId"][rows]
        codes: dict[tuple[int, int], int] = {}
        found = np.empty(len(rows), dtype=np.int64)
        for at, key in enumerate(zip(process.tolist(), domain.tolist(), strict=True)):
            code = codes.get(key)
            if code is None:
                name = names.get((*key, key[1]), "")
                if not name and key[1] > 0:
                    name = f"domain {key[1]}"
                code = codes[key] = self.builder.string(domain_name(name))
            found[at] = code
        return found

    def _args(self, rows: I64Array) -> I64Array:
        """Add payloads and categories as arguments; return their rows, -1 for none."""
        found = np.full(len(rows), -1, dtype=np.int64)
        categories = self._named(_CATEGORY_NAME, "category")
        if not self._payloads and not categories:
            return found
        columns, known = self._columns, {}
        for at, row in enumerate(rows.tolist()):
            payload, text = self._payloads.get(row, (None, None))
            process = int(columns["globalTid"][row]) >> 24
            key = (process, int(columns["domainId"][row]), int(columns["category"][row]))
            told: dict[str, Any] = {}
            if key in categories:
                told["nvtx_category"] = categories[key]
            if isinstance(payload, int | float):
                told["payload"] = payload if math.isfinite(payload) else str(payload)
            if isinstance(text, str):
                told["payload_text"] = text
            if told:
                raw = json.dumps(told)
                if raw not in known:
                    known[raw] = self.builder.arg(raw=raw)
                found[at] = known[raw]
        return found
