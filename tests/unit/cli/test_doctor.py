import re
from importlib.metadata import PackageNotFoundError, version

import pytest

from mxprof_nb.cli import doctor, main


def test_nothing_is_missing_here(capsys):
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert "All that is required is there." in out
    assert re.search(rf"^numpy +{re.escape(version('numpy'))}$", out, re.MULTILINE)


@pytest.mark.parametrize(
    ("requirement", "told"),
    [
        ("numpy>=1.26", []),
        ("numpy>=999.1", [f"numpy {version('numpy')} is older than 999.1"]),
        ("no-such-package>=1.0", ["no-such-package is not installed"]),
        ("numpy", []),
    ],
)
def test_packages_are_compared_with_what_is_required(requirement: str, told: list[str]):
    assert [why for _, why in doctor._wanting([requirement])] == told


def test_versions_are_compared_as_numbers():
    assert list(doctor._wanting(["numpy>=1.9999"])) == [] or version("numpy") < "2"
    assert doctor._parts("10.1") > doctor._parts("9.2rc1")


def test_what_is_missing_is_named_with_the_command_that_gets_it(capsys, monkeypatch):
    monkeypatch.setattr(
        doctor, "requires", lambda _: ["no-such-package>=1.0", 'x>=1; extra == "lab"']
    )
    assert main(["doctor"]) == 1
    out = capsys.readouterr().out
    assert "no-such-package is not installed.\n" in out
    assert '-m pip install "no-such-package>=1.0"' in out
    assert out.endswith("Missing: packages.\n")


def test_what_only_notebooks_need_may_be_missing(capsys, monkeypatch):
    def without_lab(package: str) -> str:
        if package in ("jupyterlab", "ipykernel", "nbclient"):
            raise PackageNotFoundError(package)
        return version(package)

    monkeypatch.setattr(doctor, "version", without_lab)
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert "optional  notebooks  ipykernel is not installed" in out
    assert "-m pip install jupyterlab" in out


def test_a_lab_without_widgets_is_told_what_it_lacks(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(doctor, "_extension_folders", lambda: [tmp_path])
    assert main(["doctor"]) == 0
    assert "lacks jupyterlab_widgets, anywidget: profiles show as still" in capsys.readouterr().out


def test_a_recording_that_fails_is_told(capsys, monkeypatch):
    def broken(**options: object) -> object:
        raise RuntimeError("no clock")

    monkeypatch.setattr("mxprof_nb.capture.profile", broken)
    assert main(["doctor"]) == 1
    assert "failed: RuntimeError: no clock" in capsys.readouterr().out
