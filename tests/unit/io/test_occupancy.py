"""Theoretical occupancy, against NVIDIA's occupancy calculator."""

import pytest

from mxprof_nb.io.nvidia.occupancy import Device, theoretical_occupancy

A100 = Device("A100", (8, 0), 64, 32, 65_536, 167_936)
V100 = Device("V100", (7, 0), 64, 32, 65_536, 98_304)
K80 = Device("K80", (3, 7), 64, 16, 131_072, 114_688)


@pytest.mark.parametrize(
    ("device", "threads", "registers", "shared", "share"),
    [
        (A100, 256, 32, 0, 1.0),  # nothing limits but warps
        (A100, 256, 64, 0, 0.5),  # registers: 4 blocks of 8 warps
        (A100, 32, 16, 0, 0.5),  # 32 blocks of one warp
        (A100, 128, 32, 40_000, 0.25),  # 4 blocks of 40 KiB + 1 KiB for the system
        (A100, 1024, 64, 0, 0.5),
        (A100, 96, 40, 0, 0.75),  # 51 warps by registers, 48 in fours, 16 blocks of 3
        (V100, 128, 32, 24_576, 0.25),  # 4 blocks of 24 KiB, nothing for the system
        (V100, 1000, 32, 0, 1.0),  # the last warp is not full and counts
        (K80, 256, 32, 0, 1.0),
        (K80, 64, 8, 0, 0.5),  # 16 blocks of 2 warps
    ],
)  # fmt: skip
def test_the_scarcest_resource_limits_the_blocks(
    device: Device, threads: int, registers: int, shared: int, share: float
) -> None:
    assert theoretical_occupancy(device, threads, registers, shared) == share


@pytest.mark.parametrize(
    ("threads", "registers", "shared"), [(0, 1, 1), (32, -1, 0), (4096, 32, 0), (32, 32, 10**9)]
)
def test_what_does_not_fit_or_is_not_known_has_none(
    threads: int, registers: int, shared: int
) -> None:
    assert theoretical_occupancy(A100, threads, registers, shared) is None


def test_a_device_without_limits_has_none() -> None:
    assert theoretical_occupancy(Device("?", (8, 0), 0, 0, 0, 0), 32, 32, 0) is None
