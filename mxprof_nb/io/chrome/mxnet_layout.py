"""Reads what `mxprof_nb.io.chrome_writer.mxnet_layout` writes, also where the end is missing.

Unlike a foreign file, each operator becomes one event, times count from the origin of the first
piece, and what stands in ``args`` finds its column again. Flows between calls, operators and
waits follow from the numbers that tie them together, as when they were recorded.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from mxprof_nb._typing import I64Array
from mxprof_nb.errors import CorruptTraceError, UnsupportedVersionError
from mxprof_nb.io.chrome.checked import Checked, Thread
from mxprof_nb.io.chrome.events import REWRITE, ChromeFile, OwnArgs
from mxprof_nb.io.chrome.own_layout import Reading
from mxprof_nb.io.chrome.times import thousandths
from mxprof_nb.io.chrome_writer import own_key
from mxprof_nb.io.chrome_writer.mxnet_families import usual
from mxprof_nb.io.chrome_writer.mxnet_layout import LAYOUT, PIECE
from mxprof_nb.trace import TraceBuilder, schema

__all__ = ["MxnetReading", "prepared"]

_BEGIN = {"E": "B", "e": "b"}
_SPECIAL = {text: float(text) for text in ("nan", "inf", "-inf")}


def prepared(file: ChromeFile, is_cut: bool) -> Checked:
    """Return a file whose pieces were put together.

    Parameters
    ----------
    file : ChromeFile
    is_cut : bool
        Whether its end is missing, and begins may lack theirs.

    Raises
    ------
    CorruptTraceError
        A piece does not hold what the writer writes there, or an event breaks a rule.
    UnsupportedVersionError
        A later release of mxprof_nb wrote it.
    """
    own = file.own or {}
    if own.get("layout") != LAYOUT or own.get("version") != own_key.VERSION:
        raise UnsupportedVersionError.at(
            file.path,
            f"key {own_key.KEY!r}",
            f"layout {own.get('layout')!r} in version {own.get('version')!r} is not known.",
            f"Update mxprof-nb. {own_key.AS_PLAIN}",
        )
    halves = _leave_out_halves(file) if is_cut else 0
    try:
        whole = _joined([piece for piece in map(_Piece(file), range(len(file.events))) if piece])
    except (KeyError, TypeError, ValueError, IndexError) as cause:
        raise CorruptTraceError.at(
            file.path,
            f"metadata events {PIECE!r}",
            f"they do not hold what mxprof_nb writes there ({type(cause).__name__}: {cause}).",
            own_key.AS_PLAIN,
        ) from cause
    if is_cut:
        what = f", and {halves:,} events lack theirs; these are left out." if halves else "."
        said = f"The end of the file is missing{what} If a spool lies beside it, that has more."
        whole["health"].append(["no_end", halves, said])
    return _Checked(replace(file, own=whole))


class _Checked(Checked):
    """Knows that all times have three decimals, which spares counting digit by digit."""

    def _times(self) -> tuple[I64Array, I64Array]:
        timed = [row for row, event in enumerate(self.events) if event.ts is not None]
        found = thousandths(bytes(self.file.json), [self.events[row].ts for row in timed])
        if found is None:
            return super()._times()
        start = np.zeros(len(self.events), dtype=np.int64)
        start[timed] = found
        return start, np.zeros_like(start)


class _Piece:
    """Returns what an event says if it begins a piece."""

    def __init__(self, file: ChromeFile) -> None:
        self._file = file

    def __call__(self, row: int) -> dict[str, Any] | None:
        event = self._file.events[row]
        if event.ph != "M" or event.name != PIECE:
            return None
        told = self._file.plain(row, event.args)
        if not isinstance(told, dict):
            raise TypeError("the arguments are no object")
        return told


def _leave_out_halves(file: ChromeFile) -> int:
    """Turn begins whose end is missing into metadata that nobody reads; return how many."""
    opened: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for row, event in enumerate(file.events):
        if event.ph in ("B", "b"):
            opened[event.pid, event.tid, event.ph].append(row)
        elif event.ph in _BEGIN and (stack := opened[event.pid, event.tid, _BEGIN[event.ph]]):
            stack.pop()
    left = [row for stack in opened.values() for row in stack]
    for row in left:
        file.events[row].ph, file.events[row].name = "M", ""
    return len(left)


def _joined(pieces: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return what `own_key.restored` takes, and where time 0 is, from all pieces."""
    if not pieces:
        facts = own_key.facts(TraceBuilder().build())
        return {**facts, "tracks": [], "sites": [], "clock_ns": 0, "tids": {}}
    first, last = pieces[0], pieces[-1]
    if not all(
        type(piece["clock_ns"]) is int and 0 <= piece["clock_ns"] < 2**63 for piece in pieces
    ):
        raise ValueError("clock_ns is no time")
    meta = dict(first["meta"])
    for name in ("returned_ns", "status", "error", "pending"):
        meta[name] = last["meta"][name]
    if meta["window_ns"] and last["meta"]["window_ns"]:
        shift = last["clock_ns"] - first["clock_ns"]
        meta["window_ns"] = [meta["window_ns"][0], last["meta"]["window_ns"][1] + shift]
    costs = [piece["meta"]["cost"] for piece in pieces if piece["meta"]["cost"]]
    if costs:
        meta["cost"] = [sum(c[0] for c in costs), sum(c[1] for c in costs), costs[-1][2]]
    tracks = [track for piece in pieces for track in piece["tracks"]]
    rows = {track["tid"]: row for row, track in enumerate(tracks)}
    lanes = {tid: rows[first] for piece in pieces for tid, first in piece["lanes"]}
    return {
        "meta": meta,
        "health": _notes(pieces),
        "tracks": [{"pid": 0, **track} for track in tracks],
        "sites": [site for piece in pieces for site in piece["sites"]],
        "clock_ns": first["clock_ns"],
        "tids": {str(tid): row for tid, row in (rows | lanes).items()},
    }


def _notes(pieces: Sequence[dict[str, Any]]) -> list[Any]:
    """Return what is less than perfect; what a later piece says again it says of all before it."""
    notes: list[Any] = []
    for piece in pieces:
        again = {note[0] for note in piece["health"]}
        notes = [note for note in notes if note[0] not in again] + piece["health"]
    return notes


class MxnetReading(Reading):
    """A file in this layout on its way into a builder."""

    def __init__(self, checked: Checked) -> None:
        super().__init__(checked)
        own = checked.file.own or {}
        self._rows: dict[str, int] = own["tids"]
        checked.start -= own["clock_ns"]
        # A begin without arguments is the second one of an operator.
        self.slices = [row for row in self.slices if bytes(self.events[row].args)]
        decode = msgspec.json.Decoder(OwnArgs).decode
        for row in self.slices:
            try:
                self.events[row].args = decode(self.events[row].args)
            except (msgspec.DecodeError, ValueError) as cause:
                raise self.file.corrupt(row, f"its args: {cause}.", REWRITE) from cause

    def _tracks(
        self, of_slices: Sequence[Thread]
    ) -> tuple[Mapping[Thread, int], Mapping[Any, int]]:
        """Return tracks by thread, those of slices and of counters."""
        checked = self.checked
        threads = {*of_slices, *checked.threads(checked.by_phase["C"])[0]}
        known: dict[Thread, int] = {}
        for pid, tid in threads:
            if tid not in self._rows:
                raise CorruptTraceError.at(
                    self.file.path, "", f"no piece tells what thread {tid} is.", own_key.AS_PLAIN
                )
            known[pid, tid] = self._rows[tid or ""]
        return known, known

    def _sorts(self, chosen: Sequence[Any]) -> dict[str, list[int]]:
        """Return kind, category and domain of events: what is usual, unless they say otherwise."""
        found: dict[tuple[str, str], tuple[int, int, int]] = {}
        columns: dict[str, list[int]] = {"kind": [], "category": [], "domain": []}
        for event in chosen:
            key = (event.cat, event.ph)
            if key not in found:
                domain = self.file.text(event.cat)
                usually = usual(domain, event.ph)
                found[key] = (
                    schema.KINDS.index(usually[1]),
                    schema.CATEGORIES.index(usually[0]),
                    self.builder.string(domain),
                )
            kind, category, code = found[key]
            if event.args.kind is not None:
                kind = _place(schema.KINDS, event.args.kind, kind)
            if event.args.category is not None:
                category = _place(schema.CATEGORIES, event.args.category, category)
            columns["kind"].append(kind)
            columns["category"].append(category)
            columns["domain"].append(code)
        return columns

    def _added(self, rows: NDArray[Any], columns: Mapping[str, Any]) -> None:
        """Link calls to what they queued, operators mostly, and that to those who waited for it."""
        number = np.array(columns["correlation"], dtype=np.int64)
        category = np.array(columns["category"])
        code = schema.CATEGORIES.index
        kinds = [code(name) for name in ("operator", "copy", "engine", "io")]
        work = np.isin(category, kinds) & (number >= 0)
        order = np.flatnonzero(work)[np.argsort(number[work], kind="stable")]
        if not len(order):
            return
        ids = number[order]
        at = np.minimum(np.searchsorted(ids, number), len(ids) - 1)
        found = (number >= 0) & (ids[at] == number)
        calls = np.flatnonzero(found & (category == code("api")))
        waits = np.flatnonzero(found & (category == code("sync")))
        self.builder.add_flows(rows[calls], rows[order[at[calls]]], "launch")
        self.builder.add_flows(rows[order[at[waits]]], rows[waits], "read_after_write")

    def _add_counters(self, tracks: Mapping[Any, int]) -> None:
        """Add a sample for every counter event."""
        rows = self.checked.by_phase["C"]
        if not rows:
            return
        events = [self.events[row] for row in rows]
        decode = msgspec.json.Decoder(dict[str, float | None]).decode
        values = []
        for row, event in zip(rows, events, strict=True):
            try:
                (value,) = decode(event.args).values()
            except (msgspec.DecodeError, ValueError) as cause:
                raise self.file.corrupt(
                    row, f"a sample is one number ({cause}).", REWRITE
                ) from cause
            values.append(_SPECIAL.get(event.special) if value is None else value)
            if values[-1] is None:
                self.checked.refuse(row, "a sample is one number.")
        names = list(map(attrgetter("name"), events))
        memory = {name: "B" if name.startswith("Memory: ") else None for name in set(names)}
        units = [memory[e.name] if e.unit is None else e.unit for e in events]
        threads, codes = self.checked.threads(rows)
        self.builder.add_counters(
            time_ns=self.checked.start[rows],
            track=np.array([tracks[thread] for thread in threads], dtype=np.int32)[codes],
            name=self._codes(names),
            value=values,
            unit=self._codes(units),
        )


def _place(known: Sequence[str], text: str, otherwise: int) -> int:
    return known.index(text) if text in known else otherwise
