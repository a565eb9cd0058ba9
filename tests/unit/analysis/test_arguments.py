"""Whatever takes a trace takes all that offers one."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from mxprof_nb import analysis
from mxprof_nb.analysis import Result
from mxprof_nb.errors import MissingDataError, TraceError
from mxprof_nb.trace import Trace
from tests.traces import dot_cell

FUNCTIONS = {
    name: function
    for name in analysis.__all__
    if inspect.isfunction(function := getattr(analysis, name))
    and next(iter(inspect.signature(function).parameters)) == "trace"
}
#: What a function needs beside the trace.
FURTHER: dict[str, dict[str, Any]] = {"memory_scope": {"arg": -1}}


class Offer:
    """An object of another package that offers its trace."""

    def __init__(self, trace: Trace) -> None:
        self.__mxprof_trace__ = trace


@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_analysis_takes_whatever_offers_a_trace(name: str):
    trace, function = dot_cell(), FUNCTIONS[name]
    assert answer(function, name, Offer(trace)) == answer(function, name, trace)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_analysis_says_that_it_needs_a_trace(name: str):
    function: Callable[..., Any] = FUNCTIONS[name]
    with pytest.raises(TraceError, match="A trace is needed"):
        function([], **FURTHER.get(name, {}))


def answer(function: Callable[..., Any], name: str, offered: Any) -> str:
    """Return what a function gives as text, or what it says that the trace lacks."""
    try:
        return repr(plain(function(offered, **FURTHER.get(name, {}))))
    except MissingDataError as missing:
        return str(missing)


def plain(found: Any) -> Any:
    """Return what a function gave in a form that shows all of it."""
    if isinstance(found, Result):
        return found.frame.to_dict(), found.notes
    return {key: plain(each) for key, each in found.items()} if isinstance(found, dict) else found
