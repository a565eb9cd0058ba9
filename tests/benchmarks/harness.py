"""Is B faster or slower than A, and by how much?

Two ways to do the same work run in turn, A B A B ..., so that whatever else the machine does
meets both. The ratio is the median over the pairs of B / A, its interval the middle 95 % of the
medians of resampled pairs (percentile bootstrap; Efron and Tibshirani, An Introduction to the
Bootstrap, 1993, chapter 13). "faster" and "slower" are said only where that interval excludes 1.

A row is a generator in a module `bench_*.py` of this folder: set up, yield a `Pair`, clean up.

    @benchmark("dispatch", baseline="NumPy add", candidate="queued add")
    def dispatch():
        ...
        yield Pair(lambda: numpy.add(x, y), lambda: mx.nd.add(a, b))

A way that runs elsewhere, in a process of its own, returns the `Elapsed` it measured there. What
is no comparison, such as bytes, is a `Figure`, in a table of its own. A row that cannot be
measured on this machine raises `LeftOut` while it is set up.
"""

import argparse
import gc
import importlib
import os
import platform
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

PAIRS = 31
QUICK_PAIRS = 7
RESAMPLES = 2000
HEADER = (
    "| benchmark | A | B | wall A | wall B | B / A (95 %) | CPU A | CPU B | B / A (95 %) |\n"
    "|---|---|---|--:|--:|---|--:|--:|---|"
)


FIGURES_HEADER = "| figure | of | median (smallest to largest) | wanted |\n|---|---|---|---|"


class LeftOut(Exception):
    """A row cannot be measured here; the text says why."""


@dataclass(frozen=True)
class Elapsed:
    """What one call of a way took where it ran, in ns."""

    wall_ns: int
    cpu_ns: int


@dataclass(frozen=True)
class Pair:
    """The two ways; each call of either does the work `repeats` times."""

    baseline: Callable[[], object]
    candidate: Callable[[], object]
    repeats: int = 1


@dataclass(frozen=True)
class Benchmark:
    """A row of the table: its name, both ways in words, and how to set them up."""

    name: str
    baseline: str
    candidate: str
    setup: Callable[[], AbstractContextManager[Pair]]


@dataclass(frozen=True)
class Figure:
    """A row of the second table: what is measured, on what, and what it should be.

    `take` returns samples; it is called with the number of pairs that a comparison would get.
    `show` returns a value with its unit.
    """

    name: str
    of: str
    wanted: str
    show: Callable[[float], str]
    take: Callable[[int], Sequence[float]]


@dataclass(frozen=True)
class Clock:
    """Where time comes from: wall time, and CPU time of all threads of this process."""

    wall_ns: Callable[[], int] = time.perf_counter_ns
    cpu_ns: Callable[[], int] = time.process_time_ns


SYSTEM_CLOCK = Clock()


@dataclass(frozen=True)
class Ratio:
    """B / A with its 95 % interval."""

    value: float
    low: float
    high: float

    @property
    def verdict(self) -> str:
        if self.low > 1:
            return "slower"
        return "faster" if self.high < 1 else "no difference shown"

    def __str__(self) -> str:
        return f"{self.value:.3g} ({self.low:.3g} to {self.high:.3g}), {self.verdict}"


@dataclass(frozen=True)
class Samples:
    """Nanoseconds for one piece of work; the columns are A and B, the rows the pairs."""

    ns: NDArray[np.float64]

    @property
    def medians_ns(self) -> tuple[float, float]:
        a, b = np.median(self.ns, axis=0)
        return float(a), float(b)

    def ratio(self) -> Ratio | None:
        """Return B / A, or None where A took less than the clock can tell."""
        if not self.ns[:, 0].all():
            return None
        ratios = self.ns[:, 1] / self.ns[:, 0]
        drawn = np.random.default_rng(0).integers(len(ratios), size=(RESAMPLES, len(ratios)))
        low, high = np.percentile(np.median(ratios[drawn], axis=1), [2.5, 97.5])
        return Ratio(float(np.median(ratios)), float(low), float(high))

    def cells(self) -> list[str]:
        return [*map(duration, self.medians_ns), str(self.ratio() or "too short to tell")]


REGISTRY: dict[str, Benchmark] = {}
FIGURES: dict[str, Figure] = {}


def benchmark(
    name: str, *, baseline: str, candidate: str, registry: dict[str, Benchmark] = REGISTRY
) -> Callable[[Callable[[], Iterator[Pair]]], Callable[[], Iterator[Pair]]]:
    """Register a generator of one `Pair` as the row `name`."""

    def register(rows: Callable[[], Iterator[Pair]]) -> Callable[[], Iterator[Pair]]:
        if name in registry:
            raise ValueError(f"there is a benchmark {name!r} already; give this one its own name")
        registry[name] = Benchmark(name, baseline, candidate, contextmanager(rows))
        return rows

    return register


def figure(
    name: str,
    *,
    of: str,
    wanted: str,
    show: Callable[[float], str],
    registry: dict[str, Figure] = FIGURES,
) -> Callable[[Callable[[int], Sequence[float]]], Callable[[int], Sequence[float]]]:
    """Register a function that returns samples as the figure `name`."""

    def register(take: Callable[[int], Sequence[float]]) -> Callable[[int], Sequence[float]]:
        if name in registry:
            raise ValueError(f"there is a figure {name!r} already; give this one its own name")
        registry[name] = Figure(name, of, wanted, show, take)
        return take

    return register


def measure(row: Benchmark, pairs: int, clock: Clock = Clock()) -> tuple[Samples, Samples]:
    """Run a row's pairs and return what they took in wall time and in CPU time."""
    times = np.zeros((2, pairs, 2))
    collector_was_on = gc.isenabled()
    gc.disable()  # a collection would be paid by whoever happens to run
    try:
        with row.setup() as pair:
            ways = (pair.baseline, pair.candidate)
            for way in ways:  # the first call also imports, allocates and fills caches
                way()
            for i in range(pairs):
                gc.collect()
                for j, way in enumerate(ways):
                    wall, cpu = clock.wall_ns(), clock.cpu_ns()
                    told = way()
                    times[:, i, j] = clock.wall_ns() - wall, clock.cpu_ns() - cpu
                    if isinstance(told, Elapsed):
                        times[:, i, j] = told.wall_ns, told.cpu_ns
    finally:
        if collector_was_on:
            gc.enable()
    times /= pair.repeats
    return Samples(times[0]), Samples(times[1])


def table_row(row: Benchmark, wall: Samples, cpu: Samples) -> str:
    """Return a row of the Markdown table."""
    cells = [row.name, row.baseline, row.candidate, *wall.cells(), *cpu.cells()]
    return f"| {' | '.join(cells)} |"


def figure_row(row: Figure, samples: Sequence[float]) -> str:
    """Return a row of the second table."""
    median, low, high = map(row.show, (np.median(samples), min(samples), max(samples)))
    return f"| {row.name} | {row.of} | {median} ({low} to {high}) | {row.wanted} |"


def duration(ns: float) -> str:
    """Return a time with three significant digits, in the unit that fits."""
    for unit, scale in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        # 999.5 ns would be rounded to 1e+03 ns.
        if ns >= 0.9995 * scale:
            return f"{ns / scale:#.3g}".rstrip(".") + f" {unit}"
    return f"{ns:.3g} ns"


def discover() -> None:
    """Import the modules beside this one that register rows."""
    for path in sorted(Path(__file__).parent.glob("bench_*.py")):
        importlib.import_module(f"tests.benchmarks.{path.stem}")


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table, row by row as it is measured."""
    discover()
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks",
        description="Measure pairs of ways to do the same work and print a Markdown table.",
    )
    parser.add_argument(
        "--quick", action="store_true", help=f"{QUICK_PAIRS} pairs a row instead of {PAIRS}"
    )
    names = [*REGISTRY, *FIGURES]
    parser.add_argument(
        "--only", action="append", metavar="NAME", choices=names, help="this row alone"
    )
    options = parser.parse_args(argv)
    pairs = QUICK_PAIRS if options.quick else PAIRS
    chosen = options.only or names
    print(
        f"Python {platform.python_version()}, NumPy {np.__version__}, {platform.system()} "
        f"{platform.machine()}, {os.cpu_count()} cores; {pairs} pairs a row"
    )
    left_out: list[str] = []
    tables: tuple[tuple[str, dict[str, Callable[[], str]]], ...] = (
        (HEADER, {name: partial(_measured, row, pairs) for name, row in REGISTRY.items()}),
        (FIGURES_HEADER, {name: partial(_taken, row, pairs) for name, row in FIGURES.items()}),
    )
    for header, rows in tables:
        wanted = [name for name in chosen if name in rows]
        if wanted:
            print(f"\n{header}", flush=True)
        for name in wanted:
            try:
                print(rows[name](), flush=True)
            except LeftOut as reason:
                left_out.append(f"{name}: left out, {reason}")
    if left_out:
        print("", *left_out, sep="\n")
    return 0


def _measured(row: Benchmark, pairs: int) -> str:
    return table_row(row, *measure(row, pairs))


def _taken(row: Figure, pairs: int) -> str:
    return figure_row(row, row.take(pairs))
