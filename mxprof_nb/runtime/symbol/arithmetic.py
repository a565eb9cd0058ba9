"""`Arithmetic`: what the signs ``+ - * / % **`` and comparisons do to a symbol."""

from __future__ import annotations

from numbers import Number
from typing import TYPE_CHECKING, Any

# The package, whose functions are looked up when a sign is used: they need Symbol, which inherits.
from mxprof_nb.runtime import symbol as package

if TYPE_CHECKING:
    from mxprof_nb.runtime.symbol.symbol import Symbol

__all__ = ["Arithmetic", "combine"]


def combine(sign: str, left: Any, right: Any, exchanged: str = "") -> Symbol:
    """Return the node for two symbols, which must have one shape, or for one and a number.

    Parameters
    ----------
    sign : str
        MXNet's name of the operator, without ``_`` and ``Scalar``.
    left, right : Symbol or number
    exchanged : str
        Name of the operator for a number on the left.
    """
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Arithmetic) and not isinstance(other, (Arithmetic, Number)):
            raise TypeError(
                f"{sign}: a Symbol and {type(other).__name__} do not mix. Use symbols and numbers."
            )
    if isinstance(left, Arithmetic) and isinstance(right, Arithmetic):
        return package.call(f"_{sign}", left, right)
    scalar = "Scalar" if sign[0].isupper() else "_scalar"
    if isinstance(left, Arithmetic):
        return package.call(f"_{sign}{scalar}", left, scalar=right)
    return package.call(f"_{exchanged or sign}{scalar}", right, scalar=left)


class Arithmetic:
    """The signs, for symbols to inherit; each makes a node."""

    __slots__ = ()
    __array_priority__ = 1000.0  # NumPy leaves ``ndarray + Symbol`` to us

    def __hash__(self) -> int:
        return id(self) // 16  # by identity: == makes a node

    def __add__(self, other: Any) -> Symbol:
        return combine("Plus", self, other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Symbol:
        return combine("Minus", self, other)

    def __rsub__(self, other: Any) -> Symbol:
        return combine("Minus", other, self, "RMinus")

    def __mul__(self, other: Any) -> Symbol:
        return combine("Mul", self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Symbol:
        return combine("Div", self, other)

    def __rtruediv__(self, other: Any) -> Symbol:
        return combine("Div", other, self, "RDiv")

    def __mod__(self, other: Any) -> Symbol:
        return combine("Mod", self, other)

    def __rmod__(self, other: Any) -> Symbol:
        return combine("Mod", other, self, "RMod")

    def __pow__(self, other: Any) -> Symbol:
        return combine("Power", self, other)

    def __rpow__(self, other: Any) -> Symbol:
        if not isinstance(other, Number):
            raise TypeError(f"Power: a Symbol and {type(other).__name__} do not mix.")
        return package.call("_rpower_scalar", self, scalar=other)

    def __neg__(self) -> Symbol:
        return self * -1.0

    def __abs__(self) -> Symbol:
        return package.call("abs", self)

    def __eq__(self, other: object) -> Symbol:  # type: ignore[override]
        return combine("equal", self, other)

    def __ne__(self, other: object) -> Symbol:  # type: ignore[override]
        return combine("not_equal", self, other)

    def __gt__(self, other: Any) -> Symbol:
        return combine("greater", self, other)

    def __ge__(self, other: Any) -> Symbol:
        return combine("greater_equal", self, other)

    def __lt__(self, other: Any) -> Symbol:
        return combine("lesser", self, other)

    def __le__(self, other: Any) -> Symbol:
        return combine("lesser_equal", self, other)

    def _in_place(self, other: object) -> Symbol:
        raise TypeError(
            "A Symbol does not change: there is no +=, -=, *= and /= for it. Write x = x + y."
        )

    __iadd__ = __isub__ = __imul__ = __itruediv__ = _in_place
