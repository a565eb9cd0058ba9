"""Check style, types and architecture: `python -m tests.check [--fix]`.

Every check runs, whatever became of the one before it; the exit code is 1 if any failed.
"""

import argparse
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LINT_IMPORTS = str(Path(sys.executable).with_name("lint-imports"))

CHECKS = {
    "format": ["-m", "ruff", "format", "--check"],
    "lint": ["-m", "ruff", "check"],
    "types": ["-m", "mypy"],
    "layers": [LINT_IMPORTS, "--no-cache"],
    "architecture": ["-m", "pytest", "-q", "tests/architecture"],
}
FIXES = [["-m", "ruff", "check", "--fix", "--quiet"], ["-m", "ruff", "format", "--quiet"]]


def passes(name: str, arguments: list[str]) -> bool:
    """Run one check and print its verdict, and its output when it failed."""
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    passed = done.returncode == 0
    seconds = time.perf_counter() - start
    print(f"{'ok' if passed else 'FAILED':7}{name:13}{seconds:5.1f} s", flush=True)
    if not passed:
        print(done.stdout, flush=True)
    return passed


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.check", description=__doc__)
    parser.add_argument("--fix", action="store_true", help="let ruff repair what it can first")
    if parser.parse_args().fix:
        for arguments in FIXES:
            subprocess.run([sys.executable, *arguments], cwd=ROOT, check=False)
    verdicts = [passes(name, arguments) for name, arguments in CHECKS.items()]
    return 0 if all(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
