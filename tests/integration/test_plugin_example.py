"""The example plugin, installed as a person would, and the public promises it rests on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.kernel import PLUGIN, ROOT

PROGRAM = """\
import time, mxprof_jobs
import mxprof_nb as mp
assert "jobs" in mp.list_backends(), mp.list_backends()
with mp.profile(backend="jobs") as p:
    mxprof_jobs.submit(time.sleep, 0.01)
print(*p.events["name"], *p.tables)
"""


@pytest.mark.slow
def test_after_pip_install_the_backend_is_there_by_name(tmp_path: Path):
    site = tmp_path / "site"
    install = [
        sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation",
        "--no-index", "--disable-pip-version-check", "--target", str(site), str(PLUGIN),
    ]  # fmt: skip
    done = subprocess.run(install, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(site)])}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=tmp_path, env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["submit", "sleep", "Operators", "Jobs"]
