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
        ("open_flow", 1),
        ("loose_flow", 1),
    ]
    assert len(trace.flows) == 0


def notes(trace):
    return [(note.code, note.count, note.message) for note in trace.health.notes]


def test_an_empty_entry_at_the_end_of_the_list_is_left_out_and_counted():
    trace = read(event("X", dur=1), {}, {})
    assert len(trace) == 1
    assert notes(trace) == [("no_phase", 2, "2 entries without a phase, first event 1: left out.")]


@pytest.mark.parametrize("phase", ["R", "c", "v", "V", "=", "Q"])
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
    ((code, count, message),) = notes(trace)
    assert (code, count) == ("orphan_flow", 3)
    assert message == "3 steps or ends of flows have no begin, first event 1: left out."


def test_a_flow_with_one_begin_and_several_ends_leads_to_all_of_them():
    trace = read(
        event("X", "call", 0, dur=2),
        event("X", "first", 3, dur=2, tid=3),
        event("X", "second", 6, dur=2, tid=3),
        event("s", "ac2g", 1, id=1),
        event("f", "ac2g", 3, tid=3, id=1, bp="e"),
        event("f", "ac2g", 6, tid=3, id=1, bp="e"),
    )
    assert [names(trace)[row] for row in trace.flows.target] == ["first", "second"]
    assert trace.health.ok


def test_a_flow_id_that_is_used_again_is_another_flow():
    trace = read(
        *(event("X", f"from {n}", 10 * n, dur=2) for n in range(2)),
        *(event("X", f"to {n}", 10 * n + 4, dur=2, tid=3) for n in range(2)),
        *(event("s", "x", 10 * n + 1, id=1) for n in range(2)),
        *(event("f", "x", 10 * n + 5, id=1, tid=3, bp="e") for n in range(2)),
    )
    pairs = zip(trace.flows.source.tolist(), trace.flows.target.tolist(), strict=True)
    assert [(names(trace)[a], names(trace)[b]) for a, b in pairs] == [
        ("from 0", "to 0"),
        ("from 1", "to 1"),
    ]


def test_slices_may_say_themselves_that_a_flow_goes_out_and_comes_in():
    trace = read(
        event("X", "one", 0, dur=2, bind_id="0x1", flow_out=True),
        event("X", "two", 3, dur=2, tid=3, bind_id="0x1", flow_in=True, flow_out=True),
        event("X", "three", 6, dur=2, tid=4, bind_id="0x1", flow_in=True),
    )
    pairs = zip(trace.flows.source.tolist(), trace.flows.target.tolist(), strict=True)
    assert [(names(trace)[a], names(trace)[b]) for a, b in pairs] == [
        ("one", "two"),
        ("two", "three"),
    ]


def test_old_asynchronous_events_pair_by_category_id_and_process():
    trace = read(
        event("S", "load", 0, id=1),
        event("S", "load", 1, id=1, pid=7),
        event("T", "load", 2, id=1, args={"step": "half"}),
        event("F", "load", 5, id=1, tid=9),
        event("F", "load", 9, id=1, pid=7),
    )
    assert kinds(trace) == ["async", "async", "instant"]
    assert trace.events.dur_ns.tolist() == [5000, 8000, 0]


def test_frames_of_mxnet_begin_and_end_with_parentheses():
    trace = read(
        event("(", "frame", 1, cat="Mine,frame"),
        event(")", "frame", 4, cat="Mine,frame"),
        event("n", "mark", 2, cat="Mine,instant_marker", s="g"),
    )
    assert (kinds(trace), names(trace)) == (["async", "instant"], ["frame", "mark"])
    assert trace.events.dur_ns.tolist() == [3000, 0]


def test_an_object_lives_from_its_creation_to_its_deletion():
    trace = read(
        event("N", "layer", 1, id="0x1"),
        event("O", "layer", 2, id="0x1", args={"snapshot": {"w": 1}}),
        event("N", "layer", 2, id="0x2"),
        event("D", "layer", 4, id="0x1"),
        event("i", "end", 9),
    )
    assert kinds(trace) == ["async", "async", "instant", "instant"]
    assert sorted(trace.events.dur_ns.tolist()) == [0, 0, 3000, 7000]
    assert trace.health.ok


def test_samples_show_their_stacks():
    frames = {"1": {"name": "main"}, "2": {"name": "inner", "parent": 1}}
    trace = read(
        event("P", "hit", 1, sf=2),
        event("P", "lost", 2, sf=9),
        event("X", dur=5),
        stackFrames=frames,
        samples=[{"pid": 1, "tid": "2", "ts": "4", "sf": 2, "weight": 1, "name": ""}],
    )
    assert names(trace) == ["a", "hit", "lost", "inner"]
    told = [json.loads(trace.strings[code]) for code in trace.args.raw]
    assert told == [{"stack": ["main", "inner"]}, {"stack": ["main", "inner"], "weight": 1}]
    assert [note.code for note in trace.health.notes] == ["bad_stack"]


def test_the_scope_of_an_instant_and_the_clock_of_its_thread_stand_with_its_arguments():
    trace = read(event("i", s="p", args={"x": 1}), event("X", dur=2, ts=1, tts=5, tdur=2))
    told = [json.loads(trace.strings[int(trace.args.raw[row])]) for row in trace.events.arg]
    assert told == [{"scope": "process", "x": 1}, {"tts": 5, "tdur": 2}]


def test_a_launch_is_linked_to_all_the_work_it_caused():
    def gpu(name, ts, cat="kernel", number=7):
        return event("X", name, ts, pid=0, tid=7, dur=2, cat=cat, args={"correlation": number})

    trace = read(
        event("M", "process_name", pid=0, args={"name": "python"}),
        event("M", "process_labels", pid=0, args={"labels": "GPU 0"}),
        event("M", "thread_name", pid=0, tid=7, args={"name": "stream 7 "}),
        event("X", "cudaGraphLaunch", 0, dur=1, cat="cuda_runtime", args={"correlation": 7}),
        gpu("one", 2),
        gpu("two", 5),
        gpu("copy", 8, "gpu_memcpy"),
        gpu("other", 11, number=8),
        event("s", "ac2g", 0.5, cat="ac2g", id=7),
        event("f", "ac2g", 2, pid=0, tid=7, cat="ac2g", id=7, bp="e"),
    )
    links = [
        (names(trace)[a], names(trace)[b])
        for a, b in zip(trace.flows.source.tolist(), trace.flows.target.tolist(), strict=True)
    ]
    assert links == [("cudaGraphLaunch", name) for name in ("one", "two", "copy")]
    assert trace.events.correlation.tolist() == [7, 7, 7, 7, 8]
    tracks = trace.frame("tracks").set_index("tid_text")
    assert tracks.loc["7", ["role", "device", "name"]].tolist() == ["stream", "gpu/0", "stream 7"]
    assert tracks.loc["2", "role"] == "host"


def test_an_operator_that_mxnet_writes_twice_is_there_once():
    def record(ph, ts, pid, **more):
        return event(ph, "dot", ts, pid=pid, cat="operator", **more)

    trace = read(
        event("M", "process_name", pid=0, args={"name": "cpu/0"}),
        *(record("BE"[n], 10 + 5 * n, 0) for n in range(2)),
        *(record("be"[n], 10 + 4 * n, 30, id=2) for n in range(2)),
        *(record("be"[n], 90 + 4 * n, 30, id=2) for n in range(2)),
    )
    # The second is in its category alone: what a piece of a longer recording begins with.
    assert kinds(trace) == ["span", "async"]
    assert trace.events.dur_ns.tolist() == [5000, 4000]
    assert trace.meta.extra["operators_written_twice"] == 1


@pytest.mark.parametrize("entries", [[{}], [{"key": "aten::add", "count": 3}], [event("ABC")]])
def test_a_list_in_which_nothing_is_an_event_is_no_trace(entries):
    with pytest.raises(CorruptTraceError, match="this is no Chrome trace"):
        load(json.dumps(entries).encode(), format="chrome")


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


def test_rows_of_pytorch_for_its_own_remarks_keep_their_names_and_stand_below_the_program():
    trace = read(
        event("M", "process_name", pid=7, args={"name": "python"}),
        event("M", "process_sort_index", pid=7, args={"sort_index": 7}),
        event("M", "process_sort_index", pid="Spans", tid=0, args={"sort_index": 536870912}),
        event("i", "Record Window End", pid="", tid="", s="g"),
        event("i", "Iteration Start", pid="Traces", tid="Trace PyTorch Profiler", s="g"),
        event("X", "PyTorch Profiler (0)", pid="Spans", tid="PyTorch Profiler", dur=9),
        event("X", "aten::add", pid=7, tid=7, dur=1),
        event("X", "call", pid="0xbeef", tid="7f3a9c001640aa", dur=1),
    )
    tracks = trace.frame("tracks").sort_values("order")
    assert list(zip(tracks.process, tracks.name, strict=True)) == [
        ("process 0xbeef", "thread 1"),
        ("python", "python"),
        ("Spans", "PyTorch Profiler"),
        ("", "events"),
        ("Traces", "Trace PyTorch Profiler"),
    ]


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
    trace = load(b'[{"ph":"X","name":"a","ts":0,"dur":1,"args":{"x" : 1e2,"y":"\\u00e9"}}]')
    assert trace.strings[int(trace.args.raw[0])] == '{"x" : 1e2,"y":"\\u00e9"}'


def test_halves_of_surrogate_pairs_are_read_as_python_keeps_them():
    content = rb'[{"ph":"i","name":"<half-0-\ud800\\ud801\ud83d\ude00\udfff","ts":0}]'
    assert names(load(content)) == ["<half-0-\ud800\\ud801😀\udfff"]


@pytest.fixture
def own():
    file = io.BytesIO()
    write_chrome(dot_cell(), file)
    return json.loads(file.getvalue())


@pytest.mark.parametrize("argument", [{"site": 99}, {"site": 2**40}, {"step": 2**40}])
def test_a_number_of_ours_that_leads_nowhere_is_named_with_table_and_column(own, argument):
    place = next(n for n, one in enumerate(own["traceEvents"]) if one["ph"] == "X")
    own["traceEvents"][place]["args"] |= argument
    trace = load(json.dumps(own).encode())
    assert len(trace) == len(dot_cell())
    assert f"'events', column '{next(iter(argument))}'" in trace.health.notes[-1].message


def test_a_file_of_a_later_release_says_to_update(own):
    own["mxprof"]["version"] = 99
    with pytest.raises(UnsupportedVersionError, match="Update mxprof-nb"):
        load(json.dumps(own).encode())


@pytest.mark.parametrize("damage", ["meta", "tracks", "sites", "health"])
def test_a_damaged_part_of_our_own_does_not_cost_the_events(own, damage):
    own["mxprof"][damage] = [["?"]]
    trace = load(json.dumps(own).encode())
    assert names(trace) == names(dot_cell())
    (note,) = [note for note in trace.health.notes if note.code == "own_part"]
    assert "key 'mxprof'" in note.message


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
