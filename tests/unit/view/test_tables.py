from __future__ import annotations

from dataclasses import replace

from mxprof_nb.trace import Cost, Trace, TraceBuilder
from mxprof_nb.view.tables import CLOSE, grids


def operators(per_record_ns: float, **names: tuple[int, int]) -> Trace:
    """Operators by name: how many, and how long each."""
    builder = TraceBuilder()
    worker = builder.track("cpu/0 worker 1", role="worker")
    start = 0
    for name, (many, dur_ns) in names.items():
        for _ in range(many):
            builder.event(
                name, track=worker, start_ns=start, dur_ns=dur_ns, category="operator",
                domain="operator",
            )  # fmt: skip
            start += dur_ns
    trace = builder.build()
    return replace(trace, meta=replace(trace.meta, cost=Cost(0, 0, per_record_ns)))


def marked(trace: Trace) -> list[str]:
    [grid] = grids(trace)
    (total,) = (column for column in grid.columns if column.key == "total_ns")
    names = grid.columns[0].texts
    return [name for name, text in zip(names, total.texts, strict=True) if text.startswith("≈ ")]


def test_rows_that_recording_may_have_put_in_this_order_are_marked():
    # 100 times 20 ns may be 2,000 ns of recording: exp may have taken less than dot.
    trace = operators(20.0, exp=(100, 100), dot=(1, 9_000), tanh=(1, 1_000))
    assert marked(trace) == ["exp", "dot"]
    assert CLOSE in grids(trace)[0].notes


def test_rows_that_are_not_neighbours_may_change_places_too():
    trace = operators(90.0, exp=(100, 100), dot=(1, 9_000), tanh=(1, 8_000))
    assert marked(trace) == ["exp", "dot", "tanh"]


def test_rows_far_apart_are_not_marked():
    trace = operators(20.0, exp=(100, 100), dot=(1, 1_000))
    assert marked(trace) == []
    assert CLOSE not in grids(trace)[0].notes


def test_where_the_cost_is_not_known_nothing_is_marked():
    trace = operators(20.0, exp=(100, 100), dot=(1, 9_999))
    assert marked(replace(trace, meta=replace(trace.meta, cost=None))) == []
