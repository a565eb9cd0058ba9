import io
import re

import pytest

from mxprof_nb.cli import screen
from mxprof_nb.cli.screen import Screen
from mxprof_nb.view.tables import grids
from tests import traces


def shown(width: int, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setattr(screen, "WIDTH", width)
    stream = io.StringIO()
    Screen(stream).show(traces.dot_cell())
    return stream.getvalue().splitlines()


@pytest.mark.parametrize("width", [60, 70, 80, 100, 140])
def test_numbers_stay_whole_at_any_width(width: int, monkeypatch: pytest.MonkeyPatch):
    lines = shown(width, monkeypatch)
    assert max(map(len, lines)) <= width
    (row,) = [line for line in lines if line.startswith("Conv")]
    (cells,) = [row for row in grids(traces.dot_cell())[0].rows if row[0] == "Convolution"]
    assert re.search(" +".join(map(re.escape, cells[1:])), row)


def test_bars_go_before_names(monkeypatch: pytest.MonkeyPatch):
    wide, narrow = shown(100, monkeypatch), shown(72, monkeypatch)
    assert any("█" in line for line in wide)
    assert not any("█" in line for line in narrow)
    assert any(line.startswith("Convolution ") for line in narrow)


def test_a_headline_breaks_between_its_parts(monkeypatch: pytest.MonkeyPatch):
    first, second, *_ = shown(100, monkeypatch)
    assert first.startswith("412 ms · host waited 371 ms (90 %) in 2 waits · ")
    assert second.startswith("recording cost ")


@pytest.mark.parametrize("width", range(40, 100))
def test_no_line_ends_between_a_number_and_its_unit(width: int, monkeypatch: pytest.MonkeyPatch):
    lines = shown(width, monkeypatch)
    assert not any(re.match(r"\W*(ns|µs|ms|s|kB|MB|%)\b", line) for line in lines)
    assert not any("\ue000" in line for line in lines)
