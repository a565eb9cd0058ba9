"""`gluon.data.vision`: MNIST's files, good and bad; transforms of pictures."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mxprof_nb.runtime as mx
from mxprof_nb.errors import ArgumentError, DatasetError, MissingDatasetError, ShapeError
from mxprof_nb.runtime.gluon.data.vision import idx

nd = mx.nd
vision = mx.gluon.data.vision
transforms = vision.transforms

PICTURES = np.arange(3 * 28 * 28).reshape(3, 28, 28).astype("u1")
LABELS = np.array([5, 0, 9], "u1")


def write(folder: Path, *, part: str = "train", packed: bool = True) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, values in (("images-idx3", PICTURES), ("labels-idx1", LABELS)):
        path = folder / f"{part}-{name}-ubyte"
        if packed:
            path.with_suffix(".gz").write_bytes(gzip.compress(idx.pack(values)))
        else:
            path.write_bytes(idx.pack(values))


# Files


@pytest.mark.parametrize("packed", [True, False])
def test_pictures_are_arrays_of_bytes_and_labels_numbers(tmp_path, packed):
    write(tmp_path, packed=packed)
    digits = vision.MNIST(tmp_path)
    assert len(digits) == 3
    picture, label = digits[2]
    assert (picture.shape, picture.dtype) == ((28, 28, 1), np.uint8)
    np.testing.assert_array_equal(picture.asnumpy()[..., 0], PICTURES[2])
    assert isinstance(label, np.int32)
    assert label == 9


def test_the_default_folder_follows_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("MXNET_HOME", str(tmp_path))
    write(tmp_path / "datasets" / "mnist")
    write(tmp_path / "datasets" / "fashion-mnist", part="t10k")
    assert len(vision.MNIST()) == len(vision.FashionMNIST(train=False)) == 3
    monkeypatch.delenv("MXNET_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    write(tmp_path / ".mxnet" / "datasets" / "mnist", part="t10k")
    assert len(vision.MNIST(train=False)) == 3


def test_a_transform_makes_the_sample(tmp_path):
    write(tmp_path)
    digits = vision.MNIST(str(tmp_path), transform=lambda picture, label: label + 1)
    assert [digits[place] for place in range(3)] == [6, 1, 10]


def test_missing_files_are_told_in_one_sentence_with_the_command(tmp_path, monkeypatch):
    monkeypatch.setenv("MXNET_HOME", str(tmp_path))
    with pytest.raises(MissingDatasetError) as caught:
        vision.MNIST()
    told = str(caught.value)
    assert told.startswith(f"There is no train-images-idx3-ubyte.gz in {tmp_path}")
    assert told.endswith("`python -m mxprof_nb digits`.")
    assert told.count(". ") == 0
    assert isinstance(caught.value, FileNotFoundError)
    with pytest.raises(MissingDatasetError, match="digits --to other"):
        vision.MNIST("other")
    with pytest.raises(FileNotFoundError, match="name another folder"):
        vision.FashionMNIST()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "begins with nothing"),
        (b"<html>", "begins with 3c68746d, and an IDX file of bytes with 3 axes with 00000803"),
        (idx.pack(LABELS), "begins with 00000801"),
        (idx.pack(PICTURES)[:9], "ends before the lengths of its axes"),
        (idx.pack(PICTURES)[:-1], "promises 2,352 bytes in shape .3, 28, 28., and 2,351 follow"),
        (idx.pack(PICTURES) + b"x", "and 2,353 follow"),
        (struct.pack(">HBB3I", 0, 8, 3, *[2**32 - 1] * 3), "and 0 follow"),
        (gzip.compress(idx.pack(PICTURES))[:-9], "cannot be unpacked"),
        (gzip.compress(idx.pack(PICTURES))[:20] + b"x" * 40, "cannot be unpacked"),
        (gzip.compress(b"text"), "begins with 74657874"),
    ],
)
def test_a_damaged_file_is_named_with_what_is_wrong(tmp_path, content, told):
    write(tmp_path)
    path = tmp_path / "train-images-idx3-ubyte.gz"
    path.write_bytes(content)
    with pytest.raises(DatasetError, match=told) as caught:
        vision.MNIST(tmp_path)
    assert str(path) in str(caught.value)


def test_as_many_labels_as_pictures_are_needed(tmp_path):
    write(tmp_path)
    (tmp_path / "train-labels-idx1-ubyte.gz").write_bytes(idx.pack(LABELS[:2]))
    with pytest.raises(DatasetError, match=r"has 3 pictures, and .* 2 labels"):
        vision.MNIST(tmp_path)


# Pictures


def test_a_picture_becomes_a_tensor_and_so_do_several():
    values = np.arange(24, dtype="u1").reshape(2, 4, 3)
    expected = values.transpose(2, 0, 1).astype("f4") / np.float32(255)
    for shape in ((), (5,)):
        pictures = np.broadcast_to(values, (*shape, *values.shape))
        made = transforms.ToTensor()(nd.array(pictures, dtype="uint8")).asnumpy()
        assert made.dtype == np.float32
        np.testing.assert_array_equal(made, np.broadcast_to(expected, (*shape, *expected.shape)))


def test_channels_are_normalized_each_by_its_own_numbers():
    picture = np.arange(12, dtype="f4").reshape(3, 2, 2)
    made = transforms.Normalize((1, 2, 3), (2, 4, 5))(nd.array(picture)).asnumpy()
    for channel, (mean, std) in enumerate([(1, 2), (2, 4), (3, 5)]):
        np.testing.assert_allclose(made[channel], (picture[channel] - mean) / std, rtol=1e-6)
    alike = transforms.Normalize(0.5, 0.25)(nd.array(picture)).asnumpy()
    np.testing.assert_allclose(alike, (picture - 0.5) / 0.25)


def test_transforms_are_composed_in_order_and_the_list_stays_as_it_was():
    parts = [transforms.Cast("float32"), transforms.ToTensor(), mx.gluon.nn.Flatten()]
    composed = transforms.Compose(parts)
    assert len(parts) == 3
    picture = nd.array(np.full((2, 2, 1), 51, "u1"), dtype="uint8")
    np.testing.assert_allclose(composed(picture).asnumpy(), [[0.2] * 4], rtol=1e-6)
    assert transforms.Cast("float16")(picture).dtype == np.float16


NO_NUMBERS: Any = ("a", None)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: nd.image.to_tensor(nd.ones((2, 3))), "height, width, channel"),
        (lambda: nd.image.normalize(nd.ones((2, 3))), "the channels come first"),
        (lambda: nd.image.normalize(nd.ones((3, 2, 2)), (1, 2)), "mean has 2 numbers"),
        (lambda: nd.image.normalize(nd.ones((3, 2, 2)), 0, (1, 2)), "std has 2 .* 3 channels"),
        (lambda: nd.image.normalize(nd.ones((3, 2, 2)), NO_NUMBERS[0]), "mean: 'a' is no number"),
        (lambda: nd.image.normalize(nd.ones((3, 2, 2)), NO_NUMBERS[1]), "mean: None is no number"),
    ],
)
def test_what_is_no_picture_is_refused_at_the_call(call, told):
    with pytest.raises(ShapeError, match=told):
        call()


def test_the_gradient_of_a_normalized_picture_is_divided_too():
    picture = nd.ones((3, 2, 2))
    picture.attach_grad()
    with mx.autograd.record():
        made = nd.image.normalize(picture, (1, 2, 3), (2, 4, 5))
    made.backward()
    np.testing.assert_allclose(picture.grad.asnumpy()[:, 0, 0], [0.5, 0.25, 0.2], rtol=1e-6)


def test_one_transform_in_place_of_a_list_is_refused():
    one: Any = transforms.ToTensor()
    with pytest.raises(ArgumentError, match="takes a list of transforms, not ToTensor"):
        transforms.Compose(one)
