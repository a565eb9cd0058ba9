import gzip
import io
import sys
import types
import zipfile
from importlib.metadata import EntryPoint
from typing import Any

import pytest

from mxprof_nb.errors import (
    CorruptTraceError,
    EmptyTraceError,
    LimitExceededError,
    UnknownFormatError,
    WriteError,
)
from mxprof_nb.io import Limits, find_writer, list_readers, list_writers, load, registry, save
from mxprof_nb.trace import Meta, TraceBuilder
from tests.traces import dot_cell

TINY = b'[{"ph":"X","name":"dot","ts":1,"dur":2,"pid":1,"tid":1}]'


@pytest.mark.parametrize(
    "form", ["path", "str", "bytes", "bytearray", "memoryview", "file", "text"]
)
@pytest.mark.parametrize("packed", [False, True])
def test_a_trace_is_read_from_anything_that_holds_bytes(tmp_path, form, packed):
    content = gzip.compress(TINY) if packed else TINY
    path = tmp_path / "no_ending"
    path.write_bytes(content)
    sources = {
        "path": path,
        "str": str(path),
        "bytes": content,
        "bytearray": bytearray(content),
        "memoryview": memoryview(content),
        "file": io.BytesIO(content),
        "text": io.StringIO(TINY.decode()),
    }
    trace = load(sources[form])
    assert (len(trace), trace.events.dur_ns.tolist()) == (1, [2000])
    assert trace.meta.title == ("no_ending" if form in ("path", "str") else "")


@pytest.mark.parametrize("name", ["trace.json", "trace.json.gz", "TRACE.JSON"])
def test_what_is_saved_by_its_ending_is_loaded_by_its_content(tmp_path, name):
    path = tmp_path / name
    save(dot_cell(), path)
    assert path.read_bytes().startswith(b"\x1f\x8b" if name.endswith(".gz") else b"{")
    found = load(path)
    assert found.frame().equals(dot_cell().frame())
    assert found.meta == dot_cell().meta


def test_equal_traces_give_equal_files(tmp_path):
    for name in ("a.json.gz", "b.json.gz"):
        save(dot_cell(), tmp_path / name)
    assert (tmp_path / "a.json.gz").read_bytes() == (tmp_path / "b.json.gz").read_bytes()


def test_a_format_may_be_named_whatever_the_ending(tmp_path):
    save(dot_cell(), tmp_path / "trace.data", format="chrome")
    assert len(load(tmp_path / "trace.data", format="chrome")) == len(dot_cell())


def test_whatever_offers_a_trace_can_be_saved(tmp_path):
    offered = types.SimpleNamespace(__mxprof_trace__=dot_cell())
    save(offered, tmp_path / "trace.json")
    assert len(load(tmp_path / "trace.json")) == len(dot_cell())


@pytest.mark.parametrize("content", [b"hello", b"\x91PNG", b"a,b\n1,2\n"])
def test_content_that_is_no_trace_is_answered_with_the_known_formats(tmp_path, content):
    path = tmp_path / "trace.json"
    path.write_bytes(content)
    with pytest.raises(UnknownFormatError, match="chrome") as caught:
        load(path)
    assert caught.value.path == str(path)


def test_a_format_that_does_not_exist_is_answered_with_the_one_meant(tmp_path):
    with pytest.raises(UnknownFormatError, match=r"Did you mean 'chrome'\?"):
        load(TINY, format="chrom")
    with pytest.raises(UnknownFormatError, match=r"Did you mean 'chrome'\?"):
        save(dot_cell(), tmp_path / "trace.json", format="chrom")


@pytest.mark.parametrize(("name", "told"), [("trace.xls", "'.xls'"), ("trace", "no ending")])
def test_an_ending_of_no_format_is_answered_with_the_known_endings(tmp_path, name, told):
    with pytest.raises(UnknownFormatError, match=told) as caught:
        save(dot_cell(), tmp_path / name)
    endings = ".json, .json.gz, .mxprof, .parquet."
    assert str(caught.value).endswith(f"Known endings: .csv, .csv.gz, {endings}")
    with pytest.raises(UnknownFormatError) as caught:
        find_writer(name, others=(".html",))
    assert str(caught.value).endswith(f"Known endings: .csv, .csv.gz, .html, {endings}")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_does_not_exist_is_the_usual_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "missing.json")


def test_a_cut_off_gzip_file_says_so():
    assert "was cut off" in str(load(gzip.compress(TINY)[:-7]).health)
    with pytest.raises(CorruptTraceError, match="cannot be unpacked"):
        load(gzip.compress(TINY)[:9])


WIDE = ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be")


@pytest.mark.parametrize("encoding", WIDE)
@pytest.mark.parametrize("packed", [False, True])
def test_a_text_as_powershell_writes_it_is_read_in_every_format(encoding, packed):
    mark = "" if encoding in ("utf-16", "utf-32") else "\N{BYTE ORDER MARK}"
    texts = [
        TINY.decode().replace("dot", "Größe"),
        "name,start_us,dur_us\nGröße,1,2\n",
        "onednn_verbose,exec,cpu,matmul,x,undef,src_f32::blocked:ab:f0,,,1x1,0.5\n",
    ]
    for text in texts:
        content = (mark + text).encode(encoding)
        told = load(gzip.compress(content) if packed else content)
        assert told == load(text.encode())


def test_a_wide_text_that_was_cut_off_is_read_up_to_there():
    content = TINY.decode().encode("utf-16")
    trace = load(content[:-1])
    assert trace.strings[trace.events.name[0]] == "dot"
    assert "UTF-16 is damaged from byte" in str(trace.health)


def test_a_wide_text_keeps_to_the_limits():
    content = ("\N{BYTE ORDER MARK}" + "\N{HANGUL SYLLABLE HAN}" * 100).encode("utf-16-le")
    with pytest.raises(LimitExceededError):
        load(content, limits=Limits(total_bytes=250))


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_zip_archive_is_unpacked_though_what_lies_in_it_unpacked_looks_like_a_trace(method):
    def packed(*contents):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", method) as archive:
            for number, content in enumerate(contents):
                archive.writestr(f"{number}.json", content)
        return file.getvalue()

    assert load(packed(TINY)) == load(TINY)
    with pytest.raises(UnknownFormatError, match=r"2 of its files may be the trace: '0\.json', '1"):
        load(packed(TINY, TINY))


def test_an_empty_list_of_files_says_so():
    with pytest.raises(EmptyTraceError, match="at least one file"):
        load([])


def test_a_path_that_cannot_be_written_says_that_nothing_is_lost(tmp_path):
    with pytest.raises(WriteError, match="still in memory") as caught:
        save(dot_cell(), tmp_path / "no" / "folder" / "trace.json")
    assert caught.value.path.endswith("trace.json")
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(WriteError, match="it is a folder"):
        save(dot_cell(), tmp_path / "folder.json")


@pytest.mark.parametrize(
    "error", [RuntimeError("broken"), KeyboardInterrupt(), OSError(28, "full")]
)
def test_a_save_that_fails_leaves_what_was_there(tmp_path, monkeypatch, error):
    path = tmp_path / "trace.json"
    path.write_text("what was there")

    def write(trace, file):
        file.write(b"half of it")
        raise error

    monkeypatch.setattr("mxprof_nb.io.chrome_writer.write", write)
    with pytest.raises(WriteError if isinstance(error, OSError) else type(error)):
        save(dot_cell(), path)
    assert path.read_text() == "what was there"
    assert list(tmp_path.iterdir()) == [path]


def test_saving_again_keeps_the_access_rights_and_the_link(tmp_path):
    real, link = tmp_path / "real.json", tmp_path / "link.json"
    save(dot_cell(), real)
    real.chmod(0o640)
    link.symlink_to(real)
    save(TraceBuilder(Meta(title="second")).build(), link)
    assert link.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    assert load(real).meta.title == "second"


def test_a_new_file_has_the_rights_that_the_process_gives(tmp_path):
    (tmp_path / "plain").touch()
    save(dot_cell(), tmp_path / "trace.json")
    assert (tmp_path / "trace.json").stat().st_mode == (tmp_path / "plain").stat().st_mode


@pytest.fixture
def third_party(monkeypatch):
    """Adds a format "lines": one name of an event per line after a first line "lines"."""
    module: Any = types.ModuleType("lines_of_a_third_party")

    def read(content, *, path):
        builder = TraceBuilder()
        track = builder.track("lines", role="host")
        for start, name in enumerate(content.decode().splitlines()[1:]):
            builder.event(name, track=track, start_ns=start, dur_ns=1)
        return builder.build()

    def write(trace, file):
        names = [trace.strings[int(code)] for code in trace.events.name]
        file.write("\n".join(["lines", *names]).encode())

    module.sniff = lambda head, path: 1.0 if head.startswith(b"lines\n") else 0.0
    module.read, module.write, module.suffixes = read, write, (".lines",)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(
        registry,
        "entry_points",
        lambda group: [EntryPoint(name, module.__name__, group) for name in ("lines", "chrome")],
    )
    return module


def test_third_parties_add_formats_by_entry_points(third_party, tmp_path):
    assert {"chrome", "lines", "spool"} <= set(list_readers())
    assert {"chrome", "lines"} <= set(list_writers())
    save(dot_cell(), tmp_path / "trace.lines")
    assert len(load(tmp_path / "trace.lines")) == len(dot_cell())
    assert find_writer("x.lines") is third_party


def test_a_third_party_cannot_replace_what_is_built_in(third_party):
    assert len(load(b'{"traceEvents":[]}')) == 0
    assert find_writer("x.json") is sys.modules["mxprof_nb.io.chrome_writer"]


def test_a_reader_is_given_what_it_names_and_the_path_when_it_opens_files_itself(
    third_party, tmp_path
):
    taken: list[Any] = []
    plain = third_party.read

    def read(content, *, path, limits, every=1):
        taken.append((limits, every))
        return plain(content, path=path)

    def read_file(file, *, path, progress, every=1):
        taken.append((file, path, callable(progress), every))
        return TraceBuilder().build()

    third_party.read = read
    path = tmp_path / "trace.lines"
    path.write_bytes(b"lines\na\nb")
    assert len(load(path, every=2, limits=Limits(rows=7))) == 2
    third_party.read_file = read_file
    load(path, every=3)
    packed = tmp_path / "trace.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert len(load(packed, every=4)) == 2
    assert taken == [(Limits(rows=7), 2), (str(path), str(path), True, 3), (Limits(), 4)]
    with pytest.raises(TypeError, match=r"evry=1: format 'lines' has no .* 'every'\? It takes ev"):
        load(path, evry=1)


def test_a_broken_reader_of_a_third_party_does_not_stop_the_others(monkeypatch):
    entry = EntryPoint("lines", "no_such_module_of_a_third_party", "mxprof_nb.readers")
    monkeypatch.setattr(registry, "entry_points", lambda group: [entry])
    assert len(load(TINY)) == 1
    with pytest.raises(UnknownFormatError) as caught:
        load(b"\x91\x92")
    assert "'lines' could not be asked" in caught.value.__notes__[0]
    with pytest.raises(ModuleNotFoundError):
        load(TINY, format="lines")


def test_a_trace_that_begins_late_is_found():
    log = b"epoch 1: loss 0.25\n" * 10_000
    line = b"dnnl_verbose,exec,cpu,reorder,simple:any,undef,src dst,,,64x50,0.5\n"
    assert len(load(log + line)) == 1
