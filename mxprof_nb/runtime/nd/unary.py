"""Functions of one array, element by element."""

from __future__ import annotations

from mxprof_nb.runtime.nd.arguments import number
from mxprof_nb.runtime.nd.array import NDArray, apply
from mxprof_nb.runtime.ops.elementwise import HARD_SIGMOID, UNARY

__all__ = [
    "abs",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctanh",
    "cbrt",
    "ceil",
    "cos",
    "cosh",
    "degrees",
    "erf",
    "erfinv",
    "exp",
    "expm1",
    "fix",
    "floor",
    "gamma",
    "gammaln",
    "hard_sigmoid",
    "log",
    "log1p",
    "log2",
    "log10",
    "logical_not",
    "negative",
    "radians",
    "rcbrt",
    "reciprocal",
    "relu",
    "rint",
    "round",
    "rsqrt",
    "sigmoid",
    "sign",
    "sin",
    "sinh",
    "softsign",
    "sqrt",
    "square",
    "tan",
    "tanh",
    "trunc",
]


def abs(data: NDArray, out: NDArray | None = None) -> NDArray:
    """Return the absolute value, element by element."""
    return apply(UNARY["abs"], (data,), out=out)


def sign(data: NDArray, out: NDArray | None = None) -> NDArray:
    """Return -1, 0 or 1, as the sign is, element by element."""
    return apply(UNARY["sign"], (data,), out=out)


def ceil(data: NDArray, out: NDArray | None = None) -> NDArray:
    """Return the whole number above, element by element."""
    return apply(UNARY["ceil"], (data,), out=out)


def floor(data: NDArray, out: NDArray | None = None) -> NDArray:
    """Return the whole number below, element by element."""
    return apply(UNARY["floor"], (data,), out=out)


def rint(data: NDArray, out: NDArray | None = None) -> NDArray:
    """Return the nearest whole number, halves down, element by element."""
    return apply(UNARY["rint"], (data,), out=out)


def round(data: NDArray, out: NDArray | None = None) -> NDArray:
    """Return the nearest whole number, halves away from 0, element by element."""
    return apply(UNARY["round"], (data,), out=out)


def trunc(data: NDArray, out: NDArray | None = None) -> NDArray:
    """Return the whole number towards 0, element by element."""
    return apply(UNARY["trunc"], (data,), out=out)


def fix(data: NDArray, out: NDArray | None = None) -> NDArray:
    """Return the whole number towards 0, element by element."""
    return apply(UNARY["fix"], (data,), out=out)


def exp(data: NDArray, out: NDArray | None = None) -> NDArray:
    """Return e to the power of x, element by element."""
    return apply(UNARY["exp"], (data,), out=out)


def expm1(data: NDArray, out: NDArray | None = None) -> NDArray:
    """Return e to the power of x, minus 1, element by element."""
    return apply(UNARY["expm1"], (data,), out=out)


def log(data: NDArray, out: NDArray | None = None) -> NDArray:
    """Return the natural logarithm, element by element."""
    return apply(UNARY["log"], (data,), out=out)


def log2(data: NDArray, out: NDArray | None = None) -> NDArray:
    """Return the logarithm to base 2, element by element."""
    return apply(UNARY["log2"], (data,), out=out)


def log10(data: NDArray, out: NDArray | None = None) -> NDArray:
    """Return the logarithm to base 10, element by element."""
    return apply(UNARY["log10"], (data,), out=out)


def log1p(data: NDArray, out: NDArray | None = None) -> NDArray:
    """Return the logarithm of 1 + x, element by element."""
    return apply(UNARY["log1p"], (data,), out=out)


def sqrt(data: NDArray, out: NDArray | None = None) -> NDArray:
    """Return the square root, element by element."""
    return apply(UNARY["sqrt"], (data,), out=out)


def rsqrt(data: NDArray, out: NDArray | None = None) -> NDArray:
    """Return 1 over the square root, element by element."""
    return apply(UNARY["rsqrt"], (data,), out=out)


def cbrt(data: NDArray, out: NDArray | None = None) -> NDArray:
    """Return the cube root, element by element."""
    return apply(UNARY["cbrt"], (data,), out=out)


def rcbrt(data: NDArray, out: NDArray | None = None) -> NDArray:
    """Return 1 over the cube root, element by element."""
    return apply(UNARY["rcbrt"], (data,), out=out)


def square(data: NDArray, out: NDArray | None = None) -> NDArray:
    """Return the square, element by element."""
    return apply(UNARY["square"], (data,), out=out)


def reciprocal(data: NDArray, out: NDArray | None = None) -> NDArray:
    """Return 1 over x, element by element."""
    return apply(UNARY["reciprocal"], (data,), out=out)


def sin(data: NDArray, out: NDArray | None = None) -> NDArray:
    """Return the sine, element by element."""
    return apply(UNARY["sin"], (data,), out=out)


def cos(data: NDArray, out: NDArray | None = None) -> NDArray:
    """Return the cosine, element by element."""
    return apply(UNARY["cos"], (data,), out=out)


def tan(data: NDArray, out: NDArray | None = None) -> NDArray:
    """Return the tangent, element by element."""
    return apply(UNARY["tan"], (data,), out=out)


def arcsin(data: NDArray, out: NDArray | None = None) -> NDArray:
    """Return the inverse sine, element by element."""
    return apply(UNARY["arcsin"], (data,), out=out)


def arccos(data: NDArray, out: NDArray | None = None) -> NDArray:
    """Return the inverse cosine, element by element."""
    return apply(UNARY["arccos"], (data,), out=out)


def arctan(data: NDArray, out: NDArray | None = None) -> NDArray:
    """Return the inverse tangent, element by element."""
    return apply(UNARY["arctan"], (data,), out=out)


def sinh(data: NDArray, out: NDArray | None = None) -> NDArray:
    """Return the hyperbolic sine, element by element."""
    return apply(UNARY["sinh"], (data,), out=out)


def cosh(data: NDArray, out: NDArray | None = None) -> NDArray:
    """Return the hyperbolic cosine, element by element."""
    return apply(UNARY["cosh"], (data,), out=out)


def tanh(data: NDArray, out: NDArray | None = None) -> NDArray:
    """Return the hyperbolic tangent, element by element."""
    return apply(UNARY["tanh"], (data,), out=out)


def arcsinh(data: NDArray, out: NDArray | None = None) -> NDArray:
    """Return the inverse hyperbolic sine, element by element."""
    return apply(UNARY["arcsinh"], (data,), out=out)


def arccosh(data: NDArray, out: NDArray | None = None) -> NDArray:
    """Return the inverse hyperbolic cosine, element by element."""
    return apply(UNARY["arccosh"], (data,), out=out)


def arctanh(data: NDArray, out: NDArray | None = None) -> NDArray:
    """Return the inverse hyperbolic tangent, element by element."""
    return apply(UNARY["arctanh"], (data,), out=out)


def degrees(data: NDArray, out: NDArray | None = None) -> NDArray:
    """Return radians in degrees, element by element."""
    return apply(UNARY["degrees"], (data,), out=out)


def radians(data: NDArray, out: NDArray | None = None) -> NDArray:
    """Return degrees in radians, element by element."""
    return apply(UNARY["radians"], (data,), out=out)


def erf(data: NDArray, out: NDArray | None = None) -> NDArray:
    """Return the error function, element by element."""
    return apply(UNARY["erf"], (data,), out=out)


def erfinv(data: NDArray, out: NDArray | None = None) -> NDArray:
    """Return the inverse of the error function, element by element."""
    return apply(UNARY["erfinv"], (data,), out=out)


def gamma(data: NDArray, out: NDArray | None = None) -> NDArray:
    """Return the gamma function, element by element."""
    return apply(UNARY["gamma"], (data,), out=out)


def gammaln(data: NDArray, out: NDArray | None = None) -> NDArray:
    """Return the logarithm of the size of the gamma function, element by element."""
    return apply(UNARY["gammaln"], (data,), out=out)


def relu(data: NDArray, out: NDArray | None = None) -> NDArray:
    """Return the larger of x and 0, element by element."""
    return apply(UNARY["relu"], (data,), out=out)


def sigmoid(data: NDArray, out: NDArray | None = None) -> NDArray:
    """Return the logistic function, 1 / (1 + exp(-x)), element by element."""
    return apply(UNARY["sigmoid"], (data,), out=out)


def softsign(data: NDArray, out: NDArray | None = None) -> NDArray:
    """Return x / (1 + abs(x)), element by element."""
    return apply(UNARY["softsign"], (data,), out=out)


def negative(data: NDArray, out: NDArray | None = None) -> NDArray:
    """Return -x, element by element."""
    return apply(UNARY["negative"], (data,), out=out)


def logical_not(data: NDArray, out: NDArray | None = None) -> NDArray:
    """Return 1 where x is 0, else 0, element by element."""
    return apply(UNARY["logical_not"], (data,), out=out)


def hard_sigmoid(
    data: NDArray, alpha: float = 0.2, beta: float = 0.5, out: NDArray | None = None
) -> NDArray:
    """Return ``alpha x + beta`` cut to 0 and 1, element by element."""
    return apply(
        HARD_SIGMOID,
        (data,),
        (),
        (
            float(number("hard_sigmoid", "alpha", alpha)),
            float(number("hard_sigmoid", "beta", beta)),
        ),
        out,
    )
