"""The machine that the tests run on: the repository, other programs, what may be missing."""

import os
import subprocess
from pathlib import Path
from typing import NoReturn

import pytest

ROOT = Path(__file__).resolve().parent.parent


def run(*command: str | Path, env: dict[str, str] | None = None) -> str:
    """Run a program in the repository's root and return all it printed; it must succeed."""
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def missing(what: str) -> NoReturn:
    """Skip the test for want of a tool; fail where CI promises that every tool is there."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"{what} (with CI=true it must be there)")
    pytest.skip(what)
