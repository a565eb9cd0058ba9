"""The headline and the sentences that come before any picture; plain text, in every form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mxprof_nb.analysis import (
    BLOCKING_CALLS,
    Overview,
    Result,
    failures,
    longest_own_code,
    overview,
    records_calls,
    records_operators,
    records_waits,
    spread_of_repetitions,
    sync_waits,
)
from mxprof_nb.analysis.places import shorten
from mxprof_nb.errors import MissingDataError
from mxprof_nb.trace import Health, Trace
from mxprof_nb.trace.remembering import remembered
from mxprof_nb.view.numbers import count, duration, share
from mxprof_nb.view.places import place, source_line

__all__ = ["Sentence", "headline", "remarks", "sentences"]

#: More workers than this are summed up in the headline.
NAMED_WORKERS = 4
MAX_SENTENCES = 3
#: The code ended well before the range did when it took less than this part of it.
WELL_BEFORE = 0.95
SOURCE_CHARS = 60
ERROR_CHARS = 120
#: Below this a stretch outside recorded calls is not worth a sentence, however short the cell.
OWN_CODE_NS = 1_000_000
#: Loading data is worth a sentence when it took this part of the time.
WORTH_LOADING = 0.25


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence, and the stretch of time it speaks of (None: the run as a whole)."""

    text: str
    window_ns: tuple[int, int] | None = None

    def __str__(self) -> str:
        return self.text


@remembered
def headline(trace: Trace, facts: Overview | None = None) -> str:
    """Return one line: wall time, waits, workers, events, cost of recording, health.

    Waits and workers are left out where nobody recorded them.

    Parameters
    ----------
    trace : Trace
    facts : Overview, optional
        What `mxprof_nb.analysis.overview` returns for this trace, where it is known already.
    """
    facts = facts or overview(trace)
    parts = [
        _repeated(trace),
        _took(facts, cut=_wait_was_cut(trace)),
        _waited(facts),
        _workers(facts),
        _events(facts),
    ]
    if facts.cost is not None:
        part = facts.cost.total_ns / facts.span_ns if facts.span_ns else 0.0
        fine = f"{part * 100:.1f} %" if 0.0005 <= part < 0.1 else share(part)
        parts.append(f"recording cost {duration(facts.cost.total_ns)} ({fine})")
    if not facts.health.ok:
        parts.append(f"{count(len(facts.health.notes), 'remark')} below")
    return " · ".join(part for part in parts if part)


def _repeated(trace: Trace) -> str:
    """Return how far the repetitions of the code spread; nothing where it ran once."""
    spread = spread_of_repetitions(trace)
    if spread is None:
        return ""
    after = f" after {count(spread.warm_ups, 'warm-up')}" if spread.warm_ups else ""
    runs = f"{count(spread.count, 'repetition')}{after}"
    low, high = duration(spread.min_ns), duration(spread.max_ns)
    if spread.count == 1:
        return f"{runs}: {low}"
    return f"{runs}: median {duration(spread.median_ns)}, {low} to {high}"


def _events(facts: Overview) -> str:
    """Return how many events there are, and how many more were not kept."""
    told, beyond = count(facts.events, "event"), _not_kept(facts.health)
    return f"{told}, {beyond:,} more not kept" if beyond else told


def _not_kept(health: Health) -> int:
    """Return how many records were dropped, because there were too many."""
    return sum(note.count for note in health.notes if note.code == "capped")


def _took(facts: Overview, *, cut: bool) -> str:
    """Return how long the code took, and the work it left behind where that took longer.

    ``cut`` says that the code had returned, and that the wait for its work was interrupted.
    """
    ended = {"error": "failed after ", "interrupted": "interrupted after "}.get(facts.status, "")
    if cut:
        ended = "returned after "
    until_ns = facts.span_ns if facts.pending else facts.drained_ns
    wall, until = duration(facts.wall_ns), duration(until_ns)
    if until_ns <= facts.wall_ns or until == wall:
        return f"{ended}{wall}"
    if cut:
        rest = "the wait for queued work was interrupted at"
    else:
        rest = "queued work had not ended at" if facts.pending else "queued work ended at"
    return f"{ended or 'returned after '}{wall}; {rest} {until}"


def _wait_was_cut(trace: Trace) -> bool:
    """Return whether what was interrupted was the wait for queued work, after the code.

    The code had returned well before the end of the range, and work was left over: when it was
    the code itself that was interrupted, what it had queued ends soon after.
    """
    meta, (begin, end) = trace.meta, trace.window_ns
    if meta.status != "interrupted" or not meta.pending or not begin <= meta.returned_ns < end:
        return False
    return meta.returned_ns - begin < WELL_BEFORE * (end - begin)


def _waited(facts: Overview) -> str:
    """Return how much of the time the host waited; nothing where nobody recorded it."""
    if not facts.waits:
        return "host never waited" if facts.knows_waits else ""
    waited, waits = duration(facts.waited_ns), count(facts.waits, "wait")
    if facts.waiting > 1:  # a share of the time would not say whose
        return f"{facts.waiting} host threads waited {waited} in all, in {waits}"
    of_wall = f" ({share(facts.waited_ns / facts.wall_ns)})" if facts.wall_ns else ""
    return f"host waited {waited}{of_wall} in {waits}"


def _workers(facts: Overview) -> str:
    """Return how busy the workers were, by name while they are few."""
    workers = facts.busy
    if _not_kept(facts.health):  # what ran on the others may be what was dropped
        workers = tuple(entry for entry in workers if entry[1] > 0)
    if not workers:
        return ""
    if len(workers) > NAMED_WORKERS:
        busy = sum(part > 0 for _, part in workers)
        if not busy:
            return f"{len(workers):,} workers idle"
        name, most = max(workers, key=lambda entry: entry[1])
        return f"{busy:,} of {len(workers):,} workers busy, most {name} with {share(most)}"
    # "cpu/0 worker 1, cpu/0 worker 2" says the device twice: leave out what all have in common.
    words = [name.split(" ") for name, _ in workers]
    same = len({word[0] for word in words}) == 1 and "/" in words[0][0]
    same = same and all(len(word) > 1 for word in words)
    return ", ".join(
        f"{' '.join(word[1:] if same else word)} {f'busy {share(part)}' if part > 0 else 'idle'}"
        for word, (_, part) in zip(words, workers, strict=True)
    )


@remembered
def sentences(trace: Trace, waits: Result | None = None) -> tuple[Sentence, ...]:
    """Return the up to three sentences that matter most.

    How the cell ended comes first, then the time outside recorded calls where that was most of
    it, then the lines that waited longest. When the host never waited, or nothing ran at all, a
    sentence says so; and also when the trace does not tell.
    """
    meta = trace.meta
    found: list[Sentence] = []
    if meta.status == "error":
        what = f": {meta.error.rstrip('.')}" if meta.error else ""
        found.append(Sentence(f"The code failed{what}. The profile shows what ran until then."))
    elif meta.status == "interrupted":
        what = "wait for queued work" if _wait_was_cut(trace) else "code"
        found.append(
            Sentence(f"The {what} was interrupted. The profile shows what ran until then.")
        )
    if meta.pending:
        were = "was" if meta.pending == 1 else "were"
        found.append(
            Sentence(
                f"{count(meta.pending, 'operator')} {were} still queued or running when recording "
                "stopped, and may be missing."
            )
        )
    if meta.status != "error":  # that tells of the one that was noticed
        found.extend(_failed(trace))
    # Lines and repetitions of a cell are there whatever it does.
    if trace.tracks.is_role("mark", "line")[trace.events.track].all():
        found.append(Sentence(_nothing(trace)))
        return tuple(found)
    found.extend(_how_it_ran(trace))
    if waits is None:
        try:
            waits = sync_waits(trace)
        except MissingDataError:
            return (*found, Sentence("Waits were not recorded: API calls were left out."))
    own_code = _loading(trace) or _own_code(trace)
    found.extend(own_code)
    if len(waits):
        found.extend(_waits(trace, waits))
    elif not records_waits(trace):
        found.extend(Sentence(note) for note in waits.notes)
        found.extend(_blocking_call(trace))
    elif not own_code:
        found.extend(Sentence(note) for note in waits.notes)
    return tuple(found[:MAX_SENTENCES])


def _how_it_ran(trace: Trace) -> list[Sentence]:
    """Return the sentence on a run without asynchronous work, where that is known."""
    operators = trace.events.is_category("operator")
    if trace.meta.config.get("operators", True) is False:
        return [Sentence("Operators were not recorded.")]
    loaders = trace.tracks.is_role("data")[trace.events.track].any()
    if not records_operators(trace) or loaders:  # which work beside the program, too
        return []
    if not operators.any() and not trace.meta.pending:
        text = "No operator ran, so there are no worker rows: nothing here was asynchronous."
    elif operators.any() and _runs_within_calls(trace, operators):
        text = "Each operator ran within the call that asked for it: nothing here was asynchronous."
    else:
        return []
    return [Sentence(text)]


def _runs_within_calls(trace: Trace, operators: NDArray[np.bool_]) -> bool:
    """Return whether operators ran on the threads that asked for them.

    Those written in Python have threads of the host's, too, but of their own.
    """
    events = trace.events
    if not trace.tracks.is_role("host")[events.track[operators]].all():
        return False
    calls = np.flatnonzero(events.is_category("api") & (events.correlation > 0))
    calls = calls[np.argsort(events.correlation[calls], kind="stable")]
    numbers = events.correlation[operators]
    if not len(calls):
        return True
    at = np.searchsorted(events.correlation[calls], numbers).clip(max=len(calls) - 1)
    asked = events.correlation[calls[at]] == numbers
    return bool((events.track[calls[at]] == events.track[operators])[asked].all())


def _failed(trace: Trace) -> list[Sentence]:
    """Return the sentence on operators that failed, which nobody may have noticed yet."""
    found = failures(trace)
    if not found:
        return []
    row, why = next(iter(found.items()))
    events, others = trace.events, len(found) - 1
    name = trace.strings[int(events.name[row])].removesuffix("::pure_python")
    more = f" ({others:,} more failed)" if others else ""
    where = place(trace, row)
    queued = f", queued on {where}," if where else ""
    window = (int(events.start_ns[row]), int(events.end_ns[row]))
    text = f"{name}{queued} failed: {shorten(why, ERROR_CHARS).rstrip('.')}{more}."
    return [Sentence(text, window)]


def _nothing(trace: Trace) -> str:
    if trace.meta.source and not trace.meta.source.strip():
        return "The cell is empty: there was nothing to profile."
    if _not_kept(trace.health):
        return "Nothing of what ran was kept: there were more records than the limit allows."
    if records_calls(trace):
        return "Nothing was recorded: no call into a runtime was made."
    return "There are no events in this trace."


def _blocking_call(trace: Trace) -> list[Sentence]:
    """Return the sentence on the longest call made to wait, where waits themselves are unknown."""
    events, strings = trace.events, trace.strings
    if records_waits(trace):
        return []
    known = [code for code in map(strings.code, BLOCKING_CALLS) if code >= 0]
    calls = np.flatnonzero(events.is_category("api") & np.isin(events.name, known))
    if not len(calls):
        return []
    row = calls[np.argmax(events.dur_ns[calls])]
    name, took = strings[int(events.name[row])], duration(int(events.dur_ns[row]))
    window = (int(events.start_ns[row]), int(events.end_ns[row]))
    return [Sentence(f"The longest call made to wait, {name}, took {took}.", window)]


def _loading(trace: Trace) -> list[Sentence]:
    """Return the sentence on batches loaded where they were asked for, if that took long."""
    events = trace.events
    on_host = trace.tracks.is_role("host")[events.track]
    of_loaders = events.domain == trace.strings.code("data loading")
    rows = np.flatnonzero(events.is_category("io") & on_host & of_loaders)
    spent_ns = int(events.dur_ns[rows].sum())
    if spent_ns < max(overview(trace).wall_ns * WORTH_LOADING, OWN_CODE_NS):
        return []
    longest = int(rows[np.argmax(events.dur_ns[rows])])
    where, text = place(trace, longest), source_line(trace, longest)
    line = f"{where[0].upper()}{where[1:]}, {shorten(text, SOURCE_CHARS)}," if where else "The host"
    window = (int(events.start_ns[rows[0]]), int(events.end_ns[rows].max()))
    return [
        Sentence(
            f"{line} spent {duration(spent_ns)} loading {count(len(rows), 'batch', 'batches')}; "
            "workers of the DataLoader (num_workers=) would load ahead.",
            window,
        )
    ]


def _own_code(trace: Trace) -> list[Sentence]:
    """Return the sentence on the time outside recorded calls where that was most of it.

    It was the program's own code, as a rule; or a library, ours included, whose calls nobody
    recorded: the sentence does not claim more than is known.
    """
    longest, wall_ns = longest_own_code(trace), overview(trace).wall_ns
    if longest is None or longest.dur_ns < max(wall_ns / 2, OWN_CODE_NS):
        return []
    # Some calls have no line of their own: dropping an array, for instance.
    calls = np.flatnonzero(trace.events.is_category("api") & (trace.events.site >= 0))
    earlier, later = calls[calls <= longest.before], calls[calls >= longest.after]
    before = place(trace, int(earlier[-1])) if len(earlier) else ""
    after = place(trace, int(later[0])) if longest.after >= 0 and len(later) else ""
    if longest.before < 0:
        where = f"before {after or 'the first of them'}"
    elif longest.after < 0:
        where = f"after {before or 'the last of them'}"
    elif before and before == after:
        where = f"between two on {before}"
    elif before and after:
        where = f"between {before} and {after}"
    else:
        where = "between two of them"
    window = (longest.begin_ns, longest.end_ns)
    text = f"{duration(longest.dur_ns)} passed outside recorded calls, {where}."
    return [Sentence(text, window)]


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
    text = shorten(source_line(trace, event), SOURCE_CHARS)
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
