"""`Options`: what a person wrote after ``%%mxprofile``, read and checked before anything runs."""

from __future__ import annotations

import argparse
import keyword
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import TypeVar

from IPython.core.error import UsageError
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring

from mxprof_nb.backends import LiveCapture, find_backend
from mxprof_nb.capture import check_target
from mxprof_nb.errors import MxprofError
from mxprof_nb.record.config import RecordConfig

__all__ = ["HelpWanted", "Options", "check", "parse", "split_statement", "takes_options"]

Function = TypeVar("Function", bound=Callable[..., object])

_ARGUMENTS = (
    argument("-b", "--backend", metavar="NAME", default="embedded",
             help="Runtime to record (default: embedded); mxprof_nb.list_backends() lists them."),
    argument("-o", dest="output", metavar="NAME",
             help="Store the Profile in the variable NAME, also after an error."),
    argument("-e", "--export", metavar="FILE", action="append", default=[],
             help="Also write the profile to FILE; the suffix says how: .html, .png, .json. "
             "May be given several times."),
    argument("-q", "--quiet", action="store_true", help="Display nothing."),
    argument("-n", "--repeat", metavar="N", type=int, default=1,
             help="Run the code N times; each is a step, and the headline says how they spread."),
    argument("-w", "--warmup", metavar="N", type=int, default=0,
             help="Run it N times before; these are marked and left out of all figures."),
    argument("--no-wait", dest="wait", action="store_false",
             help="Do not wait for queued work, at the end and between repetitions."),
    argument("--memory", action=argparse.BooleanOptionalAction, default=True,
             help="Record memory taken and given back (default: yes)."),
    argument("--api", action=argparse.BooleanOptionalAction, default=True,
             help="Record calls into the runtime, and waits (default: yes)."),
    argument("--lines", action=argparse.BooleanOptionalAction, default=None,
             help="Record which line of the cell ran when (default: from Python 3.12 on)."),
    argument("--max-events", metavar="N", type=int, default=None,
             help="Keep N events at most and count the others (default: 5 million)."),
    argument("-h", "--help", action="store_true", help="Show this help; nothing runs."),
)  # fmt: skip


#: The last words of every usage error: what a person wonders about first.
_NOTHING_RAN = "Nothing ran."


@dataclass(frozen=True, slots=True)
class Options:
    """The flags of one ``%%mxprofile``.

    Attributes
    ----------
    backend : str
        Runtime to record.
    output : str or None
        Variable of the user that gets the profile.
    exports : tuple of Path
        Files to write as well, absolute: the cell may change the working directory.
    quiet : bool
        Display nothing.
    repeat, warmup : int
        How often the code runs, and how often before that without counting.
    wait : bool
        Wait for queued work.
    config : RecordConfig
        What to record.
    """

    backend: str
    output: str | None
    exports: tuple[Path, ...]
    quiet: bool
    repeat: int = 1
    warmup: int = 0
    wait: bool = True
    config: RecordConfig = field(default_factory=RecordConfig)


class HelpWanted(UsageError):
    """The flags ask for help instead of a profile."""


def takes_options(function: Function) -> Function:
    """Declare the flags on a magic, so that its help shows them."""
    declared = reduce(lambda inner, add: add(inner), reversed(_ARGUMENTS), function)
    result: Function = magic_arguments("%mxprofile")(declared)
    result.__doc__ = _as_text(result.__doc__ or "")
    return result


def _as_text(help_text: str) -> str:
    """Return the help that IPython makes, which is markup for a manual, as a person reads it."""
    usage, _, rest = help_text.removeprefix("::").strip().partition("\n\n")
    first, *more = (line.strip() for line in usage.split("\n"))
    # Further lines begin under the first flag.
    begin = f"usage: {first.split(' ', 1)[0]} "
    usage = "\n".join([f"usage: {first}", *(" " * len(begin) + line for line in more)])
    return f"{usage}\n\n{rest}".replace("``", "`")


@takes_options
def mxprofile(line: str, cell: str) -> None:
    """Carry the parser; the function itself is never called."""


def parse(line: str, magic: str = "%%mxprofile") -> Options:
    """Read the flags behind a magic; no variables are expanded in them.

    Raises
    ------
    HelpWanted
        ``-h`` or ``--help`` is among them.
    UsageError
        A flag is unknown or lacks its value, or a name is no name; the message says which.
    """
    try:
        found = parse_argstring(mxprofile, line)
    except (UsageError, ValueError) as cause:  # ValueError: a quote that is not closed
        raise UsageError(
            f"{magic} {line.strip()}: {cause}. `%%mxprofile?` explains the flags. {_NOTHING_RAN}"
        ) from cause
    if found.help:
        raise HelpWanted(f"{magic} {line}: {_NOTHING_RAN} `%%mxprofile?` shows the help.")
    output, exports = found.output, tuple(_path(text) for text in found.export)
    if output is not None and (not output.isidentifier() or keyword.iskeyword(output)):
        raise UsageError(
            f"-o {output}: that is no name for a variable; choose one like `p`. {_NOTHING_RAN}"
        )
    for flag, least in (("repeat", 1), ("warmup", 0), ("max_events", 1)):
        number = getattr(found, flag)
        if number is not None and number < least:
            name = flag.replace("_", "-")
            raise UsageError(f"--{name} {number}: choose {least} or more. {_NOTHING_RAN}")
    chosen = {"lines": found.lines, "max_events": found.max_events}
    config = RecordConfig(
        memory=found.memory,
        api=found.api,
        **{name: value for name, value in chosen.items() if value is not None},
    )
    return Options(
        found.backend, output, exports, found.quiet, found.repeat, found.warmup, found.wait, config
    )


def split_statement(line: str) -> tuple[str, str]:
    """Split what follows ``%mxprofile`` into flags and the statement behind them.

    Flags end with the first word that is none, or with ``--``; the statement is left as it is.
    """
    known = mxprofile.parser._option_string_actions  # type: ignore[attr-defined]
    at = 0
    while word := re.match(r"""\s*((?:"[^"]*"|'[^']*'|\S)+)""", line[at:]):
        text = word[1]
        if text == "--":
            return line[:at], line[at + word.end() :].strip()
        if not text.startswith("-"):
            break
        at += word.end()
        flag = known.get(text)
        takes_value = flag is not None and flag.nargs is None
        if takes_value and (value := re.match(r"""\s*("[^"]*"|'[^']*'|\S+)""", line[at:])):
            at += value.end()
    return line[:at], line[at:].strip()


def check(options: Options) -> None:
    """Check, without changing anything, that the flags can be followed here and now.

    Raises
    ------
    UsageError
        There is no such backend, the export cannot be written, this thread is being profiled,
        or a plugin that was asked is broken.
    """
    try:
        find_backend(options.backend)
        LiveCapture.check_idle()
        for path in options.exports:
            check_target(path)
    except MxprofError as error:
        raise UsageError(f"{error} {_NOTHING_RAN}") from error
    except UsageError:
        raise
    except Exception as error:
        told = f"{type(error).__name__}: {error}".rstrip(".")
        raise UsageError(f"%%mxprofile: {told}. {_NOTHING_RAN}") from error


def _path(text: str) -> Path:
    # The shell-like split of IPython leaves quotes in place.
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return Path(text[1:-1] if quoted else text).expanduser().absolute()
