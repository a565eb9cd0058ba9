"""`Fluent`: functions of one array as its methods, ``x.exp()`` for ``nd.exp(x)``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from mxprof_nb.runtime.nd.arguments import Axis, clipping, ordering, position, reduction, whole
from mxprof_nb.runtime.nd.dtypes import dtype_name
from mxprof_nb.runtime.ops.elementwise import CLIP, ONES_LIKE, UNARY, ZEROS_LIKE
from mxprof_nb.runtime.ops.matrix import COPY
from mxprof_nb.runtime.ops.norm import NORM
from mxprof_nb.runtime.ops.ordering import ARGMAX, ARGMAX_CHANNEL, ARGMIN, ARGSORT, SORT, TOPK
from mxprof_nb.runtime.ops.reduction import REDUCE

if TYPE_CHECKING:
    from mxprof_nb.runtime.nd.array import NDArray

__all__ = ["Fluent"]


class Fluent:
    """The methods, for arrays to inherit; the functions of `mxprof_nb.runtime.nd` explain them."""

    __slots__ = ()

    _apply: ClassVar[Callable[..., NDArray]]
    _apply_several: ClassVar[Callable[..., list[NDArray]]]

    # Element by element

    def abs(self) -> NDArray:
        """Return the absolute value, element by element."""
        return self._apply(UNARY["abs"], (self,))

    def sign(self) -> NDArray:
        """Return -1, 0 or 1, as the sign is, element by element."""
        return self._apply(UNARY["sign"], (self,))

    def ceil(self) -> NDArray:
        """Return the whole number above, element by element."""
        return self._apply(UNARY["ceil"], (self,))

    def floor(self) -> NDArray:
        """Return the whole number below, element by element."""
        return self._apply(UNARY["floor"], (self,))

    def rint(self) -> NDArray:
        """Return the nearest whole number, halves down, element by element."""
        return self._apply(UNARY["rint"], (self,))

    def round(self) -> NDArray:
        """Return the nearest whole number, halves away from 0, element by element."""
        return self._apply(UNARY["round"], (self,))

    def trunc(self) -> NDArray:
        """Return the whole number towards 0, element by element."""
        return self._apply(UNARY["trunc"], (self,))

    def fix(self) -> NDArray:
        """Return the whole number towards 0, element by element."""
        return self._apply(UNARY["fix"], (self,))

    def exp(self) -> NDArray:
        """Return e to the power of x, element by element."""
        return self._apply(UNARY["exp"], (self,))

    def expm1(self) -> NDArray:
        """Return e to the power of x, minus 1, element by element."""
        return self._apply(UNARY["expm1"], (self,))

    def log(self) -> NDArray:
        """Return the natural logarithm, element by element."""
        return self._apply(UNARY["log"], (self,))

    def log2(self) -> NDArray:
        """Return the logarithm to base 2, element by element."""
        return self._apply(UNARY["log2"], (self,))

    def log10(self) -> NDArray:
        """Return the logarithm to base 10, element by element."""
        return self._apply(UNARY["log10"], (self,))

    def log1p(self) -> NDArray:
        """Return the logarithm of 1 + x, element by element."""
        return self._apply(UNARY["log1p"], (self,))

    def sqrt(self) -> NDArray:
        """Return the square root, element by element."""
        return self._apply(UNARY["sqrt"], (self,))

    def rsqrt(self) -> NDArray:
        """Return 1 over the square root, element by element."""
        return self._apply(UNARY["rsqrt"], (self,))

    def cbrt(self) -> NDArray:
        """Return the cube root, element by element."""
        return self._apply(UNARY["cbrt"], (self,))

    def rcbrt(self) -> NDArray:
        """Return 1 over the cube root, element by element."""
        return self._apply(UNARY["rcbrt"], (self,))

    def square(self) -> NDArray:
        """Return the square, element by element."""
        return self._apply(UNARY["square"], (self,))

    def reciprocal(self) -> NDArray:
        """Return 1 over x, element by element."""
        return self._apply(UNARY["reciprocal"], (self,))

    def sin(self) -> NDArray:
        """Return the sine, element by element."""
        return self._apply(UNARY["sin"], (self,))

    def cos(self) -> NDArray:
        """Return the cosine, element by element."""
        return self._apply(UNARY["cos"], (self,))

    def tan(self) -> NDArray:
        """Return the tangent, element by element."""
        return self._apply(UNARY["tan"], (self,))

    def arcsin(self) -> NDArray:
        """Return the inverse sine, element by element."""
        return self._apply(UNARY["arcsin"], (self,))

    def arccos(self) -> NDArray:
        """Return the inverse cosine, element by element."""
        return self._apply(UNARY["arccos"], (self,))

    def arctan(self) -> NDArray:
        """Return the inverse tangent, element by element."""
        return self._apply(UNARY["arctan"], (self,))

    def sinh(self) -> NDArray:
        """Return the hyperbolic sine, element by element."""
        return self._apply(UNARY["sinh"], (self,))

    def cosh(self) -> NDArray:
        """Return the hyperbolic cosine, element by element."""
        return self._apply(UNARY["cosh"], (self,))

    def tanh(self) -> NDArray:
        """Return the hyperbolic tangent, element by element."""
        return self._apply(UNARY["tanh"], (self,))

    def arcsinh(self) -> NDArray:
        """Return the inverse hyperbolic sine, element by element."""
        return self._apply(UNARY["arcsinh"], (self,))

    def arccosh(self) -> NDArray:
        """Return the inverse hyperbolic cosine, element by element."""
        return self._apply(UNARY["arccosh"], (self,))

    def arctanh(self) -> NDArray:
        """Return the inverse hyperbolic tangent, element by element."""
        return self._apply(UNARY["arctanh"], (self,))

    def degrees(self) -> NDArray:
        """Return radians in degrees, element by element."""
        return self._apply(UNARY["degrees"], (self,))

    def radians(self) -> NDArray:
        """Return degrees in radians, element by element."""
        return self._apply(UNARY["radians"], (self,))

    def relu(self) -> NDArray:
        """Return the larger of x and 0, element by element."""
        return self._apply(UNARY["relu"], (self,))

    def sigmoid(self) -> NDArray:
        """Return the logistic function, 1 / (1 + exp(-x)), element by element."""
        return self._apply(UNARY["sigmoid"], (self,))

    def clip(self, a_min: float, a_max: float, out: NDArray | None = None) -> NDArray:
        """Return the elements cut to an interval."""
        return self._apply(CLIP, (self,), (), clipping(a_min, a_max), out)

    def zeros_like(self) -> NDArray:
        """Return zeros in this shape and type."""
        return self._apply(ZEROS_LIKE, (self,))

    def ones_like(self) -> NDArray:
        """Return ones in this shape and type."""
        return self._apply(ONES_LIKE, (self,))

    # Over axes

    def sum(
        self,
        axis: Axis = None,
        keepdims: bool = False,
        exclude: bool = False,
        out: NDArray | None = None,
    ) -> NDArray:
        """Return the sum over axes, all by default."""
        return self._apply(REDUCE["sum"], (self,), reduction(axis, keepdims, exclude), out=out)

    def nansum(
        self,
        axis: Axis = None,
        keepdims: bool = False,
        exclude: bool = False,
        out: NDArray | None = None,
    ) -> NDArray:
        """Return the sum without NaN over axes, all by default."""
        return self._apply(REDUCE["nansum"], (self,), reduction(axis, keepdims, exclude), out=out)

    def mean(
        self,
        axis: Axis = None,
        keepdims: bool = False,
        exclude: bool = False,
        dtype: Any = None,
        out: NDArray | None = None,
    ) -> NDArray:
        """Return the mean over axes, all by default, in another type if ``dtype`` names one."""
        data: Any = self
        if dtype is not None:
            data = self._apply(COPY, (self,), (("dtype", dtype_name(dtype)),))
        return self._apply(REDUCE["mean"], (data,), reduction(axis, keepdims, exclude), out=out)

    def prod(
        self,
        axis: Axis = None,
        keepdims: bool = False,
        exclude: bool = False,
        out: NDArray | None = None,
    ) -> NDArray:
        """Return the product over axes, all by default."""
        return self._apply(REDUCE["prod"], (self,), reduction(axis, keepdims, exclude), out=out)

    def nanprod(
        self,
        axis: Axis = None,
        keepdims: bool = False,
        exclude: bool = False,
        out: NDArray | None = None,
    ) -> NDArray:
        """Return the product without NaN over axes, all by default."""
        return self._apply(REDUCE["nanprod"], (self,), reduction(axis, keepdims, exclude), out=out)

    def max(
        self,
        axis: Axis = None,
        keepdims: bool = False,
        exclude: bool = False,
        out: NDArray | None = None,
    ) -> NDArray:
        """Return the largest element over axes, all by default."""
        return self._apply(REDUCE["max"], (self,), reduction(axis, keepdims, exclude), out=out)

    def min(
        self,
        axis: Axis = None,
        keepdims: bool = False,
        exclude: bool = False,
        out: NDArray | None = None,
    ) -> NDArray:
        """Return the smallest element over axes, all by default."""
        return self._apply(REDUCE["min"], (self,), reduction(axis, keepdims, exclude), out=out)

    def norm(self, ord: int = 2, axis: Axis = None, keepdims: bool = False) -> NDArray:
        """Return the root of the sum of squares over axes, or for ``ord=1`` the sum of sizes."""
        return self._apply(NORM, (self,), (("ord", ord), *reduction(axis, keepdims)))

    # Order

    def argmax(
        self, axis: int | None = None, keepdims: bool = False, out: NDArray | None = None
    ) -> NDArray:
        """Return the position of the largest element, in the type of the array."""
        return self._apply(ARGMAX, (self,), position(axis, keepdims), out=out)

    def argmin(
        self, axis: int | None = None, keepdims: bool = False, out: NDArray | None = None
    ) -> NDArray:
        """Return the position of the smallest element, in the type of the array."""
        return self._apply(ARGMIN, (self,), position(axis, keepdims), out=out)

    def argmax_channel(self) -> NDArray:
        """Return the position of the largest element along the second axis."""
        return self._apply(ARGMAX_CHANNEL, (self,))

    def argsort(
        self, axis: int | None = -1, is_ascend: bool = True, dtype: Any = "float32"
    ) -> NDArray:
        """Return the positions of the elements in order."""
        return self._apply(ARGSORT, (self,), ordering(axis, is_ascend, dtype))

    def sort(self, axis: int | None = -1, is_ascend: bool = True) -> NDArray:
        """Return the elements in order."""
        return self._apply(SORT, (self,), ordering(axis, is_ascend))

    def topk(
        self,
        axis: int | None = -1,
        k: int = 1,
        ret_typ: str = "indices",
        is_ascend: bool = False,
        dtype: Any = "float32",
    ) -> Any:
        """Return the first elements in order; see `mxprof_nb.runtime.nd.topk`."""
        attrs = (*ordering(axis, is_ascend, dtype), ("k", whole(k)), ("ret_typ", ret_typ))
        several = ret_typ == "both"
        return (self._apply_several if several else self._apply)(TOPK, (self,), attrs)
