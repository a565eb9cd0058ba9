"""`mx.profiler`: MXNet's profiler API over the recorder that `%%mxprofile` also listens to.

- `set_config` says what to record and where to write, `set_state("run")` starts, ``"stop"`` ends.
- What was recorded stays until `dumps(reset=True)` or a finished `dump`; both may be called in
  any order and as often as wanted.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from mxprof_nb._typing import StrPath
from mxprof_nb.errors import CaptureError, close_match
from mxprof_nb.record import RECORDER, RecordConfig, Recording, freeze
from mxprof_nb.record.buffer import OPERATOR_FIELDS, Block
from mxprof_nb.runtime.aggregate import SORT_KEYS, format_table
from mxprof_nb.runtime.engine.bulk import SIZES
from mxprof_nb.runtime.engine.fork import in_child
from mxprof_nb.trace import Meta, Trace

__all__ = ["dump", "dumps", "pause", "resume", "set_config", "set_state"]


class _Profiler:
    """State of the process's profiler; every public function locks it."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.filename: StrPath = "profile.json"
        self.aggregate_stats = False
        self.config = RecordConfig()
        self.recording: Recording | None = None
        self.running = False
        self.paused = False
        self.has_run = False
        self.statistics = self.nothing()
        self.to_write = self.nothing()

    def nothing(self) -> Recording:
        """Return a recording that never listens itself, to collect what was heard."""
        return Recording(RECORDER, RecordConfig())

    def suspend_bulking(self) -> None:
        """Keep operators apart while statistics are kept, as MXNet does: a bulk has no names."""
        SIZES.suspended = self.running and not self.paused and self.aggregate_stats

    def run(self) -> None:
        self.has_run = True
        if not self.running:
            self.running, self.paused = True, False
            self.recording = RECORDER.start(self.config)
        elif self.paused:
            self.resume()
        self.suspend_bulking()

    def stop(self) -> None:
        if self.running and self.recording is not None:
            self.recording.pause()
            self.collect()
            self.running, self.paused, self.recording = False, False, None
            self.suspend_bulking()

    def pause(self) -> None:
        if self.running and self.recording is not None:
            self.recording.pause()
            self.paused = True
            self.suspend_bulking()

    def resume(self) -> None:
        if self.running and self.recording is not None:
            self.recording.resume()
            self.paused = False
            self.suspend_bulking()

    def collect(self) -> None:
        """Take over what was heard since the last time."""
        recording = self.recording
        if recording is None:
            return
        recording.sync()
        # What is not wanted is left out now: the next configuration may want other things.
        wanted = [
            b for b in (_only(block, recording.config) for block in recording.blocks) if len(b)
        ]
        for heard in (self.to_write, *([self.statistics] if self.aggregate_stats else [])):
            heard.windows += recording.windows
            heard.blocks += wanted
            heard.lost += recording.lost
            heard.lost_since = heard.lost_since or recording.lost_since
        recording.windows, recording.blocks, recording.lost = [], [], 0


def _only(block: Block, config: RecordConfig) -> Block:
    """Return the records of the kinds that a configuration asks for."""
    operators = block.operators.copy() if config.operators else block.operators[:0]
    operators[:, OPERATOR_FIELDS.index("device")] = -1  # memory has records of its own below
    calls = block.calls if config.api else block.calls[:0]
    memory = block.memory_changes() if config.memory else block.memory[:0]
    return Block(block.thread, calls, operators, memory)


def _trace(heard: Recording) -> Trace:
    return freeze(heard, Meta(backend="embedded", title="mx.profiler"))


_PROFILER = _Profiler()


@in_child
def _renew() -> None:
    """Begin anew in the child of a fork: the recording, and perhaps the lock, are the parent's."""
    global _PROFILER
    _PROFILER = _Profiler()
    _PROFILER.suspend_bulking()


_OPTIONS: Mapping[str, Any] = {
    "filename": "profile.json",
    "profile_all": False,
    "profile_symbolic": True,
    "profile_imperative": True,
    "profile_memory": True,
    "profile_api": True,
    "continuous_dump": True,
    "dump_period": 1.0,
    "aggregate_stats": False,
    "profile_process": "worker",
}


def set_config(**options: Any) -> None:
    """Say what to record and where to write it.

    Parameters
    ----------
    filename : str
        File that `dump` writes; ``profile.json`` by default.
    profile_all : bool
        Record everything, whatever the other flags say.
    profile_symbolic, profile_imperative : bool
        Record operators; either is enough as long as there are no symbols.
    profile_memory : bool
        Record memory.
    profile_api : bool
        Record calls into the runtime.
    aggregate_stats : bool
        Keep statistics for `dumps`.
    continuous_dump, dump_period, profile_process
        Taken for compatibility: the file is written by `dump`.

    Raises
    ------
    TypeError
        An option does not exist.
    """
    for name in options:
        if name not in _OPTIONS:
            raise TypeError(
                f"set_config has no option {name!r}.{close_match(name, _OPTIONS)} "
                f"Options are {', '.join(_OPTIONS)}."
            )
    chosen = {**_OPTIONS, **options}
    everything = bool(chosen["profile_all"])
    config = RecordConfig(
        operators=everything
        or bool(chosen["profile_symbolic"])
        or bool(chosen["profile_imperative"]),
        memory=everything or bool(chosen["profile_memory"]),
        api=everything or bool(chosen["profile_api"]),
    )
    with _PROFILER.lock:
        if _PROFILER.running:
            _PROFILER.collect()
        _PROFILER.config = config
        _PROFILER.filename = chosen["filename"]
        _PROFILER.aggregate_stats = bool(chosen["aggregate_stats"])
        if not _PROFILER.aggregate_stats:
            _PROFILER.statistics = _PROFILER.nothing()
        _PROFILER.suspend_bulking()
        if _PROFILER.running and _PROFILER.recording is not None:
            _PROFILER.recording.config = config


def set_state(state: str = "stop", profile_process: str = "worker") -> None:
    """Start (``"run"``) or stop (``"stop"``) recording.

    Operators that are still queued when recording stops are not part of the profile: call
    `mxprof_nb.runtime.nd.waitall` first.

    Raises
    ------
    ValueError
        Another state is named.
    """
    if state not in ("run", "stop"):
        raise ValueError(f"set_state({state!r}): the states are 'run' and 'stop'.")
    with _PROFILER.lock:
        if state == "run":
            _PROFILER.run()
        else:
            _PROFILER.stop()


def pause(profile_process: str = "worker") -> None:
    """Stop recording until `resume`; not nested: one `resume` is enough."""
    with _PROFILER.lock:
        _PROFILER.pause()


def resume(profile_process: str = "worker") -> None:
    """Go on recording after `pause`."""
    with _PROFILER.lock:
        _PROFILER.resume()


def dumps(
    reset: bool = False, format: str = "table", sort_by: str = "total", ascending: bool = False
) -> str:
    """Return the statistics as text; empty unless ``aggregate_stats=True`` was configured.

    Parameters
    ----------
    reset : bool
        Forget the statistics afterwards.
    format : {"table"}
    sort_by : {"total", "avg", "min", "max", "count"}
    ascending : bool

    Raises
    ------
    ValueError
        A choice does not exist.
    """
    if format != "table":
        raise ValueError(f"dumps(format={format!r}): the only format is 'table'.")
    if sort_by not in SORT_KEYS:
        raise ValueError(
            f"dumps(sort_by={sort_by!r}):{close_match(sort_by, SORT_KEYS)} "
            f"choose one of {', '.join(SORT_KEYS)}."
        )
    with _PROFILER.lock:
        if _PROFILER.running:
            _PROFILER.collect()
        if not _PROFILER.aggregate_stats:
            return ""
        text = format_table(_trace(_PROFILER.statistics), sort_by, ascending)
        if reset:
            _PROFILER.statistics = _PROFILER.nothing()
        return text


def dump(finished: bool = True, profile_process: str = "worker") -> None:
    """Write everything recorded so far to the configured file, as a Chrome trace.

    Parameters
    ----------
    finished : bool
        Whether this ends the file: what is recorded later starts a new one. With False the next
        dump writes all of it again and what came since.

    Raises
    ------
    CaptureError
        Nothing was ever recorded.
    WriteError
        The file cannot be written; nothing is lost, configure another and dump again.
    """
    from mxprof_nb.io.registry import save

    with _PROFILER.lock:
        if not _PROFILER.has_run:
            raise CaptureError(
                "profiler.dump(): the profiler has not been run. "
                "Call set_state('run') before the code to be profiled."
            )
        if _PROFILER.running:
            _PROFILER.collect()
        if not _PROFILER.to_write.windows:
            return  # nothing since the last finished dump: its file stays as it is
        save(_trace(_PROFILER.to_write), _PROFILER.filename, format="chrome")
        if finished:
            _PROFILER.to_write = _PROFILER.nothing()
