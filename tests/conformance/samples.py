"""Small files of every format that can be read, to be read, cut off and damaged."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from mxprof_nb.io import find_writer
from mxprof_nb.io.chrome_writer import write_chrome
from mxprof_nb.record.spool import Spool
from tests.environment import ROOT
from tests.nvidia_files import nsys_database, nvprof_database
from tests.traces import dot_cell
from tests.unit.record.conftest import Stage

__all__ = ["samples"]


@cache
def samples(format: str) -> tuple[bytes, ...]:
    """Return contents of a format; whoever adds a reader adds some here."""
    return tuple(_SAMPLES[format]())


def _chrome() -> list[bytes]:
    own, mxnet = io.BytesIO(), io.BytesIO()
    write_chrome(dot_cell(), own)
    write_chrome(dot_cell(), mxnet, layout="mxnet", devices=["cpu/0"])
    event = {"ph": "X", "name": "dot", "cat": "kernel", "ts": 1.5, "dur": 2, "pid": 1, "tid": "a"}
    stack = {"ph": "P", "name": "sample", "ts": 3, "pid": 1, "tid": 1, "sf": 7}
    every: list[dict[str, Any]] = [
        event, {**event, "ph": "B"}, {**event, "ph": "E", "ts": 9}, {**event, "ph": "i", "s": "g"},
        {**event, "ph": "C", "args": {"a": 1, "b": 0.5}}, stack,
        *({**event, "ph": ph, "id": "0x5", "ts": n} for n, ph in enumerate("bneSTpFstfNOD")),
        {"ph": "M", "name": "thread_name", "pid": 1, "tid": "a", "args": {"name": "Main"}},
        {**event, "ts": 7, "dur": 1.25, "id2": {"local": "x"}, "args": {"correlation": 3}},
    ]  # fmt: skip
    document = {"traceEvents": every, "displayTimeUnit": "ns", "stackFrames": {"7": {"name": "f"}}}
    return [
        own.getvalue(), mxnet.getvalue(), json.dumps(every).encode(),
        json.dumps(document, indent=1).encode(),
    ]  # fmt: skip


def _written(format: str) -> bytes:
    """Return what a writer makes of a trace."""
    file = io.BytesIO()
    find_writer("", format=format).write(dot_cell(), file)
    return file.getvalue()


def _spool() -> list[bytes]:
    stage = Stage()
    recording = stage.start()
    for number in range(1, 4):
        begin = 1_000 + 10 * number
        stage.call(begin, begin + 5, number=number)
        stage.operator(begin + 1, begin + 6, begin + 9, number, taken=(stage.memory, 64))
        stage.took(begin + 2, 32)
    stage.at(5_000)
    recording.stop()
    with TemporaryDirectory() as folder:
        path = Path(folder, "a.spool")
        spool = Spool(path, stage.recorder, {"title": "stage"})
        spool.append(recording)
        spool.append(recording)
        content = path.read_bytes()
        spool.remove()
    return [content]


def _onednn() -> list[bytes]:
    folder = ROOT / "tests" / "golden" / "onednn"
    tail = b"mb1_ic3oc8,0.5\n"
    return [
        (folder / "stamped.log").read_bytes(), (folder / "plain.log").read_bytes(),
        b"mkldnn_verbose,exec,convolution,jit:avx2,forward,fsrc:nchw,alg:direct," + tail,
        b"onednn_verbose,v1,1796027017594.5,primitive,create:check,matmul,bad,src/a.cpp:9\n"
        b"onednn_verbose,v1,1796027017595.5,primitive,exec,gpu:0,matmul,jit,undef,a b,,," + tail,
    ]  # fmt: skip


_NVPROF = b"""epoch 1
==7== NVPROF is profiling process 7, command: ./train
==7== Profiling result:
"Start","Duration","Grid X","Grid Y","Grid Z","Block X","Block Y","Block Z",\
"Registers Per Thread","Static SMem","Dynamic SMem","Size","Throughput","Device","Context",\
"Stream","Name","Correlation_ID"
ms,us,,,,,,,,B,B,MB,GB/s,,,,,
1.5,20.25,,,,,,,,,,0.5,4.1,"Tesla V100 (0)","1","7","[CUDA memcpy HtoD]",9
2.5,30.5,8,1,1,128,1,1,32,0,1024,,,"Tesla V100 (0)","1","7","conv(float*)",11
"""
_SUMMARY = b"""==7== Profiling result:
"Type","Time(%)","Time","Calls","Avg","Min","Max","Name"
,%,ms,,us,us,us,
"GPU activities",75.0,3.0,3,1000.0,900.0,1100.0,"conv(float*)"
"API calls",25.0,1.0,5,200.0,1.0,400.0,"cudaLaunchKernel"
"""
_NCU = b"""==PROF== Connected to process 7
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size",\
"Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value"
"0","7","train","host","conv","1","7","(128, 1, 1)","(8, 1, 1)","0","7.0","Speed","Duration",\
"us","20.25"
"1","7","train","host","relu","1","7","(128, 1, 1)","(8, 1, 1)","0","7.0","Speed","Duration",\
"us","1,020.5"
"""
_RAW = b""""ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream",\
"Block Size","Grid Size","Device","CC","gpu__time_duration.sum","launch__registers_per_thread"
"","","","","","","","","","","","nsecond","register/thread"
"0","7","train","host","conv","1","7","(128, 1, 1)","(8, 1, 1)","0","7.0","20250","32"
"""

_SAMPLES: dict[str, Callable[[], list[bytes]]] = {
    "chrome": _chrome,
    "mxprof": lambda: [_written("mxprof")],
    "parquet": lambda: [_written("parquet")],
    "csv": lambda: [_written("csv"), b"name,start_ns,dur_ns,track\ndot,0,5,a\nadd,5,9,b\n"],
    "ncu": lambda: [_NCU, _RAW],
    "nsys": lambda: [nsys_database("2.9.1"), nsys_database("3.25.0")],
    "nvprof": lambda: [_NVPROF, _SUMMARY, nvprof_database()],
    "onednn": _onednn,
    "spool": _spool,
}
