"""The stress run itself, a process of its own: `python -m tests.stress.program --seconds 10`.

Eight threads play in rounds. Each has its own arrays and at fixed steps hands some of them over
to the next, so what each of them does follows from the seed alone, whoever is faster; the seed
also says how the engine is set up and whether the round is recorded. A round prints its seed as
it begins; ``--seed N --rounds 1`` plays it again.
"""

from __future__ import annotations

import argparse
import faulthandler
import gc
import os
import queue
import sys
import threading
import time
import traceback
from collections import Counter
from contextlib import nullcontext
from dataclasses import dataclass

import mxprof_nb
import mxprof_nb.runtime as mx
from mxprof_nb.runtime import api
from mxprof_nb.runtime.engine import default_engine
from tests.stress.model import Box, Failures, Memory
from tests.stress.player import Player

THREADS = 8
STEPS = 150
HAND_OVER_EVERY = 8
#: A hang must fail, however slow the machine.
PATIENCE_S = 60.0
#: Often enough to meet each other everywhere, and the usual one.
SWITCH_INTERVALS_S = (1e-5, 0.005)
ENGINES = ("ThreadedEnginePerDevice", "ThreadedEngine")
#: The usual one, and one that holds every thread back all the time.
QUEUE_LIMITS = (100_000, 2)


@dataclass(frozen=True)
class Setting:
    """How a round is played; six bits of its seed."""

    seed: int

    @property
    def switch_interval_s(self) -> float:
        return SWITCH_INTERVALS_S[self.seed & 1]

    @property
    def recorded(self) -> bool:
        return bool(self.seed & 2)

    @property
    def bulks(self) -> bool:
        return bool(self.seed & 4)

    @property
    def engine(self) -> str:
        return ENGINES[self.seed >> 3 & 1]

    @property
    def queue_limit(self) -> int:
        return QUEUE_LIMITS[self.seed >> 4 & 1]

    @property
    def devices(self) -> int:
        return 1 if self.seed & 32 else 2  # a bulk ends where the device changes


class Round:
    """Eight threads that play, and what is left when they have stopped."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.failures = Failures()
        self.graveyard: queue.SimpleQueue[object] = queue.SimpleQueue()
        self.inboxes: list[queue.SimpleQueue[tuple[Memory, Box] | None]] = [
            queue.SimpleQueue() for _ in range(THREADS)
        ]
        self.players = [
            Player(
                f"{setting.seed}/{n}",
                self.failures,
                self.graveyard.put,
                bulks=setting.bulks,
                devices=setting.devices,
            )
            for n in range(THREADS)
        ]
        self.broken: list[str] = []

    def play(self) -> None:
        """Let all threads play, then see that nothing is left."""
        threads = [
            threading.Thread(target=self.guarded, args=(n,), name=f"player {n}")
            for n in range(THREADS)
        ]
        undertaker = threading.Thread(target=self.bury, name="undertaker")
        for thread in (undertaker, *threads):
            thread.start()
        for thread in threads:
            thread.join()
        self.graveyard.put(None)
        undertaker.join()
        if self.broken:
            raise SystemExit("\n".join(self.broken))

    def guarded(self, place: int) -> None:
        player = self.players[place]
        step = -1
        try:
            for step in range(STEPS):
                if self.broken:
                    return
                player.act()
                if step % HAND_OVER_EVERY == HAND_OVER_EVERY - 1:
                    self.hand_over(place)
            step = STEPS
            player.check_all()
        except BaseException:
            self.broken.append(f"thread {place}, step {step}:\n{traceback.format_exc()}")
            for inbox in self.inboxes:
                inbox.put(None)
        finally:
            mx.engine.set_bulk_size(0)
            player.pool.clear()
            player.boxes.clear()

    def hand_over(self, place: int) -> None:
        """Give memory and a box to the next thread; take what the one before gives."""
        player = self.players[place]
        given = player.random.randrange(len(player.boxes))
        self.inboxes[(place + 1) % THREADS].put((player.take(), player.boxes.pop(given)))
        if taken := self.inboxes[place].get(timeout=PATIENCE_S):
            player.pool.append(taken[0])
            player.boxes.append(taken[1])

    def bury(self) -> None:
        """Drop what others have put into the graveyard."""
        while self.graveyard.get() is not None:
            pass

    def settle(self) -> None:
        """See that every failure was told, and all memory given back."""
        self.failures.wait_for_all()
        untold = self.failures.made - self.failures.read - self.failures.waited
        assert not untold, f"failures {untold} were never told"
        assert default_engine().pending == 0
        for player in self.players:
            assert sorted(player.heard) == sorted(player.echoes)
        # A worker lets go of what it ran a moment after the end; the collector, of cycles.
        deadline = time.monotonic() + PATIENCE_S
        while left := sum(
            chunk() is not None for player in self.players for chunk in player.chunks
        ):
            assert time.monotonic() < deadline, f"{left} blocks of memory are still held"
            gc.collect()
            time.sleep(0.001)

    def compare(self, profile: mxprof_nb.Profile) -> None:
        """See that a profile shows every operator that was queued, once, and no memory left."""
        assert profile.health.ok, profile.health
        events = profile.events
        run = events[events.category.isin(["operator", "copy"])]
        assert run.correlation.is_unique
        queued = events[events.name.isin(["MXImperativeInvokeEx", "MXEnginePushSync"])]
        missing = set(queued.correlation) - set(run.correlation)
        assert not missing, f"operators {missing} were queued and are not shown"
        wanted = sum((player.queued for player in self.players), Counter[str]())
        if self.setting.bulks:
            assert len(queued) >= wanted.total()
        else:
            shown = Counter(run.name.astype(str)[run.name.isin(list(wanted))])
            assert shown == wanted, f"{shown - wanted} too many, {wanted - shown} missing"
        if self.setting.engine == "ThreadedEnginePerDevice":
            for context in map(mx.cpu, range(self.setting.devices)):
                tracks = run.track_name[run.name == f"function of {context.label}"]
                assert tracks.str.startswith(f"{context.label} worker ").all(), set(tracks)
            tracks = run.track_name[run.name == "CopyCPU2CPU"]
            assert set(tracks) == {f"cpu/{n} copy" for n in range(self.setting.devices)}
        left = profile.counters.groupby("name", observed=True).value.last()
        memory = left[left.index.str.startswith("Memory: ")]
        assert list(memory) == [0] * self.setting.devices, (
            f"memory in use at the end: {memory.to_dict()}"
        )


def play_round(setting: Setting) -> None:
    """Play one round and see that nothing of it is left."""
    mx.engine.set_type(setting.engine)
    mx.engine.set_queue_limit(setting.queue_limit)
    sys.setswitchinterval(setting.switch_interval_s)
    chosen = sys.getswitchinterval()
    recording = mxprof_nb.profile() if setting.recorded else nullcontext()
    with recording as profile:
        played = Round(setting)
        played.play()
        played.settle()
    if profile:
        played.compare(profile)
    assert sys.getswitchinterval() == chosen, "the switch interval was not restored"


def see_workers_idle() -> None:
    """See that nothing turns in the background when nothing is queued."""
    before = time.process_time()
    time.sleep(0.5)
    used = time.process_time() - before
    assert used < 0.1, f"{used:.2f} s of CPU time in half a second without work"


def see_workers_alive() -> None:
    """See that all workers carry out work: as many at once as there are; and copies."""
    mx.engine.set_queue_limit(QUEUE_LIMITS[0])
    prefix = "mxprof cpu worker" if mx.engine.get_type() == "ThreadedEngine" else "mxprof cpu/"
    names = [thread.name for thread in threading.enumerate()]
    workers = sum(name.startswith(prefix) and "worker" in name for name in names)
    everybody = threading.Barrier(workers + 1)
    for n in range(workers):
        mx.engine.push(lambda: everybody.wait(PATIENCE_S), name="meet", ctx=mx.cpu(n % 2))
    everybody.wait(PATIENCE_S)
    for n in range(2):
        assert mx.nd.ones(2, ctx=mx.cpu(n)).copyto(mx.cpu(1 - n)).asnumpy().tolist() == [1, 1]
    mx.nd.waitall()


def see_no_thread_left() -> None:
    """See that only workers are left beside the main thread, and each of them once."""
    names = [thread.name for thread in threading.enumerate()]
    assert len(set(names)) == len(names), names
    assert all(name.startswith("mxprof cpu") for name in names[1:]), names


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4), "big"))
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--rounds", type=int, default=sys.maxsize, help="at most")
    given = parser.parse_args()
    faulthandler.dump_traceback_later(given.seconds + 2 * PATIENCE_S, exit=True)
    api.MAX_NOTES = sys.maxsize  # each failure must be told by name
    end = time.monotonic() + given.seconds
    rounds = 0
    while rounds < given.rounds and (time.monotonic() < end or rounds < 2):
        seed = given.seed + rounds
        print(f"seed {seed}", flush=True)
        setting = Setting(seed)
        play_round(setting)
        see_no_thread_left()
        rounds += 1
    see_workers_idle()
    see_workers_alive()
    assert default_engine().pending == 0
    print(f"All agreed: {rounds} rounds from seed {given.seed}")


if __name__ == "__main__":
    main()
