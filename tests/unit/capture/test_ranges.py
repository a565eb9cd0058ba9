"""Profiles within profiles, and profiles of functions."""

from __future__ import annotations

import asyncio
import functools
import threading
from typing import Any

import pytest

import mxprof_nb as mp
import mxprof_nb.runtime as mx
from mxprof_nb.errors import MarkError, NotRecordingError
from tests.unit.capture.fake_backend import FakeBackend


def operators(p: mp.Profile) -> list[str]:
    frame = p.events
    return frame["name"][frame["category"] == "operator"].tolist()


@pytest.fixture
def x() -> mx.nd.NDArray:
    x = mx.nd.ones((3, 3))
    x.wait_to_read()
    return x


def test_a_profile_within_a_profile_holds_its_part_and_is_a_span_of_the_outer(x):
    with mp.profile(name="outer") as outer:
        mx.nd.exp(x).wait_to_read()
        with mp.profile(name="inner") as inner:
            mx.nd.dot(x, x)
        mx.nd.sqrt(x).wait_to_read()
    assert operators(outer) == ["exp", "dot", "sqrt"]
    assert operators(inner) == ["dot"], "the end of the inner one waited for it"
    assert inner.trace.meta.title == "inner"
    assert outer.tables["Profiles"]["name"].tolist() == ["inner"]
    begin, end = inner.trace.window_ns
    spans = outer.events[outer.events["domain"] == "profile"]
    assert spans["start_ns"].tolist() == [begin]
    assert spans["dur_ns"].tolist() == [end - begin]
    assert begin <= inner.trace.meta.returned_ns <= end


def test_a_range_can_be_read_while_the_outer_profile_still_records(x):
    with mp.profile(name="outer") as outer:
        with mp.profile(name="inner") as inner:
            mx.nd.dot(x, x)
        assert "not looked at yet" in repr(inner)
        assert operators(inner) == ["dot"]
        assert "still recording" in repr(outer)
        mx.nd.exp(x).wait_to_read()
    assert operators(outer) == ["dot", "exp"], "looking has lost nothing"
    assert operators(inner) == ["dot"]


def test_reading_a_range_within_it_says_when_to_read():
    told = pytest.raises(NotRecordingError, match="when its `with` block")
    with mp.profile(), mp.profile(name="inner") as inner, told:
        inner.events  # noqa: B018


def test_a_range_tells_the_error_that_ended_it_and_the_outer_profile_its_own(x):
    with mp.profile() as outer, pytest.raises(ZeroDivisionError), mp.profile() as inner:
        1 / 0  # noqa: B018
    assert (inner.trace.meta.status, outer.trace.meta.status) == ("error", "ok")
    assert inner.trace.meta.error == "ZeroDivisionError: division by zero"


def test_a_range_says_what_the_outer_profile_leaves_out(x):
    less = mp.RecordConfig(sites=False, memory=False)
    with mp.profile(config=less), mp.profile(config=mp.RecordConfig()) as inner:
        mx.nd.dot(x, x)
    (note,) = inner.health.notes
    assert note.message == "The profile around this one was told to leave out memory and lines."
    with mp.profile(config=less), mp.profile() as inner:
        mx.nd.dot(x, x)
    assert inner.health.ok, "nobody asked for more"


def test_under_a_backend_that_tells_nothing_before_its_end_a_range_is_read_after_it(fake):
    with mp.profile(backend="fake", name="outer"):
        with mp.profile(backend="fake", name="inner") as inner:
            pass
        assert len(fake.sessions) == 1
        with pytest.raises(NotRecordingError, match="a range of 'outer', which still records"):
            inner.events  # noqa: B018
        assert repr(inner) in inner._repr_mimebundle_()["text/plain"], "a display never fails"
    assert inner.trace.meta.title == "inner"
    assert len(inner.events) == 2
    assert "does not say when recording began" in str(inner.health), "so it is not cut out"


def test_one_block_may_be_entered_again_and_within_itself(x):
    block = mp.profile(name="again")
    with block as first, block as second:
        mx.nd.dot(x, x)
    with block as third:
        mx.nd.exp(x)
    assert [operators(p) for p in (first, second, third)] == [["dot"], ["dot"], ["exp"]]


def test_a_profiled_function_is_otherwise_the_same_and_keeps_its_last_profile(x):
    @mp.profile()
    def product(left, *, right):
        """Multiply."""
        return mx.nd.dot(left, right)

    assert (product.__name__, product.__doc__) == ("product", "Multiply.")
    assert not hasattr(product.profile, "trace"), "not called yet"
    assert product(x, right=x).shape == (3, 3)
    first = product.profile
    assert operators(first) == ["dot"]
    assert first.trace.meta.title.endswith("product")
    product(x, right=x)
    assert product.profile is not first
    with pytest.raises(TypeError):
        product(x)  # type: ignore[call-arg]
    assert product.profile.trace.meta.status == "error"


def test_a_function_that_calls_itself_is_one_profile_with_ranges(x):
    seen: list[Any] = []

    @mp.profile()
    def down(n):
        mx.nd.exp(x).wait_to_read()
        if n:
            down(n - 1)
            seen.append(down.profile)

    down(2)
    assert operators(down.profile) == ["exp"], "the last that began is the innermost"
    assert [len(operators(p)) for p in seen] == [1, 1]


def test_a_coroutine_function_is_profiled_over_its_awaits(x):
    @mp.profile(name="fetch")
    async def fetch():
        mx.nd.dot(x, x)
        await asyncio.sleep(0.001)
        mx.nd.exp(x)
        return 5

    assert asyncio.run(fetch()) == 5
    assert operators(fetch.profile) == ["dot", "exp"]
    assert fetch.profile.trace.meta.title == "fetch"


def test_coroutines_that_overlap_end_in_any_order(x):
    @mp.profile()
    async def work(first, second):
        await asyncio.sleep(first)
        mx.nd.exp(x)
        await asyncio.sleep(second)
        return work.profile

    async def both():
        return await asyncio.gather(work(0.001, 0.001), work(0.002, 0.02))

    asyncio.run(both())
    assert len(work.profile.trace) > 0
    with mp.profile() as after:
        mx.nd.exp(x)
    assert operators(after) == ["exp"]


def test_a_generator_is_refused_with_what_to_do_instead():
    with pytest.raises(MarkError, match="Profile the loop over it"):

        @mp.profile()
        def pieces():
            yield 1


def test_a_range_belongs_to_its_thread(fake: FakeBackend):
    found = []

    def work():
        with mp.profile(backend="fake") as p:
            pass
        found.append(p)

    with mp.profile(backend="fake"):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert len(fake.sessions) == 2
    assert len(found[0].events) == 2


def test_one_block_serves_several_threads_at_a_time(fake: FakeBackend):
    block = mp.profile(backend="fake")
    both = threading.Barrier(2, timeout=10)
    found = []

    def work():
        with block as p:
            both.wait()
        found.append(p)
        both.wait()

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(fake.sessions) == 2
    assert [len(p.events) for p in found] == [2, 2]


def test_a_range_that_outlives_the_profile_around_it_says_what_is_missing(x):
    outer, inner = mp.profile(name="outer"), mp.profile(name="inner")
    outer.__enter__()
    found = inner.__enter__()
    mx.nd.exp(x).wait_to_read()
    outer.__exit__(None, None, None)
    mx.nd.dot(x, x).wait_to_read()
    inner.__exit__(None, None, None)
    assert operators(found) == ["exp"]
    assert "ended first" in str(found.health)


def test_a_range_of_an_empty_profile_that_ended_can_be_read():
    with mp.profile(), mp.profile() as inner:
        pass
    outer = mp.profile()
    outer.__enter__()
    within = mp.profile()
    late = within.__enter__()
    outer.__exit__(None, None, None)
    within.__exit__(None, None, None)
    assert len(inner.events) + len(late.events) <= 1, "the range itself, or nothing"


def test_a_profile_ended_in_another_thread_or_twice_is_told_in_words():
    block, errors = mp.profile(), []

    def end() -> None:
        try:
            block.__exit__(None, None, None)
        except NotRecordingError as error:
            errors.append(str(error))

    block.__enter__()
    thread = threading.Thread(target=end)
    thread.start()
    thread.join()
    block.__exit__(None, None, None)
    end()
    assert len(errors) == 2
    assert all("does not run in this thread" in told for told in errors)


def test_a_callable_without_a_name_can_be_profiled():
    double = mp.profile()(functools.partial(max, 1))
    assert double(2) == 2
    assert double.profile.trace.meta.title == "partial"
