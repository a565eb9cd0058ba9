"""Carries out a call of an operator written in Python: lends it arrays, takes its results over.

The arrays that its code sees share memory with those of the call, which is not over yet, and have
variables of their own: what the code queues waits for none of the call's.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Coroutine, Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray as NumpyArray

from mxprof_nb.errors import CustomOperatorError
from mxprof_nb.runtime.engine.inside import inside
from mxprof_nb.runtime.handle import View, look
from mxprof_nb.runtime.invoke import Invocation
from mxprof_nb.runtime.mode import set_recording, set_training
from mxprof_nb.runtime.nd import NDArray
from mxprof_nb.runtime.ops import Aval, aval
from mxprof_nb.runtime.ops.custom import Later
from mxprof_nb.runtime.storage import Chunk

__all__ = ["run_backward", "run_forward"]


class Description(Protocol):
    """What is needed of a description; see `mxprof_nb.runtime.operator.declared.Declared`."""

    arguments: list[str]
    outputs: list[str]


class _ReadOnly(NDArray):
    """An input, as `CustomOp.forward` gets it."""

    __slots__ = ()

    def _refuse(self) -> ValueError:
        return ValueError(
            "An operator written in Python cannot write to its inputs. Write to out_data, or to a "
            "copy: x.copy()."
        )

    def __setitem__(self, key: Any, value: Any) -> None:
        raise self._refuse()

    def _combine(self, name: str, other: Any, out: Any = None) -> NDArray:
        if out is self:
            raise self._refuse()
        return super()._combine(name, other, out)


class _Undeclared:
    """Stands for an array that `CustomOp.backward` has not asked for."""

    def __init__(self, told: str) -> None:
        self._told = told

    def __getattr__(self, name: str) -> Any:
        raise CustomOperatorError(
            f"backward uses {self._told}, which declare_backward_dependency did not name."
        )

    def __getitem__(self, key: Any) -> Any:
        return self.shape

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __getitem__


class _Lent:
    """An array of a call, as the code of the operator sees it."""

    def __init__(self, outer: Chunk, view: View, like: Aval, data: NumpyArray[Any]) -> None:
        self.outer, self.view, self.data = outer, view, data
        self.inner = Chunk(0, outer.context)  # of no size: the memory is counted once
        self.inner.data = data
        self.like = like

    def array(self, kind: type[NDArray] = NDArray) -> NDArray:
        """Return it as the code gets it."""
        return kind._of(self.inner, self.like)

    def take_over(self, *, computed: bool) -> None:
        """Give the call what has become of it."""
        outer, made = self.outer, self.inner.data
        if self.view is None:
            outer.data = made
            if computed:
                outer.failure = None
        elif made is not self.data and outer.data is not None and made is not None:
            look(outer.data, self.view)[...] = made
        if self.inner.failure is not None:
            outer.failure = self.inner.failure


class _Loan:
    """All that is lent for one call."""

    def __init__(self, call: Invocation) -> None:
        self.call = call
        self.written: list[_Lent] = []
        self.computed = False
        call.inner = []
        call.settle = self.settle
        mutated = call.op.mutated(len(call.inputs))
        self.inputs: list[Any] = []
        for place, (chunk, view) in enumerate(zip(call.inputs, call.views, strict=True)):
            data: Any = chunk.data
            data = data if view is None else look(data, view)
            like = aval(data.shape, data.dtype)
            if place in mutated:
                self.inputs.append(self._lend(_Lent(chunk, view, like, data)).array())
            else:
                data = data.view()
                data.flags.writeable = False
                lent = self._lend(_Lent(chunk, view, like, data), written=False)
                self.inputs.append(lent.array(_ReadOnly))

    def _lend(self, lent: _Lent, *, written: bool = True) -> _Lent:
        self.call.inner = [*self.call.inner, lent.inner]
        if written:
            self.written.append(lent)
        return lent

    def outputs(self) -> list[NDArray]:
        """Return the results, with memory."""
        call = self.call
        views = call.into or (None,) * len(call.outputs)
        made = []
        for chunk, view, like in zip(call.outputs, views, call.signature.results, strict=True):
            data = chunk.data
            if data is None:
                data = np.zeros(like.shape, like.dtype)
                call.device = chunk.context.memory_label
                call.taken += chunk.nbytes
            elif view is not None:
                data = look(data, view)
            made.append(self._lend(_Lent(chunk, view, like, data)).array())
        return made

    def spare(self, like: Aval) -> NDArray:
        """Return an array that nobody asks for."""
        chunk = Chunk(0, self.call.outputs[0].context)
        return self._lend(
            _Lent(chunk, None, like, np.zeros(like.shape, like.dtype)), written=False
        ).array()

    @contextmanager
    def running(self, *, train: bool) -> Iterator[None]:
        """Run the code, as the call asks for it."""
        recording, training = set_recording(False), set_training(train)
        try:
            with inside(self.call.op.name, self.call.depth), self.call.outputs[0].context:
                yield
            self.computed = True
        finally:
            set_recording(recording)
            set_training(training)

    def settle(self) -> None:
        """Take over what the code has made."""
        for lent in self.written:
            lent.take_over(computed=self.computed)
        # The call and this hold each other: memory would wait for the garbage collector.
        self.written.clear()
        self.inputs.clear()
        self.call.inner = ()
        del self.call.settle


def _failed(call: Invocation) -> bool:
    """Pass on a failure that the call depends on."""
    for chunk in call.inputs:
        if chunk.failure is not None:
            for variable in call.results:
                variable.failure = chunk.failure
            return True
    return False


def _must_have_run(method: str, returned: Any) -> None:
    """Refuse code that has not run: its results would be 0 without a word."""
    if isinstance(returned, (Generator, Coroutine)):
        returned.close()
    if isinstance(returned, (Generator, Coroutine, AsyncGenerator)):
        kind = "yields" if isinstance(returned, Generator) else "is asynchronous"
        raise CustomOperatorError(f"{method} {kind}, so its code does not run. Make it a function.")


def _must_be_there(name: str, lent: Sequence[Any], handed: Sequence[Any]) -> None:
    """Refuse an array that replaces one to be written: nobody would see it."""
    for place, (one, other) in enumerate(zip(lent, handed, strict=False)):
        if one is not other and isinstance(other, NDArray):
            raise CustomOperatorError(
                f"{name}[{place}] = ... puts another array into the list, which nobody sees. Write "
                f"to the one that is there: {name}[{place}][:] = ..., or with assign."
            )


def _dynamic(call: Invocation) -> tuple[Any, bool]:
    """Return what computes, and whether for training."""
    computes, train = call.dynamic
    if isinstance(computes, Later):
        computes = computes.made(call.outputs[0].context.base)
    return computes, train


def run_forward(declared: Description, call: Invocation) -> None:
    """Compute the results."""
    if _failed(call):
        return
    computes, train = _dynamic(call)
    loan = _Loan(call)
    count = len(declared.arguments)
    outputs = loan.outputs()
    handed, states = [*outputs], loan.inputs[count:]
    aux = [*states]
    with loan.running(train=train):
        returned = computes.forward(
            is_train=train,
            req=["write"] * len(outputs),
            in_data=loan.inputs[:count],
            out_data=handed,
            aux=aux,
        )
        _must_have_run("forward", returned)
        _must_be_there("out_data", outputs, handed)
        _must_be_there("aux", states, aux)


def run_backward(declared: Description, needed: Collection[int], call: Invocation) -> None:
    """Compute gradients."""
    if _failed(call):
        return
    computes, train = _dynamic(call)
    attrs = call.signature.attrs
    wanted, like, added = attrs["wanted"], attrs["like"], attrs.get("added", ())
    loan = _Loan(call)
    results, inputs = len(declared.outputs), len(declared.arguments)
    given = iter(loan.inputs)

    def part(name: str, first: int, count: int, *, always: bool = False) -> list[Any]:
        found: list[Any] = []
        for place in range(count):
            array = next(given) if always or first + place in needed else None
            if first + place not in needed:
                array = _Undeclared(f"{name}[{place}]")
            found.append(array)
        return found

    out_grad = part("out_grad", 0, results, always=True)
    in_data = part("in_data", results, inputs)
    states = [next(given) for _ in range(len(like) - inputs)]
    out_data = part("out_data", results + inputs, results)
    made = dict(zip(wanted, loan.outputs(), strict=True))
    req = ["null"] * inputs
    for number, place in enumerate(wanted):
        req[place] = "add" if number in added else "write"
    in_grad = [made[n] if n in made else loan.spare(like[n]) for n in range(inputs)]
    handed, aux = [*in_grad], [*states]
    with loan.running(train=train):
        returned = computes.backward(
            req=req,
            out_grad=out_grad,
            in_data=in_data,
            out_data=out_data,
            in_grad=handed,
            aux=aux,
        )
        _must_have_run("backward", returned)
        _must_be_there("in_grad", [made.get(n, each) for n, each in enumerate(handed)], handed)
        _must_be_there("aux", states, aux)
