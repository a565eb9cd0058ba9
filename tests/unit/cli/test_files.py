import io
import sys

import pytest

from mxprof_nb.cli.files import stages


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("stream", [Terminal, io.StringIO])
def test_progress_shows_on_a_terminal_only(stream: type[io.StringIO], monkeypatch):
    told = stream()
    monkeypatch.setattr(sys, "stderr", told)
    answer = stages(("Reading", lambda before: 20), ("Adding", lambda before: before + 1))
    assert answer == 21
    assert ("Reading" in told.getvalue()) == told.isatty()


def test_an_error_ends_the_stages_and_leaves_no_bar(monkeypatch):
    told = Terminal()
    monkeypatch.setattr(sys, "stderr", told)

    def fails(before: object) -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        stages(("Reading", fails), ("Writing", fails))
    assert told.getvalue().split("\r")[-1].strip() == ""
