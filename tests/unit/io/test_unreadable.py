"""What is told about files that are no traces."""

import io
import json
import pickle
import zipfile

import numpy as np
import pytest
from PIL import Image

from mxprof_nb.errors import UnknownFormatError
from mxprof_nb.io import load

SUMS = {
    "Time": {"operator": {"dot": {"Count": 2, "Total": 1.5, "Min": 0.5, "Max": 1, "Avg": 0.75}}},
    "Memory": {},
    "Unit": {"Time": "ms", "Memory": "kB"},
}
NOTEBOOK = {
    "cells": [{"cell_type": "code", "source": ['x = \'{"traceEvents": []}\''], "outputs": []}],
    "metadata": {}, "nbformat": 4, "nbformat_minor": 5,
}  # fmt: skip
XPLANE = b"\n\x15\x08\x01\x12\x09/host:CPU\x22\x06\x08\x07\x12\x02hi"
SESSION = b'<?xml version="1.0"?>\n<session xmlns:x="com.nvidia.viper"><timeline/></session>'


class Bomb:
    """What runs code when it is unpickled."""

    def __reduce__(self):
        return (pytest.fail, ("a pickle was opened",))


def picture(kind: str) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (3, 2)).save(file, kind)
    return file.getvalue()


def array() -> bytes:
    file = io.BytesIO()
    np.save(file, np.ones(3))
    return file.getvalue()


def checkpoint() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("model/data.pkl", pickle.dumps({"w": 1}))
        archive.writestr("model/version", "3\n")
    return file.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("trace.json", b"", r"it is empty\. Its program has not written it yet"),
        ("trace.json", b" \n\t\n", r"it is blank"),
        ("trace.json", b"<!DOCTYPE html>\n<html><body>", r"an HTML page\..*download"),
        ("t.json.gz", b"\xef\xbb\xbf\n <HTML lang=en><head>", "an HTML page"),
        ("t.json", b"version https://git-lfs.github.com/spec/v1\noid sha256:4\n", "git lfs pull"),
        ("run.nvvp", SESSION, r"session XML .*Visual Profiler.*--export-profile"),
        ("run.xml", b"<?xml version='1.0'?><a/>", "no trace but XML"),
        ("p.json", json.dumps(NOTEBOOK, indent=1).encode(), "a Jupyter notebook"),
        ("p.pkl", pickle.dumps(Bomb()), r"a pickle, which is never opened .*mp\.save"),
        ("p.pkl", pickle.dumps([1] * 3, protocol=2), "a pickle"),
        ("r.nsys-rep", b"\x89\x01\0\0binary", r"nsys export --type sqlite"),
        ("r.qdrep", b"\x00\x01\0\0binary", r"nsys export --type sqlite"),
        ("r.ncu-rep", b"NVR\0\x01\x02", r"ncu --import"),
        ("mxnet.json", json.dumps(SUMS, indent=4).encode(), r"table of sums as JSON.*dump\(\)"),
        ("mxnet.txt", b"\nProfile Statistics:\n\tNote the", r"table of sums, which .*dump"),
        ("lenet.params", b"\x12\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01", "MXNet arrays"),
        ("lenet-symbol.json", b'{"nodes": [{"op": "null"}], "arg_nodes": [0]}', "a symbol"),
        ("a.npy", array(), "a NumPy array"),
        ("a.png", picture("PNG"), "a PNG picture"),
        ("a.jpg", picture("JPEG"), "a JPEG picture"),
        ("a.gif", picture("GIF"), "a GIF picture"),
        ("a.webp", picture("WEBP"), "a WebP picture"),
        ("a.svg", b'<svg xmlns="http://www.w3.org/2000/svg"/>', "an SVG picture"),
        ("a.pdf", b"%PDF-1.7\n", "a PDF document"),
        ("model.pt", checkpoint(), r"none of its 2 files is a trace: 'model/data\.pkl'"),
        ("t.json.zst", b"(\xb5/\xfd\x04\x00", r"packed with zstd\. Unpack it"),
        ("t.json.xz", b"\xfd7zXZ\0\0", "packed with xz"),
        ("t.json.bz2", b"BZh91AY&SY", "packed with bzip2"),
        ("t.tar", b"trace.json".ljust(257, b"\0") + b"ustar\0", "a tar archive"),
        ("x.xplane.pb", XPLANE, "a binary XPlane"),
        ("x.bin", XPLANE, "a binary XPlane"),
        ("x.pftrace", b"\n\x0c\x40\x00\x50\x01\xc8\x02\x01\xd5\x02\x02\x08\x0c", "of Perfetto"),
        ("x.bin", b"\n\x02\x50\x01\n\x02\x50\x01", r"trace of Perfetto.*traceconv json"),
        ("run.json", b'{"$schema": "https://x/schema.json", "shared": {}}', "speedscope"),
        ("main", b"\x7fELF\x02\x01\x01", "a program"),
        ("x.bin", b"\x91\x92nothing known", r"begins with b'\\x91\\x92nothing"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_trace_is_called_what_it_is(tmp_path, name, content, told):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(UnknownFormatError, match=rf"(?s){told}") as caught:
        load(path)
    assert str(caught.value).startswith(str(path))
    assert caught.value.path.startswith(str(path))
    assert path.read_bytes() == content


def test_what_it_is_is_said_also_to_who_names_a_format(tmp_path):
    path = tmp_path / "trace.json"
    path.write_bytes(b"<!DOCTYPE html><html>")
    with pytest.raises(UnknownFormatError, match="an HTML page"):
        load(path, format="chrome")


def test_a_trace_is_read_although_it_mentions_what_else_there_is():
    content = b'{"cells": "cell_type", "nbformat": 1, "traceEvents": []}'
    assert len(load(content)) == 0


@pytest.mark.parametrize("address", ["https://host/trace.json", "s3://bucket/trace.json.gz"])
def test_an_address_is_told_to_be_downloaded(address):
    with pytest.raises(UnknownFormatError, match=r"://.*nothing is fetched.*Download it"):
        load(address)
