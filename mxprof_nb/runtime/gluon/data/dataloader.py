"""`DataLoader`: batches of a dataset, loaded where they are asked for or ahead by workers."""

from __future__ import annotations

import operator
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from mxprof_nb.errors import ArgumentError, ShapeError
from mxprof_nb.record import RECORDER
from mxprof_nb.record.sites import Place
from mxprof_nb.runtime import nd
from mxprof_nb.runtime.calls import caller, note
from mxprof_nb.runtime.gluon.data.sampler import BatchSampler, RandomSampler, SequentialSampler
from mxprof_nb.runtime.gluon.data.workers import BATCH, NEXT, Batch, Workers

__all__ = ["DataLoader", "default_batchify_fn", "default_mp_batchify_fn"]

_now = RECORDER.clock.now


def default_batchify_fn(data: Any) -> Any:
    """Return samples as one batch.

    Parameters
    ----------
    data : sequence
        Samples of one kind: arrays, numbers, or tuples of them.

    Returns
    -------
    NDArray or list of NDArray
        Arrays stacked along a new first axis; of tuples a list, one batch for each part. What is
        no `NDArray` keeps the type that NumPy gives it, so Python's numbers become int64 or
        float64.

    Raises
    ------
    ShapeError
        Their shapes, or the numbers of parts of tuples, differ.
    TypeError
        They are neither arrays nor numbers.
    """
    first = data[0]
    if isinstance(first, nd.NDArray):
        try:
            return nd.stack(*data)
        except ShapeError:
            _must_agree("shapes", [each.shape for each in data])
            raise
    if isinstance(first, tuple):
        _must_agree("numbers of parts", [len(each) for each in data])
        return [default_batchify_fn(part) for part in zip(*data, strict=True)]
    try:
        values = np.asarray(data)
    except ValueError:  # lists of different lengths
        _must_agree("shapes", [np.shape(each) for each in data])
        values = np.empty((), object)
    if values.dtype.kind not in "biuf":
        odd = next((each for each in data if _kind(each) not in "biuf"), first)
        raise TypeError(
            f"Samples such as {odd!r:.60} ({type(odd).__name__}) cannot be joined to one "
            "array. Have the dataset give arrays or numbers of one shape, or pass batchify_fn= "
            "to the DataLoader."
        )
    return nd.array(values, dtype=values.dtype)


def _must_agree(what: str, found: Sequence[Any]) -> None:
    for place, each in enumerate(found):
        if each != found[0]:
            raise ShapeError(
                f"Samples of a batch have unlike {what}: {found[0]} for number 0 of the batch, "
                f"{each} for number {place}. Have the dataset give them alike, or pass "
                "batchify_fn= to the DataLoader."
            )


def _kind(sample: Any) -> str:
    """Return the letter by which NumPy calls the kind of a sample's type."""
    try:
        return np.asarray(sample).dtype.kind
    except ValueError:  # lists of different lengths
        return "O"


#: MXNet's processes need one of their own, for memory that they share.
default_mp_batchify_fn = default_batchify_fn


class DataLoader:
    """Batches of a dataset, one pass for each iterator.

    Parameters
    ----------
    dataset : Dataset, or anything with ``len`` and ``[]``
    batch_size : int
    shuffle : bool
        Whether to take the samples in an order drawn anew for each pass, see `RandomSampler`.
    sampler : Sampler, optional
        The order instead.
    last_batch : {"keep", "discard", "rollover"}, optional
        What becomes of samples that do not fill a batch; "keep" by default.
    batch_sampler : iterable of list of int, optional
        Positions of each batch, in place of the four above.
    batchify_fn : callable, optional
        Makes a batch of a list of samples; `default_batchify_fn` by default.
    num_workers : int
        Threads that load batches ahead, each with a row of its own in a profile; with 0 a batch
        is loaded where it is asked for.
    prefetch : int, optional
        Batches that are queued ahead; ``2 * num_workers`` by default.
    timeout : float
        How long to wait for a batch that a worker loads, in s.
    pin_memory, pin_device_id, thread_pool, auto_reload
        Accepted, and without effect: there is no other memory, and workers are always threads.

    Raises
    ------
    ArgumentError
        Parameters are missing or contradict each other.

    Notes
    -----
    An iterator begins with the first batch that it is asked for. One that is left early drops
    what it has queued; what a worker is just loading it finishes, and then waits for other work.
    The threads end with the loader.
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = None,
        shuffle: bool = False,
        sampler: Iterable[Any] | None = None,
        last_batch: str | None = None,
        batch_sampler: Iterable[Any] | None = None,
        batchify_fn: Callable[[list[Any]], Any] | None = None,
        num_workers: int = 0,
        pin_memory: bool = False,
        pin_device_id: int = 0,
        prefetch: int | None = None,
        thread_pool: bool = False,
        timeout: float = 120,
        auto_reload: bool = False,
    ) -> None:
        if timeout <= 0:
            raise ArgumentError(f"timeout must be positive, given {timeout!r}.")
        if batch_sampler is None:
            if batch_size is None:
                raise ArgumentError(
                    "batch_size must be specified unless batch_sampler is specified."
                )
            if sampler is None:
                kind = RandomSampler if shuffle else SequentialSampler
                sampler = kind(len(dataset))
            elif shuffle:
                raise ArgumentError("shuffle must not be specified if sampler is specified.")
            batch_sampler = BatchSampler(sampler, batch_size, last_batch or "keep")
        elif batch_size is not None or shuffle or sampler is not None or last_batch is not None:
            raise ArgumentError(
                "batch_size, shuffle, sampler and last_batch must not be specified if "
                "batch_sampler is specified."
            )
        self._dataset = dataset
        self._batch_sampler: Any = batch_sampler
        self._batchify = batchify_fn or default_batchify_fn
        self._timeout = timeout
        count = max(0, operator.index(num_workers))
        self._ahead = 2 * count if prefetch is None else max(0, int(prefetch))
        self._workers = Workers(count) if count else None

    def __len__(self) -> int:
        return len(self._batch_sampler)

    def __iter__(self) -> Iterator[Any]:
        return self._here() if self._workers is None else self._by(self._workers)

    def _load(self, chosen: Iterable[Any]) -> Any:
        return self._batchify([self._dataset[place] for place in chosen])

    def _here(self) -> Iterator[Any]:
        """Yield batches, each loaded when it is asked for."""
        for chosen in self._batch_sampler:
            begin, place = _asked()
            try:
                batch = self._load(chosen)
            finally:
                _note(BATCH, begin, place)
            yield batch
            del batch  # it goes when the program lets go of it, not when the next one is there

    def _by(self, workers: Workers) -> Iterator[Any]:
        """Yield batches in order, of which workers load some ahead."""
        choices = iter(self._batch_sampler)
        queued: deque[Batch] = deque()

        def queue(count: int) -> None:
            for _ in range(count):
                if (chosen := next(choices, None)) is None:
                    return
                queued.append(Batch(self._load, chosen))
                workers.submit(queued[-1])

        try:
            begin, place = _asked()
            queue(self._ahead)
            while True:
                try:
                    queue(1)
                    if not queued:
                        return
                    batch = queued[0].wait(self._timeout)
                finally:
                    _note(NEXT, begin, place)
                queued.popleft()
                yield batch
                del batch
                begin, place = _asked()
        finally:
            for unwanted in queued:
                unwanted.dropped = True


def _asked() -> tuple[int, Place]:
    """Return when a batch was asked for, 0 where nobody records, and the line."""
    if not RECORDER.on:
        return 0, (None, -1)
    place = caller(1) if RECORDER.lines else (None, -1)
    return _now(), place


def _note(label: int, begin: int, place: Place) -> None:
    if begin and RECORDER.on:
        note(label, begin, _now(), -1, place)
