"""What fails where, in the program whose outcome real MXNet 1.9.1 was asked for."""

from __future__ import annotations

import builtins
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import mxprof_nb.runtime as mx
from mxprof_nb.errors import DeferredInitializationError
from mxprof_nb.runtime.gluon import nn
from tests.unit.runtime.test_custom_operators import define

nd, autograd = mx.nd, mx.autograd

#: Reads that fail again here, where MXNet has cleared the failure and gives what lies in memory.
FAILS_AGAIN = {
    "wait_to_read 2nd",
    "asnumpy 2nd",
    "dependent y.asnumpy",
    "x.asnumpy",
    "x after waitall",
    "o.asnumpy",
}

#: Functions are Python's here, and say so.
OTHERWISE = {"unknown kw": TypeError}

Outcome = tuple[str, BaseException | None]


class Transcript:
    """Names of steps, and the errors that they raised."""

    def __init__(self) -> None:
        self.steps: list[Outcome] = []

    def tell(self, name: str, step: Callable[[], Any]) -> None:
        try:
            step()
        except Exception as error:
            self.steps.append((name, error))
        else:
            self.steps.append((name, None))


def bad(out: Any = None) -> Any:
    """Return an array that a worker cannot compute: the matrix is not positive."""
    return nd.linalg.potrf(nd.array([[-1.0]]), out=out)


def reads(t: Transcript) -> None:
    """Read values that failed: only workers can leave such behind."""
    x = bad()
    t.tell("wait_to_read", x.wait_to_read)
    t.tell("wait_to_read 2nd", x.wait_to_read)
    t.tell("waitall after wait_to_read", nd.waitall)
    t.tell("waitall 2nd", nd.waitall)
    x = bad()
    t.tell("asnumpy", x.asnumpy)
    t.tell("asnumpy 2nd", x.asnumpy)
    x = bad()
    y = x + 1
    z = y * 2
    t.tell("dependent z.asnumpy", z.asnumpy)
    t.tell("dependent y.asnumpy", y.asnumpy)
    t.tell("x.asnumpy", x.asnumpy)
    t.tell("waitall", nd.waitall)
    x, z = bad(), nd.ones((2, 2)) * 3
    t.tell("independent z ok", z.asnumpy)
    t.tell("waitall", nd.waitall)
    t.tell("x after waitall", x.asnumpy)
    x, y = bad(), bad()
    t.tell("waitall two failures", nd.waitall)
    t.tell("second waitall", nd.waitall)
    for name, step in (("asscalar", lambda: bad().asscalar()), ("print repr", lambda: repr(bad()))):
        t.tell(name, step)
        t.tell("waitall", nd.waitall)
    o = nd.zeros((1, 1))
    bad(out=o)
    t.tell("out=", o.asnumpy)
    t.tell("o.asnumpy", o.asnumpy)
    t.tell("waitall", nd.waitall)
    o[:] = 5
    t.tell("overwritten", o.asnumpy)


def refusals(t: Transcript) -> None:
    """Do what is wrong as it stands."""
    a, b = nd.ones((2, 3)), nd.ones((3, 2))
    unknown: Any = {"bogus": 1}
    t.tell("shape mismatch dot", lambda: nd.dot(a, a))
    t.tell("elemwise shape", lambda: nd.elemwise_add(a, b))
    t.tell("bcast shape", lambda: a + nd.ones(4))
    t.tell("unknown kw", lambda: nd.sum(a, **unknown))
    t.tell("reshape bad", lambda: a.reshape((4, 4)))
    t.tell("asscalar non-scalar", a.asscalar)
    t.tell("bool multi", lambda: bool(a))
    t.tell("index out of range", lambda: a[5])
    t.tell("backward outside record", lambda: (a * 2).backward())
    x = nd.ones(2)
    x.attach_grad()
    with autograd.record():
        y = x * 2
    y.backward()
    t.tell("backward twice", y.backward)

    def in_place() -> None:
        with autograd.record():
            z = x * 2
            z += 1

    t.tell("in-place on recorded", in_place)
    unset, deferred = nn.Dense(3, in_units=2), nn.Dense(3)
    t.tell("uninitialized", unset.weight.data)
    deferred.initialize()
    t.tell("deferred data", deferred.weight.data)


def custom(t: Transcript) -> None:
    """Raise inside of an operator written in Python."""

    def forward(self: Any, **_: Any) -> None:
        raise ValueError("boom from custom op")

    define("fails", forward)
    t.tell("custom raise", lambda: nd.Custom(nd.ones(2), op_type="fails").asnumpy())
    t.tell("waitall", nd.waitall)
    t.tell("unregistered custom", lambda: nd.Custom(nd.ones(2), op_type="nope"))


@pytest.fixture(params=["threaded", "naive"])
def kind(request: pytest.FixtureRequest) -> Iterator[str]:
    before = mx.engine.get_type()
    if request.param == "naive":
        mx.engine.set_type("NaiveEngine")
    yield request.param
    mx.engine.set_type(before)


def class_of(name: str) -> type[BaseException]:
    last = name.rpartition(".")[2]
    known = {
        "MXNetError": mx.MXNetError,
        "DeferredInitializationError": DeferredInitializationError,
    }
    found: type[BaseException] = known.get(last) or getattr(builtins, last)
    return found


def test_each_step_ends_as_in_mxnet(kind, shared_dir: Path):
    t = Transcript()
    t.tell("create bad op", lambda: bad().wait_to_read())
    if kind == "threaded":
        reads(t)
    refusals(t)
    custom(t)
    golden = (shared_dir / "golden/mxnet/exc" / f"{kind}.txt").read_text()
    told = re.findall(r"^(\w[^>\n]*?) -> (\S+)", golden, re.MULTILINE)
    assert [name for name, _ in t.steps] == [name for name, _ in told]
    for (name, error), (_, outcome) in zip(t.steps, told, strict=True):
        if name in FAILS_AGAIN:
            assert outcome == "OK"
            assert isinstance(error, mx.MXNetError)
        elif name in OTHERWISE:
            assert type(error) is OTHERWISE[name]
        elif outcome == "OK":
            assert error is None, name
        else:
            assert isinstance(error, class_of(outcome)), name


def test_the_message_of_the_code_is_in_the_error_unlike_in_mxnet(kind, shared_dir: Path):
    t = Transcript()
    custom(t)
    assert "boom from custom op" in str(t.steps[0][1])
    golden = (shared_dir / "golden/mxnet/exc" / f"{kind}.txt").read_text()
    (told,) = re.findall(r"^custom raise -> .*", golden, re.MULTILINE)
    assert "boom" not in told
