"""Rows that only the one who ran the code can add to a trace: repetitions, and lines of a cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from mxprof_nb.record.clock import SYSTEM
from mxprof_nb.record.lines import LineLog, hit_cost_ns
from mxprof_nb.trace import Cost, Trace, TraceBuilder
from mxprof_nb.trace.tables import EventTable

__all__ = ["LINES", "STEPS", "Repetition", "annotated", "with_earlier_work"]

#: Domains of what is added.
STEPS, LINES = "step", "Cell lines"
REPETITION, WARM_UP = "repetition", "warm-up"
LINE_CATEGORY, LINE_ROLE, STEP_ROLE = "python", "line", "mark"


@dataclass(slots=True)
class Repetition:
    """One run of a cell that is run several times, until what it had queued was done.

    Attributes
    ----------
    begin_ns, end_ns : int
        By `SYSTEM`; the end is -1 as long as it runs.
    warm_up : bool
        Whether it is left out of all figures.
    """

    begin_ns: int
    end_ns: int
    warm_up: bool


def annotated(
    trace: Trace, repetitions: Sequence[Repetition], lines: LineLog | None, text: str, end_ns: int
) -> Trace:
    """Return a trace with the repetitions and the lines of the cell among its events.

    What ran in warm-ups only is left out.

    Parameters
    ----------
    trace : Trace
    repetitions : sequence of Repetition
    lines : LineLog or None
    text : str
        Source of the cell.
    end_ns : int
        When the code returned, by `SYSTEM`.
    """
    written = 0 if lines is None else len(lines)
    if trace.meta.origin_epoch_ns < 0 or not (repetitions or written):
        return trace  # a backend that does not know when it recorded
    shift = SYSTEM.epoch_of(0) - trace.meta.origin_epoch_ns
    trace = _without_warm_ups(trace, repetitions, shift)
    builder = TraceBuilder.joining([trace])
    builder.meta = trace.meta
    begin = trace.window_ns[0]
    if repetitions:
        _add_repetitions(builder, repetitions, shift)
    if lines is not None and written:
        _add_lines(builder, lines, text, begin, shift, end_ns)
        builder.meta = replace(builder.meta, cost=_with_lines(trace.meta.cost, written))
    return _numbered(builder.build(), repetitions, shift)


def _without_warm_ups(trace: Trace, repetitions: Sequence[Repetition], shift: int) -> Trace:
    counted = [one.begin_ns + shift for one in repetitions if not one.warm_up]
    if not counted or not repetitions[0].warm_up:
        return trace
    part = trace.between(counted[0], max(trace.window_ns[1], counted[0]))
    meta = replace(trace.meta, window_ns=part.window_ns, cost=part.meta.cost)
    return replace(part, meta=meta)  # not a choice among what was recorded, for its history


def _add_repetitions(builder: TraceBuilder, repetitions: Sequence[Repetition], shift: int) -> None:
    track = builder.track("repetitions", role=STEP_ROLE, order=0)
    number = 0
    for one in repetitions:
        number += not one.warm_up
        builder.event(
            WARM_UP if one.warm_up else REPETITION,
            track=track,
            start_ns=one.begin_ns + shift,
            dur_ns=max(one.end_ns - one.begin_ns, 0),
            domain=STEPS,
            step=-1 if one.warm_up else number,
        )


def _add_lines(
    builder: TraceBuilder, lines: LineLog, text: str, begin: int, shift: int, end_ns: int
) -> None:
    track = builder.track("cell lines", role=LINE_ROLE, order=0)
    source = text.splitlines()
    for span in lines.spans(end_ns):
        if span.end_ns + shift <= begin:
            continue  # in a warm-up
        known = 0 < span.line <= len(source)
        builder.event(
            f"line {span.line}",
            track=track,
            start_ns=span.begin_ns + shift,
            dur_ns=span.end_ns - span.begin_ns,
            category=LINE_CATEGORY,
            domain=LINES,
            site=builder.site(
                lines.file, span.line, "", source[span.line - 1].strip() if known else None
            ),
        )
    if lines.sampled:
        count = len(lines.sampled)
        which = "Line" if count == 1 else "Lines"
        builder.note(
            "sampled",
            count,
            f"{which} {_listed(sorted(lines.sampled))} of the cell ran more than "
            f"{lines.most:,} times: from then on the row of cell lines leaves "
            f"{'it' if count == 1 else 'them'} out.",
        )


def _listed(numbers: Sequence[int]) -> str:
    texts = [str(number) for number in numbers]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"


def _with_lines(cost: Cost | None, hits: int) -> Cost | None:
    if cost is None:
        return None
    total, records = cost.total_ns + round(hits * hit_cost_ns()), cost.records + hits
    return Cost(total, records, cost.per_record_ns)


def _numbered(trace: Trace, repetitions: Sequence[Repetition], shift: int) -> Trace:
    """Return the trace with the number of the repetition in which each event was asked for."""
    counted = [one for one in repetitions if not one.warm_up]
    if not counted:
        return trace
    events = trace.events
    asked = np.where(events.queued_ns >= 0, events.queued_ns, events.start_ns) - shift
    begins = np.array([one.begin_ns for one in counted], dtype=np.int64)
    # The last lasts until the end: what is asked for afterwards belongs to nobody else.
    step = np.searchsorted(begins, asked, side="right").astype(np.int32)
    step[step == 0] = -1
    step.flags.writeable = False
    return replace(trace, events=replace(events, step=step))


def with_earlier_work(trace: Trace, *, knows_queue: bool) -> Trace:
    """Return the trace with the operators that were queued before it began marked as such.

    Parameters
    ----------
    trace : Trace
    knows_queue : bool
        Whether every operator that was queued while recording has the time at which it was.
    """
    events: EventTable = trace.events
    begin = trace.window_ns[0]
    work = events.is_category("operator", "copy", "kernel")
    work &= ~trace.tracks.is_role("host")[events.track]
    earlier = work & (events.queued_ns >= 0) & (events.queued_ns < begin)
    if knows_queue:
        earlier |= work & (events.queued_ns < 0)
    count = int(earlier.sum())
    if not count:
        return trace
    marked = np.where(earlier, 1, -1).astype(np.int8)
    marked.flags.writeable = False
    trace = replace(trace, events=replace(events, earlier=marked))
    text = (
        "1 operator was queued before this profile began, by an earlier cell or a warm-up"
        if count == 1
        else f"{count:,} operators were queued before this profile began, by an earlier cell or a "
        "warm-up"
    )
    health = trace.health.with_note("earlier", count, f"{text}, and ran within it.")
    return replace(trace, health=health)
