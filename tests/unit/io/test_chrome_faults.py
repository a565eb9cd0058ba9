"""What is wrong with files, by symptom: the rest is read, and the health says what it was."""

import gzip
import json

import pytest

from mxprof_nb.errors import CorruptTraceError, ReadError
from mxprof_nb.io import load
from mxprof_nb.io.chrome import document
from mxprof_nb.io.chrome.document import Document
from mxprof_nb.io.limits import Limits
from mxprof_nb.trace import Trace, schema

FIRST = '{"ph":"X","name":"first","ts":1,"dur":2,"pid":1,"tid":1}'
LAST = '{"ph":"X","name":"last","ts":7,"dur":2,"pid":1,"tid":1}'


def names(trace):
    return [trace.strings[code] for code in trace.events.name.tolist()]


def found(trace):
    return {note.code: note.count for note in trace.health.notes}


def between(bad, **more):
    """Read a list in which something bad stands between two good events."""
    bad = bad if isinstance(bad, bytes) else bad.encode()
    return load(b"[%b,\n%b,\n%b]" % (FIRST.encode(), bad, LAST.encode()), format="chrome", **more)


def message(trace, code):
    (told,) = [note.message for note in trace.health.notes if note.code == code]
    return told


@pytest.mark.parametrize("cut", range(len(LAST)))
def test_a_file_that_ends_in_the_middle_of_an_event_keeps_those_before(cut):
    trace = load(f"[{FIRST},\n{LAST[:cut]}".encode(), format="chrome")
    assert names(trace) == ["first"]
    assert not trace.health.ok


@pytest.mark.parametrize(
    "end", ['{"ph":"X","name":"ab', '{"ph":"X","name":"a\\', '{"ph":"X","name":"a\\u00', '{"ph']
)
def test_a_file_that_ends_inside_of_a_string_or_an_escape_says_that_it_was_cut(end):
    trace = load(f"[{FIRST},{end}".encode(), format="chrome")
    assert names(trace) == ["first"]
    assert "ends in the middle" in message(trace, "cut_off")
    assert "Copy it again" in message(trace, "cut_off")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"traceEvents":', "ends in the middle, before its first event. Copy it again"),
        ('{"displayTimeUnit":"ns","traceEv', "ends in the middle, before its first event"),
        ('{"otherData":{"a":[1,2]},', "ends in the middle, before its first event"),
        ('{"traceEvents":null}', "under the key 'traceEvents' is no list of events"),
        ('{"traceEvents":{"a":1}}', "under the key 'traceEvents' is no list of events"),
        ('{"a":1} ', "has no key 'traceEvents'"),
    ],
)
def test_an_object_without_any_event_says_whether_it_was_cut_or_never_had_a_list(text, told):
    with pytest.raises(CorruptTraceError, match=told):
        load(text.encode(), format="chrome")


@pytest.mark.parametrize("lost", [1, 5, 8, 20])
def test_a_gzip_that_was_cut_gives_what_can_be_unpacked(lost):
    events = [{"ph": "X", "name": f"{n}", "ts": n * 7919 % 99991, "dur": n} for n in range(5000)]
    whole = gzip.compress(json.dumps(events).encode())
    trace = load(whole[:-lost])
    assert 4900 < len(trace) <= 5000
    assert "gzip" in message(trace, "cut_archive")


def test_a_gzip_that_was_changed_inside_says_so():
    whole = bytearray(gzip.compress(f"[{FIRST}]".encode()))
    whole[-6] ^= 1  # of the checksum
    trace = load(bytes(whole))
    assert names(trace) == ["first"]
    assert "gzip" in message(trace, "cut_archive")


@pytest.mark.parametrize(
    "text",
    [
        f"[{FIRST},{LAST}",
        f"[{FIRST},{LAST},",
        f'{{"traceEvents":[{FIRST},{LAST}',
        f'{{"traceEvents":[{FIRST},{LAST}]',
        f'{{"traceEvents":[{FIRST},{LAST}}}',
        f'{{"traceEvents":[{FIRST},{LAST}\n\n,"displayTimeUnit":"ms"',
    ],
)
def test_closing_brackets_of_the_list_that_are_missing_cost_nothing(text):
    trace = load(text.encode(), format="chrome")
    assert names(trace) == ["first", "last"]
    assert "no_end_bracket" in found(trace)


@pytest.mark.parametrize(
    "text", [f"{FIRST},\n{LAST}", f",\n{FIRST}\n,\n{LAST}\n]", f"{FIRST}\n{LAST}"]
)
def test_events_without_any_list_are_read(text):
    trace = load(text.encode())
    assert names(trace) == ["first", "last"]
    assert "no_brackets" in found(trace)


def test_a_piece_that_begins_within_an_event_is_read_from_the_next_one():
    trace = load(f'e": 4, "pid": 1}},\n{FIRST},\n{LAST}\n]}}'.encode(), format="chrome")
    assert names(trace) == ["first", "last"]


@pytest.mark.parametrize("second", [f"[{LAST}]", f'{{"traceEvents":[ ,\n{LAST}]}}'])
def test_a_second_trace_behind_the_first_is_read_too(second):
    """MXNet does that when a program dumps to the same file again."""
    trace = load(f'{{"traceEvents":[{FIRST}],"displayTimeUnit":"ms"}}\n{second}'.encode())
    assert names(trace) == ["first", "last"]
    assert "joined_files" in found(trace)


def test_of_many_traces_in_one_file_each_is_decoded_without_all_those_behind_it(monkeypatch):
    decoded = []
    really = Document._decoded

    def counted(self, place, stop):
        decoded.append(stop - place)
        return really(self, place, stop)

    monkeypatch.setattr(Document, "_decoded", counted)
    content = (f'{{"traceEvents":[{FIRST}],"displayTimeUnit":"ms"}}' * 300).encode()
    trace = load(content, format="chrome")
    assert names(trace) == ["first"] * 300
    assert found(trace) == {"joined_files": 299}
    assert sum(decoded) <= 3 * len(content)


def test_an_event_whose_closing_bracket_is_missing_is_closed_where_the_next_begins():
    trace = between('{"ph":"X","name":"open","ts":3,"dur":1,"pid":1,"tid":1,"args":{"a":1}')
    assert names(trace) == ["first", "open", "last"]
    assert found(trace) == {"missing_bracket": 1}
    assert "event 1 (line 2)" in message(trace, "missing_bracket")


@pytest.mark.parametrize(
    "text",
    [
        f"[{FIRST},,{LAST}]",
        f"[,{FIRST},{LAST}]",
        f"[{FIRST},{LAST},]",
        f"[{FIRST},{LAST[:-1]},}}]",
        f'[{FIRST},{LAST[:-1]},"args":{{"a":[1,2,],}}}}]',
        f'{{"traceEvents":[ ,\n{FIRST},{LAST}],"displayTimeUnit":"ms"}}',
    ],
)
def test_commas_that_separate_nothing_are_ignored_and_counted(text):
    trace = load(text.encode())
    assert names(trace) == ["first", "last"]
    assert found(trace) == {"stray_comma": 1}


def test_a_comma_that_is_missing_between_events_is_counted():
    trace = load(f"[{FIRST}\n{LAST}]".encode())
    assert (names(trace), found(trace)) == (["first", "last"], {"missing_comma": 1})


def test_a_backslash_that_escapes_nothing_is_a_backslash():
    trace = between('{"ph":"i","name":"C:\\data\\x","ts":3}')
    assert names(trace) == ["first", "C:\\data\\x", "last"]
    assert found(trace) == {"bad_escape": 1}


def test_raw_control_characters_are_kept():
    trace = between('{"ph":"i","name":"a\nb\x01","ts":3}')
    assert names(trace)[1] == "a\nb\x01"
    assert found(trace) == {"control_character": 1}


def test_bytes_that_are_no_utf8_are_marked():
    trace = between(b'{"ph":"i","name":"a\xff\xfe","ts":3}')
    assert names(trace)[1] == "a\ufffd\ufffd"
    assert found(trace) == {"bad_utf8": 1}


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "nan", "inf", "-inf"])
def test_numbers_that_json_has_not_do_not_cost_their_event(number):
    trace = between(f'{{"ph":"X","name":"b","ts":3,"dur":1,"args":{{"loss":{number}}}}}')
    assert names(trace) == ["first", "b", "last"]
    assert found(trace) == {"not_finite": 1}
    args = json.loads(trace.strings[int(trace.args.raw[0])])
    assert args["loss"].lstrip("-").lower() in ("nan", "inf")


def test_a_time_that_is_not_finite_sets_its_event_aside():
    trace = between('{"ph":"X","name":"b","ts":NaN,"dur":1}')
    assert names(trace) == ["first", "last"]
    assert "event 1" in message(trace, "no_time")


def test_a_quotation_mark_that_mxnet_did_not_escape_is_part_of_the_name():
    trace = between(
        '    {\n        "name": "say "hi" now",\n        "ph": "i",\n        "ts": 3\n    }'
    )
    assert names(trace)[1] == 'say "hi" now'
    assert found(trace) == {"bad_quote": 1}


@pytest.mark.parametrize(
    "bad", ['{"ph":"X","name":"a"b","ts":3}', '{"ph:"X","ts":3}', '{"ph":"X" "name" 7 : }', "{7}"]
)
def test_what_nobody_can_read_costs_itself_alone(bad):
    trace = between(bad)
    assert names(trace) == ["first", "last"]
    assert found(trace) == {"damaged": 1}
    assert "line 2" in message(trace, "damaged")


@pytest.mark.parametrize("bad", ["7", '"text"', "null", "[1,[2]]", "true"])
def test_entries_that_are_no_events_are_left_out(bad):
    trace = between(bad)
    assert (names(trace), found(trace)) == (["first", "last"], {"no_event": 1})


@pytest.mark.parametrize(
    ("field", "told"),
    [('"name":5', "5"), ('"name":["a"]', '["a"]'), ('"name":true', "true"), ('"name":null', "")],
)
def test_a_name_of_another_type_is_taken_as_text(field, told):
    trace = between(f'{{"ph":"i","ts":3,{field}}}')
    assert names(trace) == ["first", told, "last"]
    assert found(trace) == ({"mixed_types": 1} if told else {})


@pytest.mark.parametrize(("pid", "text"), [("1.0", "1"), ("1.5", "1.5"), ("true", "true")])
def test_an_id_of_another_type_is_taken_as_text(pid, text):
    trace = between(f'{{"ph":"i","ts":3,"pid":{pid},"tid":9}}')
    (row,) = [n for n, code in enumerate(trace.tracks.tid_text) if trace.strings.text(code) == "9"]
    assert trace.strings[int(trace.tracks.pid_text[row])] == text


@pytest.mark.parametrize("ts", ['"3"', "3.0", '"3.000"', "3e0", '" 3 "'])
def test_a_time_may_be_a_text(ts):
    trace = between(f'{{"ph":"X","name":"b","ts":{ts},"dur":"1.5"}}')
    assert (trace.events.start_ns[1], trace.events.dur_ns[1]) == (3000, 1500)
    assert trace.health.ok


@pytest.mark.parametrize("ts", ["null", "true", "[]", '"soon"', "1e999", "9" * 30, "1e30", '""'])
def test_a_time_that_is_none_sets_its_event_aside(ts):
    trace = between(f'{{"ph":"X","name":"b","ts":{ts},"dur":1}}')
    assert (names(trace), found(trace)) == (["first", "last"], {"no_time": 1})


@pytest.mark.parametrize(
    ("dur", "code"),
    [("", "no_duration"), (',"dur":-5', "negative_duration")],
)
def test_a_duration_that_is_missing_or_negative_counts_as_0(dur, code):
    trace = between(f'{{"ph":"X","name":"b","ts":3{dur}}}')
    assert found(trace) == {code: 1}
    assert trace.events.dur_ns.tolist() == [2000, 0, 2000]


def test_a_duration_that_is_no_number_sets_its_event_aside():
    trace = between('{"ph":"X","name":"b","ts":3,"dur":"long"}')
    assert (names(trace), found(trace)) == (["first", "last"], {"bad_duration": 1})


def test_a_begin_without_an_end_is_drawn_to_the_end_of_the_run():
    trace = between('{"ph":"B","name":"hangs","ts":3,"pid":1,"tid":2}')
    assert trace.events.dur_ns.tolist() == [2000, 6000, 2000]
    assert "'hangs'" in message(trace, "no_end")


def test_an_end_without_a_begin_is_set_aside():
    trace = between('{"ph":"E","name":"b","ts":3,"pid":1,"tid":2}')
    assert (names(trace), found(trace)) == (["first", "last"], {"no_begin": 1})


def test_children_may_stand_before_their_parents():
    trace = load(
        b'[{"ph":"X","name":"child","ts":2,"dur":1,"tid":1},'
        b'{"ph":"X","name":"parent","ts":1,"dur":5,"tid":1}]'
    )
    assert (names(trace), trace.events.parent.tolist()) == (["parent", "child"], [-1, 0])


def test_of_equal_times_the_longer_is_the_parent():
    trace = load(
        b'[{"ph":"X","name":"in","ts":1,"dur":1,"tid":1},'
        b'{"ph":"X","name":"out","ts":1,"dur":5,"tid":1},'
        b'{"ph":"B","name":"same","ts":9,"tid":1},{"ph":"E","name":"same","ts":9,"tid":1}]'
    )
    assert names(trace) == ["out", "in", "same"]
    assert trace.events.parent.tolist() == [-1, 0, -1]


def test_slices_that_overlap_lie_on_lanes_of_their_own():
    trace = load(
        b'[{"ph":"X","name":"a","ts":0,"dur":10,"tid":1},'
        b'{"ph":"X","name":"b","ts":5,"dur":10,"tid":1}]'
    )
    assert (len(trace), sorted(trace.lane.tolist()), trace.health.ok) == (2, [0, 1], True)


def test_a_time_of_0_among_times_since_1970_is_set_aside():
    events = [{"ph": "X", "ts": 1.7e15 + n, "dur": 1, "name": "a"} for n in range(4)]
    trace = load(json.dumps([{"ph": "X", "ts": 0, "dur": 1, "name": "zero"}, *events]).encode())
    assert (names(trace), found(trace)) == (["a"] * 4, {"absurd_time": 1})
    assert trace.span_ns < 10_000


def test_a_slice_of_236_years_is_drawn_to_the_end_of_the_run():
    trace = between('{"ph":"X","name":"b","ts":3,"dur":7447654400000000}')
    assert (trace.events.dur_ns.tolist(), found(trace)) == ([2000, 6000, 2000], {"endless": 1})


def test_ids_of_64_bit_and_more_tell_events_apart():
    ids = [2**64 - 1, 2**64 - 2, 2**70, 2**70 + 1]
    events = [
        {"ph": ph, "cat": "c", "name": "n", "id": one, "pid": 1, "ts": ts}
        for ph, shift in (("b", 0), ("e", 100))
        for ts, one in enumerate(ids, shift)
    ]
    trace = load(json.dumps(events).encode())
    assert trace.events.dur_ns.tolist() == [100_000] * 4


@pytest.mark.parametrize("args", ['{"a":"x"}', '{"a":[1]}', "{}", "[1]", '{"a":null}'])
def test_a_counter_without_numbers_is_set_aside(args):
    trace = between(f'{{"ph":"C","name":"c","ts":3,"args":{args}}}')
    assert (len(trace.counters), found(trace)) == (0, {"no_value": 1})


def test_numbers_of_counters_may_be_texts_and_not_finite():
    trace = between('{"ph":"C","name":"c","ts":3,"args":{"a":"2.5","b":"nan"}}')
    assert trace.counters.value.tolist()[0] == 2.5
    assert trace.counters.value[1] != trace.counters.value[1]


@pytest.mark.parametrize("args", ['{"name":5}', "{}", "7"])
def test_a_name_of_a_thread_that_is_none_is_ignored(args):
    trace = between(f'{{"ph":"M","name":"thread_name","pid":1,"tid":1,"args":{args}}}')
    assert found(trace) == {"bad_label": 1}


def test_an_event_that_is_nested_too_deeply_is_set_aside():
    trace = between('{"ph":"X","name":"b","ts":3,"args":%s}' % ("[" * 100_000 + "]" * 100_000))
    assert (names(trace), found(trace)) == (["first", "last"], {"too_deep": 1})


def test_arguments_longer_than_the_limit_are_left_out():
    long = '{"ph":"X","name":"b","ts":3,"dur":1,"args":{"a":"%s"}}' % ("x" * 5000)
    trace = between(long, limits=Limits(string_bytes=1000))
    assert (names(trace), found(trace)) == (["first", "b", "last"], {"too_long": 1})
    assert trace.events.arg.tolist() == [-1, -1, -1]


def test_every_fault_is_counted_with_its_first_place():
    bad = '{"ph":"X","name":"b","ts":"?","dur":1}'
    trace = between(",\n".join([bad] * 3))
    assert message(trace, "no_time").startswith("3 events have no time")
    assert "first event 1" in message(trace, "no_time")


#: Texts that a careless reader needs the square of their length for.
HOSTILE = {
    "many begins of events": b'[{"ph":"X","name":"' * 20_000,
    "brackets": b"[" * 400_000,
    "braces": b"{" * 400_000,
    "quotation marks": b'["' * 200_000,
    "backslashes": b'[{"ph":"' + b'\\"' * 200_000,
    "commas": b"[" + b"," * 400_000,
    "open strings": b'[{"name":"a\\' * 40_000,
    "deep again and again": (b'[{"ph":"X","args":' + b"[" * 300 + b",") * 1000,
    "opens": b"[" + b'{"ph":"B","ts":1,"pid":1,"tid":1},' * 20_000 + b"{}]",
    "equal ids": b"[" + b'{"ph":"b","cat":"c","id":1,"ts":1,"pid":1},' * 20_000 + b"{}]",
    "ends in reverse": b"["
    + b"".join(b'{"ph":"b","name":"%d","id":1,"ts":1},' % n for n in range(10_000))
    + b"".join(b'{"ph":"e","name":"%d","id":1,"ts":2},' % n for n in range(10_000))
    + b"{}]",
    "phases": b"[" + b"".join(b'{"ph":"Y%d"},' % n for n in range(20_000)) + b'{"ph":"i","ts":1}]',
    "threads with flows": b"["
    + b"".join(b'{"ph":"s","id":1,"ts":%d,"tid":%d},' % (n, n) for n in range(20_000))
    + b"{}]",
    "points behind nested slices": b"["
    + b"".join(b'{"ph":"X","ts":%d,"dur":%d},' % (n, 20_000 - 2 * n) for n in range(8_000))
    + b'{"ph":"X","ts":0,"dur":90000},'
    + b"".join(b'{"ph":"s","id":%d,"ts":50000},' % n for n in range(8_000))
    + b"{}]",
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_text_takes_time_in_proportion_to_its_length(kind):
    try:
        outcome: Trace | ReadError = load(HOSTILE[kind], format="chrome")
    except ReadError as error:
        outcome = error
    # With the square of the length the test would not come to its end.
    assert isinstance(outcome, Trace) or outcome.path == "<bytes>"


def test_kinds_of_the_events_survive_a_damaged_neighbour():
    trace = between('{"ph":"i","ts":4,"name":"m","s":"g",}')
    kinds = [schema.KINDS[code] for code in trace.events.kind]
    assert kinds == ["span", "instant", "span"]


def test_a_sample_that_is_no_number_is_named_by_its_own_place():
    bad = '{"ph":"R","name":"mark","ts":2},{"ph":"C","name":"c","ts":3,"args":{"value":"high"}}'
    assert "event 2" in message(between(bad), "no_value")


def test_a_list_whose_opening_bracket_is_missing_is_not_said_to_lack_the_closing_one():
    trace = load(f"{FIRST},{LAST}]".encode(), format="chrome")
    assert names(trace) == ["first", "last"]
    assert found(trace) == {"no_brackets": 1}


@pytest.mark.parametrize("between", ["", '"displayTimeUnit":"ns",'])
@pytest.mark.parametrize("size", [60, 1 << 22])
def test_a_second_list_under_the_same_key_is_read_too(between, size, monkeypatch):
    monkeypatch.setattr(document, "BLOCK_BYTES", size)
    text = f'{{"traceEvents":[{FIRST}],{between}"traceEvents":[{LAST}],"other":1}}'
    trace = load(text.encode(), format="chrome")
    assert names(trace) == ["first", "last"]
    assert found(trace) == {"joined_files": 1}
    assert trace.meta.extra["other"] == 1
