"""Real traces of other producers, against values that another program computed from them."""

import json

import pytest

from mxprof_nb.errors import CorruptTraceError
from mxprof_nb.io import load, save
from mxprof_nb.trace import schema

#: Well-formed files; what is malformed on purpose belongs to tests of repairs.
WELL_FORMED = [
    "catapult/tracing__test_data__big_trace.json",
    "catapult/tracing__test_data__flow_simple.json",
    "catapult/tracing__test_data__instance_counters.json",
    "catapult/tracing__test_data__instant_events.json",
    "catapult/tracing__test_data__nanoseconds.json",
    "catapult/tracing__test_data__trivial_trace.json",
    "gen-jax/mlp_steps/plugins/profile/2026_11_30_08_08_41/perfetto_trace.json.gz",
    "gen-jax/mlp_steps/plugins/profile/2026_11_30_08_08_41/vm.trace.json.gz",
    "gen-mxnet/mx_hybrid_nomem.json",
    "gen-mxnet/mx_profile_all_imperative.json",
    "gen-torch/cnn_full_3steps.json",
    "gen-torch/cnn_plain_1step.json",
    "gen-torch/transformer_shapes_3steps.json.gz",
    "gen-viztracer/asyncio_log_async.json",
    "gen-viztracer/sparse_maxstack.json",
    "hta/tests__data__amd_trace__mi250_minitoy_train_ROCm6_2_kineto.json.gz",
    "hta/tests__data__critical_path__cuda_event_sync__event_sync_trace.json.gz",
    "hta/tests__data__critical_path__end_to_end__simple_add__input__trace.json.gz",
    "hta/tests__data__cpu_only__rank-34.Jul_15_10_52_41.1074.pt.trace.json.gz",
    "hta/tests__data__trace_compare__base__base.json.gz",
    "hta/tests__data__triton_example__triton_example.json.gz",
    "mxnet/data_copy_bottleneck__cpu_gpu_data_copy_profiler_output.json",
    "perfetto-difftests/json__json_async.json",
    "perfetto-difftests/json__json_id2.json",
    "perfetto-difftests/json__json_id2_local_string_id.json",
    "perfetto-difftests/json__json_sort_index_ordering.json",
    "perfetto-difftests/json__overlapping_complete_event_recovered.json",
    "perfetto-difftests/json__x_event_order.json",
    "perfetto-difftests/parsing__same_ts_two_zero_duration_slice_nesting.json",
    "speedscope/sample__profiles__trace-event__bex-interaction.json",
    "speedscope/sample__profiles__trace-event__hermes-multiple-frames.json",
    "speedscope/sample__profiles__trace-event__invalid-x-nesting.json",
    "speedscope/sample__profiles__trace-event__matching-x.json",
    "speedscope/sample__profiles__trace-event__multiprocess.json",
    "speedscope/sample__profiles__trace-event__must-retain-original-order.json",
    "speedscope/sample__profiles__trace-event__out-of-order.json",
    "speedscope/sample__profiles__trace-event__simultaneous-anonymous-calls.json",
    "speedscope/sample__profiles__trace-event__x-events-matching-start.json",
]
MALFORMED = {
    "catapult/tracing__test_data__nestable_async.json": "no end",
    "answers/torch_cnn_plain_1step.key_averages.json": "no Chrome trace",
    "perfetto-difftests/json__json_trailing_comma.json": "trailing comma",
    "perfetto-difftests/json__invalid_string_ts_and_dur.json": "field 'ts'",
    "speedscope/sample__profiles__trace-event__mismatched-name.json": "meets the begin",
    "speedscope/sample__profiles__trace-event__only-begin-events.json": "no end",
    "speedscope/sample__profiles__trace-event__simple-partial.json": "ends in the middle",
    "speedscope/sample__profiles__trace-event__too-many-end-events.json": "no begin",
}


@pytest.fixture(scope="session")
def answers(shared_dir):
    return json.loads((shared_dir / "traces/answers/chrome.json").read_text())


def rows_of_kind(trace, *kinds):
    codes = [schema.KINDS.index(kind) for kind in kinds]
    return [row for code in codes for row in (trace.events.kind == code).nonzero()[0]]


@pytest.mark.parametrize("name", WELL_FORMED)
def test_counts_names_and_busy_times_agree_with_the_other_program(shared_dir, answers, name):
    from mxprof_nb.analysis import busy_by_track, op_summary

    trace, right = load(shared_dir / "traces" / name), answers[name]
    spans = rows_of_kind(trace, "span")
    assert len(spans) == right["slices"]
    assert len(rows_of_kind(trace, "async")) == right["async"]["pairs"]
    phases = right["phases"]
    assert len(rows_of_kind(trace, "instant")) == sum(phases.get(p, 0) for p in "iIn")

    only_spans = op_summary(trace.take(spans)).frame.groupby("name")[["count", "total_ns"]].sum()
    assert len(only_spans) == right["distinct_slice_names"]
    for one in right["top10_by_total_us"]:
        # The other program cut long names off.
        (found,) = [row for full, row in only_spans.iterrows() if str(full)[:160] == one["name"]]
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


@pytest.mark.parametrize("name", WELL_FORMED)
def test_no_foreign_trace_is_said_to_have_waited_or_not(shared_dir, name):
    from mxprof_nb.view.headline import headline, sentences

    trace = load(shared_dir / "traces" / name)
    assert "waited" not in headline(trace)
    told = " ".join(str(sentence) for sentence in sentences(trace))
    assert told.startswith("This trace does not say when the host waited.")
    assert "synchronous" not in told


@pytest.mark.parametrize(("name", "problem"), MALFORMED.items())
def test_malformed_files_are_refused_by_name_and_problem(shared_dir, name, problem):
    with pytest.raises(CorruptTraceError, match=problem) as caught:
        load(shared_dir / "traces" / name)
    assert name.rsplit("/", 1)[1] in str(caught.value)


@pytest.mark.parametrize(
    ("name", "codes"),
    [
        (
            "catapult/tracing__test_data__x_event_trace.json",
            {"'D'": 2, "'F'": 53, "'N'": 2, "'S'": 53, "'T'": 124},
        ),
        (
            "gen-jax/mlp_steps/plugins/profile/2026_11_30_08_08_41/vm.trace.json.gz",
            {"without a phase": 1},
        ),
        (
            "hta/tests__data__critical_path__cuda_event_sync__event_sync_trace.json.gz",
            {"have no begin": 7},
        ),
    ],
)
def test_what_is_left_out_of_a_file_is_counted_by_kind(shared_dir, name, codes):
    notes = load(shared_dir / "traces" / name).health.notes
    for (told, count), note in zip(codes.items(), notes, strict=True):
        assert told in note.message
        assert note.count == count


@pytest.mark.parametrize("name", ["seed1_trace.json", "seed1_trace_twice.json", "custom_imp.json"])
def test_what_mxnet_dumped_is_read_whole(shared_dir, name):
    path = shared_dir / "golden" / "mxnet" / name
    events = json.loads(path.read_text())["traceEvents"]
    phases = [event["ph"] for event in events]
    trace = load(path)
    assert len(rows_of_kind(trace, "span")) == phases.count("B") == phases.count("E")
    assert len(rows_of_kind(trace, "async")) == phases.count("b") == phases.count("e")
    assert len(trace.counters) == phases.count("C")
    assert sum(trace.events.dur_ns) == 1000 * sum(
        event["ts"] * (1 if event["ph"] in "Ee" else -1)
        for event in events
        if event["ph"] in "BEbe"
    )


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
