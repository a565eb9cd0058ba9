"""A JupyterLab for the whole session, a Chromium for each module, a page for each test."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.browser.lab import (
    CHROMIUM_NAMES,
    LabPage,
    LabServer,
    find_chromium,
    running_chromium,
    running_lab,
)
from tests.environment import missing


@pytest.fixture(scope="session")
def lab_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabServer]:
    """A server of an empty folder: tests write their notebooks to `lab_server.root`."""
    root, home = tmp_path_factory.mktemp("notebooks"), tmp_path_factory.mktemp("jupyter")
    with running_lab(root, home) as server:
        yield server


# Not for the session: while Playwright's synchronous API is open, this thread counts as running
# an event loop, and any other test that starts one would fail.
@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    executable = find_chromium()
    if executable is None:
        missing(f"no browser: none of {', '.join(CHROMIUM_NAMES)} on PATH; set MXPROF_CHROMIUM")
    with running_chromium(executable) as browser:
        yield browser


@pytest.fixture
def lab(chromium: Browser, lab_server: LabServer) -> Iterator[LabPage]:
    """A fresh page and fresh kernels; end the test with `lab.assert_clean()`."""
    with LabPage(chromium, lab_server) as page:
        yield page
    lab_server.end_kernels()
