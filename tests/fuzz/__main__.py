"""The long form: ``python -m tests.fuzz [FORMAT ...] [--seconds 600]``.

With atheris (``pip install atheris``) a fuzzer that follows the coverage of the readers; without
it Hypothesis alone, as in the tests.
"""

from __future__ import annotations

import argparse
import importlib.util
import subprocess
import sys
import tempfile
from pathlib import Path

from mxprof_nb.io import list_readers
from tests.conformance.samples import samples
from tests.environment import ROOT
from tests.fuzz.campaign import fuzz

#: Contents that brought something about are kept here.
FOUND = ROOT / ".artifacts" / "fuzz"


def main() -> int:
    """Fuzz each reader in turn and say what came of it."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("format", nargs="*", choices=[[], *list_readers()], help="all when none")
    parser.add_argument("--seconds", type=int, default=600, help="for each reader")
    options = parser.parse_args()
    failed = 0
    guided = importlib.util.find_spec("atheris") is not None
    print(f"With {'atheris' if guided else 'Hypothesis; atheris is not installed'}.", flush=True)
    for format in options.format or list_readers():
        if guided:
            done, told = _with_atheris(format, options.seconds)
        else:
            done, told = True, str(dict(fuzz(format, samples(format), options.seconds)))
        print(f"{format:10} {'ok' if done else 'FAILED'}  {told}", flush=True)
        failed += not done
    return failed


def _with_atheris(format: str, seconds: int) -> tuple[bool, str]:
    FOUND.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for number, content in enumerate(samples(format)):
            Path(folder, f"sample{number}").write_bytes(content)
        done = subprocess.run(
            [
                sys.executable, "-m", "tests.fuzz.guided", format, folder,
                f"-max_total_time={seconds}", "-timeout=20", "-rss_limit_mb=3000",
                "-max_len=65536", "-print_final_stats=1", f"-artifact_prefix={FOUND}/{format}-",
            ],
            cwd=ROOT, capture_output=True, text=True, check=False,
        )  # fmt: skip
    if done.returncode:
        return False, (done.stdout + done.stderr)[-3_000:]
    stats = [line for line in done.stderr.splitlines() if line.startswith(("stat::", "#"))]
    last = [line for line in stats if " cov: " in line][-1:]
    runs = [line for line in stats if "number_of_executed_units" in line]
    return True, " ".join([*runs, *last])


if __name__ == "__main__":
    sys.exit(main())
