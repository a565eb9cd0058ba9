"""`mx.profiler` inside a profiled cell: two listeners that do not notice each other."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from tests.integration.kernel import Kernel
from tests.unit.runtime.test_seed_names import as_ours, documents

OBJECTS = """\
import mxprof_nb.runtime as mx
from mxprof_nb.runtime import profiler
profiler.set_config(profile_all=True, aggregate_stats=True, filename="objects.json")
profiler.set_state("run")
domain = profiler.Domain("shop")
with domain.new_task("serve"), domain.new_frame("day"):
    counter = domain.new_counter("guests", 1)
    counter += 2
    domain.new_marker("rush").mark("process")
    y = mx.nd.dot(mx.nd.ones((4, 4)), mx.nd.ones((4, 4)))
    y.wait_to_read()
profiler.pause()
(y + 1).wait_to_read()
profiler.resume()
(y * 2).asnumpy()
mx.nd.waitall()
profiler.set_state("stop")
print(profiler.dumps(reset=True))
profiler.dump()
"""
#: Depends on speed, or on what the process did before.
UNSTEADY = (
    "WaitForVar",
    "WaitForAll",
    "ResourceParallelRandomSetSeed",
    "MXNDArrayFree",
    "DeleteVariable",
)


def _outcome(kernel: Kernel, cell: str, filename: str) -> tuple[list[str], Counter[str]]:
    """Return names and counts of the table, and the kinds of records in the file."""
    folder = Path(kernel.value("__import__('os').getcwd()"))
    kernel.run("mx.profiler.dumps(reset=True)")  # statistics go on from cell to cell
    outcome = kernel.run(cell)
    assert outcome.status == "ok"
    printed = outcome.stdout
    rows = re.findall(r"^(\S.*?) +(\d+) +[-\d.]+ ", printed, re.MULTILINE)
    table = [f"{name} {count}" for name, count in rows if not name.startswith("M")]
    events = json.loads((folder / filename).read_text())["traceEvents"]
    (folder / filename).unlink()
    kinds = Counter(f"{e['ph']} {e['name']}" for e in events if e["ph"] in "BbiI")
    return (
        sorted(row for row in table if not row.startswith(UNSTEADY)),
        Counter({k: n for k, n in kinds.items() if not k[2:].startswith(UNSTEADY)}),
    )


@pytest.fixture(params=["objects", "first program", "second program"])
def program(request, kernel: Kernel) -> tuple[str, str]:
    """A program and the file it writes; the programs of the documents where they are at hand."""
    if request.param == "objects":
        return OBJECTS, "objects.json"
    shared = request.getfixturevalue("shared_dir")
    place = 1 if request.param == "first program" else 2
    return as_ours(documents(shared / "seeds")[0][place]), "trace_profile.json"


def test_a_program_that_uses_the_profiler_gives_the_same_under_the_magic(kernel, program):
    text, filename = program
    plain = _outcome(kernel, text, filename)
    assert plain[0]
    assert plain[1]
    assert _outcome(kernel, f"%%mxprofile -o p\n{text}", filename) == plain
    assert _outcome(kernel, text, filename) == plain
    names = set(kernel.value("p.events.name.astype(str).tolist()"))
    recorded = {kind[2:] for kind in plain[1]}
    # The magic goes on while mx.profiler is paused, and sees what is in neither file nor table.
    assert recorded <= names
    if filename == "objects.json":
        assert "_plus_scalar" in names - recorded
