"""`KeptProfiles`: the profiles that a shell remembers."""

from __future__ import annotations

import itertools
import threading

from mxprof_nb.capture import Profile

__all__ = ["MOST", "KeptProfiles"]

#: So many of the latest are remembered, beside those with a name.
MOST = 10


class KeptProfiles:
    """The last profiles and all that have a name, in the order in which they were made.

    What is not remembered any more loses its live view in the page; the form without one stays.
    """

    def __init__(self) -> None:
        self._kept: list[tuple[str, Profile]] = []
        self._lock = threading.Lock()

    def add(self, profile: Profile, name: str | None = None) -> None:
        """Remember a profile; a name that is given again passes from the old one to it."""
        with self._lock:
            kept = [("" if old == name else old, one) for old, one in self._kept]
            kept.append((name or "", profile))
            first = len(kept) - MOST
            dropped = [one for at, (old, one) in enumerate(kept) if at < first and not old]
            self._kept = [entry for at, entry in enumerate(kept) if at >= first or entry[0]]
        for one in dropped:
            one._retire()

    @property
    def last(self) -> Profile | None:
        """The one made last."""
        return self._kept[-1][1] if self._kept else None

    def listed(self) -> str:
        """Return a line for each, the last one first."""
        lines = []
        for number, (name, profile) in zip(itertools.count(1), reversed(self._kept), strict=False):
            lines.append(f"{number:>3}  {name or '-':<12}  {profile!r}")
        return "\n".join(lines)
