"""`scope`: under whose name the memory of arrays is counted.

The scope is that of the line that makes an array, not of the worker that fills it later. Which
one an array belongs to stands in the device that it holds (`ScopedContext`), so nothing else is
recorded, and what is given back is known as well as what is taken.

A program that never enters a scope pays nothing: making arrays is taught about scopes by the
first one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache

from mxprof_nb.errors import ProfilerOptionError
from mxprof_nb.runtime.context import Context, ScopedContext
from mxprof_nb.runtime.storage import Chunk

__all__ = ["scope"]

_current: ContextVar[str] = ContextVar("scope of mx.profiler", default="")
_under = cache(ScopedContext)
_plain = Chunk.__init__


def _attributed(chunk: Chunk, nbytes: int, context: Context) -> None:
    """Take the place of `Chunk.__init__`: a result is not of the scope of the inputs."""
    name, device = _current.get(), context.base
    _plain(chunk, nbytes, _under(device, name) if name else device)


@contextmanager
def scope(name: str = "<unk>:", append_mode: bool = True) -> Iterator[str]:
    """Count the memory of arrays made in a ``with`` block under a name.

    Profiles and `dumps` then have a curve, or row, ``Memory: cpu/0 name:`` beside that of the
    whole device. It belongs to the thread, or the asyncio task, that enters it.

    Parameters
    ----------
    name : str
        A colon is added where it does not end in one.
    append_mode : bool
        Whether the name is added to that of the scope around it: ``"outer:inner:"``.

    Yields
    ------
    str
        The full name.

    Raises
    ------
    ProfilerOptionError
        The name is empty or no text.

    Examples
    --------
    >>> with scope("encoder"), scope("attention") as name:
    ...     name
    'encoder:attention:'
    """
    if not isinstance(name, str) or not name:
        raise ProfilerOptionError(f"scope({name!r}): a scope needs a name, which is a str.")
    Chunk.__init__ = _attributed  # type: ignore[assignment, method-assign]
    full = name if name.endswith(":") else f"{name}:"
    if append_mode:
        full = _current.get() + full
    token = _current.set(full)
    try:
        yield full
    finally:
        _current.reset(token)
