"""What a `Profile` is: its members, its frames, copies, equality."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import mxprof_nb as mp
import mxprof_nb.runtime as mx
from mxprof_nb.errors import NotRecordingError
from mxprof_nb.trace import Meta, Trace, TraceBuilder, schema
from tests.environment import ROOT
from tests.traces import dot_cell

FRAMES = ("events", "counters", "tracks", "flows")


@pytest.fixture
def p() -> mp.Profile:
    return mp.Profile(dot_cell())


def test_it_has_these_members_and_no_others(p):
    named = {name for name in dir(p) if not name.startswith("_")}
    assert named == {"trace", *FRAMES, "tables", "health", "timeline", "save"}
    for name in named:
        assert getattr(type(p), name).__doc__


@pytest.mark.parametrize("name", FRAMES)
def test_frames_have_names_as_categories_times_as_integers_and_unknowns_as_na(p, name):
    frame = getattr(p, name)
    told = mp.schema(name)
    assert frame.columns.tolist() == told["column"].tolist()
    for column, unit in zip(told["column"], told["unit"], strict=True):
        if unit == "ns":
            assert pd.api.types.is_integer_dtype(frame[column])
        assert frame[column].dtype == told.set_index("column").loc[column, "dtype"]
        assert not (pd.api.types.is_integer_dtype(frame[column]) and (frame[column] == -1).any())


@pytest.mark.parametrize("name", [*FRAMES, "sites", "args"])
def test_a_user_may_change_a_frame_and_the_trace_does_not_notice(name):
    trace = dot_cell()
    before = trace.frame(name)
    changed = trace.frame(name)
    for column in changed.columns:
        changed[column] = changed[column].iloc[::-1].to_numpy()
        if isinstance(before[column].dtype, np.dtype):
            changed.loc[0, column] = 7
    changed["mine"] = 1
    assert trace.frame(name).equals(before)


def test_a_frame_of_a_profile_keeps_what_a_user_adds(p):
    p.events["dur_ms"] = p.events["dur_ns"] / 1e6
    assert "dur_ms" in p.events
    assert "dur_ms" not in mp.Profile(p).events


def test_pickling_gives_an_equal_profile_whose_tables_cannot_be_changed(p):
    p.events, p.tables, p.trace.self_ns  # noqa: B018
    again = pickle.loads(pickle.dumps(p))
    assert again == p
    assert again.events.equals(p.events)
    for table in schema.TABLES:
        for _, values in getattr(again.trace, table).columns():
            assert not values.flags.writeable
    with pytest.raises(TypeError):
        again.trace.meta.config["api"] = False


def test_a_recorded_profile_can_be_pickled_too():
    with mp.profile() as p:
        mx.nd.ones(3).wait_to_read()
    assert pickle.loads(pickle.dumps(p)) == p


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_copies_are_equal_and_have_frames_of_their_own(p, copied):
    p.events["mine"] = 1
    other = copied(p)
    assert other == p
    assert "mine" not in other.events


def small(*, names: tuple[str, ...] = (), dur: int = 5, title: str = "") -> Trace:
    """A trace of one event; ``names`` are texts met before its own, so that codes differ."""
    builder = TraceBuilder(Meta(title=title))
    builder.strings(names)
    track = builder.track("worker", role="worker")
    builder.event("dot", track=track, start_ns=0, dur_ns=dur)
    builder.counter("loss", track=track, time_ns=0, value=np.nan)
    return builder.build()


def test_profiles_are_equal_by_content_whatever_their_texts_are_numbered():
    assert mp.Profile(small()) == mp.Profile(small(names=("dot", "x")))
    assert small() == small()
    others = [small(dur=6), small(title="x"), TraceBuilder().build()]
    others.append(replace(small(), health=small().health.with_note("lost", 1, "One was lost.")))
    for other in others:
        assert mp.Profile(small()) != mp.Profile(other)
    assert mp.Profile(small()) != "a text"


def test_a_text_that_only_one_has_is_not_taken_for_no_text():
    def sited(text):
        builder = TraceBuilder()
        builder.site("a.py", 1, "f", text)
        return builder.build()

    assert sited("x = 1") != sited(None)
    assert sited(None) != sited("x = 1")


def test_equal_profiles_have_no_hash_since_content_comes_later(p):
    with pytest.raises(TypeError, match="unhashable"):
        hash(p)


def test_what_still_records_equals_itself_and_cannot_be_pickled():
    with mp.profile() as p, mp.profile() as q:
        assert p == p
        assert p != q
        with pytest.raises(NotRecordingError):
            pickle.dumps(p)


def test_the_repr_is_short_and_loads_no_pandas():
    code = (
        "import sys, mxprof_nb as mp\n"
        "from mxprof_nb.trace import TraceBuilder\n"
        "p = mp.Profile(TraceBuilder().build())\n"
        "text = repr(p)\n"
        "assert len(text) < 200, text\n"
        "heavy = {'pandas', 'plotly', 'IPython', 'ipywidgets'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
