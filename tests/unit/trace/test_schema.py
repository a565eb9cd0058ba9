import dataclasses

import numpy as np
import pytest

from mxprof_nb.errors import TraceError
from mxprof_nb.trace import schema, tables
from mxprof_nb.trace.strings import StringBuilder, Strings
from tests.traces import dot_cell

CLASSES = [
    tables.EventTable,
    tables.TrackTable,
    tables.FlowTable,
    tables.CounterTable,
    tables.SiteTable,
    tables.ArgTable,
]


@pytest.mark.parametrize("table", CLASSES)
def test_a_table_class_names_exactly_the_declared_columns(table):
    assert [field.name for field in dataclasses.fields(table)] == [
        column.name for column in table.spec.columns
    ]


@pytest.mark.parametrize("table", CLASSES)
def test_an_empty_table_has_every_column_in_its_type(table):
    empty = table.empty()
    assert len(empty) == 0
    for column, values in empty.columns():
        assert values.dtype == np.dtype(column.dtype)


def test_a_column_that_refers_to_a_table_refers_to_one_that_exists():
    for table in schema.TABLES.values():
        for column in table.columns:
            assert not column.refers_to or column.refers_to in schema.TABLES
            assert column.doc.endswith(".")


def test_times_and_sizes_carry_their_unit_in_the_name():
    for table in schema.TABLES.values():
        for column in table.columns:
            assert column.name.endswith("_ns") == (column.unit == "ns")


def test_the_documentation_tells_unit_null_and_closed_values():
    told = schema.documentation("events").set_index("column")
    queued = told.loc["queued_ns"]
    assert (queued["unit"], queued["nullable"]) == ("ns", True)
    assert queued["doc"] == "When it was queued, counted from the origin."
    assert told.loc["kind", "values"] == "span, instant, async"
    assert told.loc["parent", "refers_to"] == "events"


@pytest.mark.parametrize("table", schema.TABLES)
def test_the_documentation_has_every_column_of_the_frame_with_its_type(table):
    told = schema.documentation(table)
    frame = dot_cell().frame(table)
    assert told["column"].tolist() == frame.columns.tolist()
    assert told["dtype"].tolist() == [str(dtype) for dtype in frame.dtypes]
    for column, nullable in zip(told["column"], told["nullable"], strict=True):
        assert nullable or not frame[column].isna().any()
    assert (told["doc"] != "").all()


def test_without_a_table_all_are_documented():
    told = schema.documentation()
    assert told["table"].unique().tolist() == list(schema.TABLES)


def test_a_table_that_does_not_exist_is_answered_with_the_one_meant():
    with pytest.raises(TraceError, match=r"'event'. Did you mean 'events'\? Tables are events, "):
        schema.documentation("event")


def test_an_unknown_column_is_answered_with_those_that_exist():
    assert schema.EVENTS.column("name").coding == "string"
    with pytest.raises(KeyError, match="it has source, target, kind"):
        schema.FLOWS.column("name")


def test_strings_hand_out_one_code_per_text():
    builder = StringBuilder(["a"])
    assert builder.codes(["b", "a", "b"]) == [1, 0, 1]
    strings = builder.freeze()
    assert list(strings) == ["a", "b"]
    assert (strings.code("b"), strings.code("c")) == (1, -1)
    assert (strings.text(1), strings.text(-1), strings.text(-1, "none")) == ("b", "", "none")
    assert strings == Strings(["a", "b"])
    assert hash(strings) == hash(Strings(["a", "b"]))
    assert strings != ["a", "b"]
