"""Fixtures and rules that every folder of tests shares."""

import os
from pathlib import Path

import hypothesis
import pytest

from tests.environment import ROOT

# A folder says what its tests need, so that no test can forget its marker.
FOLDER_MARKERS = {
    "browser": "browser",
    "integration": "integration",
    "notebooks": "notebook",
    "reference": "reference",
}

# Coverage and two shared cores make any deadline a coin toss. CI tries the same examples each time,
# so that a change is judged by what it changes; everywhere else each run looks for new ones.
hypothesis.settings.register_profile("explore", deadline=None, derandomize=False)
hypothesis.settings.register_profile("same examples", deadline=None, derandomize=True)
hypothesis.settings.load_profile("same examples" if os.environ.get("CI") else "explore")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for folder in item.path.relative_to(ROOT).parts:
            if folder in FOLDER_MARKERS:
                item.add_marker(FOLDER_MARKERS[folder])


@pytest.fixture(scope="session")
def shared_dir() -> Path:
    """The folder of real traces beside the repository, which not every checkout has."""
    path = ROOT.parent / "shared"
    if not path.is_dir():
        pytest.skip(f"no folder {path.name}/ with real traces beside the repository")
    return path


@pytest.fixture(scope="session")
def screenshots() -> Path:
    """Where pictures are kept for a person to look at; ignored by git."""
    path = ROOT / ".artifacts"
    path.mkdir(exist_ok=True)
    return path
