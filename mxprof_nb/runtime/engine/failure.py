"""`Failure`: why a value could not be computed, kept with every variable that needed it."""

from __future__ import annotations

import json
import traceback
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from mxprof_nb.errors import OperatorError
from mxprof_nb.record import RECORDER
from mxprof_nb.record.sites import describe_place
from mxprof_nb.runtime.engine.state import Operator

__all__ = ["Failure"]

#: Lines told of a function that failed.
MAX_FRAMES = 3
#: Characters of its message that a record keeps.
MAX_CHARS = 300


class Failure:
    """The first cause, and whether somebody has been told.

    One failure is shared by the variables of all dependants. Unlike MXNet, which clears it once
    raised and then hands out uninitialised memory, a value that was never computed raises
    whenever it is read; `waitall` reports each failure once.

    Attributes
    ----------
    operator : str
        Name of the operator that failed.
    shapes : tuple of tuple of int
        Shapes of its inputs.
    site : str
        File, line and text of the call that queued it, empty when unknown.
    cause : BaseException
        What its kernel raised, without tracebacks (which would keep the arrays alive).
    told : bool
        Whether a sync point has raised it.
    """

    __slots__ = ("cause", "operator", "shapes", "site", "told")

    def __init__(
        self, operator: str, shapes: tuple[tuple[int, ...], ...], site: str, cause: BaseException
    ) -> None:
        self.operator = operator
        self.shapes = shapes
        self.site = site
        self.cause = cause
        _drop_tracebacks(cause)
        self.told = False

    @classmethod
    def of(cls, operator: Operator, cause: BaseException) -> Failure:
        """Return the failure of one operator, whose record will tell of it, too."""
        name = RECORDER.labels[operator.label].name if operator.label >= 0 else "operator"
        name = name.removesuffix("::pure_python")
        try:
            site = _described(operator.place)
            inside = _where(cause)
        except Exception:  # sources of text, and errors, are anybody's code
            site = inside = ""
        if RECORDER.on and operator.label >= 0:
            operator.label = _label_of_failed(operator.label, cause)
        return cls(name, operator.shapes, site + inside, cause)

    def error(self) -> OperatorError:
        """Return a new error for it; raising one object again and again grows its traceback."""
        self.told = True
        error = OperatorError.failed(self.operator, self.shapes, self.site, self.cause)
        error.__cause__ = self.cause
        return error


def _label_of_failed(label: int, cause: BaseException) -> int:
    """Return a label that also tells why an operator failed."""
    try:
        said = str(cause)
    except Exception:  # an error may have methods of its own of any kind
        said = ""
    told = f"{type(cause).__name__}: {said}" if said else type(cause).__name__
    raw = json.dumps({"error": told[:MAX_CHARS]})
    return RECORDER.labels.number(replace(RECORDER.labels[label], raw=raw))


#: A line that fails in a loop is looked up once.
_described = lru_cache(maxsize=256)(describe_place)

_OURS = str(Path(__file__).parents[2])


def _where(error: BaseException) -> str:
    """Return the lines of the program's own functions that an error passed, innermost last."""
    frames = traceback.extract_tb(_base(error, "__traceback__"))
    own = [frame for frame in frames if not frame.filename.startswith(_OURS)]
    told = [f"\n  in {f.name}, line {f.lineno}: {f.line}" for f in own if f.line]
    return "".join(told[-MAX_FRAMES:])


def _drop_tracebacks(error: BaseException) -> None:
    """Let go of the frames of an error and of those that led to it: they hold arrays."""
    todo: list[BaseException | None] = [error]
    seen: set[int] = set()
    while todo:
        link = todo.pop()
        if link is not None and id(link) not in seen:
            seen.add(id(link))
            # By way of the base class: an error may have methods of its own of any kind.
            BaseException.with_traceback(link, None)
            todo += [_base(link, "__cause__"), _base(link, "__context__")]


def _base(error: BaseException, name: str) -> Any:
    """Return an attribute as every error has it, whatever its class makes of the name."""
    return vars(BaseException)[name].__get__(error)
