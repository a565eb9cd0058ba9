from __future__ import annotations

import json
from dataclasses import replace

import numpy as np

from mxprof_nb.trace import Cost, Trace, TraceBuilder
from mxprof_nb.view.report import text_summary
from mxprof_nb.view.tables import CLOSE, aligned, events_of, grids, row_of
from tests.traces import dot_cell, many


def operators(per_record_ns: float, **names: tuple[int, int]) -> Trace:
    """Operators by name: how many, and how long each."""
    builder = TraceBuilder()
    worker = builder.track("cpu/0 worker 1", role="worker")
    start = 0
    for name, (times, dur_ns) in names.items():
        for _ in range(times):
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
    assert CLOSE in text_summary(trace), "the terminal says so, too"


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


def test_cells_hold_numbers_only_in_the_unit_of_their_head():
    trace = operators(0.0, exp=(3, 2_000_000), dot=(1, 171_400_000), tanh=(1, 20_400))
    (grid,) = grids(trace)
    assert grid.headings == (
        "name", "count", "total ms", "self ms", "mean ms", "p90 ms", "max ms", "share %",
    )  # fmt: skip
    assert grid.rows[0] == ("dot", "1", "171", "171", "171", "171", "171", "97")
    assert grid.rows[1] == ("exp", "3", "6.00", "6.00", "2.00", "2.00", "2.00", "3")
    assert grid.rows[2][2] == "0.020", "of three digits one is lost; the exact value is kept"
    assert grid.columns[2].values == (171_400_000, 6_000_000, 20_400)


def test_counters_of_several_units_tell_theirs_in_a_column_and_those_of_one_in_the_head():
    builder = TraceBuilder()
    track = builder.track("counters", role="counter")
    builder.counter("clock", track=track, time_ns=0, value=1.5, unit="GHz")
    (grid,) = grids(builder.build())
    assert grid.headings == ("name", "count", "min GHz", "mean GHz", "max GHz", "last GHz")
    builder.counter("load", track=track, time_ns=0, value=70.0, unit="%")
    builder.counter("beyond", track=track, time_ns=0, value=1e308, unit="%")
    builder.counter("beyond", track=track, time_ns=1, value=-1e308, unit="%")
    (grid,) = grids(builder.build())
    assert grid.headings == ("name", "count", "min", "mean", "max", "last", "unit")
    rows = {row[0]: row[1:] for row in grid.rows}
    assert rows["clock"] == ("1", "1.50", "1.50", "1.50", "1.50", "GHz")
    assert rows["load"][-1] == "%"
    json.dumps(grid.described(), allow_nan=False)
    assert not grid.linked


def test_points_of_numbers_stand_below_one_another():
    assert aligned(["171", "0.040", "<0.001"], digit="0", point=".") == [
        "171.000", "0.040", "<0.001",
    ]  # fmt: skip
    assert aligned(["1", "12"]) == ["1", "12"]
    assert aligned([]) == []


def test_the_row_of_an_event_is_about_that_event():
    for trace in (dot_cell(), many(300)):
        counted = np.zeros(len(trace), dtype=bool)
        for grid in grids(trace):
            for name in grid.columns[0].texts:
                counted[events_of(trace, grid.title, name)] = True
        for event in range(len(trace)):
            row = row_of(trace, event)
            assert (row is not None) == counted[event]
            assert row is None or event in events_of(trace, *row)
    assert not len(events_of(dot_cell(), "Operators", "nobody"))
    assert not len(events_of(dot_cell(), "nothing", "dot"))


def test_more_rows_than_asked_for_are_counted():
    (grid,) = grids(operators(0.0, **{f"op{k}": (1, 1_000 - k) for k in range(30)}), most=7)
    assert (len(grid.rows), grid.total) == (7, 30)
    assert "The first 7 of 30 rows." in grid.notes
