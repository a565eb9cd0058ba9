"""`gluon.data` against real MXNet: orders, batches, datasets, pictures, files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mxprof_nb.runtime.gluon.data.vision import idx
from tests.reference.agreement import alike
from tests.reference.conftest import Runtimes
from tests.reference.runtime_process import Outcome

pytestmark = pytest.mark.reference

PREAMBLE = """
from mxnet_or_ours import gluon
data, nd = gluon.data, mx.nd
def every(dataset):
    return [dataset[place] for place in range(len(dataset))]
def kinds(value):
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, [kinds(each) for each in value]]
    return type(value).__name__
"""


def both(runtimes: Runtimes, program: str) -> tuple[Outcome, Outcome]:
    """Run a program, which finds `data`, `nd`, `every` and `kinds`, on ours and on theirs."""
    texts = [
        PREAMBLE.replace("mxnet_or_ours", name) + program for name in ("mxprof_nb.runtime", "mxnet")
    ]
    return runtimes.ours().run(texts[0]), runtimes.real().run(texts[1])


def agree(runtimes: Runtimes, program: str) -> list[Any]:
    """Compare what a program shows; return what real MXNet showed."""
    ours, theirs = both(runtimes, program)
    assert not theirs.error, f"{program}\n{theirs.message}"
    assert not ours.error, f"{program}\n{ours.message}"
    alike(ours.values, theirs.values, program)
    return theirs.values


@given(
    st.integers(0, 25),
    st.integers(1, 8),
    st.sampled_from(["keep", "discard", "rollover"]),
    st.integers(0, 2**32 - 1),
    st.booleans(),
)
@settings(max_examples=60)
def test_batches_hold_what_they_hold_in_mxnet(
    runtimes: Runtimes, length: int, size: int, last: str, seed: int, shuffle: bool
):
    agree(
        runtimes,
        f"""
np.random.seed({seed})
kind = data.RandomSampler if {shuffle} else data.SequentialSampler
sampler = data.BatchSampler(kind({length}), {size}, {last!r})
for _ in range(3):
    show(len(sampler))
    show([[int(place) for place in batch] for batch in sampler])
loader = data.DataLoader(list(range({length})), {size}, shuffle={shuffle}, last_batch={last!r})
for _ in range(2):
    show(len(loader))
    show([batch for batch in loader])
""",
    )


@pytest.mark.parametrize("workers", ["num_workers=0", "num_workers=2, thread_pool=True"])
@pytest.mark.parametrize(
    "samples",
    [
        "[1, 2, 3, 4, 5]",
        "[1.5, 2, 3]",
        "[True, False, True]",
        "[[1, 2], [3, 4]]",
        "[(1, 2.5), (3, 4)]",
        "[(nd.ones((2, 1)), 1), (nd.zeros((2, 1)), 2)]",
        "[((1, 2), 3), ((4, 5), 6)]",
        "[[(1, 2)], [(3, 4)]]",
        "np.arange(6, dtype='float64').reshape(3, 2)",
        "np.arange(3, dtype='uint8')",
        "[np.float16(1), np.float16(2)]",
        "[np.ones((2, 3), 'int8')] * 3",
        "nd.arange(6).reshape((3, 2))",
        "data.ArrayDataset(nd.arange(4).reshape((2, 2)), nd.array([5, 6], dtype='int32'))",
        "data.SimpleDataset([(1, 2, 3), (4, 5, 6)]).transform_first(lambda a: -a)",
        "[]",
    ],
)
def test_samples_are_joined_as_mxnet_joins_them(runtimes: Runtimes, samples: str, workers: str):
    agree(
        runtimes,
        f"""
for batch in data.DataLoader({samples}, 2, {workers}):
    show(kinds(batch))
    show(batch)
""",
    )


@pytest.mark.parametrize(
    "program",
    [
        "show(every(data.ArrayDataset([1, 2])))",
        "show(every(data.ArrayDataset([1, 2], 'ab', nd.array([3, 4]))))",
        "show(kinds(data.ArrayDataset([1, 2], nd.array([3, 4]), nd.ones((2, 2)))[0]))",
        "show(every(data.SimpleDataset([1, 2, 3]).filter(lambda x: x > 1)))",
        "show([every(data.SimpleDataset(list('abcdefg')).shard(3, n)) for n in range(3)])",
        "show(every(data.SimpleDataset([1, 2, 3]).take(2)))",
        "show(every(data.SimpleDataset([1, 2, 3]).take(None)))",
        "show(every(data.SimpleDataset([1, 2, 3]).sample(data.SequentialSampler(2, 1))))",
        "show(every(data.SimpleDataset([(1, 2), (3, 4)]).transform(lambda a, b: a + b)))",
        "show(every(data.SimpleDataset([(1, 2)]).transform_first(lambda a: -a, lazy=False)))",
        "show(every(data.SimpleDataset([1]).transform_first(lambda a: -a)))",
        "show(list(data.FilterSampler(lambda x: x % 2, [1, 2, 3])))",
        "show(list(data.SequentialSampler(3, 4)))",
        "show([x for x in data.DataLoader([5, 6, 7], 2, sampler=data.SequentialSampler(2, 1))])",
        "show([x for x in data.DataLoader([5, 6, 7], batch_sampler=[[2], [0, 1]])])",
        "show([x for x in data.DataLoader([5, 6, 7], 2, batchify_fn=sum)])",
    ],
)
def test_datasets_give_what_they_give_in_mxnet(runtimes: Runtimes, program: str):
    agree(runtimes, program)


@pytest.mark.parametrize(
    "program",
    [
        "data.ArrayDataset()",
        "data.ArrayDataset([1], [1, 2])",
        "data.SimpleDataset([1, 2]).shard(2, 2)",
        "data.SimpleDataset([1, 2]).sample([0])",
        "data.DataLoader([1, 2])",
        "data.DataLoader([1, 2], 2, sampler=data.SequentialSampler(1), shuffle=True)",
        "data.DataLoader([1, 2], 2, batch_sampler=[[0]])",
        "data.DataLoader([1, 2], 2, timeout=0)",
        "len(data.BatchSampler(data.SequentialSampler(3), 2, 'other'))",
        "list(data.DataLoader(['a', 'b'], 2))",
        "list(data.DataLoader([{'a': 1}], 2))",
        "data.Dataset()[0]",
        "iter(data.Sampler())",
    ],
)
def test_what_mxnet_refuses_is_refused(runtimes: Runtimes, program: str):
    ours, theirs = both(runtimes, program)
    assert theirs.error
    assert ours.error
    for kind in ("NotImplementedError", "ValueError"):
        assert kind not in theirs.error or kind in ours.error


def test_an_error_ends_the_iterator_as_in_mxnet(runtimes: Runtimes):
    agree(
        runtimes,
        """
def load(sample):
    if sample == 2:
        raise KeyError('boom')
    return sample
for more in ({}, {'num_workers': 1, 'thread_pool': True}):
    batches = iter(data.DataLoader(data.SimpleDataset([0, 1, 2, 3]).transform(load), 1, **more))
    for _ in range(5):
        try:
            show(next(batches))
        except (KeyError, StopIteration) as error:
            show(repr(error))
""",
    )


TRANSFORMS = [
    "t.ToTensor()",
    "t.Cast()",
    "t.Cast('float16')",
    "t.Compose([t.ToTensor()])",
    "t.Compose([t.ToTensor(), t.Normalize(0.5, 0.25)])",
    "t.Compose([t.Cast('float32'), gluon.nn.Lambda(lambda x: x * 2), t.ToTensor(), t.Cast()])",
    "t.Compose([t.ToTensor(), t.Normalize((0.1, 0.2, 0.3), (1, 2, 4)), t.Cast('float64')])",
]


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_transforms_make_of_pictures_what_they_make_in_mxnet(runtimes: Runtimes, transform: str):
    agree(
        runtimes,
        f"""
t = data.vision.transforms
made = {transform}
values = np.arange(2 * 4 * 3).reshape(2, 4, 3) * 10
show(made(nd.array(values, dtype='uint8')))
""",
    )


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_transforms_are_shown_as_in_mxnet(runtimes: Runtimes, transform: str):
    agree(runtimes, f"t = data.vision.transforms\nshow(repr({transform}))")


#: Real MXNet downloads files whose checksums are not MNIST's; here it takes what is there.
TAKEN = """
import os
datasets = gluon.data.vision.datasets
if hasattr(datasets, 'download'):
    datasets.download = lambda url, path, sha1_hash: os.path.join(path, url.rsplit('/', 1)[1])
"""


def digits(folder: Path) -> None:
    import gzip

    pictures = np.random.default_rng(2).integers(0, 256, (7, 28, 28), dtype="u1")
    for name, values in (("images-idx3", pictures), ("labels-idx1", np.arange(7, dtype="u1"))):
        packed = gzip.compress(idx.pack(values))
        (folder / f"train-{name}-ubyte.gz").write_bytes(packed)


@pytest.mark.parametrize("name", ["MNIST", "FashionMNIST"])
def test_mxnet_reads_our_files_and_makes_the_same_of_them(
    runtimes: Runtimes, tmp_path: Path, name: str
):
    digits(tmp_path)
    picture, label, *_ = agree(
        runtimes,
        f"""{TAKEN}
made = data.vision.{name}({str(tmp_path)!r})
show(made[3][0])
show(made[3][1])
show(type(made[3][1]))
show(len(made))
np.random.seed(4)
made = made.transform_first(data.vision.transforms.ToTensor())
show([batch for batch in data.DataLoader(made, 4, shuffle=True)])
""",
    )
    assert (picture.shape, picture.dtype) == ((28, 28, 1), np.uint8)
    assert label == 3


def test_mxnets_other_reader_takes_our_files_as_they_are(runtimes: Runtimes, tmp_path: Path):
    pictures = np.random.default_rng(2).integers(0, 256, (7, 28, 28), dtype="u1")
    (tmp_path / "images").write_bytes(idx.pack(pictures))
    (tmp_path / "labels").write_bytes(idx.pack(np.arange(7, dtype="u1")))
    outcome = runtimes.real().run(
        f"""
files = mx.io.MNISTIter(image={str(tmp_path / "images")!r}, label={str(tmp_path / "labels")!r},
                        batch_size=7, shuffle=False, silent=True)
batch = next(iter(files))
show(batch.data[0])
show(batch.label[0])
"""
    )
    assert not outcome.error, outcome.message
    np.testing.assert_allclose(outcome.values[0][:, 0], pictures / 256)
    np.testing.assert_array_equal(outcome.values[1], range(7))
