"""The engine under eight threads that queue whatever there is, against a serial model in NumPy.

The run lasts MXPROF_STRESS_SECONDS: by default 60 with ``CI=true``, 10 otherwise. Its program,
`tests.stress.program`, prints the seed of each round as it begins; the last one printed is the one
that failed or hung, and ``python -m tests.stress.program --seed N --rounds 1`` plays it again.
"""

import os
import subprocess
import sys

import pytest

from tests.environment import ROOT

SECONDS = float(
    os.environ.get("MXPROF_STRESS_SECONDS") or (60 if os.environ.get("CI") == "true" else 10)
)
#: Start, the last round, and what `tests.stress.program` allows a round that hangs.
PATIENCE_S = SECONDS + 180


@pytest.mark.slow
@pytest.mark.timeout(PATIENCE_S + 30)
@pytest.mark.parametrize("workers", ["2", "4"])
def test_eight_threads_at_once_get_what_a_serial_program_gets(workers: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.stress.program", "--seconds", str(SECONDS / 2)],
        cwd=ROOT,
        env={**os.environ, "MXNET_CPU_WORKER_NTHREADS": workers},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2_000:] + done.stderr
    assert done.stderr == ""
    assert done.stdout.splitlines()[-1].startswith("All agreed: ")
