"""Samplers: the order in which samples are taken, one by one or in batches."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

import numpy as np

from mxprof_nb.errors import ArgumentError, close_match

__all__ = ["BatchSampler", "FilterSampler", "RandomSampler", "Sampler", "SequentialSampler"]

#: What becomes of samples that do not fill a batch.
LAST_BATCH = ("keep", "discard", "rollover")


class Sized(Protocol):
    """An iterable of known length, e.g. a `Sampler` or a list."""

    def __iter__(self) -> Iterator[Any]: ...
    def __len__(self) -> int: ...


class Sampler:
    """Base of samplers: iterating gives positions in a dataset, ``len`` tells how many."""

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError(f"{type(self).__name__} has no __iter__ that yields positions.")

    def __len__(self) -> int:
        raise NotImplementedError(f"{type(self).__name__} has no __len__.")


class SequentialSampler(Sampler):
    """Positions from ``start`` on, one after the other.

    Parameters
    ----------
    length : int
        How many.
    start : int
    """

    def __init__(self, length: int, start: int = 0) -> None:
        self._length = length
        self._start = start

    def __iter__(self) -> Iterator[int]:
        return iter(range(self._start, self._start + self._length))

    def __len__(self) -> int:
        return self._length


class RandomSampler(Sampler):
    """All positions below ``length`` once, in an order drawn anew for each pass.

    ``numpy.random.seed`` makes it the same again, and the same as in MXNet.
    """

    def __init__(self, length: int) -> None:
        self._length = length

    def __iter__(self) -> Iterator[Any]:
        order = np.arange(self._length)
        np.random.shuffle(order)  # noqa: NPY002  # programs seed this generator
        return iter(order)

    def __len__(self) -> int:
        return self._length


class FilterSampler(Sampler):
    """Positions of the samples that a function approves, found once.

    Parameters
    ----------
    fn : callable
        Takes a sample; returns whether to keep it.
    dataset : Dataset
    """

    def __init__(self, fn: Callable[[Any], Any], dataset: Any) -> None:
        self._kept = [place for place in range(len(dataset)) if fn(dataset[place])]

    def __iter__(self) -> Iterator[int]:
        return iter(self._kept)

    def __len__(self) -> int:
        return len(self._kept)


class BatchSampler(Sampler):
    """Lists of positions: those of another sampler, so many at a time.

    Parameters
    ----------
    sampler : Sampler
    batch_size : int
    last_batch : {"keep", "discard", "rollover"}
        What becomes of a rest: a smaller batch, nothing, or the beginning of the next pass.

    Raises
    ------
    ArgumentError
        The size is below 1, or there is no such ``last_batch``.

    Examples
    --------
    >>> list(BatchSampler(SequentialSampler(10), 3, "keep"))
    [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9]]
    """

    def __init__(
        self, sampler: Iterable[Any] | Sized, batch_size: int, last_batch: str = "keep"
    ) -> None:
        if last_batch not in LAST_BATCH:
            raise ArgumentError(
                f"last_batch must be one of 'keep', 'discard', or 'rollover', but got "
                f"{last_batch!r}.{close_match(str(last_batch), LAST_BATCH)}"
            )
        try:
            self._batch_size = operator.index(batch_size)
        except TypeError:
            raise ArgumentError(
                f"batch_size={batch_size!r:.60} must be a whole number of samples."
            ) from None
        if self._batch_size < 1:
            raise ArgumentError(f"batch_size={batch_size}: a batch has one sample or more.")
        self._sampler: Any = sampler
        self._last_batch = last_batch
        self._rest: list[Any] = []

    def __iter__(self) -> Iterator[list[Any]]:
        batch, self._rest = self._rest, []
        for place in self._sampler:
            batch.append(place)
            if len(batch) == self._batch_size:
                yield batch
                batch = []
        if batch and self._last_batch == "keep":
            yield batch
        elif self._last_batch == "rollover":
            self._rest = batch

    def __len__(self) -> int:
        samples, size = len(self._sampler), self._batch_size
        if self._last_batch == "keep":
            return (samples + size - 1) // size
        return (samples + len(self._rest)) // size  # nothing is left over for "discard"
