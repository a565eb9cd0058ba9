"""Ctrl-C at awkward moments: nothing is lost, nothing stays half-started."""

from __future__ import annotations

import sys
import time
from types import SimpleNamespace
from typing import Any

import pytest

import mxprof_nb as mp
import mxprof_nb.runtime as mx
from mxprof_nb.record import RECORDER
from mxprof_nb.runtime import api, storage
from mxprof_nb.runtime.engine import default_engine


def test_a_ctrl_c_swallowed_by_a_finaliser_is_delivered_again():
    struck: Any = SimpleNamespace(exc_type=KeyboardInterrupt, object=storage._give_back)

    def go_on() -> None:
        sys.unraisablehook(struck)
        for _ in range(200):  # struck at the next step of the interpreter
            time.sleep(0.01)

    with mp.profile(), pytest.raises(KeyboardInterrupt):
        go_on()


def test_the_hook_for_finalisers_is_taken_back_with_the_last_recording():
    before = sys.unraisablehook
    with mp.profile():
        assert sys.unraisablehook != before
    assert sys.unraisablehook == before


def test_a_half_made_array_is_dropped_without_a_word():
    with mp.profile():
        del_array, del_chunk = api.free, storage._give_back
        del_array(mx.nd.NDArray.__new__(mx.nd.NDArray))
        del_chunk(storage.Chunk.__new__(storage.Chunk))


@pytest.mark.parametrize("wait", ["wait_for", "wait_all"])
def test_a_wait_that_ctrl_c_ends_is_recorded_as_a_wait(monkeypatch, wait):
    def interrupted(*_: object, **__: object) -> None:
        time.sleep(0.002)
        raise KeyboardInterrupt

    x = mx.nd.ones((2,))
    monkeypatch.setattr(type(default_engine()), wait, interrupted)
    block = x.wait_to_read if wait == "wait_for" else mx.nd.waitall
    with pytest.raises(KeyboardInterrupt), mp.profile(wait=False) as p:
        block()
    monkeypatch.undo()
    waits = p.events[p.events.category == "sync"]
    assert len(waits) == 1
    assert waits.dur_ns.iloc[0] >= 2_000_000
    assert "never waited" not in str(p)


def test_a_wrong_configuration_is_refused_and_the_next_profile_runs():
    with pytest.raises(TypeError, match="RecordConfig, not dict"), mp.profile(config={"sites": 0}):  # type: ignore[arg-type]
        pass
    assert not RECORDER.on
    with mp.profile() as p:
        mx.nd.ones((2,)).wait_to_read()
    assert "_ones" in set(p.events.name)
