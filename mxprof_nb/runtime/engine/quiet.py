"""No warnings about floating point from operators: log(0) is -inf, as in MXNet.

A warning would come from nowhere: from a worker, long after the line that asked.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import Context

import numpy as np

from mxprof_nb.runtime.engine.state import Operator

__all__ = ["keep_quiet", "quietly"]

_OLD = int(np.__version__.split(".")[0]) < 2

#: NumPy 1 counts, for all threads together, how often one turned from the default settings and
#: back, and disregards those of every thread when it comes to 0. Whoever sets the default twice,
#: as an empty ``np.errstate()`` does, counts down twice; so a worker counts up more than once.
_TIMES = 1000 if _OLD else 1


def keep_quiet() -> None:
    """Turn the warnings off for the thread that calls this."""
    for _ in range(_TIMES):
        np.seterr(all="ignore")


def quietly() -> Callable[[Callable[[Operator], None], Operator], None]:
    """Return a function that runs an operator without warnings, on whatever thread."""
    if _OLD:

        def run(function: Callable[[Operator], None], operator: Operator) -> None:
            with np.errstate(all="ignore"):
                function(operator)

        return run
    # The setting belongs to the context since NumPy 2; entering one costs a tenth of errstate.
    quiet = Context()
    quiet.run(np.seterr, all="ignore")
    return quiet.run
