"""Programs with layers, losses and networks, to run on real MXNet and on our runtime."""

from __future__ import annotations

__all__ = ["CONTAINERS", "LAYERS", "LOSSES", "PROGRAMS", "START", "layer", "loss"]

#: What each program starts with. Names are counted from 0, values follow from them alone.
START = """
from functools import partial
nd, autograd, gluon, nn = mx.nd, mx.autograd, mx.gluon, mx.gluon.nn
mx.name.NameManager().__enter__()

def values(shape, seed):
    return nd.array(np.random.RandomState(seed).uniform(-1, 1, shape))

def fill(net):
    for seed, param in enumerate(net.collect_params().values()):
        low = 0.5 if param.name.endswith("var") else -1
        drawn = np.random.RandomState(seed).uniform(low, 1, param.shape)
        if param.grad_req == "null" and param.name.endswith("gamma"):
            drawn[...] = 1  # MXNet writes it there anyway
        param.set_data(nd.array(drawn, dtype=param.dtype))

def tell(net):
    show(repr(net))
    show(repr(net.collect_params()))

def learn(net):
    for param in net.collect_params().values():
        if param.grad_req != "null":
            show([param.name, param.data(), param.grad()])
        else:
            show([param.name, param.data()])
"""

#: Layers, and the shape of their data.
LAYERS = {
    "Dense": ("nn.Dense(4)", (3, 2, 5)),
    "Dense with activation": ("nn.Dense(4, activation='tanh')", (3, 5)),
    "Dense without bias": ("nn.Dense(4, use_bias=False, in_units=5)", (3, 5)),
    "Dense on the last axis": ("nn.Dense(4, flatten=False)", (3, 2, 5)),
    "Dense filled with ones": ("nn.Dense(4, weight_initializer='ones')", (3, 5)),
    "Dense with a prefix": ("nn.Dense(4, prefix='mine_')", (3, 5)),
    "Conv1D": ("nn.Conv1D(4, 3, padding=1)", (2, 3, 8)),
    "Conv2D": ("nn.Conv2D(4, 3, activation='relu')", (2, 3, 6, 7)),
    "Conv2D with everything": (
        "nn.Conv2D(4, (3, 2), strides=(2, 1), padding=(1, 2), dilation=(1, 2), groups=2)",
        (2, 6, 7, 8),
    ),
    "Conv2D without bias": ("nn.Conv2D(4, 3, use_bias=False, in_channels=3)", (2, 3, 6, 7)),
    "Conv2DTranspose": (
        "nn.Conv2DTranspose(4, 3, strides=2, padding=1, output_padding=1)",
        (2, 3, 4, 5),
    ),
    "Conv1DTranspose": ("nn.Conv1DTranspose(4, 3, strides=2)", (2, 3, 4)),
    "MaxPool1D": ("nn.MaxPool1D()", (2, 3, 8)),
    "MaxPool2D": ("nn.MaxPool2D()", (2, 3, 6, 7)),
    "MaxPool2D over the edge": ("nn.MaxPool2D(3, strides=2, ceil_mode=True)", (2, 3, 6, 8)),
    "AvgPool1D": ("nn.AvgPool1D(3, 1, 1)", (2, 3, 8)),
    "AvgPool2D": ("nn.AvgPool2D(3, strides=2, padding=1)", (2, 3, 6, 7)),
    "AvgPool2D without padding": (
        "nn.AvgPool2D(3, strides=2, padding=1, count_include_pad=False)",
        (2, 3, 6, 7),
    ),
    "GlobalMaxPool1D": ("nn.GlobalMaxPool1D()", (2, 3, 8)),
    "GlobalMaxPool2D": ("nn.GlobalMaxPool2D()", (2, 3, 6, 7)),
    "GlobalAvgPool1D": ("nn.GlobalAvgPool1D()", (2, 3, 8)),
    "GlobalAvgPool2D": ("nn.GlobalAvgPool2D()", (2, 3, 6, 7)),
    "Flatten": ("nn.Flatten()", (2, 3, 6, 7)),
    "Dropout that drops nothing": ("nn.Dropout(0)", (2, 3)),
    "BatchNorm": ("nn.BatchNorm()", (4, 3, 5, 5)),
    "BatchNorm without scale and shift": ("nn.BatchNorm(scale=False, center=False)", (4, 3)),
    "BatchNorm on the last axis": ("nn.BatchNorm(axis=2, momentum=0.5, epsilon=0.1)", (4, 3, 5)),
    "BatchNorm by running averages": ("nn.BatchNorm(use_global_stats=True)", (4, 3, 5)),
    "BatchNorm of known size": ("nn.BatchNorm(in_channels=3)", (4, 3)),
    "LayerNorm": ("nn.LayerNorm()", (4, 3, 5)),
    "LayerNorm along an axis": ("nn.LayerNorm(axis=1, center=False, epsilon=0.1)", (4, 3, 5)),
    "InstanceNorm": ("nn.InstanceNorm(scale=True)", (4, 3, 5)),
    "InstanceNorm along an axis": ("nn.InstanceNorm(axis=2)", (4, 3, 5)),
    "GroupNorm": ("nn.GroupNorm(2)", (4, 6, 5)),
    "Activation": ("nn.Activation('sigmoid')", (2, 3)),
    "LeakyReLU": ("nn.LeakyReLU(0.1)", (2, 3)),
    "PReLU": ("nn.PReLU()", (2, 3, 4)),
    "PReLU of channels": ("nn.PReLU('ones', in_channels=3)", (2, 3, 4)),
    "ELU": ("nn.ELU(0.5)", (2, 3)),
    "GELU": ("nn.GELU()", (2, 3)),
    "Swish": ("nn.Swish(0.5)", (2, 3)),
    "ReflectionPad2D": ("nn.ReflectionPad2D(2)", (2, 3, 6, 7)),
    "HybridLambda": ("nn.HybridLambda(lambda F, x: F.tanh(x) * 2)", (2, 3)),
    "HybridLambda by name": ("nn.HybridLambda('tanh')", (2, 3)),
    "Lambda": ("nn.Lambda(lambda x: x.exp())", (2, 3)),
    "Lambda by name": ("nn.Lambda('tanh')", (2, 3)),
}

#: Losses, and the arrays that they are called with.
LOSSES = {
    "L2Loss": ("L2Loss()", "values((4, 3, 2), 0), values((4, 6), 1)"),
    "L2Loss of weighted samples": (
        "L2Loss(weight=3.0)",
        "values((4, 3), 0), values((4, 3), 1), values((4, 1), 2)",
    ),
    "L2Loss on another axis": (
        "L2Loss(batch_axis=1)",
        "values((4, 3), 0), values((4, 3), 1)",
    ),
    "L1Loss": ("L1Loss(weight=2)", "values((4, 3), 0), values((4, 3), 1)"),
    "SigmoidBCELoss": ("SigmoidBCELoss()", "values((4, 3), 0), values((4, 3), 1) > 0"),
    "SigmoidBCELoss of weighted labels": (
        "SigmoidBCELoss(weight=0.5)",
        "values((4, 3), 0), values((4, 3), 1) > 0, values((4, 1), 2), nd.array([[2, 3, 4]])",
    ),
    "SigmoidBCELoss of probabilities": (
        "SigmoidBCELoss(from_sigmoid=True)",
        "nd.sigmoid(values((4, 3), 0)), values((4, 3), 1) > 0",
    ),
    "SigmoidBCELoss of probabilities and weighted labels": (
        "SigmoidBCELoss(from_sigmoid=True)",
        "nd.sigmoid(values((4, 3), 0)), values((4, 3), 1) > 0, None, nd.array([[2, 3, 4]])",
    ),
    "SoftmaxCELoss": ("SoftmaxCELoss()", "values((4, 3), 0), nd.array([0, 2, 1, 1])"),
    "SoftmaxCELoss of weighted samples": (
        "SoftmaxCELoss(weight=2.0)",
        "values((4, 3), 0), nd.array([0, 2, 1, 1]), nd.array([[1], [0], [2], [0.5]])",
    ),
    "SoftmaxCELoss of probabilities": (
        "SoftmaxCELoss(sparse_label=False)",
        "values((4, 3), 0), nd.softmax(values((4, 3), 1))",
    ),
    "SoftmaxCELoss along an axis": (
        "SoftmaxCELoss(axis=1)",
        "values((4, 3, 5), 0), nd.floor(values((4, 5), 1) * 1.5 + 1.5)",
    ),
    "SoftmaxCELoss from logarithms": (
        "SoftmaxCELoss(from_logits=True)",
        "nd.log_softmax(values((4, 3), 0)), nd.array([0, 2, 1, 1])",
    ),
    "KLDivLoss": (
        "KLDivLoss()",
        "nd.log_softmax(values((4, 3), 0)), nd.softmax(values((4, 3), 1))",
    ),
    "KLDivLoss of results": (
        "KLDivLoss(from_logits=False, weight=2)",
        "values((4, 3), 0), nd.softmax(values((4, 3), 1)), values((4, 1), 2)",
    ),
    "HuberLoss": ("HuberLoss(rho=0.5)", "values((4, 3), 0), values((4, 3), 1)"),
    "HingeLoss": ("HingeLoss()", "values((4, 3), 0), nd.sign(values((4, 3), 1))"),
    "SquaredHingeLoss": (
        "SquaredHingeLoss(margin=0.5)",
        "values((4, 3), 0), nd.sign(values((4, 3), 1))",
    ),
    "LogisticLoss": ("LogisticLoss()", "values((4, 3), 0), nd.sign(values((4, 3), 1))"),
    "LogisticLoss of 0 and 1": (
        "LogisticLoss(label_format='binary')",
        "values((4, 3), 0), values((4, 3), 1) > 0",
    ),
    "TripletLoss": (
        "TripletLoss(margin=0.3)",
        "values((4, 3), 0), values((4, 3), 1), values((4, 3), 2)",
    ),
    "PoissonNLLLoss": ("PoissonNLLLoss()", "values((4, 3), 0), values((4, 3), 1) + 2"),
    "PoissonNLLLoss of rates": (
        "PoissonNLLLoss(from_logits=False, weight=2)",
        "values((4, 3), 0) + 2, values((4, 3), 1) + 2",
    ),
    "CosineEmbeddingLoss": (
        "CosineEmbeddingLoss(margin=0.1)",
        "values((4, 3), 0), values((4, 3), 1), nd.array([1, -1, 1, -1])",
    ),
}

#: The network of MXNet's tutorial, and another whose layers do more while training.
CONTAINERS = {
    "the tutorial's network": """
net = nn.HybridSequential()
with net.name_scope():
    net.add(nn.Conv2D(channels=20, kernel_size=5, activation='relu'))
    net.add(nn.MaxPool2D(pool_size=2, strides=2))
    net.add(nn.Conv2D(channels=50, kernel_size=5, activation='relu'))
    net.add(nn.MaxPool2D(pool_size=2, strides=2))
    net.add(nn.Flatten())
    net.add(nn.Dense(512, activation="relu"))
    net.add(nn.Dense(10))
shape, rate = (8, 1, 28, 28), 0.002
""",
    "a network with BatchNorm and Dropout": """
net = nn.Sequential()
with net.name_scope():
    net.add(nn.Conv2D(8, 3, padding=1, use_bias=False), nn.BatchNorm(), nn.Activation('relu'))
    net.add(nn.AvgPool2D(), nn.Dropout(0.0), nn.Flatten())
    net.add(nn.Dense(16), nn.LayerNorm(), nn.LeakyReLU(0.1), nn.Dropout(0), nn.Dense(10))
shape, rate = (8, 2, 8, 8), 0.05
""",
}

#: Whole programs.
PROGRAMS = {
    "names": """
class Net(gluon.HybridBlock):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.first = nn.Dense(3)
            self.second = nn.Dense(2, activation='relu')
            self.inner = nn.HybridSequential()
            with self.inner.name_scope():
                self.inner.add(nn.Dense(2), nn.Conv2D(2, 3), nn.Dense(1, prefix='own_'))
            self.weight = self.params.get('weight', shape=(2, 2))
            self.fixed = self.params.get_constant('fixed', [[1.0, 2.0]])
    def hybrid_forward(self, F, x, weight, fixed):
        return self.second(self.first(x)) * weight + fixed
for net in (Net(), Net(), Net(prefix='mine_'), Net(prefix='')):
    tell(net)
    show([net.prefix, net.name, list(net._collect_params_with_prefix())])
    show(list(net.collect_params('.*weight')))
    show(list(net.collect_params('.*dense0|.*own')))
tell(nn.Dense(2)); tell(nn.Activation('relu')); tell(nn.Activation('tanh')); tell(nn.MaxPool2D())
with mx.name.Prefix('all_'):
    tell(nn.Dense(2))
tell(nn.Dense(3))
""",
    "blocks outside of the scope": """
net = nn.HybridSequential()
net.add(nn.Dense(3), nn.Dense(2))
inner = nn.HybridSequential(prefix='')
with inner.name_scope():
    inner.add(nn.Dense(1))
net.add(inner)
tell(net)
show([len(net), repr(net[1]), repr(net[1:]), list(net[1:].collect_params())])
net.initialize()
show(net(nd.ones((2, 4))).shape)
""",
    "parameters of their own": """
class Net(gluon.HybridBlock):
    def __init__(self):
        super().__init__()
        with self.name_scope():
            self.scale = self.params.get('scale', shape=(1, 3), init='ones')
            self.weight = self.params.get('weight', shape=(3, 0), allow_deferred_init=True)
            self.fixed = self.params.get_constant('fixed', [[1.0, 2.0, 3.0]])
    def hybrid_forward(self, F, x, scale, weight, fixed):
        y = F.FullyConnected(x, weight, num_hidden=3, no_bias=True)
        return F.broadcast_add(F.broadcast_mul(y, scale), fixed)
net = Net()
net.initialize()
show(net(nd.ones((2, 4))).shape)
fill(net)
with autograd.record():
    y = net(values((2, 4), 7))
y.backward()
show(y)
learn(net)
tell(net)
""",
    "shared parameters": """
first = nn.Dense(3, in_units=3, prefix='first_')
second = nn.Dense(3, in_units=3, params=first.params)
net = nn.HybridSequential()
net.add(first, second, nn.Dense(2))
tell(net)
net.initialize()
net(nd.ones((2, 3)))
fill(net)
with autograd.record():
    y = net(values((2, 3), 7))
y.backward()
show(y)
learn(net)
show(first.weight is second.weight)
""",
    "a block in another": """
class Net(gluon.Block):
    def __init__(self):
        super().__init__()
        with self.name_scope():
            self.body = nn.Sequential()
            with self.body.name_scope():
                self.body.add(nn.Dense(3, activation='tanh'))
            self.head = nn.Dense(1)
    def forward(self, x, y):
        return self.head(self.body(x) + y), y
net = Net()
net.initialize()
net(nd.ones((2, 4)), nd.ones((2, 3)))
fill(net)
with autograd.record():
    z = net(values((2, 4), 7), values((2, 3), 8))[0]
z.backward()
show(z)
learn(net)
tell(net)
seen = []
net.apply(lambda block: seen.append(block.name))
show(seen)
""",
    "hooks": """
net = nn.Dense(2, in_units=2)
net.initialize(mx.init.One())
seen = []
before = net.register_forward_pre_hook(lambda block, args: seen.append(len(args)))
after = net.register_forward_hook(lambda block, args, made: seen.append(made.shape))
net(nd.ones((1, 2)))
before.detach()
with after:
    net(nd.ones((3, 2)))
net(nd.ones((4, 2)))
show([str(one) for one in seen])
""",
    "grad_req": """
net = nn.Dense(2, in_units=2)
net.initialize(mx.init.One())
x = nd.array([[1, 2]])
net.collect_params().setattr('grad_req', 'add')
for round in range(2):
    with autograd.record():
        y = net(x)
    y.backward()
show(net.weight.grad())
net.collect_params().zero_grad()
show([net.weight.grad(), net.bias.grad()])
net.weight.grad_req = 'null'
with autograd.record():
    y = net(x) * 3
y.backward()
show(net.weight.grad_req)  # MXNet computes no gradient of the bias now
net.weight.grad_req = 'write'
with autograd.record():
    y = net(x) * 3
y.backward()
show(net.weight.grad())
""",
    "casting": """
net = nn.HybridSequential()
net.add(nn.Dense(3), nn.BatchNorm(), nn.Dense(2))
net.initialize()
net(nd.ones((2, 4)))
fill(net)
for dtype in ('float64', 'float16'):
    net.cast(dtype)
    show([[p.name, p.data().dtype, p.grad().dtype if p.grad_req != 'null' else ''] for p in
          net.collect_params().values()])
net.cast('float64')
with autograd.record():
    y = net(values((2, 4), 3).astype('float64'))
y.backward()
show([y.dtype, net[0].weight.grad().dtype])
""",
    "several devices": """
devices = [mx.cpu(0), mx.cpu(1)]
net = nn.Dense(2, in_units=3)
net.initialize(mx.init.One(), ctx=devices)
parts = gluon.utils.split_and_load(values((5, 3), 0), devices, even_split=False)
show([[str(part.context), part.shape] for part in parts])
with autograd.record():
    made = [net(part) for part in parts]
autograd.backward(made)
show(made)
show(net.weight.list_grad())
show([str(one.context) for one in net.weight.list_data()])
show([str(one) for one in net.weight.list_ctx()])
net.collect_params().reset_ctx(mx.cpu(1))
show([str(one) for one in net.weight.list_ctx()])
show(str(net(nd.ones((1, 3), ctx=mx.cpu(1))).context))
""",
    "setting values": """
net = nn.Dense(2)
net.initialize()
net.weight.set_data(nd.array([[1, 2, 3], [4, 5, 6]]))
show(net.weight.shape)
show(net(nd.ones((1, 3))))
show(net.weight.data())
net.weight.set_data(nd.ones((2, 3)))
show(net.weight.data())
net.initialize(mx.init.Constant(3), force_reinit=True)
show([net.weight.data(), net.bias.data()])
net.weight.lr_mult = 0.5
show([net.weight.lr_mult, net.weight.wd_mult, net.weight.name, net.weight.grad_req])
""",
    "initializers": """
for name in ('zeros', 'ones', 'Zero', 'one'):
    made = nd.ones((2, 2)) * 5
    mx.init.create(name)(mx.init.InitDesc('some_weight'), made)
    show([mx.init.create(name).dumps(), made])
made = nd.zeros((2, 3))
mx.init.Constant(2.5)(mx.init.InitDesc('a_weight'), made)
show(made)
for end in ('weight', 'bias', 'gamma', 'beta', 'min', 'max'):
    made = nd.ones((2, 2)) * 5
    mx.init.Constant(7)(mx.init.InitDesc('some_' + end), made)
    show([end, made])
made = nd.zeros((2, 1, 4, 4))
mx.init.Bilinear()(mx.init.InitDesc('up_weight'), made)
show(made)
made = nd.zeros((1, 1, 3, 5))
mx.init.Bilinear()(mx.init.InitDesc('up_weight'), made)
show(made)
made = nd.zeros((8,))
mx.init.LSTMBias(2.0)(mx.init.InitDesc('i2h_weight'), made)
show(made)
for kind in (mx.init.Xavier(), mx.init.Uniform(0.5), mx.init.Normal(2), mx.init.MSRAPrelu(),
             mx.init.Orthogonal(rand_type='normal'), mx.init.Constant(3),
             mx.init.Xavier('gaussian', 'in', 2)):
    show(kind.dumps())
show(mx.init.create('["xavier", {"magnitude": 2}]').dumps())
show(mx.init.create('xavier', magnitude=2) == mx.init.Xavier(magnitude=2))
mixed = mx.init.Mixed(['.*bias', '.*'], [mx.init.Zero(), mx.init.One()])
made = [nd.ones((2,)) * 5, nd.ones((2,)) * 5]
mixed(mx.init.InitDesc('a_bias'), made[0]); mixed(mx.init.InitDesc('a_weight'), made[1])
show(made)
@mx.init.register
class Counting(mx.init.Initializer):
    def _init_weight(self, name, arr):
        arr[:] = nd.arange(arr.size).reshape(arr.shape)
net = nn.Dense(2, in_units=3, weight_initializer='counting', bias_initializer=mx.init.One())
net.initialize()
show([net.weight.data(), net.bias.data()])
""",
    "a loss that is not recorded": """
loss = gluon.loss.PoissonNLLLoss(compute_full=True)
show(loss(values((4, 3), 0), values((4, 3), 1) + 2))
""",
    "selu": "show(nn.SELU()(values((2, 3), 0)))",
    "clipping": """
arrays = [values((3, 2), 0), values((4,), 1)]
show(round(float(gluon.utils.clip_global_norm(arrays, 0.5)), 5))
show(arrays)
show(round(float(gluon.utils.clip_global_norm(arrays, 5)), 5))
show(arrays)
""",
    "splitting": """
show(gluon.utils.split_data(values((6, 2), 0), 3))
show(gluon.utils.split_data(values((2, 5), 0), 2, batch_axis=1, even_split=False))
show(gluon.utils.split_data(values((5, 2), 0), 3, even_split=False))
show([str(x.context) for x in gluon.utils.split_and_load(np.ones((4, 2)), [mx.cpu(0), mx.cpu(1)])])
""",
    "a layer that arrays and symbols share": """
class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x, y=None):
        made = F.concat(F.relu(x), F.sigmoid(x), dim=1)
        made = F.broadcast_add(made, F.ones((1, 6)) if y is None else y)
        return F.sum(F.reshape(made, shape=(0, -1)), axis=1), F.contrib is not None
net = Net()
show(net(values((2, 3), 0)))
show(net(values((2, 3), 0), values((1, 6), 0)))
""",
    "named operators": """
class Net(gluon.HybridBlock):
    def __init__(self):
        super().__init__()
        self.weight = self.params.get('weight', shape=(3, 0), allow_deferred_init=True)
    def hybrid_forward(self, F, x, weight):
        y = F.FullyConnected(x, weight, no_bias=True, num_hidden=3, name='fwd')
        return F.Activation(F.concat(y, y, dim=1, name='both'), act_type='relu', name='act')
net = Net()
net.initialize(mx.init.One())
show(net(values((2, 4), 0)))
show(net(values((2, 4), 0)))
""",
}


def layer(made: str, shape: tuple[int, ...]) -> str:
    """Return the program that trains a layer by two batches and tries it."""
    return f"""
net = {made}
tell(net)
net.initialize()
x = values({shape}, 11)
show(net(x).shape)
fill(net)
x.attach_grad()
for round in range(2):
    with autograd.record():
        y = net(x)
    y.backward(values(y.shape, 12))
    show([y, x.grad])
    learn(net)
show(net(x))
tell(net)
net.summary(x)
"""


def loss(made: str, arrays: str) -> str:
    """Return the program that goes back from a loss."""
    return f"""
loss = gluon.loss.{made}
show([repr(loss), loss.name])
arrays = [{arrays}]
for each in arrays:
    if each is not None:
        each.attach_grad()
with autograd.record():
    y = loss(*arrays)
y.backward()
show(y)
show(arrays[0].grad)
"""


def training(made: str, steps: int = 4) -> str:
    """Return the program that trains a network by plain gradient descent."""
    return f"""{made}
net.initialize()
x, labels = values(shape, 1), nd.array([3, 1, 4, 1, 5, 9, 2, 6])
net(x)
fill(net)
for param in net.collect_params().values():
    if param.name.endswith(("weight", "bias")):
        param.set_data(param.data() * 0.1)
loss = gluon.loss.SoftmaxCrossEntropyLoss()
for step in range({steps}):
    with autograd.record():
        total = loss(net(x), labels)
    total.backward()
    show(total)
    for param in net.collect_params().values():
        if param.grad_req != "null":
            show([param.name, param.grad()])
            param.data()[:] -= rate * param.grad()
for param in net.collect_params().values():
    show([param.name, param.data()])
show(net(x))
tell(net)
net.summary(x)
"""


def profiled(made: str, file: str) -> str:
    """Return the program that shows the profiler's table of one iteration, not the first."""
    return f"""{made}
net.initialize()
x, labels = values(shape, 1), nd.array([3, 1, 4, 1, 5, 9, 2, 6])
loss = gluon.loss.SoftmaxCrossEntropyLoss()
def iterate():
    with autograd.record():
        total = loss(net(x), labels)
    total.backward()
iterate()
mx.profiler.set_config(profile_all=True, aggregate_stats=True, filename={file!r})
nd.waitall()
mx.profiler.set_state("run")
iterate()
nd.waitall()
mx.profiler.set_state("stop")
show(mx.profiler.dumps(reset=True))
"""


#: Files of parameters that one side writes and the other reads.
SAVING = """
net = nn.HybridSequential()
with net.name_scope():
    net.add(nn.Conv2D(2, 3, activation='relu'), nn.BatchNorm(), nn.Dense(3))
net.initialize()
net(nd.ones((1, 1, 5, 5)))
fill(net)
"""

#: What a program writes to FILE, and how another reads it.
FILES = {
    "save_parameters": ("net.save_parameters(FILE)", "net.load_parameters(FILE)"),
    "on a device": ("net.save_parameters(FILE)", "net.load_parameters(FILE, ctx=mx.cpu(1))"),
    "ParameterDict.save": (
        "net.collect_params().save(FILE)",
        "net.collect_params().load(FILE, ctx=mx.cpu())",
    ),
    "a prefix less": (
        "net.collect_params().save(FILE, strip_prefix=net.prefix)",
        "net.load_parameters(FILE)",
    ),
    "of two devices": (
        "net.collect_params().reset_ctx([mx.cpu(0), mx.cpu(1)]); net.save_parameters(FILE)",
        "net.load_parameters(FILE)",
    ),
    "one layer": ("net[2].save_parameters(FILE)", "net[2].load_parameters(FILE)"),
    "another type": (
        "net.cast('float64'); net.save_parameters(FILE)",
        "net.load_parameters(FILE, cast_dtype=True)",
    ),
    "the file's type": (
        "net.cast('float64'); net.save_parameters(FILE)",
        "net.load_parameters(FILE, cast_dtype=True, dtype_source='saved')",
    ),
    "more and less than there is": (
        "nd.save(FILE, {'2.bias': nd.array([1, 2, 3]), '5.bias': nd.ones((2,))})",
        "net.load_parameters(FILE, allow_missing=True, ignore_extra=True)",
    ),
    "for a trained network": (
        "net.save_parameters(FILE)",
        "net.initialize(); net.load_parameters(FILE)",
    ),
    "parts of an export": (
        "nd.save(FILE, {('aux:' if 'running' in k else 'arg:') + k: p.data() for k, p in "
        "net.collect_params().items()})",
        "net.collect_params().load(FILE)",
    ),
}

#: Reads a file into a network without values, and shows them.
LOADING = """
net = nn.HybridSequential()
with net.name_scope():
    net.add(nn.Conv2D(2, 3, activation='relu'), nn.BatchNorm(), nn.Dense(3))
{loads}
for param in net.collect_params().values():
    try:
        show([param.name, param.shape, str(param.list_ctx()), param.data(), param.dtype])
    except Exception:
        show([param.name, param.shape])
"""

#: Programs that both refuse, and the class of our error.
REFUSED = {
    "no value": ("net = nn.Dense(2)\nnet(nd.ones((1, 2)))", "ParameterError"),
    "a value that waits": (
        "net = nn.Dense(2)\nnet.initialize()\nnet.weight.data()",
        "DeferredInitializationError",
    ),
    "saving what waits": (
        "net = nn.Dense(2)\nnet.initialize()\nnet.save_parameters('never')",
        "DeferredInitializationError",
    ),
    "another device": (
        "net = nn.Dense(2)\nnet.initialize()\nnet(nd.ones((1, 2)))\n"
        "net(nd.ones((1, 2), ctx=mx.cpu(1)))",
        "ParameterError",
    ),
    "another shape": (
        "net = nn.Dense(2)\nnet.initialize()\nnet(nd.ones((1, 2)))\nnet(nd.ones((1, 3)))",
        "ShapeError",
    ),
    "a value of another shape": (
        "net = nn.Dense(2, in_units=3)\nnet.initialize()\nnet.weight.set_data(nd.ones((2, 4)))",
        "ShapeError",
    ),
    "a value before anything": (
        "net = nn.Dense(2, in_units=3)\nnet.weight.set_data(nd.ones((2, 3)))",
        "ParameterError",
    ),
    "no gradient": (
        "net = nn.BatchNorm(in_channels=2)\nnet.initialize()\nnet.running_mean.grad()",
        "ParameterError",
    ),
    "a shape that is not known": (
        "gluon.Parameter('weight', shape=(2, 0)).initialize()",
        "ShapeError",
    ),
    "a vector for Xavier": ("gluon.Parameter('a', shape=(2,)).initialize('xavier')", "ShapeError"),
    "an initializer that is none": ("nn.Dense(2).initialize('xaver')", "ArgumentError"),
    "a request that is none": ("gluon.Parameter('weight', 'writ')", "ArgumentError"),
    "two parameters of a name": (
        "net = nn.HybridSequential()\n"
        "net.add(nn.Dense(2, prefix='a_'), nn.Dense(2, prefix='a_'))\nnet.collect_params()",
        "ArgumentError",
    ),
    "a parameter twice": (
        "net = nn.Dense(2)\nnet.weight = gluon.Parameter('other')",
        "ArgumentError",
    ),
    "a block for a number": ("net = nn.Dense(2, activation='relu')\nnet.act = 5", "TypeError"),
    "a parameter with other options": (
        "net = nn.Dense(2)\nnet.params.get('weight', shape=(3, 4))",
        "ArgumentError",
    ),
    "a constant with another value": (
        "net = nn.Dense(2)\nnet.params.get_constant('c', [1, 2])\n"
        "net.params.get_constant('c', [1, 3])",
        "ArgumentError",
    ),
    "a block among hybrid ones": ("nn.HybridSequential().add(nn.Sequential())", "ArgumentError"),
    "no forward": ("gluon.Block()(nd.ones((1,)))", "NotImplementedError"),
    "no hybrid_forward": ("gluon.HybridBlock()(nd.ones((1,)))", "NotImplementedError"),
    "no array": ("nn.Activation('relu')(5)", "ArgumentError"),
    "summary of a hybridized network": (
        "net = nn.Dense(2)\nnet.initialize()\nnet.hybridize()\nnet.summary(nd.ones((1, 2)))",
        "ArgumentError",
    ),
    "an uneven batch": ("gluon.utils.split_data(nd.ones((5, 2)), 2)", "ShapeError"),
    "a function that is none": ("nn.Lambda('no_such_function')", "ArgumentError"),
    "a lambda of nothing": ("nn.HybridLambda(5)", "ArgumentError"),
    "a weight that is none": (
        "gluon.loss.L1Loss('heavy')(nd.ones((2, 2)), nd.ones((2, 2)))",
        "ArgumentError",
    ),
    "a missing parameter": (
        "nd.save(FILE, {'0.weight': nd.ones((2, 3))})\nnet = nn.HybridSequential()\n"
        "net.add(nn.Dense(2, in_units=3))\nnet.load_parameters(FILE)",
        "ParameterFileError",
    ),
    "one too many": (
        "nd.save(FILE, {'0.weight': nd.ones((2, 3)), '0.bias': nd.ones((2,)), '1.bias': "
        "nd.ones((2,))})\nnet = nn.HybridSequential()\nnet.add(nn.Dense(2, in_units=3))\n"
        "net.load_parameters(FILE)",
        "ParameterFileError",
    ),
    "a file with another shape": (
        "nd.save(FILE, {'0.weight': nd.ones((2, 3)), '0.bias': nd.ones((2,))})\n"
        "net = nn.HybridSequential()\nnet.add(nn.Dense(2, in_units=4))\n"
        "net.load_parameters(FILE)",
        "ParameterFileError",
    ),
    "a file with another type": (
        "nd.save(FILE, {'0.weight': nd.ones((2, 3), dtype='float64'), '0.bias': nd.ones((2,))})\n"
        "net = nn.HybridSequential()\nnet.add(nn.Dense(2, in_units=3))\n"
        "net.load_parameters(FILE)",
        "ParameterFileError",
    ),
    "a file for another device": (
        "net = nn.HybridSequential()\nnet.add(nn.Dense(2, in_units=3))\nnet.initialize()\n"
        "net.save_parameters(FILE)\nnet.load_parameters(FILE, ctx=mx.cpu(1))",
        "ParameterFileError",
    ),
    "a file that is none": (
        "open(FILE, 'w').write('nothing of the kind')\nnn.Dense(2).load_parameters(FILE)",
        "EngineError",
    ),
    "a file cut short": (
        "net = nn.Dense(2, in_units=3)\nnet.initialize()\nnet.save_parameters(FILE)\n"
        "data = open(FILE, 'rb').read()\nopen(FILE, 'wb').write(data[:-30])\n"
        "net.load_parameters(FILE)",
        "EngineError",
    ),
}
