"""`mx.profiler`: MXNet's profiler API over the recorder that `%%mxprofile` also listens to.

- `set_config` says what to record and where to write, `set_state("run")` starts, ``"stop"`` ends.
- What was recorded stays until `dumps(reset=True)` or a finished `dump`; both may be called in
  any order and as often as wanted. What no dump has written is written when the process ends.
- Operators that were queued before a stop or a pause belong to the profile, whenever they end.
- Once it was configured, and unless ``continuous_dump=False``, what was recorded goes to disk every
  ``dump_period`` seconds: to a spool beside the file, and from there into the file, which is valid
  JSON all the time. A dump or the end of the program completes it and removes the spool; after a
  ``kill -9`` `mxprof_nb.load` reads either. ``MXPROF_NB_MEMORY_LIMIT`` is how many MB of records
  may wait in memory, 512 by default; what is beyond is dropped, counted and said.
- `Domain`, `Task`, `Frame`, `Event`, `Counter` and `Marker` put what the program itself does
  beside that.

``MXNET_PROFILER_AUTOSTART=1`` (or ``true``, ``yes``, ``on``) starts it at import.
``MXNET_PROFILER_MODE`` is the sum of what to record as long as `set_config` is not called: 1 for
symbols, 2 for operators on arrays, 4 for calls, 8 for memory; unset means all of it.

`annotate` shows all this to the tools of hardware vendors as well: ``annotate("nvtx")`` to Nsight
Systems, ``annotate("ittapi")`` to VTune; so does ``MXPROF_NB_ANNOTATE=nvtx``.
"""

from mxprof_nb.runtime.profiler.control import dump, dumps, pause, resume, set_config, set_state
from mxprof_nb.runtime.profiler.deprecated import (
    dump_profile,
    profiler_set_config,
    profiler_set_state,
)
from mxprof_nb.runtime.profiler.objects import Counter, Domain, Event, Frame, Marker, Task
from mxprof_nb.runtime.profiler.scopes import scope
from mxprof_nb.runtime.profiler.vendor import annotate

__all__ = [
    "Counter",
    "Domain",
    "Event",
    "Frame",
    "Marker",
    "Task",
    "annotate",
    "dump",
    "dump_profile",
    "dumps",
    "pause",
    "profiler_set_config",
    "profiler_set_state",
    "resume",
    "scope",
    "set_config",
    "set_state",
]
