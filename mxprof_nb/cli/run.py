"""`mxprof-nb run`: profile a program without a change to it.

The program runs as `python SCRIPT ...` or `python -m MODULE ...` would run it: arguments, exit
code, tracebacks and Ctrl-C are its own. Flags before SCRIPT are ours, all that follows is the
program's. At its end, headline, sentences and the table of operators go to stderr. Nothing is
written unless -o asks for it. Processes that it starts are not profiled.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING

from mxprof_nb.cli.files import save
from mxprof_nb.cli.program import Program
from mxprof_nb.errors import MxprofError

if TYPE_CHECKING:
    from mxprof_nb.backends import LiveCapture
    from mxprof_nb.capture import Profile
    from mxprof_nb.trace import Trace

__all__ = ["declare", "split", "work"]

#: Our flags that are followed by a value.
_VALUED = ("-o", "--output", "-b", "--backend")


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the flags of the verb; what follows them is cut off by `split` before."""
    parser.usage = (
        "mxprof-nb run [-o FILE] [-b NAME] [--as-mxnet] [-q] (SCRIPT | -m MODULE) [ARGUMENT ...]"
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        action="append",
        default=[],
        help="write the profile: .html (report), .json or .json.gz (Chrome trace), .png "
        "(picture); may be given several times",
    )
    parser.add_argument(
        "-b",
        "--backend",
        metavar="NAME",
        default="embedded",
        help="runtime to record (default: embedded); `mxprof-nb backends` lists them",
    )
    parser.add_argument(
        "--as-mxnet",
        action="store_true",
        help="let `import mxnet` give the embedded runtime, where MXNet is not installed",
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="print nothing at the end")
    parser.set_defaults(parser=parser)


def split(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Split a command line into our words and those of the program.

    Parameters
    ----------
    words : sequence of str
        From ``run`` on.

    Examples
    --------
    >>> split(["run", "-o", "a.html", "train.py", "-o", "b"])
    (['run', '-o', 'a.html'], ['train.py', '-o', 'b'])
    >>> split(["run", "-q", "-m", "train", "--fast"])
    (['run', '-q'], ['-m', 'train', '--fast'])
    """
    at = 1
    while at < len(words) and words[at].startswith("-") and not words[at].startswith("-m"):
        if words[at] == "--":
            return list(words[:at]), list(words[at + 1 :])
        at += 2 if words[at] in _VALUED else 1
    rest = list(words[at:])
    if rest and rest[0].startswith("-m") and rest[0] != "-m":  # -mtrain, as Python takes it
        rest[:1] = ["-m", rest[0][2:]]
    return list(words[:at]), rest


def work(options: argparse.Namespace) -> Callable[[], int]:
    """Check all that can be checked before; return what runs the program."""
    words = options.rest
    if not words or words == ["-m"]:
        options.parser.error("name the program: a SCRIPT, or -m MODULE")
    from mxprof_nb.backends import LiveCapture, find_backend
    from mxprof_nb.capture import check_target

    find_backend(options.backend)
    LiveCapture.check_idle()
    targets = [check_target(path) for path in options.output]
    program = Program(words)
    if options.as_mxnet:
        from mxprof_nb.runtime import register_as

        register_as("mxnet")
    live = LiveCapture(options.backend, name=program.name)
    return _Run(program, live, targets, options.quiet)


class _Run:
    """One run of a program, its profile, and its end."""

    def __init__(
        self, program: Program, live: LiveCapture, targets: list[Path], quiet: bool
    ) -> None:
        self.program, self.live, self.targets, self.quiet = program, live, targets, quiet
        self.stderr = sys.stderr  # what the program puts in its place is the program's

    def __call__(self) -> int:
        process = os.getpid()
        path = list(sys.path)
        self.live.start()
        ended: BaseException | None = None
        try:
            self.program.run()
        except BaseException as error:
            ended = error
            error.__traceback__ = self.program.own_traceback(error)
        if os.getpid() != process:  # a child that the program forked came back
            return _end(ended)
        self.live.returned()
        _tell(ended)
        kept = True
        with _undisturbed(path):
            try:
                kept = self._finish(ended)
            except KeyboardInterrupt as error:
                ended = ended or error.with_traceback(None)
            except Exception as broken:  # the program's own end is not to suffer from it
                kept = False
                told = f"the profile is lost: {type(broken).__name__}: {broken}"
                print(f"mxprof-nb: {told}", file=self.stderr)
        return _end(ended) or int(not kept)

    def _finish(self, ended: BaseException | None) -> bool:
        """Make the profile; return whether all that was asked for is written."""
        good = ended is None or (isinstance(ended, SystemExit) and ended.code in (None, 0))
        interrupted: KeyboardInterrupt | None = None
        try:
            self.live.stop(
                None if good else ended,
                title=self.program.name,
                source=self.program.source,
                source_file=self.program.file,
            )
        except KeyboardInterrupt as error:
            interrupted = error
        kept = self.live.trace is None or self._hand_over(_with_threads(self.live.trace), ended)
        if interrupted is not None:
            raise interrupted
        return kept

    def _hand_over(self, trace: Trace, ended: BaseException | None) -> bool:
        from mxprof_nb.capture import Profile

        profile = Profile(trace)
        told: list[str] = []
        troubles: list[str] = []
        for target in self.targets:  # before anything is printed, which can fail, too
            try:
                save(profile, target, told.append)
            except (MxprofError, OSError) as error:
                troubles.append(f"mxprof-nb: {error}")
        if troubles and len(troubles) == len(self.targets):
            troubles.append(f"mxprof-nb: {_rescued(profile)}")
        if not self.targets and len(trace):
            told.append("To keep the profile, put -o report.html (or trace.json) after `run`.")
        if isinstance(ended, ModuleNotFoundError) and ended.name == "mxnet":
            told.append("MXNet is not installed here. --as-mxnet runs it on the embedded runtime.")
        with suppress(OSError, ValueError, AttributeError):  # nobody reads it, or it is closed
            if not self.quiet:
                _show(trace, self.program.name, self.stderr)
            for text in troubles if self.quiet else [*told, *troubles]:
                print(text, file=self.stderr, flush=True)
        return not troubles


def _rescued(profile: Profile) -> str:
    """Keep a profile that could be written nowhere it was meant to go; return what became of it."""
    try:
        folder = tempfile.mkdtemp(prefix="mxprof-nb-")
        kept = profile.save(Path(folder) / "trace.json.gz")
    except (MxprofError, OSError) as error:
        return f"the profile is lost: {error}"
    return f"the profile is in {kept}"


def _show(trace: Trace, name: str, stream: IO[str]) -> None:
    from mxprof_nb.cli.screen import Screen

    screen = Screen(stream)
    screen.line(f"\nmxprof-nb: profile of {name}", "dim")
    screen.show(trace)


def _with_threads(trace: Trace) -> Trace:
    """Return the trace with a remark on threads that go on after it; Python waits for them."""
    going = [
        thread.name
        for thread in threading.enumerate()
        if thread is not threading.main_thread() and not thread.daemon
    ]
    if not going:
        return trace
    health = trace.health.with_note(
        "threads",
        len(going),
        f"The program left {'1 thread' if len(going) == 1 else f'{len(going):,} threads'} running "
        f"({', '.join(going[:3])}{', ...' if len(going) > 3 else ''}); what they do after its last "
        "line is not in the profile. Join them before that to see it.",
    )
    return replace(trace, health=health)


@contextmanager
def _undisturbed(path: list[str]) -> Iterator[None]:
    """Let what we import now be what is installed, whatever the program has changed."""
    theirs, sys.path[:] = list(sys.path), path
    if sys.stdout is not None:
        with suppress(OSError, ValueError):  # closed: the program's affair, and told at exit
            sys.stdout.flush()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        sys.path[:] = theirs


def _tell(ended: BaseException | None) -> None:
    """Print a traceback as Python would, by the program's own hook where it has one."""
    if ended is not None and not isinstance(ended, SystemExit):
        try:
            sys.excepthook(type(ended), ended, ended.__traceback__)
        except Exception as broken:
            broken.__traceback__ = Program.own_traceback(broken)
            print("Error in sys.excepthook:", file=sys.stderr)
            sys.__excepthook__(type(broken), broken, broken.__traceback__)
            print("\nOriginal exception was:", file=sys.stderr)
            sys.__excepthook__(type(ended), ended, ended.__traceback__)
        sys.excepthook = _told


def _told(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Print nothing: it was printed before the profile."""


def _end(ended: BaseException | None) -> int:
    """End as the program ended: the exit status, or death by Ctrl-C, is Python's affair."""
    if ended is None:
        return 0
    if sys.excepthook is not _told:
        _tell(ended)
    raise ended
