"""Laws of counters: a thinned line shows every peak."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mxprof_nb.lod import StepLine

#: Long enough for whole blocks: (time since the sample before, value), repeated.
SAMPLES = st.tuples(
    st.lists(st.tuples(st.integers(0, 3), st.integers(-50, 50)), min_size=1, max_size=50),
    st.integers(1, 20),
)
WINDOW = st.tuples(st.integers(-5, 900), st.integers(0, 1_500)).map(lambda w: (w[0], sum(w)))
POINTS = st.sampled_from([4, 8, 40, 400])


def samples_of(drawn):
    pairs, repeats = drawn
    time = np.cumsum([step for step, _ in pairs] * repeats)
    value = np.array([float(v) for _, v in pairs] * repeats)
    return time, value + np.arange(len(value)) % 7


@given(SAMPLES, WINDOW, POINTS)
def test_each_part_keeps_its_first_lowest_highest_and_last_sample(drawn, window, points):
    time, value = samples_of(drawn)
    (begin, end), parts = window, points // 4
    x, y = StepLine(time, value).corners(begin, end, max_points=points)
    assert len(x) <= points + 2
    assert (np.diff(x) >= 0).all()
    inside = (time > begin) & (time <= end)
    part = (time - begin) * parts // (end - begin + 1)
    kept = (x - begin) * parts // (end - begin + 1)
    before = value[time <= begin]
    if not len(before) and not inside.any():
        assert len(x) == 0
        return
    assert x[-1] == end
    assert y[-1] == value[time <= end][-1]
    if len(before):
        assert (x[0], y[0]) == (begin, before[-1])
    for number in set(part[inside].tolist()):
        held = value[inside & (part == number)]
        drawn_there = y[:-1][(kept[:-1] == number)]
        if number == 0 and len(before):
            drawn_there = drawn_there[1:]  # the value carried in
        assert (drawn_there[0], drawn_there[-1]) == (held[0], held[-1])
        assert (drawn_there.min(), drawn_there.max()) == (held.min(), held.max())


@given(SAMPLES, WINDOW)
def test_samples_that_fit_are_all_corners(drawn, window):
    time, value = samples_of(drawn)
    x, y = StepLine(time, value).corners(*window, max_points=len(time))
    inside = (time > window[0]) & (time <= window[1])
    carried = int((time <= window[0]).any())
    assert np.array_equal(x[carried:-1], time[inside])
    assert np.array_equal(y[carried:-1], value[inside])


def test_a_counter_without_samples_is_no_line():
    line = StepLine(np.zeros(0, dtype=np.int64), np.zeros(0))
    assert len(line) == 0
    assert len(line.corners(0, 10)[0]) == 0
