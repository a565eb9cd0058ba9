"""The headline and the sentences that come before any picture; plain text, in every form."""

from __future__ import annotations

from dataclasses import dataclass

from mxprof_nb.analysis import Overview, Result, overview, sync_waits
from mxprof_nb.errors import MissingDataError
from mxprof_nb.trace import Trace
from mxprof_nb.view.numbers import count, duration, share
from mxprof_nb.view.places import place, source_line

__all__ = ["Sentence", "headline", "remarks", "sentences"]

#: More workers than this are summed up in the headline.
NAMED_WORKERS = 4
MAX_SENTENCES = 3
SOURCE_CHARS = 60


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence, and the stretch of time it speaks of (None: the run as a whole)."""

    text: str
    window_ns: tuple[int, int] | None = None

    def __str__(self) -> str:
        return self.text


def headline(trace: Trace, facts: Overview | None = None) -> str:
    """Return one line: wall time, waits, workers, events, cost of recording, health.

    Parameters
    ----------
    trace : Trace
    facts : Overview, optional
        What `mxprof_nb.analysis.overview` returns for this trace, where it is known already.
    """
    facts = facts or overview(trace)
    parts = [duration(facts.wall_ns)]
    if facts.status != "ok":
        parts[0] = f"{'failed' if facts.status == 'error' else 'interrupted'} after {parts[0]}"
    if facts.waits:
        of_wall = f" ({share(facts.waited_ns / facts.wall_ns)})" if facts.wall_ns else ""
        parts.append(
            f"host waited {duration(facts.waited_ns)}{of_wall} in {count(facts.waits, 'wait')}"
        )
    else:
        parts.append("host never waited")
    parts.append(_workers(facts))
    parts.append(count(facts.events, "event"))
    if facts.cost is not None:
        part = facts.cost.total_ns / facts.wall_ns if facts.wall_ns else 0.0
        fine = f"{part * 100:.1f} %" if 0.0005 <= part < 0.1 else share(part)
        parts.append(f"recording cost {duration(facts.cost.total_ns)} ({fine})")
    if not facts.health.ok:
        parts.append(f"{count(len(facts.health.notes), 'remark')} below")
    return " · ".join(part for part in parts if part)


def _workers(facts: Overview) -> str:
    """Return how busy the workers were, by name while they are few."""
    if not facts.busy:
        return ""
    if len(facts.busy) > NAMED_WORKERS:
        busy = sum(part > 0 for _, part in facts.busy)
        if not busy:
            return f"{len(facts.busy)} workers idle"
        name, most = max(facts.busy, key=lambda entry: entry[1])
        return f"{busy} of {len(facts.busy)} workers busy, most {name} with {share(most)}"
    # "cpu/0 worker 1, cpu/0 worker 2" says the device twice: leave out what all have in common.
    words = [name.split(" ") for name, _ in facts.busy]
    same = len({word[0] for word in words}) == 1 and all(len(word) > 1 for word in words)
    return ", ".join(
        f"{' '.join(word[1:] if same else word)} {f'busy {share(part)}' if part > 0 else 'idle'}"
        for word, (_, part) in zip(words, facts.busy, strict=True)
    )


def sentences(trace: Trace, waits: Result | None = None) -> tuple[Sentence, ...]:
    """Return the up to three sentences that matter most.

    How the cell ended comes first, then the lines that waited longest. When the host never
    waited, or nothing ran at all, a sentence says so.
    """
    meta = trace.meta
    found: list[Sentence] = []
    if meta.status == "error":
        what = f": {meta.error.rstrip('.')}" if meta.error else ""
        found.append(Sentence(f"The code failed{what}. The profile shows what ran until then."))
    elif meta.status == "interrupted":
        found.append(Sentence("The code was interrupted. The profile shows what ran until then."))
    if meta.pending:
        were = "was" if meta.pending == 1 else "were"
        found.append(
            Sentence(
                f"{count(meta.pending, 'operator')} {were} still queued or running when recording "
                "stopped, and may be missing."
            )
        )
    if not len(trace):
        found.append(Sentence(_nothing(trace)))
        return tuple(found)
    if not trace.events.is_category("operator", "kernel", "copy").any():
        found.append(
            Sentence("No operator ran, so there are no worker rows: nothing here was asynchronous.")
        )
    if waits is None:
        try:
            waits = sync_waits(trace)
        except MissingDataError:
            return (*found, Sentence("Waits were not recorded: API calls were left out."))
    if len(waits):
        found.extend(_waits(trace, waits))
    else:
        found.extend(Sentence(note) for note in waits.notes)
    return tuple(found[:MAX_SENTENCES])


def _nothing(trace: Trace) -> str:
    if trace.meta.source and not trace.meta.source.strip():
        return "The cell is empty: there was nothing to profile."
    return "Nothing was recorded: no call into a runtime was made."


def _waits(trace: Trace, waits: Result) -> list[Sentence]:
    """Return one sentence per line that waited, the longest first; loops are summed up."""
    columns = waits.columns
    lines: dict[tuple[str, int, str], list[int]] = {}
    for row in range(len(waits)):
        key = (columns["file"][row], int(columns["line"][row]), columns["api_name"][row])
        lines.setdefault(key, []).append(row)

    def total(rows: list[int]) -> int:
        return sum(int(columns["dur_ns"][row]) for row in rows)

    found = []
    for rows in sorted(lines.values(), key=total, reverse=True)[:MAX_SENTENCES]:
        longest = rows[0]
        begin = min(int(columns["start_ns"][row]) for row in rows)
        end = max(int(columns["start_ns"][row] + columns["dur_ns"][row]) for row in rows)
        often = f" in {len(rows):,} waits, the longest" if len(rows) > 1 else ""
        text = (
            f"{_place(trace, waits, longest)} waited {duration(total(rows))}{often}"
            f" for {_cause(trace, waits, longest)}."
        )
        found.append(Sentence(text, (begin, end)))
    return found


def _place(trace: Trace, waits: Result, row: int) -> str:
    event, api = int(waits.columns["event"][row]), waits.columns["api_name"][row] or "The host"
    where = place(trace, event)
    if not where:
        return api
    text = " ".join(source_line(trace, event).split())
    if len(text) > SOURCE_CHARS:
        text = text[: SOURCE_CHARS - 1] + "…"
    return f"{where[0].upper()}{where[1:]}, {text or api},"


def _cause(trace: Trace, waits: Result, row: int) -> str:
    name, event = waits.columns["waited_for_name"][row], int(waits.columns["waited_for"][row])
    if not name:
        return "all queued work" if "WaitAll" in waits.columns["api_name"][row] else "queued work"
    queued = place(trace, event) if event >= 0 else ""
    return f"{name}, queued on {queued}" if queued else name


def remarks(trace: Trace) -> tuple[str, ...]:
    """Return what was lost, repaired or left out, one sentence each; empty when nothing was."""
    return tuple(note.message for note in trace.health.notes)
