"""Waiting for everything."""

from __future__ import annotations

from mxprof_nb.runtime import api

__all__ = ["waitall"]


def waitall() -> None:
    """Wait until nothing is queued; raises the first failure that was not raised yet."""
    api.wait_all()
