"""The reader of nvprof's databases and CSV."""

import json
from pathlib import Path

import numpy as np
import pytest

from mxprof_nb.errors import CorruptTraceError, LimitExceededError, UnknownFormatError
from mxprof_nb.io import load
from mxprof_nb.io.limits import Limits
from mxprof_nb.io.nvidia import nsys, nvprof
from mxprof_nb.trace import Trace
from tests.nvidia_files import Tables, nsys_database, nvprof_database

GPU_TRACE = """\
==12== NVPROF is profiling process 12, command: python train.py --token=hunter2
epoch 0, loss 1.0, "unfinished
==12== Profiling result:
"Start","Duration","Grid X","Grid Y","Grid Z","Block X","Block Y","Block Z",\
"Registers Per Thread","Static SMem","Dynamic SMem","Size","Throughput","SrcMemType",\
"DstMemType","Device","Context","Stream","Name","Correlation_ID"
ms,us,,,,,,,,KB,B,KB,GB/s,,,,,,,
214.500000,1.500000,,,,,,,,,,7.500000,4.9,"Pageable","Device","Tesla K80 (0)","1","7",\
"[CUDA memcpy HtoD]",109
215.250000,12.250000,16,1,1,256,1,1,32,4.000000,64,,,,,"Tesla K80 (1)","1","13",\
"void f<int, 4>(int*)",110
215.300000,0.750000,,,,,,,,,,0.5,,"","","Tesla K80 (0)","1","7","[CUDA memset]",111
==12== Generated result file: somewhere
"""
COMBINED = """\
"Start","Duration","Grid X","Grid Y","Grid Z","Block X","Block Y","Block Z","Device","Stream","Name"
s,ms,,,,,,,,,
1.0,0.5,,,,,,,,,"cudaLaunchKernel (f(int) [8])"
1.0001,0.1,,,,,,,,,"cuLaunchKernel [9]"
1.002,0.25,4,1,1,64,1,1,"GPU (0)",7,"g(int) [9]"
1.003,2.0,,,,,,,,,"cudaDeviceSynchronize [10]"
"""
SUMMARY = """\
==3== Profiling result:
"Type","Time(%)","Time","Calls","Avg","Min","Max","Name"
,%,ms,,us,us,us,
"GPU activities",60.0,542.36,10,54236.0,1.5,100.0,"void f(int)"
"GPU activities",1.0,1,2,500,400,600,"[CUDA memcpy DtoH]"
"API calls",40.0,300,5,60000,1,100,"cudaMemcpy"
"""
OLD_SUMMARY = """\
Time(%),Time,Calls,Avg,Min,Max,Name
78.10,542.36ms,50,10.847ms,1.2us,20.1ms,"sgemm(float const *, int)"
0.1,1s,1,1s,1s,1s,[CUDA memset]
"""


def details(trace: Trace) -> list[dict[str, object]]:
    """Return the arguments of the events, in order."""
    raw = [int(trace.args.raw[arg]) if arg >= 0 else -1 for arg in trace.events.arg.tolist()]
    return [json.loads(trace.strings[code]) if code >= 0 else {} for code in raw]


def test_a_database_gives_calls_kernels_and_ranges() -> None:
    trace = load(nvprof_database())
    frame = trace.frame().set_index("name")
    assert trace.meta.origin_epoch_ns == 1_500_000_000_000_000_000
    told = frame[["start_ns", "dur_ns", "category"]].astype(str).to_dict("index")
    assert told == {
        "Convolution": {"start_ns": "0", "dur_ns": "500", "category": "user"},
        "Buffer flush": {"start_ns": "1", "dur_ns": "4", "category": "engine"},
        "cudaLaunchKernel": {"start_ns": "100", "dur_ns": "50", "category": "api"},
        "cudaMemcpyAsync": {"start_ns": "160", "dur_ns": "30", "category": "api"},
        "cudaDeviceSynchronize": {"start_ns": "200", "dur_ns": "700", "category": "sync"},
        "_Z4convPf": {"start_ns": "300", "dur_ns": "100", "category": "kernel"},
        "memcpy Host-to-Device": {"start_ns": "420", "dur_ns": "60", "category": "copy"},
        "CUDA runtime call 9999": {"start_ns": "910", "dur_ns": "10", "category": "api"},
    }
    assert frame.loc["Convolution", "track_name"] == "thread -9"
    assert "no_name" in {note.code for note in trace.health.notes}


def test_a_kernel_of_a_database_knows_its_call_its_range_and_its_occupancy() -> None:
    trace = load(nvprof_database())
    (kernel,) = np.flatnonzero(trace.events.name == trace.strings.code("_Z4convPf")).tolist()
    leading = trace.flows.source[trace.flows.target == kernel].tolist()
    names = [trace.strings[trace.events.name[row]] for row in leading]
    assert names == ["cudaLaunchKernel", "Convolution"]
    assert details(trace)[kernel] == {
        "grid": [16, 1, 1],
        "block": [256, 1, 1],
        "registers_per_thread": 32,
        "static_shared_bytes": 0,
        "dynamic_shared_bytes": 0,
        "theoretical_occupancy": 1.0,
        "nvtx_range": "Convolution",
    }


def test_a_correlation_that_two_processes_used_is_not_guessed() -> None:
    tables = Tables()
    call = "cbid start end processId threadId correlationId"
    tables.add("CUPTI_ACTIVITY_KIND_RUNTIME", call, [(211, 1, 2, 5, 5, 8), (211, 1, 2, 6, 6, 8)])
    tables.add("CUPTI_ACTIVITY_KIND_KERNEL", "start end correlationId name",
               [(3, 4, 8, tables.text("f"))])  # fmt: skip
    trace = load(tables.content(("StringTable", "_id_")))
    assert len(trace.flows) == 0
    assert "no_launch" in {note.code for note in trace.health.notes}


def test_ranges_without_end_or_begin_are_told() -> None:
    tables = Tables()
    name = tables.text("a")
    tables.add("CUPTI_ACTIVITY_KIND_MARKER", "flags timestamp id objectKind objectId name domain",
               [(2, 10, 1, 2, b"\1\0\0\0\2\0\0\0", name, 0), (4, 20, 2, 2, None, 0, 0),
                (1, 30, 3, 2, b"odd", name, 0)])  # fmt: skip
    trace = load(tables.content(("StringTable", "_id_")))
    assert trace.events.start_ns.tolist() == [0, 20]
    assert trace.events.dur_ns.tolist() == [20, 0]
    assert {"open_range", "no_begin"} <= {note.code for note in trace.health.notes}


def test_either_reader_takes_a_database_of_the_other(tmp_path: Path) -> None:
    assert nvprof.read(nsys_database()) == nsys.read(nsys_database())
    assert nsys.read(nvprof_database()) == nvprof.read(nvprof_database())
    file = tmp_path / "out.nvvp"
    file.write_bytes(nvprof_database())
    assert len(load(file)) == 8
    assert load(file) == nvprof.read_file(str(file))


def test_a_gpu_trace_is_read_in_its_units_among_banners_and_output() -> None:
    trace = load(GPU_TRACE.encode())
    assert trace.events.start_ns.tolist() == [214_500_000, 215_250_000, 215_300_000]
    assert trace.events.dur_ns.tolist() == [1_500, 12_250, 750]
    assert trace.frame()["category"].tolist() == ["copy", "kernel", "memory"]
    assert trace.frame()["track_name"].tolist() == [
        "gpu/0 stream 7", "gpu/1 stream 13", "gpu/0 stream 7",
    ]  # fmt: skip
    assert trace.args.bytes[trace.events.arg].tolist() == [7_680, -1, 512]
    assert details(trace)[1] == {
        "grid": [16, 1, 1],
        "block": [256, 1, 1],
        "registers_per_thread": 32,
        "static_shared_bytes": 4_096,
        "dynamic_shared_bytes": 64,
    }
    assert trace.health.ok
    assert "hunter2" not in "\n".join(trace.strings) + repr(trace.meta)


def test_calls_and_kernels_of_one_trace_are_joined() -> None:
    trace = load(COMBINED.encode())
    names = [trace.strings[code] for code in trace.events.name.tolist()]
    assert names == [
        "cudaLaunchKernel (f(int) [8])", "cuLaunchKernel", "g(int)", "cudaDeviceSynchronize",
    ]  # fmt: skip
    assert (trace.flows.source.tolist(), trace.flows.target.tolist()) == ([1], [2])
    assert trace.frame()["domain"].tolist() == [
        "cuda_runtime", "cuda_driver", "kernel", "cuda_runtime",
    ]  # fmt: skip
    assert trace.frame()["category"].tolist() == ["api", "api", "kernel", "sync"]


def test_a_summary_shows_totals_and_says_that_it_has_no_times() -> None:
    trace = load(SUMMARY.encode())
    told = trace.frame().groupby("track_name", observed=True)["dur_ns"].agg(list).to_dict()
    assert told == {"GPU activities": [542_360_000, 1_000_000], "API calls": [300_000_000]}
    calls = {"calls": 10, "average_ns": 54_236_000, "min_ns": 1_500, "max_ns": 100_000}
    assert calls in details(trace)
    (note,) = trace.health.notes
    assert (note.code, note.count) == ("no_start", 3)
    assert "tells no times" in note.message


def test_an_old_summary_has_its_units_behind_the_numbers() -> None:
    trace = load(OLD_SUMMARY.encode())
    assert sorted(trace.events.dur_ns.tolist()) == [542_360_000, 10**9]
    assert details(trace)[0]["average_ns"] == 10_847_000


def test_rows_without_a_start_are_counted() -> None:
    text = GPU_TRACE.replace("215.250000", "soon").replace("214.500000", "9" * 70)
    trace = load(text.encode())
    assert len(trace) == 1
    assert sum(note.count for note in trace.health.notes if note.code == "no_time") == 2


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_files_of_windows_are_read(encoding: str) -> None:
    content = GPU_TRACE.replace("\n", "\r\n").encode(encoding)
    assert len(load(content, format="nvprof")) == 3


def test_a_text_without_a_table_says_how_to_make_one() -> None:
    with pytest.raises(UnknownFormatError, match="--print-gpu-trace"):
        load(b"==1== NVPROF is profiling process 1\nnothing\n", format="nvprof")


def test_a_line_beyond_the_limits_is_refused() -> None:
    with pytest.raises(LimitExceededError):
        load(GPU_TRACE.encode(), limits=Limits(string_bytes=50))
    with pytest.raises(LimitExceededError):
        load(GPU_TRACE.encode(), limits=Limits(events=2))


def test_a_damaged_database_is_an_error_that_says_so() -> None:
    with pytest.raises(CorruptTraceError, match="cannot be read"):
        load(nvprof_database()[:5_000])
