"""Times of many events from their text, against decimal arithmetic."""

import random
from decimal import Decimal

import pytest

from mxprof_nb.io.chrome.microseconds import ABSENT, BAD, GOOD, times
from mxprof_nb.io.chrome.records import MISSING


@pytest.mark.parametrize("whole", [10**3, 10**9, 5 * 10**12, 18 * 10**14])
@pytest.mark.parametrize("decimals", [0, 1, 3])
def test_every_nanosecond_survives_whatever_the_size_of_the_time(whole, decimals):
    draw = random.Random(decimals)
    texts = [f"{draw.randrange(-whole, whole)}.{draw.randrange(1000):03d}" for _ in range(300)]
    texts = [text[: len(text) - 3 + decimals].rstrip(".") for text in texts]
    found = times([text.encode() for text in texts], [b"0.001"] * len(texts))
    assert found.start.tolist() == [int(Decimal(text) * 1000) for text in texts]
    assert set(found.dur.tolist()) == {1}
    assert not found.start_state.any()


def test_numbers_of_every_spelling_stand_side_by_side():
    texts = [b"1", b'"2.5"', b"3e3", b"9.1329999999999991", MISSING, b"null", b"1e999", b"-0.5"]
    found = times(texts, [b"0"] * len(texts))
    assert found.start.tolist() == [1000, 2500, 3_000_000, 9133, 0, 0, 0, -500]
    assert found.start_state.tolist() == [GOOD] * 4 + [ABSENT, BAD, BAD, GOOD]
