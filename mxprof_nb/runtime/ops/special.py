"""Special functions that NumPy lacks: erf, gamma and their kin, for whole arrays.

The standard library has some of them for one number at a time, which holds the interpreter and
keeps the other workers from theirs.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray as NumpyArray

__all__ = ["digamma", "erf", "erfinv", "gamma", "gammaln"]

Array = NumpyArray[Any]

# W. J. Cody, Rational Chebyshev approximations for the error function, 1969:
# numerator and denominator of erf(x) / x in x², and of exp(x²) erfc(x) in x.
# fmt: off
_ERF = (
    (1.85777706184603153e-1, 3.16112374387056560, 1.13864154151050156e2, 3.77485237685302021e2,
     3.20937758913846947e3),
    (1.0, 2.36012909523441209e1, 2.44024637934444173e2, 1.28261652607737228e3,
     2.84423683343917062e3),
)
_ERFC = (
    (2.15311535474403846e-8, 5.64188496988670089e-1, 8.88314979438837594, 6.61191906371416295e1,
     2.98635138197400131e2, 8.81952221241769090e2, 1.71204761263407058e3, 2.05107837782607147e3,
     1.23033935479799725e3),
    (1.0, 1.57449261107098347e1, 1.17693950891312499e2, 5.37181101862009858e2,
     1.62138957456669019e3, 3.29079923573345963e3, 4.36261909014324716e3, 3.43936767414372164e3,
     1.23033935480374942e3),
)
# fmt: on

#: From here on Stirling's series holds to the last digits.
_LARGE = 8

# B(2k) / 2k (2k - 1) and B(2k) / 2k, with Bernoulli's numbers B, for powers of 1 / x².
_STIRLING = (-691 / 360360, 1 / 1188, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12)
_DIGAMMA = (-691 / 32760, 1 / 132, -1 / 240, 1 / 252, -1 / 120, 1 / 12)

#: 0!, 1!, 2!, ... as far as float64 reaches.
_FACTORIALS = np.array([math.factorial(n) for n in range(171)], np.float64)


def _polynomial(coefficients: tuple[float, ...], x: Array) -> Array:
    """Evaluate a polynomial, highest power first."""
    value = np.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        value *= x
        value += coefficient
    return value


def _ratio(coefficients: tuple[tuple[float, ...], tuple[float, ...]], x: Array) -> Array:
    above, below = coefficients
    ratio: Array = _polynomial(above, x) / _polynomial(below, x)
    return ratio


def erf(x: Array) -> Array:
    """Return the error function in the type of ``x``, float32 or float64."""
    size = np.minimum(np.abs(x), 6)  # 1 to the last digit from there on
    squares = size * size
    near = size * _ratio(_ERF, squares)
    far = 1 - np.exp(-squares) * _ratio(_ERFC, size)
    return np.copysign(np.where(size < 0.46875, near, far), x)


def erfinv(x: Array) -> Array:
    """Return the inverse of `erf` in the type of ``x``, float32 or float64."""
    wide = np.asarray(x, dtype=np.float64)
    # S. Winitzki's approximation, good to two digits; each step by Halley triples them.
    logarithm = np.log1p(-wide * wide)
    first = 2 / (np.pi * 0.147) + logarithm / 2
    y = np.sqrt(np.maximum(np.sqrt(first * first - logarithm / 0.147) - first, 0))
    y = np.copysign(y, wide)
    for _ in range(3):
        step = (erf(y) - wide) * (np.sqrt(np.pi) / 2) * np.exp(y * y)
        y = np.where(np.isfinite(step), y - step / (1 + y * step), y)
    return np.where(np.abs(wide) == 1, np.copysign(np.inf, wide), y).astype(x.dtype, copy=False)


def _lifted(x: Array) -> tuple[Array, Array]:
    """Return a number of at least `_LARGE` for each, and x (x + 1) ... up to it, 1 if none."""
    small = x < _LARGE
    product = np.where(small, x, 1)
    for step in range(1, _LARGE):
        product *= np.where(small, x + step, 1)
    return np.where(small, x + _LARGE, x), product


def _stirling(x: Array) -> Array:
    """Return the logarithm of gamma for large numbers."""
    inverse = 1 / x
    series = inverse * _polynomial(_STIRLING, inverse * inverse)
    value: Array = (x - 0.5) * np.log(x) - x + np.log(2 * np.pi) / 2 + series
    return value


def _sine(x: Array) -> Array:
    """Return sin(pi x), 0 for whole numbers."""
    nearest = np.rint(x)
    return np.sin(np.pi * (x - nearest)) * np.where(nearest % 2 == 0, 1, -1)


def _whole(x: Array) -> Array:
    """Return where gamma has no value."""
    whole: Array = (x < 0) & (x == np.floor(x))
    return whole


def gamma(x: Array) -> Array:
    """Return the gamma function in the type of ``x``; NaN for negative whole numbers."""
    wide = np.asarray(x, dtype=np.float64)
    mirrored = wide < 0.5
    positive = np.where(mirrored, 1 - wide, wide)
    large, product = _lifted(positive)
    value = np.where(np.isinf(positive), np.inf, np.exp(_stirling(large)) / product)
    value = np.where(mirrored, np.pi / (_sine(wide) * value), value)
    # Exact for whole numbers: what is a little less than 2 would be cut to 1 in their types.
    known = (wide >= 1) & (wide <= len(_FACTORIALS)) & (wide == np.floor(wide))
    value = np.where(known, _FACTORIALS[np.where(known, wide, 1).astype(np.intp) - 1], value)
    return np.where(_whole(wide), np.nan, value).astype(x.dtype, copy=False)


def gammaln(x: Array) -> Array:
    """Return the logarithm of the size of gamma in the type of ``x``."""
    wide = np.asarray(x, dtype=np.float64)
    mirrored = wide < 0.5
    positive = np.where(mirrored, 1 - wide, wide)
    large, product = _lifted(positive)
    value = _stirling(large) - np.log(product)
    value = np.where(mirrored, np.log(np.pi / np.abs(_sine(wide))) - value, value)
    value = np.where((positive == 1) | (positive == 2) & ~mirrored, 0, value)
    value = np.where(_whole(wide) | (wide == 0) | np.isinf(wide), np.inf, value)
    return value.astype(x.dtype, copy=False)


def digamma(x: Array) -> Array:
    """Return the derivative of `gammaln` in the type of ``x``; NaN for whole numbers up to 0."""
    wide = np.asarray(x, dtype=np.float64)
    mirrored = wide < 0.5
    positive = np.where(mirrored, 1 - wide, wide)
    small = positive < _LARGE
    lifted = np.where(small, positive + _LARGE, positive)
    inverse = 1 / lifted
    value = np.log(lifted) - inverse / 2
    value -= inverse * inverse * _polynomial(_DIGAMMA, inverse * inverse)
    for step in range(_LARGE):
        value -= np.where(small, 1 / (positive + step), 0)
    nearest = np.rint(wide)
    value = np.where(mirrored, value - np.pi / np.tan(np.pi * (wide - nearest)), value)
    return np.where(_whole(wide) | (wide == 0), np.nan, value).astype(x.dtype, copy=False)
