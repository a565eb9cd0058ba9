"""`mx.sym`: graphs of operators; each function makes a node and runs nothing.

The functions are those of `mx.nd` that call one operator, under the same names, with the same
parameters, and ``name`` and ``attr`` besides.
"""

from collections.abc import Callable

from mxprof_nb.runtime import nd
from mxprof_nb.runtime.symbol import contrib, image, linalg, random
from mxprof_nb.runtime.symbol.creation import (
    Group,
    Variable,
    arange,
    eye,
    fromjson,
    full,
    hypot,
    linspace,
    load,
    load_json,
    maximum,
    minimum,
    ones,
    pow,
    power,
    split_v2,
    var,
    zeros,
)
from mxprof_nb.runtime.symbol.functions import call as call
from mxprof_nb.runtime.symbol.names import functions_of
from mxprof_nb.runtime.symbol.symbol import Symbol

_made, _get = functions_of("sym", "", nd.__all__)

__all__ = [
    "Group",
    "Symbol",
    "Variable",
    "arange",
    "contrib",
    "eye",
    "fromjson",
    "full",
    "hypot",
    "image",
    "linalg",
    "linspace",
    "load",
    "load_json",
    "maximum",
    "minimum",
    "ones",
    "pow",
    "power",
    "random",
    "split_v2",
    "var",
    "zeros",
]
__all__ += [name for name in _made if name not in __all__]


def __getattr__(name: str) -> Callable[..., Symbol]:
    return _get(name)
