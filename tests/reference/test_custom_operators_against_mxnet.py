"""Operators written in Python, run by real MXNet and by our runtime: values, gradients, names."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.custom_operator import PROGRAMS as PROFILED
from tests.custom_operator import profiled
from tests.integration.test_custom_operator_profiles import counts
from tests.reference.agreement import alike
from tests.reference.conftest import Runtimes

#: An operator whose parts are given by functions; words say how many inputs and results.
START = """
nd, autograd = mx.nd, mx.autograd
seen = []

def define(name, forward, backward=None, **methods):
    code = {"forward": forward, **({"backward": backward} if backward else {})}
    kind = type("Op", (mx.operator.CustomOp,), code)
    methods.setdefault("create_operator", lambda self, ctx, shapes, dtypes: kind())
    mx.operator.register(name)(type("Prop", (mx.operator.CustomOpProp,), methods))

def forward(self, is_train, req, in_data, out_data, aux):
    seen.append(["forward", int(is_train), list(req), len(in_data), len(out_data), len(aux)])
    self.kept = in_data[0] * 3
    for n, each in enumerate(out_data):
        self.assign(each, req[n], in_data[0] * in_data[-1] + n)

def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
    seen.append(["backward", list(req), len(out_grad), len(in_grad), len(aux)])
    for n, each in enumerate(in_grad):
        self.assign(each, req[n], out_grad[0] * (n + 1) + self.kept)

x = nd.array([1.0, 2.0, 3.0])
y = nd.array([4.0, 5.0, 6.0])
two = {"list_arguments": lambda self: ["a", "b"]}
"""

PROGRAMS = {
    "one input": """
define("one", forward, backward)
x.attach_grad()
with autograd.record():
    z = nd.Custom(x, op_type="one") * 2
z.backward()
show([z, x.grad])
""",
    "two inputs, one of them without a gradient": """
define("two", forward, backward, **two)
y.attach_grad()
with autograd.record():
    z = nd.Custom(x, y, op_type="two")
z.backward()
show([z, y.grad])
""",
    "a gradient that is added up": """
define("two", forward, backward, **two)
x.attach_grad("add")
y.attach_grad()
for _ in range(2):
    with autograd.record():
        z = nd.Custom(x, y, op_type="two")
    z.backward()
    nd.waitall()  # the next forward pass needs nothing of this backward pass
show([x.grad, y.grad])
""",
    "two results": """
define("pair", forward, backward, list_outputs=lambda self: ["p", "q"])
x.attach_grad()
with autograd.record():
    p, q = nd.Custom(x, op_type="pair")
    z = p + 2 * q
z.backward()
show([p, q, x.grad])
""",
    "words": """
def init(self, **words):
    mx.operator.CustomOpProp.__init__(self)
    seen.append(sorted(words.items()))

define("words", forward, __init__=init)
show([nd.Custom(x, op_type="words", one=1, two="b", three=(1, 2), four=None, five=2.5)])
""",
    "no inputs": """
def constant(self, is_train, req, in_data, out_data, aux):
    self.assign(out_data[0], req[0], 5)

define("constant", constant, list_arguments=lambda self: [],
       infer_shape=lambda self, shapes: ([], [(3,)], []),
       infer_type=lambda self, types: ([], [np.float32], []))
show([nd.Custom(op_type="constant")])
""",
    "auxiliary states": """
def counting(self, is_train, req, in_data, out_data, aux):
    aux[0][:] = aux[0] + 1
    self.assign(out_data[0], req[0], in_data[0] * aux[0])

define("counting", counting, list_auxiliary_states=lambda self: ["count"],
       infer_shape=lambda self, shapes: (shapes, [shapes[0]], [shapes[0]]))
count = nd.zeros(3)
for _ in range(3):
    z = nd.Custom(x, count, op_type="counting")
show([z, count])
""",
    "NumPy inside": """
def inside(self, is_train, req, in_data, out_data, aux):
    self.assign(out_data[0], req[0], nd.array(np.cumsum(in_data[0].asnumpy())))

define("inside", inside)
show([nd.Custom(x + 1, op_type="inside") * 2])
""",
    "one that calls another": """
def outer(self, is_train, req, in_data, out_data, aux):
    self.assign(out_data[0], req[0], nd.Custom(in_data[0], op_type="one") + 1)

define("one", forward)
define("outer", outer)
show([nd.Custom(x, op_type="outer")])
""",
    "a bound symbol": """
define("two", forward, backward, **two)
z = mx.sym.Custom(a=mx.sym.var("x"), b=mx.sym.var("y"), op_type="two", name="n") * 2
grads = [nd.zeros(3), nd.ones(3)]
bound = z.bind(mx.cpu(), {"x": x, "y": y}, grads, grad_req=["write", "add"])
bound.forward(is_train=True)
bound.backward(nd.ones(3))
show([z.list_arguments(), z.list_outputs()])
show([bound.outputs[0], *grads])
""",
}


@pytest.mark.parametrize("told", PROGRAMS)
def test_values_and_what_the_code_is_asked_agree(told: str, runtimes: Runtimes):
    program = f"{START}{PROGRAMS[told]}show(seen)\n"
    expected, found = runtimes.real().run(program), runtimes.ours().run(program)
    assert not expected.error, expected.message
    assert not found.error, found.message
    alike(found.values, expected.values, told)


@pytest.mark.parametrize("engine", ["", "NaiveEngine"])
@pytest.mark.parametrize("name", PROFILED)
def test_profiles_agree(name: str, engine: str, runtimes: Runtimes, tmp_path: Path):
    events = []
    # Processes of their own: MXNet's second file of profiles is damaged.
    environment = {"MXNET_PROFILE_OF": name} | ({"MXNET_ENGINE_TYPE": engine} if engine else {})
    for place, runtime in enumerate((runtimes.real(**environment), runtimes.ours(**environment))):
        file = tmp_path / f"{place}.json"
        program = profiled(PROFILED[name], str(file), profile_all=True, continuous_dump=False)
        done = runtime.run(program.replace("print(mx.profiler.dumps())\n", ""))
        assert not done.error, done.message
        events.append(json.loads(file.read_text())["traceEvents"])
    theirs, ours = events
    for phase in "BEbe":
        assert counts(ours, phase) == counts(theirs, phase)
