"""Real traces of other producers, against values that another program computed from them."""

import csv
import io
import json

import pytest

from mxprof_nb.errors import UnknownFormatError
from mxprof_nb.io import load, save
from mxprof_nb.trace import schema
from mxprof_nb.trace.privacy import private
from tests.environment import ROOT

ANSWERS = ROOT.parent / "shared/traces/answers"
#: Every file in the folder that is JSON, and no trace among them.
ALL = list(json.loads((ANSWERS / "chrome.json").read_text())) if ANSWERS.is_dir() else []
NO_TRACE = "gen-mxnet/mx_profile_all_imperative.aggregate.json"
TRACES = [name for name in ALL if name != NO_TRACE]

#: Where our rules differ from those of the other program, each for a reason:
#: slices that it leaves out and we show, by file. Begins without an end are drawn to the end of
#: the run, because what hangs is what one looks for; Perfetto draws them too. The phase "XXX" is X
#: to Perfetto; and a raw line break in a string stopped the other program, not Perfetto.
SHOWN = {
    "speedscope/sample__profiles__trace-event__end-non-top-of-stack.json": 1,
    "speedscope/sample__profiles__trace-event__not-enough-end-events.json": 2,
    "speedscope/sample__profiles__trace-event__only-begin-events.json": 3,
    "perfetto-difftests/parsing__decimal_timestamp_slices.json": 1,
}
#: Asynchronous ones: a begin without an end, two objects that live from N to the end, seven slices
#: behind the raw line break, three states of threads with a length.
SHOWN_ASYNC = {
    "catapult/tracing__test_data__nestable_async.json": 1,
    "catapult/tracing__test_data__x_event_trace.json": 2,
    "perfetto-difftests/json__json_pid_tid_zero.json": 7,
    "perfetto-difftests/json__json_thread_state_sched.json": 3,
}
#: Samples that stand beside the events.
BESIDE = {
    "speedscope/sample__profiles__trace-event__multi-thread-with-samples.json": 8,
    "speedscope/sample__profiles__trace-event__simple-with-samples.json": 7,
}
#: A duration that is no number is set aside, as Perfetto does; the other program takes it for 0.
SET_ASIDE = {"perfetto-difftests/json__invalid_string_ts_and_dur.json": 1}


@pytest.fixture(scope="session")
def answers(shared_dir):
    return json.loads((shared_dir / "traces/answers/chrome.json").read_text())


def rows_of_kind(trace, *kinds):
    codes = [schema.KINDS.index(kind) for kind in kinds]
    return [row for code in codes for row in (trace.events.kind == code).nonzero()[0]]


@pytest.mark.parametrize("name", TRACES)
def test_counts_names_and_busy_times_agree_with_the_other_program(shared_dir, answers, name):
    from mxprof_nb.analysis import busy_by_track, op_summary

    trace, right = load(shared_dir / "traces" / name), answers[name]
    spans = rows_of_kind(trace, "span")
    shown = SHOWN.get(name, 0)
    assert len(spans) == right["slices"] + shown - SET_ASIDE.get(name, 0)
    twice = trace.meta.extra.get("operators_written_twice", 0)
    asynchronous = len(rows_of_kind(trace, "async"))
    assert asynchronous + twice == right["async"]["pairs"] + SHOWN_ASYNC.get(name, 0)
    points = dict(right["phases"])
    if name in SHOWN_ASYNC:
        points.pop("T", None) if "sched" in name else None
    points["D"] = 0
    expected = sum(points.get(phase, 0) for phase in "iInPTpO") + BESIDE.get(name, 0)
    if name == "catapult/tracing__test_data__x_event_trace.json":
        expected += 2  # objects deleted that were created before the recording
    assert len(rows_of_kind(trace, "instant")) == expected
    if name in SHOWN or name in SET_ASIDE:
        return

    if right["slice_span_us"]:
        first, last = (1000 * edge for edge in right["slice_span_us"])
        events = trace.take(spans).events
        assert events.start_ns.min() == pytest.approx(first, rel=1e-15, abs=1)
        assert events.end_ns.max() == pytest.approx(last, rel=1e-15, abs=1)

    only_spans = op_summary(trace.take(spans)).frame.groupby("name")[["count", "total_ns"]].sum()
    assert len(only_spans) == right["distinct_slice_names"]
    for one in right["top10_by_total_us"]:
        # The other program cut long names off.
        wanted = "" if one["name"] == "None" else one["name"]
        (found,) = [row for full, row in only_spans.iterrows() if str(full)[:160] == wanted]
        assert found["count"] == one["count"]
        assert found["total_ns"] == pytest.approx(one["total_us"] * 1000, abs=1 + one["count"])

    busy = busy_by_track(trace, spans)
    by_ids = {}
    for row, value in enumerate(busy.tolist()):
        pid, tid = (
            trace.strings.text(int(column[row]), "None")
            for column in (trace.tracks.pid_text, trace.tracks.tid_text)
        )
        if value:
            by_ids[f"{pid}/{tid}"] = value
    expected = {ids: us * 1000 for ids, us in right["busy_union_us_per_track"].items() if us}
    assert by_ids.keys() == expected.keys()
    for ids, value in by_ids.items():
        assert value == pytest.approx(expected[ids], rel=1e-9, abs=len(spans))


@pytest.mark.parametrize("name", TRACES)
def test_no_event_of_a_real_file_is_lost_beyond_repair(shared_dir, name):
    health = load(shared_dir / "traces" / name).health
    assert not {"damaged", "too_deep", "too_long", "absurd_time"} & {n.code for n in health.notes}
    for note in health.notes:
        assert note.message.endswith(".")
        assert ":" in note.message  # what, where, and what was done


def test_a_table_of_sums_is_no_trace(shared_dir):
    with pytest.raises(UnknownFormatError, match="sums"):
        load(shared_dir / "traces" / NO_TRACE)


PERFETTO = json.loads((ANSWERS / "perfetto.json").read_text()) if ANSWERS.is_dir() else {}
#: Asks for columns that Perfetto alone has (its tables of states and hints), or shows less: it
#: drops events whose id or category is missing, complete events without a duration, and cuts
#: nothing that we do not; `test_counts_names...` holds ours against the other program.
NOT_SLICES = {"json__json_sort_index_ordering", "json__json_thread_state_sched"}
FEWER = {"json__json_async", "json__json_id2", "json__json_extreme_vals", "json__json_metadata"}
CASES = [
    case
    for case, told in PERFETTO.items()
    if told["file"].endswith(".json") and case.split("::")[1] not in NOT_SLICES | FEWER
]


@pytest.mark.parametrize("case", CASES)
def test_slices_are_those_that_perfetto_expects_of_itself(shared_dir, case):
    told = PERFETTO[case]
    expected = list(
        csv.DictReader(io.StringIO(told["expected_csv"].strip()), skipinitialspace=True)
    )
    trace = load(shared_dir / "traces/perfetto-difftests" / told["file"])
    names = [trace.strings[code] for code in trace.events.name]
    times = zip(trace.events.start_ns.tolist(), trace.events.dur_ns.tolist(), strict=True)
    found = sorted(zip(names, times, strict=True))
    columns = expected[0].keys() if expected else {"name"}
    if {"name", "ts", "dur"} <= columns:
        wanted = sorted((row["name"], (int(row["ts"]), int(row["dur"]))) for row in expected)
        assert found == wanted
    elif "slice_count" in columns:
        assert len(trace) == int(expected[0]["slice_count"])
    elif "name" in columns:
        assert sorted(names) == sorted(row["name"] for row in expected)
    else:
        raise AssertionError(f"nothing was compared: {columns}")


def test_sort_indices_order_processes_and_threads_as_in_perfetto(shared_dir):
    path = shared_dir / "traces/perfetto-difftests/json__json_sort_index_ordering.json"
    tracks = load(path).frame("tracks").sort_values("order")
    assert tracks["pid_text"].tolist() == ["40", "20", "10", "30"]


@pytest.mark.parametrize("name", [name for name in TRACES if name not in SET_ASIDE])
def test_no_foreign_trace_is_said_to_have_waited_or_not(shared_dir, name):
    from mxprof_nb.view.headline import headline, sentences

    trace = load(shared_dir / "traces" / name)
    assert "waited" not in headline(trace)
    told = " ".join(str(sentence) for sentence in sentences(trace))
    assert told.startswith("This trace does not say when the host waited.")
    assert "synchronous" not in told


@pytest.mark.parametrize("name", ["seed1_trace.json", "seed1_trace_twice.json", "custom_imp.json"])
def test_what_mxnet_dumped_is_read_whole(shared_dir, name):
    path = shared_dir / "golden" / "mxnet" / name
    events = json.loads(path.read_text())["traceEvents"]
    phases = [event["ph"] for event in events]
    trace = load(path)
    twice = trace.meta.extra["operators_written_twice"]
    assert len(rows_of_kind(trace, "span")) == phases.count("B") == phases.count("E")
    assert len(rows_of_kind(trace, "async")) == phases.count("b") - twice
    # Only what a custom operator does in Python is in its category alone.
    domain = [trace.strings[code] for code in trace.events.domain]
    alone = [
        trace.strings[int(trace.events.name[row])]
        for row in rows_of_kind(trace, "async")
        if domain[row] in ("operator", "Custom Operator")
    ]
    assert all(one.endswith("::pure_python") for one in alone)
    assert len(trace.counters) == phases.count("C")


@pytest.mark.parametrize(
    "name", ["gen-torch/cnn_full_3steps.json", "gen-mxnet/mx_hybrid_nomem.json"]
)
def test_a_foreign_trace_survives_being_saved_as_ours(shared_dir, tmp_path, name):
    trace = load(shared_dir / "traces" / name)
    save(trace, tmp_path / "again.json.gz", private=False)
    again = load(tmp_path / "again.json.gz")
    for table in ("events", "tracks", "flows", "counters", "args"):
        assert again.frame(table).astype(object).equals(trace.frame(table).astype(object)), table
    assert again.meta == trace.meta


@pytest.mark.parametrize("name", TRACES)
@pytest.mark.parametrize("ending", ["mxprof", "json"])
def test_every_real_trace_is_read_back_from_what_a_person_saves(shared_dir, tmp_path, name, ending):
    if ending == "mxprof":
        pytest.importorskip("pyarrow")
    trace = private(load(shared_dir / "traces" / name))
    save(trace, tmp_path / f"again.{ending}")
    again = load(tmp_path / f"again.{ending}")
    for table in ("events", "tracks", "flows", "counters", "args"):
        assert again.frame(table).astype(object).equals(trace.frame(table).astype(object)), table
    assert again.health == trace.health
