import io
import sys

import pytest

from mxprof_nb.cli import main
from mxprof_nb.cli.files import stages
from mxprof_nb.io import load


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


@pytest.mark.parametrize("column", ["A", "A:odd"])
def test_columns_of_a_table_can_be_told(tmp_path, capsys, column: str):
    table = tmp_path / "odd.csv"
    table.write_text(f"{column},B,C\n1,2.5,dot\n4,1,exp\n")
    told = ["--column", f"start_ns={column}:ns", "--column", "dur_ns=B:us", "--column", "name=C"]
    assert main(["summary", str(table), *told]) == 0
    assert "dot" in capsys.readouterr().out
    target = tmp_path / "run.csv"
    assert main(["convert", str(table), str(target), *told]) == 0
    assert load(target).events.dur_ns.tolist() == [2500, 1000]
    assert load(target).events.start_ns.tolist() == [1, 4]


def test_what_tells_of_no_column_is_refused(tmp_path, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["summary", "any.csv", "--column", "start_ns"])
    assert ended.value.code == 2
    assert "is not NAME=COLUMN" in capsys.readouterr().err
