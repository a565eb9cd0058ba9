"""What Perfetto and chrome://tracing themselves make of the Chrome traces that we write."""

from __future__ import annotations

import gzip
import io
import re
from collections import Counter
from collections.abc import Iterator
from typing import Literal

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from playwright.sync_api import Browser

import mxprof_nb.runtime as mx
from mxprof_nb.io import load
from mxprof_nb.io.chrome_writer import write_chrome
from mxprof_nb.record import RECORDER, freeze
from mxprof_nb.trace import Meta, Trace, TraceBuilder, schema
from tests.browser.viewers import FAULTS, Catapult, Perfetto, served_viewers
from tests.property.made_traces import traces
from tests.traces import dot_cell, many

pytestmark = pytest.mark.browser

Layout = Literal["own", "mxnet"]
#: What chrome://tracing says of flows to points in time and asynchronous events.
_ABOUT_FLOWS = re.compile(r"Found flow phase|event id \d+ does not (start|end) at an actual slice")
SLICES = "select name, dur from slice"
SAMPLES = "select t.name, c.value from counter c join counter_track t on t.id = c.track_id"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with served_viewers() as found:
        yield found


@pytest.fixture(scope="module")
def perfetto(chromium: Browser, address: str) -> Perfetto:
    return Perfetto(chromium, address)


@pytest.fixture(scope="module")
def catapult(chromium: Browser, address: str) -> Catapult:
    return Catapult(chromium, address)


def written(trace: Trace, layout: Layout = "own") -> bytes:
    file = io.BytesIO()
    write_chrome(trace, file, layout=layout)
    return file.getvalue()


def recorded() -> Trace:
    """A run of the runtime: calls, operators, waits, memory, an asynchronous range."""
    recording = RECORDER.start()
    x = mx.nd.ones((20, 20))
    with mx.profiler.Task(mx.profiler.Domain("mine"), "task"):
        for _ in range(5):
            (mx.nd.dot(x, x) + x).asnumpy()
    mx.nd.waitall()
    recording.stop()
    return freeze(recording, Meta())


def odd_texts(*names: str) -> Trace:
    builder = TraceBuilder()
    track = builder.track(names[0], role="host", process=names[-1], thread="t")
    for number, name in enumerate(names):
        builder.event(
            name,
            track=track,
            start_ns=10 * number,
            dur_ns=7,
            category="user",
            domain=name,
            arg=builder.arg(dtype=name, raw=f'{{"folder": "{number}"}}'),
        )
    return builder.build()


def spans(trace: Trace) -> Counter[tuple[str, int]]:
    events = trace.events
    names = [trace.strings[code] for code in events.name.tolist()]
    return Counter(zip(names, events.dur_ns.tolist(), strict=True))


def drawn(trace: Trace) -> int:
    """Return how many flows lead from a span to a span; viewers draw no others."""
    is_span = trace.events.kind == schema.KINDS.index("span")
    return int(np.sum(is_span[trace.flows.source] & is_span[trace.flows.target]))


@pytest.mark.parametrize("make", [dot_cell, lambda: many(3000), recorded])
def test_perfetto_shows_every_event_flow_and_sample_exactly(make, perfetto):
    trace = make()
    perfetto.open(written(trace))
    assert perfetto.rows(FAULTS) == []
    assert Counter(perfetto.rows(SLICES)) == spans(trace)
    assert perfetto.rows("select count(*) from flow") == [(drawn(trace),)]
    counters = trace.counters
    names = [f"{trace.strings[code]} value" for code in counters.name.tolist()]
    assert Counter(perfetto.rows(SAMPLES)) == Counter(
        zip(names, counters.value.tolist(), strict=True)
    )
    threads = {name for (name,) in perfetto.rows("select name from thread where name <> ''")}
    assert {trace.strings[code] for code in trace.tracks.name.tolist()} <= threads


@pytest.mark.parametrize("make", [dot_cell, lambda: many(3000), recorded])
def test_chrome_tracing_shows_every_event_flow_and_sample(make, catapult):
    trace = make()
    found = catapult.read(written(trace))
    assert found["warnings"] == []
    # It counts in doubles of milliseconds.
    shown = Counter((name, round(dur * 1e6)) for name, dur in found["slices"])
    assert shown == spans(trace)
    assert found["flows"] == drawn(trace)
    assert found["samples"] == len(trace.counters)


@pytest.mark.parametrize("make", [dot_cell, lambda: many(3000), recorded])
def test_both_show_the_layout_of_mxnet(make, perfetto, catapult):
    trace = make()
    content = written(trace, "mxnet")
    perfetto.open(content)
    assert perfetto.rows(FAULTS) == []
    found = catapult.read(content)
    assert set(found["warnings"]) <= {"Unrecognized metadata name: mxprof"}
    expected = {name for name, _ in spans(trace)}
    assert {name for (name, _) in perfetto.rows(SLICES)} == expected
    assert {name for name, _ in found["slices"]} == expected


@pytest.mark.parametrize(
    "name",
    [
        "catapult/tracing__test_data__big_trace.json",
        "catapult/tracing__test_data__nanoseconds.json",
        "gen-torch/transformer_shapes_3steps.json.gz",
        "gen-viztracer/asyncio_log_async.json",
        "hta/tests__data__amd_trace__mi250_minitoy_train_ROCm6_2_kineto.json.gz",
        "perfetto-difftests/json__json_async.json",
    ],
)
def test_perfetto_reads_the_same_from_files_of_others(name, perfetto, shared_dir):
    path = shared_dir / "traces" / name
    if not path.exists():
        pytest.skip("there is no such trace here")
    content = path.read_bytes()
    trace = load(content)
    perfetto.open(gzip.decompress(content) if path.suffix == ".gz" else content)
    assert Counter(perfetto.rows(SLICES)) == spans(trace)
    assert perfetto.rows("select count(*) from flow") == [(len(trace.flows),)]


def test_perfetto_shows_what_was_before_the_origin(perfetto):
    builder = TraceBuilder()
    track = builder.track("t", role="host")
    builder.event("before", track=track, start_ns=-5_000_001, dur_ns=5, category="user")
    builder.event("after", track=track, start_ns=3, dur_ns=5, category="user")
    builder.counter("c", track=track, time_ns=-7_000_000, value=1)
    trace = builder.build()
    for layout in ("own", "mxnet"):
        perfetto.open(written(trace, layout))
        assert perfetto.rows(FAULTS) == [], layout
        assert Counter(perfetto.rows(SLICES)) == spans(trace), layout
        (apart,) = perfetto.rows("select max(ts) - min(ts) from slice")
        assert apart == (5_000_004,), layout


def test_perfetto_shows_letters_and_not_their_escapes(perfetto):
    trace = odd_texts("µs 😀", "日本", "Größe", "a b")
    for layout in ("own", "mxnet"):
        perfetto.open(written(trace, layout))
        assert {name for (name, _) in perfetto.rows(SLICES)} == {n for n, _ in spans(trace)}


@pytest.mark.parametrize("layout", ["own", "mxnet"])
def test_perfetto_opens_texts_that_its_parser_stumbles_over(layout, perfetto):
    trace = odd_texts("C:\\folder\\", "\\", 'say "\\"', "delete\x7f", "\ud800", "a\0b", "</script>")
    perfetto.open(written(trace, layout))
    assert perfetto.rows(FAULTS) == []
    assert Counter(dur for _, dur in perfetto.rows(SLICES)) == {7: 7}


@pytest.mark.parametrize("layout", ["own", "mxnet"])
@given(trace=traces())
@settings(
    max_examples=8,
    derandomize=True,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # each takes a second
    suppress_health_check=list(HealthCheck),
)
def test_neither_complains_of_any_trace(layout, perfetto, catapult, trace):
    content = written(trace, layout)
    perfetto.open(content)
    finite = int(np.isfinite(trace.counters.value).sum())
    # What has no place in the format: flows to points in time (and where a double of microseconds
    # holds no ns any more), samples that are no number.
    allowed = {"flow_no_enclosing_slice"} if len(trace.flows) else set()
    if finite < len(trace.counters):
        allowed.add("json_parser_failure")
    assert {name for name, _ in perfetto.rows(FAULTS)} <= allowed
    (count,) = perfetto.rows("select count(*) from slice")
    assert count >= (len(trace),)
    assert perfetto.rows("select count(*) from counter") == [(finite,)]
    found = catapult.read(content)
    if layout == "own":  # in the other, points in time are no slices to it
        assert len(found["slices"]) == len(trace)
    warnings = {told for told in found["warnings"] if not _ABOUT_FLOWS.match(told)}
    assert warnings <= {"Unrecognized metadata name: mxprof"}
