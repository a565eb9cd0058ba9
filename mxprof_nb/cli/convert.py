"""`mxprof-nb convert`: write a trace in another format.

Input: Chrome traces of MXNet, PyTorch, JAX, viztracer, Chrome and others, tables of events (CSV,
Parquet), .mxprof, gzipped or not; the content says which. Output: the ending of the name says
which, .json or .json.gz (Chrome trace, for chrome://tracing and Perfetto), .mxprof (everything,
quick to read), .csv, .csv.gz or .parquet (the events as a table), .html (report), .png (picture).
"""

from __future__ import annotations

import argparse
from pathlib import Path

from mxprof_nb.cli.files import declare_columns, open_trace, save, stages

__all__ = ["declare", "work"]


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the flags of the verb."""
    parser.add_argument("source", metavar="IN", help="the trace to read")
    parser.add_argument("target", metavar="OUT", help="the file to write; replaced if it exists")
    parser.add_argument(
        "--layout",
        choices=("own", "mxnet"),
        help="of a Chrome trace: ours (default), or that of MXNet's profiler.dump()",
    )
    declare_columns(parser)


def work(options: argparse.Namespace) -> int:
    """Do it; return the exit status."""
    from mxprof_nb.capture import check_target

    target = check_target(options.target, options.source)
    layout = {} if options.layout is None else {"layout": options.layout}
    stages(
        (
            f"Reading {Path(options.source).name}",
            lambda _: open_trace(options.source, options.column),
        ),
        (f"Writing {target.name}", lambda profile: save(profile, target, **layout)),
    )
    return 0
