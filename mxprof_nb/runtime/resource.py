"""The resource manager: what operators ask for besides their inputs, one per device.

Set up by the first operator that asks it for space or random numbers, once per process; the
first use of either is therefore slower, which a profile shows as
``ResourceParallelRandomSetSeed`` (MXNet: ``src/resource.cc``).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import numpy as np

from mxprof_nb.record import RECORDER
from mxprof_nb.runtime.context import Context
from mxprof_nb.runtime.engine import Operator, Variable, default_engine
from mxprof_nb.runtime.engine.fork import in_child

__all__ = ["Resources", "resources", "seed_all"]

_SET_UP = RECORDER.labels.define("ResourceParallelRandomSetSeed", "engine", "operator")
_RESEED = RECORDER.labels.define("ResourceRandomSetSeed", "engine", "operator")

_now = RECORDER.clock.now
_managers: dict[Context, Resources] = {}
_making = threading.Lock()
#: Seed given for all devices, also for those that are set up later.
_common_seed: int | None = None


@in_child
def _renew() -> None:
    global _making
    _making = threading.Lock()  # another thread may have held it
    for context, manager in list(_managers.items()):
        if not hasattr(manager, "generator"):
            del _managers[context]  # it was being set up


class Resources:
    """Random numbers of one device.

    Operators that draw *write* ``variable``, so they run one after the other in program order
    and results do not depend on which worker ran what.

    Attributes
    ----------
    variable : Variable
        Orders the use of the generator.
    ready : Variable or None
        Written by the set-up; None once it has run and nobody needs to wait for it any more.
    generator : numpy.random.Generator
        Exists once the set-up has run.
    """

    def __init__(self, context: Context) -> None:
        self.context = context
        self.variable = Variable()
        self.ready: Variable | None = Variable()
        self.generator: np.random.Generator
        sequence = np.random.SeedSequence() if _common_seed is None else self._seeded(_common_seed)
        _queue(lambda _: self._set_up(sequence), (self.variable, self.ready), _SET_UP)

    def _set_up(self, sequence: np.random.SeedSequence) -> None:
        self._start(sequence)
        self.ready = None

    def _seeded(self, number: int) -> np.random.SeedSequence:
        # Negative seeds are as good as others in MXNet; equal ones differ from device to device.
        return np.random.SeedSequence((number % 2**64, self.context.device_id))

    def _start(self, sequence: np.random.SeedSequence) -> None:
        self.generator = np.random.Generator(np.random.Philox(sequence))

    def seed(self, number: int) -> None:
        """Queue the start of a new sequence of random numbers."""
        sequence = self._seeded(number)
        _queue(lambda _: self._start(sequence), (self.variable,), _RESEED)


def _queue(run: Callable[[Operator], None], writes: Sequence[Variable], label: int) -> None:
    operator = Operator(run, writes=writes, label=label)
    operator.urgent = True  # who asks holds the lock that others need before they can go on
    if RECORDER.on:
        operator.queued_ns = _now()
    default_engine().push(operator)


def resources(context: Context) -> Resources:
    """Return the resources of a device, setting them up when asked for the first time."""
    found = _managers.get(context)
    if found is None:
        with _making:
            found = _managers.get(context)
            if found is None:
                found = _managers[context] = Resources(context)
    return found


def seed_all(number: int) -> None:
    """Queue the start of a new sequence of random numbers on every device."""
    global _common_seed
    _common_seed = number
    for manager in list(_managers.values()):
        manager.seed(number)
