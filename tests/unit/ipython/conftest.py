import builtins
import sys
from collections.abc import Iterator

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from tests.unit.capture.conftest import fake

__all__ = ["bare_shell", "fake", "shell"]


@pytest.fixture(scope="session")
def bare_shell() -> Iterator[InteractiveShell]:
    """A shell without history on disk; making one takes a while."""
    InteractiveShell.clear_instance()
    main = sys.modules["__main__"]
    shell = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))
    shell.colors = "nocolor"
    sys.modules["__main__"] = main  # the shell puts its own there; processes are spawned of this
    yield shell
    InteractiveShell.clear_instance()


@pytest.fixture
def shell(bare_shell: InteractiveShell) -> Iterator[InteractiveShell]:
    """The shell with the extension and an empty namespace."""
    # A doctest that ran before leaves its last value there, and IPython then keeps its own away.
    vars(builtins).pop("_", None)
    bare_shell.run_line_magic("load_ext", "mxprof_nb")
    yield bare_shell
    bare_shell.run_line_magic("unload_ext", "mxprof_nb")
    bare_shell.reset(new_session=False)
