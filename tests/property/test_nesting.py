"""Laws of nesting, against a reference that compares every pair of rows."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mxprof_nb.trace import nesting

#: Few distinct times and tracks, so that ties, instants and overlaps are the normal case.
intervals = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 30), st.integers(0, 12)), max_size=40
)
#: Times since 1970 beside times from 0: no stretch of a 64-bit axis per track holds that.
far_intervals = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.sampled_from([-(2**61), 0, 1, 5, 2**61 - 7]),
        st.sampled_from([0, 1, 4, 5, 2**60]),
    ),
    max_size=25,
)


def arranged(rows):
    """Return track, start and end in the order that `nest` asks for."""
    table = np.array(rows, dtype=np.int64).reshape(-1, 3)
    track, start, end = table[:, 0], table[:, 1], table[:, 1] + table[:, 2]
    order = nesting.sort_rows(track, start, end)
    return track[order], start[order], end[order]


def runs_at(j, i, track, start, end):
    """Whether row ``j``, earlier in the order, still runs where row ``i`` begins."""
    return track[j] == track[i] and end[j] > start[i]


def reference_parents(track, start, end):
    return [
        max(
            (j for j in range(i) if runs_at(j, i, track, start, end) and end[j] >= end[i]),
            default=-1,
        )
        for i in range(len(start))
    ]


@given(intervals | far_intervals)
def test_the_parent_is_the_latest_row_that_contains_the_row(rows):
    track, start, end = arranged(rows)
    parent, _ = nesting.nest(track, start, end)
    assert parent.tolist() == reference_parents(track, start, end)


@given(intervals | far_intervals)
def test_no_two_rows_of_one_lane_overlap(rows):
    track, start, end = arranged(rows)
    _, lane = nesting.nest(track, start, end)
    for i in range(len(start)):
        for j in range(i):
            assert lane[i] != lane[j] or not runs_at(j, i, track, start, end)


@given(intervals | far_intervals)
def test_a_child_lies_on_a_higher_lane_than_its_parent(rows):
    track, start, end = arranged(rows)
    parent, lane = nesting.nest(track, start, end)
    child = parent >= 0
    assert (lane[child] > lane[parent[child]]).all()
    assert lane.min(initial=0) == 0


@given(st.integers(1, 3 * nesting.MAX_PEELED_LEVELS), st.booleans())
@example(nesting.MAX_PEELED_LEVELS, True)
@example(nesting.MAX_PEELED_LEVELS + 1, True)
def test_proper_nesting_of_any_depth_gets_its_depth_as_lane(depth, with_overlap_at_the_bottom):
    rows = [(0, level, 2 * (depth - level) + 6) for level in range(depth)]
    if with_overlap_at_the_bottom:
        rows += [(0, depth, 3), (0, depth + 1, 3)]
    track, start, end = arranged(rows)
    parent, lane = nesting.nest(track, start, end)
    assert parent[:depth].tolist() == list(range(-1, depth - 1))
    assert lane[:depth].tolist() == list(range(depth))
    if with_overlap_at_the_bottom:
        assert parent[depth:].tolist() == [depth - 1] * 2
        assert lane[depth:].tolist() == [depth, depth + 1]


@given(intervals)
def test_self_times_of_a_track_add_up_to_the_time_it_was_busy(rows):
    track, start, end = arranged(rows)
    parent, _ = nesting.nest(track, start, end)
    own = nesting.self_time(parent, start, end)
    for one in np.unique(track):
        mine = track == one
        if not overlaps_without_nesting(start[mine], end[mine]):
            assert own[mine].sum() == len(covered(start[mine], end[mine]))
    assert (own >= 0).all()


@given(intervals)
def test_self_time_is_what_no_child_covers(rows):
    track, start, end = arranged(rows)
    parent, _ = nesting.nest(track, start, end)
    own = nesting.self_time(parent, start, end)
    for row in range(len(start)):
        children = np.flatnonzero(parent == row)
        free = covered(start[[row]], end[[row]]) - covered(start[children], end[children])
        assert own[row] == len(free)


@pytest.mark.parametrize("shift", [1, 2**45])  # the second does not fit one axis of 64 bits
@given(rows=intervals)
def test_the_union_per_group_is_the_number_of_covered_units(shift, rows):
    table = np.array(rows, dtype=np.int64).reshape(-1, 3)
    group, start, end = table[:, 0], table[:, 1] * shift, (table[:, 1] + table[:, 2]) * shift
    groups = 3 if shift == 1 else 2**18
    found = nesting.union_by_group(group, start, end, groups)
    for one in range(3):
        mine = group == one
        assert found[one] == len(covered(start[mine] // shift, end[mine] // shift)) * shift
    assert not found[3:].any()


def covered(start, end):
    """Return the set of units of time that lie in at least one interval."""
    return {unit for b, e in zip(start, end, strict=True) for unit in range(int(b), int(e))}


def overlaps_without_nesting(start, end):
    return any(
        start[j] < start[i] < end[j] < end[i] for i in range(len(start)) for j in range(len(start))
    )


@given(intervals | far_intervals)
def test_many_that_run_at_once_are_laid_out_as_few_are(rows):
    track, start, end = arranged(rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nesting, "FEW_OPEN", 10**9)
        wanted = [column.tolist() for column in nesting.nest(track, start, end)]
        patch.setattr(nesting, "FEW_OPEN", 0)
        patch.setattr(nesting, "MAX_PEELED_LEVELS", 1)
        crowded = nesting.nest(track, start, end)
        assert crowded[0].tolist() == wanted[0]
        patch.setattr(nesting, "FEW_OPEN", 10**9)
        assert [column.tolist() for column in nesting.nest(track, start, end)][1] == crowded[
            1
        ].tolist()


def test_thousands_that_overlap_each_have_a_lane_and_cost_no_more_each():
    count = 3000
    start = np.arange(count, dtype=np.int64)
    parent, lane = nesting.nest(np.zeros(count, dtype=np.int32), start, start + 10_000)
    assert lane.tolist() == list(range(count))
    assert (parent == -1).all()
