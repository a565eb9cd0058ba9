"""The magics by name: for help, for the list of magics, and where the hooks cannot be used."""

from __future__ import annotations

import inspect
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

from mxprof_nb.capture import Profile
from mxprof_nb.ipython.arguments import HelpWanted, check, parse, takes_options
from mxprof_nb.ipython.hooks import CellHooks

__all__ = ["ProfileMagics"]


@magics_class
class ProfileMagics(Magics):
    """``%%mxprofile`` and ``%mxprofile --last``.

    A cell that starts with ``%%mxprofile`` runs by `mxprof_nb.ipython.hooks`; the cell magic
    below is called when its line cannot be followed, and by ``run_cell_magic``.
    """

    def __init__(self, shell: InteractiveShell, hooks: CellHooks) -> None:
        super().__init__(shell)
        self.hooks = hooks

    @classmethod
    def help(cls) -> str:
        """Return what ``%%mxprofile?`` shows."""
        return inspect.cleandoc(cls.mxprofile.__doc__ or "")

    @takes_options
    @no_var_expand
    @output_can_be_silenced
    @cell_magic
    def mxprofile(self, line: str, cell: str) -> Any:
        """Profile a cell of asynchronous array code.

        The cell runs exactly as it would without this line. Under it appear what it waited for,
        a timeline of host and workers, and tables; before that, queued work is waited for, so
        that it is in the profile. The profile is also shown after an error.

        ``p = %mxprofile --last`` returns the profile of the last such cell.
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
    @line_magic("mxprofile")  # type: ignore[arg-type]  # decorates functions only, it says
    def mxprofile_line(self, line: str) -> Profile | None:
        """Return the profile made last: ``p = %mxprofile --last``.

        To profile code, write ``%%mxprofile`` (two percent signs) on the first line of a cell.
        """
        if line.strip() in ("-h", "--help"):
            print(self.help())
            return None
        if line.strip() != "--last":
            raise UsageError(
                f"%mxprofile {line}: the line magic only knows --last, which returns the last "
                "profile. To profile code, put %%mxprofile (two percent signs) above it."
            )
        if self.hooks.last is None:
            raise UsageError("%mxprofile --last: no cell was profiled yet. Run one first.")
        return self.hooks.last
