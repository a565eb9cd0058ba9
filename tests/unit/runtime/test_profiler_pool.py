"""Memory of the pool in profiles, when it is asked for."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

import mxprof_nb as mp
import mxprof_nb.runtime as mx
from mxprof_nb.runtime import pool
from mxprof_nb.runtime.profiler import pool as statistics

nd, profiler = mx.nd, mx.profiler

pytestmark = pytest.mark.usefixtures("fresh_profiler")

KB = 1024


@pytest.fixture(autouse=True)
def empty_pool() -> Iterator[None]:
    pool.release()
    yield
    statistics.switch(False)
    pool.release()


def use_the_pool() -> None:
    for _ in range(2):
        block = pool.empty((256 * KB,), "uint8")
        del block


def test_the_table_has_a_row_under_pool_memory_when_it_is_asked_for():
    profiler.set_config(aggregate_stats=True, profile_pool=True)
    profiler.set_state("run")
    use_the_pool()
    profiler.set_state("stop")
    (row,) = json.loads(profiler.dumps(format="json"))["Memory"]["Pool Memory"].items()
    assert row[0] == "Memory: pool"
    # At the begin, back, taken again, back again.
    assert row[1] == {"Count": 4, "Min": 0, "Max": 262.144, "Avg": 131.072}
    lines = profiler.dumps().splitlines()
    head = lines[lines.index("Pool Memory") + 2]
    assert head.startswith("Name ")
    assert "Max Use  (kB)" in head


def test_it_is_not_recorded_unless_asked_for():
    profiler.set_config(aggregate_stats=True)
    profiler.set_state("run")
    use_the_pool()
    profiler.set_state("stop")
    assert "Pool Memory" not in profiler.dumps()


def test_another_configuration_ends_it():
    profiler.set_config(profile_pool=True)
    profiler.set_config(aggregate_stats=True)
    profiler.set_state("run")
    use_the_pool()
    assert "Pool Memory" not in profiler.dumps()


def test_a_capture_has_it_among_its_memory():
    profiler.set_config(profile_pool=True)
    with mp.profile() as p:
        use_the_pool()
    assert p.tables["Memory"].set_index("name")["max"]["Memory: pool"] == 256 * KB
