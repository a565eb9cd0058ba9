"""Processes with real MXNet and with our runtime, kept for all tests of a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.environment import missing
from tests.reference.mxnet_programs import PROGRAMS, Output, run
from tests.reference.runtime_process import OURS, REAL, RuntimeProcess, why_not_real


class Runtimes:
    """One process for each runtime and environment, started when first asked for."""

    def __init__(self) -> None:
        self._started: dict[object, RuntimeProcess] = {}

    def real(self, **environment: str) -> RuntimeProcess:
        """Return the process with real MXNet in this environment."""
        if reason := why_not_real():
            missing(reason)
        return self._get(REAL, environment)

    def ours(self, **environment: str) -> RuntimeProcess:
        """Return the process with our runtime in this environment."""
        return self._get(OURS, environment)

    def _get(self, runtime: str, environment: dict[str, str]) -> RuntimeProcess:
        key = runtime, *sorted(environment.items())
        found = self._started.get(key)
        if found is None or found.closed:
            found = self._started[key] = RuntimeProcess(runtime, environment)
        return found

    def close(self) -> None:
        for process in self._started.values():
            process.close()


@pytest.fixture(scope="module")
def runtimes() -> Iterator[Runtimes]:
    """Processes of this file's own: what one file defines in them, no other file meets."""
    made = Runtimes()
    yield made
    made.close()


@pytest.fixture(scope="session")
def golden(shared_dir: Path) -> Path:
    """The folder of what real MXNet 1.9.1 printed and wrote."""
    folder = shared_dir / "golden" / "mxnet"
    if not folder.is_dir():
        pytest.skip("no recorded output of real MXNet")
    return folder


@pytest.fixture(scope="session")
def written_by_us(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Output]:
    """What our runtime leaves for each program that real MXNet was recorded with."""
    folder = tmp_path_factory.mktemp("profiles")
    return {program: run(program, folder) for program in PROGRAMS}
