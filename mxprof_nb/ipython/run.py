"""`Run`: one profiled piece of code, from its flags to the profile that is handed over."""

from __future__ import annotations

import sys

from IPython.core.interactiveshell import InteractiveShell
from IPython.display import display

from mxprof_nb.backends import LiveCapture, interrupts
from mxprof_nb.capture import Profile
from mxprof_nb.errors import MxprofError
from mxprof_nb.ipython.arguments import Options
from mxprof_nb.ipython.progress import Progress
from mxprof_nb.record.lines import LineLog

__all__ = ["NAME", "Run", "complain"]

NAME = "%%mxprofile"


class Run:
    """One profiled piece of code: its recording, and what to do with the profile.

    Parameters
    ----------
    options : Options
        The flags.
    source : str
        Text whose lines are the lines of the code.
    source_file : str
        Name under which it is compiled.

    Attributes
    ----------
    profile : Profile or None
        What came of it, once it has ended.
    """

    def __init__(self, options: Options, source: str, source_file: str) -> None:
        self.options, self.source, self.source_file = options, source, source_file
        self.profile: Profile | None = None
        first = source.split("\n", 1)[0]
        lines = LineLog(source_file, skip=1 if first.split()[:1] == [NAME] else 0)
        self.live = LiveCapture(options.backend, options.config, NAME, options.wait, lines)
        self.progress = Progress(self.live)
        self._begun = 0

    @property
    def times(self) -> int:
        """How often the code runs in all."""
        return self.options.warmup + self.options.repeat

    def another(self) -> bool:
        """Begin a repetition; return whether one more will follow."""
        self._begun += 1
        self.live.repeat(warm_up=self._begun <= self.options.warmup)
        return self._begun < self.times

    def abandon(self) -> None:
        """End it without a profile."""
        self.progress.stop()
        self.live.abandon()

    def finish(self, shell: InteractiveShell, error: BaseException | None, title: str) -> None:
        """Stop and hand the profile over; say in one line what went wrong instead.

        Raises
        ------
        KeyboardInterrupt
            Ctrl-C ended the wait for queued work of code that had ended well; after the profile
            was handed over.
        """
        cut: KeyboardInterrupt | None = None
        try:
            with interrupts.heard():
                self.live.stop(error, title=title, source=self.source, source_file=self.source_file)
        except KeyboardInterrupt as ended:
            cut = ended
        except Exception as broken:
            complain(f"the profile of {title} is lost: {type(broken).__name__}: {broken}")
        finally:
            self.progress.stop()
        if self.live.trace is not None:
            self.profile = Profile(self.live.trace)
            self._hand_over(shell, self.profile)
        if cut is not None and error is None:
            raise cut

    def _hand_over(self, shell: InteractiveShell, profile: Profile) -> None:
        options = self.options
        if options.output is not None:
            shell.user_ns[options.output] = profile
        if not options.quiet:
            display(profile)
        for target in options.exports:
            try:
                path = profile.save(target)
            except (MxprofError, OSError) as error:
                complain(f"{error} (%mxprofile --last returns it)")
            else:
                if not options.quiet:
                    print(f"Profile written to {path}")


def complain(text: str) -> None:
    """Say in one line, beside the output, what could not be done."""
    print(f"mxprof_nb: {text}", file=sys.stderr)
