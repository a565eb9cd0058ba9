"""What one thread does to its arrays, and what a serial program in NumPy would get.

Every action is done twice: queued on the engine, and at once on NumPy arrays. The values are
whole numbers small enough for float32, so both must agree to the last bit.
"""

from __future__ import annotations

import random
import weakref
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

import mxprof_nb.runtime as mx
from mxprof_nb.runtime import Context, NDArray
from tests.stress.model import BINARY, SCALAR, UNARY, Array, Box, Cycle, Failures, Memory

__all__ = ["Player"]

SHAPE = (4, 4)
MEMORIES, HANDLES, BOXES = 16, 5, 4
#: Whole numbers below it stay exact in float32, also after one product of two matrices.
LARGE = 1 << 10


class Player:
    """One thread's arrays and boxes, and everything it may do with them.

    Attributes
    ----------
    queued : Counter
        How often each operator was queued, by the name that profiles show.
    echoes, heard : list of int
        What functions of its own queued when run: expected, and what arrived.
    chunks : list of weakref
        All memory it ever had, to see it given back.
    """

    def __init__(
        self,
        seed: str,
        failures: Failures,
        drop: Callable[[object], None],
        *,
        bulks: bool,
        devices: int,
    ) -> None:
        self.random = random.Random(seed)
        self.failures = failures
        self.drop = drop
        self.bulks = bulks
        self.devices = devices
        self.pool: list[Memory] = []
        self.boxes = [Box() for _ in range(BOXES)]
        self.queued: Counter[str] = Counter()
        self.echoes: list[int] = []
        self.heard: list[int] = []
        self.chunks: list[weakref.ref[Any]] = []
        for _ in range(4):
            self.make()

    def act(self) -> None:
        """Do one thing."""
        self.random.choices(list(ACTIONS), list(ACTIONS.values()))[0](self)
        while len(self.pool) > MEMORIES:
            self.forget()

    # What there is

    def memory(self) -> Memory:
        if not self.pool:
            self.make()
        return self.random.choice(self.pool)

    def array(self) -> Array:
        return self.random.choice(self.memory().handles)

    def partner(self, x: Array, shape: tuple[int, ...]) -> Array | None:
        """Return an array of this shape on the same device, perhaps the same array."""
        fitting = [
            handle
            for memory in self.pool
            if memory.context is x.memory.context
            for handle in memory.handles
            if handle.values.shape == shape
        ]
        return self.random.choice(fitting) if fitting else None

    def number(self) -> int:
        return self.random.randint(-3, 9)

    def context(self) -> Context:
        return mx.cpu(self.random.randrange(self.devices))

    def add(self, ours: NDArray, values: Any, context: Context, failure: int = 0) -> None:
        """Take up a new array."""
        values = np.array(values, np.float32, order="C")
        assert ours.shape == values.shape
        assert ours.context is context
        memory = Memory(values, context, failure)
        memory.handles.append(Array(ours, memory, memory.values, ours.view is None))
        self.chunks.append(weakref.ref(ours.chunk))
        self.pool.append(memory)

    def wrote(self, x: Array, *inputs: Array) -> None:
        """Note what writing to an array leaves of failures; the first cause is passed on."""
        causes = [y.memory.failure for y in inputs if y.memory.failure]
        if causes:
            x.memory.failure = causes[0]
        elif x.whole:
            x.memory.failure = 0
        if np.abs(x.memory.values).max(initial=0) >= LARGE:
            base = x.memory.handles[0]
            base.ours[:] = base.ours % 97
            base.values[...] = base.values % 97
            self.queued.update(("_mod_scalar", "CopyCPU2CPU"))

    def result(self, name: str, ours: NDArray, values: Any, *inputs: Array) -> None:
        self.queued[name] += 1
        if np.abs(values).max(initial=0) >= LARGE:
            self.queued["_mod_scalar"] += 1
            ours, values = ours % 97, values % 97
        causes = [y.memory.failure for y in inputs if y.memory.failure]
        self.add(ours, values, inputs[0].memory.context, causes[0] if causes else 0)

    # Making arrays

    def make(self) -> None:
        context, n = self.context(), self.number()
        values = np.full(SHAPE, n, np.float32)
        kind = self.random.randrange(4)
        if kind == 0:
            self.queued["_full"] += 1
            self.add(mx.nd.full(SHAPE, n, ctx=context), values, context)
        elif kind == 1:
            self.queued["_ones"] += 1
            self.add(mx.nd.ones(SHAPE, ctx=context), values * 0 + 1, context)
        elif kind == 2:
            self.queued["_random_uniform"] += 1  # nothing between n and n but n
            self.add(mx.nd.random.uniform(n, n, shape=SHAPE, ctx=context), values, context)
        else:
            values = values + np.arange(16, dtype=np.float32).reshape(SHAPE)
            self.add(mx.nd.array(values, ctx=context), values, context)

    def fail(self) -> None:
        context, failure = self.context(), self.failures.new()
        self.queued["_random_normal"] += 1
        ours = mx.nd.random.normal(scale=-failure, shape=SHAPE, ctx=context)
        self.add(ours, np.zeros(SHAPE), context, failure)

    def combine(self) -> None:
        x = self.array()
        name, (ours, numpy) = self.random.choice(list(BINARY.items()))
        if y := self.partner(x, x.values.shape):
            self.result(name, ours(x.ours, y.ours), numpy(x.values, y.values), x, y)

    def combine_with_number(self) -> None:
        x, n = self.array(), self.number()
        name, (ours, numpy) = self.random.choice(list(SCALAR.items()))
        self.result(name, ours(x.ours, n), numpy(x.values, np.float32(n)), x)

    def map(self) -> None:
        x = self.array()
        name, (ours, numpy) = self.random.choice(list(UNARY.items()))
        if name != "slice" or len(x.values) > 2:  # elements side by side would be shared
            self.result(name, ours(x.ours), numpy(x.values), x)

    def dot(self) -> None:
        x = self.array()
        if x.values.ndim == 2 and (y := self.partner(x, x.values.shape)):
            self.result(
                "dot",
                mx.nd.dot(x.ours, y.ours, transpose_b=True),
                np.dot(x.values, y.values.T),
                x,
                y,
            )

    def sum(self) -> None:
        x = self.array()
        self.result("sum", x.ours.sum(axis=0), np.atleast_1d(x.values.sum(axis=0)), x)

    # Writing to arrays

    def change(self) -> None:
        x, n = self.array(), self.number()
        y = self.partner(x, x.values.shape)
        kind = self.random.randrange(4)
        if kind == 0:
            x.ours += n
            x.values += n
        elif kind == 1:
            x.ours *= n
            x.values *= n
        elif kind == 2 and y:
            x.ours += y.ours
            x.values += y.values.copy()
        elif y:
            x.ours -= y.ours
            x.values -= y.values.copy()
        else:
            return
        self.queued[("_plus_scalar", "_mul_scalar", "broadcast_add", "broadcast_sub")[kind]] += 1
        self.wrote(x, x, *([y] if kind > 1 and y else []))

    def set_all(self) -> None:
        x, n = self.array(), self.number()
        y = self.partner(x, x.values.shape)
        kind = self.random.randrange(4)
        if kind == 0:
            x.ours[:] = n
            x.values[...] = n
            self.queued["_full"] += 1
            self.wrote(x)
        elif kind == 1 and y and y.ours is not x.ours:
            x.ours[:] = y.ours
            x.values[...] = y.values.copy()
            self.queued["CopyCPU2CPU"] += 1
            self.wrote(x, y)
        elif kind == 2 and (x.whole or not x.memory.failure):
            x.ours[:] = np.full(x.values.shape, n, np.float32)  # waits for who uses it
            x.values[...] = n
            self.wrote(x)

    def set_rows(self) -> None:
        x, n = self.array(), self.number()
        begin, end = sorted(self.random.sample(range(len(x.values) + 1), 2))
        part = x.values[begin:end]
        if len(part) == len(x.values):
            return  # that is `set_all`
        kind = self.random.randrange(3)
        if kind == 0:
            x.ours[begin:end] = n
            part[...] = n
            self.queued["_slice_assign_scalar"] += 1
            self.wrote_part(x)
        elif kind == 1 and (y := self.partner(x, part.shape)):
            x.ours[begin:end] = y.ours
            part[...] = y.values.copy()
            self.queued["_slice_assign"] += 1
            self.wrote_part(x, y)
        else:
            x.ours[begin:end] = np.full(part.shape, n, np.float32)
            part[...] = n
            self.queued["_slice_assign"] += 1
            self.wrote_part(x)

    def wrote_part(self, x: Array, *inputs: Array) -> None:
        # The rest of the array is an input: what it lacked, it lacks afterwards.
        self.wrote(x, x, *inputs)

    def copy_over(self) -> None:
        """Copy into another array, also of another device."""
        x, y = self.array(), self.array()
        if x.values.shape == y.values.shape and x is not y:
            y.ours.copyto(x.ours)
            x.values[...] = y.values.copy()
            self.queued["CopyCPU2CPU"] += 1
            self.wrote(x, y)

    def move(self) -> None:
        """Copy an array to another device."""
        x = self.array()
        context = mx.cpu((x.memory.context.device_id + 1) % self.devices)
        if context is x.memory.context:
            return
        self.queued["CopyCPU2CPU"] += 1
        self.add(x.ours.as_in_context(context), x.values, context, x.memory.failure)

    def view(self) -> None:
        memory = self.memory()
        if len(memory.handles) >= HANDLES:
            return
        x = self.random.choice(memory.handles)
        row = self.random.randrange(len(x.values))
        kind = self.random.randrange(3)
        if kind == 0 and x.values.ndim > 1:
            ours, values = x.ours[row], x.values[row]
        elif kind == 1:
            ours, values = x.ours[row:], x.values[row:]
        else:
            ours, values = x.ours.reshape(-1), x.values.reshape(-1)
        memory.handles.append(Array(ours, memory, values, ours.view is None))

    # Functions

    def push(self) -> None:
        """Queue a function of some boxes, which may fail."""
        reads = self.random.sample(self.boxes, self.random.randint(0, 3))
        writes = self.random.sample(self.boxes, self.random.randint(0, 2))
        # What is written is written anew, also where it is read as well.
        causes = [box.failure for box in reads if box.failure]
        failure = self.failures.new() if not causes and self.random.random() < 0.1 else 0
        echo = not causes and not failure and self.random.random() < 0.1
        n = self.number()

        def function() -> None:
            if failure:
                raise ValueError(f"scale=-{failure}")
            value = (n + sum(box.actual for box in reads)) % 97
            for box in writes:
                box.actual = value
            if echo:  # a worker may queue, and is never held back
                mx.engine.push(lambda: self.heard.append(n), name="echo")

        context = self.context()
        name = f"function of {context.label}"
        self.queued[name] += 1
        if echo:
            self.queued["echo"] += 1
            self.echoes.append(n)
        mx.engine.push(
            function,
            reads=[box.var for box in reads],
            writes=[box.var for box in writes],
            name=name,
            priority=self.random.randint(-5, 5),
            ctx=context,
        )
        value = (n + sum(box.expected for box in reads)) % 97
        for box in writes:
            box.failure = causes[0] if causes else failure
            if not box.failure:
                box.expected = value

    # Waiting and dropping

    def check(self, x: Array | None = None) -> None:
        x = x or self.array()
        value = self.failures.expect(x.memory.failure, x.ours.asnumpy)
        assert value is None or value.tolist() == x.values.tolist()

    def check_all(self) -> None:
        """Compare everything there is."""
        for memory in self.pool:
            for x in memory.handles:
                self.check(x)
        for box in self.boxes:
            self.check_box(box)

    def check_box(self, box: Box | None = None) -> None:
        box = box or self.random.choice(self.boxes)
        self.failures.expect(box.failure, box.var.wait_to_read)
        assert box.failure or box.actual == box.expected, (box.actual, box.expected)

    def wait(self) -> None:
        x = self.array()
        self.failures.expect(x.memory.failure, x.ours.wait_to_read)

    def wait_for_all(self) -> None:
        self.failures.wait_for_all()

    def choose_bulk_size(self) -> None:
        if self.bulks:
            mx.engine.set_bulk_size(self.random.choice([0, 2, 5, 20, 100]))

    def take(self) -> Memory:
        """Give up some memory and all that stands for it."""
        memory = self.memory()
        self.pool.remove(memory)
        return memory

    def forget(self) -> None:
        """Drop some memory here, on another thread, or where the collector finds it."""
        memory = self.take()
        handles = memory.handles[:]
        memory.handles.clear()
        kind = self.random.randrange(3)
        if kind == 1:
            self.drop(handles)
        elif kind == 2:
            Cycle(handles)


#: What a player does, and how often.
ACTIONS: dict[Callable[[Player], None], float] = {
    Player.make: 6,
    Player.fail: 1,
    Player.combine: 8,
    Player.combine_with_number: 6,
    Player.map: 6,
    Player.dot: 4,
    Player.sum: 2,
    Player.change: 10,
    Player.set_all: 8,
    Player.set_rows: 8,
    Player.copy_over: 3,
    Player.move: 4,
    Player.view: 8,
    Player.push: 14,
    Player.check: 3,
    Player.check_box: 2,
    Player.wait: 2,
    Player.wait_for_all: 0.3,
    Player.choose_bulk_size: 2,
    Player.forget: 5,
}
