"""What the engine costs beside real MXNet's, beside raw threads, and when there is nothing to do.

Each way runs in a process of its own, under the same settings and told to the same clocks; CPU
time is that of all threads, the wait for the last operator included.
"""

from collections.abc import Iterator, Sequence

from tests.benchmarks.harness import Elapsed, LeftOut, Pair, benchmark, duration, figure
from tests.reference.runtime_process import OURS, REAL, RuntimeProcess, why_not_real

SMALL, ROUND_TRIPS, PRODUCTS = 2000, 300, 24

AGAINST_MXNET = f"""
left, right = mx.nd.ones((2, 2)), mx.nd.ones((2, 2))

def queued():
    for _ in range({SMALL}):
        left + right
    mx.nd.waitall()

def round_trips():
    for _ in range({ROUND_TRIPS}):
        (left + right).wait_to_read()
"""


def _against_mxnet(function: str, repeats: int, **environment: str) -> Iterator[Pair]:
    if reason := why_not_real():
        raise LeftOut(reason)
    with RuntimeProcess(REAL, environment) as real, RuntimeProcess(OURS, environment) as ours:
        real.define(AGAINST_MXNET)
        ours.define(AGAINST_MXNET)
        yield Pair(
            lambda: Elapsed(*real.time(function)),
            lambda: Elapsed(*ours.time(function)),
            repeats=repeats,
        )


@benchmark("engine, dispatch", baseline="MXNet 2x2 a + b, two workers", candidate="ours")
def dispatch() -> Iterator[Pair]:
    """Wanted: at most 0.33 of MXNet's CPU time."""
    yield from _against_mxnet("queued", SMALL, MXNET_CPU_WORKER_NTHREADS="2")


@benchmark("engine, naive", baseline="MXNet 2x2 a + b, NaiveEngine", candidate="ours")
def naive() -> Iterator[Pair]:
    """Wanted: at most 0.3 of MXNet's CPU time."""
    yield from _against_mxnet("queued", SMALL, MXNET_ENGINE_TYPE="NaiveEngine")


@benchmark("engine, round trip", baseline="MXNet (a + b).wait_to_read()", candidate="ours")
def round_trip() -> Iterator[Pair]:
    """Wanted: no longer than MXNet's."""
    yield from _against_mxnet("round_trips", ROUND_TRIPS, MXNET_CPU_WORKER_NTHREADS="2")


@benchmark(
    "engine, two products",
    baseline="np.dot 512x512 on two threads, one BLAS thread each",
    candidate="the same queued, two workers",
)
def two_products() -> Iterator[Pair]:
    """Wanted: within 5 %."""
    with RuntimeProcess(OURS, {"MXNET_CPU_WORKER_NTHREADS": "2"}) as process:
        process.define(f"""
from concurrent.futures import ThreadPoolExecutor

numbers = np.ones((512, 512), np.float32)
array = mx.nd.ones((512, 512))
threads = ThreadPoolExecutor(2)

def products():
    for _ in range({PRODUCTS // 2}):
        np.dot(numbers, numbers)

def raw():
    for done in [threads.submit(products) for _ in range(2)]:
        done.result()

def queued():
    for _ in range({PRODUCTS}):
        mx.nd.dot(array, array)
    mx.nd.waitall()
""")
        yield Pair(
            lambda: Elapsed(*process.time("raw")),
            lambda: Elapsed(*process.time("queued")),
            repeats=PRODUCTS,
        )


@figure(
    "engine, memory",
    of="one of 20,000 queued 2x2 a + b, its result kept",
    wanted="at most 2 kB",
    show="{:.0f} B".format,
)
def memory(pairs: int) -> Sequence[float]:
    """Bytes that Python holds for each operator behind one that does not end."""
    with RuntimeProcess(OURS) as process:
        process.define("""
import gc, threading, tracemalloc

def held(operators):
    opened = threading.Event()
    array = mx.nd.ones((2, 2))
    mx.engine.push(opened.wait, writes=[array.chunk])
    array + array
    results = [None] * operators
    gc.collect()
    tracemalloc.start()
    for i in range(operators):
        results[i] = array + array
    taken = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    opened.set()
    mx.nd.waitall()
    return taken / operators
""")
        return [process.get("held(20_000)") for _ in range(3)]


STARTS = """
import threading, time

def launched(count, pause):
    started, delays = [], []
    for _ in range(count):
        pause()
        before = time.perf_counter_ns()
        mx.engine.push(lambda: started.append(time.perf_counter_ns()), writes=[mx.engine.Var()])
        while not started:
            pause()
        delays.append(started.pop() - before)
    return delays

def busy_for_a_while():
    end = time.perf_counter_ns() + 1_000_000
    while time.perf_counter_ns() < end:
        pass

def beside_itself(count):
    return launched(count, busy_for_a_while)

def beside_another(count):
    ended = []
    def work():
        while not ended:
            pass
    other = threading.Thread(target=work)
    other.start()
    try:
        return launched(count, lambda: time.sleep(0.001))
    finally:
        ended.append(True)
        other.join()
"""


def _starts(function: str, pairs: int) -> Sequence[float]:
    with RuntimeProcess(OURS) as process:
        process.define(STARTS)
        process.get(f"{function}(20)")
        found: list[float] = process.get(f"{function}({30 * pairs})")
        return found


@figure(
    "engine, start, launcher busy",
    of="launch to start on an idle worker; the launching thread never rests",
    wanted="at most 0.2 ms",
    show=duration,
)
def start_launcher_busy(pairs: int) -> Sequence[float]:
    """How long a worker waits for the interpreter while who gave it work goes on computing."""
    return _starts("beside_itself", pairs)


@figure(
    "engine, start, other busy",
    of="launch to start on an idle worker; a third thread never rests",
    wanted="at most 0.2 ms",
    show=duration,
)
def start_other_busy(pairs: int) -> Sequence[float]:
    """How long it waits beside a thread that has nothing to do with it."""
    return _starts("beside_another", pairs)


@figure(
    "engine, idle",
    of="CPU time of a process whose engine has nothing to do",
    wanted="under 0.1 % of a core",
    show="{:.4f} %".format,
)
def idle(pairs: int) -> Sequence[float]:
    """After some work, so that the workers are there."""
    with RuntimeProcess(OURS) as process:
        process.define("""
import time

mx.nd.ones((2, 2)).wait_to_read()
mx.nd.waitall()

def share(seconds):
    cpu, wall = time.process_time_ns(), time.perf_counter_ns()
    time.sleep(seconds)
    return 100 * (time.process_time_ns() - cpu) / (time.perf_counter_ns() - wall)
""")
        return [process.get("share(0.5)") for _ in range(5)]
