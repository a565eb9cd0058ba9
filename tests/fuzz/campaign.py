"""Damage to files of one format for some time."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence

import hypothesis
from hypothesis import HealthCheck, given, settings

from tests.fuzz.mutations import damaged
from tests.fuzz.outcome import outcome, traced_memory

__all__ = ["fuzz"]

_BATCH = 100


def fuzz(format: str, samples: Sequence[bytes], seconds: float, first: int = 0) -> Counter[str]:
    """Damage samples until the time is over and return what came of it, by outcome.

    The same ``first`` gives the same files in the same order.

    Raises
    ------
    Exception
        What one of them brought about, with the smallest damage that does.
    """
    found: Counter[str] = Counter()

    def attempt(content: bytes) -> None:
        found[outcome(format, content)] += 1

    end = time.monotonic() + seconds
    batch = first
    with traced_memory():
        while not found or time.monotonic() < end:
            run = settings(
                max_examples=_BATCH, deadline=None, database=None, derandomize=False,
                suppress_health_check=list(HealthCheck),
            )(given(damaged(samples))(attempt))  # fmt: skip
            hypothesis.seed(batch)(run)()
            batch += 1
    return found
