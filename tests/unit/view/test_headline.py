from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import mxprof_nb
import mxprof_nb.runtime as mx
from mxprof_nb.io import load
from mxprof_nb.record import RecordConfig
from mxprof_nb.trace import Meta, TraceBuilder
from mxprof_nb.view.headline import headline, remarks, sentences
from tests.traces import FILE, MS, dot_cell, empty_cell, ended, many

RECORDED: dict[str, Any] = {"backend": "embedded", "config": RecordConfig().as_dict()}


def texts(trace):
    return [str(sentence) for sentence in sentences(trace)]


def test_the_headline_says_it_all_in_one_line():
    assert headline(dot_cell()) == (
        "412 ms · host waited 371 ms (90 %) in 2 waits · worker 1 busy 92 %, worker 2 busy 3 % · "
        "12 events · recording cost 300 µs (0.1 %)"
    )


def test_each_wait_names_its_line_what_it_waited_for_and_who_queued_that():
    assert texts(dot_cell()) == [
        "Line 9, z.wait_to_read(), waited 204 ms for Convolution, queued on line 8.",
        "Line 7, y.asnumpy(), waited 167 ms for dot, queued on line 3.",
    ]
    assert sentences(dot_cell())[1].window_ns == (1_020.2 * MS, 1_187.4 * MS)


def test_a_failed_cell_says_so_first():
    trace = ended("error", "ValueError: bad shape", pending=2)
    assert headline(trace).startswith("failed after 412 ms · ")
    assert texts(trace)[:2] == [
        "The code failed: ValueError: bad shape. The profile shows what ran until then.",
        "2 operators were still queued or running when recording stopped, and may be missing.",
    ]
    assert len(texts(trace)) == 3, "never more than three sentences"


def test_an_interrupted_cell_says_so():
    trace = ended("interrupted", "KeyboardInterrupt", pending=1)
    assert headline(trace).startswith("interrupted after")
    assert "1 operator was still queued" in texts(trace)[1]


def test_a_cell_that_never_called_the_runtime_says_why_it_is_empty():
    assert headline(empty_cell()) == "2.00 ms · host never waited · 0 events"
    assert texts(empty_cell()) == ["Nothing was recorded: no call into a runtime was made."]


def test_a_run_without_length_divides_by_nothing():
    builder = TraceBuilder(Meta(window_ns=(5, 5), **RECORDED))
    builder.event("mark", track=builder.track("MainThread", role="host"), start_ns=5)
    assert headline(builder.build()) == "0 ns · host never waited · 1 event"


def test_waits_of_a_loop_are_summed_up_by_line():
    (sentence,) = texts(many(2_000))
    assert sentence.startswith("Line 1, y = x * 2, waited ")
    assert " waits, the longest for queued work." in sentence


def test_a_line_of_another_file_names_the_file():
    trace = dot_cell(replace(dot_cell().meta, source_file="other.py"))
    assert texts(trace)[0].startswith(f"Line 9 of {FILE}, z.wait_to_read(),")


def test_waits_left_out_of_the_recording_are_not_called_none():
    trace = dot_cell(replace(dot_cell().meta, config={"api": False}))
    assert texts(trace) == ["Waits were not recorded: API calls were left out."]


def test_many_workers_are_summed_up():
    assert "9 of 9 workers busy, most cpu/0 worker" in headline(many(2_000, tracks=10))


def test_what_was_lost_is_announced_and_told():
    builder = TraceBuilder()
    builder.event("x", track=builder.track("w", role="worker"), start_ns=0, dur_ns=5)
    builder.note("capped", 7, "7 events were dropped: max_events was reached.")
    trace = builder.build()
    assert headline(trace).endswith(" · 1 remark below")
    assert remarks(trace) == ("7 events were dropped: max_events was reached.",)


def dump(*calls):
    """A file of another producer: calls of its API and an operator on a thread of a device."""
    events = [
        f'{{"ph":"X","name":"{name}","cat":"{cat}","ts":{ts},"dur":{dur},"pid":1,"tid":{tid}}}'
        for name, cat, ts, dur, tid in calls
    ]
    names = '{"ph":"M","name":"process_name","pid":1,"args":{"name":"python"}}'
    return load(f"[{','.join([names, *events])}]".encode())


@pytest.mark.parametrize(
    ("name", "cat"),
    [("MXNDArrayWaitAll", "MXNET_C_API"), ("cudaDeviceSynchronize", "cuda_runtime")],
)
def test_a_dump_with_a_long_call_that_waits_is_not_said_never_to_have_waited(name, cat):
    trace = dump((name, cat, 0, 19_000, 1), ("dot", "operator", 0, 5, 2), (name, cat, 20_000, 1, 1))
    assert headline(trace) == "20.0 ms · 3 events"
    assert texts(trace) == [
        "This trace does not say when the host waited.",
        f"The longest call made to wait, {name}, took 19.0 ms.",
    ]


def test_a_trace_of_python_functions_is_not_said_to_hold_nothing_asynchronous():
    trace = dump(("asyncio.run", "fee", 0, 27_000, 1))
    assert texts(trace) == ["This trace does not say when the host waited."]
    assert texts(load(b"[]")) == ["There are no events in this trace."]


def test_a_part_of_a_trace_without_its_waits_does_not_deny_them():
    calls = dot_cell().where(category="api")
    assert "waited" not in headline(calls)
    assert texts(calls)[0] == "This trace does not say when the host waited."


def threads(waiting):
    builder = TraceBuilder(Meta(window_ns=(0, 142 * MS), **RECORDED))
    for number in range(waiting):
        track = builder.track(f"Thread-{number}", role="host")
        builder.event("WaitForVar", track=track, start_ns=0, dur_ns=112 * MS, category="sync")
    return builder.build()


def test_threads_that_waited_at_once_are_no_share_above_100_percent():
    assert (
        headline(threads(3))
        == "142 ms · 3 host threads waited 336 ms in all, in 3 waits · 3 events"
    )
    assert headline(threads(1)) == "142 ms · host waited 112 ms (79 %) in 1 wait · 1 event"


def returned(ms, status="ok"):
    """A cell that queues an operator of 1,600 ms and returns."""
    meta = Meta(window_ns=(0, 1_630 * MS), returned_ns=round(ms * MS), status=status, **RECORDED)
    builder = TraceBuilder(meta)
    host, worker = builder.track("MainThread", role="host"), builder.track("cpu/0", role="worker")
    builder.event("MXImperativeInvokeEx", track=host, start_ns=0, dur_ns=MS, category="api")
    builder.event("dot", track=worker, start_ns=30 * MS, dur_ns=1_600 * MS, category="operator")
    return builder.build()


def test_a_cell_that_only_queues_work_returned_before_the_work_was_done():
    first, *_ = headline(returned(12)).split(" · ")
    assert first == "returned after 12.0 ms; queued work ended at 1.63 s"
    assert "cpu/0 busy 98 %" in headline(returned(12)), "of the whole range"
    assert headline(returned(12, "error")).startswith("failed after 12.0 ms; queued work ended")
    assert headline(returned(12, "interrupted")).startswith("interrupted after 12.0 ms; queued")


def test_work_that_ended_with_the_code_is_not_told_apart():
    assert headline(returned(1_629.999)).startswith("1.63 s · ")


def sleeper(*lines, own=2_100):
    """Calls of 1 ms from the given lines, the second 2.1 s after the first."""
    span = (own + 200) * MS
    builder = TraceBuilder(
        Meta(window_ns=(0, span), returned_ns=span, source_file=FILE, **RECORDED)
    )
    host, worker = builder.track("MainThread", role="host"), builder.track("w", role="worker")
    start = 50 * MS
    for line in lines:
        site = builder.site(FILE, line, "<module>", "y.asnumpy()") if line else -1
        builder.event("f", track=host, start_ns=start, dur_ns=MS, category="api", site=site)
        start += (own + 1) * MS
    builder.event("dot", track=worker, start_ns=0, dur_ns=MS, category="operator")
    return builder.build()


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ((3, 5), "2.10 s passed outside recorded calls, between line 3 and line 5."),
        ((3, 3), "2.10 s passed outside recorded calls, between two on line 3."),
        ((None, 3), "2.10 s passed outside recorded calls, between two of them."),
        ((1, None, 5), "2.10 s passed outside recorded calls, between line 1 and line 5."),
        ((3,), "2.25 s passed outside recorded calls, after line 3."),
        ((None,), "2.25 s passed outside recorded calls, after the last of them."),
    ],
)
def test_a_cell_that_sleeps_says_where_its_own_code_took_the_time(lines, told):
    assert texts(sleeper(*lines)) == [told]


def test_own_code_that_took_less_than_half_of_the_time_is_not_told():
    assert texts(sleeper(3, 4, 5, own=90)) == ["No waits: the host never blocked."]


def loading(*ms, line=3, role="host"):
    """Batches that took so long, in 100 ms; an API call is made in each."""
    meta = Meta(window_ns=(0, 100 * MS), returned_ns=100 * MS, source_file=FILE, **RECORDED)
    builder = TraceBuilder(meta)
    row, start = builder.track("MainThread", role=role), 5 * MS
    site = builder.site(FILE, line, "<module>", "for x in batches:") if line else -1
    for took in ms:
        inside: dict[str, Any] = {"track": row, "start_ns": start, "site": site}
        builder.event("batch", **inside, dur_ns=took * MS, category="io", domain="data loading")
        builder.event("f", **inside, dur_ns=1, category="api")
        start += (took + 1) * MS
    worker = builder.track("w", role="worker")
    builder.event("dot", track=worker, start_ns=0, dur_ns=MS, category="operator")
    return builder.build()


AHEAD = "workers of the DataLoader (num_workers=) would load ahead."


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (3, f"Line 3, for x in batches:, spent 30.0 ms loading 2 batches; {AHEAD}"),
        (0, f"The host spent 30.0 ms loading 2 batches; {AHEAD}"),
    ],
)
def test_loading_data_where_it_is_asked_for_is_told_when_it_took_long(line, told):
    trace = loading(10, 20, line=line)
    assert texts(trace) == [told]
    assert sentences(trace)[0].window_ns == (5 * MS, 36 * MS)
    assert AHEAD not in " ".join(texts(loading(10, 10)))
    assert AHEAD not in " ".join(texts(loading(90, role="data"))), "a worker loads ahead already"
    assert texts(loading(90)) == [
        f"Line 3, for x in batches:, spent 90.0 ms loading 1 batch; {AHEAD}"
    ], "and is not told once more as time outside of calls"


def test_operators_that_ran_within_their_calls_were_not_asynchronous():
    builder = TraceBuilder(Meta(**RECORDED))
    host = builder.track("MainThread", role="host")
    builder.event("MXImperativeInvokeEx", track=host, start_ns=0, dur_ns=9, category="api")
    builder.event("dot", track=host, start_ns=1, dur_ns=5, category="operator")
    assert texts(builder.build())[0].startswith("Each operator ran within the call")


def test_operators_on_threads_of_their_own_did_not_run_within_their_calls():
    builder = TraceBuilder(Meta(**RECORDED))
    host, other = builder.track("MainThread", role="host"), builder.track("custom", role="host")
    name = "MXImperativeInvokeEx"
    for number, at in enumerate((0, 20), 1):
        builder.event(name, track=host, start_ns=at, dur_ns=9, category="api", correlation=number)
    builder.event("f", track=other, start_ns=50, dur_ns=5, category="operator", correlation=2)
    assert "asynchronous" not in " ".join(texts(builder.build()))


def test_an_operator_that_failed_is_told_though_nobody_asked_for_its_result():
    x = mx.nd.arange(3)
    with mxprof_nb.profile() as profile:
        for _ in range(2):
            mx.nd.take(x, mx.nd.array([7]), mode="raise")
    (first, *_) = sentences(profile.trace)
    assert first.text.startswith("take, queued on line ")
    why = "IndexError: position 7 is not in [0, 3) of axis 0"
    assert first.text.endswith(f", failed: {why} (1 more failed).")
    assert first.window_ns is not None
    with pytest.raises(IndexError):
        mx.nd.waitall()  # else it would come in another test
    with pytest.raises(IndexError), mxprof_nb.profile() as profile:
        mx.nd.take(x, mx.nd.array([7]), mode="raise").asnumpy()
    assert profile.trace.meta.status == "error"
    told = texts(profile.trace)
    assert told[0].startswith("The code failed")
    assert not any("failed:" in text for text in told[1:]), "it is told once"


def test_workers_that_load_data_are_asynchronous_though_no_operator_runs():
    builder = TraceBuilder(Meta(**RECORDED))
    host, loader = builder.track("MainThread", role="host"), builder.track("d", role="data")
    builder.event("DataLoader.next", track=host, start_ns=0, dur_ns=9, category="api")
    assert "nothing here was asynchronous" in texts(builder.build())[0]
    builder.event("batch", track=loader, start_ns=0, dur_ns=9, category="io")
    assert "asynchronous" not in " ".join(texts(builder.build()))


def test_operators_left_out_of_the_recording_are_not_said_not_to_have_run():
    meta = Meta(backend="embedded", config=RecordConfig(operators=False).as_dict())
    builder = TraceBuilder(meta)
    builder.track("cpu/0 worker 1", role="worker")
    host = builder.track("MainThread", role="host")
    builder.event("MXImperativeInvokeEx", track=host, start_ns=0, dur_ns=9, category="api")
    trace = builder.build()
    assert texts(trace)[0] == "Operators were not recorded."
    assert "idle" not in headline(trace)


def test_work_that_is_still_queued_is_not_said_not_to_be_asynchronous():
    builder = TraceBuilder(Meta(pending=3, **RECORDED))
    host = builder.track("MainThread", role="host")
    builder.event("MXImperativeInvokeEx", track=host, start_ns=0, dur_ns=9, category="api")
    assert not any("asynchronous" in text for text in texts(builder.build()))


def test_work_that_was_still_queued_is_not_said_to_have_ended():
    meta = replace(dot_cell().meta, status="error", pending=29, returned_ns=1_003 * MS)
    assert headline(dot_cell(meta)).startswith(
        "failed after 3.00 ms; queued work had not ended at 412 ms · "
    )
    done = replace(meta, pending=0)
    assert "; queued work ended at 409 ms · " in headline(dot_cell(done))


def test_what_was_interrupted_after_the_code_is_the_wait():
    meta = replace(dot_cell().meta, status="interrupted", pending=2, returned_ns=1_001 * MS)
    trace = dot_cell(meta)
    assert headline(trace).startswith(
        "returned after 1.00 ms; the wait for queued work was interrupted at 412 ms · "
    )
    assert texts(trace)[0].startswith("The wait for queued work was interrupted.")


def test_code_that_was_interrupted_before_its_work_ended_is_not_said_to_have_returned():
    meta = replace(dot_cell().meta, status="interrupted", returned_ns=1_001 * MS)
    trace = dot_cell(meta)
    assert headline(trace).startswith("interrupted after 1.00 ms; queued work ended at 409 ms · ")
    assert texts(trace)[0].startswith("The code was interrupted.")


def test_events_beyond_the_limit_are_counted_in_the_headline():
    trace = dot_cell()
    capped = replace(trace, health=trace.health.with_note("capped", 1_234, "1,234 not kept."))
    assert " · 12 events, 1,234 more not kept · " in headline(capped)


def test_of_a_worker_whose_records_may_be_those_not_kept_nobody_says_it_was_idle():
    builder = TraceBuilder(Meta(window_ns=(0, 10), **RECORDED))
    builder.track("cpu/0 worker 1", role="worker")
    assert "worker 1 idle" in headline(builder.build())
    builder.note("capped", 7, "7 records were not kept.")
    assert "idle" not in headline(builder.build())
    assert texts(builder.build()) == [
        "Nothing of what ran was kept: there were more records than the limit allows."
    ]


def test_lines_of_a_cell_alone_are_nothing_that_was_recorded():
    builder = TraceBuilder(Meta(window_ns=(0, MS), **RECORDED))
    track = builder.track("cell lines", role="line")
    builder.event("line 1", track=track, start_ns=0, dur_ns=5, category="python")
    assert texts(builder.build()) == ["Nothing was recorded: no call into a runtime was made."]


def test_a_stream_keeps_its_name():
    named = '{"ph":"M","name":"thread_name","pid":0,"tid":7,"args":{"name":"stream 7"}}'
    device = '{"ph":"M","name":"process_name","pid":0,"args":{"name":"GPU 0"}}'
    kernel = '{"ph":"X","cat":"kernel","name":"gemm","ts":0,"dur":5,"pid":0,"tid":7}'
    assert "· stream 7 busy" in headline(load(f"[{named},{device},{kernel}]".encode()))
