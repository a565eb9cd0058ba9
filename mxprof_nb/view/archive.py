"""`archive`: all that a page without a kernel needs to know about a trace, for `columns.packed`.

Events stand in lane order (by row of the picture, then by time): each begins a little after the
one before, which packs to a few bytes. Texts stand once, and what many events have in common.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mxprof_nb._typing import I64Array
from mxprof_nb.analysis import Result, domain_tables, sync_waits
from mxprof_nb.analysis.places import place_of
from mxprof_nb.errors import MissingDataError
from mxprof_nb.trace import Trace
from mxprof_nb.trace.schema import CATEGORIES, FLOW_KINDS, KINDS, ROLES
from mxprof_nb.trace.strings import StringBuilder
from mxprof_nb.view import curves, inspector, links, scene, tables
from mxprof_nb.view.glossary import DOMAINS, meaning
from mxprof_nb.view.groups import MOST_ROWS, NAME_CHARS, Group, Tree
from mxprof_nb.view.headline import headline, remarks, sentences
from mxprof_nb.view.heat import HEAT_NAMES
from mxprof_nb.view.palette import THEMES, TITLES, colours
from mxprof_nb.view.rows import HEAD, INNER_GAP
from mxprof_nb.view.scene import Stage
from mxprof_nb.view.strip import strip
from mxprof_nb.view.words import MEANING_CHARS, SOURCE_CHARS, shorten

__all__ = ["MAX_ARGUMENTS", "Archive", "archive"]

#: Events whose arguments are kept, the longest ones.
MAX_ARGUMENTS = 10_000
STRIP_BINS = 160


@dataclass(frozen=True, slots=True, eq=False)
class Archive:
    """What `mxprof_nb.view.columns.packed` takes.

    Attributes
    ----------
    head : dict
        Words, texts and tables of what few things have, for JSON.
    columns : dict of str to ndarray
        What each event, flow, wait and sample has. ``event.parent``, ``flow.source``,
        ``flow.target``, ``wait.event`` and ``wait.by`` are positions in lane order, -1 for none;
        ``event.gap`` is the time since the event before ended, in its lane.
    """

    head: dict[str, Any]
    columns: dict[str, NDArray[Any]]


def archive(stage: Stage) -> Archive:
    """Return what a saved report holds about a stage."""
    found = domain_tables_of(stage.trace)
    events = _Events(stage, found)
    series, samples = _series(stage)
    head = {
        **_words(stage),
        **_picture(stage),
        "texts": list(events.texts.freeze()),
        "kinds": events.kinds,
        "sites": _sites(stage),
        "arguments": events.arguments,
        "failures": events.failures(),
        "tables": [_table(title, result) for title, result in found.items()],
        "groups": events.groups,
        "series": series,
        "recordNs": stage.trace.meta.cost.per_record_ns if stage.trace.meta.cost else 0,
        "maxRows": tables.LIVE_ROWS,
        "close": tables.CLOSE,
    }
    return Archive(head, {**events.columns, **samples})


def domain_tables_of(trace: Trace) -> Mapping[str, Result]:
    """Return the tables whatever their numbers: means may be beyond all numbers."""
    with np.errstate(over="ignore", invalid="ignore"):
        return domain_tables(trace)


class _Events:
    """The events in lane order, and what is said once for many of them."""

    def __init__(self, stage: Stage, found: Mapping[str, Result]) -> None:
        self._stage, self._trace = stage, stage.trace
        self._order = stage.index.order
        self._position = np.full(len(self._order) + 1, -1, dtype=np.int64)  # the last for row -1
        self._position[self._order] = np.arange(len(self._order))
        self.texts = StringBuilder()
        self.groups, group = self._grouped(found)
        self.kinds, kind = self._kinds(group)
        self.arguments, argument = self._arguments()
        events, order = self._trace.events, self._order
        start = events.start_ns[order]
        # Where a lane begins, the time since the begin of the run.
        before = np.roll(start + events.dur_ns[order], 1)
        before[stage.index.first[:-1]] = stage.origin_ns
        self.columns: dict[str, NDArray[Any]] = {
            "event.gap": start - before,
            "event.duration": events.dur_ns[order],
            "event.kind": kind[order],
            "event.parent": self._position[events.parent[order]],
            "event.site": events.site[order],
            "event.queued": np.where(  # how long it was queued, -1 where it was not
                events.queued_ns[order] >= 0,
                np.maximum(start - events.queued_ns[order], 0),
                -1,
            ),
            "event.step": events.step[order],
            "event.argument": argument[order],
            **self._bulks(),
            **self._flows(),
            **self._waits(),
        }

    def failures(self) -> list[tuple[int, str, str]]:
        """Return position of each event that failed, and why, also cut for a hover."""
        found = self._stage.words.failures.items()
        return [(int(self._position[row]), why, shorten(why, MEANING_CHARS)) for row, why in found]

    def _bulks(self) -> dict[str, NDArray[Any]]:
        """Return the events that hold members of a bulk, and how many."""
        members = self._stage.words.members[self._order]
        (position,) = np.nonzero(members)
        return {"bulk.event": position, "bulk.members": members[position]}

    def _grouped(self, found: Mapping[str, Result]) -> tuple[list[list[Any]], I64Array]:
        """Return the rows of all tables of events, and which of them each event counts in.

        -1 is none, -2 and below an instant of the table 0 and on: it is told, and not counted.
        """
        events, strings = self._trace.events, self._trace.strings
        groups: list[list[Any]] = []
        group = np.full(len(self._order), -1, dtype=np.int64)
        instant = events.kind == KINDS.index("instant")
        apart = {"Waits": instant & False, "Engine": instant & events.is_category("engine")}
        usual = instant & ~events.is_category("sync", "engine")
        for place, (title, result) in enumerate(found.items()):
            domains = result.columns.get("domain")
            if domains is None:  # counters
                continue
            mine = apart.get(title)
            if mine is None:
                mine = usual & (events.domain == strings.code(domains[0]))
            group[mine] = -2 - place
            for name, domain, rows in zip(
                result.columns["name"], domains, result.rows, strict=True
            ):
                group[rows] = len(groups)
                told = meaning(name) if domain in DOMAINS else ""
                groups.append([place, name, domain, told])
        return groups, group

    def _kinds(self, group: I64Array) -> tuple[list[list[Any]], I64Array]:
        """Return what events have in common: name, category, what it means, row of a table."""
        events, strings = self._trace.events, self._trace.strings
        key = (events.name.astype(np.int64) * len(CATEGORIES) + events.category) * 2
        key += np.isin(events.domain, [strings.code(domain) for domain in DOMAINS])
        least, most = int(group.min(initial=-1)), int(group.max(initial=-1))
        key = key * (most - least + 1) + group - least
        keys, kind = np.unique(key, return_inverse=True)
        rest, groups = np.divmod(keys, most - least + 1)
        rest, known = np.divmod(rest, 2)
        names, categories = np.divmod(rest, len(CATEGORIES))
        columns = (values.tolist() for values in (names, categories, known, groups + least))
        kinds = [
            [
                self.texts.code(strings[name]),
                category,
                meaning(strings[name]) if is_known else "",
                row,
            ]
            for name, category, is_known, row in zip(*columns, strict=True)
        ]
        return kinds, kind

    def _arguments(self) -> tuple[list[Any], I64Array]:
        """Return the arguments of the longest events, and which each event has.

        -1 is none, -2 that they are left out.
        """
        events, stage = self._trace.events, self._stage
        column = np.where(events.arg >= 0, -2, -1).astype(np.int64)
        rows = np.flatnonzero(events.arg >= 0)
        if len(rows) > MAX_ARGUMENTS:
            longest = np.argsort(-events.dur_ns[rows], kind="stable")
            rows = np.sort(rows[longest[:MAX_ARGUMENTS]])
        told, place = np.unique(events.arg[rows], return_inverse=True)
        column[rows] = place.reshape(-1)
        return [
            [inspector.arguments(stage.trace, arg), stage.words.details(arg)]
            for arg in told.tolist()
        ], column

    def _flows(self) -> dict[str, NDArray[Any]]:
        flows = self._trace.flows
        source, target = self._position[flows.source], self._position[flows.target]
        order = np.lexsort((source, target, flows.kind))
        return {
            "flow.source": source[order],
            "flow.target": target[order],
            "flow.kind": flows.kind[order],
        }

    def _waits(self) -> dict[str, NDArray[Any]]:
        """Return what each wait waited for, and the call that waited."""
        try:
            columns = sync_waits(self._trace).columns
        except MissingDataError:
            columns = {"event": np.empty(0, np.int64), "waited_for": np.empty(0, np.int64),
                       "api_name": [], "waited_for_name": []}  # fmt: skip
        event = self._position[columns["event"]]
        order = np.argsort(event)
        cause, api = (
            np.array(self.texts.codes(columns[name]), dtype=np.int64)
            for name in ("waited_for_name", "api_name")
        )
        return {
            "wait.event": event[order],
            "wait.by": self._position[columns["waited_for"]][order],
            "wait.api": api[order],
            "wait.cause": cause[order],
        }


def _words(stage: Stage) -> dict[str, Any]:
    trace, origin = stage.trace, stage.origin_ns
    told = [
        {
            "text": sentence.text,
            "window": sentence.window_ns and [time - origin for time in sentence.window_ns],
        }
        for sentence in sentences(trace)
    ]
    shares = np.concatenate(strip(stage, STRIP_BINS))
    return {
        "headline": headline(trace),
        "sentences": told,
        "remarks": remarks(trace),
        "strip": (shares * 255).round().astype(int).tolist(),
        "span": stage.span_ns,
        "told_span": trace.span_ns,
        "why": [inspector.WHY[kind] for kind in FLOW_KINDS],
        "waited": inspector.WAITED,
        "needed": FLOW_KINDS.index("read_after_write"),
        "launched": FLOW_KINDS.index("launch"),
    }


def _picture(stage: Stage) -> dict[str, Any]:
    trace, lanes, tree = stage.trace, stage.index.lanes, stage.tree
    opened, _ = tree.opened({})
    return {
        "tree": [_group(tree, group, frozenset(opened)) for group in tree.roots],
        "lanes": {
            "first": stage.index.first.tolist(),
            "track": lanes.track.tolist(),
            "role": lanes.role.tolist(),
        },
        "tracks": [
            [trace.strings[name], ROLES[role]]
            for name, role in zip(trace.tracks.name.tolist(), trace.tracks.role, strict=True)
        ],
        "categories": CATEGORIES,
        "titles": TITLES,
        "heatNames": [HEAT_NAMES[False], HEAT_NAMES[True]],
        "palette": {theme: colours(theme) for theme in THEMES},
        "nameChars": tree.name_chars,
        "countersKey": scene.COUNTERS,
        "curves": [stage.curves.first, stage.curves.most, len(stage.curves)],
        "limits": {
            "labels": scene.MAX_LABELS,
            "failures": scene.MAX_FAILURES,
            "rows": MOST_ROWS,
            "rowsPx": scene.ROWS_PX,
            "leastRowPx": scene.LEAST_ROW_PX,
            "mostRowPx": scene.MOST_ROW_PX,
            "name": NAME_CHARS,
            "head": HEAD,
            "innerGap": INNER_GAP,
            "links": links.MAX_LINKS,
            "waits": links.MAX_WAITS,
            "ofMark": links.MOST_OF_A_MARK,
            "ofSelected": links.MOST_OF_SELECTED,
            "ties": inspector.MAX_TIES,
            "half": links.HALF,
            "gap": links.ROLE_GAP,
        },
    }


def _group(tree: Tree, group: Group, opened: frozenset[str]) -> dict[str, Any]:
    """Return a group of rows and what it is opened to, for ``static/report_layout.js``."""
    return {
        "key": group.key,
        "lanes": [group.first, group.stop],
        "name": tree.name(group),
        "head": tree.name(group, opened=True),
        "title": tree.title(group),
        "role": tree.role(group),
        "tracks": tree.tracks(group),
        "said": tree.said(group),
        "open": group.key in opened,
        "inner": [_group(tree, part, opened) for part in tree.inside(group)],
    }


def _sites(stage: Stage) -> list[list[str]]:
    """Return place and source of each line that events came from."""
    trace = stage.trace
    return [
        [place_of(trace, site), shorten(trace.strings.text(int(text)), SOURCE_CHARS)]
        for site, text in enumerate(trace.sites.text.tolist())
    ]


def _table(title: str, result: Result) -> dict[str, Any]:
    keys = [key for key in result.columns if key not in tables.HIDDEN or key == "unit"]
    names = [tables.HEADINGS.get(key, key) for key in keys]
    return {
        "title": title,
        "columns": [
            [key, name, meaning(tables.TERMS.get(name, name))]
            for key, name in zip(keys, names, strict=True)
        ],
        "counters": "domain" not in result.columns,
    }


def _series(stage: Stage) -> tuple[list[dict[str, Any]], dict[str, NDArray[Any]]]:
    """Return the counters, and their samples, one counter after another."""
    counters, strings, tracks = stage.trace.counters, stage.trace.strings, stage.trace.tracks
    key = counters.track.astype(np.int64) * len(strings) + counters.name
    left = [
        ((curve.name, curve.unit, curve.peak), place)
        for place, curve in enumerate(stage.curves.within(0, 1, every=True))
    ]
    series, kept = [], []
    for mine in (np.flatnonzero(key == one) for one in np.unique(key)):
        finite = mine[np.isfinite(counters.value[mine])]
        name = strings[int(counters.name[mine[0]])]
        peak = float(counters.value[finite].max(initial=-np.inf))
        unit = strings.text(int(counters.unit[mine[-1]]))
        look = (shorten(name, curves.NAME_CHARS), unit, peak)
        found = next((k for k, (known, _) in enumerate(left) if known == look), -1)
        series.append(
            {
                "name": name,
                "track": strings[int(tracks.name[counters.track[mine[0]]])],
                "unit": unit,
                "memory": unit == "B" or name.startswith("Memory"),
                "samples": len(finite),
                "lost": len(mine) - len(finite),
                "drawn": left.pop(found)[1] if found >= 0 else -1,
                "peak": peak if len(finite) else 0,
                "told": meaning(name),
            }
        )
        kept.append(finite)
    # Of what stood in the queue the page knows as much from the events.
    for (name, _, peak), place in left:
        series.append(
            {"name": name, "queue": True, "unit": "", "samples": 0, "drawn": place, "peak": peak}
        )
    every = np.concatenate(kept) if kept else np.empty(0, dtype=np.int64)
    return series, {
        "sample.time": counters.time_ns[every] - stage.origin_ns,
        "sample.value": counters.value[every],
    }
