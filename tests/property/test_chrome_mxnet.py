"""The law of files in MXNet's layout, which is written piece by piece and may lack its end."""

import io
import json
from collections import defaultdict
from dataclasses import replace

from hypothesis import example, given, settings
from hypothesis import strategies as st

from mxprof_nb.io import load
from mxprof_nb.io.chrome_writer import write_chrome
from mxprof_nb.io.chrome_writer.mxnet_layout import MxnetEncoder
from mxprof_nb.trace import Trace, TraceBuilder, schema
from tests.property.made_traces import said, texts, traces
from tests.traces import dot_cell


def written(trace: Trace) -> bytes:
    file = io.BytesIO()
    write_chrome(trace, file, layout="mxnet", devices=["cpu/0", "cpu pinned/"])
    return file.getvalue()


def resolved(trace: Trace, shift_ns: int = 0) -> list[list[object]]:
    """Return events without numbers of rows, in an order that does not depend on them."""
    events, strings = trace.events, trace.strings
    tracks, sites, args = (said(trace, table) for table in ("tracks", "sites", "args"))
    rows: list[list[object]] = []
    for row in range(len(trace)):
        number = {name: int(getattr(events, name)[row]) for name in ("track", "site", "arg")}
        queued = int(events.queued_ns[row])
        rows.append(
            [
                int(events.start_ns[row]) + shift_ns,
                int(events.dur_ns[row]),
                schema.KINDS[events.kind[row]],
                schema.CATEGORIES[events.category[row]],
                strings[int(events.name[row])],
                strings[int(events.domain[row])],
                int(events.correlation[row]),
                int(events.step[row]),
                queued + shift_ns if queued >= 0 else -1,
                tracks[number["track"]],
                sites[number["site"]] if number["site"] >= 0 else None,
                args[number["arg"]] if number["arg"] >= 0 else None,
            ]
        )
    return sorted(rows, key=repr)


def samples(trace: Trace) -> list[list[object]]:
    tracks = said(trace, "tracks")
    named = [[row[0], tracks[int(str(row[1]))], *row[2:]] for row in said(trace, "counters")]
    return sorted(named, key=repr)


@given(traces())
@example(dot_cell())
@example(TraceBuilder().build())
def test_reading_what_was_written_gives_the_same_events_and_samples(trace):
    found = load(written(trace))
    assert resolved(found) == resolved(trace)
    assert samples(found) == samples(trace)
    assert said(found, "tracks") == said(trace, "tracks")
    assert found.meta == trace.meta
    assert found.health == trace.health


def test_launches_and_waits_follow_from_the_numbers_that_tie_them_together():
    trace = dot_cell()
    found = arrows(load(written(trace)))
    assert found == [arrow for arrow in arrows(trace) if arrow[:2] != ("_random_uniform", "dot")]
    assert {kind for *_, kind in found} == {"launch", "read_after_write"}


def arrows(trace: Trace) -> list[tuple[str, ...]]:
    """Return name of both events and kind of every flow."""
    names = [trace.strings[int(name)] for name in trace.events.name]
    return sorted(
        (names[a], names[b], schema.FLOW_KINDS[kind])
        for a, b, kind in zip(trace.flows.source, trace.flows.target, trace.flows.kind, strict=True)
    )


@given(traces())
@settings(max_examples=40)
def test_what_is_written_is_strict_json_in_utf8_without_the_end_of_a_script(trace):
    def refuse(constant):
        raise AssertionError(f"{constant} is not JSON")

    text = written(trace).decode()
    decoded = json.loads(text, parse_constant=refuse)
    assert "</" not in text
    assert {event["ph"] for event in decoded["traceEvents"]} <= set("MBEbenC")


@given(texts)
@settings(max_examples=40)
@example('"}]}')
@example("x" * 10_000)
def test_any_name_comes_back_whole(name):
    builder = TraceBuilder()
    track = builder.track(name, role="worker")
    builder.event(name, track=track, start_ns=1, dur_ns=2, domain="operator", category="operator")
    builder.counter(name, track=track, time_ns=1, value=3)
    found = load(written(builder.build()))
    assert [row[4] for row in resolved(found)] == [name]
    assert found.strings[int(found.counters.name[0])] == name


@given(traces())
@settings(max_examples=60)
def test_begins_and_ends_of_a_thread_nest_and_come_in_order_of_time(trace):
    stacks = defaultdict(list)
    last: dict[tuple[int, int, bool], int] = {}
    for event in json.loads(written(trace), parse_float=str)["traceEvents"]:
        if event["ph"] not in "BEbe":
            continue
        thread = event["pid"], event["tid"], event["ph"].lower() == event["ph"]
        at = int(event["ts"].replace(".", ""))
        assert last.get(thread, at) <= at
        last[thread] = at
        if event["ph"] in "Bb":
            stacks[thread].append(event["name"])
        else:
            assert stacks[thread].pop() == event["name"]
    assert not any(stacks.values())


@given(traces())
@settings(max_examples=40)
def test_an_operator_stands_under_its_device_and_under_its_category_at_the_same_time(trace):
    found = json.loads(written(trace), parse_float=str)["traceEvents"]
    process = {e["pid"]: e["args"]["name"] for e in found if e["name"] == "process_name"}

    def seen(phases):
        return sorted(
            (e["ph"].lower(), e["cat"], e["name"], e["ts"])
            for e in found
            if e["ph"] in phases and e["cat"] in ("operator", "Custom Operator")
        )

    device = [e for e in found if e["ph"] == "B" and e["cat"] == "operator"]
    assert seen("BE") == [row for row in seen("be") if row in seen("BE")]
    assert all(process[e["pid"]] for e in device if e["pid"] < 1)


@given(st.lists(traces(), min_size=1, max_size=4), st.integers(0, 9))
@settings(max_examples=60, deadline=None)
def test_a_file_cut_off_after_any_piece_has_everything_that_was_added(parts, cut):
    parts = [with_clock(part, 10**18 + 5 * place) for place, part in enumerate(parts)]
    encoder = MxnetEncoder(["cpu/0"])
    text = "".join(encoder.begin())
    added: list[Trace] = []
    for part in parts:
        if len(added) == cut:
            break
        text += "".join(encoder.add(part))
        added.append(part)
    found = load(text.encode(), format="chrome")
    assert [note.code for note in found.health.notes][-1] == "no_end"
    origin = added[0].meta.origin_epoch_ns if added else 0
    shifted = [resolved(part, part.meta.origin_epoch_ns - origin) for part in added]
    expected = [row for rows in shifted for row in rows]
    assert without_order(resolved(found)) == without_order(sorted(expected, key=repr))
    assert len(found.counters) == sum(len(part.counters) for part in added)
    whole = load((text + "".join(encoder.end())).encode())
    assert resolved(whole) == resolved(found)


def without_order(rows):
    """Return events whose tracks do not say how far down they stand: pieces may disagree."""
    return [
        [*row[:9], [value for place, value in enumerate(row[9]) if place != ORDER], *row[10:]]
        for row in rows
    ]


ORDER = [column.name for column in schema.TRACKS.columns].index("order")


def with_clock(trace: Trace, epoch_ns: int) -> Trace:
    """Return a trace whose clock is known, as that of all recorded ones is."""
    return replace(trace, meta=replace(trace.meta, origin_epoch_ns=epoch_ns))


@given(st.integers(1, 10**6))
@settings(max_examples=80)
def test_a_file_cut_off_anywhere_reads_as_what_is_complete_of_it(length):
    content = written(dot_cell())
    head = content.index(b"[") + 1
    found = load(content[: head + length % (len(content) - head)], format="chrome")
    whole = resolved(dot_cell())
    assert all(row in whole for row in resolved(found))
