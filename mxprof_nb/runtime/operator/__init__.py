"""`mx.operator`: operators that a program writes in Python.

A `CustomOp` computes, a `CustomOpProp` describes it, `register` gives it the name under which
``nd.Custom`` and ``sym.Custom`` call it. Its code runs on threads of its own, so it may wait for
arrays and call other operators, such of the same kind, too, up to 128 deep.
"""

from mxprof_nb.runtime.absent import no_such_part
from mxprof_nb.runtime.operator.custom_op import CustomOp, CustomOpProp
from mxprof_nb.runtime.operator.registered import get_all_registered_operators, register

__all__ = ["CustomOp", "CustomOpProp", "get_all_registered_operators", "register"]

#: Forerunners of `CustomOp`, which MXNet keeps for old programs, and what tells about C++.
ABSENT = frozenset(
    ["NDArrayOp", "NumpyOp", "OperatorArguments", "PythonOp", "get_operator_arguments"]
)


def __getattr__(name: str) -> object:
    raise no_such_part("operator", name, ABSENT, __all__)
