"""`Tree`: the lanes of a timeline in named groups that hold one another, and fold and unfold.

- Lanes stand in the order of `mxprof_nb.lod.lay_lanes`, so every group is a range of them: what a
  track stands for, then its device, then parts of about as many tracks, the track, its sub-lanes.
- What is open at first keeps the plot low. What a person opens or closes is remembered by the
  key of the group, and changes no other group.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from mxprof_nb._typing import I64Array
from mxprof_nb.lod import LaneTable
from mxprof_nb.trace import Trace
from mxprof_nb.trace.schema import ROLES
from mxprof_nb.view.numbers import count

__all__ = [
    "ALL",
    "CLOSED",
    "FIRST_ROWS",
    "MOST_ROWS",
    "NAME_CHARS",
    "OPEN",
    "Group",
    "Tree",
    "cut_middle",
]

#: What a person may choose for a group; `ALL` opens what is inside, too.
CLOSED, OPEN, ALL = 0, 1, 2
#: Rows at first, and rows that anybody can tell apart.
FIRST_ROWS, MOST_ROWS = 26, 200
#: A group of more tracks is opened in so many parts.
PARTS = 20
#: Nested calls are shown so many levels deep at first, and then so many more at a time.
LEVELS = 8
NAME_CHARS = 22
#: Stands before the name of a thread, where no head says so.
HOST = "host ·"
#: Beyond so many lanes nobody measures all their names.
FEW_LANES = 400

#: What several tracks of a role are called, and one of them.
TITLES = {
    "mark": ("steps and marks", "track of marks", "tracks of marks"),
    "line": ("lines of the cell", "track of lines", "tracks of lines"),
    "host": ("host threads", "host thread", "host threads"),
    "worker": ("workers", "worker", "workers"),
    "copy": ("copy lanes", "copy lane", "copy lanes"),
    "stream": ("streams", "stream", "streams"),
    "data": ("data loading", "data loader", "data loaders"),
    "counter": ("counters", "counter track", "counter tracks"),
}
#: Roles whose tracks belong to devices.
OF_DEVICES = ("worker", "copy", "stream")


@dataclass(frozen=True, slots=True)
class Group:
    """A range of lanes that may stand in one row."""

    first: int
    stop: int

    @property
    def key(self) -> str:
        """What choices call it."""
        return f"{self.first}-{self.stop}"


class Tree:
    """All groups of the lanes of one trace; immutable.

    Parameters
    ----------
    trace : Trace
    lanes : LaneTable
    first : ndarray of int64, shape (lanes + 1,)
        Number of events in the lanes before each.
    inner : callable
        Given a lane inside a track, returns its name.
    closed : callable
        Given a track's lanes, returns whether it is closed at first.

    Attributes
    ----------
    roots : list of Group
        The outermost, from top to bottom.
    lanes : int
        How many lanes there are.
    name_chars : int
        How long names get, whatever is opened.
    """

    def __init__(
        self,
        trace: Trace,
        lanes: LaneTable,
        first: I64Array,
        *,
        inner: Callable[[int], str],
        closed: Callable[[int, int], bool],
    ) -> None:
        self._trace, self._lanes, self._first = trace, lanes, first
        self._inner, self._closed = inner, closed
        self.lanes = len(lanes)
        of_devices = np.isin(lanes.role, [ROLES.index(name) for name in OF_DEVICES])
        self._device = np.where(of_devices, trace.tracks.device[lanes.track], -1)
        change = np.ones(len(lanes), dtype=bool)  # where one lane differs from the one above it
        self._splits: list[I64Array] = []
        for of in (lanes.role, self._device, lanes.track):
            differs = np.diff(of, prepend=-2) != 0
            change = differs | (change if self._splits else False)
            self._splits.append(np.flatnonzero(change))
        self.roots = self._parts_by(self._splits[0], 0, len(lanes))
        self._open_at_first = self._first_opened()
        self.name_chars = self._longest_name()

    def inside(self, group: Group, *, whole: bool = False) -> list[Group]:
        """Return what a group is opened to; nothing for a single lane.

        With ``whole`` all its tracks, however many, and not parts of them.
        """
        a, b = group.first, group.stop
        if b - a == 1:
            return []
        for splits in self._splits[1:]:
            parts = self._parts_by(splits, a, b, most=b if whole else PARTS)
            if len(parts) > 1:
                return parts
        levels = LEVELS if self._lanes.sub_lane[a] == 0 else PARTS
        if whole or b - a <= levels + 1:
            return [Group(lane, lane + 1) for lane in range(a, b)]
        if self._lanes.sub_lane[a] and b - a > PARTS * PARTS:
            return self._parts_by(np.arange(a, b), a, b)
        return [*(Group(lane, lane + 1) for lane in range(a, a + levels)), Group(a + levels, b)]

    def tracks(self, group: Group) -> int:
        """Return how many tracks a group holds."""
        return len(self._within(self._splits[2], group.first, group.stop))

    def events(self, group: Group) -> int:
        """Return how many events a group holds."""
        return int(self._first[group.stop] - self._first[group.first])

    def role(self, group: Group) -> str:
        """Return what the tracks of a group stand for."""
        return ROLES[self._lanes.role[group.first]]

    def device(self, group: Group) -> str:
        """Return the device that all tracks of a group belong to; empty where there is none."""
        if len(self._within(self._splits[1], group.first, group.stop)) > 1:
            return ""
        return self._trace.strings.text(int(self._device[group.first]))

    def said(self, group: Group) -> str:
        """Return what the name of an open group says for the rows below it."""
        return HOST if self.role(group) == "host" else self.device(group)

    def name(self, group: Group, *, opened: bool = False) -> str:
        """Return the short name of a group: how many it holds, or as a head over its rows."""
        tracks = self.tracks(group)
        lanes = self._lanes
        if tracks == 1:
            if lanes.sub_lane[group.first] == 0:
                return self._track_name(group.first)
            if group.stop - group.first > 1:
                level, more = int(lanes.sub_lane[group.first]) + 1, group.stop - group.first
                if group.stop in self._splits[2] or group.stop == len(lanes):
                    return f"{more:,} deeper levels"
                return f"levels {level} to {level + more - 1}"
            return self._inner(group.first)
        title, one, many = TITLES[self.role(group)]
        device = self.device(group)
        if not self._whole(group):
            first, last = (
                self._track_name(lane).removeprefix(f"{HOST} ")
                for lane in (group.first, group.stop - 1)
            )
            return _range(first, last, tracks)
        if device:
            return f"{device} {title}" if opened else f"{tracks} {device} {title}"
        return title if opened else count(tracks, one, many)

    def title(self, group: Group) -> str:
        """Return full names and ids of a group's tracks, and how many events they hold."""
        trace, tracks = self._trace, self.tracks(group)
        events = count(self.events(group), "event")
        track = int(self._lanes.track[group.first])
        table, strings = trace.tracks, trace.strings
        named = strings[int(table.name[track])]
        if tracks > 1:
            last = strings[int(table.name[self._lanes.track[group.stop - 1]])]
            return f"{tracks:,} tracks, {named} to {last}; {events}"
        parts = [named]
        for what, code in (
            ("process", table.process[track]),
            ("thread", table.thread[track]),
            ("device", table.device[track]),
            ("process id", table.pid_text[track]),
            ("thread id", table.tid_text[track]),
        ):
            text = strings.text(int(code))
            if text and text not in parts[0].split():
                parts.append(f"{what} {text}")
        if self._lanes.sub_lane[group.first]:
            parts.append(f"level {self._lanes.sub_lane[group.first] + 1}")
        return f"{', '.join(parts)}; {events}"

    def _track_name(self, lane: int) -> str:
        """Return the name of a track; of one without, its ids."""
        table, track, strings = self._trace.tracks, self._lanes.track[lane], self._trace.strings
        codes = (table.name, table.thread, table.tid_text, table.process, table.pid_text)
        names = (strings.text(int(code[track])) for code in codes)
        name = next(filter(None, names), f"track {track}")
        if ROLES[self._lanes.role[lane]] == "host" and "host" not in name.lower():
            name = f"{HOST} {name}"
        return name

    def _within(self, splits: I64Array, a: int, b: int) -> list[int]:
        """Return where parts of a range begin."""
        low, high = np.searchsorted(splits, (a + 1, b))
        return [a, *splits[low:high].tolist()]

    def _parts_by(self, splits: I64Array, a: int, b: int, most: int = PARTS) -> list[Group]:
        if a == b:
            return []
        heads = self._within(splits, a, b)
        if len(heads) > most:
            heads = [heads[k * len(heads) // most] for k in range(most)]
        return [Group(*pair) for pair in zip(heads, [*heads[1:], b], strict=True)]

    def _whole(self, group: Group) -> bool:
        """Return whether a group is all of a role, or all of a device, and no part of it."""
        role, device, _ = (
            group.first in splits and (group.stop in splits or group.stop == len(self._lanes))
            for splits in self._splits
        )
        return role or (device and bool(self.device(group)))

    def _first_opened(self) -> frozenset[str]:
        """Return the groups that are open at first: the outer ones first, while rows are few.

        Groups side by side are opened together, so that what is alike looks alike.
        """
        opened: set[str] = set()
        rows, levels = len(self.roots), [[root] for root in self.roots]
        while levels:
            groups = [group for group in levels.pop(0) if self._opens(group)]
            inner = [self.inside(group) for group in groups]
            # The outermost lane of a track has a row already; other groups get a head.
            more = sum(map(len, inner)) - sum(self.tracks(group) == 1 for group in groups)
            if rows + more > FIRST_ROWS:
                continue
            opened |= {group.key for group in groups}
            rows += more
            levels += inner
        return frozenset(opened)

    def _opens(self, group: Group) -> bool:
        """Return whether a group may be open at first."""
        if not self.inside(group):
            return False
        if self.tracks(group) > 1:
            return self._whole(group)
        deeper = self._lanes.sub_lane[group.first] > 0
        return not deeper and not self._closed(group.first, group.stop)

    def opened(self, choices: Mapping[str, int]) -> tuple[dict[str, list[Group]], int]:
        """Return what open groups hold after some choices, and how many had no room to open."""
        opened: dict[str, list[Group]] = {}
        refused, rows = 0, len(self.roots)
        queue = [(group, False) for group in self.roots]
        while queue:
            group, everything = queue.pop(0)
            usual = ALL if everything else int(group.key in self._open_at_first)
            chosen = choices.get(group.key, usual)
            inner = self.inside(group) if chosen else []
            if chosen == ALL and rows + len(flat := self.inside(group, whole=True)) <= MOST_ROWS:
                inner = flat
            if not inner:
                continue
            if rows + len(inner) > MOST_ROWS:
                refused += 1
                continue
            opened[group.key] = inner
            rows += len(inner)
            queue += [(part, chosen == ALL) for part in inner]
        return opened, refused

    def _longest_name(self) -> int:
        """Return how long names get, in characters, whatever is opened."""
        if len(self._lanes) > FEW_LANES:
            return NAME_CHARS
        longest, queue = 0, list(self.roots)
        while queue:
            group = queue.pop()
            longest = max(longest, *(len(self.name(group, opened=o)) for o in (True, False)))
            queue += self.inside(group)
        return min(longest, NAME_CHARS)


def _range(first: str, last: str, tracks: int) -> str:
    """Return the name of some neighbouring tracks.

    Examples
    --------
    >>> _range("cpu/0 worker 8", "cpu/0 worker 15", 8)
    'cpu/0 worker 8 to 15'
    >>> _range("worker 27", "worker 12", 3)  # in the order in which they began
    'worker 27 + 2'
    """
    head, _, number = last.rpartition(" ")
    name = f"{first} to {number}"
    alike, _, begin = first.rpartition(" ")
    in_turn = begin.isdecimal() and number.isdecimal() and int(number) - int(begin) == tracks - 1
    if alike == head and in_turn and len(name) <= NAME_CHARS:
        return name
    rest = f" + {tracks - 1}"
    return cut_middle(first, NAME_CHARS - len(rest)) + rest


def cut_middle(text: str, most: int) -> str:
    """Return at most ``most`` characters of a name; what tells it from others is often its end.

    Examples
    --------
    >>> cut_middle("operator thread (cpu/0) 12", 22)
    'operator threa…u/0) 12'
    """
    line = " ".join(text.split())
    tail = most // 3
    return line if len(line) <= most else f"{line[: most - tail - 1]}…{line[-tail:]}"
