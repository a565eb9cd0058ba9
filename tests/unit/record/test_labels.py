"""`LabelTable`, `RecordConfig` and the clock."""

import threading

import pytest

from mxprof_nb.record import Clock, Label, RecordConfig, fake_clock
from mxprof_nb.record.labels import LabelTable
from tests.threads import quick_switching


def test_equal_labels_share_a_number():
    table = LabelTable()
    first = table.define("dot", "operator", "operator")
    other = table.number(Label("dot", "operator", "operator", bytes=4))
    assert table.define("dot", "operator", "operator") == first != other
    assert table[first] == Label("dot", "operator", "operator")
    assert table[other].bytes == 4
    assert len(table) == 2


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        (Label("a", "api", "d"), False),
        (Label("a", "api", "d", bytes=0), True),
        (Label("a", "api", "d", flops=0), True),
        (Label("a", "api", "d", shapes=""), True),
    ],
)
def test_a_label_knows_whether_it_has_details(label, expected):
    assert label.has_details is expected


def test_threads_that_define_labels_at_once_get_numbers_that_mean_what_they_say():
    table = LabelTable()
    told: list[tuple[int, str]] = []

    def define(thread: int) -> None:
        for n in range(1_500):
            for name in (f"of {thread}: {n}", f"of all: {n}"):
                told.append((table.define(name, "api", ""), name))

    threads = [threading.Thread(target=define, args=(n,)) for n in range(4)]
    with quick_switching():
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert all(table[number].name == name for number, name in told)
    assert len({number for number, _ in told}) == 5 * 1_500


def test_at_least_one_event_must_be_allowed():
    with pytest.raises(ValueError, match=r"max_events=0: .*default of 5 million"):
        RecordConfig(max_events=0)


def test_a_config_tells_all_its_settings():
    assert RecordConfig(lines=False).as_dict() == {
        "operators": True,
        "api": True,
        "memory": True,
        "sites": True,
        "lines": False,
        "python": False,
        "max_events": 5_000_000,
        "max_bytes": 536_870_912,
    }


def test_unix_time_is_found_for_any_moment():
    clock, moment = fake_clock(start_ns=100, epoch_ns=9_000)
    moment[0] = 500
    assert clock.epoch_of(400) == 9_400
    assert clock.epoch_of(700) == 9_700


def test_a_pause_between_two_readings_is_shared_out():
    readings = iter([100, 300])
    clock = Clock(now=lambda: next(readings), epoch_now=lambda: 7_000)
    assert clock.epoch_of(200) == 7_000
