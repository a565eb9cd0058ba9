"""`main`: from the words of a command line to a verb, and from its errors to one line each."""

from __future__ import annotations

import argparse
import io
import os
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from typing import IO

from mxprof_nb.cli import backends, convert, demo, digits, doctor, report, run, summary
from mxprof_nb.errors import MxprofError, close_match

__all__ = ["main"]

PROG = "mxprof-nb"
#: In the order of the help: what a newcomer tries first comes first.
VERBS = {
    "demo": demo,
    "run": run,
    "report": report,
    "summary": summary,
    "convert": convert,
    "digits": digits,
    "backends": backends,
    "doctor": doctor,
}
EXAMPLES = """\
examples:
  mxprof-nb demo                            see what a profile looks like
  mxprof-nb run train.py --epochs 2         profile a program, change nothing in it
  mxprof-nb run -o report.html train.py     the same, and keep a page to open in a browser
  mxprof-nb summary trace.json              read a trace that any profiler wrote
  mxprof-nb doctor                          what is installed, what is missing

`mxprof-nb VERB --help` says more about each. In a notebook: %load_ext mxprof_nb, then write
%%mxprofile above a cell.
"""
FAILED, USAGE = 1, 2
#: What a shell reports for a program that Ctrl-C ended.
INTERRUPTED = 128 + signal.SIGINT


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        The words after ``mxprof-nb``; those of this process when left out.

    Returns
    -------
    int
        Exit status: 0 good, 1 it failed, 130 Ctrl-C ended it; of ``run`` that of the program.

    Raises
    ------
    SystemExit
        With 2 when the command line is wrong, with 0 after ``--help`` and ``--version``.
    BaseException
        From ``run``, whatever ended the program.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    if sys.stdout is None and words[:1] != ["run"]:  # closed; what a program does then is its own
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115  # as long as the process
    parser = _parser()
    if not words:
        parser.print_help(sys.stderr)
        return USAGE
    if not words[0].startswith("-") and words[0] not in VERBS:
        parser.error(_unknown(words[0]))
    try:
        rest: list[str] = []
        if words[0] == "run":
            words, rest = run.split(words)
        elif isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(errors="replace")  # not all encodings have bars and µ
        options = parser.parse_args(words)
        options.rest = rest
        work: Callable[[argparse.Namespace], int | Callable[[], int]] = options.work
        done = work(options)
        _flush(sys.stdout)
    except BrokenPipeError:
        # `| head` has seen enough. What is left in the buffer must not fail at exit.
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except KeyboardInterrupt:
        print(f"\n{PROG}: interrupted.", file=sys.stderr)
        return INTERRUPTED
    except OSError as error:
        print(f"{PROG}: {_told(error)}", file=sys.stderr)
        return FAILED
    except MxprofError as error:
        print(f"{PROG}: {error}", file=sys.stderr)
        return FAILED
    # A program runs out here, where none of its errors is taken for one of ours.
    return done() if callable(done) else done


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=PROG,
        description="See what an asynchronous array program really does: what it queued, what "
        "ran when, and which line waited for what.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {_version()}")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", title="verbs", required=True)
    for name, verb in VERBS.items():
        about, _, more = (verb.__doc__ or "").partition("\n\n")
        about = about.partition(": ")[2]
        entry = verbs.add_parser(
            name,
            help=about.rstrip("."),
            description=f"{about[0].upper()}{about[1:]}\n\n{more}".rstrip(),
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        verb.declare(entry)
        entry.set_defaults(work=verb.work)
    return parser


def _version() -> str:
    try:
        return version("mxprof-nb")
    except PackageNotFoundError:
        return "(not installed, runs from a folder)"


def _unknown(word: str) -> str:
    if os.path.exists(word):
        verb = "run" if word.endswith(".py") else "summary"
        return f"{word} is a file, and a verb comes first: {PROG} {verb} {word}"
    return (
        f"there is no verb {word!r}.{close_match(word, VERBS)} "
        f"Verbs: {', '.join(VERBS)}. `{PROG} --help` explains them."
    )


def _told(error: OSError) -> str:
    """Return an error of the system in words; those of ours are in words already."""
    if isinstance(error, MxprofError) or error.filename is None:
        return str(error)
    return f"{error.filename}: {error.strerror or error}."


def _flush(stream: IO[str] | None) -> None:
    if stream is not None:
        stream.flush()
