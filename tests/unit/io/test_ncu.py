"""The reader of Nsight Compute's CSV."""

import json

import pytest

from mxprof_nb.errors import UnknownFormatError
from mxprof_nb.io import load
from mxprof_nb.trace import Trace
from mxprof_nb.trace.privacy import private

DETAILS = """\
==PROF== Connected to process 5 (/usr/bin/python3.10)
step 1, loss 2
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size",\
"Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value","Rule Name",\
"Rule Type","Rule Description"
"0","5","python3.10","box.example","gemm(float*, int)","1","7","(128, 1, 1)","(5, 2, 1)","0",\
"10.0","GPU Speed Of Light Throughput","Elapsed Cycles","cycle","5,156,128"
"0","5","python3.10","box.example","gemm(float*, int)","1","7","(128, 1, 1)","(5, 2, 1)","0",\
"10.0","GPU Speed Of Light Throughput","Duration","us","2,500.75"
"0","5","python3.10","box.example","gemm(float*, int)","1","7","(128, 1, 1)","(5, 2, 1)","0",\
"10.0","Launch Statistics","Registers Per Thread","register/thread","32","","",""
"0","5","python3.10","box.example","gemm(float*, int)","1","7","(128, 1, 1)","(5, 2, 1)","0",\
"10.0","Launch Statistics","Static Shared Memory Per Block","Kbyte/block","1.5","","",""
"0","5","python3.10","box.example","gemm(float*, int)","1","7","(128, 1, 1)","(5, 2, 1)","0",\
"10.0","Occupancy","Theoretical Occupancy","%","37.50","","",""
"0","5","python3.10","box.example","gemm(float*, int)","1","7","(128, 1, 1)","(5, 2, 1)","0",\
"10.0","Occupancy","","","","Occupancy","OPT","Use fewer registers."
"1","5","python3.10","box.example","relu(float*)","1","7","(64, 1, 1)","(1, 1, 1)","0","10.0",\
"GPU Speed Of Light Throughput","Duration","ns","n/a"
==PROF== Disconnected from process 5
"""
RAW = """\
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size",\
"Grid Size","Device","CC","gpu__time_duration.sum","launch__registers_per_thread","dram__bytes.sum"
"","","","","","","","","","","","usecond","register/thread","Mbyte"
"0","5","app","box","f(int)","1","7","(32, 1, 1)","(1, 1, 1)","0","8.0","12.5","40","1.25"
"1","5","app","box","f(int)","1","13","(32, 1, 1)","(1, 1, 1)","0","8.0","2","40","0.5"
"""


def details(trace: Trace, row: int) -> dict[str, object]:
    told: dict[str, object] = json.loads(trace.strings[trace.args.raw[trace.events.arg[row]]])
    return told


def test_a_kernel_has_its_metrics_with_units_as_arguments() -> None:
    trace = load(DETAILS.encode())
    assert details(trace, 0) == {
        "launch": 0,
        "grid": [5, 2, 1],
        "block": [128, 1, 1],
        "registers_per_thread": 32,
        "static_shared_bytes": 1500,
        "theoretical_occupancy": 0.375,
        "compute_capability": "10.0",
        "metrics": {
            "Elapsed Cycles": 5_156_128,
            "Duration": 2500.75,
            "Registers Per Thread": 32,
            "Static Shared Memory Per Block": 1.5,
            "Theoretical Occupancy": 37.5,
        },
        "units": {
            "Elapsed Cycles": "cycle",
            "Duration": "us",
            "Registers Per Thread": "register/thread",
            "Static Shared Memory Per Block": "Kbyte/block",
            "Theoretical Occupancy": "%",
        },
        "rules": ["Use fewer registers."],
    }
    assert trace.events.dur_ns.tolist() == [2_500_750, 0]


def test_kernels_without_times_are_laid_end_to_end_and_it_is_said() -> None:
    trace = load(RAW.encode())
    assert trace.events.start_ns.tolist() == [0, 12_500]
    assert trace.events.dur_ns.tolist() == [12_500, 2_000]
    (note,) = trace.health.notes
    assert (note.code, note.count) == ("no_start", 2)
    assert trace.frame()["track_name"].tolist() == ["gpu/0 stream 7", "gpu/0 stream 13"]
    assert details(trace, 1)["metrics"] == {
        "gpu__time_duration.sum": 2,
        "launch__registers_per_thread": 40,
        "dram__bytes.sum": 0.5,
    }
    assert details(trace, 1)["registers_per_thread"] == 40


def test_a_kernel_without_a_duration_is_told() -> None:
    codes = {note.code: note.count for note in load(DETAILS.encode()).health.notes}
    assert codes == {"no_start": 2, "no_duration": 1}


def test_numbers_of_other_countries_are_read() -> None:
    trace = load(DETAILS.replace("5,156,128", "5.156.128").replace("37.50", "37,5").encode())
    metrics = details(trace, 0)["metrics"]
    assert isinstance(metrics, dict)
    assert (metrics["Elapsed Cycles"], metrics["Theoretical Occupancy"]) == (5_156_128, 37.5)


def test_the_host_is_taken_out_when_it_travels() -> None:
    trace = load(DETAILS.encode())
    assert trace.meta.extra == {"host_name": "box.example"}
    assert private(trace).meta.extra == {"host_name": "<host>"}
    assert "box.example" not in "\n".join(trace.strings)


def test_a_cut_row_is_counted() -> None:
    text = DETAILS.replace('"Metric Name","Metric Unit","Metric Value"', '"A","B","Metric Value"')
    assert len(load(text.encode())) == 2
    cut = '"2","5","p","h","k()","1","7"\n'
    trace = load(DETAILS.replace("==PROF== Disc", cut + "==PROF== Disc").encode())
    assert {"ragged": 1}.items() <= {note.code: note.count for note in trace.health.notes}.items()
    assert len(trace) == 3


def test_a_text_without_launches_says_how_to_make_it() -> None:
    with pytest.raises(UnknownFormatError, match="ncu --csv"):
        load(b"==PROF== Connected\n==ERROR== no kernels were profiled\n")
