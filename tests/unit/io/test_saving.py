"""What every format promises: all of a file or nothing, and the same words for the same faults."""

import json
import os
import subprocess

import pytest

import mxprof_nb as mp
from mxprof_nb.errors import WriteError
from mxprof_nb.io import find_writer, list_readers, list_writers, load, save
from mxprof_nb.trace import TraceBuilder
from tests.trace_event_format import broken_rules
from tests.traces import dot_cell, many

ENDINGS = [".json", ".json.gz", ".csv", ".csv.gz", ".mxprof", ".parquet"]
PAGES = [".html", ".png"]


@pytest.fixture(autouse=True)
def formats():
    pytest.importorskip("pyarrow")


class Full:
    """A file on a disk that has room for a few bytes more."""

    def __init__(self, file, room):
        self.file, self.room = file, room

    def write(self, content):
        self.room -= len(content)
        if self.room < 0:
            raise OSError(28, "No space left on device")
        return self.file.write(content)

    def __getattr__(self, name):
        return getattr(self.file, name)


@pytest.mark.parametrize("ending", [*ENDINGS, *PAGES])
@pytest.mark.parametrize("room", [0, 100, 300])
def test_a_full_disk_leaves_the_old_file_whole(tmp_path, monkeypatch, ending, room):
    target = tmp_path / f"run{ending}"
    target.write_bytes(b"what was there")
    plain = os.fdopen
    monkeypatch.setattr(os, "fdopen", lambda *a, **k: _full(plain(*a, **k), room))
    with pytest.raises(WriteError, match="No space left"):
        mp.save(dot_cell(), target)
    monkeypatch.undo()
    assert target.read_bytes() == b"what was there"
    assert list(tmp_path.iterdir()) == [target]


def _full(file, room):
    class Open(Full):
        def __enter__(self):
            return self

        def __exit__(self, *error):
            self.file.close()

    return Open(file, room)


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_real_disk_that_is_full_leaves_the_old_file_whole(tmp_path, ending):
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)]
    try:
        mounted = subprocess.run(mount, capture_output=True, check=False).returncode == 0
    except OSError:
        mounted = False
    if not mounted:
        pytest.skip("no file system can be mounted here")
    try:
        target = disk / f"run{ending}"
        save(TraceBuilder().build(), target)
        before = target.read_bytes()
        with pytest.raises(WriteError, match="No space left"):
            save(many(50_000), target)
        assert target.read_bytes() == before
        assert [entry.name for entry in disk.iterdir()] == [target.name]
    finally:
        subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.parametrize("ending", [*ENDINGS, *PAGES])
def test_a_folder_that_is_not_there_is_said(tmp_path, ending):
    with pytest.raises(WriteError, match="still in memory"):
        mp.save(dot_cell(), tmp_path / "missing" / f"run{ending}")


@pytest.mark.parametrize("ending", ENDINGS)
def test_whatever_is_saved_is_a_profile_again(tmp_path, ending):
    p = mp.Profile(dot_cell())
    path = p.save(tmp_path / f"run{ending}")
    assert mp.load(path).events.dur_ns.tolist() == p.events.dur_ns.tolist()


@pytest.mark.parametrize("ending", [*ENDINGS, *PAGES])
def test_convert_writes_every_format(tmp_path, ending, capsys):
    from mxprof_nb.cli import main

    save(dot_cell(), tmp_path / "run.mxprof")
    target = tmp_path / f"out{ending}"
    assert main(["convert", str(tmp_path / "run.mxprof"), str(target)]) == 0
    assert target.stat().st_size > 0
    assert target.name in capsys.readouterr().out


def test_mxnets_layout_is_an_option(tmp_path):
    path = mp.save(dot_cell(), tmp_path / "run.json", layout="mxnet")
    document = json.loads(path.read_bytes())
    assert {event["ph"] for event in document["traceEvents"]} <= set("MBEbeniCsf")
    assert broken_rules(path.read_bytes()) == []
    assert len(load(path)) == len(dot_cell())


def test_convert_takes_mxnets_layout(tmp_path):
    from mxprof_nb.cli import main

    save(dot_cell(), tmp_path / "run.mxprof")
    target = tmp_path / "dump.json"
    assert main(["convert", "--layout", "mxnet", str(tmp_path / "run.mxprof"), str(target)]) == 0
    assert '"ph":"B"' in target.read_text()


def test_an_option_that_a_format_lacks_is_named_before_anything_is_written(tmp_path):
    with pytest.raises(TypeError, match=r"layout='mxnet': format '\.csv' has no such option"):
        mp.save(dot_cell(), tmp_path / "run.csv", layout="mxnet")
    assert list(tmp_path.iterdir()) == []


def test_formats_that_are_written_can_be_read():
    assert set(list_writers()) <= set(list_readers())
    for ending in ENDINGS:
        assert callable(find_writer(f"x{ending}").write)
