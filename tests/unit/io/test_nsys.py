"""The reader of Nsight Systems databases, on made files of each schema and on real ones."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mxprof_nb.errors import CorruptTraceError, LimitExceededError, UnknownFormatError
from mxprof_nb.io import load, save
from mxprof_nb.io.limits import Limits
from mxprof_nb.io.nvidia import nsys
from mxprof_nb.trace import Trace
from mxprof_nb.trace.schema import FLOW_KINDS
from tests.nvidia_files import (
    SECRETS,
    VERSIONS,
    Tables,
    global_pid,
    global_tid,
    nsys_database,
    versioned,
)

KERNEL = "CUPTI_ACTIVITY_KIND_KERNEL"
RUNTIME = "CUPTI_ACTIVITY_KIND_RUNTIME"


def details(trace: Trace, row: int) -> dict[str, object]:
    """Return the arguments of an event."""
    arg = int(trace.events.arg[row])
    told: dict[str, object] = json.loads(trace.strings[trace.args.raw[arg]]) if arg >= 0 else {}
    return told


def named(trace: Trace, name: str) -> int:
    """Return the row of the one event of a name."""
    (row,) = np.flatnonzero(trace.events.name == trace.strings.code(name)).tolist()
    return int(row)


def codes(trace: Trace) -> set[str]:
    return {note.code for note in trace.health.notes}


def sources(trace: Trace, name: str, kind: str = "launch") -> list[int]:
    """Return the rows that lead to an event."""
    flows = trace.flows
    chosen = (flows.target == named(trace, name)) & (flows.kind == FLOW_KINDS.index(kind))
    rows: list[int] = flows.source[chosen].tolist()
    return rows


def launched_by(trace: Trace, name: str) -> list[str]:
    """Return the names of what launched an event."""
    return [trace.strings[trace.events.name[row]] for row in sources(trace, name)]


def with_rows(table: str, columns: str, rows: Sequence[tuple[object, ...]]) -> bytes:
    """Return a database of one table of events."""
    tables = versioned("3.24.14")
    tables.add(table, columns, rows)
    return tables.content()


@pytest.mark.parametrize("version", VERSIONS)
def test_every_schema_gives_the_same_step(version: str) -> None:
    trace = load(nsys_database(version))
    kernels = trace.where(category="kernel").events
    assert len(kernels) == 7
    assert int(kernels.dur_ns.sum()) == 100 + 100 + 200 + 90 + 90 + 50 + 10
    assert trace.meta.origin_epoch_ns == 1_700_000_000_000_000_000
    assert trace.meta.versions["export schema"] == version
    assert len(trace.where(domain=("cuda_runtime", "cuda_driver"))) == 8


def test_kernels_are_joined_to_launches_within_their_process_only() -> None:
    trace = load(nsys_database())
    launch = named(trace, "other_process()")
    (source,) = sources(trace, "other_process()")
    assert trace.events.start_ns[source] == 1_700
    ours = named(trace, "conv_forward(float*)")
    (source,) = sources(trace, "conv_forward(float*)")
    assert trace.events.start_ns[source] == 1_100
    assert trace.events.queued_ns[ours] == 1_100
    assert trace.events.correlation[ours] != trace.events.correlation[launch]


def test_one_launch_of_a_graph_leads_to_all_its_kernels() -> None:
    trace = load(nsys_database())
    for name, node in (("graph_a()", 11), ("graph_b()", 12)):
        assert launched_by(trace, name) == ["cudaGraphLaunch_v10000"]
        assert details(trace, named(trace, name))["graph_node"] == node


def test_a_kernel_without_launch_is_kept_and_counted() -> None:
    trace = load(nsys_database())
    assert launched_by(trace, "before_recording()") == []
    (note,) = [note for note in trace.health.notes if note.code == "no_launch"]
    assert note.count == 1
    assert "of 7 kernels" in note.message


def test_a_backward_convolution_shows_its_kernels() -> None:
    trace = load(nsys_database())
    told = {
        name: details(trace, named(trace, name)).get("nvtx_range")
        for name in (
            "conv_forward(float*)",
            "conv_data(float*)",
            "conv_weight(float*)",
            "graph_a()",
        )
    }
    assert told == {
        "conv_forward(float*)": "Convolution",
        "conv_data(float*)": "_backward_Convolution",
        "conv_weight(float*)": "_backward_Convolution",
        "graph_a()": "step",
    }
    (call,) = sources(trace, "conv_weight(float*)")
    backward = named(trace, "_backward_Convolution")
    assert int(trace.events.parent[call]) == backward
    shown = trace.flows.target[trace.flows.source == backward].tolist()
    assert shown == [named(trace, "conv_data(float*)"), named(trace, "conv_weight(float*)")]


def test_kernels_keep_what_they_were_launched_with() -> None:
    trace = load(nsys_database())
    assert details(trace, named(trace, "conv_data(float*)")) == {
        "grid": [4, 1, 1],
        "block": [256, 1, 1],
        "registers_per_thread": 64,
        "static_shared_bytes": 1024,
        "dynamic_shared_bytes": 0,
        "theoretical_occupancy": 0.5,
        "nvtx_range": "_backward_Convolution",
    }
    copy = named(trace, "memcpy Device-to-Host")
    assert details(trace, copy) == {
        "copy_kind": "Device-to-Host",
        "source": "Device",
        "target": "Pinned",
        "nvtx_range": "step",
    }
    assert trace.args.bytes[trace.events.arg[copy]] == 4096


def test_a_wait_of_the_device_stands_in_the_call_that_waits() -> None:
    trace = load(nsys_database())
    frame = trace.frame().set_index("name")
    wait = frame.loc["Context sync"]
    assert wait["track_name"] == frame.loc["cudaDeviceSynchronize_v3020", "track_name"]
    assert (wait["kind"], wait["category"], wait["dur_ns"]) == ("async", "engine", 930)
    lost = with_rows("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "start end deviceId streamId syncType",
                     [(1, 5, 0, 7, 3)])  # fmt: skip
    assert load(lost).frame()["track_name"].tolist() == ["gpu/0 stream 7 waits"]


def test_ranges_have_their_domain_category_and_payload() -> None:
    trace = load(nsys_database())
    frame = trace.frame().set_index("name")
    assert frame.loc["batch", "domain"] == "NVTX/Loader"
    assert frame.loc["step", "domain"] == "NVTX"
    assert details(trace, named(trace, "step")) == {"nvtx_category": "epochs", "payload": 42}
    assert details(trace, named(trace, "batch")) == {"payload_text": '{"rows": 8}'}
    assert frame.loc["epoch end", "kind"] == "instant"
    assert frame.loc["step", "track_name"] == "trainer"
    assert frame.loc["Convolution", "track_name"] == "engine worker"


def test_a_range_that_was_never_popped_lasts_until_the_end() -> None:
    trace = load(nsys_database())
    row = named(trace, "never popped")
    assert trace.events.start_ns[row] + trace.events.dur_ns[row] == 2_600
    assert "open_range" in codes(trace)


def test_start_end_ranges_that_overlap_are_free_intervals() -> None:
    thread = global_tid(7, 7)
    content = with_rows(
        "NVTX_EVENTS",
        "start end eventType text globalTid endGlobalTid",
        [(0, 100, 60, "a", thread, thread), (50, 150, 60, "b", thread, thread),
         (10, 20, 60, "c", thread, thread), (10, 20, 60, "elsewhere", thread, thread + 1)],
    )  # fmt: skip
    frame = load(content).frame().set_index("name")
    assert frame["kind"].to_dict() == {
        "a": "span", "b": "async", "c": "span", "elsewhere": "async",
    }  # fmt: skip


def test_what_is_not_shown_is_counted() -> None:
    trace = load(nsys_database())
    (note,) = [note for note in trace.health.notes if note.code == "passed_over"]
    assert note.count == 2
    assert "MPI" in note.message
    assert "The profiler's warning: Some events were dropped." in str(trace.health)
    assert "Started." not in str(trace.health)


def test_environment_output_and_command_lines_never_reach_the_trace() -> None:
    trace = load(nsys_database())
    everything = "\n".join([*trace.strings, repr(trace.meta), str(trace.health)])
    for secret in (*SECRETS, "GPU-1234", "alice"):
        assert secret not in everything
    assert "python" in trace.strings


def test_the_file_is_not_touched(tmp_path: Path) -> None:
    file = tmp_path / "report.sqlite"
    file.write_bytes(nsys_database())
    before = file.read_bytes()
    file.chmod(0o400)
    trace = load(file)
    assert trace.meta.title == "report.sqlite"
    assert file.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["report.sqlite"]


def test_a_path_and_bytes_give_the_same_trace(tmp_path: Path) -> None:
    file = tmp_path / "a report #1?.sqlite"
    file.write_bytes(nsys_database())
    assert load(file) == nsys.read(file.read_bytes(), path=str(file))


def test_a_database_with_a_write_ahead_log_is_read(tmp_path: Path) -> None:
    content = bytearray(nsys_database())
    content[18:20] = b"\x02\x02"
    assert len(load(bytes(content)).where(category="kernel")) == 7
    file = tmp_path / "report.sqlite"
    file.write_bytes(content)
    assert "log" not in codes(load(file))
    (tmp_path / "report.sqlite-wal").write_bytes(b"changes")
    trace = load(file)
    assert len(trace.where(category="kernel")) == 7
    assert "log" in codes(trace)
    assert len(list(tmp_path.iterdir())) == 2


def test_it_comes_back_from_a_chrome_trace(tmp_path: Path) -> None:
    trace = load(nsys_database())
    save(trace, tmp_path / "t.json", private=False)
    assert load(tmp_path / "t.json") == trace


def test_allocations_become_a_counter_of_each_process_and_device() -> None:
    columns = "start globalPid deviceId bytes memoryOperationType"
    one, other = global_pid(1), global_pid(2)
    rows = [(30, one, 0, 5, 1), (10, one, 0, 8, 0), (20, other, 0, 4, 0), (40, other, 0, 6, 1),
            (50, one, 0, 1, 7)]  # fmt: skip
    trace = load(with_rows("CUDA_GPU_MEMORY_USAGE_EVENTS", columns, rows))
    told = trace.frame("counters").groupby("track")[["time_ns", "value"]].agg(list)
    assert told.to_numpy().tolist() == [[[10, 30], [8.0, 3.0]], [[20, 40], [6.0, 0.0]]]
    assert set(trace.frame("counters")["unit"]) == {"B"}
    assert [note.code for note in trace.health.notes] == ["no_time"]


def test_a_graph_traced_as_a_whole_is_one_span_of_its_launch() -> None:
    tables = versioned("3.24.14")
    process, thread = global_pid(1), global_tid(1, 1)
    tables.add("CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
               "start end deviceId contextId streamId correlationId globalPid graphId",
               [(10, 90, 0, 1, 7, 3, process, 5)])  # fmt: skip
    tables.add(RUNTIME, "start end globalTid correlationId nameId eventClass",
               [(1, 5, thread, 3, tables.text("cudaGraphLaunch"), 0)])  # fmt: skip
    trace = load(tables.content())
    assert launched_by(trace, "CUDA graph 5") == ["cudaGraphLaunch"]
    assert trace.events.dur_ns[named(trace, "CUDA graph 5")] == 80


# What is wrong in a file


def test_cells_of_another_type_are_left_empty_and_counted() -> None:
    content = with_rows(
        KERNEL,
        "start end deviceId streamId demangledName globalPid",
        [(10, 20, 0, 7, None, 1), ("soon", 40, 0, 7, None, 1), (b"\x00", 5, 0, 7, None, 1),
         (50, 60, 1.5, "x", "y", 1)],
    )  # fmt: skip
    trace = load(content)
    assert trace.events.start_ns.tolist() == [10, 50]
    assert {"wrong_type", "no_time"} <= codes(trace)


def test_a_table_without_a_column_is_read_without_it() -> None:
    trace = load(with_rows(KERNEL, "start end", [(1, 2), (3, 4)]))
    assert trace.events.dur_ns.tolist() == [1, 1]
    assert {trace.strings[code] for code in trace.events.name.tolist()} == {"(unnamed)"}


def test_a_table_without_starts_is_counted() -> None:
    trace = load(with_rows(KERNEL, "end deviceId", [(1, 2), (3, 4)]))
    (note,) = trace.health.notes
    assert (note.code, note.count) == ("no_column", 2)


def test_an_end_before_the_start_is_a_moment() -> None:
    trace = load(with_rows(RUNTIME, "start end globalTid nameId", [(10, 5, 1, 1)]))
    assert trace.events.dur_ns.tolist() == [0]
    assert "no_end" in codes(trace)


def test_absurd_times_are_set_aside() -> None:
    rows = [(2**63 - 1, 2**63 - 1, 1, 1), (-(2**63) + 1, 0, 1, 1), (5, 2**63 - 1, 1, 1)]
    trace = load(with_rows(RUNTIME, "start end globalTid nameId", rows))
    assert trace.events.start_ns.tolist() == [5]
    assert trace.events.dur_ns.tolist() == [0]


def test_a_view_in_place_of_a_table_is_not_run() -> None:
    tables = versioned("3.24.14")
    tables.run(
        f"CREATE VIEW {KERNEL} AS WITH RECURSIVE n(start) AS "
        "(SELECT 1 UNION ALL SELECT start + 1 FROM n) SELECT start, start AS end FROM n"
    )
    trace = load(tables.content())
    assert len(trace) == 0
    assert "view" in codes(trace)


def test_a_generated_column_is_no_column() -> None:
    tables = versioned("3.24.14")
    tables.run(f"CREATE TABLE {KERNEL} (start, end AS (start + length(hex(zeroblob(1000000)))))")
    tables.run(f"INSERT INTO {KERNEL} (start) VALUES (1)")
    assert load(tables.content()).events.dur_ns.tolist() == [0]


def test_a_name_of_the_size_of_the_file_is_cut() -> None:
    tables = versioned("3.24.14")
    number = tables.text("x" * 2_000_000)
    tables.add(KERNEL, "start end demangledName", [(1, 2, number)])
    trace = load(tables.content())
    assert max(map(len, trace.strings)) == 65_536


def test_reading_ends_when_it_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mxprof_nb.io.nvidia.database._SECONDS", -1_000)
    monkeypatch.setattr("mxprof_nb.io.nvidia.database._OPERATIONS_PER_LOOK", 10)
    with pytest.raises(LimitExceededError, match="far longer"):
        load(nsys_database())


def test_more_rows_than_allowed_are_refused() -> None:
    with pytest.raises(LimitExceededError, match="more than 3 rows"):
        load(nsys_database(), limits=Limits(rows=3))
    with pytest.raises(LimitExceededError, match="more than 5 events"):
        load(nsys_database(), limits=Limits(events=5))


@pytest.mark.parametrize("keep", [16, 100, 1_000, 4_096, 9_000])
def test_a_truncated_database_is_an_error_that_says_so(keep: int) -> None:
    with pytest.raises(CorruptTraceError, match="cannot be read"):
        load(nsys_database()[:keep])


def test_a_damaged_name_in_the_schema_is_an_error_that_says_so() -> None:
    content = nsys_database().replace(b'CREATE TABLE "StringIds"', b'CREATE TAXLE "String\xc8ds"')
    with pytest.raises(CorruptTraceError, match="cannot be read"):
        load(content)


def test_a_cell_of_absurd_length_is_an_error_that_says_so() -> None:
    content = bytearray(nsys_database())
    at = content.index(b"tableStringIds") - 8  # lengths and types of the cells of its row
    content[at : at + 7] = b"\xff" * 7
    with pytest.raises(CorruptTraceError, match=r"length is damaged|cannot be read"):
        load(bytes(content))


def test_pages_that_lead_in_circles_are_an_error_that_says_so() -> None:
    tables = versioned("3.24.14")
    tables.add(KERNEL, "start end", [(number, number + 1) for number in range(500)])
    content = bytearray(tables.content())
    (root,) = [
        at for at in range(512, len(content), 512) if content[at] == 5
    ]  # the one page of pages
    own = (root // 512 + 1).to_bytes(4, "big")
    content[root + 8 : root + 12] = own  # its last child is itself
    with pytest.raises(CorruptTraceError):
        load(bytes(content))


def test_more_rows_than_fit_the_file_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mxprof_nb.io.nvidia.database._ROW_BYTES", 4_000)
    with pytest.raises(CorruptTraceError, match="more rows than fit the file"):
        load(nsys_database())


def test_another_database_is_an_error_that_names_its_tables() -> None:
    tables = Tables()
    tables.add("bookmarks", "url", [("x",)])
    with pytest.raises(UnknownFormatError, match="it has tables bookmarks"):
        load(tables.content(None))


@pytest.mark.parametrize(("name", "remedy"), [("a.nsys-rep", "nsys export"), ("a.ncu-rep", "ncu ")])
def test_a_report_says_how_to_export_it(tmp_path: Path, name: str, remedy: str) -> None:
    file = tmp_path / name
    file.write_bytes(b"NVR\x00\x01binary")
    with pytest.raises(UnknownFormatError, match=remedy):
        load(file)


def test_a_schema_of_the_future_is_told_and_read() -> None:
    tables = versioned("9.1.0")
    tables.add(KERNEL, "start end globalPid", [(1, 2, global_pid(3))])
    trace = load(tables.content())
    assert len(trace) == 1
    assert "schema" in codes(trace)


# Real files


@pytest.fixture(scope="module")
def answers(shared_dir: Path) -> dict[str, dict[str, Any]]:
    told: dict[str, dict[str, Any]] = json.loads(
        (shared_dir / "traces/answers/nvidia.json").read_text()
    )
    return told


REAL = [
    "nsys/pipit-saxpy-mpi-cuda_nsys_perlmutter0.sqlite",
    "nsys/tests__fixtures__mock.sqlite",
]


@pytest.mark.parametrize("name", REAL)
def test_sums_of_real_files_are_those_of_sql(
    shared_dir: Path, answers: dict[str, dict[str, Any]], name: str
) -> None:
    trace = load(shared_dir / "traces" / name)
    frame = trace.frame()
    right = answers[name]

    def top(rows: Any, length: int, width: int = 10_000) -> list[list[object]]:
        by = rows.groupby(rows["name"].astype(str).str[:width])["dur_ns"].agg(["count", "sum"])
        by = by.sort_values("sum", ascending=False)[:length]
        return [[name, row["count"], row["sum"]] for name, row in by.iterrows()]

    assert trace.meta.versions["Nsight Systems"] == right["meta"]["EXPORT_PRODUCT_VERSION"]
    assert trace.meta.versions["export schema"] == right["meta"]["EXPORT_SCHEMA_VERSION"]
    kernels = frame[frame["domain"] == "kernel"]
    assert len(kernels) == right["kernels"]
    assert kernels["dur_ns"].sum() == right["kernel_total_ns"]
    assert top(kernels, 10, 120) == right["kernel_top10_ns"]
    ends = kernels["start_ns"] + kernels["dur_ns"]
    assert [kernels["start_ns"].min(), ends.max()] == right["kernel_span_ns"]
    busy = kernels.groupby("track_name", observed=True)["dur_ns"].sum().to_dict()
    wanted = right["kernel_busy_union_ns_per_dev_stream"]
    assert {f"gpu/{key.replace('/', ' stream ')}": value for key, value in wanted.items()} == busy
    targets = set(trace.flows.target.tolist())
    assert len(targets & set(kernels.index)) == right["kernels_with_runtime_launch"]
    calls = frame[frame["domain"].isin(["cuda_runtime", "cuda_driver", "cuda_backtrace"])]
    assert len(calls) == right["runtime_calls"]
    assert top(calls, 5) == right["runtime_top5_ns"]
    (thread,) = right["runtime_threads"]
    tracks = trace.frame("tracks").loc[calls["track"].unique()]
    assert tracks[["pid_text", "tid_text"]].astype(int).values.tolist() == [thread[1:3]]
    copies = frame[frame["domain"] == "gpu_memcpy"]
    size = trace.args.bytes[trace.events.arg[copies.index]]
    kinds = {"memcpy Host-to-Device": "1", "memcpy Device-to-Host": "2"}
    by_kind = {
        kinds[str(name)]: [len(rows), int(size[copies["name"] == name].sum()), rows["dur_ns"].sum()]
        for name, rows in copies.groupby("name", observed=True)
    }
    assert by_kind == right["memcpy_by_kind"]
    assert len(frame[frame["domain"] == "gpu_wait"]) == right["CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"]
    ranges = frame[frame["category"] == "user"]
    assert top(ranges, 5) == right.get("nvtx_top5", [])
    counted = {note.message.split()[4]: note.count for note in trace.health.notes
               if note.code == "passed_over"}  # fmt: skip
    for table in ("SCHED_EVENTS", "COMPOSITE_EVENTS"):
        assert counted.get(table, 0) == right.get(table, 0)


def test_as_many_processes_as_rows_take_no_longer_than_a_few() -> None:
    columns = "start end globalPid correlationId deviceId bytes memoryOperationType"
    rows = [(number, number + 1, number << 24, 1, 0, 8, 0) for number in range(5_000)]
    tables = versioned("3.24.14")
    for table in (KERNEL, "CUDA_GPU_MEMORY_USAGE_EVENTS"):
        tables.add(table, columns, rows)
    trace = load(tables.content())
    assert len(trace) == len(trace.counters) == 5_000
    assert len(trace.tracks) == 10_000
