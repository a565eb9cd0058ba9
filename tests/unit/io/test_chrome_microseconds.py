"""Times of many events from their text, against decimal arithmetic."""

import random
from decimal import Decimal

import pytest

from mxprof_nb.io.chrome.microseconds import (
    ABSENT,
    BAD,
    GOOD,
    InexactError,
    times,
    times_of_floats,
    times_of_wholes,
)
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


@pytest.mark.parametrize("whole", [10**3, 10**9, 5 * 10**12, 18 * 10**14])
@pytest.mark.parametrize("decimals", [0, 1, 2, 3])
@pytest.mark.parametrize("aligned", [True, False])
def test_durations_that_were_decoded_lose_no_nanosecond(whole, decimals, aligned):
    draw = random.Random(decimals)
    least = whole if aligned else -min(whole, 10**15)
    texts = [f"{draw.randrange(least, 2 * whole)}.{draw.randrange(1000):03d}" for _ in range(300)]
    texts = [text[: len(text) - 3 + decimals].rstrip(".") for text in texts]
    lasting = [f"{draw.randrange(10**8)}.{draw.randrange(1000):03d}" for _ in texts]
    found = times_of_floats([text.encode() for text in texts], map(float, lasting))
    assert found.start.tolist() == [int(Decimal(text) * 1000) for text in texts]
    assert found.dur.tolist() == [int(Decimal(text) * 1000) for text in lasting]
    assert not found.start_state.any()


@pytest.mark.parametrize(
    "texts", [[MISSING, MISSING], [b"12", MISSING], [b"-1", b"12"], [b"1.5", b"15."], [b'"1"'] * 2]
)
def test_texts_of_one_length_need_not_be_numbers_of_one_kind(texts):
    found = times_of_floats(texts, [1.0] * len(texts))
    alone = [times([text], [b"1"]) for text in texts]
    assert found.start.tolist() == [int(one.start[0]) for one in alone]
    assert found.start_state.tolist() == [int(one.start_state[0]) for one in alone]


@pytest.mark.parametrize(
    ("ts", "dur"),
    [
        (b"1790857026000000.1234", 1.0),  # no float tells its nanosecond
        (b"1790857026000000", 1e10),
        (b"1790857026000000", 0.0005),  # halfway between two nanoseconds
    ],
)
def test_numbers_that_do_not_tell_the_nanosecond_are_asked_for_as_text(ts, dur):
    with pytest.raises(InexactError):
        times_of_floats([b"1790857026000000.5", ts], [1.0, dur])


@pytest.mark.parametrize("ts", [2**63, -(2**63) + 1, 2**62])
def test_whole_microseconds_that_do_not_fit_are_asked_for_as_text(ts):
    with pytest.raises(InexactError):
        times_of_wholes([1, ts], [2, 3], 2)
