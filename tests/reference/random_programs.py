"""Random array programs whose values show in which order their writes took place.

Updates such as ``x = x * half + y`` do not commute, so a write out of order changes what is
shown. All numbers are halves, sums and small products, so that both runtimes round alike. Products
of large matrices of ones come in between: they take long, and everything else comes to be queued
behind them.

``failing`` adds a kernel that fails on a worker, ``refused`` a call that fails when it is made.
"""

from __future__ import annotations

import random

__all__ = ["random_program"]

START = """\
big = mx.nd.ones((160, 160))
half = mx.nd.ones((2, 3)) * 0.5
a = mx.nd.arange(6).reshape((2, 3)) + 0
b = mx.nd.ones((2, 3)) * 5
c = mx.nd.arange(6, 12).reshape((2, 3)) * 2
d = mx.nd.zeros((2, 3), ctx=mx.cpu(1))
e = mx.nd.ones((2, 3), ctx=mx.cpu(1)) * 3
"""

#: Names of arrays by the device they live on.
DEVICES = ("abc", "de")

REFUSED = (
    "{x} + mx.nd.ones((7,))",
    "mx.nd.dot({x}, {x})",
    "{x} + mx.nd.ones((2, 3), dtype='int32')",
    "{x}[:] = mx.nd.ones((5, 5))",
    "{x}.reshape((4, 4))",
    "{x}[9]",
)


class _Writer:
    """Writes one program, and remembers which arrays will never have a value."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.failed: set[str] = set()
        self.has_failed = False
        self.lines = START.splitlines()

    def pick(self) -> tuple[str, str, str]:
        """Return three different arrays, the first two on one device if possible."""
        home, other = self.random.sample(DEVICES, 2)
        x, y = self.random.sample(home, 2)
        return x, y, self.random.choice(other)

    def statement(self) -> None:
        x, y, far = self.pick()
        row, from_row = self.random.randrange(2), self.random.randrange(2)
        updates: tuple[str, ...] = (
            f"{x} += {y}",
            f"{x} -= {y} * half",
            f"{x} *= half",
            f"{x}[{row}] = {y}[{from_row}]",
            f"{x}[{row}:{row + 1}] -= {y}[{from_row}:{from_row + 1}]",
            f"{x}[{row}] *= half[1]",
            f"{x}[:, 1:3] = {y}[:, 0:2]",
            f"{x} += {far}.as_in_context({x}.context)",
            f"view = {x}.reshape((3, 2)); view[0] = {y}[{row}][0:2]",
        )
        # In MXNet what a failed operator had as workspace fails those who get it next.
        if x in "abc" and not self.has_failed:
            updates += (f"{x} -= mx.nd.dot(big, big)[0:2, 0:3]",)
        replacements = (
            f"{x} = {x} * half + {y}",
            f"{x} = {y} - {x} * half - {y} * {y} * half",
            f"{x} = {x}[0:2] * half",
        )
        overwrites = (f"{x}[:] = {y}", f"{x}[:] = {row}", f"{far}.copyto({x})", f"{y}.copyto({x})")
        kind = self.random.choice((updates, updates, replacements, overwrites))
        # Whether an array that has failed can be overwritten is a difference, tested by itself.
        if kind is overwrites and x in self.failed:
            kind = updates
        text = self.random.choice(kind)
        self.lines.append(text)
        used = {name for name in (y, far) if name in text.replace(".context", "")}
        if used & self.failed:
            self.failed.add(x)

    def fail(self) -> None:
        x, _, _ = self.pick()
        self.lines.append(
            f"{x} += mx.nd.random.normal(scale=-1, shape=(2, 3)).as_in_context({x}.context)"
        )
        self.failed.add(x)
        self.has_failed = True

    def refuse(self) -> None:
        x, _, _ = self.pick()
        self.lines.append(self.random.choice(REFUSED).format(x=x))


def random_program(seed: int, *, failing: bool = False, refused: bool = False) -> str:
    """Return the program of this seed."""
    writer = _Writer(seed)
    length = writer.random.randrange(10, 40)
    event = writer.random.randrange(2, length - 2)
    for position in range(length):
        if position == event and failing:
            writer.fail()
        if position == event and refused:
            writer.refuse()
        writer.statement()
        if writer.random.random() < 0.1:
            writer.lines.append(f"show({writer.random.choice('abcde')})")
    writer.lines += [f"show({name})" for name in "abcde"]
    return "\n".join(writer.lines)
