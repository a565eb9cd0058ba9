"""`Trace`: an immutable set of tables that says what ran when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mxprof_nb._typing import I64Array
from mxprof_nb.errors import TraceError, close_match
from mxprof_nb.trace import nesting, schema
from mxprof_nb.trace.meta import Health, Meta
from mxprof_nb.trace.strings import Strings
from mxprof_nb.trace.tables import (
    ArgTable,
    CounterTable,
    EventTable,
    FlowTable,
    SiteTable,
    TrackTable,
)

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["HasTrace", "Trace", "trace_of"]


class HasTrace(Protocol):
    """Whatever offers its trace: a `Trace`, a `Profile`, an object of another package."""

    @property
    def __mxprof_trace__(self) -> Trace:
        """The trace."""
        ...


def trace_of(offered: HasTrace) -> Trace:
    """Return the trace that an object offers.

    Raises
    ------
    TraceError
        It offers none.
    """
    try:
        return offered.__mxprof_trace__
    except AttributeError:
        raise TraceError(
            f"A trace is needed, and {type(offered).__name__!r} is none. Pass a Trace, or a "
            "Profile as `mxprof_nb.profile` and `mxprof_nb.load` give it."
        ) from None


@dataclass(frozen=True, eq=False, repr=False)
class Trace:
    """What ran when, on which track, queued from where.

    Built by `mxprof_nb.trace.builder.TraceBuilder`, which validates; every method that selects
    returns a new trace and notes it in ``meta.history``.

    Attributes
    ----------
    events, tracks, flows, counters, sites, args
        The tables, described by `mxprof_nb.schema`.
    strings : Strings
        The texts that the tables refer to.
    meta : Meta
        Facts about the whole trace.
    health : Health
        What was lost, repaired or left out.
    """

    events: EventTable
    tracks: TrackTable
    flows: FlowTable
    counters: CounterTable
    sites: SiteTable
    args: ArgTable
    strings: Strings
    meta: Meta
    health: Health

    def __len__(self) -> int:
        return len(self.events)

    def __repr__(self) -> str:
        title = f" {self.meta.title!r}" if self.meta.title else ""
        return (
            f"<Trace{title}: {len(self.events):,} events on {len(self.tracks)} tracks, "
            f"{len(self.counters):,} counter samples, {self.span_ns / 1e6:.3f} ms, {self.health}>"
        )

    def __eq__(self, other: object) -> bool:
        """Return whether another trace has the same content, whatever its texts are numbered."""
        if not isinstance(other, Trace):
            return NotImplemented
        if self is other:
            return True
        if (self.meta, self.health) != (other.meta, other.health):
            return False
        codes = [other.strings.code(text) for text in self.strings]
        codes = [-2 if code < 0 else code for code in codes]  # a text that the other lacks
        theirs = np.array([*codes, -1])  # the null code finds the last
        first = np.array([*map(other.strings.code, other.strings), -1])  # of texts that repeat
        for name, table in schema.TABLES.items():
            if len(getattr(self, name)) != len(getattr(other, name)):
                return False
            for column in table.columns:
                mine = getattr(getattr(self, name), column.name)
                mine = theirs[mine] if column.coding == "string" else mine
                same = getattr(getattr(other, name), column.name)
                same = first[same] if column.coding == "string" else same
                if not np.array_equal(mine, same, equal_nan=column.dtype == "f8"):
                    return False
        return True

    def __getstate__(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self)}  # not what is derived

    @property
    def __mxprof_trace__(self) -> Trace:
        """The trace itself; foreign objects offer this to be accepted as one."""
        return self

    @cached_property
    def window_ns(self) -> tuple[int, int]:
        """Begin and end of the profiled range, in ns from the origin."""
        if self.meta.window_ns is not None:
            return self.meta.window_ns
        rows = np.concatenate([self.events.start_ns[:1], self.counters.time_ns[:1]])
        ends = np.concatenate([self.events.end_ns, self.counters.time_ns[-1:]])
        return (int(rows.min()), int(ends.max())) if len(rows) else (0, 0)

    @property
    def span_ns(self) -> int:
        """Length of the profiled range, in ns."""
        begin, end = self.window_ns
        return end - begin

    @cached_property
    def lane(self) -> NDArray[np.int32]:
        """Sub-row of each event within its track, shape (n,); no two of one lane overlap."""
        events = self.events
        order = nesting.sort_rows(events.track, events.start_ns, events.end_ns)
        lane = np.empty(len(events), dtype=np.int32)
        lane[order] = nesting.nest(
            events.track[order], events.start_ns[order], events.end_ns[order]
        )[1]
        lane.flags.writeable = False
        return lane

    @cached_property
    def self_ns(self) -> I64Array:
        """Time of each event that none of its children covers, shape (n,), in ns."""
        own = nesting.self_time(self.events.parent, self.events.start_ns, self.events.end_ns)
        own.flags.writeable = False
        return own

    def where(self, **equal: Any) -> Trace:
        """Return the events whose columns have the given values.

        Parameters
        ----------
        **equal
            Column name and the value, or values, it must have; texts for coded columns
            (``name="dot"``, ``category=("operator", "copy")``), numbers for the others.

        Raises
        ------
        TraceError
            A column does not exist.
        """
        mask = np.ones(len(self.events), dtype=bool)
        for name, wanted in equal.items():
            known = [column.name for column in schema.EVENTS.columns]
            if name not in known:
                raise TraceError(
                    f"Events have no column {name!r}.{close_match(name, known)} "
                    f"They have {', '.join(known)}."
                )
            mask &= np.isin(getattr(self.events, name), self._codes(name, wanted))
        told = ", ".join(f"{name}={wanted!r}" for name, wanted in equal.items())
        return self._select(np.flatnonzero(mask), f"where({told})")

    def _codes(self, name: str, wanted: Any) -> list[Any]:
        many = isinstance(wanted, (list, tuple, set, frozenset, np.ndarray))
        values: Sequence[Any] = list(wanted) if many else [wanted]
        coding = schema.EVENTS.column(name).coding
        if coding == "string":
            return [code for code in map(self.strings.code, values) if code >= 0]
        if coding:
            known = schema.LISTS[coding]
            for value in values:
                if value not in known:
                    raise TraceError(
                        f"{value!r} is no {coding}.{close_match(str(value), known)} "
                        f"There are {', '.join(known)}."
                    )
            return [known.index(value) for value in values]
        return list(values)

    def between(self, begin_ns: int, end_ns: int) -> Trace:
        """Return the events that touch ``[begin_ns, end_ns)``, whole, and the counters in it."""
        if end_ns < begin_ns:
            raise TraceError(
                f"between({begin_ns}, {end_ns}): the end lies before the begin; swap them."
            )
        events = self.events
        touched = (events.start_ns < end_ns) & (
            (events.end_ns > begin_ns) | (events.start_ns == begin_ns)
        )
        rows = np.flatnonzero(touched)
        return self._select(
            rows, f"between({begin_ns}, {end_ns})", window=(int(begin_ns), int(end_ns))
        )

    def take(self, rows: Any) -> Trace:
        """Return the trace of the given event rows, in their order in time."""
        chosen = np.unique(np.arange(len(self.events))[rows])
        return self._select(chosen, f"take({len(chosen)} rows)")

    def steps(self) -> NDArray[np.int32]:
        """Return the distinct step numbers, ascending; empty when none were marked."""
        numbers = np.unique(self.events.step)
        return numbers[numbers >= 0]

    def frame(self, table: str = "events") -> pd.DataFrame:
        """Return one table as a new pandas frame, free to be changed.

        Parameters
        ----------
        table : {"events", "tracks", "flows", "counters", "sites", "args"}

        Returns
        -------
        pandas.DataFrame
            The columns that `mxprof_nb.schema` lists: codes as categoricals, nulls as ``NA``,
            times as integers in ns. Events and counters also get ``track_name``, events ``line``.
        """
        if table not in schema.TABLES:
            raise TraceError(
                f"There is no table {table!r}.{close_match(table, schema.TABLES)} "
                f"Tables are {', '.join(schema.TABLES)}."
            )
        data = getattr(self, table)
        frame: pd.DataFrame = data.frame(self.strings)
        if table in ("events", "counters"):
            import pandas as pd

            occurs = np.zeros(len(self.tracks), dtype=bool)
            occurs[data.track] = True
            # Several tracks may have one name.
            texts = [self.strings[code] for code in self.tracks.name.tolist()]
            used = sorted({text for text, has in zip(texts, occurs, strict=True) if has})
            place = {text: number for number, text in enumerate(used)}
            codes = np.array([place.get(text, -1) for text in texts], dtype=np.int32)
            frame["track_name"] = pd.Categorical.from_codes(
                codes[data.track], categories=pd.Index(used, dtype="str")
            )
            if table == "events":
                lines = np.append(self.sites.line, -1)[data.site]
                frame["line"] = pd.arrays.IntegerArray(lines, data.site < 0)
        return frame

    def _select(
        self, rows: NDArray[Any], step: str, window: tuple[int, int] | None = None
    ) -> Trace:
        """Return the trace of ``rows`` (ascending), with references to them renumbered."""
        renumber = np.full(len(self.events) + 1, -1, dtype=np.int32)
        renumber[rows] = np.arange(len(rows), dtype=np.int32)
        events = self.events.take(rows)
        parent = renumber[self._kept_ancestor(renumber)[rows]]
        columns = {column.name: values for column, values in events.columns()}
        columns["parent"] = parent
        flows = self.flows.take(
            (renumber[self.flows.source] >= 0) & (renumber[self.flows.target] >= 0)
        )
        kept = window or self.window_ns
        inside = (self.counters.time_ns >= kept[0]) & (self.counters.time_ns <= kept[1])
        whole = self.meta.cost
        cost = whole and whole.of_part(len(rows), len(self.events))
        return Trace(
            events=EventTable.of(columns),
            tracks=self.tracks,
            flows=FlowTable.of(
                {
                    "source": renumber[flows.source],
                    "target": renumber[flows.target],
                    "kind": flows.kind,
                }
            ),
            counters=self.counters.take(inside),
            sites=self.sites,
            args=self.args,
            strings=self.strings,
            meta=self.meta.then(step, window_ns=kept, cost=cost),
            health=self.health,
        )

    def _kept_ancestor(self, renumber: NDArray[Any]) -> NDArray[Any]:
        """Return, per event, the nearest ancestor that is kept, -1 for none."""
        parent = self.events.parent.astype(np.int64)
        while True:
            lost = (parent >= 0) & (renumber[parent] < 0)
            if not lost.any():
                return parent
            parent[lost] = self.events.parent[parent[lost]]
