"""`mxprof-nb backends`: list the runtimes that can be recorded, and what each can record."""

from __future__ import annotations

import argparse
import sys

__all__ = ["declare", "work"]


def declare(parser: argparse.ArgumentParser) -> None:
    """Add no flags; the verb has none."""


def work(options: argparse.Namespace) -> int:
    """Do it; return the exit status."""
    from mxprof_nb.backends import describe_backends
    from mxprof_nb.cli.screen import Screen

    rows = [
        (
            backend.name,
            "yes" if backend.available else "no",
            ", ".join(sorted(backend.capabilities)),
            f"{backend.reason} {backend.remedy}".strip(),
        )
        for backend in describe_backends()
    ]
    Screen(sys.stdout).table(("backend", "usable here", "records", "why not"), rows)
    return 0
