"""The embedded runtime: MXNet's public names on an asynchronous engine of our own.

Use it as ``import mxprof_nb.runtime as mx``. Operators are queued and return at once, a
dependency engine orders them by what they read and write, worker threads run NumPy kernels, and
errors travel to the place where a value is first needed.

Differences from MXNet 1.9.1, one per line:

The engine:

- A value that could not be computed raises whenever read; MXNet raises once, then gives garbage.
- A failure in a bulk reaches what depends on it; in MXNet the whole bulk fails.
- A failed operator spoils nothing else; in MXNet what uses the same workspace later fails too.
- A failed array that is overwritten whole (x[:] = 0) can be read; in MXNet it still raises.
- Two workers for each device (or the cores, if fewer), MXNet one; MXNET_CPU_WORKER_NTHREADS counts.
- Copies have a lane of their own for each device; in MXNet the device's workers make them.
- Priorities order all that is ready; MXNet's processor workers take first come, first served.
- A thread is held back at 100,000 queued operators, see engine.set_queue_limit; MXNet has no limit.
- A shift within one array (a[1:] += a[:-1]) reads all before it writes; MXNet as it goes.
- Random numbers are NumPy's Philox, not MXNet's; seeded ones do not depend on the workers.

What profiles show:

- WaitForVar lasts as long as the host was blocked, on its row; MXNet records a worker's callback.
- DeleteVariable lies where the memory was given back; MXNet has a worker do it later.
- nd.array asks for shape and type once each; MXNet's front end asks for the shape eleven times.
- MXNet API Calls and Concurrency count from the start of the profile, not of the process.
- Times are kept in nanoseconds; MXNet counts whole microseconds.
"""

from mxprof_nb.runtime import base, context, engine, nd, profiler, random
from mxprof_nb.runtime.base import MXNetError
from mxprof_nb.runtime.context import Context, cpu, current_context, gpu
from mxprof_nb.runtime.nd import NDArray, waitall

__all__ = [
    "Context",
    "MXNetError",
    "NDArray",
    "base",
    "context",
    "cpu",
    "current_context",
    "engine",
    "gpu",
    "nd",
    "profiler",
    "random",
    "waitall",
]
