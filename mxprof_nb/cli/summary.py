"""`mxprof-nb summary`: print what a trace tells: headline, sentences, the table of operators.

With --json: the same facts and all tables for a program, times in ns, nothing rounded.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mxprof_nb.cli.files import declare_columns, open_trace, stages

if TYPE_CHECKING:
    from mxprof_nb.analysis import Result
    from mxprof_nb.trace import Trace

__all__ = ["declare", "work"]


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the flags of the verb."""
    parser.add_argument("trace", metavar="TRACE", help="a trace file")
    parser.add_argument("--all", action="store_true", help="print every table")
    parser.add_argument("--json", action="store_true", help="print JSON, for a program")
    declare_columns(parser)


def work(options: argparse.Namespace) -> int:
    """Do it; return the exit status."""
    profile = stages(
        (
            f"Reading {Path(options.trace).name}",
            lambda _: open_trace(options.trace, options.column),
        )
    )
    if options.json:
        json.dump(facts(profile.trace), sys.stdout, indent=2, allow_nan=False)
        print()
    else:
        from mxprof_nb.cli.screen import Screen

        screen = Screen(sys.stdout)
        left = screen.show(profile.trace, every_table=options.all)
        if left:
            screen.line(f"\n--all shows {', '.join(left)}, too.", "dim")
    return 0


def facts(trace: Trace) -> dict[str, Any]:
    """Return what ``--json`` prints.

    Parameters
    ----------
    trace : Trace

    Returns
    -------
    dict
        title, backend, status, error : str
        headline : str; sentences, remarks : list of str
        wall_ns, span_ns, waited_ns, waits, events, pending : int
        workers : list of {"name": str, "busy": float from 0 to 1}
        tables : dict of title to list of rows, each a dict with the columns of
        `mxprof_nb.Profile.tables`; a number that JSON does not have is null
    """
    from mxprof_nb.analysis import domain_tables, overview
    from mxprof_nb.view.headline import headline, remarks, sentences

    known = overview(trace)
    # Counters of foreign files may hold any number: a mean beyond all numbers is null below.
    with np.errstate(over="ignore", invalid="ignore"):
        tables = {title: _rows(table) for title, table in domain_tables(trace).items()}
    return {
        "title": trace.meta.title,
        "backend": trace.meta.backend,
        "status": known.status,
        "error": known.error,
        "headline": headline(trace, known),
        "sentences": [sentence.text for sentence in sentences(trace)],
        "remarks": list(remarks(trace)),
        "wall_ns": known.wall_ns,
        "span_ns": known.span_ns,
        "waited_ns": known.waited_ns,
        "waits": known.waits,
        "events": known.events,
        "pending": known.pending,
        "workers": [{"name": name, "busy": part} for name, part in known.busy],
        "tables": tables,
    }


def _rows(table: Result) -> list[dict[str, Any]]:
    columns = {
        name: values.tolist() if hasattr(values, "tolist") else list(values)
        for name, values in table.columns.items()
    }
    return [
        dict(zip(columns, map(_number, row), strict=True))
        for row in zip(*columns.values(), strict=True)
    ]


def _number(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
