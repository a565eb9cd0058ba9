"""What this process serves: a kernel or not, and which kind of front end; IPython is not imported.

Both are asked of what is there already, so that a plain program never pays for it.
"""

from __future__ import annotations

import os
import sys
from typing import Any

__all__ = ["kernel_runs", "outputs_stand_apart", "request_of_a_person"]


def kernel_runs() -> bool:
    """Return whether a front end can answer and be answered here."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return getattr(shell, "kernel", None) is not None


def request_of_a_person() -> dict[str, Any] | None:
    """Return the request under way in a kernel, when a person waits for its output.

    A program that runs notebooks (nbclient, nbconvert, papermill) declares that nobody can
    answer `input()`. What it writes is read without a kernel, so it gets nothing that lives.
    """
    ipython = sys.modules.get("IPython")
    try:
        kernel = getattr(ipython.get_ipython(), "kernel", None) if ipython else None
        if kernel is None or getattr(kernel, "comm_manager", None) is None:
            return None
        request: dict[str, Any] = kernel.get_parent()
        return request if request.get("content", {}).get("allow_stdin", True) else None
    except Exception:  # a front end of its own kind: the static forms serve it
        return None


def outputs_stand_apart() -> bool:
    """Return whether the front end shows outputs in pages other than that of the notebook.

    VS Code starts kernels with its own variables, which its terminals do not pass on; Colab
    imports its package into each kernel.
    """
    return "VSCODE_PID" in os.environ or "VSCODE_CWD" in os.environ or "google.colab" in sys.modules
