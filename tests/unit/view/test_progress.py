import io
import re
import sys
import threading
from contextlib import redirect_stderr
from types import SimpleNamespace
from typing import Any

import pytest

from mxprof_nb.view import progress
from mxprof_nb.view.progress import ProgressLine, ReadingLine


class Terminal(io.StringIO):
    """A terminal that notes when it was written to."""

    def __init__(self) -> None:
        super().__init__()
        self.written = threading.Event()

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.written.set()
        return super().write(text)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """A terminal to redirect to, with no IPython about, and no wait for the line."""
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    monkeypatch.setattr(progress, "FIRST_S", 0.0)
    monkeypatch.setattr(progress, "EVERY_S", 0.0)
    return Terminal()


def test_a_long_load_shows_a_line_on_the_terminal_and_takes_it_away(terminal):
    line = ReadingLine()
    line("Reading trace.json", 25, 100)
    with redirect_stderr(terminal), line:
        assert terminal.written.wait(10)
    shown = terminal.getvalue()
    assert re.match(r"\r\x1b\[KReading trace\.json: 25 %, \d+ s", shown)
    assert shown.endswith("\r\x1b[K")


@pytest.mark.parametrize(
    ("told", "line"),
    [(("Reading a", 0, 0), "Reading a: 7 s"), (("Reading a", 5, 0), "Reading a: 7 s"),
     (("Unpacking a", 9, 10), "Unpacking a: 90 %, 7 s"), (("Reading a", 11, 10), "Reading a: 7 s")],
)  # fmt: skip
def test_the_line_says_only_what_is_known(told, line):
    reading = ReadingLine()
    reading(*told)
    assert reading._read_so_far(7) == line


def test_a_quick_load_shows_nothing(terminal, monkeypatch):
    monkeypatch.setattr(progress, "FIRST_S", 60.0)
    with redirect_stderr(terminal), ReadingLine() as line:
        line("Reading trace.json", 1, 2)
    assert terminal.getvalue() == ""


def test_a_pipe_is_shown_nothing_and_has_no_thread(monkeypatch):
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    before = threading.active_count()
    for stream in (io.StringIO(), None):
        with redirect_stderr(stream), ReadingLine():
            assert threading.active_count() == before


def test_a_line_that_is_for_notebooks_stays_off_the_terminal(terminal):
    before = threading.active_count()
    with redirect_stderr(terminal), ProgressLine(lambda seconds: "Recording"):
        assert threading.active_count() == before


class Publisher:
    """What a kernel publishes with."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.published = threading.Event()

    def publish(self, **message: Any) -> None:
        self.sent.append(message)
        self.published.set()


def notebook(publisher: Any, usual: type, monkeypatch, *, stdin: bool = True) -> None:
    kernel = SimpleNamespace(
        comm_manager=object(), get_parent=lambda: {"content": {"allow_stdin": stdin}}
    )
    shell = SimpleNamespace(kernel=kernel, display_pub=publisher, display_pub_class=usual)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))


def test_in_a_notebook_the_line_stands_under_the_cell(terminal, monkeypatch):
    publisher = Publisher()
    notebook(publisher, Publisher, monkeypatch)
    line = ReadingLine()
    line("Reading <b>.json", 0, 0)
    with redirect_stderr(terminal), line:
        assert publisher.published.wait(10)
    assert publisher.sent[0]["data"]["text/plain"].startswith("Reading <b>.json: ")
    assert "Reading &lt;b&gt;.json" in publisher.sent[0]["data"]["text/html"]
    assert [publisher.sent[0]["update"], publisher.sent[-1]["update"]] == [False, True]
    assert publisher.sent[-1]["data"]["text/plain"] == ""
    assert len({message["transient"]["display_id"] for message in publisher.sent}) == 1
    assert terminal.getvalue() == ""


def test_captured_cells_and_programs_that_run_notebooks_are_shown_nothing(terminal, monkeypatch):
    before = threading.active_count()
    notebook(Publisher(), str, monkeypatch)
    with redirect_stderr(terminal), ReadingLine():
        assert threading.active_count() == before
    notebook(Publisher(), Publisher, monkeypatch, stdin=False)
    with redirect_stderr(terminal), ReadingLine():
        assert threading.active_count() == before
    assert terminal.getvalue() == ""
