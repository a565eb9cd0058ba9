"""Programs whose tables and files real MXNet 1.9.1 left, and what our runtime makes of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.environment import ROOT

__all__ = ["PROGRAMS", "Output", "run"]

BEGIN = """
import json
import sys
import mxprof_nb.runtime as mx

p = mx.profiler
p.set_config(profile_all=True, aggregate_stats=True, filename=sys.argv[1])
p.set_state("run")
kept = []
"""
ONE_PASS = """
a = mx.nd.array([[1, 2, 3], [4, 5, 6], [7, 8, 9]])
b = mx.nd.diag(a)
c = mx.nd.sum(b, axis=-1)
mx.nd.waitall()
kept += [a, b, c]
"""
USER_OBJECTS = """
d = p.Domain("MyDomain")
c = p.Counter(d, "mycounter", 5)
for span in [p.Task(d, "mytask")] * 2 + [p.Frame(d, "myframe"), p.Event("myevent")]:
    with span:
        pass
c.increment()
c.increment(10)
c.decrement(3)
c += 2
c -= 1
c.set_value(7)
c.decrement(20)
n = p.Counter(d, "c_noinit")
n += 1
for scope in ("global", "process", "thread", "task", "marker"):
    p.Marker(d, "mymarker").mark(scope)
t = p.Task(d, "dbl")
t.start()
t.start()
t.stop()
t = p.Task(d, "spanning_pause")
t.start()
p.pause()
p.resume()
t.stop()
t = p.Task(d, "started_while_paused")
p.pause()
t.start()
p.resume()
t.stop()
p.pause()
c = p.Counter(d, "c_paused", 5)
p.resume()
c += 1
for name in ("L" * 200, 'quo"te\\\\n'):
    with p.Task(d, name):
        pass
mx.nd.waitall()
"""
END = """
p.set_state("stop")
print(json.dumps([p.dumps(), p.dumps(format="json")]))
p.dump()
"""
PROGRAMS = {
    "seed1_trace": BEGIN + ONE_PASS + END,
    "seed1_trace_twice": BEGIN + ONE_PASS * 2 + END,
    "user_objects": BEGIN + USER_OBJECTS + END,
}


@dataclass(frozen=True)
class Output:
    """What a program leaves: the statistics as a table and as JSON, and the file."""

    table: str
    json: str
    file: str


def run(program: str, folder: Path) -> Output:
    """Return what a program leaves that runs on our runtime in a process of its own."""
    file = folder / f"{program}.json"
    done = subprocess.run(
        [sys.executable, "-c", PROGRAMS[program], str(file)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        timeout=60,
        check=True,
    )
    table, as_json = json.loads(done.stdout)
    return Output(table, as_json, file.read_text())
