"""Devices as programs of both generations name them: ``ctx=`` and ``device=``, one or a list."""

from __future__ import annotations

from collections.abc import Sequence

from mxprof_nb.errors import ArgumentError
from mxprof_nb.runtime.context import Context, current_context

__all__ = ["Devices", "devices_of", "named_devices"]

Devices = Context | Sequence[Context] | None


def named_devices(ctx: Devices, device: Devices = None) -> list[Context] | None:
    """Return the devices named by one of two parameters, None if neither names any.

    Raises
    ------
    TypeError
        What names them is no Context.
    ArgumentError
        There is none, or one of them twice.
    """
    given = device if ctx is None else ctx
    if given is None:
        return None
    found = [given] if isinstance(given, Context) else given
    if isinstance(found, str) or not isinstance(found, Sequence):
        raise TypeError(f"ctx={given!r} is no Context and no list of them. Use mx.cpu(0), ...")
    for each in found:
        if not isinstance(each, Context):
            raise TypeError(f"ctx={given!r}: {each!r} is no Context. Use mx.cpu(0), mx.cpu(1), ...")
    if not found or len(set(found)) < len(found):
        raise ArgumentError(f"ctx={given!r} must name at least one device, and each one once.")
    return list(found)


def devices_of(ctx: Devices, device: Devices = None) -> list[Context]:
    """Return the devices named by one of two parameters, the current one by default."""
    return named_devices(ctx, device) or [current_context()]
