"""The tables of `mx.profiler` against what real MXNet 1.9.1 printed for the same program."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from mxprof_nb.runtime.aggregate import MEMORY_DOMAINS, format_json, format_table
from mxprof_nb.trace import Trace, TraceBuilder
from tests.reference.mxnet_programs import Output

#: Calls that the package docstring says MXNet's front end makes more often than ours.
FEWER = ("MXNDArrayGetShapeEx", "MXNet C API Calls", "MXNet C API Concurrency")

Rows = dict[str, tuple[int, list[float]]]


#: Rows that are counters and not durations.
COUNTERS = (*FEWER[1:], "mycounter", "c_noinit", "c_paused")

#: Programs of one pass and of two, and with objects of the program's own.
FILES = ("seed1_trace", "seed1_trace_twice", "user_objects")


@pytest.fixture(scope="module")
def ours(written_by_us: dict[str, Output]) -> dict[str, str]:
    """The table that our runtime prints for each program."""
    return {program: output.table for program, output in written_by_us.items()}


def tables(text: str) -> dict[str, Rows]:
    """Return count and figures of each row of each domain."""
    found: dict[str, Rows] = {}
    for domain, body in re.findall(r"^([^\n]+)\n={17}\n(.*?\n)\n", text, re.MULTILINE | re.DOTALL):
        rows = re.findall(r"^(.+?) +(\d+)((?: +-?\d+\.\d{4})+)$", body, re.MULTILINE)
        found[domain] = {
            name: (int(count), [float(figure) for figure in figures.split()])
            for name, count, figures in rows
        }
    return found


def masked(text: str) -> str:
    """Return a table without figures, and with its rows, which they put in order, by name."""
    # A counter that wrapped around has more digits than its column.
    text = re.sub(r" \d{12,}\.\d{4}", "#.####".rjust(17), text)
    text = re.sub(r" +-?\d+\.\d{4}", lambda found: "#.####".rjust(len(found[0])), text)
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


def theirs(golden: Path, program: str) -> str:
    """Return the table that MXNet printed, but for what is an error here, and for names it cut."""
    text = without_garbage(golden, program)
    text = re.sub(r"^(dbl +)2 ", r"\g<1>1 ", text, flags=re.MULTILINE)
    return re.sub(r"^L+ ", f"{'L' * 200} ", text, flags=re.MULTILINE)


def without_garbage(golden: Path, program: str) -> str:
    """Return the table that MXNet printed, without what was stopped and never started."""
    text = (golden / f"{program}_dumps.txt").read_text()
    return re.sub(r"^never_started .*\n", "", text, flags=re.MULTILINE)


@pytest.mark.parametrize("program", FILES)
def test_the_table_is_that_of_mxnet_but_for_its_figures(golden, ours, program):
    assert masked(ours[program]) == masked(theirs(golden, program))


@pytest.mark.parametrize("program", FILES)
def test_the_json_says_what_the_table_says(written_by_us, program):
    def constant(text: str) -> None:
        raise AssertionError(f"{text} is not JSON")

    output = written_by_us[program]
    told = json.loads(output.json, parse_constant=constant)
    assert told.pop("Unit") == {"Time": "ms", "Memory": "kB"}
    assert [*told] == ["Time", "Memory"]
    of_table = tables(output.table)
    of_json = {**told["Time"], **told["Memory"]}
    assert of_json.keys() == of_table.keys()
    for domain, rows in of_table.items():
        assert [*of_json[domain]] == [*rows], domain
        for name, (count, figures) in rows.items():
            row = of_json[domain][name]
            assert row.pop("Count") == count
            assert [*row] == (["Total"] if "Total" in row else []) + ["Min", "Max", "Avg"]
            assert [*row.values()] == pytest.approx(figures, abs=5.1e-5)


@pytest.mark.parametrize("program", FILES)
def test_everything_occurs_as_often_as_in_mxnet(golden, ours, program):
    expected, found = tables(theirs(golden, program)), tables(ours[program])
    assert found.keys() == expected.keys()
    for domain, rows in expected.items():
        counts = {name: count for name, (count, _) in rows.items()}
        for name in (*FEWER, "WaitForVar"):  # whether a wait blocks is a matter of time
            counts.pop(name, None)
        assert counts == {
            name: count
            for name, (count, _) in found[domain].items()
            if name not in (*FEWER, "WaitForVar")
        }


@pytest.mark.parametrize("program", FILES[:2])
def test_memory_is_that_of_mxnet_to_the_byte(golden, ours, program):
    expected = tables(theirs(golden, program))["Device Storage"]
    assert extremes(tables(ours[program])["Device Storage"]) == extremes(expected)


def extremes(rows: Rows) -> Rows:
    """Return rows of counters without their averages, which MXNet makes of the extremes."""
    return {name: (count, figures[:-1]) for name, (count, figures) in rows.items()}


def test_two_passes_are_twice_one_but_for_the_set_up(ours):
    once, twice = tables(ours["seed1_trace"]), tables(ours["seed1_trace_twice"])
    for domain, rows in once.items():
        for name, (count, _) in rows.items():
            if name != "WaitForVar":
                times = 1 if name == "ResourceParallelRandomSetSeed" else 2
                assert twice[domain][name][0] == times * count, name


def test_calls_are_as_many_as_their_rows_say(ours):
    rows = tables(ours["seed1_trace"])["MXNET_C_API"]
    calls = sum(count for name, (count, _) in rows.items() if not name.startswith("MXNet C API"))
    assert rows["MXNet C API Calls"][0] == calls
    assert rows["MXNet C API Concurrency"][0] == 2 * calls
    # The last value, the smallest, the largest, as MXNet has them, and the mean.
    assert rows["MXNet C API Calls"][1] == pytest.approx(
        [calls / 1000, 0.001, calls / 1000, (calls + 1) / 2 / 1000], abs=6e-5
    )
    assert rows["MXNet C API Concurrency"][1] == pytest.approx([0, 0, 0.001, 0.0005], abs=6e-5)


# Order of the rows: the figures of MXNet, put into a trace and printed by us


def samples(count: int, last: float, low: float, high: float) -> list[float]:
    """Return samples of a counter with this number, last, smallest and largest."""
    found = [low, high] if last in (low, high) or count > 2 else [last]
    found += [low] * (count - 1 - len(found))
    found = [*found[: count - 1], last] if count > 2 else [low + high - last, last][-count:]
    assert (len(found), found[-1], min(found), max(found)) == (count, last, low, high)
    return found


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
            if domain in MEMORY_DOMAINS:
                micros.insert(0, micros[1])
            if domain in MEMORY_DOMAINS or name in COUNTERS:
                track = builder.track(domain, role="counter")
                for time, value in enumerate(samples(count, *micros[:3])):
                    builder.counter(name, track=track, time_ns=time, value=float(value), unit="")
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
        if not rows:  # markers have none
            builder.event("m", track=host, start_ns=0, kind="instant", domain=domain)
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


@pytest.mark.parametrize(
    "program",
    [
        *FILES,
        *("seed2_train", "custom_sym", "custom_sym_naive", "custom_sym_noimp", "custom_imp"),
        *("custom_imp_naive", "custom_imp_nosym", "custom_grad", "custom_grad_naive"),
    ],
)
def test_from_the_figures_of_any_table_comes_the_same_table(golden, program):
    text = without_garbage(golden, program)
    ours = format_table(trace_of(tables(text)))
    figure = r"-?\d+\.\d{4}"
    found, expected = without_averages(ours), without_averages(text)
    assert re.sub(figure, "#", found) == re.sub(figure, "#", expected)
    # Theirs went through numbers of 32 bits.
    assert [float(text) for text in re.findall(figure, found)] == pytest.approx(
        [float(text) for text in re.findall(figure, expected)], rel=1e-6, abs=1.1e-4
    )


def without_averages(text: str, by_average: bool = False) -> str:
    """Return a table without the averages of counters, or without counters if these order it."""
    counters = rf"^((?:Memory: |{'|'.join(COUNTERS)})[^\n]*?) +\d+\.\d{{4}}\n"
    return re.sub(counters, "" if by_average else r"\1\n", text, flags=re.MULTILINE)
