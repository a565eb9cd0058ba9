"""`inspect`: all that is known about one event, in words, and what caused it and what it caused."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mxprof_nb._typing import I64Array
from mxprof_nb.analysis import memory_scope
from mxprof_nb.trace import Trace
from mxprof_nb.trace.schema import FLOW_KINDS
from mxprof_nb.view.glossary import DOMAINS, meaning
from mxprof_nb.view.numbers import duration, size
from mxprof_nb.view.palette import TITLES
from mxprof_nb.view.scene import Stage
from mxprof_nb.view.words import shorten

__all__ = ["Inspection", "Tie", "arguments", "inspect"]

#: Causes, and effects, that are listed; further ones are counted.
MAX_TIES = 12
NAME_CHARS, TEXT_CHARS, ARGUMENT_CHARS = 200, 120, 400
#: What a cause, and an effect, is called; see `mxprof_nb.trace.schema.FLOW_KINDS`.
WHY = {
    "launch": ("queued by", "queued"),
    "read_after_write": ("needed the result of", "its result went to"),
    "write_after_read": ("overwrites what was read by", "what it read was overwritten by"),
    "write_after_write": ("overwrites the result of", "its result was overwritten by"),
    "async": ("began with", "ended with"),
    "program": ("came after", "came before"),
}
#: The same, where the host waited for an operator.
WAITED = ("waited for", "ended the wait")


@dataclass(frozen=True, slots=True)
class Tie:
    """An event that another is linked to: its row, why, and its name and place."""

    row: int
    why: str
    text: str


@dataclass(frozen=True, slots=True)
class Inspection:
    """What is shown of the selected event; plain texts, cut where they are very long.

    Attributes
    ----------
    row : int
    name, meaning : str
        The latter is empty where nobody said what the name means.
    facts : tuple of tuple of str
        What is known, and its value.
    causes, effects : tuple of Tie
        At most `MAX_TIES` of each, in the order of time.
    more_causes, more_effects : int
        How many there are beyond.
    window_ns : tuple of int
        Begin and end, in ns from the begin of the profiled range.
    """

    row: int
    name: str
    meaning: str
    facts: tuple[tuple[str, str], ...]
    causes: tuple[Tie, ...]
    effects: tuple[Tie, ...]
    more_causes: int
    more_effects: int
    window_ns: tuple[int, int]


def inspect(stage: Stage, row: int) -> Inspection:
    """Return what is known about one event of a stage."""
    events, strings, words = stage.trace.events, stage.trace.strings, stage.words
    name = words.name(row)
    known = strings.text(int(events.domain[row])) in DOMAINS
    links, one = stage.ties, np.array([row])
    causes, effects = links.causes(one), links.effects(one)
    return Inspection(
        row=row,
        name=shorten(name, NAME_CHARS),
        meaning=meaning(name) if known else "",
        facts=tuple(_facts(stage, row)),
        causes=_ties(stage, causes, 0),
        effects=_ties(stage, effects, 1),
        more_causes=max(len(causes) - MAX_TIES, 0),
        more_effects=max(len(effects) - MAX_TIES, 0),
        window_ns=stage.times(row),
    )


def _facts(stage: Stage, row: int) -> list[tuple[str, str]]:
    trace, words = stage.trace, stage.words
    events, strings = trace.events, trace.strings
    begin, end = stage.times(row)
    took, own = end - begin, int(trace.self_ns[row])
    found = [
        ("duration", f"{duration(took)}, from {duration(begin)}" if took else ""),
        ("at", "" if took else duration(begin)),
        ("self time", duration(own) if own != took else ""),
    ]
    queued = int(events.queued_ns[row])
    if queued >= 0:
        found.append(("in the queue", duration(max(int(events.start_ns[row]) - queued, 0))))
    place, source = words.place(row), words.source(row)
    line = f"{place}: {source}" if place and source else place
    found += [
        ("queued on" if queued >= 0 else "called on", line),
        ("ran on", strings.text(int(trace.tracks.name[events.track[row]]))),
        ("kind", TITLES.get(stage.category(row), stage.category(row))),
    ]
    if (parent := int(events.parent[row])) >= 0:
        found.append(("inside", words.name(parent)))
    if events.step[row] >= 0:
        found.append(("step", str(events.step[row])))
    told = [(what, shorten(text, TEXT_CHARS)) for what, text in found if text]
    return told + arguments(trace, int(events.arg[row]))


def arguments(trace: Trace, arg: int) -> list[tuple[str, str]]:
    """Return what is known of a row of the table of arguments, and its value; -1 for no row."""
    if arg < 0:
        return []
    args, strings = trace.args, trace.strings
    found = [
        ("bytes", size(int(args.bytes[arg])) if args.bytes[arg] >= 0 else ""),
        ("operations", f"{args.flops[arg]:,}" if args.flops[arg] >= 0 else ""),
        ("shapes", strings.text(int(args.shapes[arg]))),
        ("type", strings.text(int(args.dtype[arg]))),
        ("made in the scope", memory_scope(trace, arg)),
        ("arguments", strings.text(int(args.raw[arg]))),
    ]
    return [(what, shorten(text, ARGUMENT_CHARS)) for what, text in found if text]


def _ties(stage: Stage, flows: I64Array, side: int) -> tuple[Tie, ...]:
    """Return the other ends of flows: side 0 is their source, 1 their target."""
    table, words, events = stage.trace.flows, stage.words, stage.trace.events
    ends = (table.source, table.target)[side][flows]
    order = np.argsort(events.start_ns[ends], kind="stable")[:MAX_TIES]
    found = []
    for row, flow in zip(ends[order].tolist(), flows[order].tolist(), strict=True):
        kind = FLOW_KINDS[table.kind[flow]]
        waited = kind == "read_after_write" and stage.category(int(table.target[flow])) == "sync"
        why = (WAITED if waited else WHY[kind])[side]
        where = words.place(row)
        begin, end = stage.times(row)
        parts = [shorten(words.name(row), TEXT_CHARS), where, duration(end - begin)]
        found.append(Tie(row, why, ", ".join(part for part in parts if part)))
    return tuple(found)
