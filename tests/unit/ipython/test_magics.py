"""The magics by name, in a real shell."""

import pytest
from IPython.core.interactiveshell import InteractiveShell

from tests.unit.capture.fake_backend import FakeBackend


@pytest.mark.parametrize(
    "cell",
    [
        *(
            "%%mxprofile -h\nran = True",
            "%%mxprofile --help\nran = True",
            "%%mxprofile -q -h\nran = 1",
        ),
        *("%%mxprofile -h", "%mxprofile -h", "%mxprofile --help"),
    ],
)
def test_who_asks_for_help_gets_it_and_nothing_runs(
    shell: InteractiveShell, fake: FakeBackend, capsys, cell
):
    result = shell.run_cell(cell)
    assert result.success
    told = capsys.readouterr().out
    for part in ("--backend", "--export", "-o NAME", "%mxprofile --last"):
        assert part in told
    assert "ran" not in shell.user_ns
    assert not fake.sessions


def test_the_question_mark_mentions_the_line_magic(shell: InteractiveShell):
    told = shell.object_inspect_text("%%mxprofile")
    assert "%mxprofile --last" in told


def test_help_is_text_and_not_the_markup_of_a_manual(shell: InteractiveShell, capsys):
    shell.run_cell("%%mxprofile -h\nran = True")
    told = capsys.readouterr().out
    assert told.startswith("usage: %%mxprofile [")
    for text in (
        told,
        *(magics["mxprofile"].__doc__ for magics in shell.magics_manager.lsmagic().values()),
    ):
        assert "::" not in text
        assert "``" not in text


def test_a_statement_is_profiled_and_its_value_is_the_plain_one(shell: InteractiveShell, fake):
    result = shell.run_cell("%mxprofile -b fake -q -o p len('a  b')")
    assert result.result == 4
    assert len(shell.user_ns["p"].events) == 2
    assert shell.user_ns["p"].trace.meta.source == "len('a  b')"
    assert shell.run_cell("%mxprofile -b fake -q x = 3").result is None
    assert shell.user_ns["x"] == 3


def test_a_semicolon_silences_a_statement_and_a_question_as_it_does_plain(shell, fake):
    assert shell.run_cell("%mxprofile -b fake -q 3 + 4;").result is None
    assert shell.run_cell("%mxprofile --last;").success
    assert shell.run_cell("%mxprofile --list;").success


def test_a_statement_that_does_not_compile_is_one_error_and_no_profile(shell, fake, capsys):
    error = shell.run_cell("%mxprofile -b fake await x").error_in_exec
    assert isinstance(error, SyntaxError)
    assert not fake.sessions
    told = capsys.readouterr()
    assert "failed after" not in told.out + told.err


def test_a_usage_error_names_the_magic_that_was_written(shell):
    error = shell.run_cell("%mxprofile --Last").error_in_exec
    assert str(error).startswith("%mxprofile --Last: ")


def test_an_error_of_a_statement_is_the_plain_one_and_the_profile_is_kept(shell, fake):
    result = shell.run_cell("%mxprofile -b fake -q -o p 1 / 0")
    assert isinstance(result.error_in_exec, ZeroDivisionError)
    assert shell.user_ns["p"].trace.meta.status == "error"


def test_the_line_magic_lists_profiles_and_backends(shell, fake, capsys):
    shell.run_cell("%mxprofile --list")
    assert "No profiles yet" in capsys.readouterr().out
    shell.run_cell("%%mxprofile -b fake -q -o p\nx = 1", store_history=True)
    shell.run_cell("%mxprofile --list")
    [line] = capsys.readouterr().out.splitlines()
    assert line.split()[:3] == ["1", "p", "<Profile"]
    shell.run_cell("%mxprofile --backends")
    told = dict(line.split(None, 1) for line in capsys.readouterr().out.splitlines())
    assert told["fake"] == "records operators"
    assert "embedded" in told


def test_the_line_magic_loads_a_file(shell, fake, tmp_path):
    path = tmp_path / "two words.json"
    shell.run_cell(f"%%mxprofile -b fake -q -e '{path}'\nx = 1")
    result = shell.run_cell(f"%mxprofile --load '{path}'")
    assert len(result.result.events) == 2
    for line, told in [("--load", "name the file"), ("--load /no/such.json", "/no/such.json")]:
        error = shell.run_cell(f"%mxprofile {line}").error_in_exec
        assert type(error).__name__ == "UsageError"
        assert told in str(error)


@pytest.mark.parametrize("line", ["", "-q", "--last 3", "--list x"])
def test_a_line_that_asks_for_nothing_known_is_a_usage_error(shell, line):
    error = shell.run_cell(f"%mxprofile {line}").error_in_exec
    assert type(error).__name__ == "UsageError"
    assert "Nothing ran." in str(error)
