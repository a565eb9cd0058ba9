"""`Options`: what a person wrote after ``%%mxprofile``, read and checked before anything runs."""

from __future__ import annotations

import keyword
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import TypeVar

from IPython.core.error import UsageError
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring

from mxprof_nb.backends import LiveCapture, find_backend
from mxprof_nb.errors import MxprofError

__all__ = ["Options", "check", "parse", "takes_options"]

Function = TypeVar("Function", bound=Callable[..., object])

_ARGUMENTS = (
    argument("-b", "--backend", metavar="NAME", default="embedded",
             help="Runtime to record (default: embedded); mxprof_nb.list_backends() lists them."),
    argument("-o", dest="output", metavar="NAME",
             help="Store the Profile in the variable NAME, also after an error."),
    argument("--export", "-e", metavar="FILE",
             help="Also write the profile to FILE; its suffix says the format (.html, .json)."),
    argument("-q", "--quiet", action="store_true", help="Display nothing."),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Options:
    """The flags of one ``%%mxprofile``.

    Attributes
    ----------
    backend : str
        Runtime to record.
    output : str or None
        Variable of the user that gets the profile.
    export : Path or None
        File to write as well, absolute: the cell may change the working directory.
    quiet : bool
        Display nothing.
    """

    backend: str
    output: str | None
    export: Path | None
    quiet: bool


def takes_options(function: Function) -> Function:
    """Declare the flags on a magic, so that its help shows them."""
    declared = reduce(lambda inner, add: add(inner), reversed(_ARGUMENTS), function)
    result: Function = magic_arguments("%mxprofile")(declared)
    return result


@takes_options
def mxprofile(line: str, cell: str) -> None:
    """Carry the parser; the function itself is never called."""


def parse(line: str) -> Options:
    """Read the flags; no variables are expanded in them.

    Raises
    ------
    UsageError
        A flag is unknown or lacks its value, or a name is no name; the message says which.
    """
    try:
        found = parse_argstring(mxprofile, line)
    except (UsageError, ValueError) as cause:  # ValueError: a quote that is not closed
        raise UsageError(
            f"%%mxprofile {line}: {cause}. Nothing ran; `%%mxprofile?` explains the flags."
        ) from cause
    output, export = found.output, found.export and _path(found.export)
    if output is not None and (not output.isidentifier() or keyword.iskeyword(output)):
        raise UsageError(f"-o {output}: that is no name for a variable; choose one like `p`.")
    return Options(found.backend, output, export, found.quiet)


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
        if options.export is not None:
            _check_export(options.export)
    except MxprofError as error:
        raise UsageError(str(error)) from error
    except UsageError:
        raise
    except Exception as error:
        raise UsageError(f"%%mxprofile: {type(error).__name__}: {error}") from error


def _path(text: str) -> Path:
    # The shell-like split of IPython leaves quotes in place.
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return Path(text[1:-1] if quoted else text).expanduser().absolute()


def _check_export(path: Path) -> None:
    if path.suffix.lower() != ".html":
        from mxprof_nb.io import registry

        registry.find_writer(path)
    if path.is_dir():
        problem = "it is a folder"
    elif not path.parent.is_dir():
        problem = f"there is no folder {path.parent}"
    elif not os.access(path if path.exists() else path.parent, os.W_OK):
        problem = "it may not be written"
    else:
        return
    raise UsageError(f"--export {path}: {problem}. Nothing ran; name a file that can be written.")
