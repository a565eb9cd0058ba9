"""Whether this process is a kernel, asked without importing IPython."""

from __future__ import annotations

import sys

__all__ = ["kernel_runs"]


def kernel_runs() -> bool:
    """Return whether a front end can answer and be answered here."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return getattr(shell, "kernel", None) is not None
