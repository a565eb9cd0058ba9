"""What every reader promises, those of third parties included."""

from __future__ import annotations

import gzip
import io
import os
import random
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from mxprof_nb.errors import LimitExceededError, ReadError
from mxprof_nb.io import Limits, list_readers, load, registry
from mxprof_nb.trace import Trace, schema
from tests.conformance.samples import samples

FORMATS = list_readers()
CASES = [(format, number) for format in FORMATS for number in range(len(samples(format)))]
every_format = pytest.mark.parametrize("format", FORMATS)
every_sample = pytest.mark.parametrize(("format", "number"), CASES)


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for temporary files that has to be empty again afterwards."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


def reader_of(format: str) -> registry.Reader:
    entry = registry._found("mxprof_nb.readers", registry._READERS)[format]
    reader: registry.Reader = registry._loaded(entry)
    return reader


def nameless(trace: Trace) -> Trace:
    """Return a trace without what it has from the name of its file."""
    return replace(trace, meta=replace(trace.meta, title=""))


def fate(content: bytes, format: str) -> Trace | None:
    """Return the trace, or None after an error that says what is wrong and where."""
    try:
        return load(content, format=format)
    except ReadError as error:
        told = (error.path[:7], str(error)[:7])
    assert told == ("<bytes>", "<bytes>")
    return None


@every_sample
def test_a_reader_knows_its_own_files(format: str, number: int):
    content = samples(format)[number]
    sure = {name: reader_of(name).sniff(content[: 1 << 16], "file") for name in FORMATS}
    assert 0.5 <= sure[format] <= 1.0
    assert load(content) == load(content, format=format)
    assert len(load(content)) > 0


@every_format
def test_recognising_has_no_memory_and_never_fails(format: str):
    reader, numbers = reader_of(format), random.Random(1)
    heads = [content[:cut] for name in FORMATS for content in samples(name)
             for cut in (0, 1, 2, 3, 15, 16, 30, 100, 1 << 16)]  # fmt: skip
    heads += [numbers.randbytes(size) for size in (1, 2, 5, 300, 1 << 16) for _ in range(20)]
    heads += [byte * (1 << 16) for byte in (b"\0", b"\xff", b" ", b"\n", b"[", b"{", b",", b'"')]
    first = [reader.sniff(head, "some/file.json") for head in heads]
    assert all(0.0 <= sure <= 1.0 for sure in first)
    assert first == [reader.sniff(head, "some/file.json") for head in heads]


@every_format
@pytest.mark.parametrize("piece", [b"\0", b"[", b"{", b"a,b\n", b'"', b"\n", b"ab ", b"==1== x\n"])
def test_recognising_a_long_head_ends_soon(format: str, piece: bytes):
    head = piece * ((8 << 20) // len(piece))
    assert 0.0 <= reader_of(format).sniff(head, "file") <= 1.0  # or the time is up


@every_sample
def test_reading_twice_gives_the_same_and_changes_nothing(format: str, number: int):
    content = samples(format)[number]
    changeable = bytearray(content)
    first = load(changeable, format=format)
    assert first == load(changeable, format=format)
    assert changeable == content


@every_sample
def test_path_bytes_file_gzip_and_zip_give_the_same(
    format: str, number: int, tmp_path: Path, temporary: Path
):
    content = samples(format)[number]
    path, packed, zipped = (tmp_path / name for name in ("plain", "packed.gz", "packed.zip"))
    path.write_bytes(content)
    packed.write_bytes(gzip.compress(content))
    with zipfile.ZipFile(zipped, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("inside", content)
    before = {file: (file.read_bytes(), file.stat().st_mtime_ns) for file in (path, packed, zipped)}
    expected = nameless(load(content))
    for source in (path, str(path), packed, zipped, io.BytesIO(content), memoryview(content)):
        assert nameless(load(source)) == expected
    with path.open("rb") as file:
        assert nameless(load(file)) == expected
        assert not file.closed
    assert before == {file: (file.read_bytes(), file.stat().st_mtime_ns) for file in before}
    assert {file.name for file in tmp_path.iterdir()} == {
        "plain", "packed.gz", "packed.zip", "temporary"
    }  # fmt: skip


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="the system does not list them")
@every_format
def test_no_file_stays_open_whatever_happens(format: str, tmp_path: Path):
    path = tmp_path / "file"
    for content in (samples(format)[0], samples(format)[0][:50], b"\0nothing"):
        path.write_bytes(content)
        with suppress(ReadError):
            load(path, format=format)
    there = [Path("/proc/self/fd", name) for name in os.listdir("/proc/self/fd")]
    assert str(path) not in [os.readlink(fd) for fd in there if fd.is_symlink()]


@every_sample
def test_a_file_cut_off_anywhere_gives_a_trace_or_says_what_is_wrong(format: str, number: int):
    content = samples(format)[number]
    whole = len(load(content, format=format))
    for part in range(24):
        trace = fate(content[: len(content) * part // 24], format)
        assert trace is None or len(trace) <= whole + 1  # a begin may become a slice of its own


@every_format
def test_files_of_other_formats_and_noise_are_refused_in_words(format: str):
    numbers = random.Random(2)
    for other in FORMATS:
        for content in samples(other):
            fate(content, format)
    for size in (0, 1, 7, 1_000, 70_000):
        fate(numbers.randbytes(size), format)


@every_sample
def test_bounds_are_kept_by_every_reader(format: str, number: int):
    content = samples(format)[number]
    trace = load(content, format=format)
    assert load(content, format=format, limits=Limits()) == trace
    if len(trace) > 1:
        with pytest.raises(LimitExceededError):
            load(content, format=format, limits=Limits(events=1))
    with pytest.raises(LimitExceededError):
        load(content, format=format, limits=Limits(total_bytes=len(content) - 1))


@every_sample
def test_what_is_read_keeps_the_rules_of_a_trace(format: str, number: int):
    trace = load(samples(format)[number], format=format)
    for name, table in schema.TABLES.items():
        columns = getattr(trace, name)
        for column in table.columns:
            values = getattr(columns, column.name)
            assert values.dtype == column.dtype
            assert not values.flags.writeable
    assert (trace.events.start_ns[1:] >= trace.events.start_ns[:-1]).all()
    assert len(trace.frame()) == len(trace)


def test_a_reader_of_a_third_party_keeps_the_same_promises(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parent.parent / "plugin_example"))
    entry = EntryPoint("jobs", "mxprof_jobs_log", "mxprof_nb.readers")
    monkeypatch.setattr(registry, "entry_points", lambda group: [entry])
    content = b"jobs log 1\nsleep 0 10\nprint 20 25\n"
    assert "jobs" in list_readers()
    trace = load(content)
    assert trace == load(bytearray(content), format="jobs")
    assert list(trace.frame()["name"]) == ["sleep", "print"]
    for cut in range(len(content)):
        fate(content[:cut], "jobs")
    for other in FORMATS:
        assert reader_of("jobs").sniff(samples(other)[0], "file") == 0.0
    with pytest.raises(LimitExceededError):
        load(content, limits=Limits(events=1))
