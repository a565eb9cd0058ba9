"""Whatever is done to a file, reading it gives a trace or an error that names the place."""

import io
import json

from hypothesis import example, given, settings
from hypothesis import strategies as st

from mxprof_nb.errors import ReadError
from mxprof_nb.io import load
from mxprof_nb.io.chrome_writer import write_chrome
from mxprof_nb.trace import Trace
from tests.traces import dot_cell

_FILE = io.BytesIO()
write_chrome(dot_cell(), _FILE)
OWN = json.loads(_FILE.getvalue())
_MXNET = io.BytesIO()
write_chrome(dot_cell(), _MXNET, layout="mxnet", devices=["cpu/0"])
MXNET = json.loads(_MXNET.getvalue())
#: The metadata event that says what the tracks are.
(PIECE,) = [place for place, e in enumerate(MXNET["traceEvents"]) if e["name"] == "mxprof"]

FIELDS = [
    "ph",
    "name",
    "cat",
    "ts",
    "dur",
    "pid",
    "tid",
    "id",
    "id2",
    "bp",
    "unit",
    "special",
    "args",
]
strange = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([-1, 2**63, 2**64, 10**400, -(10**400), 1e308, -1e308, 99])
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec=None, categories=None), max_size=3)
    | st.sampled_from(["X", "B", "E", "b", "e", "C", "M", "s", "f", "process_name", "nan"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(
                [
                    "name",
                    "value",
                    "site",
                    "arg",
                    "source",
                    "target",
                    "details",
                    "local",
                    "sort_index",
                ]
            ),
            inner,
            max_size=3,
        )
    ),
    max_leaves=4,
)


def read_or_refused(content: bytes) -> None:
    try:
        outcome: Trace | ReadError = load(content, format="chrome")
    except ReadError as error:
        outcome = error
    assert isinstance(outcome, Trace) or outcome.path == "<bytes>"


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(content):
    read_or_refused(content)


@given(st.lists(st.dictionaries(st.sampled_from(FIELDS), strange, max_size=8), max_size=4))
@example([{"ph": "C", "name": "n", "ts": 0, "args": {"value": 10**400}}])
@example([{"ph": "i", "name": "n", "ts": 10**400}])
def test_any_events_are_read_or_refused(events):
    read_or_refused(json.dumps(events).encode())


@given(st.integers(0, len(OWN["traceEvents"]) - 1), st.sampled_from(FIELDS), strange)
@settings(max_examples=200)
def test_one_strange_field_in_a_file_of_ours_is_read_or_refused(place, field, value):
    events = list(OWN["traceEvents"])
    events[place] = {**events[place], field: value}
    read_or_refused(json.dumps({**OWN, "traceEvents": events}).encode())


@given(st.integers(0, len(OWN["traceEvents"]) - 1), st.data())
@settings(max_examples=200)
def test_one_strange_argument_in_a_file_of_ours_is_read_or_refused(place, data):
    events = list(OWN["traceEvents"])
    known = [
        "site",
        "arg",
        "source",
        "queued_ns",
        "correlation",
        "bytes",
        "shapes",
        "value",
        "step",
    ]
    args = {**events[place]["args"], data.draw(st.sampled_from(known)): data.draw(strange)}
    events[place] = {**events[place], "args": args}
    read_or_refused(json.dumps({**OWN, "traceEvents": events}).encode())


@given(st.sampled_from(list(OWN["mxprof"])), strange, st.data())
@settings(max_examples=200)
def test_one_strange_value_in_our_own_part_is_read_or_refused(key, value, data):
    own = {**OWN["mxprof"], key: value}
    if isinstance(OWN["mxprof"][key], dict) and data.draw(st.booleans()):
        inner = OWN["mxprof"][key]
        own[key] = {**inner, data.draw(st.sampled_from(list(inner))): value}
    read_or_refused(json.dumps({**OWN, "mxprof": own}).encode())


@given(st.integers(0, len(_FILE.getvalue())), st.binary(max_size=3), st.integers(0, 5))
@settings(max_examples=200)
def test_a_file_with_a_piece_changed_or_cut_off_is_read_or_refused(place, piece, lost):
    content = _FILE.getvalue()
    read_or_refused(content[:place] + piece + (content[place + lost :] if lost < 5 else b""))


@given(st.sampled_from(["1" * 5000, "[" * 1500 + "]" * 1500, "1e999", '"\\ud800"']))
def test_extremes_of_json_anywhere_are_read_or_refused(text):
    read_or_refused(b'{"traceEvents":[],"other":%s}' % text.encode())
    for phase in "XCMi":
        for field in ("args", "ts", "pid", "id"):
            event = f'{{"ph":"{phase}","name":"process_name","ts":0,"dur":1,"{field}":{text}}}'
            read_or_refused(f"[{event}]".encode())


@given(st.integers(0, len(MXNET["traceEvents"]) - 1), st.sampled_from([*FIELDS, "s"]), strange)
@settings(max_examples=200)
def test_one_strange_field_in_a_file_in_the_layout_of_mxnet_is_read_or_refused(place, field, value):
    events = list(MXNET["traceEvents"])
    events[place] = {**events[place], field: value}
    read_or_refused(json.dumps({**MXNET, "traceEvents": events}).encode())


@given(st.sampled_from(list(MXNET["traceEvents"][PIECE]["args"])), strange, st.data())
@settings(max_examples=200)
def test_one_strange_value_in_a_piece_is_read_or_refused(key, value, data):
    events = list(MXNET["traceEvents"])
    told = events[PIECE]["args"]
    if isinstance(told[key], dict) and data.draw(st.booleans()):
        value = {**told[key], data.draw(st.sampled_from(list(told[key]))): value}
    events[PIECE] = {**events[PIECE], "args": {**told, key: value}}
    read_or_refused(json.dumps({**MXNET, "traceEvents": events}).encode())


@given(strange)
@settings(max_examples=100)
def test_a_strange_key_of_ours_over_the_events_of_mxnet_is_read_or_refused(value):
    read_or_refused(json.dumps({**MXNET, "mxprof": value}).encode())
    for name in MXNET["mxprof"]:
        read_or_refused(json.dumps({**MXNET, "mxprof": {**MXNET["mxprof"], name: value}}).encode())


@given(st.integers(0, len(_MXNET.getvalue())), st.binary(max_size=3), st.integers(0, 5))
@settings(max_examples=200)
def test_pieces_that_were_changed_or_cut_off_are_read_or_refused(place, piece, lost):
    content = _MXNET.getvalue()
    read_or_refused(content[:place] + piece + (content[place + lost :] if lost < 5 else b""))
