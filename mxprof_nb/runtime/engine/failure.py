"""`Failure`: why a value could not be computed, kept with every variable that needed it."""

from __future__ import annotations

from mxprof_nb.errors import OperatorError
from mxprof_nb.record import RECORDER
from mxprof_nb.record.sites import describe_place
from mxprof_nb.runtime.engine.state import Operator

__all__ = ["Failure"]


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
        link: BaseException | None = cause
        while link is not None and link.__traceback__ is not None:
            link = link.with_traceback(None).__context__
        self.told = False

    @classmethod
    def of(cls, operator: Operator, cause: BaseException) -> Failure:
        """Return the failure of one operator."""
        name = RECORDER.labels[operator.label].name if operator.label >= 0 else "operator"
        return cls(name, operator.shapes, describe_place(operator.place), cause)

    def error(self) -> OperatorError:
        """Return a new error for it; raising one object again and again grows its traceback."""
        self.told = True
        error = OperatorError.failed(self.operator, self.shapes, self.site, self.cause)
        error.__cause__ = self.cause
        return error
