"""What this process serves: a kernel or not, and which kind of front end; IPython is not imported.

Both are asked of what is there already, so that a plain program never pays for it.
"""

from __future__ import annotations

import os
import sys

__all__ = ["kernel_runs", "outputs_stand_apart"]


def kernel_runs() -> bool:
    """Return whether a front end can answer and be answered here."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return getattr(shell, "kernel", None) is not None


def outputs_stand_apart() -> bool:
    """Return whether the front end shows outputs in pages other than that of the notebook.

    VS Code starts kernels with its own variables, which its terminals do not pass on; Colab
    imports its package into each kernel.
    """
    return "VSCODE_PID" in os.environ or "VSCODE_CWD" in os.environ or "google.colab" in sys.modules
