import pytest

from mxprof_nb.trace import Meta, TraceBuilder
from mxprof_nb.view.places import place, source_line

CELL = "/tmp/ipykernel_812/3141592653.py"


@pytest.mark.parametrize(
    ("file", "function", "told"),
    [
        (CELL, "<module>", "line 7"),
        ("/tmp/ipykernel_812/271828.py", "<module>", "line 7 of another cell"),
        ("<ipython-input-3-1a2b3c>", "<module>", "line 7 of another cell"),
        ("/tmp/ipykernel_812/271828.py", "step", "line 7 of step()"),
        ("/projects/train.py", "Model.<locals>.forward", "line 7 of forward()"),
        ("/projects/train.py", "<module>", "line 7 of train.py"),
        ("/projects/train.py", "f.<locals>.<lambda>", "line 7 of train.py"),
    ],
)
def test_a_place_is_told_without_the_path_of_a_temporary_file(file, function, told):
    builder = TraceBuilder(Meta(source_file=CELL))
    track = builder.track("MainThread", role="host")
    site = builder.site(file, 7, function, "y = x + 1")
    builder.event("call", track=track, start_ns=0, dur_ns=5, site=site)
    trace = builder.build()
    assert place(trace, 0) == told
    assert source_line(trace, 0) == "y = x + 1"


def test_an_event_from_nowhere_has_no_place():
    builder = TraceBuilder()
    builder.event("call", track=builder.track("t", role="host"), start_ns=0)
    assert place(builder.build(), 0) == ""
