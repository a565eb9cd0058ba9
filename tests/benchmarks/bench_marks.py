"""What a program pays for its own marks, while nobody records and while somebody does."""

import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any

import mxprof_nb as mp
from mxprof_nb.record import RECORDER
from tests.benchmarks.harness import Pair, benchmark

TIMES = 5000


def _blocks(block: Callable[[], Any]) -> None:
    for _ in range(TIMES):
        with block():
            pass


@benchmark("span, unheard", baseline="with nullcontext()", candidate="with span(...)")
def span_unheard() -> Iterator[Pair]:
    yield Pair(lambda: _blocks(nullcontext), lambda: _blocks(lambda: mp.span("s")), repeats=TIMES)


@benchmark("span, recorded", baseline="with span(...)", candidate="the same, recorded")
def span_recorded() -> Iterator[Pair]:
    def recorded() -> None:
        recording = RECORDER.start()
        try:
            _blocks(lambda: mp.span("s"))
        finally:
            recording.stop()

    yield Pair(lambda: _blocks(lambda: mp.span("s")), recorded, repeats=TIMES)


@benchmark("frames, watched", baseline="sys._getframe()", candidate="the same, children watched")
def frames_watched() -> Iterator[Pair]:
    """Watching child processes must not touch what runs for every record, as a hook would."""
    from mxprof_nb.backends.children import ChildWatch

    def plain() -> None:
        frame = sys._getframe
        for _ in range(20 * TIMES):  # so that putting the wrappers on counts little
            frame()

    def watched() -> None:
        watch = ChildWatch()
        watch.start()
        try:
            plain()
        finally:
            watch.stop()

    yield Pair(plain, watched, repeats=20 * TIMES)
