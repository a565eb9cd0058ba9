"""`Result`: what an analysis hands back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mxprof_nb._typing import IntArray
from mxprof_nb.errors import SchemaError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Result"]


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """A table that an analysis computed, and the events behind each of its rows.

    Attributes
    ----------
    columns : Mapping of str to ndarray or list, each of shape (n,)
        The table, column by column, arrays read-only; units stand in the names.
    rows : sequence of ndarray of int, length n
        Rows of the trace's events table behind each row of the result, in order of time; empty
        where a row does not come from events (counters).
    notes : tuple of str
        What a reader of the table must know: what is not in it, and why. One sentence each.

    Raises
    ------
    SchemaError
        The columns, or the rows, are not equally long.
    """

    columns: Mapping[str, Any]
    rows: Sequence[IntArray]
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, values in self.columns.items():
            if len(values) != len(self.rows):
                raise SchemaError.at(
                    "result", name, -1, len(values), f"all columns have {len(self.rows)} rows"
                )
        for array in (*self.columns.values(), *self.rows):
            if isinstance(array, np.ndarray):
                array.flags.writeable = False

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        many = len(self.notes)
        notes = f", {many} note{'s' if many > 1 else ''} in .notes" if many else ""
        return f"<Result: {len(self):,} rows of {', '.join(self.columns)}{notes}>"

    @cached_property
    def frame(self) -> pd.DataFrame:
        """The table as a pandas frame; the same object each time, built when first asked for."""
        import pandas as pd

        # Copies: a frame over the read-only arrays of a trace could not be changed.
        return pd.DataFrame(
            {
                name: values.copy() if hasattr(values, "copy") else list(values)
                for name, values in self.columns.items()
            },
            index=pd.RangeIndex(len(self)),
        )
