"""Samples of a stack, in events or beside them: what was running when somebody looked."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from mxprof_nb.io.chrome import microseconds
from mxprof_nb.io.chrome.faults import Faults

__all__ = ["Frames", "Sample", "samples_beside"]

#: Deeper stacks are cut at the root; frames that are their own parents end here too.
_DEEPEST = 128


class Frames:
    """The stack frames of a file, by their ids.

    Parameters
    ----------
    told : object
        What stands in the file under ``stackFrames``.
    faults : Faults
        Told which are not there.
    """

    def __init__(self, told: Any, faults: Faults) -> None:
        self._told = told if isinstance(told, dict) else {}
        self._faults = faults
        self._known: dict[str, tuple[str, ...]] = {}

    def stack(self, which: Any, place: str) -> tuple[str, ...]:
        """Return the names of the frames, the outermost first; empty when there are none.

        Parameters
        ----------
        which : object
            The id of the innermost frame, or the undecoded list of frames.
        place : str
            Of the sample, for the health.
        """
        if isinstance(which, bytes):
            try:
                told = json.loads(which)
            except (ValueError, RecursionError):
                told = None
            frames = told if isinstance(told, list) else []
            return tuple(str(frame) for frame in frames[-_DEEPEST:])
        key = str(which)
        if key not in self._known:
            self._known[key] = self._climbed(key)
        if not self._known[key]:
            self._faults.add("bad_stack", place)
        return self._known[key]

    def _climbed(self, key: str | None) -> tuple[str, ...]:
        names: list[str] = []
        while key is not None and len(names) < _DEEPEST:
            frame = self._told.get(key)
            if not isinstance(frame, dict):
                break
            names.append(str(frame.get("name", "")))
            parent = frame.get("parent")
            key = None if parent is None else str(parent)
        return tuple(reversed(names))


@dataclass(frozen=True, slots=True)
class Sample:
    """One sample that stands beside the events."""

    time_ns: int
    pid: Any
    tid: Any
    name: str
    args: str


def samples_beside(extras: Mapping[str, Any], frames: Frames, faults: Faults) -> Iterator[Sample]:
    """Yield the samples that stand under ``samples``."""
    told = extras.get("samples")
    for number, sample in enumerate(told if isinstance(told, list) else ()):
        place = f"sample {number}"
        if not isinstance(sample, dict):
            faults.add("no_event", place)
            continue
        ts = [json.dumps(sample.get("ts")).encode()]
        time = microseconds.times(ts, [b"0"])
        if time.start_state[0] != microseconds.GOOD:
            faults.add("no_time", place)
            continue
        stack = frames.stack(sample["sf"], place) if "sf" in sample else ()
        name = sample.get("name")
        name = name if isinstance(name, str) and name else stack[-1] if stack else "sample"
        weight = {key: sample[key] for key in ("weight", "cpu") if key in sample}
        args = json.dumps({"stack": stack, **weight})
        ids = [
            one if type(one) is int else None if one is None else str(one)
            for one in (sample.get("pid"), sample.get("tid"))
        ]
        yield Sample(int(time.start[0]), ids[0], ids[1], name, args)
