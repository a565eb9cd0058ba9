from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mxprof_nb.view import numbers


@given(st.floats(0, 1e15))
def test_a_duration_has_three_digits_at_most_and_a_unit(ns):
    text = numbers.duration(ns)
    assert re.fullmatch(r"[\d,.]+ (ns|µs|ms|s)|\d+ min \d+ s|[\d,]+ h \d+ min", text)
    digits = re.sub(r"[^\d]", "", text.split(" ")[0]).lstrip("0")
    assert len(digits) <= 3


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (0, "0 ns"),
        (1.5, "1.50 ns"),
        (999.4, "999 ns"),
        (999.6, "1.00 µs"),
        (9_996, "10.0 µs"),
        (412e6, "412 ms"),
        (599e9, "599 s"),
        (600e9, "10 min 0 s"),
        (-20_000, "-20.0 µs"),
    ],
)
def test_durations_change_their_unit_without_a_four_digit_number(ns, text):
    assert numbers.duration(ns) == text


@given(st.floats(0, 1))
def test_a_share_is_nothing_or_all_only_when_it_is(part):
    assert (numbers.share(part) == "0 %") == (part == 0)
    assert (numbers.share(part) == "100 %") == (part == 1)


def test_a_narrow_range_far_from_zero_shows_where_it_ends():
    assert numbers.time_range(83.2012e6, 83.2034e6, 412e6) == "83.20120 to 83.20340 ms of 412 ms"


@given(st.lists(st.floats(0, 1e18), max_size=20))
def test_a_column_has_one_unit_in_which_most_numbers_are_short(values):
    unit, factor = numbers.scale(values, "ns")
    assert unit in ("ns", "µs", "ms", "s")
    texts = [numbers.scaled(value, factor) for value in values]
    for text, value in zip(texts, values, strict=True):
        assert re.fullmatch(r"<0\.001|[\d,]+(\.\d{1,3})?|\d\.\d\de\+\d\d", text), text
        if re.fullmatch(r"[\d,.]+", text):
            assert float(text.replace(",", "")) == pytest.approx(
                value / factor, rel=0.0051, abs=0.00051
            )


def test_a_unit_that_has_no_others_stays():
    assert numbers.scale([5e9], "GHz") == ("GHz", 1.0)
    assert numbers.scale([float("nan"), float("inf")], "B") == ("B", 1.0)


def test_a_very_small_negative_value_is_not_a_nought_with_a_sign():
    assert numbers.scaled(-2e-9) == ">-0.001"
    assert numbers.scaled(2e-9) == "<0.001"
    assert numbers.scaled(-0.0006) == "-0.001"
