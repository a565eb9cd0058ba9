import gc
import weakref

from mxprof_nb.trace import Trace
from mxprof_nb.trace.remembering import remembered
from tests.traces import dot_cell


def test_a_function_of_a_trace_alone_is_worked_out_once_per_trace():
    asked: list[Trace] = []

    @remembered
    def length(trace: Trace, factor: int = 1) -> int:
        """Tell how long."""
        asked.append(trace)
        return len(trace) * factor

    first, second = dot_cell(), dot_cell()
    assert [length(first), length(first), length(second)] == [len(first)] * 3
    assert [id(trace) for trace in asked] == [id(first), id(second)]
    assert length(first, 2) == length(first, factor=2) == 2 * len(first)
    assert len(asked) == 4
    assert length.__doc__ == "Tell how long."


def test_what_is_remembered_keeps_no_trace_alive():
    length = remembered(len)
    trace = dot_cell()
    length(trace)
    gone = weakref.ref(trace)
    del trace
    gc.collect()
    assert gone() is None
