"""The resource manager: what operators ask for besides their inputs, one per device.

Set up by the first operator that asks it for space or random numbers, once per process; the
first use of either is therefore slower, which a profile shows as
``ResourceParallelRandomSetSeed`` (MXNet: ``src/resource.cc``).
"""

from __future__ import annotations

import numpy as np

from mxprof_nb.record import RECORDER
from mxprof_nb.runtime.context import Context
from mxprof_nb.runtime.engine import Operator, Variable, default_engine

__all__ = ["Resources", "resources"]

_SET_UP = RECORDER.labels.define("ResourceParallelRandomSetSeed", "engine", "operator")
_RESEED = RECORDER.labels.define("ResourceRandomSetSeed", "engine", "operator")

_now = RECORDER.clock.now
_managers: dict[Context, Resources] = {}


class Resources:
    """Random numbers of one device.

    Operators that draw *write* ``variable``, so they run one after the other in program order
    and results do not depend on which worker ran what.

    Attributes
    ----------
    variable : Variable
        Orders the use of the generator.
    generator : numpy.random.Generator
        Exists once the set-up has run.
    """

    def __init__(self, context: Context) -> None:
        self.context = context
        self.variable = Variable()
        self.generator: np.random.Generator
        self.seed(None, label=_SET_UP)

    def seed(self, number: int | None, label: int = _RESEED) -> None:
        """Queue the start of a new sequence of random numbers, an arbitrary one for None."""

        def run(operator: Operator) -> None:
            given = None if number is None else (number, self.context.device_id)
            sequence = np.random.SeedSequence(given)
            self.generator = np.random.Generator(np.random.Philox(sequence))

        operator = Operator(run, writes=(self.variable,), label=label)
        if RECORDER.on:
            operator.queued_ns = _now()
        default_engine().push(operator)


def resources(context: Context) -> Resources:
    """Return the resources of a device, setting them up when asked for the first time."""
    found = _managers.get(context)
    if found is None:
        found = _managers[context] = Resources(context)
    return found
