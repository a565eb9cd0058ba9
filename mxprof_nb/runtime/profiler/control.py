"""Configuring, starting, stopping and reading the profiler: the functions of `mx.profiler`."""

from __future__ import annotations

from typing import Any

from mxprof_nb.errors import ProfilerError
from mxprof_nb.runtime.aggregate import SORT_KEYS, format_json, format_table
from mxprof_nb.runtime.profiler import state as process_state
from mxprof_nb.runtime.profiler.config import choice, parse, process, yes_or_no
from mxprof_nb.runtime.profiler.environment import starts_by_itself
from mxprof_nb.runtime.profiler.vendor import annotate_as_told

__all__ = ["dump", "dumps", "pause", "resume", "set_config", "set_state"]

_FORMATS = {"table": format_table, "json": format_json}


def set_config(**options: Any) -> None:
    """Say what to record and where to write it.

    All of it applies, or, when anything is wrong, nothing: then all stays as it was. What was
    recorded before is kept.

    Parameters
    ----------
    filename : str or PathLike
        File that `dump` writes; ``"profile.json"`` by default. One that exists stays until then,
        or until it is brought up to date for the first time.
    profile_all : bool
        Record everything, whatever the other flags say; False by default.
    profile_symbolic : bool
        Record operators of symbols; True by default.
    profile_imperative : bool
        Record operators on arrays; True by default.
    profile_memory : bool
        Record memory; True by default.
    profile_api : bool
        Record calls into the runtime; True by default.
    continuous_dump : bool
        Whether what was recorded goes to disk while the program runs, True by default: first to
        a spool beside the file, whose name is the file's and ``.spool``, and, as long as that
        takes no more than a tenth of a core, into the file, which is valid all the time. `dump`
        and the end of the program do the rest and remove the spool. Of a process that was
        killed, `mxprof_nb.load` reads either.
    dump_period : float
        How often, in seconds, 1 by default; from one set to the next what was recorded is in
        memory.
    aggregate_stats : bool
        Keep statistics for `dumps`; False, the default, forgets them.
    profile_process : {"worker"}
        There are no servers.
    profile_pool : bool
        Record how many bytes the pool of large blocks keeps for later, False by default: a row
        under "Pool Memory".

    Raises
    ------
    ProfilerOptionError
        An option does not exist, or cannot have this value.
    """
    chosen = parse(options)
    profiler = process_state.PROFILER
    with profiler.alone():
        profiler.configure(chosen)


def set_state(state: str = "stop", profile_process: str = "worker") -> None:
    """Start (``"run"``) or stop (``"stop"``) recording.

    Both may be repeated. ``"run"`` also ends a pause. Operators that are still queued when
    recording stops belong to the profile: `dumps` and a finished `dump` wait for them.

    Raises
    ------
    ProfilerOptionError
        There is no such state or process.
    """
    wanted = choice("set_state: state", state, ["run", "stop"])
    process("set_state: profile_process", profile_process)
    profiler = process_state.PROFILER
    with profiler.alone():
        if wanted == "run":
            profiler.run()
        else:
            profiler.stop()


def pause(profile_process: str = "worker") -> None:
    """Stop recording until `resume`; not nested: one `resume` is enough."""
    process("pause: profile_process", profile_process)
    profiler = process_state.PROFILER
    with profiler.alone():
        profiler.pause()


def resume(profile_process: str = "worker") -> None:
    """Go on recording after `pause`; the profiler starts only by `set_state`."""
    process("resume: profile_process", profile_process)
    profiler = process_state.PROFILER
    with profiler.alone():
        profiler.resume()


def dumps(
    reset: bool = False, format: str = "table", sort_by: str = "total", ascending: bool = False
) -> str:
    """Return the statistics as text; empty unless ``aggregate_stats=True`` was configured.

    Writes no file. While the profiler is stopped or paused, it waits for operators that were
    queued before.

    Parameters
    ----------
    reset : bool
        Forget the statistics afterwards.
    format : {"table", "json"}
        MXNet's table; or JSON with the keys ``Time``, ``Memory`` and ``Unit``: figures per domain
        and name, times in ms and memory in kB, in full precision.
    sort_by : {"total", "avg", "min", "max", "count"}
    ascending : bool

    Raises
    ------
    ProfilerOptionError
        A choice does not exist.
    """
    form = _FORMATS[choice("dumps: format", format, list(_FORMATS))]
    key = choice("dumps: sort_by", sort_by, list(SORT_KEYS))
    upwards = yes_or_no("dumps: ascending", ascending)
    forget = yes_or_no("dumps: reset", reset)
    profiler = process_state.PROFILER
    profiler.wait_for_late()
    with profiler.alone():
        if not profiler.options.aggregate_stats:
            return ""
        profiler.collect()
        text = form(profiler.statistics.table(), key, upwards)
        if forget:
            profiler.statistics.reset(profiler.nothing())
        return text


def dump(finished: bool = True, profile_process: str = "worker") -> None:
    """Write everything recorded so far to the configured file, as a Chrome trace of MXNet's.

    chrome://tracing and Perfetto show it; `mxprof_nb.load` reads it back, each operator once. The
    file is whole each time, also in between when it is dumped continuously. While the profiler is
    stopped or paused, a finished dump waits for operators that were queued before.

    Parameters
    ----------
    finished : bool
        Whether this ends the file. What is recorded later starts a new one, in its place if it has
        the same name; but only at the next dump, or after the next ``set_state("run")``, so that a
        file is not replaced behind the program's back. With False the next dump writes all of it
        again and what came since.
    profile_process : {"worker"}

    Raises
    ------
    ProfilerError
        The profiler has never run.
    ProfilerOptionError
        An argument cannot have this value.
    WriteError
        The file cannot be written; nothing is lost, configure another and dump again.
    """
    last = yes_or_no("dump: finished", finished)
    process("dump: profile_process", profile_process)
    profiler = process_state.PROFILER
    if not profiler.has_run:
        raise ProfilerError(
            "profiler.dump(): the profiler has not been run. "
            "Call set_state('run') before the code to be profiled."
        )
    if last:
        profiler.wait_for_late()
    with profiler.alone():
        profiler.collect()
        if not profiler.unwritten:
            return  # nothing since the last finished dump: its file stays as it is
        profiler.write(last=last)
        profiler.complete = False
        if last:
            profiler.finish()


annotate_as_told()
if starts_by_itself():  # at import, as in MXNet
    set_state("run")
