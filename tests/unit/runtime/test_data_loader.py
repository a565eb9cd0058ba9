"""`DataLoader`: batches, workers, errors, what is left behind, what is recorded."""

from __future__ import annotations

import gc
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest

import mxprof_nb.runtime as mx
from mxprof_nb import analysis
from mxprof_nb.errors import ArgumentError, LoadingTimeoutError, OperatorError, ShapeError
from mxprof_nb.io import load
from mxprof_nb.record import RECORDER, RecordConfig, freeze
from mxprof_nb.runtime.engine import default_engine
from mxprof_nb.trace import Meta, Trace
from tests.threads import quick_switching

nd = mx.nd
DataLoader, SimpleDataset = mx.gluon.data.DataLoader, mx.gluon.data.SimpleDataset

#: How each law of loaders is tried: without workers, with one, with several.
COUNTS = (0, 1, 3)


def values(loader: Any) -> list[Any]:
    return [batch.asnumpy().tolist() for batch in loader]


def flat(loader: Any) -> list[Any]:
    return [value for batch in values(loader) for value in batch]


def workers() -> list[threading.Thread]:
    return [one for one in threading.enumerate() if one.name.startswith("mxprof data worker")]


@pytest.fixture(autouse=True)
def no_worker_is_left() -> Iterator[None]:
    all_ended()
    yield
    all_ended()


def all_ended() -> None:
    """Wait until the workers of loaders that nobody has any more are gone."""
    deadline = time.monotonic() + 30
    while workers():
        assert time.monotonic() < deadline, workers()
        gc.collect()
        time.sleep(0.001)


class Door:
    """A transform that lets samples through once it is open."""

    def __init__(self) -> None:
        self.open, self.asked = threading.Event(), threading.Event()

    def __call__(self, sample: Any) -> Any:
        self.asked.set()
        assert self.open.wait(60)
        return sample


@pytest.fixture
def door() -> Iterator[Door]:
    made = Door()
    yield made
    made.open.set()


# Batches


@pytest.mark.parametrize("workers", COUNTS)
def test_all_samples_come_in_order_in_batches(workers):
    loader = DataLoader(list(range(10)), 4, num_workers=workers)
    assert len(loader) == 3
    assert values(loader) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert values(loader) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]], "a second pass"


@pytest.mark.parametrize("workers", COUNTS)
@pytest.mark.parametrize("last_batch", ["keep", "discard", "rollover"])
def test_the_rest_is_kept_dropped_or_taken_first_in_the_next_pass(workers, last_batch):
    loader = DataLoader(list(range(5)), 3, last_batch=last_batch, num_workers=workers)
    passes = [values(loader) for _ in range(2)]
    assert (
        passes
        == {
            "keep": [[[0, 1, 2], [3, 4]]] * 2,
            "discard": [[[0, 1, 2]]] * 2,
            "rollover": [[[0, 1, 2]], [[3, 4, 0], [1, 2, 3]]],
        }[last_batch]
    )


@pytest.mark.parametrize("workers", COUNTS)
def test_the_order_is_drawn_anew_for_each_pass_and_repeated_by_numpys_seed(workers):
    loader = DataLoader(list(range(50)), 7, shuffle=True, num_workers=workers)

    def passes() -> list[Any]:
        np.random.seed(5)  # noqa: NPY002  # what the sampler draws from
        return [flat(loader) for _ in range(2)]

    first, second = passes()
    assert first != second
    assert sorted(first) == sorted(second) == list(range(50))
    assert passes() == [first, second]


def test_samplers_of_ones_own_choose_samples_and_batches():
    assert values(DataLoader([5, 6, 7], 2, sampler=[2, 0, 1])) == [[7, 5], [6]]
    assert values(DataLoader([5, 6, 7], batch_sampler=[[2], [0, 1]])) == [[7], [5, 6]]


@pytest.mark.parametrize("workers", COUNTS)
def test_a_batch_is_made_as_the_program_wants_it(workers):
    assert list(DataLoader([1, 2, 3], 2, batchify_fn=sum, num_workers=workers)) == [3, 3]


def test_numbers_keep_numpys_type_arrays_their_own_and_tuples_become_lists():
    samples = [(nd.ones((2,), dtype="uint8"), 1, 0.5, np.int32(3), [4, 5])] * 2
    (batch,) = DataLoader(samples, 2)
    assert [(each.shape, np.dtype(each.dtype).name) for each in batch] == [
        ((2, 2), "uint8"),
        ((2,), "int64"),
        ((2,), "float64"),
        ((2,), "int32"),
        ((2, 2), "int64"),
    ]
    assert isinstance(batch, list)


def test_an_array_is_a_dataset_of_its_rows():
    rows = nd.arange(6).reshape((3, 2))
    (first, second) = DataLoader(rows, 2)
    np.testing.assert_array_equal(nd.concat(first, second, dim=0).asnumpy(), rows.asnumpy())


@pytest.mark.parametrize("samples", [["a", "b"], [{"a": 1}], [None]])
def test_samples_that_are_no_numbers_are_refused_with_a_way_out(samples):
    with pytest.raises(TypeError, match="pass batchify_fn="):
        list(DataLoader(samples, 2))


@pytest.mark.parametrize(
    ("named", "told"),
    [
        ({}, "batch_size must be specified"),
        ({"batch_size": 2, "sampler": [0], "shuffle": True}, "shuffle must not"),
        ({"batch_size": 2, "batch_sampler": [[0]]}, "must not be specified"),
        ({"batch_size": 2, "timeout": 0}, "timeout must be positive"),
        ({"batch_size": 2, "last_batch": "kep"}, "Did you mean 'keep'"),
        ({"batch_size": 0}, "batch_size=0"),
    ],
)
def test_parameters_that_do_not_fit_are_refused_at_once(named, told):
    with pytest.raises(ArgumentError, match=told):
        DataLoader([1, 2], **named)


def test_a_number_of_workers_below_zero_means_none():
    assert values(DataLoader([1, 2], 2, num_workers=-1)) == [[1, 2]]
    with pytest.raises(TypeError):
        DataLoader([1, 2], 2, num_workers=1.5)  # type: ignore[arg-type]


# Workers


def test_nothing_is_loaded_before_the_first_batch_is_asked_for_then_some_are_ahead():
    seen: list[int] = []

    def look(sample: int) -> int:
        seen.append(sample)
        return sample

    samples = SimpleDataset(list(range(100))).transform(look)
    loader = DataLoader(samples, 1, num_workers=1, prefetch=5)
    batches = iter(loader)
    assert seen == []
    assert not workers()
    next(batches)
    deadline = time.monotonic() + 30
    while len(seen) < 6:
        assert time.monotonic() < deadline
        time.sleep(0.001)
    time.sleep(0.01)
    assert seen == [0, 1, 2, 3, 4, 5], "one asked for, five ahead"


def test_an_iterator_that_is_left_early_drops_what_it_has_queued(door: Door):
    seen: list[int] = []

    def load(sample: int) -> int:
        if sample:
            door(sample)
        seen.append(sample)
        return sample

    loader = DataLoader(SimpleDataset(list(range(10))).transform(load), 1, num_workers=1)
    for _ in loader:
        break
    assert door.asked.wait(60)
    door.open.set()
    assert values(loader)[:2] == [[0], [1]], "the worker is free for another pass"
    assert seen[:4] == [0, 1, 0, 1], "it finished what it had begun, and no more"


def test_two_iterators_live_side_by_side():
    loader = DataLoader(list(range(6)), 2, num_workers=2)
    pairs = [(a.asnumpy().tolist(), b.asnumpy().tolist()) for a, b in zip(loader, loader)]  # noqa: B905
    assert pairs == [([0, 1], [0, 1]), ([2, 3], [2, 3]), ([4, 5], [4, 5])]


def test_a_loader_can_be_dropped_while_its_iterator_lives():
    batches = iter(DataLoader(list(range(6)), 2, num_workers=2))
    first = next(batches)
    gc.collect()
    assert [first.asnumpy().tolist(), *values(batches)] == [[0, 1], [2, 3], [4, 5]]


def test_workers_of_several_loaders_have_names_of_their_own_which_are_used_again():
    loaders = [DataLoader([1, 2], 1, num_workers=2) for _ in range(2)]
    for loader in loaders:
        list(loader)
    assert {one.name for one in workers()} == {f"mxprof data worker {n}" for n in (1, 2, 3, 4)}
    del loader, loaders
    all_ended()
    another = DataLoader([1], 1, num_workers=1)
    assert values(another) == [[1]]
    assert [one.name for one in workers()] == ["mxprof data worker 1"]


def test_batches_come_in_order_however_the_threads_take_turns():
    with quick_switching():
        loader = DataLoader(list(range(200)), 3, num_workers=3)
        assert flat(loader) == list(range(200))


def test_workers_that_cannot_be_started_are_told_at_once(monkeypatch):
    begin, begun = threading.Thread.start, list[threading.Thread]()

    def start(thread: threading.Thread) -> None:
        if begun:
            raise RuntimeError("can't start new thread")
        begun.append(thread)
        begin(thread)

    loader = DataLoader([1, 2], 1, num_workers=2)
    monkeypatch.setattr(threading.Thread, "start", start)
    with pytest.raises(RuntimeError, match="new thread"):
        list(loader)
    all_ended()
    monkeypatch.undo()
    assert flat(loader) == [1, 2]
    assert {one.name[-1] for one in workers()} == {"1", "2"}


# Errors


def boom(sample: int) -> int:
    if sample == 3:
        raise KeyError("boom")
    return sample


@pytest.mark.parametrize("workers", COUNTS)
def test_an_error_is_raised_where_the_batch_is_asked_for_with_its_traceback(workers):
    loader = DataLoader(SimpleDataset(list(range(6))).transform(boom), 1, num_workers=workers)
    batches = iter(loader)
    assert [next(batches).asscalar() for _ in range(3)] == [0, 1, 2]
    with pytest.raises(KeyError, match="boom") as caught:
        next(batches)
    assert "boom" in [frame.name for frame in traceback.extract_tb(caught.tb)]
    assert list(batches) == [], "as any iterator that has failed"
    assert next(iter(loader)).asscalar() == 0, "the loader goes on"


def test_the_end_of_the_program_in_a_worker_reaches_the_program():
    def leave(sample: int) -> int:
        raise SystemExit(3)

    with pytest.raises(SystemExit):
        list(DataLoader(SimpleDataset([1]).transform(leave), 1, num_workers=1))


def test_a_batch_that_does_not_come_in_time_is_an_error_that_says_what_to_do(door: Door):
    loader = DataLoader(SimpleDataset([1]).transform(door), 1, num_workers=1, timeout=0.01)
    with pytest.raises(LoadingTimeoutError, match=r"after 0\.01 s.*timeout="):
        list(loader)


def test_an_operator_that_fails_for_a_worker_names_the_line_that_asked_for_the_batch():
    samples = SimpleDataset([1]).transform(partial(nd.random.normal, scale=-1))
    (batch,) = DataLoader(samples, 1, num_workers=1)
    with pytest.raises(OperatorError, match=r"line \d+: \(batch,\) = DataLoader\(samples"):
        batch.asnumpy()


# Records


def recorded(program: Callable[[], object]) -> Trace:
    recording = RECORDER.start()
    try:
        program()
        default_engine().observe()
    finally:
        recording.stop()
    return freeze(recording, Meta())


def by_name(trace: Trace, name: str) -> Any:
    frame = trace.frame()
    return frame[frame.name == name]


def test_each_worker_has_a_row_and_each_batch_a_slice_that_ends_the_wait_for_it(door: Door):
    loader = DataLoader(SimpleDataset([0, 1, 2]).transform(door), 1, num_workers=2)

    def program() -> None:
        batches = iter(loader)
        threading.Timer(0.05, door.open.set).start()
        list(batches)

    trace = recorded(program)
    batches = by_name(trace, "batch")
    assert len(batches) == 3
    assert set(batches.category) == {"io"}
    assert set(batches.track_name) == {"data worker 1", "data worker 2"}
    tracks = trace.frame("tracks")
    assert set(tracks.role[tracks.name.str.startswith("data worker")]) == {"data"}
    waits = analysis.sync_waits(trace).frame
    first = waits.loc[0]
    assert (first.api_name, first.waited_for_name) == ("DataLoader.next", "batch")
    assert first.text == first.text.strip() == "list(batches)"
    assert first.queued_line == first.line
    assert first.dur_ns > 10_000_000


def test_a_wait_says_that_it_was_for_a_batch_also_where_batches_were_not_recorded(door: Door):
    loader = DataLoader(SimpleDataset([0]).transform(door), 1, num_workers=1)
    recording = RECORDER.start(RecordConfig(operators=False))
    threading.Timer(0.05, door.open.set).start()
    list(loader)
    recording.stop()
    waits = analysis.sync_waits(freeze(recording, Meta())).frame
    assert waits.waited_for_name[0] == "a batch of data"


def test_without_workers_loading_is_a_slice_on_the_row_of_the_program():
    trace = recorded(lambda: list(DataLoader([1, 2, 3], 2)))
    batches = by_name(trace, "batch")
    assert list(batches.track_name) == [threading.current_thread().name] * 2
    assert (batches.line > 0).all()
    assert len(by_name(trace, "DataLoader.next")) == 0


def test_what_workers_queue_is_blamed_on_the_line_that_asked_or_on_the_datasets_own():
    def own(sample: Any) -> Any:
        return sample + 1  # a line of the dataset

    loader = DataLoader(nd.arange(4), 2, num_workers=1)
    trace = recorded(lambda: list(loader))
    (line,) = set(by_name(trace, "DataLoader.next").line)
    assert set(by_name(trace, "stack").line) == {line}
    loader = DataLoader(SimpleDataset(nd.arange(4)).transform(own), 2, num_workers=1)
    trace = recorded(lambda: list(loader))
    assert set(by_name(trace, "_plus_scalar").line) == {own.__code__.co_firstlineno + 1}


def test_a_recording_that_begins_and_ends_while_batches_are_under_way_is_whole(door: Door):
    loader = DataLoader(SimpleDataset(list(range(5))).transform(door), 1, num_workers=1)
    batches = iter(loader)
    threading.Timer(0.01, door.open.set).start()
    next(batches)
    door.open.clear()

    def program() -> None:
        door.open.set()
        next(batches)
        next(batches)

    trace = recorded(program)
    assert len(by_name(trace, "DataLoader.next")) == 2
    door.open.set()
    assert len(list(batches)) == 2


def test_a_file_of_the_profiler_has_the_rows_the_slices_and_what_was_waited_for(
    tmp_path, fresh_profiler, door: Door
):
    file = tmp_path / "profile.json"
    mx.profiler.set_config(profile_all=True, filename=str(file))
    loader = DataLoader(SimpleDataset([0, 1]).transform(door), 1, num_workers=1)
    mx.profiler.set_state("run")
    threading.Timer(0.05, door.open.set).start()
    list(loader)
    mx.profiler.set_state("stop")
    mx.profiler.dump()
    trace = load(file)
    assert list(by_name(trace, "batch").track_name) == ["data worker 1"] * 2
    tracks = trace.frame("tracks")
    assert list(tracks.role[tracks.name == "data worker 1"]) == ["data"]
    assert analysis.sync_waits(trace).frame.waited_for_name[0] == "batch"


@pytest.mark.parametrize("num_workers", [0, 1])
@pytest.mark.parametrize(
    ("samples", "told"),
    [
        ([np.zeros(2), np.zeros(3)], r"unlike shapes: \(2,\) for number 0 .* \(3,\) for number 1"),
        ([nd.zeros((2,)), nd.zeros((3,))], r"unlike shapes: \(2,\) .* \(3,\) for number 1"),
        ([[1], [1], [1, 2]], r"unlike shapes: \(1,\) .* \(2,\) for number 2"),
        ([(1, 2), (1,)], "unlike numbers of parts: 2 .* 1 for number 1"),
    ],
)
def test_samples_that_make_no_batch_are_told_with_both_shapes(samples, told, num_workers):
    loader = DataLoader(SimpleDataset(samples), 3, num_workers=num_workers)
    with pytest.raises(ShapeError, match=told):
        list(loader)


@pytest.mark.parametrize("size", [2.5, "3", 0])
def test_a_batch_size_that_is_none_is_refused(size: Any):
    with pytest.raises(ArgumentError, match=f"batch_size={size!r}"):
        DataLoader(SimpleDataset([1, 2]), size)


def test_samples_that_cannot_be_joined_are_blamed_on_the_odd_one():
    with pytest.raises(TypeError, match=r"^Samples such as 'a' \(str\) cannot be joined"):
        list(mx.gluon.data.DataLoader([1, "a"], batch_size=2))
