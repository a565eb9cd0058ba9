"""The benchmark harness, on a clock that only moves when told."""

import gc
from collections.abc import Iterator

import numpy as np
import pytest

from tests.benchmarks import harness
from tests.benchmarks.harness import (
    Benchmark,
    Clock,
    Elapsed,
    Figure,
    LeftOut,
    Pair,
    Ratio,
    Samples,
    benchmark,
    figure,
    measure,
)


class FakeTime:
    """A machine on which work takes exactly as long as it says; CPU time runs at half speed."""

    def __init__(self) -> None:
        self.now = 0
        self.log: list[str] = []
        self.clock = Clock(lambda: self.now, lambda: self.now // 2)

    def work(self, name: str, *durations: int):
        left = list(durations)

        def way() -> None:
            self.log.append(name)
            self.now += left.pop(0) if len(left) > 1 else left[0]

        return way

    def row(self, a: tuple[int, ...], b: tuple[int, ...], repeats: int = 1) -> Benchmark:
        registry: dict[str, Benchmark] = {}

        @benchmark("row", baseline="a", candidate="b", registry=registry)
        def row() -> Iterator[Pair]:
            self.log.append("set up")
            yield Pair(self.work("A", *a), self.work("B", *b), repeats)
            self.log.append("clean up")

        return registry["row"]


@pytest.fixture
def fake() -> FakeTime:
    return FakeTime()


def samples(a, b) -> Samples:
    return Samples(np.column_stack([a, b]).astype(float))


def test_both_ways_run_in_turn_after_one_warm_up(fake: FakeTime):
    measure(fake.row((1,), (1,)), pairs=3, clock=fake.clock)
    assert fake.log == ["set up", *"AB", *"ABABAB", "clean up"]


def test_the_warm_up_is_not_counted(fake: FakeTime):
    wall, cpu = measure(fake.row((10**9, 200), (10**9, 600)), pairs=5, clock=fake.clock)
    assert wall.medians_ns == (200, 600)
    assert cpu.medians_ns == (100, 300)


def test_times_are_for_one_piece_of_work(fake: FakeTime):
    wall, _ = measure(fake.row((200,), (600,), repeats=100), pairs=5, clock=fake.clock)
    assert wall.medians_ns == (2, 6)


def test_a_way_that_ran_elsewhere_is_believed_what_it_measured(fake: FakeTime):
    registry: dict[str, Benchmark] = {}

    @benchmark("row", baseline="", candidate="", registry=registry)
    def row() -> Iterator[Pair]:
        here = fake.work("A", 100)
        yield Pair(here, lambda: (here(), Elapsed(wall_ns=8, cpu_ns=6))[1], repeats=2)

    wall, cpu = measure(registry["row"], pairs=3, clock=fake.clock)
    assert wall.medians_ns == (50, 4)
    assert cpu.medians_ns == (25, 3)


def test_the_collector_is_off_meanwhile_and_as_before_afterwards(fake: FakeTime):
    seen = []
    registry: dict[str, Benchmark] = {}

    @benchmark("row", baseline="", candidate="", registry=registry)
    def row() -> Iterator[Pair]:
        yield Pair(lambda: seen.append(gc.isenabled()), lambda: 1 / 0)

    with pytest.raises(ZeroDivisionError):
        measure(registry["row"], pairs=1, clock=fake.clock)
    assert seen == [False]
    assert gc.isenabled()


@pytest.mark.parametrize(
    ("ratio", "verdict"),
    [
        (Ratio(1.2, 1.1, 1.3), "slower"),
        (Ratio(0.8, 0.7, 0.9), "faster"),
        (Ratio(1.2, 1.0, 1.3), "no difference shown"),
        (Ratio(0.8, 0.7, 1.0), "no difference shown"),
    ],
)
def test_faster_and_slower_are_said_only_where_the_interval_excludes_one(ratio, verdict):
    assert ratio.verdict == verdict


def test_noise_alone_shows_no_difference():
    rng = np.random.default_rng(1)
    ratio = samples(rng.normal(100, 10, 31), rng.normal(100, 10, 31)).ratio()
    assert ratio is not None
    assert ratio.low < 1 < ratio.high


def test_a_drift_that_meets_both_ways_does_not_hide_a_difference():
    drift = np.linspace(100, 1000, 31)
    ratio = samples(drift, drift * 1.1).ratio()
    assert ratio is not None
    assert (ratio.low, ratio.value, ratio.high) == pytest.approx((1.1, 1.1, 1.1))


def test_work_below_the_clock_has_no_ratio():
    below = samples([0, 0, 0], [5, 5, 5])
    assert below.ratio() is None
    assert below.cells()[-1] == "too short to tell"


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (0, "0 ns"),
        (12.34, "12.3 ns"),
        (999.4, "999 ns"),
        (999.6, "1.00 µs"),
        (123_456, "123 µs"),
        (1_200_000, "1.20 ms"),
        (2.5e9, "2.50 s"),
    ],
)
def test_durations_have_three_digits_and_a_unit(ns: float, text: str):
    assert harness.duration(ns) == text


def test_two_rows_cannot_share_a_name():
    registry: dict[str, Benchmark] = {}
    register = benchmark("row", baseline="", candidate="", registry=registry)
    register(lambda: iter(()))
    with pytest.raises(ValueError, match="'row' already"):
        register(lambda: iter(()))


def test_the_command_prints_a_markdown_table_of_the_rows_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], fake: FakeTime
):
    monkeypatch.setattr(harness, "REGISTRY", {"wanted": fake.row((1,), (1,)), "other": None})
    monkeypatch.setattr(harness, "discover", lambda: None)
    assert harness.main(["--quick", "--only", "wanted"]) == 0
    environment, blank, header, rule, row = capsys.readouterr().out.splitlines()
    assert "7 pairs a row" in environment
    assert blank == ""
    assert {line.count("|") for line in (header, rule, row)} == {10}
    assert row.startswith("| row | a | b | ")


def two_figures() -> dict[str, Figure]:
    figures: dict[str, Figure] = {}

    @figure(
        "held", of="an operator", wanted="at most 2 kB", show="{:.0f} B".format, registry=figures
    )
    def held(pairs: int) -> list[float]:
        return [pairs, 100, 1]

    @figure("impossible", of="", wanted="", show=str, registry=figures)
    def impossible(pairs: int) -> list[float]:
        raise LeftOut("there is no such thing here")

    return figures


def test_figures_have_a_table_of_their_own(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(harness, "REGISTRY", {"other": None})
    monkeypatch.setattr(harness, "FIGURES", two_figures())
    monkeypatch.setattr(harness, "discover", lambda: None)
    assert harness.main(["--quick", "--only", "held"]) == 0
    _, blank, header, rule, row = capsys.readouterr().out.splitlines()
    assert blank == ""
    assert {line.count("|") for line in (header, rule, row)} == {5}
    assert row == "| held | an operator | 7 B (1 B to 100 B) | at most 2 kB |"


def test_a_row_that_cannot_be_measured_here_says_why_and_the_others_follow(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], fake: FakeTime
):
    registry: dict[str, Benchmark] = {}

    @benchmark("absent", baseline="", candidate="", registry=registry)
    def absent() -> Iterator[Pair]:
        raise LeftOut("the other program is not installed")
        yield

    monkeypatch.setattr(harness, "REGISTRY", {**registry, "present": fake.row((1,), (1,))})
    monkeypatch.setattr(harness, "FIGURES", two_figures())
    monkeypatch.setattr(harness, "discover", lambda: None)
    assert harness.main(["--quick"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-3:] == [
        "",
        "absent: left out, the other program is not installed",
        "impossible: left out, there is no such thing here",
    ]
    assert [line.split(" | ")[0] for line in lines if line.startswith("| ")] == [
        "| benchmark",
        "| row",
        "| figure",
        "| held",
    ]


def test_two_figures_cannot_share_a_name():
    with pytest.raises(ValueError, match="'held' already"):
        figure("held", of="", wanted="", show=str, registry=two_figures())(lambda pairs: [])


def test_an_unknown_row_is_refused_with_the_names_there_are(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(harness, "REGISTRY", {"dispatch": None})
    monkeypatch.setattr(harness, "discover", lambda: None)
    with pytest.raises(SystemExit):
        harness.main(["--only", "dispatsh"])
    assert "dispatch" in capsys.readouterr().err
