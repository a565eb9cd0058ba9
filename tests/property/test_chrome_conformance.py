"""What the Chrome writer writes follows the rules of the format, whatever the trace."""

import io
import json
from typing import Literal

import numpy as np
import pytest
from hypothesis import example, given, settings

from mxprof_nb.io.chrome_writer import write_chrome
from mxprof_nb.trace import Trace, schema
from tests.property.made_traces import traces
from tests.trace_event_format import broken_rules, slices_by_thread
from tests.traces import dot_cell, ended, many


def written(trace: Trace, layout: Literal["own", "mxnet"]) -> bytes:
    file = io.BytesIO()
    write_chrome(trace, file, layout=layout)
    return file.getvalue()


def undrawn(trace: Trace) -> set[int]:
    """Numbers of the flows that have an end which is no span."""
    flows, kind = trace.flows, trace.events.kind
    spans = (kind[flows.source] == 0) & (kind[flows.target] == 0)
    return set((np.flatnonzero(~spans) + 1).tolist())


@pytest.mark.parametrize("layout", ["own", "mxnet"])
@given(traces())
@example(dot_cell())
@example(many(3000))
@example(ended("interrupted", "KeyboardInterrupt", pending=3))
@settings(max_examples=150)
def test_no_viewer_refuses_drops_or_misdraws_a_part_of_it(layout, trace):
    assert broken_rules(written(trace, layout), undrawn=undrawn(trace)) == []


@given(traces())
@settings(max_examples=60)
def test_viewers_show_every_span_in_the_process_of_its_track(trace):
    document = json.loads(written(trace, "own"))
    shown = slices_by_thread(document["traceEvents"])
    spans = np.flatnonzero(trace.events.kind == schema.KINDS.index("span"))
    assert sum(map(len, shown.values())) == len(spans)
    pid_of = {track["tid"]: track["pid"] for track in document["mxprof"]["tracks"]}
    pid_of |= {tid: pid_of[first] for tid, first in document["mxprof"]["lanes"]}
    assert all(pid_of[tid] == pid for pid, tid in shown)
