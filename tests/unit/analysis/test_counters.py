import math

import pytest

from mxprof_nb.analysis import counter_tables
from mxprof_nb.trace import Meta, TraceBuilder


def built(samples, *, window=None, unit="B", name="Memory: cpu/0"):
    builder = TraceBuilder(Meta(window_ns=window))
    track = builder.track("memory", role="counter")
    for time, value in samples:
        builder.counter(name, track=track, time_ns=time, value=value, unit=unit)
    return builder.build()


def row(table, place=0):
    return {name: values[place] for name, values in table.columns.items()}


def test_the_mean_weighs_each_value_by_how_long_it_lasted():
    table = counter_tables(built([(0, 10), (10, 40)], window=(0, 40)))["Memory"]
    assert row(table) == {
        "name": "Memory: cpu/0",
        "count": 2,
        "min": 10,
        "mean": 32.5,
        "max": 40,
        "last": 40,
    }
    assert [len(rows) for rows in table.rows] == [0]


def test_the_value_from_before_the_window_counts_in_it():
    trace = built([(0, 100), (50, 20)], window=(0, 100))
    inside = row(counter_tables(trace, window=(40, 60))["Memory"])
    assert (inside["count"], inside["min"], inside["mean"], inside["max"]) == (1, 20, 60, 100)
    after = row(counter_tables(trace, window=(60, 90))["Memory"])
    assert (after["count"], after["min"], after["mean"], after["last"]) == (0, 20, 20, 20)


def test_a_value_replaced_at_the_begin_of_the_window_does_not_count():
    found = row(counter_tables(built([(0, 100), (50, 20)]), window=(50, 60))["Memory"])
    assert (found["count"], found["max"]) == (1, 20)


def test_before_its_first_sample_a_counter_has_no_row():
    assert counter_tables(built([(50, 20)], window=(0, 100)), window=(0, 50)) == {}


def test_a_single_sample_is_its_own_mean():
    found = row(counter_tables(built([(7, 3)]))["Memory"])
    assert (found["min"], found["mean"], found["max"], found["last"]) == (3, 3, 3, 3)


def test_samples_at_the_rim_of_the_profiled_range_count():
    found = row(counter_tables(built([(0, 1), (10, 2)], window=(0, 10)))["Memory"])
    assert (found["count"], found["last"]) == (2, 2)


def test_values_that_are_no_number_are_left_out_and_counted():
    table = counter_tables(built([(0, 1), (1, math.nan), (2, math.inf), (3, 5)]))["Memory"]
    assert (row(table)["count"], row(table)["max"]) == (2, 5)
    assert table.notes == ("2 samples that are no finite number are left out.",)


def test_counters_that_are_no_memory_have_a_table_with_their_unit():
    tables = counter_tables(built([(0, 3)], unit="calls", name="MXNet C API Calls"))
    assert list(tables) == ["Counters"]
    assert row(tables["Counters"])["unit"] == "calls"


@pytest.mark.parametrize("same_name", [True, False])
def test_counters_of_one_name_on_two_tracks_are_two_rows(same_name):
    builder = TraceBuilder()
    for device in ("cpu/0", "gpu/0"):
        track = builder.track(device, role="counter", device=device)
        name = "bytes" if same_name else f"bytes {device}"
        builder.counter(name, track=track, time_ns=0, value=1, unit="B")
    expected = ["bytes (cpu/0)", "bytes (gpu/0)"] if same_name else ["bytes cpu/0", "bytes gpu/0"]
    assert counter_tables(builder.build())["Memory"].columns["name"] == expected
