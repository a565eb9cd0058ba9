"""Array types used all over the package."""

from __future__ import annotations

from os import PathLike
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

I8Array: TypeAlias = NDArray[np.int8]
I32Array: TypeAlias = NDArray[np.int32]
I64Array: TypeAlias = NDArray[np.int64]
F64Array: TypeAlias = NDArray[np.float64]
BoolArray: TypeAlias = NDArray[np.bool_]
IntArray: TypeAlias = NDArray[np.integer]
StrPath: TypeAlias = str | PathLike[str]
