from __future__ import annotations

import numpy as np
import pytest

from mxprof_nb.errors import TraceError
from mxprof_nb.lod import TimelineIndex, find
from tests.traces import dot_cell, many


def names(trace, mask):
    return sorted({trace.strings[code] for code in trace.events.name[mask]})


def test_a_text_is_found_in_names_whatever_its_case():
    trace = dot_cell()
    assert names(trace, find(trace, "WAIT")) == ["MXNDArrayWaitToRead", "WaitForVar"]
    assert names(trace, find(trace, ".")) == []
    assert find(trace).all()


def test_a_regular_expression_and_a_category_narrow_each_other():
    trace = dot_cell()
    assert names(trace, find(trace, "^(dot|MX.*Read)$", regex=True)) == [
        "MXNDArrayWaitToRead",
        "dot",
    ]
    assert names(trace, find(trace, "^(dot|MX.*Read)$", regex=True, category="api")) == [
        "MXNDArrayWaitToRead"
    ]
    assert find(trace, category=("operator", "sync")).sum() == 5


def test_what_cannot_be_searched_for_is_said():
    trace = dot_cell()
    with pytest.raises(TraceError, match="no regular expression"):
        find(trace, "(", regex=True)
    with pytest.raises(TraceError, match="Did you mean 'operator'"):
        find(trace, category="operators")
    with pytest.raises(TraceError, match="mask over"):
        TimelineIndex(trace).match(np.ones(3, dtype=bool))


def test_all_or_nothing_found_is_a_share_of_one_or_zero():
    trace = many(20_000)
    index = TimelineIndex(trace)
    view = index.view(*trace.window_ns, max_marks=50)
    for mask, share in ((np.ones(len(trace), bool), 1.0), (np.zeros(len(trace), bool), 0.0)):
        matched = index.match(mask).within(view)
        assert (matched.busy_share == share).all()
        assert (matched.cell_share[view.raster.covered] == share).all()
