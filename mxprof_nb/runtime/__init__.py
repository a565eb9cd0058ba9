"""The embedded runtime: MXNet's public names on an asynchronous engine of our own.

Use it as ``import mxprof_nb.runtime as mx``. Operators are queued and return at once, a
dependency engine orders them by what they read and write, worker threads run NumPy kernels, and
errors travel to the place where a value is first needed.

Differences from MXNet 1.9.1, one per line:

- A value that could not be computed raises whenever it is read; MXNet raises once, then hands out uninitialised memory.
- `WaitForVar` lies on the waiting thread's row and lasts as long as the host was blocked; MXNet records a callback on a worker.
- There are two workers by default (as many as cores if fewer); MXNet has one. MXNET_CPU_WORKER_NTHREADS overrides.
- Random numbers come from NumPy's Philox and differ from MXNet's; after a seed they do not depend on the number of workers.
- `nd.array` asks for shape and type once each; MXNet's front end asks for the shape eleven times.
"""

from mxprof_nb.runtime import nd, profiler, random
from mxprof_nb.runtime.context import Context, cpu, current_context
from mxprof_nb.runtime.nd import NDArray, waitall

__all__ = ["Context", "NDArray", "cpu", "current_context", "nd", "profiler", "random", "waitall"]
