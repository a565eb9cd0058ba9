from decimal import Decimal

import pytest

from mxprof_nb.io.chrome.times import thousandths, to_ns


def converted(ts, dur):
    exact = [Decimal(text) for text in ts], [Decimal(text) for text in dur]
    ts, dur = ([float(t) if "." in t or "e" in t else int(t) for t in part] for part in (ts, dur))
    start, length = to_ns(ts, dur, lambda: exact)
    return start.tolist(), length.tolist()


def test_whole_microseconds_are_a_thousand_nanoseconds_each():
    assert converted(["0", "-3", "7"], ["1", "2", "0"]) == ([0, -3000, 7000], [1000, 2000, 0])


def test_three_decimals_are_exact_nanoseconds():
    assert converted(["0.001", "12345.678", "-0.001"], ["0.999", "0.1", "1.005"]) == (
        [1, 12_345_678, -1],
        [999, 100, 1005],
    )


def test_times_since_1970_with_decimals_are_read_digit_by_digit():
    """A float holds such a time to a quarter of a microsecond only."""
    assert converted(["1712345678901234.567", "1.5"], ["0.001", "2"]) == (
        [1_712_345_678_901_234_567, 1500],
        [1, 2000],
    )


def test_large_whole_numbers_are_exact_too():
    assert converted([str(2**53 + 1)], ["1"]) == ([(2**53 + 1) * 1000], [1000])
    assert converted([str(2**53 + 1)], ["0.5"]) == ([(2**53 + 1) * 1000], [500])


@pytest.mark.parametrize("shift", ["0", "1712345678901234"])
def test_ends_are_rounded_so_that_what_was_nested_stays_nested(shift):
    def at(text):
        return str(Decimal(shift) + Decimal(text))

    start, length = converted([at("0.0004"), at("0.0006")], ["1.0004", "1.0002"])
    ends = [s + n for s, n in zip(start, length, strict=True)]
    assert start[0] <= start[1]
    assert ends[0] == ends[1]


@pytest.mark.parametrize(
    ("ts", "dur"),
    [
        ("9223372036854776", "0"),
        ("-9223372036854776", "0"),
        ("9223372036854775", "1"),
        ("1e300", "0"),
        ("1e305", "1e305"),
        ("-1e306", "1e306"),
        ("9" * 400, "0"),
        ("9" * 400, "0.5"),
    ],
)
def test_a_time_beyond_64_bits_names_its_place(ts, dur):
    with pytest.raises(OverflowError) as caught:
        converted(["1", ts], ["0", dur])
    assert caught.value.args == (1,)


def test_times_with_three_decimals_are_exact_where_floats_are_not():
    text = b'[{"ts":1796057038025588.281,"pid":1},{"pid":1,"ts":-0.007}]'
    found = thousandths(text, [1796057038025588.281, -0.007])
    assert found is not None
    assert found.tolist() == [1796057038025588281, -7]


@pytest.mark.parametrize(
    ("text", "ts"),
    [
        (b'[{"ts":1.25,"pid":1}]', [1.25]),
        (b'[{"ts": 1.250,"pid":1}]', [1.25]),
        (b'[{"ts":1,"pid":1}]', [1]),
        (b'[{"ts":1.250,"args":{"ts":7.000}}]', [1.25]),
        (b'[{"args":{"ts":7.000},"ts":1.25}]', [1.25]),
        (b'[{"ts":9999999999999999.999}]', [9999999999999999.999]),
        (b"[]", []),
    ],
)
def test_times_that_are_written_otherwise_are_left_to_the_careful_way(text, ts):
    assert thousandths(text, ts) is None
