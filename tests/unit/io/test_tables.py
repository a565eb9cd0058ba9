import gzip
import io

import numpy as np
import pandas as pd
import pytest

from mxprof_nb import errors
from mxprof_nb.io import Limits, load, save
from mxprof_nb.io.tables import csv, flat
from mxprof_nb.trace import TraceBuilder, schema
from tests.traces import dot_cell

STRANGER = pd.DataFrame({"Operator": ["dot", "exp"], "Begin": [1.5, 4.0], "took_ms": [2, 1]})


def texts(trace, column="name"):
    return [trace.strings[code] for code in getattr(trace.events, column)]


def tracks(trace):
    return [trace.strings[trace.tracks.name[track]] for track in trace.events.track]


def test_a_dataframe_is_read_with_the_columns_that_are_named():
    found = load(STRANGER, columns={"start_ns": ("Begin", "us"), "name": "Operator"})
    assert texts(found) == ["dot", "exp"]
    assert found.events.start_ns.tolist() == [1_500, 4_000]
    assert found.events.dur_ns.tolist() == [2_000_000, 1_000_000]


def test_our_own_frames_are_read_back_without_a_word():
    found = load(dot_cell().frame())
    assert found.frame()[["name", "start_ns", "dur_ns", "track_name", "parent"]].equals(
        dot_cell().frame()[["name", "start_ns", "dur_ns", "track_name", "parent"]]
    )
    assert load(dot_cell().frame().to_csv().encode()).frame()["dur_ns"].sum() == (
        dot_cell().events.dur_ns.sum()
    )


@pytest.mark.parametrize(
    ("header", "start", "dur"),
    [
        ("name,start_us,dur_us", "1.5", "2"),
        ("Name,Start (ns),Duration (ns)", "1500", "2000"),
        ("op,begin_ms,elapsed[ms]", "0.0015", "0.002"),
        ("kernel,ts_s,end_s", "0.0000015", "0.0000035"),
        ("event,Timestamp (µs),Took (µs)", "1.5", "2"),
    ],
)
def test_usual_names_and_units_are_recognised(header, start, dur):
    found = load(f"{header}\ndot,{start},{dur}\n".encode())
    assert (texts(found), found.events.start_ns.tolist()) == (["dot"], [1_500])
    assert found.events.dur_ns.tolist() == [2_000]


def test_the_events_of_a_chrome_trace_in_a_dataframe_are_microseconds():
    events = [
        {"ph": "X", "name": "dot", "ts": 1, "dur": 2, "pid": 1, "tid": 7, "args": {"n": 1}},
        {"ph": "M", "name": "thread_name", "pid": 1, "tid": 7, "args": {"name": "worker"}},
    ]
    found = load(pd.DataFrame(events))
    assert found.events.start_ns.tolist() == [1_000]
    assert "have no begin that is a time within 64 bits are left out: 1," in str(found.health)


def test_columns_that_are_not_clear_are_an_error_that_lists_them_and_says_what_to_do():
    with pytest.raises(errors.UnknownFormatError) as caught:
        load(STRANGER.rename(columns={"Begin": "x"}))
    told = str(caught.value)
    assert "which columns are start_ns" in told
    assert "'Operator', 'x', 'took_ms'" in told
    assert "columns={'start_ns': ('...', 'us')" in told


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({}, "column 'Begin': the unit of its times is not known.*'us'"),
        ({"start": "Begin"}, "no such name. Did you mean 'start_ns'"),
        ({"start_ns": "Begun"}, "no column 'Begun'. Did you mean 'Begin'"),
        ({"start_ns": ("Begin", "hours")}, "no unit of a time"),
        ({"name": ("Operator", "us")}, "no unit of a time"),
        ({"dur_ns": None}, r"which columns are dur_ns \(or end_ns\)"),
    ],
)
def test_a_mapping_that_does_not_fit_says_what_would(columns, told):
    with pytest.raises(errors.UnknownFormatError, match=told):
        load(STRANGER, columns=columns)


def test_an_option_that_tables_do_not_have_is_named():
    with pytest.raises(TypeError, match="Did you mean 'columns'"):
        load(STRANGER, column={})


@pytest.mark.parametrize(("zone", "unit"), [(None, "ns"), ("UTC", "us"), ("Europe/Berlin", "ms")])
def test_dates_and_lengths_of_time_need_no_unit(zone, unit):
    start = pd.Series(pd.to_datetime(["2024-05-01 12:00:00.001", "NaT"], utc=True))
    start = start.dt.as_unit(unit).dt.tz_convert(zone)
    dur = pd.Series(pd.to_timedelta([1500, 1], unit="us"))
    found = load(pd.DataFrame({"name": ["a", "b"], "start": start, "dur": dur}))
    assert found.events.start_ns.tolist() == [1714564800001000000]
    assert found.events.dur_ns.tolist() == [1_500_000]
    assert found.meta.origin_epoch_ns == 0


def test_dates_in_a_csv_file_are_read():
    found = load(b"name,start,end\na,2024-05-01T12:00:00Z,2024-05-01T12:00:01.5Z\n")
    assert found.events.dur_ns.tolist() == [1_500_000_000]


def test_columns_without_a_place_stand_in_the_details():
    frame = STRANGER.assign(colour=pd.Series(["red", None]), weight=[1.5, np.nan], batch=[2**60, 1])
    found = load(frame, columns={"start_ns": ("Begin", "us")})
    raw = [found.strings[found.args.raw[arg]] for arg in found.events.arg]
    assert raw == ['{"colour":"red","weight":1.5,"batch":1152921504606846976}', '{"batch":1}']


def test_rows_that_cannot_be_are_left_out_and_counted():
    content = b"name,start_ns,dur_ns\na,1,2\nb,?,2\nc,3,-1\nd,4,x\ne,9223372036854775807,5\nf,5,\n"
    found = load(content)
    assert texts(found) == ["a", "f"]
    assert found.events.kind.tolist() == [0, schema.KINDS.index("instant")]
    told = str(found.health)
    assert "have no begin that is a time within 64 bits are left out: 1, the first is row 2" in told
    assert "Rows that end before they begin are left out: 1," in told
    assert "end or duration that is no time" in told
    assert "end beyond all time" in told
    assert "shown as points in time" in told


def test_a_table_of_which_no_row_can_be_read_says_so():
    with pytest.raises(errors.CorruptTraceError, match=r"none of its 2 rows.*no begin"):
        load(b"name,start_ns,dur_ns\na,x,1\nb,y,1\n")
    assert len(load(b"name,start_ns,dur_ns\n")) == 0


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_any_usual_delimiter_is_recognised(delimiter):
    content = "\n".join(delimiter.join(row) for row in [("name", "start_us", "dur_us"),
                                                        ("a", "1", "2")])  # fmt: skip
    assert load(content.encode()).events.dur_ns.tolist() == [2_000]


@pytest.mark.parametrize(
    ("number", "told"),
    [("1,5", 1_500), ("1.234,5", 1_234_500), ("1 234,5", 1_234_500), ("1e3", 10**6),
     ("1.5", 1_500), ("+2", 2_000), ("0,0004", 0), ("1'000", 10**6)],
)  # fmt: skip
def test_numbers_of_other_countries_are_read(number, told):
    content = f"name;start_us;dur_us\na;0;{number}\n"
    assert load(content.encode()).events.dur_ns.tolist() == [told]


def test_commas_between_thousands_are_no_decimal_commas_where_commas_are_delimiters():
    assert load(b'name,start_us,dur_us\na,0,"1,234"\n').events.dur_ns.tolist() == [1_234_000]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_byte_order_marks_and_old_encodings_are_read(encoding):
    found = load("name,start_us,dur_us\nGröße,1,2\n".encode(encoding), format="csv")
    assert texts(found) == ["Größe"]


def test_quotes_blank_lines_and_line_breaks_in_quotes_are_read():
    content = b'\r\nname,start_us,dur_us\r\n"a, ""b""\nc",1,2\r\n\r\n"",3,4\r\n'
    assert texts(load(content)) == ['a, "b"\nc', ""]


def test_ragged_rows_are_repaired_and_counted():
    found = load(b"name,start_us,dur_us\na,1,2,3\nb,4\nc,5,6\n")
    assert len(found) == 3
    told = str(found.health)
    assert "fewer fields than there are names, the last ones taken as empty: 1," in told
    assert "more fields than there are names, those beyond left out: 1," in told
    assert "the first in line 2" in told


def test_a_huge_number_and_a_huge_field_are_no_danger():
    nines = b"9" * 100_000
    found = load(
        b"name,start_ns,dur_ns\na," + nines + b",1\nb,1,1e999999\nd,1e999999999999999999,1\nc,1,1\n"
    )
    assert texts(found) == ["c"]
    with pytest.raises(errors.LimitExceededError, match="string_bytes"):
        load(b"name,start_ns,dur_ns\n" + nines + b",1,1\n", limits=Limits(string_bytes=1_000))
    with pytest.raises(errors.LimitExceededError, match="rows"):
        load(b"name,start_ns,dur_ns\n" + b"a,1,1\n" * 20, limits=Limits(rows=10))


@pytest.mark.parametrize(
    ("us", "ns"),
    [
        ("1700000000000000.123", 1_700_000_000_000_000_123),
        ("-0.5", -500),
        ("7.", 7_000),
        (".25", 250),
        ("2.0005", 2_000),  # half of a nanosecond, to the even one
        ("2.0015", 2_002),
        ("1e3", 1_000_000),
        ("5._3", 5_300),
        ("9223372036854775.807", 2**63 - 1),
    ],
)
def test_decimals_are_read_exactly_however_they_are_written(us, ns):
    assert load(f"name,start_us,dur_us\na,{us},0\n".encode()).events.start_ns.tolist() == [ns]


@pytest.mark.parametrize("us", [".", "-", "", "1.2.3", "9223372036854775.808", "--1.5"])
def test_what_is_no_number_is_not_taken_for_one_though_it_begins_as_one(us):
    found = load(f"name,start_us,dur_us\na,{us},0\nb,1,1\n".encode())
    assert texts(found) == ["b"]


def test_times_are_exact_to_the_nanosecond_also_since_1970():
    content = b"name,start_us,dur_us\na,1714564800000000.001,0.001\n"
    found = load(content)
    assert found.events.start_ns.tolist() == [1714564800000000001]
    assert found.events.dur_ns.tolist() == [1]


def test_threads_and_processes_become_tracks():
    content = b"name,start_us,dur_us,pid,tid\na,1,2,10,7\nb,1,2,10,8\nc,9,1,11,7\n"
    found = load(content)
    assert len(found.tracks) == 3
    assert set(tracks(found)) == {"tid 7", "tid 8"}


def test_a_name_that_a_spreadsheet_would_run_is_written_as_a_text_and_read_back():
    builder = TraceBuilder()
    track = builder.track("t", role="host")
    names = ['=HYPERLINK("x")', "+1", "-dot", "@sum", "'=quoted", "\tx", "plain", "'plain"]
    for start, name in enumerate(names):
        builder.event(name, track=track, start_ns=start)
    file = io.BytesIO()
    csv.write(builder.build(), file)
    lines = file.getvalue().decode().splitlines()
    assert lines[1].startswith("\"'=HYPERLINK")
    assert [line[:2] for line in lines[2:5]] == ["'+", "'-", "'@"]
    assert texts(load(file.getvalue())) == names
    # What others wrote is taken as it stands.
    assert texts(load(b"name,start_us,dur_us\n'=a,1,2\n")) == ["'=a"]


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "T.CSV", "t.parquet"])
def test_tables_are_saved_by_their_ending_and_loaded_by_their_content(tmp_path, name):
    pytest.importorskip("pyarrow")
    save(dot_cell(), tmp_path / name)
    found = load(tmp_path / name)
    assert found.events.dur_ns.tolist() == dot_cell().events.dur_ns.tolist()
    if name.endswith(".gz"):
        assert gzip.decompress((tmp_path / name).read_bytes()).startswith(b"name,")


def test_what_is_lost_in_a_table_is_what_the_docstring_says(tmp_path):
    save(dot_cell(), tmp_path / "t.csv")
    found = load(tmp_path / "t.csv")
    assert (len(found.counters), len(found.flows), found.meta.source) == (0, 0, "")
    assert len(found.tracks) == 3  # of five: two have counters alone
    for word in ("counters", "flows", "facts", "health", "tracks", "parent"):
        assert word in (flat.__doc__ or "")


def test_a_parquet_file_of_strangers_is_read_with_its_own_types(tmp_path):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    table = pa.table(
        {
            "kernel": pa.array(["gemm", None]).dictionary_encode(),
            "begin": pa.array([1_000, 2_000], pa.timestamp("us", "UTC")),
            "took": pa.array([5, 6], pa.duration("us")),
            "stream": pa.array([7, None], pa.int32()),
            "nested": pa.array([[1], [2, 3]]),
        }
    )
    pq.write_table(table, tmp_path / "x.parquet")
    found = load(tmp_path / "x.parquet", columns={"dur_ns": "took"})
    assert texts(found) == ["gemm", ""]
    assert found.events.start_ns.tolist() == [1_000_000, 2_000_000]
    assert found.events.dur_ns.tolist() == [5_000, 6_000]
    assert tracks(found)[0] == "stream 7"
    assert load(table, columns={"dur_ns": "took"}).events.dur_ns.tolist() == [5_000, 6_000]


def test_a_parquet_file_of_something_else_lists_its_columns(tmp_path):
    pytest.importorskip("pyarrow")
    pd.DataFrame({"a": [1]}).to_parquet(tmp_path / "x.parquet")
    with pytest.raises(errors.UnknownFormatError, match="Columns are 'a'"):
        load(tmp_path / "x.parquet")


@pytest.mark.parametrize("columns", [5, "name", ["name"], []])
def test_columns_that_are_no_mapping_are_a_typed_error(columns):
    with pytest.raises(TypeError, match="a mapping from names to columns is needed"):
        load(b"name,start_us,dur_us\na,1,2\n", columns=columns)


def test_a_csv_file_of_ours_that_was_cut_off_within_a_number_says_so(tmp_path):
    save(dot_cell(), tmp_path / "run.csv")
    content = (tmp_path / "run.csv").read_bytes()
    last = content.rstrip().rindex(b"\n") + 1
    for length in range(last + 3, len(content) - 1):
        assert "was cut off" in str(load(content[:length]).health)
    assert not load(content).health.notes
    assert not load(b"name,start_us,dur_us\na,1,2").health.notes
