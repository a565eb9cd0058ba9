"""Laws of samplers and loaders: each position once, whatever the sizes."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mxprof_nb.runtime.gluon.data import (
    BatchSampler,
    DataLoader,
    FilterSampler,
    RandomSampler,
    SequentialSampler,
    SimpleDataset,
)

lengths, sizes = st.integers(0, 40), st.integers(1, 12)
ways = st.sampled_from(["keep", "discard", "rollover"])


@given(lengths, st.integers(0, 9))
def test_a_sequential_sampler_counts_on_from_its_start(length: int, start: int):
    sampler = SequentialSampler(length, start)
    assert list(sampler) == list(range(start, start + length))
    assert len(sampler) == length


@given(lengths, st.integers(0, 2**32 - 1))
def test_a_random_sampler_takes_each_position_once_and_is_repeated_by_a_seed(
    length: int, seed: int
):
    sampler = RandomSampler(length)
    np.random.seed(seed)  # noqa: NPY002  # what the sampler draws from
    order = list(sampler)
    assert sorted(order) == list(range(length)) == list(range(len(sampler)))
    np.random.seed(seed)  # noqa: NPY002
    assert list(sampler) == order


@given(lengths, sizes, ways, st.integers(1, 4))
def test_batches_hold_each_position_once_in_each_pass_in_order(
    length: int, size: int, last_batch: str, passes: int
):
    sampler = BatchSampler(SequentialSampler(length), size, last_batch)
    taken: list[int] = []
    for _ in range(passes):
        expected = len(sampler)
        batches = list(sampler)
        assert len(batches) == expected
        full = batches[:-1] if last_batch == "keep" else batches
        assert all(len(batch) == size for batch in full)
        taken += [place for batch in batches for place in batch]
        if last_batch == "discard":
            taken += range(length - length % size, length)
    everything = list(range(length)) * passes
    assert taken == everything[: len(taken)]
    left = len(everything) - len(taken)
    assert left < size if last_batch == "rollover" else left == 0


@given(st.lists(st.integers(-5, 5)))
def test_a_filter_keeps_the_samples_that_are_approved_in_order(samples: list[int]):
    sampler = FilterSampler(lambda sample: sample > 0, samples)
    kept = [sample for sample in samples if sample > 0]
    assert [samples[place] for place in sampler] == kept
    dataset = SimpleDataset(samples).filter(lambda sample: sample > 0)
    assert [dataset[place] for place in range(len(dataset))] == kept
    assert len(sampler) == len(kept)


@given(lengths, st.integers(1, 9))
def test_shards_are_the_dataset_cut_into_nearly_equal_parts(length: int, shards: int):
    dataset = SimpleDataset(list(range(length)))
    parts = [dataset.shard(shards, index) for index in range(shards)]
    assert [part[place] for part in parts for place in range(len(part))] == list(range(length))
    lengths = [len(part) for part in parts]
    assert max(lengths) - min(lengths) <= 1


@given(lengths, sizes, ways, st.integers(1, 4), st.integers(0, 9), st.booleans())
@settings(max_examples=40)
def test_workers_load_what_is_loaded_without_them(
    length: int, size: int, last_batch: str, workers: int, prefetch: int, shuffle: bool
):
    made = []
    for count in (0, workers):
        loader = DataLoader(
            list(range(length)),
            size,
            shuffle,
            last_batch=last_batch,
            batchify_fn=list,
            num_workers=count,
            prefetch=prefetch,
        )
        np.random.seed(7)  # noqa: NPY002
        made.append([list(loader) for _ in range(2)])
    assert made[0] == made[1]
