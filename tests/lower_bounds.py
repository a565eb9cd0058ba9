"""Run the tests against the oldest releases that pyproject.toml allows.

``python -m tests.lower_bounds [pytest arguments]``: a new environment gets every core dependency,
and those of the extras ``lab`` and ``formats``, at its lower bound; what only
the tests need stays current.
"""

import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def oldest(requirement: str) -> str:
    """Return a requirement pinned to its lower bound, e.g. numpy==1.26.*"""
    name, bound = re.fullmatch(r"([\w.-]+)>=([\w.]+)", requirement).groups()  # type: ignore[union-attr]
    parts = bound.split(".")
    return f"{name}=={bound}" if len(parts) > 2 else f"{name}=={bound}.*"


def main(arguments: list[str]) -> int:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    bounded = project["dependencies"] + extras["lab"] + extras["formats"]
    pinned = [oldest(requirement) for requirement in bounded]
    tests = [requirement for requirement in extras["test"] if not requirement.startswith("mxprof")]
    with tempfile.TemporaryDirectory() as folder:
        python = Path(folder) / "bin" / "python"
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        pip = [str(python), "-m", "pip", "install", "--quiet"]
        subprocess.run([*pip, *pinned, *tests, "-e", str(ROOT)], check=True)
        chosen = arguments or ["tests/unit", "tests/property", "tests/notebooks"]
        return subprocess.run([python, "-m", "pytest", *chosen], cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
