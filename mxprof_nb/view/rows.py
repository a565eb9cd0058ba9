"""`Layout`: the rows of a timeline, after some of its groups were opened or closed.

Every lane has a row: one of its own, or that of the closed group it belongs to. Nothing is left
out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mxprof_nb._typing import F64Array, I64Array
from mxprof_nb.view.groups import NAME_CHARS, Group, Tree, cut_middle
from mxprof_nb.view.links import ROLE_GAP

__all__ = ["HEAD", "Layout", "Row", "described", "lay_rows"]

#: Room for the name of an open group above its rows, in rows.
HEAD = 0.9
#: Below the rows of a part that was opened, in rows.
INNER_GAP = 0.4


@dataclass(frozen=True, slots=True)
class Row:
    """One row: its name at the left, and its middle, counted in rows from 0.

    Attributes
    ----------
    name : str
        Short.
    y : float
    role : str
        What its tracks stand for.
    title : str
        Full name and ids, for whoever points at it.
    key : str
        The group that it opens or closes; empty where there is nothing to open.
    open : bool
        Whether that group is open.
    lanes : tuple of int
        First lane, and the one after the last; none for the name of an open group.
    """

    name: str
    y: float
    role: str
    title: str = ""
    key: str = ""
    open: bool = False
    lanes: tuple[int, int] = (0, 0)

    @property
    def head(self) -> bool:
        """Whether it only names the rows below it."""
        return self.lanes[0] == self.lanes[1]


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """Rows from top to bottom, and where each lane stands.

    Attributes
    ----------
    rows : tuple of Row
    y : ndarray of float64, shape (lanes,)
        Middle of the row of each lane.
    drawn : ndarray of int64
        Lanes whose events are drawn one by one: those of their own, and the outermost of tracks
        that are closed.
    first, stop, joined_y : ndarray, shape (joined,)
        Ranges of the other lanes, and the row of each.
    refused : int
        Groups that could not be opened, because there were rows enough.
    """

    rows: tuple[Row, ...]
    y: F64Array
    drawn: I64Array
    first: I64Array
    stop: I64Array
    joined_y: F64Array
    refused: int

    @property
    def height(self) -> float:
        """Height of all rows, in rows."""
        return self.rows[-1].y + 0.5 if self.rows else 1.0

    def at(self, y: float) -> Row | None:
        """Return the row at a height, None where there is none."""
        near = min(self.rows, key=lambda row: abs(row.y - y), default=None)
        return None if near is None or abs(near.y - y) > 0.5 or near.head else near


def described(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return rows for a page that writes their names itself."""
    return [
        {name: getattr(row, name) for name in ("name", "title", "key", "open", "head", "y")}
        for row in rows
    ]


def lay_rows(tree: Tree, choices: Mapping[str, int] | None = None) -> Layout:
    """Return the rows of a tree after some groups were opened or closed.

    Parameters
    ----------
    tree : Tree
    choices : mapping of str to int, optional
        `OPEN`, `CLOSED` or `ALL`, by the key of the group.
    """
    opened, refused = tree.opened(choices or {})
    rows = _Laying(tree, opened)
    for k, group in enumerate(tree.roots):
        rows.add(group, gap=ROLE_GAP if k else 0.0)
    drawn = np.array(rows.drawn, dtype=np.int64)
    joined = np.array(rows.joined, dtype=np.int64).reshape(-1, 2)
    y = np.zeros(tree.lanes)
    y[drawn] = rows.drawn_y
    for (first, stop), height in zip(joined.tolist(), rows.joined_y, strict=True):
        y[first:stop] = height
    return Layout(
        rows=tuple(rows.rows),
        y=y,
        drawn=drawn,
        first=joined[:, 0],
        stop=joined[:, 1],
        joined_y=np.array(rows.joined_y, dtype=np.float64),
        refused=refused,
    )


class _Laying:
    """Rows under construction."""

    def __init__(self, tree: Tree, opened: Mapping[str, list[Group]]) -> None:
        self.tree, self.opened = tree, opened
        self.rows: list[Row] = []
        self.bottom = -0.5
        self.drawn: list[int] = []
        self.drawn_y: list[float] = []
        self.joined: list[tuple[int, int]] = []
        self.joined_y: list[float] = []

    def add(
        self, group: Group, *, gap: float = 0.0, toggles: Group | None = None, under: str = ""
    ) -> None:
        """Append the rows of a group; the first of a track opens or closes ``toggles``.

        ``under`` is what the head above says already.
        """
        inner = self.opened.get(group.key, ())
        several = self.tree.tracks(group) > 1
        if not inner:
            self.bottom += gap + 1
            owner = toggles or (group if group.stop - group.first > 1 else None)
            self._row(group, self.bottom - 0.5, owner, toggles, under=under)
            self._place(group, several)
            return
        if several:
            self.bottom += gap / 2 + HEAD
            self._row(group, self.bottom - HEAD / 2, group, group, head=True)
            under = self.tree.said(group) or under
        before = group
        for k, part in enumerate(inner):
            apart = INNER_GAP if k and self._is_headed(before) else 0.0
            first = not several and k == 0
            self.add(
                part, gap=gap if first else apart, toggles=group if first else None, under=under
            )
            before = part

    def _is_headed(self, group: Group) -> bool:
        return group.key in self.opened and self.tree.tracks(group) > 1

    def _row(
        self,
        group: Group,
        y: float,
        owner: Group | None,
        opened: Group | None,
        *,
        head: bool = False,
        under: str = "",
    ) -> None:
        name = self.tree.name(group, opened=head)
        self.rows.append(
            Row(
                name=cut_middle(name.removeprefix(f"{under} ") if under else name, NAME_CHARS),
                y=y,
                role=self.tree.role(group),
                title=self.tree.title(group),
                key=owner.key if owner else "",
                open=opened is not None,
                lanes=(group.first, group.first if head else group.stop),
            )
        )

    def _place(self, group: Group, several: bool) -> None:
        """Give the lanes of a row their place: of one track, the outermost is drawn."""
        first, y = group.first, self.bottom - 0.5
        if not several:
            self.drawn.append(first)
            self.drawn_y.append(y)
            first += 1
        if first < group.stop:
            self.joined.append((first, group.stop))
            self.joined_y.append(y)
