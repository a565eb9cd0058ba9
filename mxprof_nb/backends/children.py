"""Child processes that start while somebody records: they are not followed, so they are named.

- `ChildWatch` counts those that start between `start` and `stop`, by any thread.
- While there is a watch, `subprocess`, `multiprocessing` and `os` start processes through
  wrappers; without one they are what they were. Where somebody else has wrapped them since, ours
  stay and only pass calls on.
- Forks are told by `os.register_at_fork`, which cannot be undone and costs nothing between forks.

An audit hook would see less and cost more: it cannot be removed, makes each call of
``sys._getframe`` ten times as expensive, and processes that `multiprocessing` spawns raise no
event.
"""

from __future__ import annotations

import os
import subprocess
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from multiprocessing.process import BaseProcess
from typing import Any

from mxprof_nb.trace import Health

__all__ = ["ChildWatch"]

#: Names told at most; the others are counted.
NAMED = 4

_watches: list[ChildWatch] = []
_lock = threading.Lock()
_inside = threading.local()  # a start that is counted already may fork


class ChildWatch:
    """Counts child processes from `start` to `stop`."""

    def __init__(self) -> None:
        self._started: list[str] = []

    def start(self) -> None:
        """Count from now on."""
        with _lock:
            _watches.append(self)
            for wrapper in _WRAPPERS:
                wrapper.put_on()

    def stop(self) -> None:
        """Count no more; nothing happens when it does not."""
        with _lock:
            if self in _watches:
                _watches.remove(self)
            if not _watches:
                for wrapper in _WRAPPERS:
                    wrapper.take_off()

    def noted(self, health: Health) -> Health:
        """Return a health that says which processes were started, itself where none were."""
        if not self._started:
            return health
        names = Counter(self._started)
        told = [name if n == 1 else f"{name} ({n} times)" for name, n in names.items()]
        more = len(told) - NAMED
        told = [*told[:NAMED], *([f"{more} more"] if more > 0 else [])]
        count = len(self._started)
        were = "1 child process was" if count == 1 else f"{count:,} child processes were"
        it = "it" if count == 1 else "they"
        return health.with_note(
            "children",
            count,
            f"{were} started and not followed: {', '.join(told)}. What {it} did is not in this "
            "profile.",
        )


def _tell(name: str) -> None:
    for watch in list(_watches):
        watch._started.append(name)


@contextmanager
def _counted(name: Callable[..., str], *args: Any, **kwargs: Any) -> Iterator[None]:
    """Tell of one process, once it has started, whatever starting it calls."""
    if not _watches or getattr(_inside, "here", False):
        yield
        return
    _inside.here = True
    try:
        yield
        _tell(name(*args, **kwargs))
    finally:
        _inside.here = False


class _Wrapper:
    """A function that starts processes, wrapped while somebody watches.

    Parameters
    ----------
    owner : class or module
    function : str
        Its attribute.
    name : callable
        Takes the arguments of a call and returns what to call the process.
    """

    def __init__(self, owner: Any, function: str, name: Callable[..., str]) -> None:
        self.owner, self.function, self.name = owner, function, name
        self._before: Any = None
        self._ours: Any = None

    def put_on(self) -> None:
        """Wrap it; nothing happens when it is wrapped."""
        if self._ours is not None:
            return
        before, name = getattr(self.owner, self.function), self.name

        @wraps(before)
        def started(*args: Any, **kwargs: Any) -> Any:
            with _counted(name, *args, **kwargs):
                return before(*args, **kwargs)

        self._before, self._ours = before, started
        setattr(self.owner, self.function, started)

    def take_off(self) -> None:
        """Put back what was there, unless somebody else has wrapped ours meanwhile."""
        if self._ours is not None and getattr(self.owner, self.function) is self._ours:
            setattr(self.owner, self.function, self._before)
            self._ours = None


def _program(command: Any, *, shell: bool = False) -> str:
    """Return the name of a program; its folder and its arguments may be private."""
    alone = isinstance(command, str | bytes | os.PathLike)
    first = os.fsdecode(command if alone else next(iter(command), ""))
    word = next(iter(first.split()), "") if shell else first
    return os.path.basename(word) or "a program"


def _popen(_self: object, args: Any = (), *more: Any, **options: Any) -> str:
    return _program(args, shell=bool(options.get("shell")))


def _process(process: Any, *more: Any) -> str:
    return str(process.name)


_WRAPPERS = [
    _Wrapper(subprocess.Popen, "__init__", _popen),
    _Wrapper(BaseProcess, "start", _process),
    _Wrapper(os, "system", lambda command: _program(command, shell=True)),
    *(
        _Wrapper(os, function, lambda path, *more, **options: _program(path))
        for function in ("posix_spawn", "posix_spawnp")
        if hasattr(os, function)
    ),
]


def _before_fork() -> None:
    if _watches and not getattr(_inside, "here", False):
        _tell("a fork")


def _in_child() -> None:
    """Forget the watches: they are the parent's."""
    global _lock
    _lock = threading.Lock()
    _watches.clear()
    for wrapper in _WRAPPERS:
        wrapper.take_off()
    _inside.here = False


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_child=_in_child)
