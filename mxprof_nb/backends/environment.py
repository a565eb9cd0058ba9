"""What a capture happens in: versions, machine and backends, to be quoted when asking for help."""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version

from mxprof_nb.backends.registry import describe_backends
from mxprof_nb.io.registry import list_readers, list_writers

__all__ = ["show_versions"]

#: What the package needs, then what a notebook needs besides.
_PACKAGES = ("mxprof-nb", "numpy", "threadpoolctl", "pandas", "msgspec", "pillow", "plotly",
             "rich", "tqdm", "ipython", "ipywidgets", "anywidget",
             "ipykernel", "jupyterlab", "jupyterlab-widgets", "nbclient", "mlxtend")  # fmt: skip


def show_versions() -> None:
    """Print the versions of what takes part, the machine, and which backends can record.

    Packages are not imported for it, so it also works where one of them cannot be.
    """
    rows = {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cpus": str(os.cpu_count()),
        "blas": _blas(),
        **{package: _version(package) for package in _PACKAGES},
    }
    for backend in describe_backends():
        state = "available" if backend.available else f"{backend.reason} {backend.remedy}".strip()
        rows[f"backend {backend.name}"] = state
    rows["reads"] = ", ".join(list_readers())
    rows["writes"] = ", ".join([*list_writers(), "html", "png"])
    width = max(map(len, rows))
    sys.stdout.write("".join(f"{name:<{width}}  {value}\n" for name, value in rows.items()))


def _blas() -> str:
    """Return the library of NumPy's matrix products and how many threads it may use."""
    try:
        from threadpoolctl import threadpool_info
    except ImportError:
        return "unknown: threadpoolctl is not installed"
    found = [library for library in threadpool_info() if library["user_api"] == "blas"]
    told = ", ".join(
        f"{library['internal_api']} {library['version']}, {library['num_threads']} threads"
        for library in found
    )
    return told or "unknown"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
