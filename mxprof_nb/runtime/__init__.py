"""The embedded runtime: MXNet's public names on an asynchronous engine of our own.

Use it as ``import mxprof_nb.runtime as mx``. Operators are queued and return at once, a
dependency engine orders them by what they read and write, worker threads run NumPy kernels, and
errors travel to the place where a value is first needed.

Differences from MXNet 1.9.1, one per line:

- A value that could not be computed raises whenever read; MXNet raises once, then gives garbage.
- WaitForVar lasts as long as the host was blocked, on its row; MXNet records a worker's callback.
- DeleteVariable lies where the memory was given back; MXNet has a worker do it later.
- Two workers by default (or the cores, if fewer), MXNet one; MXNET_CPU_WORKER_NTHREADS overrides.
- Random numbers are NumPy's Philox, not MXNet's; seeded ones do not depend on the workers.
- nd.array asks for shape and type once each; MXNet's front end asks for the shape eleven times.
- MXNet API Calls and Concurrency count from the start of the profile, not of the process.
- Times are kept in nanoseconds; MXNet counts whole microseconds.
"""

from mxprof_nb.runtime import base, engine, nd, profiler, random
from mxprof_nb.runtime.base import MXNetError
from mxprof_nb.runtime.context import Context, cpu, current_context
from mxprof_nb.runtime.nd import NDArray, waitall

__all__ = [
    "Context",
    "MXNetError",
    "NDArray",
    "base",
    "cpu",
    "current_context",
    "engine",
    "nd",
    "profiler",
    "random",
    "waitall",
]
