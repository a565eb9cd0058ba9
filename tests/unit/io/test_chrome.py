import io
import json

import pytest

from mxprof_nb.errors import CorruptTraceError, UnsupportedVersionError
from mxprof_nb.io import load
from mxprof_nb.io.chrome_writer import write_chrome
from mxprof_nb.trace import schema
from tests.traces import dot_cell


def event(ph, name="a", ts=0, **fields):
    return {"ph": ph, "name": name, "ts": ts, "pid": 1, "tid": 2, **fields}


def read(*events, **extras):
    return load(json.dumps({"traceEvents": list(events), **extras}).encode())


def names(trace):
    return [trace.strings[int(code)] for code in trace.events.name]


def kinds(trace):
    return [schema.KINDS[code] for code in trace.events.kind]


def refused(*events, **extras):
    with pytest.raises(CorruptTraceError) as caught:
        read(*events, **extras)
    return caught.value


def test_the_array_form_and_the_object_form_are_the_same_trace():
    events = [event("X", dur=1.5, cat="c"), event("i", "mark", 1)]
    array = load(json.dumps(events).encode())
    assert array.frame().equals(read(*events).frame())
    assert array.events.dur_ns.tolist() == [1500, 0]


def test_an_empty_trace_is_a_trace():
    assert len(load(b"[]")) == len(read()) == len(load(b"\xef\xbb\xbf [ ]")) == 0


def test_begins_and_ends_nest_by_thread_in_order_of_time():
    trace = read(
        event("E", "inner", 4),
        event("B", "outer", 0),
        event("B", "other", 1, tid=3),
        event("B", "inner", 2),
        event("E", "outer", 9),
        event("E", ts=3, tid=3, name=""),
    )
    assert names(trace) == ["outer", "other", "inner"]
    assert trace.events.dur_ns.tolist() == [9000, 2000, 2000]
    assert trace.events.parent.tolist() == [-1, -1, 0]


def test_arguments_of_begin_and_end_are_joined_and_stay_text():
    trace = read(event("B", args={"a": 1}), event("E", ts=1, args={"b": [2]}), event("X", dur=0))
    raw = trace.strings[int(trace.args.raw[trace.events.arg[0]])]
    assert json.loads(raw) == {"a": 1, "b": [2]}
    assert trace.events.arg.tolist() == [0, -1]


@pytest.mark.parametrize(
    ("begin", "end", "raw"),
    [
        ({}, {"b": 1}, '{"b": 1}'),
        ({"a": 1}, {}, '{"a": 1}'),
        ([1], {"b": 2}, '[[1],{"b": 2}]'),
        ({}, {}, None),
    ],
)
def test_arguments_of_either_side_are_enough(begin, end, raw):
    trace = read(event("B", args=begin), event("E", ts=1, args=end))
    told = [trace.strings[int(code)] for code in trace.args.raw]
    assert told == ([] if raw is None else [raw])


def test_asynchronous_events_pair_by_category_id_and_name():
    trace = read(
        event("b", "load", 0, cat="io", id=1),
        event("b", "load", 1, cat="io", id="0x2", tid=9),
        event("b", "load", 2, cat="net", id=1),
        event("e", "load", 3, cat="io", id=1, tid=5),
        event("e", "load", 4, cat="net", id=1),
        event("e", "load", 5, cat="io", id="0x2"),
    )
    assert kinds(trace) == ["async"] * 3
    assert trace.events.dur_ns.tolist() == [3000, 4000, 2000]
    assert trace.events.parent.tolist() == [-1] * 3


def test_a_local_id_means_something_within_its_process_only():
    trace = read(
        event("b", ts=0, id2={"local": "1"}),
        event("b", ts=1, id2={"local": "1"}, pid=7),
        event("e", ts=2, id2={"local": "1"}),
        event("e", ts=5, id2={"local": "1"}, pid=7),
    )
    assert trace.events.dur_ns.tolist() == [2000, 4000]


@pytest.mark.parametrize("phase", ["i", "I", "n"])
def test_points_in_time_are_instants(phase):
    trace = read(event(phase, ts=7, s="g"))
    assert (kinds(trace), trace.events.start_ns.tolist()) == (["instant"], [7000])


def test_every_series_of_a_counter_is_a_counter():
    trace = read(
        event("C", "heap", 1, args={"used": 1, "free": 2.5}),
        event("C", "Memory: cpu/0", 0, args={"Memory: cpu/0": 36}),
        event("C", "n", 2, id=4, args={"value": 3}),
    )
    counters = trace.frame("counters")
    assert counters["name"].tolist() == ["Memory: cpu/0", "heap used", "heap free", "n[4]"]
    assert counters["value"].tolist() == [36, 1, 2.5, 3]
    assert counters["unit"].astype(object).where(counters["unit"].notna(), None).tolist() == [
        "B",
        None,
        None,
        None,
    ]
    assert trace.frame("tracks")["role"].tolist() == ["counter"]


def test_metadata_names_and_orders_processes_and_threads():
    trace = read(
        event("X", dur=1, pid=1, tid=10),
        event("X", dur=1, pid=1, tid=11),
        event("X", dur=1, pid=2, tid=20),
        event("M", "process_name", args={"name": "python"}),
        event("M", "process_sort_index", args={"sort_index": 5}),
        event("M", "thread_name", tid=11, args={"name": "loader"}),
        event("M", "thread_sort_index", tid=11, args={"sort_index": -1}),
        event("M", "process_name", pid=2, args={"name": "gpu/0"}),
        event("M", "process_labels", pid=2, args={"labels": "x"}),
    )
    tracks = trace.frame("tracks").sort_values("order")
    assert tracks["name"].tolist() == ["gpu/0", "loader", "python thread 10"]
    assert tracks["process"].tolist() == ["gpu/0", "python", "python"]
    assert tracks["role"].tolist() == ["worker", "host", "host"]
    assert tracks["tid_text"].tolist() == ["20", "11", "10"]
    assert [one["name"] for one in trace.meta.extra["metadata_events"]] == ["process_labels"]


@pytest.mark.parametrize("name", [2**64 - 1, 10**30, -5, "Trace PyTorch", "µ\ud800", 0])
def test_ids_of_any_size_and_text_are_kept_as_text(name):
    trace = read(event("X", dur=1, pid=name, tid=name))
    assert trace.strings[int(trace.tracks.pid_text[0])] == str(name)
    assert trace.strings[int(trace.tracks.tid_text[0])] == str(name)


def test_an_event_without_ids_has_a_track_of_its_own():
    trace = load(
        b'[{"ph":"X","name":"a","ts":0,"dur":1},{"ph":"X","name":"a","ts":0,"dur":1,"tid":1}]'
    )
    assert trace.tracks.pid_text.tolist() == [-1, -1]
    assert trace.frame("tracks")["name"].tolist() == ["events", "thread 1"]


def test_a_flow_binds_the_slices_that_enclose_its_points():
    trace = read(
        event("X", "call", 0, dur=10),
        event("X", "inner", 2, dur=2),
        event("X", "kernel", 5, dur=4, tid=3),
        event("X", "next", 20, dur=4, tid=3),
        event("s", "ac2g", 3, id=1),
        event("f", "ac2g", 6, tid=3, id=1, bp="e"),
        event("s", "x", 8, id=1),
        event("t", "x", 9, tid=3, id=1),
        event("f", "x", 10, tid=3, id=1),
    )
    flows = trace.frame("flows")
    told = (
        [names(trace)[row] for row in flows["source"]],
        [names(trace)[row] for row in flows["target"]],
    )
    # An end belongs to its slice; without bp "e" the next slice is meant.
    assert told == (["inner", "call", "kernel"], ["kernel", "kernel", "next"])
    assert flows["kind"].tolist() == ["launch", "async", "async"]


def test_flows_that_bind_to_nothing_are_counted_in_the_health():
    trace = read(
        event("X", dur=1),
        event("s", ts=0, id=1),
        event("f", ts=50, id=1, bp="e"),
        event("s", ts=0, id=2),
    )
    assert [(note.code, note.count) for note in trace.health.notes] == [
        ("loose_flow", 1),
        ("open_flow", 1),
    ]
    assert len(trace.flows) == 0


def notes(trace):
    return [(note.code, note.count, note.message) for note in trace.health.notes]


def test_an_empty_entry_at_the_end_of_the_list_is_left_out_and_counted():
    trace = read(event("X", dur=1), {}, {})
    assert len(trace) == 1
    assert notes(trace) == [("no_phase", 2, "2 entries without a phase; left out.")]


@pytest.mark.parametrize(
    "phase", ["(", ")", "N", "O", "D", "P", "T", "S", "F", "R", "c", "v", "V", "=", "Q"]
)
def test_events_of_a_phase_that_is_not_read_are_left_out_and_counted_by_it(phase):
    other = {"ph": phase, "name": "other", "args": {"x": [1]}}
    trace = read(event("X", dur=1), other, {**other, "ts": 1e300})
    assert names(trace) == ["a"]
    ((code, count, message),) = notes(trace)
    assert (code, count) == ("unread_phase", 2)
    assert message.startswith(f"2 entries of phase '{phase}'")


def test_steps_and_ends_of_flows_that_never_began_are_left_out_and_counted():
    trace = read(
        event("X", dur=9),
        event("t", ts=1, id=1),
        event("f", ts=2, id=1, bp="e"),
        event("f", ts=2, id=2, bp="e"),
        event("s", ts=3, id=1),
        event("f", ts=4, id=1, bp="e"),
    )
    assert len(trace.flows) == 1
    assert notes(trace) == [("orphan_flow", 3, "3 steps or ends of flows have no begin; left out.")]


@pytest.mark.parametrize("entries", [[{}], [{"key": "aten::add", "count": 3}], [event("XXX")]])
def test_a_list_in_which_nothing_is_an_event_is_no_trace(entries):
    with pytest.raises(CorruptTraceError, match="this is no Chrome trace"):
        load(json.dumps(entries).encode())


def test_what_mxnets_engine_does_for_itself_is_not_called_an_operator():
    trace = read(
        event("X", "DeleteVariable", dur=1, cat="operator"),
        event("X", "WaitForVar", dur=1, cat="operator"),
        event("X", "dot", dur=1, cat="operator"),
        event("X", "DeleteVariable", dur=1, cat="mine"),
    )
    assert trace.frame()["category"].tolist() == ["engine", "engine", "operator", "user"]


def test_a_thread_known_by_a_hash_only_is_called_by_its_number():
    trace = read(
        event("X", dur=1, tid=7),
        event("X", dur=1, tid=12350829497351446342),
        event("X", dur=1, tid="0x7f00aa00bb00"),
    )
    tracks = trace.frame("tracks")
    assert tracks["name"].tolist() == ["thread 7", "thread 2", "thread 3"]
    assert tracks["tid_text"].tolist()[1] == "12350829497351446342"


def test_the_category_of_a_known_producer_is_known_and_others_are_the_programs_own():
    trace = read(
        event("X", dur=1, cat="MXNET_C_API"),
        event("X", dur=1, cat="operator"),
        event("X", dur=1, cat="mine"),
        event("X", dur=1),
    )
    frame = trace.frame()
    assert frame["category"].tolist() == ["api", "operator", "user", "user"]
    assert frame["domain"].tolist() == ["MXNET_C_API", "operator", "mine", ""]


def test_other_keys_of_the_file_are_kept():
    trace = read(displayTimeUnit="ns", otherData={"version": "1"}, baseTimeNanoseconds=1_000)
    assert trace.meta.extra["otherData"] == {"version": "1"}
    assert trace.meta.origin_epoch_ns == 1_000


def test_arguments_are_not_decoded_and_keep_their_spelling():
    trace = load(b'[{"ph":"X","name":"a","ts":0,"dur":1,"args":{"x" : 1e2,"y":"\\u00e9\\ud800"}}]')
    assert trace.strings[int(trace.args.raw[0])] == '{"x" : 1e2,"y":"\\u00e9\\ud800"}'


def test_halves_of_surrogate_pairs_are_read_as_python_keeps_them():
    content = rb'[{"ph":"i","name":"<half-0-\ud800\\ud801\ud83d\ude00\udfff","ts":0}]'
    assert names(load(content)) == ["<half-0-\ud800\\ud801😀\udfff"]


@pytest.mark.parametrize(
    ("content", "place", "problem"),
    [
        (b'[{"ph":"X","ts":1,}]', "byte 18", "trailing comma"),
        (b'[{"ph":"X","ts":1', "byte 17", "ends in the middle"),
        (b'[{"ph":"i","ts":1}]x', "byte 20", "trailing characters"),
        (b'[{"ph":"i","ts":NaN}]', "byte 16", "invalid character"),
        (b'[{"ph":"i","name":"\x01"}]', "byte 19", "invalid character"),
        (b'[{"ph":"i","name":"\xff\xfe"}]', "", "utf-8"),
        (b'[{"ph":"i","ts":0},{"ph":"i","ts":"5"}]', "event 1", "field 'ts'"),
        (b'[{"ph":"i","ts":true}]', "event 0", "field 'ts'"),
        (b'[{"ph":"i","name":5}]', "event 0", "field 'name'"),
        (b'[{"ph":"i","ts":0,"pid":1.5}]', "event 0", "field 'pid'"),
        (b'[{"ph":"i","ts":0},7]', "event 1", "Expected `object`"),
        (b'{"traceEvents":{"ph":"i"}}', "", "Expected `array`"),
        (b'{"traceEvents":[{"ph":"i","ts":0},{"ph":"i","ts":[]}]}', "event 1", "field 'ts'"),
        (b'{"events":[],"ph":1}', "", "no key 'traceEvents'"),
        (b'[{"ph":"X","name":"a","ts":0,"dur":1,"args":{"a":"\xff"}}]', "event 0", "no UTF-8"),
        (b"[" * 5000 + b'{"ph":1}', "", "nested too deeply"),
    ],
)
def test_malformed_content_is_named_by_place_and_problem(content, place, problem):
    with pytest.raises(CorruptTraceError) as caught:
        load(content, format="chrome")
    assert caught.value.place == place
    assert problem.lower() in str(caught.value).lower()
    assert caught.value.path == "<bytes>"


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        (event("X"), "has no dur"),
        (event("X", dur=-1), "below 0"),
        (event("X", dur=1, ts=None), "no ts"),
        (event("C", args={"a": 1}, ts=None), "no ts"),
        (event("B"), "a begin and no end"),
        (event("E"), "an end and no begin"),
        (event("b", id=1), "a begin and no end"),
        (event("e", id=1), "an end and no begin"),
        (event("b"), "no id"),
        (event("C", args={"a": "1"}), "no number"),
        (event("C", args={"a": True}), "no number"),
        (event("C", args=[1]), "must be an object"),
        (event("M", "process_name", args={"name": 1}), "must be a text"),
        (event("M", "thread_sort_index", args={"sort_index": "1"}), "a whole number"),
        (event("X", ts=1e20, dur=0), "does not fit 64 bits"),
    ],
)
def test_an_event_that_breaks_a_rule_is_named_with_problem_and_remedy(bad, problem):
    error = refused(event("i"), event("X", dur=1), bad)
    assert error.place == "event 2"
    assert problem in str(error)
    assert str(error).endswith(".")


def test_an_end_that_meets_the_begin_of_another_is_named_with_both():
    error = refused(
        event("B", "outer"), event("B", "inner", 1), event("E", "outer", 2), event("E", "inner", 3)
    )
    assert "'outer' meets the begin of 'inner' (event 1)" in str(error)
    assert error.place == "event 2"


@pytest.fixture
def own():
    file = io.BytesIO()
    write_chrome(dot_cell(), file)
    return json.loads(file.getvalue())


@pytest.mark.parametrize("argument", [{"site": 99}, {"site": 2**40}, {"step": 2**40}])
def test_a_number_of_ours_that_leads_nowhere_is_named_with_table_and_column(own, argument):
    place = next(n for n, one in enumerate(own["traceEvents"]) if one["ph"] == "X")
    own["traceEvents"][place]["args"] |= argument
    with pytest.raises(CorruptTraceError, match=f"'events', column '{next(iter(argument))}'"):
        load(json.dumps(own).encode())


def test_a_file_of_a_later_release_says_to_update(own):
    own["mxprof"]["version"] = 99
    with pytest.raises(UnsupportedVersionError, match="Update mxprof-nb"):
        load(json.dumps(own).encode())


@pytest.mark.parametrize("damage", ["meta", "tracks", "sites", "health"])
def test_a_damaged_part_of_our_own_says_how_to_read_the_rest(own, damage):
    own["mxprof"][damage] = [["?"]]
    with pytest.raises(CorruptTraceError, match="Remove the key") as caught:
        load(json.dumps(own).encode())
    assert caught.value.place == "key 'mxprof'"
    del own["mxprof"]
    assert len(load(json.dumps(own).encode())) == len(dot_cell())


def test_without_our_part_the_file_still_has_tracks_flows_and_counters(own):
    del own["mxprof"]
    plain, full = load(json.dumps(own).encode()), dot_cell()
    assert plain.events.start_ns.tolist() == full.events.start_ns.tolist()
    assert names(plain) == names(full)
    flows = {(int(a), int(b)) for a, b in zip(full.flows.source, full.flows.target, strict=True)}
    assert {
        (int(a), int(b)) for a, b in zip(plain.flows.source, plain.flows.target, strict=True)
    } == flows
    assert plain.counters.value.tolist() == full.counters.value.tolist()
    host = plain.frame("tracks")["name"].tolist()
    assert "MainThread" in host


def test_an_event_that_another_program_added_to_our_file_is_read(own):
    own["traceEvents"].append(
        {"ph": "X", "name": "added", "cat": "elsewhere", "ts": 0, "dur": 1, "pid": 77, "tid": 78}
    )
    trace = load(json.dumps(own).encode())
    assert names(trace)[0] == "added"
    assert len(trace.flows) == len(dot_cell().flows)
    assert trace.frame()["domain"].iloc[0] == "elsewhere"
