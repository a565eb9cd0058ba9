"""What a capture happens in: versions, machine and backends, to be quoted when asking for help."""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version

from mxprof_nb.backends.registry import describe_backends

__all__ = ["show_versions"]

_PACKAGES = ("mxprof-nb", "numpy", "pandas", "plotly", "ipywidgets", "anywidget", "ipython",
             "ipykernel", "jupyterlab", "msgspec")  # fmt: skip


def show_versions() -> None:
    """Print the versions of what takes part, the machine, and which backends can record.

    Nothing is imported for it, so it also works where an import fails.
    """
    rows = {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cpus": str(os.cpu_count()),
        **{package: _version(package) for package in _PACKAGES},
    }
    for backend in describe_backends():
        state = "available" if backend.available else f"{backend.reason} {backend.remedy}".strip()
        rows[f"backend {backend.name}"] = state
    width = max(map(len, rows))
    sys.stdout.write("".join(f"{name:<{width}}  {value}\n" for name, value in rows.items()))


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
