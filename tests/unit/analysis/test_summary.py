import json
from typing import Any

import pytest

import mxprof_nb as mp
from mxprof_nb.analysis import op_summary
from mxprof_nb.errors import MissingDataError, TraceError
from mxprof_nb.trace import Meta, TraceBuilder
from mxprof_nb.trace.schema import KINDS


@pytest.fixture
def host():
    """An api call of 100 ns around a wait of 60, an operator twice, a mark."""
    builder = TraceBuilder()
    main = builder.track("MainThread", role="host")
    worker = builder.track("cpu/0 worker 1", role="worker")
    api: dict[str, Any] = {"category": "api", "domain": "MXNET_C_API"}
    work: dict[str, Any] = {"category": "operator", "domain": "operator"}
    builder.event("copy", track=main, start_ns=0, dur_ns=100, **api)
    builder.event(
        "WaitForVar", track=main, start_ns=20, dur_ns=60, category="sync", domain="operator"
    )
    builder.event("dot", track=worker, start_ns=0, dur_ns=30, **work)
    builder.event("dot", track=worker, start_ns=40, dur_ns=10, **work)
    builder.event("here", track=main, start_ns=5, kind="instant", domain="mine")
    return builder.build()


def test_a_row_says_how_often_how_long_and_which_events(host):
    table = op_summary(host, category="operator")
    columns = {name: list(values) for name, values in table.columns.items()}
    assert columns == {
        "name": ["dot"],
        "domain": ["operator"],
        "count": [2],
        "total_ns": [40],
        "self_ns": [40],
        "busy_ns": [40],
        "mean_ns": [20.0],
        "median_ns": [30],
        "p90_ns": [30],
        "p99_ns": [30],
        "min_ns": [10],
        "max_ns": [30],
        "share": [1.0],
    }
    assert host.events.start_ns[table.rows[0]].tolist() == [0, 40]


def test_self_time_leaves_out_what_another_row_already_counts(host):
    table = op_summary(host, domain="MXNET_C_API")
    assert (table.columns["total_ns"].tolist(), table.columns["self_ns"].tolist()) == ([100], [40])


def test_instants_are_left_out_and_said_to_be(host):
    table = op_summary(host)
    assert "here" not in table.columns["name"]
    assert table.notes == ("1 instant has no duration and is not counted.",)
    assert op_summary(host, domain="operator").notes == ()


def test_shares_add_up_to_one_and_the_longest_stands_first(host):
    table = op_summary(host)
    assert table.columns["name"] == ["copy", "WaitForVar", "dot"]
    assert table.columns["share"].sum() == pytest.approx(1)


def test_equal_totals_are_ordered_by_name():
    builder = TraceBuilder()
    track = builder.track("t", role="host")
    for start, name in enumerate(["b", "c", "a"]):
        builder.event(name, track=track, start_ns=start, dur_ns=1)
    assert op_summary(builder.build()).columns["name"] == ["a", "b", "c"]


def test_a_window_counts_the_parts_inside_it(host):
    table = op_summary(host, window=(10, 45))
    found = dict(zip(table.columns["name"], table.columns["total_ns"].tolist(), strict=True))
    assert found == {"copy": 35, "WaitForVar": 25, "dot": 25}
    own = dict(zip(table.columns["name"], table.columns["self_ns"].tolist(), strict=True))
    assert own["copy"] == 10
    assert table.notes == ("4 events reach beyond the time range; only the part inside counts.",)


def test_a_window_where_nothing_ran_gives_an_empty_table(host):
    table = op_summary(host, window=(500, 600))
    assert len(table) == 0
    assert list(table.frame.columns) == list(op_summary(host).frame.columns)


def test_spans_of_no_length_have_shares_that_are_numbers():
    builder = TraceBuilder()
    builder.event("quick", track=builder.track("t", role="host"), start_ns=0, dur_ns=0)
    assert op_summary(builder.build()).columns["share"].tolist() == [0.0]


def test_names_of_two_domains_are_two_rows():
    builder = TraceBuilder()
    track = builder.track("t", role="host")
    for domain in ("mine", "yours"):
        builder.event("step", track=track, start_ns=0, dur_ns=1, domain=domain)
    assert op_summary(builder.build()).columns["domain"] == ["mine", "yours"]


def test_sums_beyond_the_reach_of_floats_are_exact():
    builder = TraceBuilder()
    track = builder.track("t", role="host")
    builder.event("long", track=track, start_ns=0, dur_ns=2**60)
    builder.event("long", track=track, start_ns=0, dur_ns=1)
    assert op_summary(builder.build()).columns["total_ns"].tolist() == [2**60 + 1]


def test_a_category_that_does_not_exist_is_answered_with_the_one_meant(host):
    with pytest.raises(TraceError, match=r"Did you mean 'operator'\?"):
        op_summary(host, category="operators")


def test_by_domain_and_by_track_the_same_events_add_up_otherwise(host):
    domains = op_summary(host, by="domain").columns
    assert list(zip(domains["domain"], domains["total_ns"].tolist(), strict=True)) == [
        ("MXNET_C_API", 100),
        ("operator", 100),
    ]
    tracks = op_summary(host, by="track").columns
    assert list(zip(tracks["track_name"], tracks["total_ns"].tolist(), strict=True)) == [
        ("MainThread", 160),
        ("cpu/0 worker 1", 40),
    ]
    assert tracks["track"].tolist() == [0, 1]
    assert tracks["busy_ns"].tolist() == [100, 40], "a wait within a call is no further time"


def test_time_in_which_two_workers_ran_the_same_counts_once_as_busy():
    builder = TraceBuilder()
    for number, start in enumerate((0, 5)):
        track = builder.track(f"worker {number}", role="worker")
        builder.event("dot", track=track, start_ns=start, dur_ns=10)
    columns = op_summary(builder.build()).columns
    assert (columns["total_ns"].tolist(), columns["busy_ns"].tolist()) == ([20], [15])


@pytest.mark.parametrize("category", ["operator", ("operator", "copy"), ("api", "sync")])
def test_what_a_recording_was_told_to_leave_out_is_no_empty_table(category):
    less = mp.RecordConfig(operators=False, api=False).as_dict()
    trace = TraceBuilder(Meta(backend="embedded", config=less)).build()
    with pytest.raises(MissingDataError, match=r"op_summary needs .* RecordConfig\("):
        op_summary(trace, category=category)
    assert len(op_summary(trace, category="user")) == 0, "nobody left these out"
    assert len(op_summary(trace)) == 0


def test_what_is_no_way_to_group_is_answered_with_those_there_are(host):
    with pytest.raises(TraceError, match=r"Did you mean 'name'\? They can by name, domain, track"):
        op_summary(host, by="names")


def test_a_profile_is_a_trace_and_a_frame_is_told_that_it_is_none(host):
    profile = mp.Profile(host)
    assert op_summary(profile).frame.equals(op_summary(host).frame)
    with pytest.raises(TraceError, match="'DataFrame' is none"):
        op_summary(profile.events)  # type: ignore[arg-type]


def test_figures_agree_with_the_aggregate_that_mxnet_made_of_the_same_run(shared_dir):
    """MXNet writes each operator twice; its aggregate counts the copy on the device's track."""
    trace = mp.load(shared_dir / "golden/mxnet/seed2_train.json").trace
    events = trace.events
    copies = (events.domain == trace.strings.code("operator")) & (
        events.kind == KINDS.index("async")
    )
    told = json.loads((shared_dir / "golden/mxnet/seed2_train_dumps.json").read_text())["Time"]
    table = op_summary(trace.take(~copies)).columns
    of_mxnet = {
        (domain, name): row
        for domain, rows in told.items()
        for name, row in rows.items()
        if not name.startswith("MXNet C API")  # its two counters
    }
    assert set(zip(table["domain"], table["name"], strict=True)) == set(of_mxnet)
    assert len(of_mxnet) == 39
    figures = {"Count": "count", "Total": "total_ns", "Min": "min_ns", "Max": "max_ns"}
    for place, key in enumerate(zip(table["domain"], table["name"], strict=True)):
        for theirs, ours in {**figures, "Avg": "mean_ns"}.items():
            figure = float(table[ours][place]) / (1 if ours == "count" else 1e6)
            assert float(f"{figure:.4g}") == of_mxnet[key][theirs], (key, theirs)
