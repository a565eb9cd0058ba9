import gzip
import io
import zipfile
import zlib
from typing import Any, cast

import pytest

from mxprof_nb.errors import CorruptTraceError, LimitExceededError, UnknownFormatError
from mxprof_nb.io import Limits, load
from mxprof_nb.io.content import opened

TINY = b'[{"ph":"X","name":"dot","ts":1,"dur":2,"pid":1,"tid":1}]'


def zipped(**members: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "."), content)
    return file.getvalue()


def bomb(size: int) -> bytes:
    packer = zlib.compressobj(9, wbits=31)
    parts = [packer.compress(b" " * (1 << 20)) for _ in range(size >> 20)]
    return b"".join([*parts, packer.flush()])


@pytest.mark.parametrize("bound", ["total_bytes", "ratio", "nesting", "string_bytes", "events"])
def test_a_bound_that_is_no_whole_number_above_zero_is_refused_by_name(bound: Any):
    with pytest.raises(TypeError, match=rf"{bound}='many': a whole number is needed"):
        Limits(**{bound: cast("int", "many")})
    with pytest.raises(TypeError, match=rf"{bound}=True"):
        Limits(**{bound: True})
    with pytest.raises(ValueError, match=rf"{bound}=0: at least 1"):
        Limits(**{bound: 0})


@pytest.mark.parametrize(
    ("argument", "told"),
    [
        ({"limits": 5}, r"limits=5: a Limits is needed, not int"),
        ({"progress": "yes"}, r"progress='yes': a function is needed"),
        ({"format": 3}, r"format=3: the name of a format"),
        ({"column": {}}, r"column=\{\}: format 'chrome' has no such option"),
        ({"source": None}, r"source=None: a path, bytes or a file open for reading"),
        ({"source": {1: 2}}, r"source=\{1: 2\}: .* not dict"),
    ],
)
def test_a_wrong_argument_is_refused_by_name(argument, told):
    with pytest.raises(TypeError, match=told):
        load(**{"source": TINY, **argument})


def test_a_file_larger_than_allowed_is_not_read(tmp_path):
    path = tmp_path / "large.json"
    with path.open("wb") as file:
        file.truncate(1 << 40)  # a hole: it takes no room on disk
    with pytest.raises(LimitExceededError, match=r"larger than 4,294,967,296 bytes") as caught:
        load(path)
    assert "limits=Limits(total_bytes=...)" in str(caught.value)


@pytest.mark.parametrize("form", ["bytes", "file", "text"])
def test_content_in_memory_keeps_to_the_same_bound(form):
    sources: dict[str, Any] = {
        "bytes": TINY,
        "file": io.BytesIO(TINY),
        "text": io.StringIO(TINY.decode()),
    }
    assert len(load(sources[form], limits=Limits(total_bytes=len(TINY)))) == 1
    sources = {"bytes": TINY, "file": io.BytesIO(TINY), "text": io.StringIO(TINY.decode())}
    with pytest.raises(LimitExceededError, match="larger than 55 bytes"):
        load(sources[form], limits=Limits(total_bytes=55))


class Endless(io.RawIOBase):
    """A file that never ends, and says how much was read of it."""

    taken = 0

    def read(self, size: int = -1) -> bytes:
        assert 0 < size <= 1 << 24, "it was asked for everything"
        self.taken += size
        return b" " * size


def test_a_file_that_never_ends_is_left_at_the_bound():
    endless = Endless()
    with pytest.raises(LimitExceededError):
        load(endless, limits=Limits(total_bytes=10 << 20))  # type: ignore[arg-type]
    assert endless.taken <= 12 << 20


def test_gzip_that_unpacks_to_a_thousand_times_its_size_is_stopped_early():
    packed = bomb(256 << 20)
    with pytest.raises(LimitExceededError, match=r"unpacks to more than 200 times"):
        load(packed)
    with pytest.raises(LimitExceededError, match=r"larger than 1,000,000 bytes"):
        load(packed, limits=Limits(total_bytes=1_000_000))


def test_what_packs_well_but_is_small_is_read():
    packed = gzip.compress(TINY + b" " * (8 << 20))
    assert len(packed) * 200 < 8 << 20
    assert len(load(packed)) == 1


def test_a_zip_bomb_is_stopped_whatever_its_directory_says():
    content = bytearray(zipped(trace__json=TINY + b" " * (64 << 20)))
    with pytest.raises(LimitExceededError, match=r"200 times"):
        load(bytes(content))
    # The directory claims that as much comes out as is packed, or that all of it was packed.
    at = content.index(b"PK\x01\x02")
    content[at + 20 : at + 24] = (64 << 20).to_bytes(4, "little")
    with pytest.raises((LimitExceededError, CorruptTraceError)):
        load(bytes(content))


@pytest.mark.parametrize(
    "wrap",
    [
        lambda content: zipped(trace__json=content),
        lambda content: zipped(trace__json__gz=gzip.compress(content)),
        lambda content: gzip.compress(zipped(trace__json=content)),
        lambda content: gzip.compress(content[:9]) + gzip.compress(content[9:]) + b"\0" * 9,
    ],
)
def test_a_trace_is_found_in_its_wrappings(tmp_path, wrap):
    path = tmp_path / "profile"
    path.write_bytes(wrap(TINY))
    for source in (path, path.read_bytes(), io.BytesIO(path.read_bytes())):
        assert load(source).events.dur_ns.tolist() == [2000]


def test_the_only_trace_of_an_archive_is_read_whatever_lies_beside_it():
    content = zipped(
        README__md=b"# What this is", package__json=b'{"name": "x"}', trace__json=TINY,
        __MACOSX___trace__json=b"[clutter",
    )  # fmt: skip
    assert len(load(content)) == 1
    assert len(load(content, format="chrome")) == 1


def test_an_archive_with_several_traces_or_none_lists_what_is_in_it():
    with pytest.raises(UnknownFormatError, match=r"2 of its files .*'a\.json', 'b\.json'"):
        load(zipped(a__json=TINY, b__json=TINY))
    with pytest.raises(UnknownFormatError, match=r"none of its 2 files .*'a\.md', 'b\.md'"):
        load(zipped(a__md=b"x", b__md=b"y"))
    with pytest.raises(UnknownFormatError, match="it is empty"):
        load(zipped())
    with pytest.raises(LimitExceededError, match="1,001 files"):
        load(zipped(**{f"f{number}": b"" for number in range(1_001)}))


def test_a_damaged_archive_says_so():
    content = zipped(trace__json=TINY * 50)
    with pytest.raises(CorruptTraceError, match="zip archive: it cannot be unpacked"):
        load(content[:-30])
    with pytest.raises(CorruptTraceError, match="zip archive: it cannot be unpacked"):
        load(content.replace(content[45:55], b"\xff" * 10))
    locked = bytearray(content)
    locked[6] |= 1
    locked[content.index(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(CorruptTraceError, match=r"cannot be unpacked here .*encrypted"):
        load(bytes(locked))


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_packing_that_python_cannot_unpack_within_bounds_is_refused(method):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        archive.writestr("trace.json", TINY)
    with pytest.raises(CorruptTraceError, match=r"not by deflate\)\. Unpack it"):
        load(file.getvalue())


def test_an_archive_whose_only_file_has_no_name_is_read():
    assert len(load(zipped(ab=TINY).replace(b"ab", b"\0\0"))) == 1


def test_archives_within_archives_end():
    content = TINY
    for _ in range(5):
        content = gzip.compress(content)
    with pytest.raises(UnknownFormatError, match="packed with gzip many times"):
        load(content)


def test_a_folder_is_answered_with_what_lies_in_it(tmp_path):
    with pytest.raises(UnknownFormatError, match=r"it is a folder\. Name the file to read"):
        load(tmp_path)
    (tmp_path / "trace.json").write_bytes(TINY)
    with pytest.raises(UnknownFormatError, match=r"It holds 'trace\.json'; name the file"):
        load(tmp_path)


def test_who_wants_to_know_is_told_how_far_reading_is(tmp_path):
    path = tmp_path / "trace.json.gz"
    path.write_bytes(gzip.compress(TINY + b" " * (3 << 20)))
    told: list[tuple[str, int, int]] = []
    load(path, progress=lambda *words: told.append(words))
    unpacked = [words for words in told if words[0] == "Unpacking trace.json.gz"]
    assert unpacked[-1] == ("Unpacking trace.json.gz", len(TINY) + (3 << 20), 0)
    assert ("Reading trace.json.gz", 0, 0) in told
    path = tmp_path / "trace.json"
    path.write_bytes(TINY)
    load(path, progress=lambda *words: told.append(words))
    assert ("Reading trace.json", 0, 0) in told
    assert all(doing.count("trace") == 1 for doing, _, _ in told)


def test_a_file_stays_on_disk_until_its_bytes_are_asked_for(tmp_path):
    path = tmp_path / "large"
    path.write_bytes(TINY)
    content = opened(path, Limits())
    assert (content.size, content.head(3), content.file) == (len(TINY), TINY[:3], str(path))
    path.write_bytes(b"changed")
    assert content.data() == b"changed"
