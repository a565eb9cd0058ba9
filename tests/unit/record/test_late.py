"""Operators that end when the recording that heard them being queued has stopped."""

from __future__ import annotations

import gc

from mxprof_nb.record import Recorder, fake_clock


def heard(recording) -> list[int]:
    return sorted(number for block in recording.blocks for number in block.operators[:, 4].tolist())


class Scene:
    """A recorder whose clock stands at the time that was set."""

    def __init__(self) -> None:
        clock, self.moment = fake_clock()
        self.recorder = Recorder(clock)

    def at(self, time: int) -> None:
        self.moment[0] = time

    def ran(self, queued: int, start: int, end: int, number: int) -> None:
        self.at(end)
        self.recorder.buffer().operators.extend((queued, start, end, 0, number, -1, 0))


def test_only_who_asks_gets_what_is_late():
    scene = Scene()
    scene.at(10)
    plain, patient = scene.recorder.start(), scene.recorder.start(late=True)
    scene.at(20)
    plain.pause()
    patient.pause()
    scene.ran(15, 25, 30, number=1)
    plain.sync()
    patient.sync()
    patient.sync()
    assert heard(plain) == []
    assert heard(patient) == [1]


def test_late_is_what_was_queued_inside_a_window_at_both_of_its_ends_too():
    scene = Scene()
    for begin, end in ((10, 20), (40, 50)):
        scene.at(begin)
        if begin == 10:
            recording = scene.recorder.start(late=True)
        else:
            recording.resume()
        scene.at(end)
        recording.pause()
    for number, queued in enumerate([0, 9, 10, 20, 21, 39, 40, 50, 51]):
        scene.ran(queued, 60, 70, number)
    recording.sync()
    assert heard(recording) == [2, 3, 6, 7]


def test_what_ends_in_a_later_window_is_heard_once():
    scene = Scene()
    scene.at(10)
    recording = scene.recorder.start(late=True)
    scene.at(20)
    recording.pause()
    scene.ran(15, 25, 30, number=1)  # in the gap
    scene.at(40)
    recording.resume()
    scene.ran(16, 41, 45, number=2)  # in the next window
    scene.ran(42, 43, 46, number=3)
    scene.at(50)
    recording.pause()
    scene.ran(44, 55, 60, number=4)
    recording.sync()
    assert heard(recording) == [1, 2, 3, 4]


def test_what_was_queued_before_it_listened_is_of_those_who_go_by_ends_alone():
    scene = Scene()
    scene.at(10)
    plain, patient = scene.recorder.start(), scene.recorder.start(late=True)
    scene.ran(0, 11, 12, number=1)  # nobody listened when it was queued
    scene.ran(9, 12, 13, number=2)  # another did
    scene.ran(14, 15, 16, number=3)
    scene.ran(0, 16, 17, number=0)  # nobody queues it: memory is given back
    patient.sync()
    assert heard(patient) == [0, 3]
    for recording in (plain, patient):
        recording.stop()
    assert heard(plain) == [0, 1, 2, 3]
    assert heard(patient) == [0, 3]


def test_another_listener_does_not_throw_it_away():
    scene = Scene()
    scene.at(10)
    recording = scene.recorder.start(late=True)
    scene.at(20)
    recording.pause()
    scene.ran(15, 25, 30, number=1)
    scene.at(40)
    other = scene.recorder.start()
    scene.at(50)
    other.stop()
    scene.ran(16, 55, 60, number=2)
    recording.sync()
    assert heard(recording) == [1, 2]
    assert heard(other) == []


def test_a_full_buffer_is_kept_as_long_as_somebody_may_come_for_it():
    scene = Scene()
    scene.at(10)
    recording = scene.recorder.start(late=True)
    scene.at(20)
    recording.pause()
    buffer = scene.recorder.buffer()
    for number in range(5000):
        scene.ran(15, 25, 30, number=number)
    scene.recorder.pack_long()
    assert buffer.blocks
    recording.sync()
    assert heard(recording) == list(range(5000))


def test_nothing_is_kept_for_a_recording_that_is_gone():
    scene = Scene()
    scene.at(10)
    recording = scene.recorder.start(late=True)
    recording.pause()
    del recording
    gc.collect()
    buffer = scene.recorder.buffer()
    for number in range(5000):
        scene.ran(10, 25, 30, number=number)
    scene.recorder.pack_long()
    assert not buffer.blocks


def test_when_nothing_is_late_any_more_that_can_be_said():
    scene = Scene()
    scene.at(10)
    recording = scene.recorder.start(late=True)
    scene.at(20)
    recording.pause()
    scene.ran(15, 25, 30, number=1)
    recording.settle()
    scene.ran(16, 35, 40, number=2)  # would have to be somebody else's
    recording.sync()
    assert heard(recording) == [1]


def test_very_many_pauses_are_remembered_in_short():
    scene = Scene()
    scene.at(0)
    recording = scene.recorder.start(late=True)
    for number in range(500):
        scene.at(10 * number + 5)
        recording.pause()
        scene.at(10 * number + 10)
        recording.resume()
    scene.at(5005)
    recording.pause()
    assert len(recording._spans) <= 100
    for number, queued in enumerate((3, 2503, 4903, 4907, 5003)):
        scene.ran(queued, 6000, 6001, number)
    recording.sync()
    assert heard(recording) == [0, 1, 2, 4]


def test_an_operator_that_ends_while_somebody_stops_is_not_lost():
    scene = Scene()
    scene.at(10)
    recording = scene.recorder.start(late=True)
    scene.at(20)
    # It ended after the stop was timed, and is in the buffer when the stop looks there.
    scene.recorder.buffer().operators.extend((15, 18, 25, 0, 1, -1, 0))
    recording.pause()
    recording.settle()
    assert heard(recording) == [1]
