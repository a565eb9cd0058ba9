"""What may stand in the repository and what goes into a distribution."""

import re
import sys
import zipfile
from pathlib import Path

import pytest

from tests.environment import ROOT, run

TOP_LEVEL = {
    *("pyproject.toml", "mxprof_nb", "notebooks", "tests", "binder"),
    *("README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md"),
}
# Put together here so that this file does not hold what it forbids.
MACHINE_FOLDERS = ("work", "root", "farm", "tmp/lab", "tmp/venv", "home/[a-z]+")
INDEX_HOSTS = ("pypi[.]org", "python[h]osted", "registry[.]npmjs", "deb[.]debian")
PRIVATE = re.compile(
    "|".join([*(rf"(?<![\w.-])/{folder}/" for folder in MACHINE_FOLDERS), *INDEX_HOSTS]).encode()
)


@pytest.fixture(scope="module")
def tracked() -> list[Path]:
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    return [Path(name) for name in run("git", "ls-files", "-z").split("\0") if name]


def test_the_top_level_stays_small(tracked: list[Path]):
    entries = {path.parts[0] for path in tracked}
    assert {name for name in entries if not name.startswith(".")} <= TOP_LEVEL


def test_no_tracked_file_names_a_machine_path_or_a_package_index(tracked: list[Path]):
    found = {
        str(path): match.group().decode()
        for path in tracked
        if (ROOT / path).is_file() and (match := PRIVATE.search((ROOT / path).read_bytes()))
    }
    assert found == {}


def test_the_wheel_holds_every_tracked_file_of_the_package(tracked: list[Path], tmp_path: Path):
    run(sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", tmp_path)
    (wheel,) = tmp_path.glob("*.whl")
    packed = set(zipfile.ZipFile(wheel).namelist())
    assert {str(path) for path in tracked if path.parts[0] == "mxprof_nb"} <= packed
