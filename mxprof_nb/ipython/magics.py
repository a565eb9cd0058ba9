"""The magics by name: for help, for the list of magics, and where the hooks cannot be used."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import (
    Magics,
    cell_magic,
    line_magic,
    magics_class,
    no_var_expand,
    output_can_be_silenced,
)

from mxprof_nb.backends import describe_backends
from mxprof_nb.capture import Profile, load
from mxprof_nb.errors import MxprofError
from mxprof_nb.ipython.arguments import HelpWanted, check, parse, split_statement, takes_options
from mxprof_nb.ipython.hooks import CellHooks

__all__ = ["ProfileMagics"]


@magics_class
class ProfileMagics(Magics):
    """``%%mxprofile`` and ``%mxprofile``.

    A cell that starts with ``%%mxprofile`` runs by `mxprof_nb.ipython.hooks`; the cell magic
    below is called when its line cannot be followed, and by ``run_cell_magic``.
    """

    def __init__(self, shell: InteractiveShell, hooks: CellHooks) -> None:
        super().__init__(shell)
        self.hooks = hooks

    @classmethod
    def help(cls) -> str:
        """Return what ``%%mxprofile?`` shows."""
        return (cls.mxprofile.__doc__ or "").rstrip()

    @takes_options
    @no_var_expand
    @output_can_be_silenced
    @cell_magic
    def mxprofile(self, line: str, cell: str) -> Any:
        """Profile a cell of asynchronous array code.

        The cell runs exactly as it would without this line. Under it appear what it waited for,
        a timeline of host and workers, and tables; before that, queued work is waited for, so
        that it is in the profile. The profile is also shown after an error.

        ``%mxprofile STATEMENT`` profiles one line. ``p = %mxprofile --last`` returns the last
        profile, ``--list`` prints all that are remembered: the last 10, and those of ``-o``;
        ``--load FILE`` reads one, ``--backends`` prints the runtimes that can be recorded.
        """
        try:
            options = parse(line)
        except HelpWanted:
            print(self.help())
            return None
        if not cell.strip():
            raise UsageError(
                "%%mxprofile profiles the lines below it, and there are none. "
                "Write the code to profile under it, in the same cell. Nothing ran."
            )
        check(options)
        return self.hooks.run_here(options, cell)

    @no_var_expand
    @output_can_be_silenced
    @line_magic("mxprofile")  # type: ignore[arg-type]  # decorates functions only, it says
    def mxprofile_line(self, line: str) -> Any:
        """Profile one statement, or ask for profiles: `p = %mxprofile --last`.

        `%mxprofile STATEMENT` takes the flags of `%%mxprofile` before the statement and returns
        its value; `--last` returns the last profile, `--load FILE` the one in a file; `--list`
        prints those that are remembered, `--backends` the runtimes to record.
        """
        asked, _, rest = line.strip().removesuffix(";").strip().partition(" ")
        if asked in ("-h", "--help"):
            print(self.help())
        elif asked == "--last" and not rest.strip():
            return self._last()
        elif asked == "--list" and not rest.strip():
            print(self.hooks.kept.listed() or "No profiles yet: run a cell under %%mxprofile.")
        elif asked == "--backends" and not rest.strip():
            print(_backends())
        elif asked == "--load":
            return _loaded(rest.strip())
        else:
            return self._statement(line)
        return None

    def _last(self) -> Profile:
        if (last := self.hooks.kept.last) is None:
            raise UsageError("%mxprofile --last: no cell was profiled yet. Run one first.")
        return last

    def _statement(self, line: str) -> Any:
        flags, statement = split_statement(line)
        try:
            options = parse(flags, "%mxprofile")
        except HelpWanted:
            print(self.help())
            return None
        if not statement:
            raise UsageError(
                "%mxprofile profiles the statement behind it, and there is none. It also knows "
                "--last, --list, --backends and --load FILE. To profile a cell, put %%mxprofile "
                "(two percent signs) on its first line. Nothing ran."
            )
        check(options)
        return self.hooks.run_here(options, statement)


def _backends() -> str:
    found = describe_backends()
    width = max(len(backend.name) for backend in found)
    return "\n".join(
        f"{backend.name:<{width}}  "
        + (
            f"records {', '.join(sorted(backend.capabilities))}"
            if backend.available
            else f"not available: {backend.reason} {backend.remedy}".rstrip()
        )
        for backend in found
    )


def _loaded(path: str) -> Profile:
    quoted = len(path) > 1 and path[0] == path[-1] and path[0] in "\"'"
    path = path[1:-1] if quoted else path
    if not path:
        raise UsageError("%mxprofile --load FILE: name the file of a trace.")
    try:
        return load(Path(path).expanduser())
    except (MxprofError, OSError) as error:
        raise UsageError(f"%mxprofile --load {path}: {error}") from error
