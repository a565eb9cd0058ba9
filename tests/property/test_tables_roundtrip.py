"""The law of tables: what CSV and Parquet files say of the events comes back; nothing else is."""

import io

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mxprof_nb.errors import ReadError
from mxprof_nb.io.tables import csv, parquet
from mxprof_nb.io.tables.flat import flat
from mxprof_nb.trace import Trace
from tests.property.made_traces import traces
from tests.traces import dot_cell, many

pytest.importorskip("pyarrow")


def written(writer, trace: Trace) -> bytes:
    file = io.BytesIO()
    writer.write(trace, file)
    return file.getvalue()


def plain(text: str | None) -> str | None:
    """A text as UTF-8 can hold it."""
    return text and text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def rows(trace: Trace, *, empty_is_unknown: bool) -> list[dict[str, object]]:
    """Every event with all that is known of it, whatever the numbers of tracks and texts."""
    columns = {}
    for column in flat(trace):
        told: list[object] = [
            None if null else value if column.texts is None else plain(column.texts[value])
            for value, null in zip(column.values.tolist(), column.null.tolist(), strict=True)
        ]
        columns[column.name] = told
    numbers = {track: n for n, track in enumerate(sorted(set(columns["track"])))}  # type: ignore[type-var]
    columns["track"] = [numbers[track] for track in columns["track"]]
    lost = (None, "") if empty_is_unknown else (None,)
    return [
        {name: values[row] for name, values in columns.items() if values[row] not in lost}
        for row in range(len(trace))
    ]


def normal(told: list[dict[str, object]]) -> list[dict[str, object]]:
    """Without what a reader has to invent where nothing was said."""
    for row in told:
        if "file" not in row:
            for name in ("line", "function", "code"):
                row.pop(name, None)
        # A thread without a name is called like its track, and that like its thread.
        row.pop("thread", None)
        if row.get("track_order", 0) < 0:  # type: ignore[operator]
            row.pop("track_order")
    return told


@pytest.mark.parametrize("format", [csv, parquet], ids=["csv", "parquet"])
@given(trace=traces())
@example(trace=dot_cell())
@example(trace=many(2000))
@settings(max_examples=100)
def test_every_event_comes_back_with_all_that_its_row_says(format, trace):
    if not len(trace):
        return
    found = format.read(written(format, trace))
    is_csv = format is csv
    expected = normal(rows(trace, empty_is_unknown=is_csv))
    assert np.array_equal(found.events.start_ns, trace.events.start_ns)
    assert np.array_equal(found.events.dur_ns, trace.events.dur_ns)
    for mine, theirs in zip(normal(rows(found, empty_is_unknown=is_csv)), expected, strict=True):
        for name, value in theirs.items():
            assert mine.get(name) == value, name


@given(trace=traces())
@settings(max_examples=40)
def test_no_field_of_a_csv_file_is_a_formula_to_a_spreadsheet(trace):
    import csv as standard

    content = written(csv, trace).decode()
    table = list(standard.reader(io.StringIO(content, newline="")))
    for row in table[1:]:
        for field in row:
            assert not field.startswith(("=", "+", "@", "\t", "\r", "\n"))
            assert not field.startswith("-") or field[1:].isdigit()


CSV = written(csv, dot_cell())
PARQUET = written(parquet, dot_cell())


@given(st.data())
@settings(max_examples=150)
def test_a_damaged_table_is_read_or_refused(data):
    format, whole = data.draw(st.sampled_from([(csv, CSV), (parquet, PARQUET)]))
    content = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    try:
        found = format.read(bytes(content[: data.draw(st.integers(0, len(content)))]))
    except ReadError:
        return
    assert isinstance(found, Trace)


@given(
    st.text(max_size=60), st.sampled_from(["", "name,start_us,dur_us\n", "name;start_us;dur_us\n"])
)
def test_any_text_is_read_or_refused(text, head):
    try:
        found = csv.read((head + text).encode("utf-8", "replace"))
    except ReadError:
        return
    assert isinstance(found, Trace)
