"""Records packed into blocks: the same numbers in fewer bytes."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mxprof_nb.record.buffer import (
    CALL_FIELDS,
    OPERATOR_FIELDS,
    Packed,
    ThreadBuffer,
    ThreadInfo,
)

THREAD = ThreadInfo("t", "worker", None, 0, 0)

int64s = st.integers(-(2**63), 2**63 - 1)
close_together = st.builds(lambda base, step: base + step, st.integers(0, 2**62), st.integers(0, 9))
tables = hnp.arrays(
    np.int64, st.tuples(st.integers(0, 9), st.just(3)), elements=int64s | close_together
)


def buffer() -> ThreadBuffer:
    return ThreadBuffer(THREAD, lambda codes: [-1] * len(codes))


@given(tables, st.data())
def test_packing_changes_no_number(records, data):
    packed = Packed(records)
    assert len(packed) == len(records)
    for place in range(3):
        assert packed.column(place).tolist() == records[:, place].tolist()
    chosen = data.draw(hnp.arrays(bool, len(records)))
    for place in range(3):
        assert packed.where(chosen).column(place).tolist() == records[chosen, place].tolist()


def test_a_small_operator_and_its_calls_take_less_than_112_bytes():
    made = buffer()
    now = 5 * 10**14
    for number in range(1, 4096):
        now += 7_000
        made.calls.extend((now, now + 4_000, 3, number, None, 40))
        made.operators.extend((now, now + 5_000, now + 6_000, 17, number, 2, 16))
        made.drops.extend((now + 4_500, 5))
        made.releases.extend((now + 6_200, 6, 2, -16))
    made.pack()
    (block,) = made.blocks
    assert block.nbytes < 112 * 4095


def test_what_was_too_short_to_time_stands_among_calls_and_operators():
    made = buffer()
    made.calls.extend((10, 20, 3, 7, None, 40))
    made.drops.extend((30, 5))
    made.operators.extend((11, 12, 18, 17, 7, 2, 16))
    made.releases.extend((31, 6, 2, -16))
    made.pack()
    (block,) = made.blocks
    assert len(block) == 4
    assert block.calls.tolist() == [[10, 20, 3, 7, -1, 40], [30, 30, 5, -1, -1, -1]]
    assert block.operators.tolist() == [[11, 12, 18, 17, 7, 2, 16], [0, 31, 31, 6, 0, 2, -16]]
    assert block.memory_changes().tolist() == [[12, 2, 16], [31, 2, -16]]
    assert block.first_end() == 18
    assert list(block.columns("calls")) == list(CALL_FIELDS)
    assert list(block.columns("operators")) == list(OPERATOR_FIELDS)


@given(st.lists(st.integers(0, 30), max_size=20), st.integers(0, 30), st.integers(0, 30))
def test_short_ones_belong_to_a_window_by_their_moment(moments, begin, end):
    made = buffer()
    for moment in moments:
        made.drops.extend((moment, 5))
        made.releases.extend((moment, 6, 2, -1))
    made.pack()
    assert len(made.blocks) == bool(moments)
    if not moments:
        return
    (block,) = made.blocks
    inside = [moment for moment in moments if begin <= moment <= end]
    part = block.between(begin, end)
    assert part.calls[:, 0].tolist() == inside
    assert part.operators[:, 2].tolist() == inside
