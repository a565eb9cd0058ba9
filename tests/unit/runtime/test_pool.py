"""Blocks of memory are used again, and never by two arrays at once."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
import pytest

from mxprof_nb.runtime import pool

ROWS = 1000


@pytest.fixture(autouse=True)
def empty_pool() -> Iterator[None]:
    pool.release()
    yield
    pool.release()


def address(array: np.ndarray) -> int:
    return int(array.__array_interface__["data"][0])


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "bool"])
@pytest.mark.parametrize("shape", [(), (0, 5), (3,), (100, 1000), (7, 33, 129)])
def test_an_array_is_like_that_of_numpy(shape, dtype):
    array, plain = pool.empty(shape, dtype), np.empty(shape, dtype)
    assert type(array) is np.ndarray
    assert (array.shape, array.dtype, array.strides) == (shape, plain.dtype, plain.strides)
    assert array.flags.c_contiguous
    assert array.flags.writeable
    array[...] = 1
    assert (array == 1).all()


def test_memory_is_used_again_when_its_array_is_gone():
    first = pool.empty((ROWS, 100), "float32")
    place = address(first)
    assert pool.kept_bytes() == 0
    del first
    assert pool.kept_bytes() >= ROWS * 400
    assert address(pool.empty((ROWS, 99), "float32")) == place  # a little smaller will do
    assert address(pool.empty((ROWS // 2, 100), "float64")) == place  # and of any type


def test_memory_in_use_is_given_to_nobody_else():
    arrays = [pool.empty((ROWS, 100), "float32") for _ in range(5)]
    for number, array in enumerate(arrays):
        array.fill(number)
    for number, array in enumerate(arrays):
        assert (array == number).all()


@pytest.mark.parametrize(
    "share", [lambda x: x[3:], lambda x: x.T, lambda x: x.reshape(-1), memoryview, np.asarray]
)
def test_memory_stays_while_anything_shares_it(share):
    array = pool.empty((ROWS, 100), "float32")
    part = share(array)
    del array
    assert pool.kept_bytes() == 0
    del part
    assert pool.kept_bytes() > 0


def test_small_and_huge_arrays_come_from_numpy():
    for nbytes in (pool.SMALLEST - 1, pool.LARGEST + 1):
        array = pool.empty((nbytes,), "uint8")
        assert array.base is None
        del array
        assert pool.kept_bytes() == 0


@pytest.mark.parametrize("nbytes", [pool.SMALLEST, 70_000, 10**6, 2**20, 2**20 + 1, pool.LARGEST])
def test_a_block_is_at_most_a_quarter_larger_than_asked_for(nbytes):
    pool.empty((nbytes,), "uint8")
    assert nbytes <= pool.kept_bytes() <= nbytes * 1.25


def test_no_more_waits_than_the_limit_says(monkeypatch):
    monkeypatch.setattr(pool, "LIMIT", 4 * 2**20)
    arrays = [pool.empty((2**20,), "uint8") for _ in range(10)]
    del arrays
    assert pool.kept_bytes() == 4 * 2**20


def test_sizes_that_nobody_asks_for_make_room(monkeypatch):
    monkeypatch.setattr(pool, "LIMIT", 4 * 2**20)
    old = [pool.empty((2**20,), "uint8") for _ in range(4)]
    del old
    new = pool.empty((3 * 2**20,), "uint8")
    assert pool.kept_bytes() == 0
    del new
    assert pool.kept_bytes() == 3 * 2**20


def test_whoever_has_all_of_a_block_owns_it_and_a_view_does_not():
    large, small = pool.empty((ROWS, 100), "float32"), pool.empty((3,), "float32")
    for array in (large, small, np.empty(3)):
        assert pool.owned(array)
        for view in (array[:], array.reshape(-1), array[1:]):
            assert not pool.owned(view)


def test_many_threads_share_the_pool_without_sharing_memory():
    damaged: list[np.ndarray] = []

    def use(number: int) -> None:
        for turn in range(200):
            arrays = [pool.empty((20_000 + 1000 * (turn % 3),), "float32") for _ in range(3)]
            for array in arrays:
                array.fill(number)
            damaged.extend(n for n in arrays if not (n == number).all())

    threads = [threading.Thread(target=use, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not damaged
    assert pool.kept_bytes() <= pool.LIMIT


def test_a_block_may_come_back_while_another_is_asked_for(monkeypatch):
    """As when the collector runs inside an allocation of the pool itself."""
    held = [pool.empty((ROWS, 100), "float32")]
    take = pool._Shelves._make_room

    def interrupted(shelves, size):
        held.clear()
        take(shelves, size)

    monkeypatch.setattr(pool._Shelves, "_make_room", interrupted)
    array = pool.empty((ROWS, 400), "float32")
    array.fill(1)
    assert pool.kept_bytes() > 0
