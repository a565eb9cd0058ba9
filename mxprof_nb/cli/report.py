"""`mxprof-nb report`: turn a trace into a page that opens in any browser.

The page holds the timeline, the tables and the sentences, and needs no kernel and no network.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from mxprof_nb.cli.files import declare_columns, open_trace, save, stages

__all__ = ["declare", "work"]


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the flags of the verb."""
    parser.add_argument("trace", metavar="TRACE", help="a trace file; any producer, see convert")
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="the page to write; .png gives the picture alone "
        "(default: the name of the trace with .html, in this folder)",
    )
    declare_columns(parser)


def work(options: argparse.Namespace) -> int:
    """Do it; return the exit status."""
    from mxprof_nb.capture import check_target

    named = options.output or f"{_stem(options.trace)}.html"
    target = check_target(named, options.trace)
    stages(
        (
            f"Reading {Path(options.trace).name}",
            lambda _: open_trace(options.trace, options.column),
        ),
        ("Drawing", lambda profile: save(profile, target)),
    )
    return 0


def _stem(path: str) -> str:
    name = Path(path).name.removesuffix(".gz")
    return Path(name).stem or "report"
