"""What a saved report of a million events weighs, and how soon it shows and answers."""

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser, CDPSession, Page

from mxprof_nb.trace import Trace, TraceBuilder
from mxprof_nb.trace.schema import FLOW_KINDS
from mxprof_nb.view.report import save_html
from tests.benchmarks.harness import LeftOut, duration, figure
from tests.browser.lab import find_chromium, running_chromium

MILLION = 1_000_000
WORKERS = 7
#: Shares of the run that views show, each at several places.
ZOOMS, PLACES = (1.0, 0.3, 0.1, 0.01, 0.001), 6
LOADS = 3


@lru_cache(maxsize=1)
def training(events: int) -> Trace:
    """Calls on a host, an operator of each on one of several workers, waits, a memory curve."""
    random = np.random.default_rng(0)
    builder = TraceBuilder()
    calls = events * 10 // 21
    host = builder.track("MainThread", role="host")
    workers = np.array([builder.track(f"worker {k}", role="worker") for k in range(WORKERS)])
    counter = builder.track("Memory: cpu/0", role="counter")
    sites = np.array([builder.site("train.py", k, "step", f"y{k} = f(x)") for k in range(40)])
    names = np.array(builder.strings([f"operator {k}" for k in range(60)]))
    pause = random.exponential(30_000, calls).astype(np.int64)
    took = random.lognormal(7, 0.5, calls).astype(np.int64)
    start = np.cumsum(pause + took) - took
    worker = random.integers(0, WORKERS, calls)
    length = random.lognormal(10.5, 1, calls).astype(np.int64)
    begin = np.empty(calls, dtype=np.int64)
    for k in range(WORKERS):
        (mine,) = np.nonzero(worker == k)
        # Each begins when it is queued and the one before has ended.
        ended = np.cumsum(length[mine]) - length[mine]
        ready = start[mine] + took[mine] // 2 + 2_000
        begin[mine] = np.maximum.accumulate(ready - ended) + ended
    waits = np.arange(0, calls, 10)
    kind = random.zipf(1.4, calls) % len(names)
    builder.add_events(
        start_ns=start, dur_ns=took, kind=0, name=builder.string("MXImperativeInvokeEx"),
        category=1, domain=builder.string("MXNET_C_API"), track=host, site=sites[kind % 40],
    )  # fmt: skip
    builder.add_events(
        start_ns=begin, dur_ns=length, kind=0, name=names[kind], category=0,
        domain=builder.string("operator"), track=workers[worker], site=sites[kind % 40],
        queued_ns=start + took // 2,
    )  # fmt: skip
    builder.add_events(
        start_ns=(start + took)[waits] + 10, dur_ns=pause[waits] // 2, kind=0,
        name=builder.string("WaitForVar"), category=3, domain=builder.string("operator"),
        track=host, site=sites[kind[waits] % 40],
    )  # fmt: skip
    for time_ns, value in zip(
        start[::20].tolist(), random.normal(1e8, 1e7, len(start[::20])).tolist(), strict=True
    ):
        builder.counter("Memory: cpu/0", track=counter, time_ns=time_ns, value=value, unit="B")
    rows = np.arange(calls)
    for first, last, why in (
        (rows, rows + calls, "launch"),
        (waits + calls, np.arange(len(waits)) + 2 * calls, "read_after_write"),
    ):
        for source, target in zip(first.tolist(), last.tolist(), strict=True):
            builder.flow(source, target, FLOW_KINDS[FLOW_KINDS.index(why)])
    return builder.build()


@contextmanager
def shown() -> Iterator[tuple[Browser, Path]]:
    """The report of a million events, and a browser to show it in."""
    executable = find_chromium()
    if executable is None:
        raise LeftOut("there is no Chromium")
    with tempfile.TemporaryDirectory() as folder, running_chromium(executable) as browser:
        yield browser, save_html(training(MILLION), Path(folder) / "report.html")


def megabytes(number: float) -> str:
    return f"{number / 1e6:.2f} MB"


def opened(browser: Browser, path: Path) -> tuple[Page, CDPSession]:
    """Return a page that shows the report, its picture drawn, and its own account of its time."""
    page = browser.new_page(viewport={"width": 1300, "height": 1000})
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.goto(path.as_uri(), wait_until="commit")
    page.locator("canvas").wait_for()
    return page, session


def busy_s(session: CDPSession) -> float:
    """Return the CPU time of the page's main thread: other people's work is not in it."""
    told = session.send("Performance.getMetrics")["metrics"]
    return float(next(entry["value"] for entry in told if entry["name"] == "TaskDuration"))


def redraws(of: Callable[[Page, CDPSession, str], float]) -> list[float]:
    """Return what each redraw took, of all zooms."""
    with shown() as (browser, path):
        page, session = opened(browser, path)
        page.locator(".mxp-table tbody tr").first.wait_for()
        random = np.random.default_rng(0)
        took = []
        for zoom in np.repeat(ZOOMS, PLACES):
            begin = (1 - zoom) * random.random()
            took.append(of(page, session, f"[{begin}, {begin + zoom}]"))
        return took


REDRAW = """async () => {{
    const begin = performance.now();
    report.range = {shares}.map(share => share * report.span);
    report.drawNow();
    const drawn = performance.now() - begin;
    await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
    return drawn;
}}"""


def _wall(page: Page, _session: CDPSession, shares: str) -> float:
    return float(page.evaluate(REDRAW.format(shares=shares))) * 1e6


def _cpu(page: Page, session: CDPSession, shares: str) -> float:
    before = busy_s(session)
    page.evaluate(REDRAW.format(shares=shares))
    return (busy_s(session) - before) * 1e9


@figure(
    "report, size", of="a file of 1,000,000 events with links", wanted="at most 10 MB",
    show=megabytes,
)  # fmt: skip
def size(_pairs: int) -> Sequence[float]:
    with tempfile.TemporaryDirectory() as folder:
        return [save_html(training(MILLION), Path(folder) / "report.html").stat().st_size]


@figure("report, write", of="the same file", wanted="no limit set", show=duration)
def write(_pairs: int) -> Sequence[float]:
    trace, found = training(MILLION), []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(LOADS):
            begin = time.perf_counter_ns()
            save_html(trace, Path(folder) / "report.html")
            found.append(time.perf_counter_ns() - begin)
    return found


@figure(
    "report, first picture", of="opening that file, until the canvas is drawn",
    wanted="at most 2 s", show=duration,
)  # fmt: skip
def first_picture(_pairs: int) -> Sequence[float]:
    return [wall for wall, _ in _openings()]


@figure(
    "report, first picture, CPU", of="CPU time of the page's main thread until then",
    wanted="at most 2 s", show=duration,
)  # fmt: skip
def first_picture_cpu(_pairs: int) -> Sequence[float]:
    return [cpu for _, cpu in _openings()]


@lru_cache(maxsize=1)
def _openings() -> list[tuple[int, float]]:
    """Return what it took to open the file, wall time and CPU time, in ns."""
    found = []
    with shown() as (browser, path):
        for _ in range(LOADS):
            begin = time.perf_counter_ns()
            page, session = opened(browser, path)
            found.append((time.perf_counter_ns() - begin, busy_s(session) * 1e9))
            page.close()
    return found


@figure(
    "report, redraw", of="drawing that file's canvas at all zooms", wanted="at most 50 ms",
    show=duration,
)  # fmt: skip
def redraw(_pairs: int) -> Sequence[float]:
    return redraws(_wall)


@figure(
    "report, redraw, 95 %", of="CPU time of the page's main thread", wanted="at most 50 ms",
    show=duration,
)  # fmt: skip
def redraw_cpu(_pairs: int) -> Sequence[float]:
    return [float(np.percentile(redraws(_cpu), 95))]
