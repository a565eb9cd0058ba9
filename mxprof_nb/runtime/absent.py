"""What MXNet 1.9.1 has at its top level and the embedded runtime does not, by name."""

from __future__ import annotations

import sys
from collections.abc import Container, Sequence

from mxprof_nb.errors import MissingModuleError, close_match

__all__ = ["ABSENT", "no_such_name", "no_such_part"]

#: Modules under all their names, classes and functions; MXNet's own workings are left out.
ABSENT = frozenset(
    [
        "callback",
        "contrib",
        "cpu_pinned",
        "error",
        "image",
        "img",
        "io",
        "is_np_array",
        "is_np_shape",
        "kv",
        "kvstore",
        "library",
        "log",
        "mod",
        "model",
        "module",
        "mon",
        "monitor",
        "notebook",
        "np",
        "np_array",
        "np_shape",
        "npx",
        "numpy",
        "numpy_extension",
        "operator",
        "recordio",
        "rnn",
        "rtc",
        "runtime",
        "set_np_shape",
        "test_utils",
        "th",
        "torch",
        "tvmop",
        "use_np",
        "use_np_array",
        "use_np_shape",
        "util",
        "visualization",
        "viz",
    ]
)


def no_such_name(name: str, known: Sequence[str]) -> AttributeError | ImportError:
    """Return the error for a name that the runtime does not have.

    An AttributeError, so that `hasattr` says no. Where ``from ... import`` asks, that would end in
    a message of Python's which says nothing; there it is an ImportError.
    """
    if name not in ABSENT:
        return AttributeError(f"mxprof_nb.runtime has no {name!r}.{close_match(name, known)}")
    return _absent(f"mx.{name}", known)


def no_such_part(
    module: str, name: str, absent: Container[str], known: Sequence[str]
) -> AttributeError | ImportError:
    """Return the same for a name that a module of the runtime does not have.

    Parameters
    ----------
    module : str
        Its name in `mx`.
    name : str
    absent : container of str
        What MXNet's module of that name has besides.
    known : sequence of str
        What there is.
    """
    if name not in absent:
        return AttributeError(f"mx.{module} has no {name!r}.{close_match(name, known)}")
    return _absent(f"mx.{module}.{name}", known)


def _absent(name: str, known: Sequence[str]) -> AttributeError | ImportError:
    told = (
        f"{name}: MXNet 1.9.1 has it, the embedded runtime of mxprof_nb does not. "
        f"There are {', '.join(known)}."
    )
    asking = sys._getframe(3).f_code  # of whom the module's `__getattr__` was asked
    if asking.co_filename == "<frozen importlib._bootstrap>":
        return MissingModuleError(told)
    return AttributeError(told)
