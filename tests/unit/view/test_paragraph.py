import pytest

from mxprof_nb.view.paragraph import folded, wrapped


@pytest.mark.parametrize("width", range(8, 60))
def test_a_number_and_its_unit_stay_on_one_line(width: int):
    text = "waited 20.5 µs (3 %) of 1 h 30 min for 96.0 MB, twice, in 3 steps of 1 second"
    lines = wrapped(text, width)
    assert " ".join(lines) == text
    for pair in ("20.5 µs", "(3 %)", "30 min", "96.0 MB,"):
        assert any(pair in line for line in lines)
    assert max(map(len, lines)) <= width


def test_a_headline_breaks_between_its_parts_and_a_long_part_between_its_words():
    parts = ["412 ms", "host waited 371 ms", "20 events"]
    assert folded(" · ".join(parts), 29) == ["412 ms · host waited 371 ms", "20 events"]
    assert folded(" · ".join(parts), 14) == ["412 ms", "host waited", "371 ms", "20 events"]


def test_lines_stand_behind_their_marks():
    assert wrapped("one two", 6, first=" • ", then="   ") == [" • one", "   two"]
