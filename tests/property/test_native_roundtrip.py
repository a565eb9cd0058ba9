"""The law of the native format: reading what was written gives the same trace, in everything."""

import io
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import fields, replace
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mxprof_nb.errors import ReadError
from mxprof_nb.io import native
from mxprof_nb.trace import Meta, Trace, TraceBuilder, schema
from tests.property.made_traces import assert_same, texts, traces
from tests.traces import dot_cell, many

pytest.importorskip("pyarrow")

#: Facts as no file of another format can hold them.
odd = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts | st.binary(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.tuples(inner, inner)
        | st.dictionaries(texts | st.integers() | st.just("$text"), inner, max_size=2)
    ),
    max_leaves=6,
)


def written(trace: Trace) -> bytes:
    file = io.BytesIO()
    native.write(trace, file)
    return file.getvalue()


def told(meta: Meta) -> str:
    """Everything in it with its type; NaN equals itself, True is not 1."""
    facts = [getattr(meta, f.name) for f in fields(meta)]
    return repr([dict(value) if isinstance(value, Mapping) else value for value in facts])


@given(traces())
@example(dot_cell())
@example(many(3000))
@example(TraceBuilder().build())
def test_reading_what_was_written_gives_the_same_trace(trace):
    found = native.read(written(trace))
    assert_same(found, trace)
    assert list(found.strings) == list(trace.strings)
    assert told(found.meta) == told(trace.meta)
    for table in schema.TABLES:
        for column, values in getattr(found, table).columns():
            assert values.dtype == np.dtype(column.dtype)
            assert not values.flags.writeable


@given(traces(), st.data())
@settings(max_examples=40)
def test_a_part_of_a_trace_comes_back_with_its_history_and_its_parents(trace, data):
    rows = data.draw(st.lists(st.integers(0, max(len(trace) - 1, 0)), max_size=5))
    part = trace.take(np.array(rows[: len(trace)], dtype=int))
    assert_same(native.read(written(part)), part)


@given(st.dictionaries(texts, odd, max_size=3), st.tuples(texts))
def test_facts_of_any_type_come_back_as_they_were(extra, history):
    meta = Meta(extra=MappingProxyType(extra), config=MappingProxyType(extra), history=history)
    trace = replace(TraceBuilder().build(), meta=meta)
    assert told(native.read(written(trace)).meta) == told(meta)


@given(traces())
@settings(max_examples=20)
def test_equal_traces_give_equal_files(trace):
    assert written(trace) == written(native.read(written(trace)))


WHOLE = written(dot_cell())


@given(st.data())
@settings(max_examples=200)
def test_a_damaged_file_is_read_or_refused(data):
    content = bytearray(WHOLE)
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    damaged = bytes(content[: data.draw(st.integers(0, len(content)))])
    with suppress(ReadError):
        assert isinstance(native.read(damaged), Trace)
