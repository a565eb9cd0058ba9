"""The tables of `mx.profiler` against what real MXNet 1.9.1 printed for the same program."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from mxprof_nb.runtime.aggregate import MEMORY_DOMAINS, format_json, format_table
from mxprof_nb.trace import Trace, TraceBuilder
from tests.environment import ROOT

PROGRAM = textwrap.dedent(
    """
    import sys
    import mxprof_nb.runtime as mx

    kept = []
    mx.profiler.set_config(profile_all=True, aggregate_stats=True, filename=sys.argv[2])
    mx.profiler.set_state("run")
    for _ in range(int(sys.argv[1])):
        a = mx.nd.array([[1, 2, 3], [4, 5, 6], [7, 8, 9]])
        b = mx.nd.diag(a)
        c = mx.nd.sum(b, axis=-1)
        mx.nd.waitall()
        kept += [a, b, c]
    mx.profiler.set_state("stop")
    print(mx.profiler.dumps(), end="")
    """
)

#: Calls that the package docstring says MXNet's front end makes more often than ours.
FEWER = ("MXNDArrayGetShapeEx", "MXNet C API Calls", "MXNet C API Concurrency")

Rows = dict[str, tuple[int, list[float]]]


@pytest.fixture(scope="module")
def golden(shared_dir: Path) -> Path:
    folder = shared_dir / "golden" / "mxnet"
    if not folder.is_dir():
        pytest.skip("no recorded output of real MXNet")
    return folder


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> dict[int, str]:
    """What our runtime prints for one pass and for two, each in a process of its own."""
    file = tmp_path_factory.mktemp("dump") / "profile.json"
    return {
        passes: subprocess.run(
            [sys.executable, "-c", PROGRAM, str(passes), str(file)],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            timeout=60,
            check=True,
        ).stdout
        for passes in (1, 2)
    }


def tables(text: str) -> dict[str, Rows]:
    """Return count and figures of each row of each domain."""
    found: dict[str, Rows] = {}
    for domain, body in re.findall(r"^([^\n]+)\n={17}\n(.*?\n)\n", text, re.MULTILINE | re.DOTALL):
        rows = re.findall(r"^(.+?) +(\d+)((?: +\d+\.\d{4})+)$", body, re.MULTILINE)
        found[domain] = {
            name: (int(count), [float(figure) for figure in figures.split()])
            for name, count, figures in rows
        }
    return found


def masked(text: str) -> str:
    """Return a table without figures, and with its rows, which they put in order, by name."""
    text = re.sub(r" +\d+\.\d{4}", lambda found: "#.####".rjust(len(found[0])), text)
    lines = text.splitlines(keepends=True)
    lines = [line for line in lines if not line.startswith("WaitForVar")]
    for name in FEWER:
        lines = [
            re.sub(r"^(.{25}) *\d+ ", r"\1              N ", line)
            if line.startswith(name)
            else line
            for line in lines
        ]
    blocks: list[list[str]] = [[]]
    for line in lines:
        if ("#" in line) != (bool(blocks[-1]) and "#" in blocks[-1][-1]):
            blocks.append([])
        blocks[-1].append(line)
    return "".join(
        "".join(sorted(block) if "#" in block[0] else block) for block in blocks if block
    )


@pytest.mark.parametrize(
    ("passes", "file"), [(1, "seed1_trace_dumps"), (2, "seed1_trace_twice_dumps")]
)
def test_the_table_is_that_of_mxnet_but_for_its_figures(golden, ours, passes, file):
    assert masked(ours[passes]) == masked((golden / f"{file}.txt").read_text())


@pytest.mark.parametrize(
    ("passes", "file"), [(1, "seed1_trace_dumps"), (2, "seed1_trace_twice_dumps")]
)
def test_everything_occurs_as_often_as_in_mxnet(golden, ours, passes, file):
    theirs, found = tables((golden / f"{file}.txt").read_text()), tables(ours[passes])
    assert found.keys() == theirs.keys()
    for domain, rows in theirs.items():
        counts = {name: count for name, (count, _) in rows.items()}
        for name in (*FEWER, "WaitForVar"):  # whether a wait blocks is a matter of time
            counts.pop(name, None)
        assert counts == {
            name: count
            for name, (count, _) in found[domain].items()
            if name not in (*FEWER, "WaitForVar")
        }


@pytest.mark.parametrize(
    ("passes", "file"), [(1, "seed1_trace_dumps"), (2, "seed1_trace_twice_dumps")]
)
def test_memory_is_that_of_mxnet_to_the_byte(golden, ours, passes, file):
    theirs = tables((golden / f"{file}.txt").read_text())["Device Storage"]
    assert extremes(tables(ours[passes])["Device Storage"]) == extremes(theirs)


def extremes(rows: Rows) -> Rows:
    """Return rows of counters without their averages, which MXNet makes of the extremes."""
    return {name: (count, figures[:-1]) for name, (count, figures) in rows.items()}


def test_two_passes_are_twice_one_but_for_the_set_up(ours):
    once, twice = tables(ours[1]), tables(ours[2])
    for domain, rows in once.items():
        for name, (count, _) in rows.items():
            if name != "WaitForVar":
                times = 1 if name == "ResourceParallelRandomSetSeed" else 2
                assert twice[domain][name][0] == times * count, name


def test_calls_are_as_many_as_their_rows_say(ours):
    rows = tables(ours[1])["MXNET_C_API"]
    calls = sum(count for name, (count, _) in rows.items() if not name.startswith("MXNet C API"))
    assert rows["MXNet C API Calls"][0] == calls
    assert rows["MXNet C API Concurrency"][0] == 2 * calls
    # The last value, the smallest, the largest, as MXNet has them, and the mean.
    assert rows["MXNet C API Calls"][1] == pytest.approx(
        [calls / 1000, 0.001, calls / 1000, (calls + 1) / 2 / 1000], abs=6e-5
    )
    assert rows["MXNet C API Concurrency"][1] == pytest.approx([0, 0, 0.001, 0.0005], abs=6e-5)


# Order of the rows: the figures of MXNet, put into a trace and printed by us

MEMORY = {3: [36, 48, 52], 6: [36, 48, 52, 88, 100, 104]}


def durations(count: int, total: int, low: int, high: int) -> list[int]:
    """Return durations in us with this sum, smallest and largest."""
    found = [high] if count == 1 else [low, high]
    rest = total - sum(found)
    for left in range(count - len(found), 0, -1):
        found.append(min(high, rest - low * (left - 1)))
        rest -= found[-1]
    assert (len(found), sum(found)) == (count, total)
    assert (min(found), max(found)) == (low, high)
    return found


def trace_of(theirs: dict[str, Rows]) -> Trace:
    builder = TraceBuilder()
    host = builder.track("MainThread", role="host")
    for domain, rows in theirs.items():
        for name, (count, figures) in rows.items():
            micros = [round(figure * 1000) for figure in figures]
            values: list[int] = []
            if domain in MEMORY_DOMAINS:
                values = MEMORY[count]
            elif name == "MXNet C API Calls":
                values = list(range(1, count + 1))
            elif name == "MXNet C API Concurrency":
                values = [1, 0] * (count // 2)
            if values:
                track = builder.track(domain, role="counter")
                for time, value in enumerate(values):
                    builder.counter(name, track=track, time_ns=time, value=value, unit="")
                continue
            for number, dur in enumerate(durations(count, *micros[:3])):
                builder.event(
                    name,
                    track=host,
                    start_ns=number * 10**9,
                    dur_ns=dur * 1000,
                    kind="async",
                    domain=domain,
                )
    return builder.build()


@pytest.mark.parametrize("prefix", ["", "twice_"])
@pytest.mark.parametrize("sort_by", ["total", "avg", "min", "max", "count"])
@pytest.mark.parametrize("ascending", [False, True])
def test_from_the_same_figures_comes_the_same_text(golden, prefix, sort_by, ascending):
    direction = "asc" if ascending else "desc"
    text = (golden / "sorted" / f"{prefix}table_{sort_by}_{direction}.txt").read_text()
    trace = trace_of(tables(text))
    ours = format_table(trace, sort_by, ascending)
    by_average = sort_by == "avg"
    assert without_averages(ours, by_average) == without_averages(text, by_average)


@pytest.mark.parametrize("prefix", ["", "twice_"])
@pytest.mark.parametrize("sort_by", ["total", "avg", "min", "max", "count"])
@pytest.mark.parametrize("ascending", [False, True])
def test_from_the_same_figures_comes_the_same_json(golden, prefix, sort_by, ascending):
    direction = "asc" if ascending else "desc"
    folder = golden / "sorted"
    table = (folder / f"{prefix}table_{sort_by}_{direction}.txt").read_text()
    theirs = json.loads((folder / f"{prefix}json_{sort_by}_{direction}.txt").read_text())
    ours = json.loads(format_json(trace_of(tables(table)), sort_by, ascending))
    assert ours.pop("Unit") == theirs.pop("Unit")
    for told in (ours, theirs):  # counters: MXNet makes their averages of the extremes
        for domain in (*told["Time"].values(), *told["Memory"].values()):
            for name in [name for name in domain if name.startswith(("Memory: ", "MXNet C API "))]:
                del domain[name]["Avg"]
                if sort_by == "avg":
                    del domain[name]
    assert in_order(ours) == pytest.approx(in_order(theirs), rel=5e-4)  # they have 4 digits
    assert list(in_order(ours)) == list(in_order(theirs))


def in_order(told: object, place: str = "") -> dict[str, object]:
    """Return every value by the keys that lead to it."""
    if not isinstance(told, dict):
        return {place: told}
    found: dict[str, object] = {}
    for key, value in told.items():
        found |= in_order(value, f"{place}/{key}")
    return found


@pytest.mark.parametrize("file", ["seed1_trace_dumps", "seed1_trace_twice_dumps"])
def test_the_default_order_is_that_of_mxnet(golden, file):
    text = (golden / f"{file}.txt").read_text()
    assert without_averages(format_table(trace_of(tables(text)))) == without_averages(text)


def without_averages(text: str, by_average: bool = False) -> str:
    """Return a table without the averages of counters, or without counters if these order it."""
    counters = r"^((?:Memory: |MXNet C API )[^\n]*?) +\d+\.\d{4}\n"
    return re.sub(counters, "" if by_average else r"\1\n", text, flags=re.MULTILINE)
