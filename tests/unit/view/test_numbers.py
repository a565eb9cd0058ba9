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
