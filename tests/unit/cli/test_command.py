import io
import json
import re
import sys
from pathlib import Path

import pytest

import mxprof_nb as mp
from mxprof_nb.cli import main
from mxprof_nb.cli.command import VERBS
from mxprof_nb.cli.run import split
from tests import traces


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a program and a trace in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "program.py").write_text("print('ran')\n")
    (tmp_path / "notes.ipynb").write_text("{}")
    mp.save(traces.dot_cell(), tmp_path / "trace.json")
    return tmp_path


def status(*words: str) -> int:
    try:
        return main(words)
    except SystemExit as end:
        return int(end.code or 0)


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        ("", 2, "examples:"),
        ("summry x.json", 2, "there is no verb 'summry'. Did you mean 'summary'?"),
        ("program.py", 2, "mxprof-nb run program.py"),
        ("trace.json", 2, "mxprof-nb summary trace.json"),
        ("summary", 2, "required: TRACE"),
        ("run", 2, "name the program"),
        ("run -m", 2, "name the program"),
        ("run -x program.py", 2, "unrecognized arguments: -x"),
        ("run programm.py", 1, "there is no such file to run. Did you mean 'program.py'?"),
        ("run json", 1, "There is a module json: use -m json."),
        ("run .", 1, "it holds no __main__.py."),
        ("run notes.ipynb", 1, "it is a notebook, not a script."),
        ("run -m no_such_module", 1, "there is no module of that name."),
        ("run -b embeded program.py", 1, "Did you mean 'embedded'?"),
        ("run -o a.xyz program.py", 1, "the ending '.xyz' stands for no format."),
        ("summary trac.json", 1, "there is no such file. Did you mean 'trace.json'?"),
        ("summary .", 1, "it is a folder."),
        ("summary https://host/t.json", 1, "nothing is fetched from elsewhere. Download it"),
        ("convert program.py out.json", 1, "no reader recognises the content"),
        ("convert trace.json out", 1, "the name has no ending."),
        ("report trace.json -o no/page.html", 1, "there is no folder"),
        ("report trace.json -o .", 1, "the name has no ending."),
        ("report trace.json -o trace.json", 1, "it is the trace that is read"),
        ("convert trace.json ./trace.json", 1, "it is the trace that is read"),
    ],
)
@pytest.mark.usefixtures("here")
def test_a_mistake_is_told_in_words(words: str, code: int, told: str, capsys):
    assert status(*words.split()) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert told in err
    assert code == 2 or err.count("\n") == 1


def test_the_runtime_does_not_take_the_name_of_an_installed_mxnet(here, capsys, monkeypatch):
    (here / "mxnet").mkdir()
    (here / "mxnet" / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(here)
    assert status("run", "--as-mxnet", "program.py") == 1
    assert "A package 'mxnet' is installed" in capsys.readouterr().err


def test_a_program_is_not_run_within_a_profile(here: Path, capsys):
    with mp.profile(name="outer"):
        assert status("run", "program.py") == 1
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert "A profile (outer) already runs" in err


def test_every_verb_explains_itself(capsys):
    assert status("--help") == 0
    overview = capsys.readouterr().out
    for verb in VERBS:
        assert re.search(rf"^    {verb} +\w", overview, re.MULTILINE)
        assert status(verb, "--help") == 0
        assert f"mxprof-nb {verb}" in capsys.readouterr().out


def test_the_summary_on_a_file_has_no_colours_and_whole_lines(here: Path, capsys):
    assert status("summary", "trace.json") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("412 ms · host waited 371 ms (90 %) in 2 waits")
    assert not any("\x1b" in line or line != line.rstrip() or len(line) > 100 for line in lines)
    assert any(line.startswith("Convolution") for line in lines)


def test_what_an_encoding_lacks_is_replaced(here: Path, monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr("sys.stdout", stream)
    assert status("summary", "trace.json") == 0
    assert stream.buffer.getvalue().startswith(b"412 ms ? host waited 371 ms")


def test_a_closed_output_is_no_traceback(here: Path, monkeypatch, capsys):
    monkeypatch.setattr("sys.stdout", None)
    try:
        assert status("summary", "trace.json") == 0
    finally:
        sys.stdout.close()
    assert capsys.readouterr().err == ""


def test_every_table_is_printed_when_asked_for(here: Path, capsys):
    assert status("summary", "--all", "trace.json") == 0
    out = capsys.readouterr().out
    for title in mp.load("trace.json").tables:
        assert f"\n{title}\n" in out
    assert "--all" not in out
    assert status("summary", "trace.json") == 0
    assert "\n--all shows API calls, " in capsys.readouterr().out


def test_names_are_not_taken_for_markup(here: Path, capsys):
    event = '[{"ph": "X", "name": "[bold]a[/bold]", "ts": 0, "dur": 1, "pid": 1, "tid": 1}]'
    (here / "odd.json").write_text(event)
    assert status("summary", "odd.json") == 0
    assert "[bold]a[/bold]" in capsys.readouterr().out


def test_json_holds_what_the_tables_hold(here: Path, capsys):
    assert status("summary", "--json", "trace.json") == 0
    facts = json.loads(capsys.readouterr().out)
    profile = mp.load("trace.json")
    assert list(facts["tables"]) == list(profile.tables)
    for title, frame in profile.tables.items():
        assert facts["tables"][title] == frame.to_dict(orient="records")
    assert facts["waits"] == 2


def test_json_has_null_for_numbers_that_json_has_not(here: Path, capsys):
    (here / "vast.json").write_text(
        '[{"ph": "C", "name": "n", "ts": 0, "pid": 1, "args": {"v": 1e308}},'
        ' {"ph": "C", "name": "n", "ts": 1, "pid": 1, "args": {"v": 1e308}}]'
    )
    assert status("summary", "--json", "vast.json") == 0
    facts = json.loads(capsys.readouterr().out)
    (rows,) = facts["tables"].values()
    assert rows[0]["mean"] is None
    assert rows[0]["max"] == 1e308


def test_a_page_is_named_after_its_trace(here: Path, capsys):
    assert status("report", "trace.json") == 0
    assert capsys.readouterr().out == "Wrote trace.html (open it in a browser)\n"
    assert "Convolution" in (here / "trace.html").read_text()


@pytest.mark.parametrize(
    ("words", "ours", "theirs"),
    [
        ("run p.py -o x", "run", "p.py -o x"),
        ("run -o x p.py -o y", "run -o x", "p.py -o y"),
        ("run --output=x p.py", "run --output=x", "p.py"),
        ("run -q -m mod -q -- -m", "run -q", "-m mod -q -- -m"),
        ("run -mmod -h", "run", "-m mod -h"),
        ("run -- -odd.py -h", "run", "-odd.py -h"),
        ("run -o", "run -o", ""),
        ("run -h", "run -h", ""),
    ],
)
def test_what_follows_the_program_is_the_programs(words: str, ours: str, theirs: str):
    assert split(words.split()) == (ours.split(), theirs.split())
