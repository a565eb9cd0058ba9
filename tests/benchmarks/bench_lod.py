"""What it costs to index a timeline, and to answer a view of it."""

import gc
import time
from collections.abc import Callable, Sequence
from functools import lru_cache, partial

import numpy as np

from mxprof_nb.lod import StepLine, TimelineIndex
from mxprof_nb.trace import Trace, TraceBuilder
from mxprof_nb.view.scene import Stage
from tests.benchmarks.harness import duration, figure

MILLION = 1_000_000
SCREEN = {"width_px": 1000, "max_marks": 1000}
#: Shares of the run that views show, each at several random places.
ZOOMS, PLACES = (1.0, 0.3, 0.1, 0.01, 0.001), 8
BUILDS = 3


@lru_cache(maxsize=1)
def forest(events: int, tracks: int, depth: int) -> Trace:
    """Return events of random lengths with pauses between, nested ``depth`` levels deep."""
    random = np.random.default_rng(0)
    roots = events // depth
    track = np.sort(random.integers(0, tracks, roots))
    long = random.lognormal(8.5, 1.5, roots) * depth**2 + 50
    pause = random.exponential(3_000, roots) * np.where(random.random(roots) < 0.001, 200, 1)
    end = np.cumsum(long + pause)
    heads = np.searchsorted(track, track)
    start = end - long - (end - long)[heads]
    levels = [(track, start, start + long)]
    for _ in range(depth - 1):
        track, start, end = levels[-1]
        parent = np.sort(random.integers(0, len(track), roots))
        siblings = np.bincount(parent, minlength=len(track))[parent]
        place = np.arange(roots) - np.searchsorted(parent, parent)
        slot = (end - start)[parent] / siblings
        begin = start[parent] + slot * (place + 0.15 * random.random(roots))
        levels.append((track[parent], begin, begin + slot * (0.1 + 0.7 * random.random(roots))))
    track, start, end = (np.concatenate(part) for part in zip(*levels, strict=True))
    start, end = start.astype(np.int64), end.astype(np.int64)
    builder = TraceBuilder()
    rows = np.array([builder.track(f"worker {k}", role="worker") for k in range(tracks)])
    names = np.array(builder.strings([f"operator {k}" for k in range(60)]))
    builder.add_events(
        start_ns=start,
        dur_ns=end - start,
        kind=0,
        name=names[random.zipf(1.4, len(start)) % len(names)],
        category=0,
        domain=0,
        track=rows[track],
    )
    return builder.build()


@lru_cache(maxsize=1)
def indexed(events: int, tracks: int, depth: int) -> TimelineIndex:
    return TimelineIndex(forest(events, tracks, depth))


def cpu_ns(work: Callable[[], object]) -> int:
    """Return the CPU time that some work takes: other people's work on the machine is not in it."""
    begin = time.process_time_ns()
    work()
    return time.process_time_ns() - begin


def _builds(trace: Trace) -> list[float]:
    gc.collect()
    return [cpu_ns(lambda: TimelineIndex(trace)) / len(trace) for _ in range(BUILDS)]


def _views(index: TimelineIndex, lanes: int | None, rounds: int) -> list[float]:
    """Return, per round, the 95th percentile of the CPU time of views of all zooms."""
    random = np.random.default_rng(0)
    span = index.stop_ns - index.begin_ns
    chosen = None if lanes is None else np.arange(lanes)
    found = []
    for _ in range(rounds + 1):
        took = []
        for zoom in np.repeat(ZOOMS, PLACES):
            width = int(span * zoom)
            begin = index.begin_ns + int((span - width) * random.random())
            window = (begin, begin + width)
            took.append(cpu_ns(partial(index.view, *window, **SCREEN, lanes=chosen)))
        found.append(float(np.percentile(took, 95)))
    return found[1:]  # the first also makes the groups of lanes


@figure(
    "timeline, build",
    of="CPU time to index one of 1,000,000 events, 8 tracks, 5 levels",
    wanted="at most 250 ns",
    show=duration,
)
def build(_pairs: int) -> Sequence[float]:
    return _builds(forest(MILLION, 8, 5))


@figure(
    "timeline, build, 5,000 tracks",
    of="CPU time to index one of 1,000,000 events",
    wanted="at most 250 ns",
    show=duration,
)
def build_wide(_pairs: int) -> Sequence[float]:
    return _builds(forest(MILLION, 5_000, 1))


@figure(
    "timeline, build, deep",
    of="CPU time to index one of 1,000,000 events, 8 tracks, 40 levels",
    wanted="at most 250 ns",
    show=duration,
)
def build_deep(_pairs: int) -> Sequence[float]:
    return _builds(forest(MILLION, 8, 40))


@figure(
    "timeline, memory",
    of="index of one event, 5,000 tracks, groups of lanes included",
    wanted="at most 80 B",
    show="{:.1f} B".format,
)
def memory(_pairs: int) -> Sequence[float]:
    index = indexed(MILLION, 5_000, 1)
    index.view(index.begin_ns, index.stop_ns)
    return [index.nbytes / len(index)]


@figure(
    "timeline, view, 5,000 tracks",
    of="CPU time of a view of all of 1,000,000 events, 95th percentile of 40",
    wanted="at most 12 ms",
    show=duration,
)
def view_wide(pairs: int) -> Sequence[float]:
    return _views(indexed(MILLION, 5_000, 1), None, pairs)


@figure(
    "timeline, view, 40 lanes",
    of="CPU time of a view of 1,000,000 events, 95th percentile of 40",
    wanted="at most 5 ms",
    show=duration,
)
def view(pairs: int) -> Sequence[float]:
    return _views(indexed(MILLION, 8, 5), None, pairs)


@figure(
    "timeline, view, 64 lanes",
    of="CPU time of a view of 64 of 512 lanes, 1,000,000 events, 95th percentile of 40",
    wanted="at most 5 ms",
    show=duration,
)
def view_lanes(pairs: int) -> Sequence[float]:
    return _views(indexed(MILLION, 64, 8), 64, pairs)


@figure(
    "timeline, scene, 5,000 tracks",
    of="CPU time to lay out a window of 1,000,000 events in folded groups, 95th percentile of 40",
    wanted="at most 12 ms",
    show=duration,
)
def scene_wide(pairs: int) -> Sequence[float]:
    stage, random = Stage(forest(MILLION, 5_000, 1)), np.random.default_rng(0)
    found = []
    for _ in range(pairs + 1):
        took = []
        for zoom in np.repeat(ZOOMS, PLACES):
            width = int(stage.span_ns * zoom)
            begin = int((stage.span_ns - width) * random.random())
            took.append(cpu_ns(partial(stage.scene, begin, begin + width)))
        found.append(float(np.percentile(took, 95)))
    return found[1:]  # the first also makes the groups


@figure(
    "timeline, build, 10 million",
    of="CPU time to index one of 10,000,000 events, 8 tracks, 5 levels",
    wanted="at most 600 ns",
    show=duration,
)
def build_large(_pairs: int) -> Sequence[float]:
    return _builds(forest(10 * MILLION, 8, 5))


@figure(
    "timeline, view, 10 million",
    of="CPU time of a view of 10,000,000 events, 40 lanes, 95th percentile of 40",
    wanted="at most 30 ms",
    show=duration,
)
def view_large(pairs: int) -> Sequence[float]:
    return _views(indexed(10 * MILLION, 8, 5), None, pairs)


@figure(
    "timeline, counter",
    of="CPU time to thin 1,000,000 samples to 1,000 pixels",
    wanted="at most 5 ms",
    show=duration,
)
def counter(pairs: int) -> Sequence[float]:
    forest.cache_clear()
    indexed.cache_clear()
    random = np.random.default_rng(0)
    time_ns = np.cumsum(random.integers(1, 2_000, MILLION))
    line = StepLine(time_ns, np.cumsum(random.normal(size=MILLION)))
    whole = (0, int(time_ns[-1]))
    return [
        cpu_ns(lambda: line.corners(*whole, max_points=4 * SCREEN["width_px"]))
        for _ in range(pairs + 1)
    ][1:]
