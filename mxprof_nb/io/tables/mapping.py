"""Which column of a table is what: as somebody says, or by the names that are usual.

Names are compared without case, blanks and units: ``Start (ns)``, ``start_us`` and ``begin`` are
all the begin of an event.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from mxprof_nb.errors import UnknownFormatError, close_match
from mxprof_nb.io.tables.numbers import SCALES, is_date

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["INTEGERS", "TEXTS", "TIMES", "Chosen", "ColumnMap", "chosen", "looks_like_events"]

#: What stands where: a name of ours, and the column, alone or with its unit; None for none.
ColumnMap: TypeAlias = Mapping[str, "str | tuple[str, str] | None"]

#: Names of ours, and other names for them, as `_plain` makes them.
TIMES = {
    "start_ns": "start begin ts timestamp time starttime begintime startts timestart from t0",
    "dur_ns": "dur duration elapsed length took time elapsedtime walltime latency",
    "end_ns": "end stop finish endtime stoptime finishtime endts until timeend t1",
    "queued_ns": "queued queuedat enqueued enqueuetime submitted queuetime",
}
TEXTS = {
    "name": "name event op operator operation kernel kernelname label eventname task opname",
    "category": "category cat eventtype type",
    "domain": "domain group family",
    "kind": "kind",
    "track_name": "trackname lane row stream streamid worker workerid",
    "process": "process processname proc",
    "thread": "thread threadname threadid",
    "device": "device devicename gpu",
    "backend": "backend framework",
    "role": "role",
    "pid": "pid processid",
    "tid": "tid",
    "file": "file filename sourcefile path",
    "function": "function func functionname",
    "code": "code sourceline",
    "shapes": "shapes shape inputshapes inputdims",
    "dtype": "dtype datatype",
    "details": "details args arguments",
}
INTEGERS = {
    "track": "track",
    "track_order": "trackorder",
    "rank": "rank",
    "correlation": "correlation correlationid corrid",
    "step": "step iteration iter epochstep",
    "earlier": "earlier",
    "line": "line lineno linenumber",
    "bytes": "bytes size nbytes",
    "flops": "flops flop",
}
_KNOWN = TIMES | TEXTS | INTEGERS
_UNIT = re.compile(rf"(?:[\s_]*[(\[]\s*|[\s_.]+)({'|'.join(SCALES)})\s*[)\]]?$", re.IGNORECASE)
#: Columns that number rows, as pandas writes them, or follow from the rest.
_IDLE = {"", "index", "parent", "site", "arg"}


@dataclass(frozen=True)
class Chosen:
    """Which columns are used for what.

    Attributes
    ----------
    columns : dict
        Column by our name for it.
    scales : dict
        Nanoseconds of its unit, for times.
    rest : list
        Columns that are none of these.
    """

    columns: dict[str, Any]
    scales: dict[str, int]
    rest: list[Any]


def looks_like_events(names: Iterable[str]) -> float:
    """Return how much names of columns look like those of a table of events, 0 to 1."""
    found = set(_guessed(list(names)))
    if not {"start_ns", "name"} <= found:
        return 0.0
    return 0.8 if found & {"dur_ns", "end_ns"} else 0.0


def chosen(frame: pd.DataFrame, columns: ColumnMap | None, path: str) -> Chosen:
    """Return which columns of a table are used.

    Raises
    ------
    UnknownFormatError
        A column that is named does not exist, one that is needed was not found, or its unit is
        not known; lists the columns there are, and says how to name them.
    """
    there = list(frame.columns)
    found, scales = _named({} if columns is None else columns, there, path)
    left = [name for name in there if name not in found.values()]
    for ours, theirs in _guessed(left).items():
        if ours not in found and ours not in (columns or {}):
            found[ours] = theirs
    found = {ours: theirs for ours, theirs in found.items() if theirs is not None}
    lacking = [name for name in ("name", "start_ns") if name not in found]
    if not {"dur_ns", "end_ns"} & set(found):
        lacking.append("dur_ns (or end_ns)")
    if lacking:
        raise _refused(
            path, f"it is not clear which columns are {' and '.join(lacking)}.", there, lacking
        )
    for ours in [name for name in TIMES if name in found]:
        if ours not in scales:
            scales[ours] = _scale(frame, ours, found[ours], there, path)
    rest = [n for n in there if n not in found.values() and _plain(str(n)) not in _IDLE]
    return Chosen(found, scales, [name for name in rest if not str(name).startswith("Unnamed: ")])


def _named(
    columns: ColumnMap, there: list[Any], path: str
) -> tuple[dict[str, Any], dict[str, int]]:
    """Return what somebody said."""
    found: dict[str, Any] = {}
    scales: dict[str, int] = {}
    if not isinstance(columns, Mapping):
        raise TypeError(
            f"columns={columns!r:.100}: a mapping from names to columns is needed, not "
            f"{type(columns).__name__}. Names are {', '.join(_KNOWN)}."
        )
    for ours, said in columns.items():
        if ours not in _KNOWN:
            raise UnknownFormatError.at(
                path,
                "",
                f"columns={{{ours!r}: ...}}: there is no such name.{close_match(ours, _KNOWN)}",
                f"Names are {', '.join(_KNOWN)}.",
            )
        theirs, unit = said if isinstance(said, tuple) else (said, None)
        if theirs is not None and theirs not in there:
            told = close_match(str(theirs), map(str, there))
            raise UnknownFormatError.at(
                path,
                "",
                f"there is no column {theirs!r}.{told}",
                f"Columns are {_listed(there)}.",
            )
        if unit is not None:
            if ours not in TIMES or unit not in SCALES:
                raise UnknownFormatError.at(
                    path,
                    "",
                    f"columns={{{ours!r}: ({theirs!r}, {unit!r})}}: that is no unit of a time.",
                    f"Units of {', '.join(TIMES)} are ns, us, ms and s.",
                )
            scales[ours] = SCALES[unit]
        found[ours] = theirs
    return found, scales


def _scale(frame: pd.DataFrame, ours: str, theirs: Any, there: list[Any], path: str) -> int:
    unit = _UNIT.search(str(theirs))
    if unit:
        return SCALES[unit[1].lower()]
    if is_date(frame[theirs]):
        return 1
    if {"ph", "ts"} <= set(there):  # the events of a Chrome trace
        return SCALES["us"]
    raise UnknownFormatError.at(
        path,
        f"column {theirs!r}",
        "the unit of its times is not known.",
        f"Say it: columns={{{ours!r}: ({theirs!r}, 'us')}}; units are ns, us, ms and s.",
    )


def _guessed(there: list[Any]) -> dict[str, Any]:
    """Return columns by what their names mean; of several the one whose name is more usual."""
    plain: dict[str, Any] = {}
    for name in reversed(there):
        plain[_plain(str(name))] = name
    found: dict[str, Any] = {}
    for ours, others in _KNOWN.items():
        for word in (_plain(ours), *others.split()):
            if word in plain and plain[word] not in found.values():
                found[ours] = plain[word]
                break
    return found


def _plain(name: str) -> str:
    """Return a name without case, unit, and what is neither letter nor digit."""
    name = _UNIT.sub("", name.strip().lstrip("\ufeff"))
    return re.sub(r"[\W_]+", "", name).lower()


def _refused(path: str, problem: str, there: list[Any], lacking: list[str]) -> Exception:
    ours = [name.partition(" ")[0] for name in lacking]
    told = {name: ("...", "us") if name in TIMES else "..." for name in ours}
    return UnknownFormatError.at(
        path,
        "",
        f"{problem} Columns are {_listed(there)}.",
        f"Say it: load(..., columns={told}), with the unit of each time: ns, us, ms or s.",
    )


def _listed(there: list[Any]) -> str:
    shown = ", ".join(repr(str(name)[:60]) for name in there[:40])
    return f"{shown}, and {len(there) - 40} more" if len(there) > 40 else shown or "none"
