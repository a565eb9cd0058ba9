from __future__ import annotations

import json
import zlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from mxprof_nb.trace import TraceBuilder
from mxprof_nb.view.archive import MAX_ARGUMENTS, archive
from mxprof_nb.view.columns import packed
from mxprof_nb.view.scene import Stage
from tests.traces import dot_cell, many


def unpacked(content: bytes) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return head and columns, as the docstring of `packed` says they stand there."""
    raw = zlib.decompress(content)
    place = 4 + int.from_bytes(raw[:4], "little")
    head = json.loads(raw[4:place])
    columns = {}
    for name, count, coding, planes in head.pop("columns"):
        values = np.zeros((count, 8), dtype=np.uint8)
        for plane in range(planes):
            values[:, plane] = np.frombuffer(raw, np.uint8, count, place)
            place += count
        numbers = values.view("<u8").reshape(-1)
        if coding == "float":
            columns[name] = numbers.view(np.float64)
            continue
        if coding in ("signed", "steps"):
            numbers = (numbers >> np.uint64(1)) ^ -(numbers & np.uint64(1)).astype(np.int64).view(
                np.uint64
            )
        numbers = numbers.view(np.int64)
        columns[name] = np.cumsum(numbers) if coding == "steps" else numbers
    assert place == len(raw)
    return head, columns


WHOLE = hnp.arrays(np.int64, st.integers(0, 40), elements=st.integers(-(2**61), 2**61))
REAL = hnp.arrays(np.float64, st.integers(0, 40), elements=st.floats(allow_nan=False))


@given(whole=WHOLE, real=REAL, text=st.text())
def test_columns_and_head_come_back_as_they_were(whole, real, text):
    head, columns = unpacked(packed({"text": text}, {"whole": whole, "real": real}))
    assert head == {"text": text}
    assert np.array_equal(columns["whole"], whole)
    assert np.array_equal(columns["real"], real)


@pytest.mark.parametrize(
    ("values", "coding"),
    [
        (np.arange(0, 10**7, 1000), "steps"),
        (np.random.default_rng(0).integers(0, 200, 9000), "plain"),
        (np.random.default_rng(0).integers(-100, 100, 9000), "signed"),
        (np.full(10, 0.5), "float"),
        (np.arange(200.0)[np.random.default_rng(0).permutation(200)], "plain"),
    ],
)
def test_a_column_is_written_the_way_that_packs_best(values, coding):
    content = zlib.decompress(packed({}, {"a": values}))
    ((_, _, chosen, _),) = json.loads(content[4 : 4 + int.from_bytes(content[:4], "little")])[
        "columns"
    ]
    assert chosen == coding


@pytest.mark.parametrize("trace", [dot_cell(), many(5_000, tracks=3)])
def test_an_archive_holds_every_event_flow_and_sample(trace):
    stage = Stage(trace)
    head, columns = unpacked(packed(*vars_of(archive(stage))))
    order = stage.index.order
    start = np.empty(len(order), dtype=np.int64)
    for lane, first in enumerate(head["lanes"]["first"][:-1]):
        stop = head["lanes"]["first"][lane + 1]
        gap, length = columns["event.gap"][first:stop], columns["event.duration"][first:stop]
        start[first:stop] = np.cumsum(gap) + np.cumsum(length) - length
    assert np.array_equal(start + stage.origin_ns, trace.events.start_ns[order])
    assert np.array_equal(columns["event.duration"], trace.events.dur_ns[order])
    names = [head["texts"][head["kinds"][kind][0]] for kind in columns["event.kind"]]
    assert names == [trace.strings[code] for code in trace.events.name[order]]
    assert np.array_equal(columns["event.site"], trace.events.site[order])
    pairs = zip(order[columns["flow.source"]], order[columns["flow.target"]], strict=True)
    assert sorted(pairs) == sorted(zip(trace.flows.source, trace.flows.target, strict=True))
    assert sorted(columns["sample.value"]) == sorted(trace.counters.value)


def vars_of(held):
    return held.head, held.columns


def test_the_longest_events_keep_their_arguments_and_the_others_say_that_they_had_some():
    builder = TraceBuilder()
    worker = builder.track("worker", role="worker")
    for k in range(MAX_ARGUMENTS + 50):
        arg = builder.arg(raw=f'{{"k": {k}}}')
        builder.event("work", track=worker, start_ns=k * 100_000, dur_ns=k, arg=arg)
    builder.event("plain", track=worker, start_ns=2_000_000_000, dur_ns=9)
    held = archive(Stage(builder.build()))
    column = held.columns["event.argument"]
    assert (column[:50] == -2).all()
    assert len(held.head["arguments"]) == MAX_ARGUMENTS
    assert held.head["arguments"][column[-2]][0] == [
        ("arguments", f'{{"k": {MAX_ARGUMENTS + 49}}}')
    ]
    assert column[-1] == -1
