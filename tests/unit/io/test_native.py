import io
import json
import subprocess
import sys
import zipfile

import numpy as np
import pytest

from mxprof_nb import errors
from mxprof_nb.io import Limits, load, native, save
from mxprof_nb.trace import Trace
from tests.traces import dot_cell, many

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def written(trace: Trace) -> bytes:
    file = io.BytesIO()
    native.write(trace, file)
    return file.getvalue()


def changed(content: bytes, **entries: bytes | None) -> bytes:
    """Return a file with other entries: ``events=...`` for events.parquet, None for none."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(file, "w") as new:
        for name in old.namelist():
            entry = entries.get(name.partition(".")[0], old.read(name))
            if entry is not None:
                new.writestr(name, entry)
    return file.getvalue()


def parquet(table, **options) -> bytes:
    file = io.BytesIO()
    pq.write_table(table, file, **options)
    return file.getvalue()


def about(content: bytes, **changes) -> bytes:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        told = json.loads(archive.read("mxprof.json"))
    return changed(content, mxprof=json.dumps({**told, **changes}).encode())


def events(**changes) -> bytes:
    """Return a file in which columns of the events have other values."""
    content = written(dot_cell())
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        table = pq.read_table(io.BytesIO(archive.read("events.parquet")))
    for name, change in changes.items():
        place = table.schema.get_field_index(name)
        if change is None:
            table = table.remove_column(place)
            continue
        if place < 0:
            table = table.append_column(name, pa.array(change(None)))
        else:
            values = change(np.array(table.column(name)))
            table = table.set_column(place, name, pa.array(values))
    return changed(content, events=parquet(table))


def test_what_is_saved_is_loaded_by_its_content_whatever_its_name(tmp_path):
    save(dot_cell(), tmp_path / "run.mxprof")
    (tmp_path / "run.mxprof").rename(tmp_path / "run.data")
    assert load(tmp_path / "run.data") == dot_cell()


def test_other_programs_read_the_tables_of_a_file(tmp_path):
    save(dot_cell(), tmp_path / "run.mxprof")
    with zipfile.ZipFile(tmp_path / "run.mxprof") as archive:
        told = pq.read_table(io.BytesIO(archive.read("events.parquet"))).to_pydict()
        names = pq.read_table(io.BytesIO(archive.read("strings.parquet"))).to_pydict()["text"]
    assert told["dur_ns"] == dot_cell().events.dur_ns.tolist()
    assert "dot" in [names[code] for code in told["name"]]


def test_a_later_major_version_says_what_to_do():
    content = about(written(dot_cell()), version=[2, 0])
    with pytest.raises(errors.UnsupportedVersionError, match=r"version 2\.0.*Update mxprof-nb"):
        native.read(content)


def test_columns_of_a_later_minor_version_are_left_out_and_said():
    content = events(colour=lambda _: np.zeros(len(dot_cell()), dtype=np.int8))
    found = native.read(about(content, version=[1, 7], mood="good"))
    assert found.events.name.tolist() == dot_cell().events.name.tolist()
    assert "colour" in str(found.health)


def test_an_older_file_without_a_column_that_may_be_unknown_is_read():
    found = native.read(events(earlier=None, queued_ns=None))
    assert set(found.events.earlier.tolist()) == set(found.events.queued_ns.tolist()) == {-1}


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"dur_ns": lambda v: v - 10**12}, "'dur_ns': a duration is 0 or more"),
        ({"start_ns": lambda v: v[::-1]}, "the next one begins before it"),
        ({"start_ns": lambda v: v + (2**63 - 1 - v.max())}, "the end is beyond all time"),
        ({"name": lambda v: v + 1000}, "a code in it stands for nothing"),
        ({"name": lambda v: v - 1000}, "a code in it stands for nothing"),
        ({"kind": lambda v: v + 9}, "a code in it stands for nothing"),
        ({"track": lambda v: v + 100}, "it must be a row of tracks"),
        ({"track": lambda v: v - 1}, "it must be a row of tracks"),
        ({"site": lambda v: v + 100}, "it must be a row of sites"),
        ({"parent": lambda v: np.arange(len(v), dtype=np.int32)}, "a parent comes first"),
        ({"start_ns": lambda v: v.astype(float)}, "it is of type double"),
        ({"name": lambda v: v.astype(str)}, "it is of type string"),
        ({"start_ns": None}, "it lacks start_ns"),
    ],
)  # fmt: skip
def test_tables_that_do_not_hold_together_are_refused_with_the_place(changes, told):
    with pytest.raises(errors.CorruptTraceError, match=told) as caught:
        native.read(events(**changes), path="run.mxprof")
    assert "run.mxprof" in str(caught.value)


def test_an_instant_that_lasts_is_refused():
    with pytest.raises(errors.CorruptTraceError, match="an instant has none"):
        native.read(events(kind=lambda v: np.ones_like(v)))


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        (None, "no entry 'tracks.parquet'"),
        (b"", "no Parquet that can be read"),
        (b"PAR1 nothing PAR1", "no Parquet that can be read"),
    ],
)
def test_a_missing_or_broken_table_is_named(entry, told):
    with pytest.raises(errors.CorruptTraceError, match=told):
        native.read(changed(written(dot_cell()), tracks=entry))


@pytest.mark.parametrize("length", [0, 1, 40, 500, -1, -30])
def test_a_file_that_was_cut_off_says_so(length):
    content = written(dot_cell())
    with pytest.raises(errors.CorruptTraceError, match="cut off"):
        native.read(content[:length])


@pytest.mark.parametrize(
    "told",
    [b"{}", b"[]", b"null", b"[" * 100_000, b'{"format": "mxprof", "version": 1}', b"\xff",
     b'{"format": "mxprof", "version": [1, 0], "meta": {"title": 5}, "health": []}',
     b'{"format": "mxprof", "version": [1, 0], "meta": {"status": "?"}, "health": []}',
     b'{"format": "mxprof", "version": [1, 0], "meta": {"window_ns": 3}, "health": []}',
     b'{"format": "mxprof", "version": [1, 0], "meta": {"extra": {"$x": 1}}, "health": []}',
     b'{"format": "mxprof", "version": [1, 0], "meta": {"history": [1]}, "health": []}',
     b'{"format": "mxprof", "version": [1, 0], "meta": {}, "health": [[1, 2, 3]]}'],
)  # fmt: skip
def test_facts_that_are_not_ours_are_refused(told):
    with pytest.raises(errors.CorruptTraceError, match="does not hold what stands there"):
        native.read(changed(written(dot_cell()), mxprof=told))


def test_rows_that_memory_cannot_hold_are_refused_before_it_is_taken():
    zeros = np.zeros(1_000_000, np.int32)
    flows = pa.table({"source": zeros, "target": zeros, "kind": zeros.astype(np.int8)})
    equal = changed(written(dot_cell()), flows=parquet(flows))
    assert len(equal) < 30_000
    with pytest.raises(errors.LimitExceededError, match=r"limits=Limits\(rows=...\)"):
        native.read(equal, limits=Limits(rows=999_999))
    with pytest.raises(errors.LimitExceededError, match=r"limits=Limits\(total_bytes=...\)"):
        native.read(equal, limits=Limits(total_bytes=20_000_000))


def test_a_text_that_is_repeated_without_end_is_refused_before_it_is_unpacked():
    codes = pa.array(np.zeros(100_000, np.int32))
    texts = pa.DictionaryArray.from_arrays(codes, ["x" * 100_000])
    repeated = parquet(pa.table({"text": texts}), compression="zstd")
    assert len(repeated) < 10_000
    with pytest.raises(errors.CorruptTraceError, match="stands there twice"):
        native.read(changed(written(dot_cell()), strings=repeated))


def test_an_entry_that_claims_to_be_huge_is_refused_unread():
    with pytest.raises(errors.LimitExceededError, match="larger than 10 bytes"):
        native.read(written(dot_cell()), limits=Limits(total_bytes=10))
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mxprof.json", b" " * (20 << 20))
    with pytest.raises(errors.LimitExceededError, match="200 times"):
        native.read(file.getvalue())


def test_entries_of_equal_names_and_of_foreign_packings_are_refused():
    content = written(dot_cell())
    file = io.BytesIO(content)
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(file, "a") as archive:
        archive.writestr("events.parquet", b"")
    with pytest.raises(errors.CorruptTraceError, match="same name"):
        native.read(file.getvalue())
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("mxprof.json", b"{}")
    with pytest.raises(errors.CorruptTraceError, match="never used here"):
        native.read(file.getvalue())


def test_other_entries_are_never_looked_at():
    file = io.BytesIO(written(dot_cell()))
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr("../../etc/passwd", b"root")
        archive.writestr("note.pickle", b"cos\nsystem\n(S'false'\ntR.")
    assert native.read(file.getvalue()) == dot_cell()


def test_without_pyarrow_the_error_says_what_to_install(tmp_path):
    save(dot_cell(), tmp_path / "run.mxprof")
    code = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "import mxprof_nb as mp\n"
        "from mxprof_nb.io import find_writer\n"
        "for work in (lambda: mp.load(sys.argv[1]), lambda: find_writer('x.mxprof')):\n"
        "    try: work()\n"
        "    except mp.errors.MissingPackageError as error: print(error)\n"
        "print(mp.list_readers())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "run.mxprof")],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.count("pip install 'mxprof-nb[formats]'") == 2
    assert "'mxprof'" in done.stdout


def test_a_part_of_a_trace_is_a_file_too(tmp_path):
    part = many(1000).between(0, 10**6)
    save(part, tmp_path / "part.mxprof")
    assert load(tmp_path / "part.mxprof") == part


def test_arguments_that_were_not_looked_at_yet_are_written_and_repeated_ones_once(tmp_path):
    event = {"ph": "X", "name": "a", "pid": 1, "tid": 1, "dur": 1, "args": {"shape": [2, 3]}}
    trace = load(json.dumps([{**event, "ts": ts} for ts in range(5)]).encode())
    save(trace, tmp_path / "run.mxprof")
    found = load(tmp_path / "run.mxprof")
    assert found == trace
    raw = [found.strings[found.args.raw[arg]] for arg in found.events.arg]
    assert raw == ['{"shape": [2, 3]}'] * 5


def test_names_that_are_the_same_once_home_folders_are_taken_out_are_read_back(tmp_path):
    names = [*(f"/home/{user}/net/run.py" for user in ("ann", "bob")), "ann@node7", "dot"]
    event = {"ph": "X", "pid": 1, "tid": 1, "dur": 1, "args": {"scope": "global", "n": 1}}
    events = [{**event, "ts": ts, "name": names[ts % 4]} for ts in range(12)]
    trace = load(json.dumps({"host_name": "node7", "traceEvents": events}).encode())
    save(trace, tmp_path / "run.mxprof")
    save(trace, tmp_path / "run.json")
    found, other = load(tmp_path / "run.mxprof"), load(tmp_path / "run.json")
    told = [found.strings[code] for code in found.events.name]
    assert told == [other.strings[code] for code in other.events.name]
    assert len(set(told)) == 3
    raw = [found.strings[found.args.raw[arg]] for arg in found.events.arg]
    assert raw == ['{"scope": "global", "n": 1}'] * 12
