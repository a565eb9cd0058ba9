import builtins
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
    shell = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))
    shell.colors = "nocolor"
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
