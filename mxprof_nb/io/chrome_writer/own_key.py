"""What a Chrome trace of ours says beyond the format: one object beside its events.

Viewers ignore keys they do not know. Ours holds the facts about the whole trace, the tracks and
the source lines, so that reading what was written gives the same trace again.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from mxprof_nb._typing import I64Array
from mxprof_nb.errors import CorruptTraceError, SchemaError, UnsupportedVersionError
from mxprof_nb.trace import Cost, Health, HealthNote, Meta, Trace, TraceBuilder, schema

__all__ = [
    "AS_PLAIN",
    "KEY",
    "VERSION",
    "described",
    "facts",
    "restored",
    "sites",
    "tracks",
    "zero_ns",
]

#: Where the object stands in the trace.
KEY = "mxprof"
#: What to do with a file whose object of ours cannot be used.
AS_PLAIN = f"Remove the key {KEY!r}: what is left is a plain Chrome trace."
#: Raised when readers of the old version would misread the new one.
VERSION = 1


def described(
    trace: Trace,
    ids: Sequence[tuple[int, int]],
    lanes: Sequence[Sequence[int]] = (),
    zero_ns: int = 0,
) -> dict[str, Any]:
    """Return what `restored` needs, as plain data.

    Parameters
    ----------
    trace : Trace
    ids : list of tuple of int
        Process and thread number under which each track's events are written.
    lanes : sequence of pairs of int
        Further threads, each with the first of its track.
    zero_ns : int
        The time that the events of the file tell as 0; at most 0.
    """
    return {
        "version": VERSION,
        "events": len(trace.events),
        "zero_ns": zero_ns,
        **facts(trace),
        "tracks": [
            {"pid": pid, "tid": tid, **track}
            for (pid, tid), track in zip(ids, tracks(trace), strict=True)
        ],
        "lanes": list(lanes),
        "sites": list(sites(trace)),
    }


def facts(trace: Trace) -> dict[str, Any]:
    """Return what is known about a trace as a whole, as plain data."""
    meta = trace.meta
    return {
        "meta": {
            "origin_epoch_ns": meta.origin_epoch_ns,
            "window_ns": meta.window_ns,
            "returned_ns": meta.returned_ns,
            "title": meta.title,
            "source": meta.source,
            "source_file": meta.source_file,
            "backend": meta.backend,
            "status": meta.status,
            "error": meta.error,
            "pending": meta.pending,
            "cost": None
            if meta.cost is None
            else [meta.cost.total_ns, meta.cost.records, meta.cost.per_record_ns],
            "config": plain(meta.config),
            "versions": plain(meta.versions),
            "history": list(meta.history),
            "extra": plain(meta.extra),
        },
        "health": [[note.code, note.count, note.message] for note in trace.health.notes],
    }


def tracks(trace: Trace) -> Iterator[dict[str, Any]]:
    """Yield every track with its columns, as plain data."""
    columns = list(trace.tracks.columns())
    for row in range(len(trace.tracks)):
        yield {column.name: _said(column, int(values[row]), trace) for column, values in columns}


def sites(trace: Trace) -> Iterator[list[Any]]:
    """Yield the columns of every line of code, as plain data."""
    columns = list(trace.sites.columns())
    for row in range(len(trace.sites)):
        yield [_said(column, int(values[row]), trace) for column, values in columns]


def _said(column: schema.Column, value: int, trace: Trace) -> int | str | None:
    """Return a value of a table with texts instead of codes."""
    if column.coding == "string":
        return trace.strings[value] if value >= 0 else None
    return schema.LISTS[column.coding][value] if column.coding else value


def plain(value: Any) -> Any:
    """Return data that JSON can hold: numbers that are not finite become None."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset, np.ndarray)):
        return [plain(item) for item in value]
    return str(value)


def restored(
    own: Mapping[str, Any], path: str
) -> tuple[TraceBuilder, dict[tuple[str | None, str | None], int]]:
    """Return a builder that holds the facts, tracks and lines, and the tracks by their ids.

    Parameters
    ----------
    own : Mapping
        What `described` returned.
    path : str
        For messages.

    Returns
    -------
    builder : TraceBuilder
        Sites have the rows they had.
    tracks : dict
        Row of the track by process and thread number as text.

    Raises
    ------
    UnsupportedVersionError
        A later release of mxprof_nb wrote it.
    CorruptTraceError
        It is not what `described` returns.
    """
    version = own.get("version")
    if isinstance(version, int) and version > VERSION:
        raise UnsupportedVersionError.at(
            path,
            f"key {KEY!r}",
            f"it is in version {version}, and this release reads up to {VERSION}.",
            f"Update mxprof-nb. {AS_PLAIN}",
        )
    try:
        builder = TraceBuilder(_meta(own["meta"]))
        builder.health = Health(tuple(HealthNote(*note) for note in own["health"]))
        tracks: dict[tuple[str | None, str | None], int] = {}
        for track in own["tracks"]:
            fields = dict(track)
            key = (str(fields.pop("pid")), str(fields.pop("tid")))
            tracks[key] = builder.track(**fields)
        first = {tid: (pid, row) for (pid, tid), row in tracks.items()}
        for tid, of in own.get("lanes", ()):  # files of before lack them
            pid, row = first[str(of)]
            tracks[pid, str(tid)] = row
        file, line, function, text = zip(*own["sites"], strict=True) if own["sites"] else [()] * 4
        builder.add_sites(
            file=builder.strings(file),
            line=line,
            function=builder.strings(function),
            text=[-1 if said is None else builder.string(said) for said in text],
        )
    except (KeyError, TypeError, ValueError, AttributeError, SchemaError) as cause:
        raise CorruptTraceError.at(
            path,
            f"key {KEY!r}",
            f"it does not hold what mxprof_nb writes there ({type(cause).__name__}: {cause}).",
            AS_PLAIN,
        ) from cause
    return builder, tracks


def zero_ns(own: Mapping[str, Any], path: str, start: I64Array) -> int:
    """Return the time that the events of a file tell as 0.

    Parameters
    ----------
    own : Mapping
        What `described` returned.
    path : str
        For messages.
    start : array of int64
        What the events tell.

    Raises
    ------
    CorruptTraceError
        It is not what `described` tells, or leaves an event without a time.
    """
    told = own.get("zero_ns", 0)  # files of before lack it
    earliest = min(int(start.min(initial=0)), 0)
    if type(told) is not int or not -(2**63) - earliest <= told <= 0:
        raise CorruptTraceError.at(
            path, f"key {KEY!r}", f"zero_ns cannot be {told!r:.60}.", AS_PLAIN
        )
    return told


def _meta(told: Mapping[str, Any]) -> Meta:
    fields = dict(told)
    for name in ("config", "versions", "extra"):
        fields[name] = MappingProxyType(fields[name])
    fields["window_ns"] = tuple(fields["window_ns"]) if fields["window_ns"] else None
    fields["history"] = tuple(fields["history"])
    fields["cost"] = Cost(*fields["cost"]) if fields["cost"] else None
    return Meta(**fields)
