"""Laws of the analyses: what they say does not depend on how a trace is written down."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from mxprof_nb.analysis import launch_latency, op_summary, step_breakdown, sync_waits
from mxprof_nb.record.steps import number_steps
from mxprof_nb.trace import Meta, Trace, TraceBuilder

HOST, LOADER, WORKERS = 0, 1, (2, 3)


@dataclass(frozen=True)
class Operator:
    """One operator of the program: queued, begun and ended later, waited for or not."""

    name: str
    queued: int
    delay: int
    dur: int
    worker: int
    waited: bool


operators = st.lists(
    st.builds(
        Operator,
        name=st.sampled_from(["dot", "sum", "exp"]),
        queued=st.integers(0, 60),
        delay=st.integers(0, 30),
        dur=st.integers(0, 20),
        worker=st.sampled_from(WORKERS),
        waited=st.booleans(),
    ),
    min_size=1,
    max_size=10,
    unique_by=lambda operator: operator.queued,
)
cuts = st.lists(st.integers(1, 59), max_size=3, unique=True).map(lambda found: [0, *sorted(found)])


def run(
    program: list[Operator],
    starts: list[int],
    *,
    order: list[int] | None = None,
    shift: int = 0,
    names: tuple[str, ...] = ("MainThread", "loader", "worker 1", "worker 2"),
) -> Trace:
    """Return the trace of a program, its events handed over in ``order``."""
    builder = TraceBuilder(Meta(backend="embedded"))
    for name, role in zip(names, ("host", "host", "worker", "worker"), strict=True):
        builder.track(name, role=role)
    columns: list[dict[str, object]] = []
    for number, (begin, end) in enumerate(zip(starts, [*starts[1:], 200], strict=True)):
        columns.append(
            {"name": "step", "track": HOST, "start_ns": begin, "dur_ns": end - begin,
             "category": "user", "domain": "step", "step": number}
        )  # fmt: skip
    flows = []
    for number, op in enumerate(program):
        call = {"track": HOST, "category": "api", "correlation": number, "dur_ns": 0}
        columns.append({"name": "invoke", "start_ns": op.queued, **call})
        begin = op.queued + op.delay
        columns.append(
            {"name": op.name, "track": op.worker, "start_ns": begin, "dur_ns": op.dur,
             "category": "operator", "domain": "operator", "queued_ns": op.queued,
             "correlation": number}
        )  # fmt: skip
        if op.waited:
            columns.append(
                {"name": "WaitForVar", "track": LOADER, "start_ns": begin, "dur_ns": op.dur,
                 "category": "sync", "correlation": number}
            )  # fmt: skip
            flows.append((len(columns) - 2, len(columns) - 1))
    rows: dict[int, int] = {}
    for place in order if order is not None else range(len(columns)):
        if place < len(columns):
            event = dict(columns[place])
            event["start_ns"] += shift  # type: ignore[operator]
            if "queued_ns" in event:
                event["queued_ns"] += shift  # type: ignore[operator]
            rows[place] = builder.event(**event)  # type: ignore[arg-type]
    for source, target in flows:
        builder.flow(rows[source], rows[target], "read_after_write")
    return number_steps(builder.build())


def ordered(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows in an order that depends on their content alone."""
    return frame.sort_values([str(name) for name in frame.columns]).reset_index(drop=True)


def said(trace: Trace) -> dict[str, pd.DataFrame]:
    """Return every analysis of a trace, without numbers of rows and in one order."""
    waits = sync_waits(trace).frame.drop(columns=["event", "waited_for"])
    return {
        "names": op_summary(trace).frame,
        "domains": op_summary(trace, by="domain").frame,
        "tracks": op_summary(trace, by="track").frame,
        "steps": op_summary(trace, by="step").frame,
        "latency": launch_latency(trace).frame,
        "breakdown": step_breakdown(trace).frame,
        "waits": ordered(waits),
    }


@given(operators, cuts, st.randoms(use_true_random=False))
def test_analyses_do_not_depend_on_the_order_in_which_rows_were_written(program, starts, random):
    order = list(range(len(starts) + 3 * len(program)))
    random.shuffle(order)
    one, other = said(run(program, starts)), said(run(program, starts, order=order))
    assert all(one[name].equals(other[name]) for name in one)


@given(operators, cuts, st.integers(1, 10**15))
def test_analyses_do_not_depend_on_where_time_begins(program, starts, shift):
    one, other = said(run(program, starts)), said(run(program, starts, shift=shift))
    for frames in (one, other):
        for name in ("breakdown", "waits"):
            frames[name]["start_ns"] -= shift if frames is other else 0
    assert all(one[name].equals(other[name]) for name in one)


@given(operators, cuts)
def test_analyses_do_not_depend_on_what_the_tracks_are_called(program, starts):
    names = ("a", "b", "c", "d")
    one, other = run(program, starts), run(program, starts, names=names)
    called = {
        one.strings[int(code)]: name for code, name in zip(one.tracks.name, names, strict=True)
    }
    first, second = said(one), said(other)
    first["breakdown"] = first["breakdown"].rename(
        columns={f"busy_ns: {old}": f"busy_ns: {new}" for old, new in called.items()}
    )
    for name in ("tracks", "waits"):
        told = [called[track] for track in first[name]["track_name"]]
        first[name]["track_name"] = pd.Series(told, dtype=first[name]["track_name"].dtype)
        first[name], second[name] = ordered(first[name]), ordered(second[name])
    assert all(first[name].equals(second[name]) for name in first)


@given(operators, cuts)
def test_self_times_of_a_track_add_up_to_its_busy_time(program, starts):
    trace = run(program, starts)
    columns = op_summary(trace, by="track").columns
    alone = trace.lane == 0  # what overlaps without nesting covers its neighbours
    for track, own, busy in zip(
        columns["track"], columns["self_ns"], columns["busy_ns"], strict=True
    ):
        assert own >= busy
        if alone[trace.events.track == track].all():
            assert own == busy


@given(operators, cuts)
def test_a_step_is_busy_or_idle_and_the_workers_cover_its_busy_time(program, starts):
    columns = step_breakdown(run(program, starts)).columns
    workers = np.stack([values for name, values in columns.items() if name.startswith("busy_ns:")])
    assert (columns["busy_ns"] + columns["idle_ns"] == columns["wall_ns"]).all()
    assert (workers.max(axis=0) <= columns["busy_ns"]).all()
    assert (columns["busy_ns"] <= workers.sum(axis=0)).all()
    assert columns["wall_ns"].sum() == 200
    assert columns["operators"].sum() == len(program)
    assert columns["work_ns"].sum() == sum(operator.dur for operator in program)


@given(operators, cuts)
def test_latencies_agree_with_a_loop_over_the_operators(program, starts):
    columns = launch_latency(run(program, starts)).columns
    for place, name in enumerate(columns["name"]):
        delays = sorted(operator.delay for operator in program if operator.name == name)
        assert columns["count"][place] == len(delays)
        assert columns["total_ns"][place] == sum(delays)
        for column, percent in (("median_ns", 50), ("p90_ns", 90), ("p99_ns", 99)):
            assert columns[column][place] == np.percentile(delays, percent, method="higher")


@given(operators, cuts)
def test_a_trace_written_with_its_steps_says_the_same_about_them(program, starts):
    trace = run(program, starts)
    again = number_steps(replace(trace, meta=Meta()))
    assert np.array_equal(again.events.step, trace.events.step)
