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
