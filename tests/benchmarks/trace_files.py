"""Traces of any size in the shape in which PyTorch and MXNet write them, made up and the same
each time."""

import random
from collections.abc import Iterator
from pathlib import Path

__all__ = ["write_mxnet", "write_torch"]

_TORCH_HEAD = """{
    "schemaVersion": 1,
    "deviceProperties": [],
    "displayTimeUnit": "ms",
    "baseTimeNanoseconds": 1790857026000000000,
    "traceEvents": [
  {
    "ph": "M", "name": "process_name", "ts": 5168890422879.979, "pid": 21198, "tid": 0,
    "args": {
      "name": "python"
    }
  },
  {
    "ph": "M", "name": "process_labels", "ts": 5168890422879.979, "pid": 0, "tid": 0,
    "args": {
      "labels": "GPU 0"
    }
  }"""
_TORCH_TAIL = '\n  ],\n  "traceName": "trace.json"\n}\n'
_INPUTS = (
    '"Record function id": 0, "Concrete Inputs": ["", "", "[1, 1]", "False"], '
    '"Input type": ["float", "float", "ScalarList", "Scalar"], '
    '"Input Dims": [[64, 16, 14, 14], [32, 16, 3, 3], [], []], "Ev Idx": '
)


def _us(ns: int) -> str:
    return f"{ns // 1000}.{ns % 1000:03d}"


def _torch_events(count: int) -> Iterator[str]:
    """Yield them eight by eight: operators within each other, a launch, its kernel, a flow."""
    draw = random.Random(1)
    clock = [5_168_890_422_879_979] * 3
    device = clock[0]
    for group in range(-(-count // 8)):
        thread = group % 3
        tid, start = 21198 + thread, clock[thread]
        length = draw.randint(40_000, 90_000)
        clock[thread] += length + draw.randint(500, 4_000)
        for depth in range(5):
            yield _complete(
                "cpu_op",
                f"aten::operator_{draw.randint(0, 149)}",
                (21198, tid),
                (start + 1000 * depth, length - 2000 * depth),
                f'"External id": {8 * group + depth},{_INPUTS}{8 * group + depth}',
            )
        launch = start + 10_000
        yield _complete(
            "cuda_runtime",
            "cudaLaunchKernel",
            (21198, tid),
            (launch, 5_321),
            f'"External id": {8 * group},"cbid": 211, "correlation": {group + 1}',
        )
        device = max(device, launch + 6_000) + draw.randint(300, 900)
        lasts = draw.randint(2_000, 9_000)
        yield _complete(
            "kernel",
            f"void at::native::vectorized_elementwise_kernel<4, at::native::op_{group % 50}>(int)",
            (0, 7),
            (device, lasts),
            f'"External id": {8 * group},"queued": 0, "device": 0, "context": 1, "stream": 7, '
            f'"correlation": {group + 1}, "registers per thread": 32, "shared memory": 0, '
            '"blocks per SM": 0.5, "warps per SM": 2, "grid": [64, 1, 1], "block": [128, 1, 1]',
        )
        is_begin = group % 2 == 0
        ids = (21198, tid, launch + 10) if is_begin else (0, 7, device)
        bound = "" if is_begin else ', "bp": "e"'
        yield (
            f',\n  {{\n    "ph": "{"s" if is_begin else "f"}", "id": {group // 2}, '
            f'"pid": {ids[0]}, "tid": {ids[1]}, "ts": {_us(ids[2])},\n'
            f'    "cat": "ac2g", "name": "ac2g"{bound}\n  }}'
        )
        device += lasts


def _complete(cat: str, name: str, ids: tuple[int, int], times: tuple[int, int], args: str) -> str:
    return (
        f',\n  {{\n    "ph": "X",\n    "cat": "{cat}",\n    "name": "{name}",\n'
        f'    "pid": {ids[0]},\n    "tid": {ids[1]},\n'
        f'    "ts": {_us(times[0])},\n    "dur": {_us(times[1])}\n    ,\n'
        f'    "args": {{\n      {args}\n    }}\n  }}'
    )


def write_torch(path: Path, count: int) -> None:
    """Write about ``count`` events as PyTorch's profiler does: 350 bytes each."""
    with path.open("w", encoding="ascii") as file:
        file.write(_TORCH_HEAD)
        file.writelines(_torch_events(count))
        file.write(_TORCH_TAIL)


def write_mxnet(path: Path, count: int) -> None:
    """Write ``count`` events as MXNet's profiler does: each operator as four of them."""
    draw = random.Random(1)
    names = ["broadcast_add", "FullyConnected", "Activation", "dot", "DeleteVariable"]
    tids = [12350829497351446342, 11927807046601165698]
    clock = [1_796_026_229_298_898] * 2
    with path.open("w", encoding="ascii") as file:
        file.write('{\n    "traceEvents": [\n')
        file.write(
            '        {\n            "ph": "M",\n            "args": {\n                "name": '
            '"cpu/0"\n            },\n            "pid": 0,\n            "name": "process_name"\n'
            "        },\n"
        )
        for number in range(count // 4):
            thread = number % 2
            start, tid, name = clock[thread], tids[thread], draw.choice(names)
            end = start + draw.randint(3, 40)
            clock[thread] = end + draw.randint(0, 30)
            for phase, ts, more, pid in (
                ("B", start, "", 0),
                ("E", end, "", 0),
                ("b", start, f'        "id": {tid},\n', 3060606181218273969),
                ("e", end, f'        "id": {tid},\n', 3060606181218273969),
            ):
                between = ",\n\n" if phase in "Bb" else ",\n"
                file.write(
                    f"{between if number or phase != 'B' else chr(10)}    {{\n"
                    f'        "name": "{name}",\n        "cat": "operator",\n'
                    f'        "ph": "{phase}",\n        "ts": {ts},\n{more}'
                    f'        "pid": {pid},\n        "tid": {tid}\n    }}\n'
                )
        file.write('\n\n    ],\n    "displayTimeUnit": "ms"\n}\n')
