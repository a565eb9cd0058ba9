"""MXNet 1.9.1, whose last release is older than NumPy 2 and Python 3.12, made importable.

It takes names from `numpy` while it is imported that NumPy 2 no longer has, and a version class
from `distutils`, which left Python with 3.12. Nothing of MXNet's own is changed.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

import numpy as np
from packaging.version import Version

__all__ = ["import_mxnet"]

#: What NumPy 2 recommends instead (its migration guide), or had itself before.
REPLACED: dict[str, Any] = {
    "Inf": np.inf,
    "NAN": np.nan,
    "NINF": -np.inf,
    "NZERO": -0.0,
    "NaN": np.nan,
    "PINF": np.inf,
    "PZERO": 0.0,
    "alltrue": np.all,
    "bool": np.bool_,
    "in1d": np.isin,
    "int": int,
    "msort": lambda a: np.sort(a, axis=0),
    "round_": np.round,
    "product": np.prod,
    "row_stack": np.vstack,
    "sometrue": np.any,
    "trapz": getattr(np, "trapezoid", None),
}

#: Functions of finance, gone since NumPy 1.20; MXNet lists them and calls none.
FINANCE = ("mirr", "npv", "pmt", "ppmt", "pv", "rate")


def _gone(*args: Any, **kwargs: Any) -> Any:
    raise NotImplementedError("NumPy has no functions of finance any more.")


def import_mxnet() -> Any:
    """Return the module `mxnet`; call it in a process of its own, for it changes `numpy`."""
    for name, value in {**REPLACED, **dict.fromkeys(FINANCE, _gone)}.items():
        if name not in vars(np):
            setattr(np, name, value)
    if sys.version_info >= (3, 12):
        distutils, version = ModuleType("distutils"), ModuleType("distutils.version")
        vars(version).update(StrictVersion=Version, LooseVersion=Version)
        sys.modules.setdefault("distutils", distutils)
        sys.modules.setdefault("distutils.version", version)
    return importlib.import_module("mxnet")
