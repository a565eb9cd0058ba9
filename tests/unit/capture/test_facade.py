import importlib
import pkgutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import mxprof_nb as mp

ROOT = Path(__file__).resolve().parents[3]


def submodules() -> list[str]:
    return [info.name for info in pkgutil.walk_packages(mp.__path__, "mxprof_nb.")]


def test_importing_the_package_loads_numpy_and_nothing_heavier():
    code = (
        "import sys; before = set(sys.modules); import mxprof_nb;"
        "print(*sorted({name.partition('.')[0] for name in set(sys.modules) - before}))"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    heavy = {"pandas", "plotly", "IPython", "ipywidgets", "anywidget", "msgspec", "rich", "tqdm"}
    assert not heavy & set(out.stdout.split())


def test_every_public_name_is_there():
    for name in mp.__all__:
        assert getattr(mp, name) is not None


def test_no_public_name_is_taken_over_by_a_submodule():
    before = {name: getattr(mp, name) for name in mp.__all__}
    for name in submodules():
        if not name.endswith("__main__"):
            importlib.import_module(name)
    tops = {name.split(".")[1] for name in submodules()}
    assert not tops & set(mp.__all__)
    for name, value in before.items():
        assert getattr(mp, name) is value


@pytest.mark.parametrize("name", ["analysis", "errors", "io", "runtime", "view"])
def test_a_subpackage_is_an_attribute(name: str):
    assert getattr(mp, name) is importlib.import_module(f"mxprof_nb.{name}")
    assert name in dir(mp)


def test_a_misspelt_name_is_answered_with_the_closest():
    with pytest.raises(AttributeError, match="Did you mean 'profile'"):
        mp.profil  # noqa: B018


def test_the_version_is_that_of_the_distribution():
    with (ROOT / "pyproject.toml").open("rb") as file:
        assert mp.__version__ == tomllib.load(file)["project"]["version"]


def test_schema_describes_a_table():
    assert "start_ns" in mp.schema("events")["column"].tolist()
    assert set(mp.schema()["table"]) == {"events", "tracks", "flows", "counters", "sites", "args"}
