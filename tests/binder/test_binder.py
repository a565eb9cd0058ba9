"""What Binder would do with this repository, as far as it shows without Docker."""

import os
import sys
import venv
from pathlib import Path

import pytest

from tests.environment import ROOT, run

FIRST_NOTEBOOK = "/lab/tree/notebooks/01_first_profile.ipynb"


def test_binder_installs_the_package_with_pip_on_python_3_11_then_runs_post_build():
    plan = run(sys.executable, "-m", "repo2docker", "--no-build", "--debug", ".")
    steps = (
        "Building conda environment for python=3.11",
        "COPY --chown=0:0 src/ ${REPO_DIR}/",  # before pip: the requirement `.` is this package
        'pip install --no-cache-dir -r "binder/requirements.txt"',
        "RUN ./binder/postBuild",
    )
    places = [plan.find(step) for step in steps]
    assert -1 not in places
    assert places == sorted(places)


def test_post_build_is_executable():
    assert os.access(ROOT / "binder/postBuild", os.X_OK)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_in_an_empty_environment_the_first_notebook_opens_in_jupyterlab(tmp_path: Path):
    venv.create(tmp_path, with_pip=True)
    scripts = tmp_path / "bin"
    env = os.environ | {"PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}"}
    # Jupyter's own folders and settings would come before the environment's.
    env = {name: value for name, value in env.items() if not name.startswith("JUPYTER")}
    env |= {"JUPYTER_CONFIG_DIR": str(tmp_path / "config"), "PYTHONPATH": ""}

    run(scripts / "python", "-m", "pip", "install", "-r", "binder/requirements.txt", env=env)
    run(ROOT / "binder/postBuild", env=env)  # imports the package, too
    ask = (
        "from jupyterlab.labapp import LabApp\n"
        "print(LabApp.initialize_server(argv=['--no-browser', '--allow-root']).default_url)"
    )
    assert run(scripts / "python", "-c", ask, env=env).splitlines()[-1] == FIRST_NOTEBOOK


def test_the_first_notebook_is_where_binder_opens_it():
    assert (ROOT / FIRST_NOTEBOOK.removeprefix("/lab/tree/")).is_file()
