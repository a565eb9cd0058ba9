"""`Arithmetic`: what the signs ``+ - * / % **``, comparisons and ``+=`` do to an array."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from mxprof_nb.runtime.ops.elementwise import BINARY, SCALAR, UNARY

if TYPE_CHECKING:
    from mxprof_nb.runtime.nd.array import NDArray

__all__ = ["NUMBERS", "Arithmetic"]

#: What is called most often is not looked up, and takes no further step.
_ADD, _SUB, _MUL, _DIV = (BINARY[name] for name in ("add", "sub", "mul", "div"))

#: What counts as a number beside an array.
NUMBERS = (int, float, np.number, np.bool_)


class Arithmetic:
    """The signs, for arrays to inherit; each queues an operator and returns at once."""

    __slots__ = ()
    __array_priority__ = 1000.0  # NumPy leaves ``ndarray + NDArray`` to us

    _apply: ClassVar[Callable[..., NDArray]]

    def _combine(self, name: str, other: Any, out: Any = None) -> NDArray:
        """Queue an operation with an array or a number, ``NotImplemented`` with anything else."""
        if isinstance(other, Arithmetic):
            return self._apply(BINARY[name], (self, other), (), (), out)
        if isinstance(other, NUMBERS):
            return self._apply(SCALAR[name], (self,), (), (other,), out)
        if isinstance(other, np.ndarray):
            # MXNet refuses: where the data comes from and which copy is made stays visible.
            raise TypeError(
                f"{name}: an NDArray and a NumPy array do not mix. "
                "Convert one: nd.array(...) or .asnumpy()."
            )
        if name == "mul" and isinstance(other, (str, bytes, list, tuple)):
            # Left to Python, `[1, 2] * x` would repeat the list as often as x, an index, says.
            raise TypeError(
                f"unsupported operand type(s) for *: 'NDArray' and {type(other).__name__!r}. "
                "Make an array of numbers with nd.array(...)."
            )
        return NotImplemented  # type: ignore[no-any-return]

    def __hash__(self) -> int:
        return id(self) // 16  # by identity, as MXNet's: == answers element by element

    def __add__(self, other: Any) -> NDArray:
        if isinstance(other, Arithmetic):
            return self._apply(_ADD, (self, other))
        return self._combine("add", other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> NDArray:
        if isinstance(other, Arithmetic):
            return self._apply(_SUB, (self, other))
        return self._combine("sub", other)

    def __rsub__(self, other: Any) -> NDArray:
        return self._combine("rsub", other)

    def __mul__(self, other: Any) -> NDArray:
        if isinstance(other, Arithmetic):
            return self._apply(_MUL, (self, other))
        return self._combine("mul", other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> NDArray:
        if isinstance(other, Arithmetic):
            return self._apply(_DIV, (self, other))
        return self._combine("div", other)

    def __rtruediv__(self, other: Any) -> NDArray:
        return self._combine("rdiv", other)

    def __mod__(self, other: Any) -> NDArray:
        return self._combine("mod", other)

    def __rmod__(self, other: Any) -> NDArray:
        return self._combine("rmod", other)

    def __pow__(self, other: Any) -> NDArray:
        return self._combine("power", other)

    def __rpow__(self, other: Any) -> NDArray:
        return self._combine("rpower", other)

    def __neg__(self) -> NDArray:
        return self._combine("mul", -1.0)

    def __abs__(self) -> NDArray:
        return self._apply(UNARY["abs"], (self,))

    def __iadd__(self, other: Any) -> NDArray:
        return self._combine("add", other, out=self)

    def __isub__(self, other: Any) -> NDArray:
        return self._combine("sub", other, out=self)

    def __imul__(self, other: Any) -> NDArray:
        return self._combine("mul", other, out=self)

    def __itruediv__(self, other: Any) -> NDArray:
        return self._combine("div", other, out=self)

    def __imod__(self, other: Any) -> NDArray:
        return self._combine("mod", other, out=self)

    def __ipow__(self, other: Any) -> NDArray:
        return self._combine("power", other, out=self)

    def _compare(self, name: str, other: object) -> NDArray:
        """Refuse what is no number, as MXNet: Python would just call the two different."""
        answer = self._combine(name, other)
        if answer is NotImplemented:
            raise TypeError(
                f"{name}: an NDArray is compared with an NDArray or a number, not "
                f"{type(other).__name__}. Ask for None with `is`."
            )
        return answer

    def __eq__(self, other: object) -> NDArray:  # type: ignore[override]
        return self._compare("equal", other)

    def __ne__(self, other: object) -> NDArray:  # type: ignore[override]
        return self._compare("not_equal", other)

    def __gt__(self, other: Any) -> NDArray:
        return self._combine("greater", other)

    def __ge__(self, other: Any) -> NDArray:
        return self._combine("greater_equal", other)

    def __lt__(self, other: Any) -> NDArray:
        return self._combine("lesser", other)

    def __le__(self, other: Any) -> NDArray:
        return self._combine("lesser_equal", other)
