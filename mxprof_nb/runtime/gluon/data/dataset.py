"""Datasets: samples by position, as they are or as a function makes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mxprof_nb.errors import ArgumentError
from mxprof_nb.runtime.gluon.data.sampler import FilterSampler, Sampler, SequentialSampler
from mxprof_nb.runtime.nd import NDArray

__all__ = ["ArrayDataset", "Dataset", "SimpleDataset"]


class Dataset:
    """Base of datasets: ``dataset[i]`` is a sample, ``len`` tells how many there are.

    A sample of several parts, such as picture and label, is a tuple. Lists and arrays are
    datasets as they are, wherever one is asked for.
    """

    def __getitem__(self, idx: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no __getitem__ that gives a sample.")

    def __len__(self) -> int:
        raise NotImplementedError(f"{type(self).__name__} has no __len__.")

    def filter(self, fn: Callable[[Any], Any]) -> Dataset:
        """Return the samples that a function approves; each is looked at once, here."""
        return _Sampled(self, FilterSampler(fn, self))

    def shard(self, num_shards: int, index: int) -> Dataset:
        """Return one of so many parts of about equal length, for one of so many processes.

        Raises
        ------
        ArgumentError
            There are no such parts.
        """
        if num_shards < 1 or not 0 <= index < num_shards:
            raise ArgumentError(
                f"shard(num_shards={num_shards}, index={index}): there must be one part or more, "
                "and the index counts them from 0."
            )
        length, longer = divmod(len(self), num_shards)
        start = length * index + min(index, longer)
        return _Sampled(self, SequentialSampler(length + (index < longer), start))

    def take(self, count: int | None) -> Dataset:
        """Return the first so many samples, all for None.

        Raises
        ------
        ArgumentError
            The number is negative.
        """
        length = len(self)
        if count is not None and count < 0:
            raise ArgumentError(f"take({count}): take 0 samples or more, None for all.")
        return _Sampled(self, SequentialSampler(length if count is None else min(count, length)))

    def sample(self, sampler: Sampler) -> Dataset:
        """Return the samples at the positions that a sampler gives, which is asked once, here.

        Raises
        ------
        TypeError
            It is no sampler.
        """
        if not isinstance(sampler, Sampler):
            raise TypeError(
                f"sample() takes a gluon.data.Sampler, not {type(sampler).__name__}. "
                "For a list of positions, derive a class from Sampler."
            )
        return _Sampled(self, sampler)

    def transform(self, fn: Callable[..., Any], lazy: bool = True) -> Dataset:
        """Return what a function makes of the samples.

        Parameters
        ----------
        fn : callable
            Takes a sample, the parts of a tuple one by one.
        lazy : bool
            Whether to call it whenever a sample is asked for; else for all samples, here.
        """
        made = _Transformed(self, fn)
        return made if lazy else SimpleDataset([made[place] for place in range(len(made))])

    def transform_first(self, fn: Callable[[Any], Any], lazy: bool = True) -> Dataset:
        """Return samples whose first part is what a function makes of it; the others stay."""
        return self.transform(_First(fn), lazy)


class SimpleDataset(Dataset):
    """What has ``len`` and ``[]``, as a dataset."""

    def __init__(self, data: Any) -> None:
        self._data = data

    def __len__(self) -> int:
        return len(self._data)

    def __getitem__(self, idx: Any) -> Any:
        return self._data[idx]


class ArrayDataset(Dataset):
    """Several lists, arrays or datasets side by side: sample i is ``(x1[i], x2[i], ...)``.

    Parameters
    ----------
    *args
        One or more, of equal length. An `NDArray` of one axis is read here, once: its samples
        are numbers.

    Raises
    ------
    ArgumentError
        There is none, or their lengths differ.
    """

    def __init__(self, *args: Any) -> None:
        if not args:
            raise ArgumentError("ArrayDataset needs at least one list, array or dataset.")
        self._length = len(args[0])
        for place, each in enumerate(args):
            if len(each) != self._length:
                raise ArgumentError(
                    f"ArrayDataset: all must have the same length; number 0 has {self._length} "
                    f"samples, number {place} has {len(each)}."
                )
        self._data = [
            each.asnumpy() if isinstance(each, NDArray) and len(each.shape) == 1 else each
            for each in args
        ]

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, idx: Any) -> Any:
        if len(self._data) == 1:
            return self._data[0][idx]
        return tuple(each[idx] for each in self._data)


class _Sampled(Dataset):
    """Some samples of a dataset, in an order of their own."""

    def __init__(self, dataset: Dataset, sampler: Sampler) -> None:
        self._dataset = dataset
        self._places = list(sampler)

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, idx: Any) -> Any:
        return self._dataset[self._places[idx]]


class _Transformed(Dataset):
    """What a function makes of samples, whenever they are asked for."""

    def __init__(self, dataset: Dataset, fn: Callable[..., Any]) -> None:
        self._dataset = dataset
        self._fn = fn

    def __len__(self) -> int:
        return len(self._dataset)

    def __getitem__(self, idx: Any) -> Any:
        sample = self._dataset[idx]
        return self._fn(*sample) if isinstance(sample, tuple) else self._fn(sample)


class _First:
    """A function of the first part of a sample; a class, so that it can be pickled."""

    def __init__(self, fn: Callable[[Any], Any]) -> None:
        self._fn = fn

    def __call__(self, first: Any, *others: Any) -> Any:
        return (self._fn(first), *others) if others else self._fn(first)
