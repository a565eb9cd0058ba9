"""`LabelTable`: what a record says about itself, told once and then referred to by number.

The hot path writes one integer instead of a name, a category, shapes and a size: everything that
is the same for many records lives here.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

__all__ = ["Label", "LabelTable", "memory_label"]


@dataclass(frozen=True, slots=True)
class Label:
    """The constant part of a record.

    Attributes
    ----------
    name, category, domain : str
        As in the events table.
    bytes, flops : int
        Size of the result in bytes and work in floating point operations, -1 when not known.
    shapes, dtype : str or None
        Shapes of inputs and outputs, type of the result.
    raw : str or None
        Further details, one JSON text.
    """

    name: str
    category: str
    domain: str
    bytes: int = -1
    flops: int = -1
    shapes: str | None = None
    dtype: str | None = None
    raw: str | None = None

    @property
    def has_details(self) -> bool:
        """Whether there is anything to put into the args table."""
        texts = self.shapes is not None or self.raw is not None
        return self.bytes >= 0 or self.flops >= 0 or texts


def memory_label(device: str, scope: str = "") -> Label:
    """Return the label of memory on a device, or of the part that arrays made in a scope take."""
    whole = f"Memory: {device}"
    return Label(f"{whole} {scope}" if scope else whole, "memory", device)


class LabelTable:
    """Numbers labels; grows only, numbers stay valid for the life of the process."""

    def __init__(self) -> None:
        self._numbers: dict[Label, int] = {}
        self._labels: dict[int, Label] = {}
        self._next = itertools.count()

    def number(self, label: Label) -> int:
        """Return the number of a label, a new one when it is met for the first time."""
        found = self._numbers.get(label)
        if found is None:
            # Two threads may get here at once: each has a number of its own, setdefault decides
            # between them, and an unused entry is harmless.
            made = next(self._next)
            self._labels[made] = label
            found = self._numbers.setdefault(label, made)
        return found

    def define(self, name: str, category: str, domain: str) -> int:
        """Return the number of a label without details."""
        return self.number(Label(name, category, domain))

    def restore(self, number: int, label: Label) -> None:
        """Give a label the number that it has in a file."""
        self._labels[number] = label

    def items(self) -> list[tuple[int, Label]]:
        """Return all labels with their numbers, also those that other threads add meanwhile."""
        return list(self._labels.items())

    def __getitem__(self, number: int) -> Label:
        return self._labels[number]

    def __len__(self) -> int:
        return len(self._labels)
