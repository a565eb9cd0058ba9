"""Datasets: samples by position, transformed, chosen; and samplers that refuse nonsense."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import mxprof_nb.runtime as mx
from mxprof_nb.errors import ArgumentError

data = mx.gluon.data


def everything(dataset):
    return [dataset[place] for place in range(len(dataset))]


def negative(x):
    return -x


def test_arrays_side_by_side_give_tuples_and_one_alone_its_elements():
    assert everything(data.ArrayDataset([1, 2], "ab")) == [(1, "a"), (2, "b")]
    assert everything(data.ArrayDataset([1, 2])) == [1, 2]


def test_labels_in_an_array_of_one_axis_become_numbers():
    first, label = data.ArrayDataset(mx.nd.ones((2, 3)), mx.nd.array([4, 5]))[1]
    assert first.shape == (3,)
    assert isinstance(label, np.float32)
    assert label == 5


@pytest.mark.parametrize("arrays", [(), ([1], [1, 2])])
def test_arrays_of_different_lengths_are_no_dataset(arrays):
    with pytest.raises(ArgumentError, match="ArrayDataset"):
        data.ArrayDataset(*arrays)


def test_a_transform_takes_the_parts_of_a_sample():
    pairs = data.SimpleDataset([(1, 2), (3, 4)])
    assert everything(pairs.transform(lambda a, b: a + b)) == [3, 7]
    assert everything(pairs.transform_first(negative)) == [(-1, 2), (-3, 4)]
    assert everything(data.SimpleDataset([1, 2]).transform_first(negative)) == [-1, -2]


def test_a_lazy_transform_runs_for_each_sample_asked_for_another_once_for_all():
    seen: list[int] = []
    samples = data.SimpleDataset([1, 2, 3])
    lazy = samples.transform(seen.append)
    assert seen == []
    assert (lazy[2], lazy[2], seen) == (None, None, [3, 3])
    at_once = samples.transform(seen.append, lazy=False)
    assert everything(at_once) == [None] * 3
    assert seen == [3, 3, 1, 2, 3]


def test_a_dataset_with_transforms_can_be_pickled():
    made = data.SimpleDataset([1, 2]).transform_first(negative).take(1)
    assert everything(pickle.loads(pickle.dumps(made))) == [-1]


def test_some_samples_are_taken_by_number_or_by_a_sampler():
    samples = data.SimpleDataset(list("abcd"))
    assert everything(samples.take(2)) == ["a", "b"]
    assert everything(samples.take(None)) == everything(samples.take(9)) == list("abcd")
    assert everything(samples.sample(data.SequentialSampler(2, 1))) == ["b", "c"]
    with pytest.raises(TypeError, match="derive a class from Sampler"):
        samples.sample([1])  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="take"):
        samples.take(-1)


@pytest.mark.parametrize(("shards", "index"), [(0, 0), (2, 2), (2, -1)])
def test_a_shard_that_does_not_exist_is_refused(shards, index):
    with pytest.raises(ArgumentError, match="shard"):
        data.SimpleDataset([1, 2, 3]).shard(shards, index)


@pytest.mark.parametrize(
    ("size", "last", "told"),
    [(0, "keep", "batch_size=0"), (-1, "keep", "batch_size"), (2, "disard", "'discard'")],
)
def test_a_batch_sampler_refuses_nonsense(size, last, told):
    with pytest.raises(ArgumentError, match=told):
        data.BatchSampler(data.SequentialSampler(3), size, last)


@pytest.mark.parametrize("base", [data.Dataset(), data.Sampler()])
def test_a_base_class_says_what_a_class_of_ones_own_needs(base):
    with pytest.raises(NotImplementedError, match="__len__"):
        len(base)
    with pytest.raises(NotImplementedError):
        next(iter(base))


def test_a_name_that_only_mxnet_has_is_said_to_be_absent():
    with pytest.raises(AttributeError, match=r"MXNet 1\.9\.1 has it"):
        _ = data.vision.CIFAR10
    with pytest.raises(AttributeError, match="Did you mean 'DataLoader'"):
        _ = data.DataLoder
