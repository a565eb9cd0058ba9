import numpy as np
import pytest

from mxprof_nb.analysis import wait_lines
from mxprof_nb.trace import Meta, TraceBuilder
from tests.traces import MS, dot_cell

CELL = "<cell 4>"


@pytest.fixture
def builder():
    builder = TraceBuilder(Meta(source_file=CELL))
    builder.track("MainThread", role="host")
    return builder


def wait(builder, start, dur, *, site=-1, domain="operator"):
    builder.event(
        "WaitForVar",
        track=0,
        start_ns=start,
        dur_ns=dur,
        category="sync",
        domain=domain,
        site=site,
    )


def test_the_table_of_waits_has_a_row_per_line_that_waited_and_not_one_for_all():
    table = wait_lines(dot_cell())
    assert table.columns["name"] == ["line 9, z.wait_to_read()", "line 7, y.asnumpy()"]
    assert table.columns["total_ns"].tolist() == [204_000_000, 167_200_000]
    assert table.columns["domain"] == ["operator", "operator"]
    assert list(table.columns) == [
        *("name", "domain", "count", "total_ns", "mean_ns", "median_ns", "p90_ns", "p99_ns"),
        *("min_ns", "max_ns", "share"),
    ]


def test_waits_of_a_loop_are_one_row_of_its_line(builder):
    loop, last = (builder.site(CELL, line, "<module>", "y.asnumpy()") for line in (3, 5))
    for number in range(10):
        wait(builder, 100 * number, number + 1, site=loop)
    wait(builder, 2_000, 45, site=last)
    table = wait_lines(builder.build())
    assert table.columns["name"] == ["line 3, y.asnumpy()", "line 5, y.asnumpy()"]
    assert table.columns["count"].tolist() == [10, 1]
    assert table.columns["total_ns"].tolist() == [55, 45]
    assert table.columns["mean_ns"].tolist() == [5.5, 45.0]
    assert table.columns["p90_ns"].tolist() == [10, 45]
    assert table.columns["share"].tolist() == [0.55, 0.45]
    assert [len(rows) for rows in table.rows] == [10, 1]


def test_a_long_line_is_cut_to_fit_beside_its_figures(builder):
    site = builder.site(CELL, 3, "<module>", "y = " + "f(" * 50)
    wait(builder, 0, 5, site=site)
    (name,) = wait_lines(builder.build()).columns["name"]
    assert name.startswith("line 3, y = f(f(")
    assert name.endswith("…")
    assert len(name) < 55


def test_a_wait_has_the_line_of_the_call_around_it(builder):
    site = builder.site("train.py", 8, "<module>", "")
    builder.event("MXNDArrayWaitAll", track=0, start_ns=0, dur_ns=90, category="api", site=site)
    wait(builder, 3, 5)
    assert wait_lines(builder.build()).columns["name"] == ["line 8 of train.py"]


def test_where_no_line_is_known_the_call_is_named_and_else_the_wait(builder):
    builder.event("MXNDArrayWaitAll", track=0, start_ns=0, dur_ns=90, category="api")
    wait(builder, 3, 50)
    wait(builder, 200, 5)
    assert wait_lines(builder.build()).columns["name"] == ["MXNDArrayWaitAll", "WaitForVar"]


def test_waits_that_returned_at_once_are_none(builder):
    wait(builder, 3, 0)
    assert len(wait_lines(builder.build())) == 0


def test_only_the_part_in_the_time_range_counts():
    begin = dot_cell().window_ns[0]
    table = wait_lines(dot_cell(), window=(begin + 100 * MS, begin + 101 * MS))
    assert table.columns["total_ns"].tolist() == [MS]
    assert table.notes == ("1 event reaches beyond the time range; only the part inside counts.",)
    assert np.array_equal(table.columns["name"], ["line 7, y.asnumpy()"])
