from pathlib import Path

import pytest

from mxprof_nb.cli import demo, main


def test_what_the_demo_needs_is_named_with_the_command_that_gets_it(capsys, monkeypatch):
    monkeypatch.setattr(demo, "find_spec", lambda name: None)
    assert main(["demo"]) == 1
    told = capsys.readouterr().err
    names = "nbclient, ipykernel, mlxtend"
    assert told.startswith(f"mxprof-nb: The demo needs {names}, which are not installed. Run: ")
    assert told.endswith("-m pip install nbclient ipykernel mlxtend\n")


def test_ctrl_c_is_for_jupyter_to_answer(monkeypatch: pytest.MonkeyPatch):
    class Server:
        """It hears Ctrl-C itself, asks, and ends later."""

        def __init__(self, words: list[str]) -> None:
            assert words[1:4] == ["-m", "jupyter", "lab"]
            self.interrupts = 2

        def wait(self) -> int:
            self.interrupts -= 1
            if self.interrupts >= 0:
                raise KeyboardInterrupt
            return 3

    monkeypatch.setattr("subprocess.Popen", Server)
    assert demo._open_lab(Path("tutorial.ipynb")) == 3
