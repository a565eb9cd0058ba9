"""The embedded runtime: MXNet's public names on an asynchronous engine of our own.

Use it as ``import mxprof_nb.runtime as mx``; after ``register_as("mxnet")`` programs that say
``import mxnet as mx`` get it, too, where MXNet is not installed. Operators are queued and return
at once, a dependency engine orders them by what they read and write, worker threads run NumPy
kernels, and errors travel to the place where a value is first needed.

Differences from MXNet 1.9.1, one per line:

The engine:

- A value that could not be computed raises whenever read; MXNet raises once, then gives garbage.
- A failure in a bulk reaches what depends on it; in MXNet the whole bulk fails.
- A failed operator spoils nothing else; in MXNet what uses the same workspace later fails too.
- A failed array that is overwritten whole (x[:] = 0) can be read; in MXNet it still raises.
- Two workers for each device (or the cores, if fewer), MXNet one; MXNET_CPU_WORKER_NTHREADS counts.
- Copies have a lane of their own for each device; in MXNet the device's workers make them.
- MXNET_EXEC_BULK_EXEC_* are read when they are used; MXNet reads some of them once, at start.
- With MXNET_EXEC_BULK_EXEC_TRAIN and _INFERENCE at 0 hybridized nets are split; in MXNet they stay.
- Priorities order all that is ready; MXNet's processor workers take first come, first served.
- A thread is held back at 100,000 queued operators, see engine.set_queue_limit; MXNet has no limit.
- A shift within one array (a[1:] += a[:-1]) reads all before it writes; MXNet as it goes.
- Random numbers are NumPy's Philox, not MXNet's; seeded ones do not depend on the workers.

Arrays:

- What shapes, types and parameters tell is refused at the call; in MXNet some of it when read.
- All shapes are checked; MXNet's BatchNorm, batch_take, Pad, Pooling, stack and others do not.
- Types and ranks that MXNet refuses here and there are taken: dot of float16, tile of six axes.
- Parameters without a distribution fail everywhere; MXNet draws from some (p=0, negative rates).
- nd.reshape to another number of elements is refused; MXNet gives a part, or garbage.
- Writing at a negative position (x[[-1]] = 9) counts from the end; MXNet writes beside the array.
- nd.scatter_nd and softmax_cross_entropy refuse what is out of range; MXNet uses memory beside it.
- Whole numbers divided by 0 give some number; in MXNet the process ends.
- Mean and norm of whole numbers are right; in MXNet sums wrap, or are rounded at each step.
- linalg.trsm fails for a 0 on the diagonal; MXNet gives infinities.
- Powers of whole numbers wrap when they overflow; MXNet cuts them to the smallest number.
- Arrays of truth values choose elements (x[mask]); MXNet takes them for the positions 0 and 1.
- None beside arrays in an index, x[[0, 1], None], stays in its place; MXNet moves it.
- Sorting puts NaN behind all numbers; in MXNet it disturbs the order of the others.
- Max pooling and relu keep NaN; MXNet drops it.
- Sorts are stable; MXNet keeps the order of equal elements in up to 16 only.
- Arrays without elements can be made, nd.ones((0, 2)); MXNet takes 0 for an unknown length.
- Arrays have an axis or more: nd.array(5) has shape (1,); in MXNet (), which no operator takes.
- BatchNorm with fix_gamma leaves gamma as it is; MXNet writes 1 to it.
- SoftmaxOutput wants one label for each softmax; MXNet wants shape[:-1] and uses the first.
- SoftmaxActivation takes the softmax over all of a sample; MXNet over its last axis.
- LeakyReLU with act_type="rrelu" draws slopes while training; in MXNet 1.9.1 the process ends.
- Dropout with p=1 gives 0; MXNet NaN.
- Layers compute float16 in float32 and round once; MXNet loses digits, or refuses.
- The gradient of selu below 0 is that of selu; MXNet multiplies by its scale twice.
- The gradient of "full" average pooling divides as its result does; in MXNet not for float32.
- The gradients of prod with a 0 and of norm at 0 are numbers; MXNet gives NaN.
- A device is a Context; some functions of MXNet also take a string, ctx="cpu(1)".
- nd.load of a missing file is a FileNotFoundError; in MXNet an MXNetError.
- float(x), int(x), np.array(x), np.mean(x), x.item() and x.tolist() work; in MXNet none does.
- Devices go by device=, current_device and to_device, too; in MXNet 1.9.1 by ctx= alone.
- Absent: gluon.rnn, mx.np, sparse, some optimisers, RNN, Sequence*, CTCLoss, others.

Gradients:

- Writing to a recorded array is refused before it is done; MXNet writes, then raises.
- A head that is named twice counts twice; MXNet counts it once.
- Gradients follow the mode of the forward pass; MXNet's that of backward(train_mode=...).
- The backward of an autograd.Function runs, and raises, where backward() is called; in MXNet later.
- What an autograd.Function gives is added for grad_req="add"; MXNet loses it.
- autograd.mark_variables checks shapes and numbers; in MXNet the process ends.
- autograd.grad(create_graph=True) passes x * 2, a + b, dot, mean and others; MXNet fewer.
- A bias of FullyConnected has a gradient though the weight has none; in MXNet it is not computed.

Symbols:

- A graph from a file is checked whole; MXNet takes inputs and results that are not there.
- Shapes are inferred together with types, and refused with them; MXNet looks at shapes alone.
- Operators of optimisers can stand in a graph; MXNet does not know what they take.
- contrib.boolean_mask cannot stand in a graph: values decide its shape. In MXNet it can.
- LeakyReLU with act_type="rrelu" has one result in a graph; in MXNet its mask is another.
- autograd.get_symbol counts nodes from 0 each time; MXNet goes on counting.
- Writing a graph has no MXSymbolRemoveAmpCast in profiles: there are no such casts.
- Slopes of a prelu have their gradient in a graph, too; MXNet computes in place and spoils it.

Networks:

- A hybridized block can be called with arguments nested in another way; MXNet refuses.
- A block within a hybridized one can get more layers; MXNet goes on with the graph without them.
- Results of a hybridized block are nested in tuples where hybrid_forward has them; MXNet has lists.
- hybridize() refuses options it does not know; MXNet keeps them for other backends.
- There are no other backends for graphs: hybridize(backend=...) and optimize_for are refused.
- export returns the names of both files; MXNet nothing.
- What does not fit is a Shape-, Argument- or ParameterError; in MXNet often an AssertionError.
- A file of parameters is checked before one is set; MXNet sets those before the one that fails.
- initialize() that fails for a parameter initializes none; in MXNet those before it.
- initialize() takes Mixed, Load and functions of name and array; MXNet Initializers only.
- Names that end in running_mean, moving_var and alike have rules in mx.init; MXNet refuses them.
- A Parameter that is an attribute belongs to its block; in MXNet only one that params.get made.
- Layers take arguments by name, net(x, mask=m); in MXNet by place only.
- Embedding(sparse_grad=True) has a dense gradient; MXNet a sparse one.
- ParameterDict.zero_grad runs zeros_like for each gradient; MXNet one operator for all.
- PoissonNLLLoss(compute_full=True) can be recorded; MXNet refuses.
- Layers over three axes of space are absent (Conv3D, MaxPool3D).

Data:

- DataLoader has threads that load batches ahead (num_workers); in MXNet they are processes.
- After an error in a worker a DataLoader can be used again; MXNet's has ended its workers.
- MNIST reads files that are there, gzipped or not, and downloads nothing; MXNet checks their sha1.
- Absent: the other datasets and pictures of files, Resize, crops, flips, colours and rotations.

Training:

- NAG's momentum takes the decay of the weight before the step; MXNet, in place, of that after it.
- AdaDelta leaves the gradient as it is; MXNet multiplies it by rescale_grad in place.
- A step with a stale gradient changes nothing; MXNet takes the gradients before it as used.
- A learning rate beside a schedule, which it replaces, is a warning; MXNet prints it.
- States of optimisers are saved as arrays and JSON; MXNet writes pickles, which are not read here.
- There are no key-value stores: a trainer adds gradients up by add_n and updates on each device.
- A batch that does not fit leaves a metric as it was; MXNet may have added a part of it.
- Figures of metrics are floats of Python; MXNet's are often NumPy's.
- CompositeEvalMetric.get_metric raises for a number too high; MXNet returns the error.
- PearsonCorrelation(average="micro") begins anew at reset_local; MXNet's goes on.

Executors:

- bind and simple_bind refuse names and lengths that do not fit the graph; MXNet passes over some.
- Executor.backward wants a forward pass and bound gradients; MXNet goes back over what is there.
- A graph runs on one device in memory of its own: group2ctx, shared_exec and alike do nothing.
- Executor.grad_dict has None for arguments without gradient; in MXNet it fails if none has one.
- Executor.set_monitor_callback, debug_str and get_optimized_symbol are absent.

Operators written in Python:

- Their errors keep message and lines where a value is needed; MXNet prints them and raises others.
- Their inputs cannot be written; in MXNet that changes the arrays of the caller.
- Waiting for everything inside of one is refused; MXNet waits for ever.
- A name that another class has is refused; MXNet notes in its log that it replaces it.
- A missing forward or backward is an error, what it does not write is 0; in MXNet both are garbage.
- Another array put in place of out_data[0] is an error; in MXNet the result is garbage.
- create_operator gets types of NumPy; in MXNet the numbers that stand for them.
- nd.Custom takes inputs by name, too; in MXNet the process ends.

What profiles show:

- Fewer operators ask for resources, x + 1 not; in MXNet it sets them up.
- What a graph or a way back queues has an EnginePush, domain engine; MXNet has no record of it.
- The members of a bulk or segment lie inside it with their own times; MXNet shows the whole only.
- NaiveEngine records a segment once; MXNet twice.
- MXNET_EXEC_BULK_EXEC_INFERENCE=0 and _TRAIN=0 split hybridized blocks, too; in MXNet they do not.
- Binding queues no SetupExec, and heads' gradients are not copied (CopyCPU2CPU) as in MXNet.
- The gradient of add_n or batch_dot is one operator; in MXNet there is one for each input.
- Pooling has one result; in MXNet a hidden second one, whose gradient is _zeros_without_dtype.
- WaitForVar lasts as long as the host was blocked, on its row; MXNet records a worker's callback.
- Dropping an array under 64 kB takes less than reading the clock, so it lasts 0; MXNet times it.
- A wait of no length counts as one that did not block and has no WaitForVar; MXNet's may be 0 long.
- DeleteVariable lies where the memory was given back; MXNet has a worker do it later.
- nd.array asks for shape and type once each; MXNet's front end asks for the shape eleven times.
- MXNet API Calls and Concurrency count from the start of the profile, not of the process.
- Times are kept in nanoseconds; MXNet counts whole microseconds.

The profiler:

- Operators queued before a stop or pause belong to the profile; MXNet loses those that end later.
- A file is valid and whole after every dump; MXNet appends to it or leaves it open.
- Files tell more: args, names of threads, a key mxprof; our reader needs them, viewers do not.
- Numbers of processes and threads in files are small; MXNet's are hashes that JavaScript rounds.
- Begins and ends of a thread nest in files, on a further thread if need be; MXNet's may cross.
- Both records of an operator have the same times; in MXNet they differ by microseconds.
- Frames are b/e in files and markers have an id; as MXNet writes them, viewers leave them out.
- Batches of a DataLoader, and waits for them, have rows, but none in dumps(); MXNet has no record.
- WaitForAll and WaitForRoom stand in files under engine; MXNet has no record of such waits.
- Counters fall below 0 and have fractions; MXNet's wrap around and are whole.
- A configuration applies whole or not at all; MXNet may apply half of one that it refuses.
- dump() again does nothing; MXNet raises.
- Averages of counters are averages; MXNet has half the range.
- Figures keep every digit; MXNet rounds them to 32 bits, and in JSON to four digits.
- Names are whole and escaped in tables, JSON and files; MXNet cuts and does not escape them.
- Stopping what was not started is an error; MXNet takes a beginning from memory.
- Domain('') is an error; MXNet ends the process.
- MXNET_PROFILER_MODE unset records everything; MXNet leaves operators on arrays out.
- profiler.scope, annotate and set_config(profile_pool=True) exist; MXNet 1.9.1 has none of them.
"""

from typing import NoReturn

from mxprof_nb.runtime import (
    absent,
    attribute,
    autograd,
    base,
    context,
    engine,
    executor,
    gluon,
    initializer,
    lr_scheduler,
    metric,
    name,
    nd,
    operator,
    optimizer,
    profiler,
    random,
    symbol,
)
from mxprof_nb.runtime.alias import register_as
from mxprof_nb.runtime.attribute import AttrScope
from mxprof_nb.runtime.base import MXNetError
from mxprof_nb.runtime.context import (
    Context,
    Device,
    cpu,
    current_context,
    current_device,
    gpu,
    num_gpus,
)
from mxprof_nb.runtime.nd import NDArray, waitall

#: MXNet's other names of the same modules, and the version that all this follows.
ndarray, rnd, init, device, sym = nd, random, initializer, context, symbol
__version__ = "1.9.1"

__all__ = [
    "AttrScope",
    "Context",
    "Device",
    "MXNetError",
    "NDArray",
    "attribute",
    "autograd",
    "base",
    "context",
    "cpu",
    "current_context",
    "current_device",
    "device",
    "engine",
    "executor",
    "gluon",
    "gpu",
    "init",
    "initializer",
    "lr_scheduler",
    "metric",
    "name",
    "nd",
    "ndarray",
    "num_gpus",
    "operator",
    "optimizer",
    "profiler",
    "random",
    "register_as",
    "rnd",
    "sym",
    "symbol",
    "waitall",
]


def __getattr__(name: str) -> NoReturn:
    raise absent.no_such_name(name, __all__)
