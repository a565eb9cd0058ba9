"""A trace out of a table whose columns are known: the one way for CSV, Parquet and DataFrames."""

from __future__ import annotations

import json
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mxprof_nb.errors import CorruptTraceError
from mxprof_nb.io.tables.mapping import Chosen, ColumnMap, chosen
from mxprof_nb.io.tables.numbers import is_date, texts, whole
from mxprof_nb.trace import Meta, Trace, TraceBuilder, schema

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["is_frame", "read_frame"]

#: Columns that tell one track from another, and what each is called in the tracks.
_OF_TRACK = {
    "process": "process", "track_name": "name", "thread": "thread", "device": "device",
    "backend": "backend", "pid": "pid_text", "tid": "tid_text",
}  # fmt: skip
_OF_TRACK_NUMBERS = {"rank": "rank", "track_order": "order"}
#: What a track is called, by the first of these that is there.
_NAMES = ("track_name", "thread", "tid", "device", "process", "pid")


def is_frame(source: object) -> bool:
    """Return whether something is a table in memory: of pandas, or one that can become that."""
    module = type(source).__module__.partition(".")[0]
    return (module == "pandas" and hasattr(source, "columns")) or (
        module in ("pyarrow", "polars") and hasattr(source, "to_pandas")
    )


def read_frame(
    source: Any, *, path: str = "<DataFrame>", columns: ColumnMap | None = None, comma: bool = False
) -> Trace:
    """Read a table of events.

    Parameters
    ----------
    source : pandas.DataFrame, pyarrow.Table or polars.DataFrame
    path : str
        For messages.
    columns : Mapping, optional
        Which column is what: names of the table written by ours, such as
        ``{"start_ns": ("Begin", "us"), "dur_ns": "took_ms", "name": "Operator"}``. The unit of a
        time is that in the tuple, else the one its column's name ends with. None for a column
        that is not there. What is not said is guessed from usual names.
    comma : bool
        A single comma in a number stands before decimals.

    Returns
    -------
    Trace
        Columns that have no place stand in the details of each event. Rows without begin, or
        whose times cannot be, are left out; the health counts them.

    Raises
    ------
    UnknownFormatError
        It is not clear which column is what.
    CorruptTraceError
        No row can be read.
    """
    frame = source if hasattr(source, "iloc") else source.to_pandas()
    frame = frame.reset_index(drop=True)
    if not frame.columns.is_unique:
        frame.columns = _unique([str(name) for name in frame.columns])
    return _Reading(frame, chosen(frame, columns, path), path, comma).trace()


def _unique(names: list[str]) -> list[str]:
    met: dict[str, int] = {}
    found = []
    for name in names:
        met[name] = met.get(name, 0) + 1
        found.append(name if met[name] == 1 else f"{name}.{met[name]}")
    return found


class _Reading:
    """One table on its way into a builder."""

    def __init__(self, frame: pd.DataFrame, which: Chosen, path: str, comma: bool) -> None:
        self.frame, self.which, self.path, self.comma = frame, which, path, comma
        is_absolute = is_date(frame[which.columns["start_ns"]])
        self.builder = TraceBuilder(
            Meta(
                title="" if path.startswith("<") else PurePath(path).name,
                origin_epoch_ns=0 if is_absolute else -1,
            )
        )

    def trace(self) -> Trace:
        """Return the trace."""
        start, dur, kept, is_point = self._times()
        rows = np.flatnonzero(kept)
        if not len(rows) and len(kept):
            raise CorruptTraceError.at(
                self.path,
                "",
                f"none of its {len(kept):,} rows can be read: {self.builder.health}",
                "Say which columns are what with columns=..., and the units of times.",
            )
        self.frame = self.frame.iloc[rows]
        category, domain = self._families()
        kind = self._listed("kind", schema.KINDS, "span")
        if "kind" not in self.which.columns:
            kind[is_point[rows]] = schema.KINDS.index("instant")
        instant = kind == schema.KINDS.index("instant")
        if lasting := int((instant & (dur[rows] > 0)).sum()):
            self.builder.note(
                "lasting_instant", lasting, f"{lasting:,} points in time last; taken as intervals."
            )
            kind[instant & (dur[rows] > 0)] = schema.KINDS.index("span")
        self.builder.add_events(
            start_ns=start[rows],
            dur_ns=dur[rows],
            kind=kind,
            name=self._codes("name", null=False),
            category=category,
            domain=domain,
            track=self._tracks(),
            correlation=self._numbers("correlation"),
            step=self._numbers("step", 2**31 - 1),
            queued_ns=np.maximum(self._numbers("queued_ns"), -1),
            site=self._sites(),
            arg=self._args(),
            earlier=self._numbers("earlier", 1),
        )
        return self.builder.build()

    def _times(self) -> tuple[NDArray[Any], ...]:
        """Return begins, durations, which rows can be used, and which have no duration."""
        columns = self.which.columns
        start, has_start = self._whole("start_ns")
        if "dur_ns" in columns:
            dur, has_dur = self._whole("dur_ns")
            blank = self.frame[columns["dur_ns"]].isna().to_numpy()
        else:
            end, has_dur = self._whole("end_ns")
            blank = self.frame[columns["end_ns"]].isna().to_numpy()
            with np.errstate(over="ignore"):
                dur = np.where(has_dur, end - start, 0)
            # A difference that does not fit 64 bits has the wrong sign.
            has_dur &= (dur >= 0) == (end >= start)
        with np.errstate(over="ignore"):
            fits = start + dur >= start
        bad = {
            "no_begin": (~has_start, "have no begin that is a time within 64 bits"),
            "no_duration": (
                has_start & ~has_dur & ~blank,
                "have an end or duration that is no time within 64 bits",
            ),
            "negative": (has_start & has_dur & (dur < 0), "end before they begin"),
            "beyond": (has_start & has_dur & (dur >= 0) & ~fits, "end beyond all time"),
        }
        kept = np.ones(len(start), dtype=bool)
        for code, (rows, problem) in bad.items():
            if count := int(rows.sum()):
                first = int(rows.argmax()) + 1
                message = f"Rows that {problem} are left out: {count:,}, the first is row {first}."
                self.builder.note(code, count, message)
                kept &= ~rows
        is_point = kept & blank
        if (points := int(is_point.sum())) and "kind" not in columns:
            message = f"Rows that have no duration are shown as points in time: {points:,}."
            self.builder.note("points", points, message)
        return start, np.where(is_point, 0, dur), kept, is_point

    def _whole(self, ours: str) -> tuple[NDArray[Any], NDArray[Any]]:
        scale = self.which.scales.get(ours, 1)
        return whole(self.frame[self.which.columns[ours]], scale, comma=self.comma)

    def _numbers(self, ours: str, most: int = 2**63 - 1) -> NDArray[Any]:
        """Return a column of numbers, -1 where there is none."""
        if ours not in self.which.columns:
            return np.full(len(self.frame), -1, dtype=np.int64)
        values, valid = self._whole(ours)
        return np.where(valid & (values >= 0) & (values <= most), values, -1)

    def _codes(self, ours: str, *, null: bool = True) -> NDArray[Any]:
        """Return the codes of a column of texts, -1 (or that of an empty text) where none is."""
        nothing = -1 if null else self.builder.string("")
        if ours not in self.which.columns:
            return np.full(len(self.frame), nothing, dtype=np.int32)
        return self._coded(self.frame[self.which.columns[ours]], nothing)

    def _coded(self, column: Any, nothing: int) -> NDArray[Any]:
        codes, used = _factorized(column)
        known = np.array([*self.builder.strings(used), nothing], dtype=np.int32)
        found: NDArray[Any] = known[codes]
        return found

    def _listed(self, ours: str, names: tuple[str, ...], otherwise: str) -> NDArray[Any]:
        """Return places in a closed list."""
        default = names.index(otherwise)
        if ours not in self.which.columns:
            return np.full(len(self.frame), default, dtype=np.int8)
        codes, used = _factorized(self.frame[self.which.columns[ours]])
        places = [names.index(one) if one in names else default for one in used]
        found: NDArray[Any] = np.array([*places, default], dtype=np.int8)[codes]
        return found

    def _families(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return categories and domains; what is no category of ours is a domain."""
        category = self._listed("category", schema.CATEGORIES, "user")
        domain = self._codes("domain", null=False)
        if "category" in self.which.columns and "domain" not in self.which.columns:
            codes, used = _factorized(self.frame[self.which.columns["category"]])
            other = ["" if one in schema.CATEGORIES else one for one in used]
            domain = np.array([*self.builder.strings([*other, ""])], dtype=np.int32)[codes]
        return category, domain

    def _tracks(self) -> NDArray[Any]:
        """Add the tracks and return that of each event."""
        key = [self._numbers("track", 2**31 - 1)]
        key += [self._codes(ours) for ours in _OF_TRACK]
        key += [self._numbers(ours, 2**31 - 1) for ours in _OF_TRACK_NUMBERS]
        role = self._listed("role", schema.ROLES, "host")
        used, first, which = _distinct([*key, role])
        # Numbered tracks keep their order, others come as they are met.
        order = np.lexsort((first, used[:, 0])) if len(used) else np.arange(0)
        names = [self._first_name(row) for row in first[order].tolist()]
        self.builder.add_tracks(**self._track_columns(used[order], names))
        place = np.empty(len(order), dtype=np.int32)
        place[order] = np.arange(len(order))
        found: NDArray[Any] = place[which]
        return found

    def _track_columns(self, used: NDArray[Any], names: list[str]) -> dict[str, Any]:
        columns: dict[str, Any] = {
            told: used[:, 1 + number] for number, told in enumerate(_OF_TRACK.values())
        }
        named = np.array(self.builder.strings(names), dtype=np.int64)
        columns["name"] = named
        columns["thread"] = np.where(columns["thread"] >= 0, columns["thread"], columns["name"])
        nothing = self.builder.string("")
        columns["process"] = np.where(columns["process"] >= 0, columns["process"], nothing)
        columns["rank"] = used[:, -3]
        has_order = used[:, -2] >= 0
        columns["order"] = np.where(has_order, used[:, -2], np.arange(len(used)))
        columns["role"] = used[:, -1]
        return columns

    def _first_name(self, row: int) -> str:
        """Return what the track of a row is called."""
        for ours in _NAMES:
            theirs = self.which.columns.get(ours)
            if theirs is None:
                continue
            told = texts(self.frame[theirs].iloc[row : row + 1])[0]
            if told is not None and theirs == "track_name":
                return told
            if told:
                # A number alone says nothing: stream 7, tid 1234.
                return f"{str(theirs).lower()} {told}" if told.isdigit() else told
        return "" if "track_name" in self.which.columns.values() else "events"

    def _sites(self) -> NDArray[Any]:
        """Add the lines and return that of each event."""
        if "file" not in self.which.columns:
            return np.full(len(self.frame), -1, dtype=np.int32)
        key = [self._codes(ours) for ours in ("file", "function", "code")]
        key.append(self._numbers("line", 2**31 - 1))
        used, _, which = _distinct(key)
        nothing = self.builder.string("")
        kept = used[:, 0] >= 0
        rows = self.builder.add_sites(
            file=used[kept, 0],
            line=np.maximum(used[kept, 3], 0),
            function=np.where(used[kept, 1] >= 0, used[kept, 1], nothing),
            text=used[kept, 2],
        )
        place = np.full(len(used), -1, dtype=np.int32)
        place[kept] = rows
        found: NDArray[Any] = place[which]
        return found

    def _args(self) -> NDArray[Any]:
        """Add the details and return those of each event, -1 for none."""
        raw = self._codes("details")
        if self.which.rest:
            raw = self._with_rest(raw)
        columns = {
            "bytes": self._numbers("bytes"),
            "flops": self._numbers("flops"),
            "shapes": self._codes("shapes"),
            "dtype": self._codes("dtype"),
            "raw": raw,
        }
        any_known = np.any([values >= 0 for values in columns.values()], axis=0)
        rows = np.full(len(self.frame), -1, dtype=np.int32)
        if any_known.any():
            rows[any_known] = self.builder.add_args(
                **{name: values[any_known] for name, values in columns.items()}
            )
        return rows

    def _with_rest(self, details: NDArray[Any]) -> NDArray[Any]:
        """Return the codes of all that has no column of its own, as JSON."""
        names = [str(name) for name in self.which.rest]
        columns = [_plain(self.frame[name]) for name in self.which.rest]
        if "details" in self.which.columns:
            names.append("details")
            columns.append(texts(self.frame[self.which.columns["details"]]))
        told = []
        for row in zip(*columns, strict=True):
            known = {name: v for name, v in zip(names, row, strict=True) if v is not None}
            told.append(json.dumps(known, separators=(",", ":")) if known else None)
        return self._coded_list(told)

    def _coded_list(self, told: list[str | None]) -> NDArray[Any]:
        codes = [-1 if text is None else self.builder.string(text) for text in told]
        return np.array(codes, dtype=np.int32)


def _factorized(column: pd.Series[Any]) -> tuple[NDArray[Any], list[str]]:
    """Return places in the distinct texts of a column, -1 where nothing stands; and the texts."""
    import pandas as pd

    if column.dtype.kind == "O" and not isinstance(column.dtype, pd.CategoricalDtype):
        column = pd.Series(texts(column), dtype=object)
    codes, used = pd.factorize(column)
    return codes, [text or "" for text in texts(pd.Series(used))]


def _distinct(key: list[NDArray[Any]]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return the distinct rows of several columns, the first of each, and which each row is."""
    import pandas as pd

    which = np.zeros(len(key[0]), dtype=np.int64)
    for column in key:
        if len(column) and column.min() != column.max():
            codes, used = pd.factorize(column)
            which, _ = pd.factorize(which * len(used) + codes)
    first = np.full(int(which.max(initial=-1)) + 1, len(which), dtype=np.int64)
    np.minimum.at(first, which, np.arange(len(which)))
    return np.stack([column[first] for column in key], axis=1), first, which


def _plain(column: pd.Series[Any]) -> list[Any]:
    """Return a column as JSON can hold it: whole numbers and texts as they are."""
    return [
        None if lacks else v if isinstance(v, bool | int | str) else _number_or_text(v)
        for v, lacks in zip(column.tolist(), column.isna().tolist(), strict=True)
    ]


def _number_or_text(value: Any) -> Any:
    if isinstance(value, float):
        return value if np.isfinite(value) else repr(value)
    return str(value)
