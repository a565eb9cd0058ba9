"""`NaiveEngine`: nothing is asynchronous, so failures are raised by the line that caused them."""

import numpy as np
import pytest

import mxprof_nb.runtime as mx
from mxprof_nb.errors import EngineError, OperatorError
from mxprof_nb.record import RECORDER, freeze
from mxprof_nb.runtime.engine import NaiveEngine, default_engine, get_type, set_type
from mxprof_nb.trace import Meta


@pytest.fixture
def naive():
    before = get_type()
    set_type("NaiveEngine")
    yield default_engine()
    set_type(before)


def test_values_are_those_of_the_threaded_engine(naive):
    assert isinstance(naive, NaiveEngine)
    x = mx.nd.arange(6).reshape((2, 3))
    x += 1
    x[0] = 7
    assert mx.nd.dot(x, x.T).asnumpy().tolist() == [[147, 105], [105, 77]]


def test_a_failure_is_raised_where_it_is_caused(naive):
    with pytest.raises(OperatorError, match="scale=-1"):
        mx.nd.random.normal(scale=-1)
    mx.nd.waitall()
    assert (mx.nd.ones(2) + 1).asnumpy().tolist() == [2, 2]


def test_a_failed_target_raises_when_it_is_used_and_can_be_overwritten(naive):
    target = mx.nd.ones((2,))
    with pytest.raises(OperatorError):
        target[:] = mx.nd.random.normal(scale=-1, shape=(2,))
    assert target.asnumpy().tolist() == [1, 1]  # it was never reached


def test_operators_lie_inside_the_calls_that_ran_them_and_nothing_waits(naive):
    recording = RECORDER.start()
    try:
        kept = mx.nd.diag(mx.nd.array(np.eye(3)))
        mx.nd.waitall()
    finally:
        recording.stop()
    trace = freeze(recording, Meta())
    frame = trace.frame().set_index("name")
    call = trace.frame().query("name == 'MXImperativeInvokeEx'").index[0]
    assert frame.loc["diag", "parent"] == call
    assert frame.loc["diag", "track_name"] == "MainThread"
    assert not trace.events.is_category("sync").any()
    assert kept.shape == (3,)


def test_memory_is_counted_and_given_back(naive):
    recording = RECORDER.start()
    try:
        kept = mx.nd.ones((4,))
        del kept
    finally:
        recording.stop()
    counters = freeze(recording, Meta()).frame("counters")
    assert counters[counters.name == "Memory: cpu/0"].value.tolist() == [16, 0]


@pytest.mark.parametrize("name", ["naive", "", "ThreadedEngines"])
def test_an_engine_type_that_is_none_is_refused_and_nothing_changes(name):
    before = default_engine()
    with pytest.raises(EngineError, match="MXNET_ENGINE_TYPE is one of ThreadedEnginePerDevice"):
        set_type(name)
    assert default_engine() is before
