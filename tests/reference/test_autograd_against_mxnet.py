"""Gradients through recorded programs: real MXNet's autograd against ours."""

from __future__ import annotations

import random

import pytest

from tests.reference.agreement import alike, operators
from tests.reference.conftest import Runtimes

#: What each program starts with: two variables, one that sums its gradients, and a constant.
START = """
nd, autograd = mx.nd, mx.autograd
x = nd.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]])
w = nd.array([[1.0, 2.0, -0.5], [0.75, -1.25, 3.0]])
c = nd.array([[2.0, -1.0, 0.5], [1.0, 3.0, -2.0]])
x.attach_grad()
w.attach_grad("add")
"""

#: Bodies of ``with autograd.record():`` that leave a head in y.
RECORDED = {
    "a reshaped view": "y = x.reshape((3, 2)) * 2",
    "a row": "y = x[1] * 2",
    "rows": "y = x[0:1] * w[1:2]",
    "a column": "y = x[:, 1] * w[:, 2]",
    "a part side by side": "y = x[1, 1:] * 2",
    "a step": "y = x[:, ::2] * 3",
    "one element": "y = x[1][2] * w[0, 0]",
    "positions": "y = x[[1, 0, 1]] * 2",
    "an array of positions": "y = nd.take(x, nd.array([1, 1, 0])) * 2",
    "a view of a view": "y = (x * w).reshape((-1,))[1:4].reshape((3, 1)) * 2",
    "an array used three times": "y = x * x + x",
    "a product with itself, added up": "y = w * w",
    "one added up and one not": "y = nd.dot(x, w.T) + (x - w).sum()",
    "broadcasting": "y = x[0] * w + x[:, 0:1]",
    "a chain": "y = ((x * 2 + w).exp() * c).mean()",
    "a sum over an axis": "y = (x.mean() + x.sum(axis=0)).max()",
    "the first part of three": "y = nd.split(x, 3, axis=1)[0] * 2",
    "two parts of three": "a, b, d = nd.split(x, 3, axis=1); y = a * 2 + d",
    "all parts": "a, b, d = nd.split(x, 3, axis=1); y = nd.concat(d * d, a, b * a, dim=1)",
    "sorted": "y = nd.topk(x, axis=1, ret_typ='value', k=2) * 2",
    "blocked": "y = nd.BlockGrad(x) * w",
    "wholly blocked": "y = nd.BlockGrad(x) * 2",
    "positions of the largest": "y = nd.argmax(x, axis=1) * 2",
    "a comparison": "y = (x > 0.3) * w",
    "where": "y = nd.where(x > w, x * 2, w * 3)",
    "the head itself": "y = x",
    "a copy": "y = x.copy() * w",
    "a copy into": "y = nd.zeros((2, 3)); x.copyto(y); y = y * w",
    "all of another": "z = nd.zeros((2, 3)); z[:] = x; y = z * w",
    "out": "z = nd.zeros((2, 3)); nd.broadcast_mul(x, w, out=z); y = z * x",
    "another type": "y = x.astype('float64') * 2",
    "another device": "y = (x.as_in_context(mx.cpu(1)) * 2).as_in_context(mx.cpu(0)) * w",
    "detached": "y = (x * 2).detach() * x",
    "a variable inside": "u = x * 2; u.attach_grad(); y = u * u; show(u.grad)",
    "paused": "u = x * 2\nwith autograd.pause():\n    v = u * 3\ny = u * v",
    "softmax": "y = nd.softmax(x) * w",
    "log_softmax and pick": "y = nd.pick(nd.log_softmax(x), nd.array([1, 2])).mean()",
    "SoftmaxOutput": "y = nd.SoftmaxOutput(x * w, nd.array([1, 2]))",
    "LinearRegressionOutput": "y = nd.LinearRegressionOutput(x * w, c)",
    "FullyConnected": "y = nd.FullyConnected(x, w, nd.ones((2,)), num_hidden=2)",
    "FullyConnected without bias": "y = nd.FullyConnected(x, w, num_hidden=2, no_bias=True)",
    "Convolution": "y = nd.Convolution(x.reshape((1, 1, 2, 3)), w[:, :2].reshape((1, 1, 2, 2)), "
    "nd.ones((1,)), kernel=(2, 2), num_filter=1)",
    "Pooling": "y = nd.Pooling(nd.reshape(x, (1, 1, 2, 3)), kernel=(2, 2)) * 2",
    "Activation": "y = nd.Activation(x * w, act_type='tanh') + nd.relu(x)",
    "LeakyReLU": "y = nd.LeakyReLU(x, slope=0.1) * w",
    "prelu": "y = nd.LeakyReLU(x, w[0, 0:1], act_type='prelu')",
    "BatchNorm": "m, v = nd.zeros((3,)), nd.ones((3,)); y = nd.BatchNorm(x, w[0], w[1], m, v, "
    "fix_gamma=False) * c",
    "LayerNorm": "y = nd.LayerNorm(x, w[0], w[1]) * c",
    "Dropout that drops nothing": "y = nd.Dropout(x, p=0.0) * w",
    "Embedding": "y = nd.Embedding(nd.array([1, 0, 1]), w, input_dim=2, output_dim=3)",
    "Flatten": "y = nd.Flatten(x.expand_dims(0)) * 2",
    "add_n": "y = nd.add_n(x, w, x)",
    "clip": "y = nd.clip(x, -0.9, 1.0) * w",
    "norm": "y = x.norm() + w.norm(axis=1).sum()",
    "stack": "y = nd.stack(x, w, x * w).sum(axis=0)",
    "transposed": "y = nd.dot(x.T, w) * nd.dot(w, x, transpose_a=True)",
    "batch_dot": "y = nd.batch_dot(x.expand_dims(0), w.expand_dims(0), transpose_b=True)",
}

#: Whole programs that differ in how they go back.
PROGRAMS = {
    "a head gradient": """
with autograd.record():
    y = x * w
y.backward(c)
show([x.grad, w.grad])
""",
    "twice, kept": """
with autograd.record():
    u = x * 2
    y, z = u * w, u * u
y.backward(retain_graph=True)
show([x.grad, w.grad])
z.backward()
show([x.grad, w.grad])
""",
    "several heads": """
with autograd.record():
    y, z = x * 2, x * w
autograd.backward([y, z], [None, c])
show([x.grad, w.grad])
""",
    "two rounds": """
for round in range(2):
    with autograd.record():
        y = w * w * x
    y.backward()
    w -= 0.1 * w.grad
show([w, x.grad, w.grad])
""",
    "within the scope": """
with autograd.record():
    y = x * 2
    y.backward()
    show([autograd.is_recording(), x.grad])
    z = x * 3
    z.backward()
    show(x.grad)
""",
    "grad": """
with autograd.record():
    y = x * w
show(autograd.grad(y, [w, x], c))
show([x.grad, w.grad])
""",
    "no gradient wanted of one": """
x.attach_grad("null")
with autograd.record():
    y = x * w
y.backward()
show([x.grad, w.grad])
""",
    "marked": """
v, g = nd.ones((2,)), nd.ones((2,))
autograd.mark_variables([v], [g], ["add"])
with autograd.record():
    y = v * 2
y.backward()
show([g, v.grad])
""",
    "modes": """
show([autograd.is_recording(), autograd.is_training()])
with autograd.record(train_mode=False):
    show([autograd.is_recording(), autograd.is_training()])
    with autograd.train_mode():
        show([autograd.is_recording(), autograd.is_training()])
    with autograd.pause(train_mode=True):
        show([autograd.is_recording(), autograd.is_training()])
show([autograd.set_recording(True), autograd.set_training(True)])
with autograd.predict_mode():
    show([autograd.is_recording(), autograd.is_training()])
show([autograd.set_recording(False), autograd.set_training(False)])
""",
    "a function": """
class Scaled(autograd.Function):
    def forward(self, a, b):
        self.save_for_backward(a)
        return a * b, a + b
    def backward(self, first, second):
        a, = self.saved_tensors
        return first * a, second
w.attach_grad()  # MXNet loses what a function would add
with autograd.record():
    p, q = Scaled()(x, w)
    y = p * 2 + q
y.backward()
show([p, q, x.grad, w.grad])
""",
    "gradients of gradients": """
with autograd.record():
    y = x.sin()
    first = autograd.grad(y, x, create_graph=True)[0]
    z = first * first
z.backward()
show([y, first, x.grad])
""",
    "what is no variable has no gradient": """
with autograd.record():
    y = x * 2
show([y.grad, c.grad, y.detach().grad])
""",
    "a variable that was written to before going back": """
with autograd.record():
    y = x * x
x[:] = 0
y.backward()
show(x.grad)
""",
    "moving averages": """
gamma, beta, mean, variance = nd.ones((3,)), nd.zeros((3,)), nd.zeros((3,)), nd.ones((3,))
with autograd.record():
    y = nd.BatchNorm(x, gamma, beta, mean, variance)
y.backward(c)
show([y, mean, variance, x.grad])
""",
}

#: Programs that MXNet refuses.
REFUSED = {
    "not recorded": "y = x * 2\ny.backward()",
    "twice": "with autograd.record():\n    y = x * 2\ny.backward()\ny.backward()",
    "no variable": "with autograd.record():\n    y = c * 2\ny.backward()",
    "a used part": "with autograd.record():\n    u = x * 2\n    y, z = u * 2, u * 3\n"
    "y.backward()\nz.backward()",
    "in place": "with autograd.record():\n    y = x * 2\n    y += 1",
    "in place on a constant": "with autograd.record():\n    y = c * x\n    c += 1",
    "in place on a variable": "with autograd.record():\n    x[:] = 1",
    "a part in place": "with autograd.record():\n    x[0] = 1",
    "a sum over what is not recorded": "z = c * 2\nwith autograd.record():\n    z += x",
    "a product over what is not recorded": "z = c * 2\nwith autograd.record():\n    z *= x",
    "a part of what is not recorded": "with autograd.record():\n    c[0] = x[0]",
    "a view in place": "with autograd.record():\n    v = x[0]\n    v[:] = 3",
    "out": "with autograd.record():\n    y = x * 2\n    nd.exp(x, out=y)",
    "grad of what is no variable": "with autograd.record():\n    y = c * x\nautograd.grad(y, c)",
    "grad of what it does not depend on": "with autograd.record():\n    y = x * 2\n"
    "autograd.grad(y, [x, w])",
    "a view made before": "v = x[0]\nwith autograd.record():\n    y = v * 2\ny.backward()",
    "part of a gradient": "z = nd.zeros((2, 3))\nwith autograd.record():\n    z[0] = x[0]\n"
    "    y = z * 2\ny.backward()",
}


def agree(runtimes: Runtimes, program: str) -> None:
    expected, found = runtimes.real().run(START + program), runtimes.ours().run(START + program)
    assert not expected.error, f"{program}\n{expected.message}"
    assert not found.error, f"{program}\n{found.message}"
    alike(found.values, expected.values, program)


@pytest.mark.parametrize("told", RECORDED)
def test_gradients_agree_for(told, runtimes):
    body = "".join(f"    {line}\n" for line in RECORDED[told].splitlines())
    agree(runtimes, f"with autograd.record():\n{body}y.backward()\nshow([y, x.grad, w.grad])\n")


@pytest.mark.parametrize("told", PROGRAMS)
def test_programs_agree_with(told, runtimes):
    agree(runtimes, PROGRAMS[told])


@pytest.mark.parametrize("told", REFUSED)
def test_both_refuse(told, runtimes):
    expected, found = (
        runtime.run(START + REFUSED[told]) for runtime in (runtimes.real(), runtimes.ours())
    )
    assert "MXNetError" in expected.error, expected
    assert found.error[0] == "GradientError", found
    assert "MXNetError" in found.error


#: What random programs consist of: each makes an array of the shape of its arguments.
CHOICES = (
    # Without BlockGrad: MXNet's process ends when it blocks the gradient of certain products.
    "{a} + {b}",
    "{a} - {b}",
    "{a} * {b}",
    "{a} / ({b} * {b} + 1)",
    "{a} * 2 - 1",
    "1 - {a}",
    "{a}.tanh()",
    "({a} * 0.1).exp()",
    "nd.sigmoid({a})",
    "nd.relu({a})",
    "{a}.reshape((3, 2)).reshape((2, 3))",
    "{a}.T.reshape((2, 3))",
    "nd.dot(nd.dot({a}, {b}.T) * 0.1, {b})",
    "{a}[0] + {b}",
    "{a} * {b}[:, 1:2]",
    "nd.concat({a}[:, 1:], {b}[:, :1], dim=1)",
    "nd.broadcast_add({a}, {b}.mean(axis=1, keepdims=True))",
    "nd.stack({a}, {b}).max(axis=0)",
    "nd.softmax({a})",
    "nd.LayerNorm({a}, {b}[0], {b}[1])",
    "{a} * {b}.sum()",
    "{a}.copy()",
    "nd.where({a} > {b}, {a}, {b} * 2)",
    "nd.slice_axis(nd.concat({a}, {b}, dim=0), axis=0, begin=1, end=3)",
    "{a}[[1, 0]]",
    "{a}.swapaxes(0, 1).flatten().reshape((2, 3))",
    "nd.add_n({a}, {b}, {a})",
    "nd.square({a} * 0.5)",
    "nd.clip({a}, -1.5, 1.5)",
    "sum(nd.split({a}, 3, axis=1)) * {b}",
)


def program(seed: int) -> str:
    """Return a program that records, and goes back once or twice."""
    draw = random.Random(seed)
    names = ["x", "w", "c"]
    lines = [f"x.attach_grad({draw.choice(['write', 'add'])!r})"]
    for _ in range(draw.choice([1, 2])):
        lines.append("with autograd.record():")
        for _ in range(draw.randint(2, 9)):
            made = f"v{len(names)}"
            text = draw.choice(CHOICES).format(a=draw.choice(names), b=draw.choice(names))
            lines.append(f"    {made} = {text}")
            names.append(made)
        lines.append(f"    y = {names[-1]} + x * w")
        lines.append(draw.choice(["y.backward()", "y.backward(c)", "y.sum().backward()"]))
        if lines[-1].startswith("y.sum"):
            lines[-1:] = ["    z = y.sum()", "z.backward()"]
        lines.append("show([y, x.grad, w.grad])")
        names[3:] = []
    return "\n".join(lines)


def test_random_programs_agree(runtimes):
    programs = [program(seed) for seed in range(150)]
    real = runtimes.real().runs([START + each for each in programs])
    ours = runtimes.ours().runs([START + each for each in programs])
    for text, expected, found in zip(programs, real, ours, strict=True):
        assert not expected.error, f"{text}\n{expected.message}"
        assert not found.error, f"{text}\n{found.message}"
        alike(found.values, expected.values, text, tolerance=1e-4)


# What profiles show

#: Runs a body as `test_gradients_agree_for` does, and shows the profiler's table.
PROFILED = """
mx.profiler.set_config(profile_all=True, aggregate_stats=True, filename={file!r})
mx.nd.waitall()
mx.profiler.set_state("run")
with autograd.record():
{body}
y.backward()
mx.nd.waitall()
mx.profiler.set_state("stop")
show(mx.profiler.dumps(reset=True))
"""

#: How many more of some operators MXNet runs.
MORE: dict[str, dict[str, int]] = {
    # Its indexing takes other ways to the same views.
    "a part side by side": {"_backward_reshape": 1},
    "one element": {"_backward_slice": 1, "_backward_reshape": -1},
    "positions": {"_backward_reshape": -1, "broadcast_to": 2, "stack": 1},
    "prelu": {"_backward_reshape": 1},
    # Its Pooling has a second result, a workspace, whose gradient is zeros.
    "Pooling": {"_zeros_without_dtype": 1},
    # One operator for each input.
    "add_n": {"_copy": 2},
    "batch_dot": {"batch_dot": 1},
}


@pytest.mark.parametrize("told", RECORDED)
def test_the_same_operators_run_for(told, runtimes, tmp_path):
    body = "\n".join(f"    {line}" for line in RECORDED[told].splitlines())
    found = []
    for name, runtime in (("real", runtimes.real()), ("ours", runtimes.ours())):
        text = PROFILED.format(body=body, file=str(tmp_path / f"{name}.json"))
        outcome = runtime.run(START + text)
        assert not outcome.error, outcome.message
        found.append(operators(outcome.values[-1]))
    real, ours = found
    names = sorted(real.keys() | ours.keys())
    more = {name: real.get(name, 0) - ours.get(name, 0) for name in names}
    assert {name: count for name, count in more.items() if count} == MORE.get(told, {})
