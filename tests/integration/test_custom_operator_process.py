"""Operators written in Python and the life of a process: exit, fork, interrupt."""

from __future__ import annotations

import pytest

from tests.integration.test_runtime_process import run

#: An operator whose code waits for what it queues; `nd` and `mx` are there, and `call`.
DEFINITION = """
import os, signal, sys, threading, time
import mxprof_nb.runtime as mx
nd = mx.nd

class Slow(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        time.sleep(0.02)
        self.assign(out_data[0], req[0], nd.array((in_data[0] + 1).asnumpy()))

@mx.operator.register("slow")
class SlowProp(mx.operator.CustomOpProp):
    def create_operator(self, ctx, shapes, dtypes):
        return Slow()

def call(x):
    return nd.Custom(x, op_type="slow")
"""

ENGINES = ({"MXNET_CPU_WORKER_NTHREADS": "1"}, {"MXNET_ENGINE_TYPE": "NaiveEngine"})


@pytest.mark.parametrize("environment", ENGINES)
def test_what_is_queued_when_a_program_ends_is_finished(environment):
    done = run(
        DEFINITION
        + """
class Prints(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        print(in_data[0].asscalar(), flush=True)

@mx.operator.register("prints")
class PrintsProp(mx.operator.CustomOpProp):
    def create_operator(self, ctx, shapes, dtypes):
        return Prints()

x = nd.zeros(1)
for _ in range(10):
    x = call(x)
nd.Custom(x, op_type="prints")
""",
        **environment,
    )
    assert (done.stdout, done.stderr) == ("10.0\n", "")


def test_an_error_that_nobody_asks_for_ends_a_program_in_silence():
    done = run(
        DEFINITION
        + """
Slow.forward = lambda self, **_: 1 // 0
y = call(nd.ones(2))
"""
    )
    assert (done.stdout, done.stderr) == ("", "")


@pytest.mark.parametrize("environment", ENGINES)
def test_both_sides_of_a_fork_go_on(environment):
    run(
        DEFINITION
        + """
import warnings
warnings.simplefilter("ignore")
x = call(nd.ones(2))
x.wait_to_read()
waiting = [call(x) for _ in range(5)]
child = os.fork()
try:
    assert call(call(x)).asnumpy().tolist() == [4, 4]
    assert [each.asnumpy()[0] for each in waiting] == [3] * 5
except BaseException as error:
    print(type(error), error, file=sys.stderr)
    os._exit(1)
if not child:
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
""",
        **environment,
    )


def test_code_may_fork():
    run(
        DEFINITION
        + """
import warnings
warnings.simplefilter("ignore")

def forward(self, is_train, req, in_data, out_data, aux):
    child = os.fork()
    if not child:
        os._exit(3)
    out_data[0][:] = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

Slow.forward = forward
assert call(nd.ones(2)).asnumpy().tolist() == [3, 3]
assert call(nd.ones(2)).asnumpy().tolist() == [3, 3]
"""
    )


@pytest.mark.parametrize("environment", ENGINES)
def test_an_interrupt_ends_a_wait_and_nothing_else(environment):
    done = run(
        DEFINITION
        + """
def interrupt():
    time.sleep(0.2)
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

Slow.forward, before = lambda self, **_: time.sleep(1), Slow.forward
threading.Thread(target=interrupt).start()
x = nd.ones(2)
try:
    call(x).wait_to_read()
except KeyboardInterrupt:
    print("interrupted")
Slow.forward = before
assert call(x).asnumpy().tolist() == [2, 2]
nd.waitall()
""",
        **environment,
    )
    assert done.stdout == "interrupted\n"


def test_interrupts_at_any_moment_leave_an_engine_that_goes_on():
    run(
        DEFINITION
        + """
def forward(self, is_train, req, in_data, out_data, aux):
    self.assign(out_data[0], req[0], in_data[0] + 1)

Slow.forward = forward
sys.setswitchinterval(1e-6)
main = threading.main_thread().ident
armed = over = False

def strike(*_):
    global armed
    if armed:
        armed = False
        raise KeyboardInterrupt

def interrupt():
    while not over:
        time.sleep(0.003)
        signal.pthread_kill(main, signal.SIGINT)

signal.signal(signal.SIGINT, strike)
threading.Thread(target=interrupt, daemon=True).start()
end, struck = time.monotonic() + 3, 0
while time.monotonic() < end:
    try:
        armed = True
        y = nd.ones(2)
        for _ in range(5):
            y = call(y)
        y.wait_to_read()
        armed = False
    except KeyboardInterrupt:
        struck += 1
    except mx.MXNetError:
        armed = False  # of what was interrupted
over = True
assert struck > 10, struck
try:
    nd.waitall()
except mx.MXNetError:
    pass
assert call(nd.ones(2)).asnumpy().tolist() == [2, 2]
"""
    )
