"""A file is read piece by piece; how large the pieces are is nobody's business."""

from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mxprof_nb.errors import ReadError
from mxprof_nb.io import load
from mxprof_nb.io.chrome import document
from tests.benchmarks.trace_files import write_torch
from tests.conformance.samples import samples
from tests.fuzz.mutations import damaged


def _torch():
    with TemporaryDirectory() as folder:
        file = Path(folder) / "torch.json"
        write_torch(file, 40)
        return file.read_bytes()


#: The first two of the samples are ours and are not read in pieces.
FILES = [*samples("chrome")[2:], _torch()]


def told(content, size):
    """Return all that was read, and what was said, with pieces of a size."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(document, "BLOCK_BYTES", size)
        try:
            trace = load(BytesIO(content), format="chrome")
        except ReadError as error:
            return str(error)
    events = trace.frame("events")
    events["arg"] = [  # they are numbered in the order in which they were found
        trace.strings[int(trace.args.raw[arg])] if arg >= 0 else "" for arg in trace.events.arg
    ]
    flows = sorted(trace.frame("flows").itertuples(index=False))
    frames = [events, trace.frame("tracks"), trace.frame("counters")]
    notes = sorted((note.code, note.count, note.message) for note in trace.health.notes)
    return [frame.to_csv() for frame in frames], flows, notes, dict(trace.meta.extra)


ONE = b'{"ph":"X","ts":1,"dur":2}'


#: Traces behind each other, as a program leaves that dumps to one file again and again.
JOINED = b"".join(
    b'{"a":"%b","traceEvents":[%b],"b":{"c":[%d]}}' % (b"x" * n, ONE, n) for n in range(9)
)


@example(JOINED, 30)
@example(
    b"".join(b'[%b]\n{"traceEvents":[%b],"z":"%b"' % (ONE, ONE, b"y" * 5000) for _ in "abc"), 100
)
@example(b'[%b,%b,",]%b,%b,%b,%b]]' % ((ONE,) * 6), 30)  # a comma is missing where a piece ends
@given(st.sampled_from(FILES) | damaged(FILES), st.sampled_from([100, 300, 1_000, 3_000]))
@settings(max_examples=60)
def test_pieces_of_any_size_read_the_same(content, size):
    assert told(content, size) == told(content, 1 << 22)
