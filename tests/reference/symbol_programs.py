"""Programs that make symbols, for real MXNet and for our runtime.

Each is an expression; ``v`` holds eight variables called ``a`` to ``h``.
"""

from __future__ import annotations

from collections.abc import Iterator

from mxprof_nb.runtime import symbol
from mxprof_nb.runtime.graph.functions import ALIASES, FUNCTIONS
from mxprof_nb.runtime.graph.operators import Operator, operator_of

__all__ = ["EXPRESSIONS", "NETWORKS", "calls_of_all_operators", "made"]

#: What shows everything about a symbol that is known before it runs.
SHOW = """
with mx.name.NameManager():
    v = [mx.sym.var(name) for name in "abcdefgh"]
    s = {}
show(s.tojson())
show([s.list_arguments(), s.list_outputs(), s.list_auxiliary_states(), s.list_inputs()])
show(s.get_internals().list_outputs())
show(sorted((name, sorted(attrs.items())) for name, attrs in s.attr_dict().items()))
show([repr(s), s.name, len(s)])
"""


def made(expression: str) -> str:
    """Return the program that makes a symbol and shows it."""
    return SHOW.format(expression)


EXPRESSIONS = """
mx.sym.LeakyReLU(v[0], act_type='prelu', name='p')
mx.sym.LeakyReLU(v[0], v[1], act_type='prelu')
mx.sym.topk(v[0], k=2, ret_typ='value')
mx.sym.topk(v[0], k=2, ret_typ='indices')
mx.sym.topk(v[0], k=2, ret_typ='both')
mx.sym.topk(v[0], k=2, ret_typ='mask', axis=None)
mx.sym.BatchNorm(v[0], output_mean_var=True, name='bn')
mx.sym.LayerNorm(v[0], output_mean_var=True)
mx.sym.GroupNorm(v[0], num_groups=2, output_mean_var=True)
mx.sym.split(v[0], num_outputs=1)
mx.sym.split_v2(v[0], 3)
mx.sym.split_v2(v[0], (1, 3), axis=1, squeeze_axis=False)
mx.sym.Convolution(v[0], kernel=(3, 3), num_filter=8, no_bias=True, pad=[1, 1], name='c')
mx.sym.Convolution(v[0], kernel=(3, 3), num_filter=8, layout='NCHW', cudnn_off=False)
mx.sym.Deconvolution(v[0], kernel=(2, 2), num_filter=8, no_bias=False)
mx.sym.softmax(v[0], v[1], use_length=True)
mx.sym.softmax(v[0], temperature=2.0)
mx.sym.softmax(v[0], dtype='float64')
mx.sym.sum(v[0], axis=(0, 1), keepdims=True)
mx.sym.sum(v[0], 1)
mx.sym.sum(v[0], axis=None)
mx.sym.mean(v[0], axis=-1, exclude=1)
mx.sym.clip(v[0], 0, 6)
mx.sym.Concat(v[0], v[1], v[2], dim=-1, name='cat')
mx.sym.concat(*v[:3], dim=0)
mx.sym.stack(v[0], v[1], axis=1)
mx.sym.add_n(*v[:3])
mx.sym.ElementWiseSum(*v[:2])
mx.sym.Dropout(v[0], p=0.3)
mx.sym.Pooling(v[0], kernel=(2, 2), stride=(2, 2), pool_type='avg')
mx.sym.Pooling(v[0], global_pool=True, kernel=(1, 1))
mx.sym.transpose(v[0], axes=(1, 0))
mx.sym.reshape(v[0], shape=(-1, 0))
mx.sym.slice(v[0], begin=(0, None), end=(1, 2))
mx.sym.slice_axis(v[0], axis=1, begin=0, end=None)
mx.sym.Embedding(v[0], input_dim=3, output_dim=4, dtype='float16')
mx.sym.one_hot(v[0], 4, on_value=2)
mx.sym.cast(v[0], dtype=np.float16)
mx.sym.zeros((2, 3))
mx.sym.zeros(3, dtype='int32', name='z')
mx.sym.ones((2,))
mx.sym.full((2, 3), 7)
mx.sym.eye(3, 4, 1)
mx.sym.arange(2, 10, 2, repeat=2)
mx.sym.arange(5)
mx.sym.linspace(0, 1, 5)
mx.sym.random.uniform(0, 2, shape=(2, 3))
mx.sym.random.normal(v[0], v[1], shape=(2,))
mx.sym.random.randint(0, 5, shape=(2,))
mx.sym.random.gamma(2, 3, shape=(2,), dtype='float64')
mx.sym.random.exponential(2.0, shape=(2,))
mx.sym.random.poisson(2.0, shape=(2,))
mx.sym.random.negative_binomial(2, 0.5, shape=(2,))
mx.sym.random.multinomial(v[0])
mx.sym.random.multinomial(v[0], shape=3, get_prob=False)
mx.sym.random.shuffle(v[0])
mx.sym.random.randn(2, 3)
mx.sym.random.uniform_like(v[0], low=1)
mx.sym.random.normal_like(v[0])
mx.sym.normal(0, 1, shape=(2,))
mx.sym.linalg.gemm2(v[0], v[1], transpose_b=True, alpha=2.0)
mx.sym.maximum(v[0], v[1])
mx.sym.maximum(v[0], 2)
mx.sym.maximum(2, v[0])
mx.sym.minimum(v[0], 2.5)
mx.sym.power(2, v[0])
mx.sym.power(v[0], v[1])
mx.sym.pow(v[0], 2)
mx.sym.hypot(v[0], 3)
mx.sym.hypot(v[0], v[1])
v[0] + v[1]
v[0] - 2
2 - v[0]
v[0] * v[1] / v[2]
v[0] % 3
3 % v[0]
v[0] % v[1]
v[0] ** v[1]
2 ** v[0]
2 / v[0]
-v[0]
abs(v[0])
v[0] == v[1]
v[0] != 2
v[0] > v[1]
v[0] >= 2
v[0] < v[1]
v[0] <= 2
2 > v[0]
v[0] + np.float32(2)
v[0].reshape((2, 3))
v[0].reshape(shape=(2, -1))
v[0].sum(axis=0).exp().relu()
v[0].astype('float16')
v[0].split(2, axis=0)
v[0].split_v2(2)
v[0].flatten()
v[0].squeeze(axis=0)
v[0].expand_dims(axis=1)
v[0].transpose()
v[0].slice_axis(axis=0, begin=0, end=1)
v[0].topk(k=2)
v[0].softmax()
v[0].norm()
v[0].clip(0, 1)
mx.sym.Group([v[0], mx.sym.relu(v[0])])
mx.sym.FullyConnected(v[0], num_hidden=3, attr={'lr_mult': '2'}, name='fc')
mx.sym.FullyConnected(v[0], num_hidden=3, lr_mult=2, name='fc')
mx.sym.FullyConnected(v[0], num_hidden=3, __mine__='2', name='fc')
mx.sym.FullyConnected(v[0], mx.sym.var('w', shape=(3, 4), lr_mult=2), no_bias=True, num_hidden=3)
mx.sym.FullyConnected(data=mx.sym.var('q', shape=(0, 4)), num_hidden='3', flatten='False')
mx.sym.var('q', attr={'a': 'b', 'ctx_group': 'g'}, shape=(2,), dtype='int32', __x__=3)
mx.sym.var('q', init=mx.init.One(), stype='default')
mx.sym.var('q', shape=3)
mx.sym.Variable('q', wd_mult=0.5)
mx.sym.SoftmaxOutput(v[0], name='softmax')
mx.sym.Activation(mx.sym.FullyConnected(v[0], num_hidden=2), act_type='tanh')
mx.sym.broadcast_add(v[0], v[1])
mx.sym.elemwise_add(v[0], v[1])
mx.sym.dot(v[0], v[1], transpose_a=True)
mx.sym.where(v[0], v[1], v[2])
mx.sym.take(v[0], v[1], axis=1, mode='wrap')
mx.sym.pick(v[0], v[1], keepdims=True)
mx.sym.BlockGrad(v[0])
mx.sym.stop_gradient(v[0])
mx.sym.identity(v[0])
mx.sym.make_loss(v[0])
mx.sym.MakeLoss(v[0], grad_scale=2.0)
mx.sym.smooth_l1(v[0], scalar=1.0)
mx.sym.cumsum(v[0], axis=0)
mx.sym.shuffle(v[0])
mx.sym.image.to_tensor(v[0])
mx.sym.image.normalize(v[0], mean=(0, 1, 2), std=(1, 2, 3))
mx.sym.FullyConnected(v[0], num_hidden=3, name='f')(a=v[1])
mx.sym.FullyConnected(v[0], num_hidden=3, name='f')(f_weight=v[1] * 2, a=v[2])
mx.sym.FullyConnected(v[0], num_hidden=3, name='f').get_internals()['f_weight']
mx.sym.FullyConnected(v[0], num_hidden=3, name='f').get_children()
mx.sym.Group([v[0], v[1] + v[0]])[1]
mx.sym.split(v[0], num_outputs=3)[1] + v[1]
mx.sym.split(v[0], num_outputs=3)[1:]
mx.sym.L2Normalization(v[0], mode='channel')
mx.sym.LRN(v[0], nsize=3)
mx.sym.InstanceNorm(v[0])
mx.sym.UpSampling(v[0], scale=2, sample_type='nearest')
mx.sym.sample_normal(v[0], v[1], shape=(2,))
mx.sym.contrib.boolean_mask(v[0], v[1])
mx.sym.BatchNorm(mx.sym.BatchNorm(v[0], name='n1'), name='n2', eps=1e-5)
mx.sym.BatchNorm(v[0], moving_mean=v[1]) + mx.sym.BatchNorm(v[0], moving_mean=v[1])
mx.sym.load_json((v[0] + mx.sym.BatchNorm(v[1], name='q')).tojson())
""".strip().split("\n")

#: Networks, and shapes of what they are given; the rest follows.
NETWORKS: dict[str, tuple[str, dict[str, tuple[int, ...]]]] = {
    "perceptron": (
        """
x = mx.sym.var("data")
x = mx.sym.FullyConnected(x, num_hidden=8, name="fc1")
x = mx.sym.Activation(x, act_type="relu", name="relu1")
x = mx.sym.FullyConnected(x, num_hidden=3, name="fc2")
s = mx.sym.SoftmaxOutput(x, name="softmax")
""",
        {"data": (4, 6)},
    ),
    "convolutions": (
        """
x = mx.sym.var("data")
x = mx.sym.Convolution(x, kernel=(3, 3), num_filter=4, pad=(1, 1), name="c1")
x = mx.sym.BatchNorm(x, fix_gamma=False, name="bn1")
x = mx.sym.Activation(x, act_type="relu")
x = mx.sym.Pooling(x, kernel=(2, 2), stride=(2, 2), pool_type="max")
y = mx.sym.Convolution(x, kernel=(1, 1), num_filter=4, no_bias=True, name="c2")
x = mx.sym.Flatten(x + y)
s = mx.sym.FullyConnected(x, num_hidden=5, name="out")
""",
        {"data": (2, 3, 8, 8)},
    ),
    "a loss by hand": (
        """
x, label = mx.sym.var("x"), mx.sym.var("label", shape=(4,), dtype="float32")
x = mx.sym.FullyConnected(x, num_hidden=3, flatten=False)
x = mx.sym.log_softmax(x, axis=-1)
s = mx.sym.mean(-mx.sym.pick(x, label, axis=-1), axis=0, exclude=True)
""",
        {"x": (4, 6)},
    ),
    "arithmetic": (
        """
x, y = mx.sym.var("x"), mx.sym.var("y")
z = (x + y) * 2 - x / 3 + 1 / (y * y + 1)
s = mx.sym.Group([z, mx.sym.maximum(x, y), 2 ** x, x > y])
""",
        {"x": (2, 3)},
    ),
    "several results": (
        """
x = mx.sym.var("x")
a, b, c = mx.sym.split(x, num_outputs=3, axis=1)
s = mx.sym.Group([a * b, mx.sym.concat(b, c, dim=1), mx.sym.LayerNorm(c, name="ln")])
""",
        {"x": (2, 6)},
    ),
    "regression": (
        """
x = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=1, name="fc")
s = mx.sym.LinearRegressionOutput(x, name="lro")
""",
        {"data": (5, 4)},
    ),
    "shared weights": (
        """
w = mx.sym.var("w", shape=(4, 4))
x = mx.sym.FullyConnected(mx.sym.var("x"), w, num_hidden=4, no_bias=True)
x = mx.sym.tanh(x)
s = mx.sym.FullyConnected(x, w, num_hidden=4, no_bias=True) + x
""",
        {"x": (3, 4)},
    ),
    "lookup": (
        """
x = mx.sym.Embedding(mx.sym.var("i"), input_dim=5, output_dim=3, name="e")
x = mx.sym.InstanceNorm(mx.sym.transpose(x, axes=(0, 2, 1)), name="n")
s = mx.sym.sum(mx.sym.sigmoid(x), axis=(1, 2))
""",
        {"i": (2, 4)},
    ),
    "composed": (
        """
x = mx.sym.FullyConnected(mx.sym.var("x"), num_hidden=4, name="inner")
y = mx.sym.Activation(mx.sym.var("y"), act_type="sigmoid", name="outer")
s = y(y=x) * x
""",
        {"x": (3, 2)},
    ),
}

#: A value for each parameter that MXNet requires.
VALUES = {
    "N": 3,
    "a_max": 1,
    "a_min": 0,
    "act_type": "relu",
    "axis": 0,
    "begin": (0, 0),
    "block_size": 2,
    "depth": 4,
    "dtype": "int32",
    "end": (1, 2),
    "high": 5,
    "input_dim": 4,
    "kernel": (2, 2),
    "low": 0,
    "lr": 0.1,
    "lrs": (0.1,),
    "mode": "constant",
    "nsize": 3,
    "num_filter": 3,
    "num_hidden": 3,
    "num_outputs": 2,
    "output_dim": 5,
    "pad_width": (0, 0, 0, 0, 1, 1, 1, 1),
    "repeats": 2,
    "reps": (2, 2),
    "scalar": 2.0,
    "scale": 2,
    "shape": (2, 3),
    "wds": (0.1,),
}

#: Parameters of calls that need others.
OWN_VALUES = {"Pooling": ["kernel=(2, 2)"], "slice_axis": ["axis=0", "begin=0", "end=1"]}

#: Inputs that operators take only if told so.
ASKED_FOR = {("LeakyReLU", "gamma"), ("softmax", "length"), ("Deconvolution", "bias")}


def calls_of_all_operators() -> Iterator[tuple[str, str]]:
    """Return each function of `mx.sym` that makes a node, and two calls of it.

    One names all inputs, one none, which are then made.
    """
    for part, prefix in (("", ""), ("linalg.", "_linalg_"), ("image.", "_image_")):
        module = getattr(symbol, part[:-1]) if part else symbol
        for name in module.__all__:
            known = ALIASES.get(prefix + name, prefix + name)
            if known not in FUNCTIONS or "_update" in known or known in ("Custom", "UpSampling"):
                continue  # those, MXNet refuses, or knows for other inputs
            operator = operator_of(known)
            inputs = _inputs(operator)
            parameters = [f"{key}={VALUES[key]!r}" for key in operator.required]
            parameters = OWN_VALUES.get(known, parameters)
            yield part + name, f"mx.sym.{part}{name}({', '.join([*inputs, *parameters])})"
            if not operator.variadic:
                yield part + name, f"mx.sym.{part}{name}({', '.join(parameters)})"


def _inputs(operator: Operator) -> list[str]:
    """Return what a call gives an operator."""
    if operator.variadic:
        return ["v[0]", "v[1]"]
    names = [name for name in operator.inputs if (operator.name, name) not in ASKED_FOR]
    return [f"{name}=v[{place}]" for place, name in enumerate(names)]
