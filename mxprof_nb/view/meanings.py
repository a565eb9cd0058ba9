"""What the names in a profile mean, one sentence each: names of MXNet, and our own words.

`mxprof_nb.view.glossary` looks names up here, by kind. Names that were never met before follow
from rules that stand there; sentences about operators stand with the operators themselves.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["MEANINGS"]

_CALLS = {
    "MXImperativeInvokeEx": "Queues one operator on arrays and returns before it has run.",
    "MXImperativeInvoke": "Queues one operator on arrays; newer versions call ...InvokeEx.",
    "MXNDArrayCreateEx": "Makes an array: shape, type and device, and memory without values yet.",
    "MXNDArrayCreate": "Makes an array; newer versions call MXNDArrayCreateEx.",
    "MXNDArrayCreateNone": "Makes an array whose shape is not known yet, for a result to come.",
    "MXNDArrayFree": "Drops an array; its memory goes once no queued operator needs it any more.",
    "MXNDArrayAt": "Makes an array of one row that shares the memory of the whole.",
    "MXNDArraySlice": "Makes an array of some rows that shares the memory of the whole.",
    "MXNDArrayReshape64": "Makes an array of another shape that shares the memory of the first.",
    "MXNDArrayGetShapeEx": "Asks for the length of each axis; known without waiting.",
    "MXNDArrayGetShape": "Asks for the length of each axis; newer versions call ...GetShapeEx.",
    "MXNDArrayGetDType": "Asks for the type of the elements; known without waiting.",
    "MXNDArrayGetContext": "Asks which device the array lives on.",
    "MXNDArrayGetStorageType": "Asks whether the array is stored in full or sparsely.",
    "MXNDArrayGetGrad": "Asks for the array that holds the gradient of this one.",
    "MXNDArrayGetGradState": "Asks whether the gradient was computed anew since it was last used.",
    "MXNDArraySetGradState": "Notes that the gradient has been used, so that none is used twice.",
    "MXNDArrayDetach": "Makes an array of the same values through which no gradient flows back.",
    "MXNDArraySyncCopyFromCPU": "Copies numbers in from outside of the runtime, e.g. from NumPy.",
    "MXNDArraySyncCopyToCPU": "Waits for the value and copies it out, e.g. to NumPy.",
    "MXNDArrayWaitToRead": "Holds the host until the value of one array is there.",
    "MXNDArrayWaitToWrite": "Holds the host until nothing reads or writes an array any more.",
    "MXNDArrayWaitAll": "Holds the host until everything that was queued has ended.",
    "MXNDArraySave": "Writes arrays to a file.",
    "MXNDArrayLoad": "Reads arrays from a file.",
    "MXRandomSeed": "Starts the random numbers of all devices anew, from a seed.",
    "MXRandomSeedContext": "Starts the random numbers of one device anew, from a seed.",
    "MXEnginePushSync": "Queues a function of the program for a worker to run.",
    "MXEngineSetBulkSize": "Says how many operators are queued and run as one.",
    "MXAutogradSetIsRecording": "Switches on or off that operators are noted for gradients.",
    "MXAutogradSetIsTraining": "Switches between training and inference, as dropout needs to know.",
    "MXAutogradIsRecording": "Asks whether operators are noted for gradients.",
    "MXAutogradIsTraining": "Asks whether operators run as in training.",
    "MXAutogradMarkVariables": "Says for which arrays gradients are wanted, and where to put them.",
    "MXAutogradBackwardEx": "Queues the operators that compute the gradients of what was noted.",
    "MXCreateCachedOpEx": "Turns a graph of operators into one that can be called at once.",
    "MXCreateCachedOp": "Turns a graph of operators into one; newer versions call ...OpEx.",
    "MXInvokeCachedOp": "Queues all operators of a hybridized block; stands inside ...OpEx.",
    "MXInvokeCachedOpEx": "Queues all operators of a hybridized block with a single call.",
    "MXFreeCachedOp": "Drops the graph of a hybridized block.",
    "MXIsNumpyShape": "Asks whether shapes are read as NumPy reads them, with axes of length 0.",
    "MXSymbolCreateAtomicSymbol": "Makes one node of a graph: an operator with its parameters.",
    "MXSymbolCreateFromFile": "Reads a graph from a file.",
    "MXSymbolCreateFromJSON": "Reads a graph from text in JSON.",
    "MXSymbolSaveToFile": "Writes a graph to a file.",
    "MXSymbolSaveToJSON": "Writes a graph as text in JSON.",
    "MXSymbolGetInternals": "Asks for the results of all nodes of a graph.",
    "MXSymbolGetChildren": "Asks for what the last node of a graph takes.",
    "MXSymbolGetAttr": "Reads a note on a node of a graph.",
    "MXSymbolListAttr": "Lists the notes on all nodes of a graph.",
    "MXSymbolListAttrShallow": "Lists the notes on the last node of a graph.",
    "MXSymbolInferType": "Works out all types in a graph from those of its inputs.",
    "MXSymbolSetAttr": "Writes a note on a node of a graph.",
    "MXSymbolInferShapeEx": "Works out all shapes in a graph from those of its inputs.",
    "MXExecutorBindEX": "Ties a graph to the arrays that it reads and writes, ready to run.",
    "MXExecutorForward": "Queues the operators of a graph, from its inputs to its outputs.",
    "MXExecutorBackwardEx": "Queues the gradients of a graph, from its outputs to its inputs.",
    "MXExecutorOutputs": "Asks for the arrays that hold the results of a graph.",
    "_SimpleBindImpl": "Makes the arrays that a graph reads and writes, and ties it to them.",
    "MXExecutorFree": "Drops a graph that was tied to arrays.",
    "DataLoader.next": "Asks for the next batch of data, and waits for it if need be.",
    "DataLoader.queue": "Queues a batch of data for a worker to load.",
    "MXAggregateProfileStatsPrintEx": "Makes the table that the profiler's dumps() returns.",
}

_ENGINE = {
    "WaitForVar": "The host waits until what an array still needs has been computed.",
    "WaitForAll": "The host waits until nothing is queued.",
    "WaitForBatch": "The host waits until a worker has loaded the next batch of data.",
    "EnginePush": "Queues operators of a graph or a backward pass: one, or several as one.",
    "WaitForRoom": "The host waits because the queue is full, until half of it is done.",
    "DeleteVariable": "The memory of an array that nothing needs any more is given back.",
    "DeleteOperator": "An operator that was prepared for a graph is dropped.",
    "SetupExec": "A graph is made ready to run, once for each set of shapes.",
    "SetValueOp": "A number is written to every element; backward() begins so, with ones.",
    "ImperativeBulk": "Several operators, queued and run as one to save trips through the engine.",
    "CustomOperatorWait": "A worker waits for an operator that is written in Python.",
}

_RESOURCES = {
    "ResourceParallelRandomSetSeed": (
        "Sets up workspace and random numbers when an operator first asks for any, once per "
        "process; it is why a first run takes longer."
    ),
    "ResourceRandomSetSeed": "The random numbers of a device begin anew, from a seed.",
    "ResourceNativeRandomSetSeed": "Random numbers of another kind begin anew, from a seed.",
}

_COUNTERS = {
    "MXNet C API Calls": "How many calls into the runtime there were so far.",
    "MXNet C API Concurrency": "How many calls into the runtime run at the same moment.",
    "Memory: cpu/0": "Bytes that arrays take on the device, since the profile began.",
}

#: Operators of MXNet that the embedded runtime does not have; its own bring their sentences.
_OPERATORS = {
    "_npi_ones": "Array of ones, of mx.np.",
    "_npi_zeros": "Array of zeros, of mx.np.",
    "_npi_add_scalar": "Array plus a number, of mx.np.",
    "_np_dot": "Product of matrices, of mx.np.",
    "_zeros_without_dtype": "Array of zeros that takes its type from what it is used with.",
    "sgd_update": "One step of gradient descent for one array of parameters.",
    "multi_sgd_update": "One step of gradient descent for several arrays of parameters at once.",
    "adam_update": "One step of the optimiser Adam for one array of parameters.",
    "_backward_copy": "Gradient of what only copies or reshapes: it is passed on as it is.",
    "Custom": "An operator that is written in Python.",
}

_CATEGORIES = {
    "operator": "Work on arrays, done by a worker.",
    "api": "A call of the program into the runtime, which as a rule returns at once.",
    "sync": "The host waits; it can do nothing else meanwhile.",
    "copy": "Data is moved, between devices or within one.",
    "memory": "Memory is taken or given back.",
    "engine": "Housekeeping of the engine: set-up, memory given back.",
    "io": "Files are read or written, or data is made ready.",
    "kernel": "A function that runs on a device such as a GPU.",
    "user": "What the program itself marked: tasks, frames, events, markers.",
    "python": "A function of the program that is written in Python.",
    "gc": "Python's garbage collector looks for objects that nobody needs.",
}

_DOMAINS = {
    "MXNET_C_API": "Calls into the runtime, under the names of MXNet's C functions.",
    "data loading": "Batches of data, loaded by workers or where they are asked for.",
    "Device Storage": "Memory that arrays take, per device.",
    "Pool Memory": "Memory that the runtime keeps for later instead of giving it back.",
    "Custom Operator": "Operators that are written in Python, and the ones that they call.",
    "bulk": "Operators that were queued and run together, inside the event of their bulk.",
    "event": "Events of the program: stretches of one thread that it marked.",
}

_TERMS = {
    "count": "How many there were.",
    "total": "All durations added up, also of what ran at the same time.",
    "self time": "Duration without the parts that other bars inside it cover.",
    "mean": "Average: the total divided by the count; of a counter, over time.",
    "p90": "Nine of ten took at most this long.",
    "min": "The smallest.",
    "max": "The largest.",
    "share": "Part of the total of the table.",
    "last": "The value at the end.",
    "launch latency": "Time from queueing an operator to its begin on a worker.",
    "queue": "Operators that were called and have not begun; a worker takes the next from it.",
    "busy": "Time in which something runs; what overlaps counts once.",
    "idle": "Time in which nothing runs.",
    "wait": "Time in which a thread of the program is held until work has ended.",
    "host": "The thread of the program, which calls operators but does not run them.",
    "worker": "A thread of the engine, which runs operators.",
    "dependency": "An operator waits for another whose result it reads, or whose input it writes.",
    "link": "A line from a call to the operator that it queued, or from an operator to a wait.",
    "bulk": "Operators that are queued and run as one.",
    "batch": "Samples of a dataset that go through a network together.",
    "step": "One round of what the program repeats, such as a step of a training.",
    "task": "A piece of work that the program named; it may overlap others.",
    "frame": "One pass of something that repeats, which the program named.",
    "marker": "A moment that the program named.",
    "scope": "A stretch of the program under whose name the memory of its arrays is counted.",
    "recording cost": "Time that recording itself took, estimated from a measurement.",
}

#: Kind of name -> name -> sentence. Of a name that is of several kinds, the first counts.
MEANINGS: Mapping[str, Mapping[str, str]] = {
    "call": _CALLS,
    "engine": _ENGINE,
    "resource": _RESOURCES,
    "counter": _COUNTERS,
    "operator": _OPERATORS,
    "domain": _DOMAINS,
    "category": _CATEGORIES,
    "term": _TERMS,
}
