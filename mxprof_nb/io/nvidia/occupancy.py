"""How many of the warps that fit a multiprocessor a kernel could keep there at once."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Device", "theoretical_occupancy"]

#: Registers are handed out to warps in units, warps to the four parts of a multiprocessor.
_REGISTER_UNIT, _WARP_UNIT = 256, 4


@dataclass(frozen=True, slots=True)
class Device:
    """What a multiprocessor of a device offers.

    Attributes
    ----------
    name : str
    capability : tuple of int
        Compute capability, major and minor.
    max_warps, max_blocks : int
        At most so many at once.
    max_registers : int
        Registers of 32 bit.
    max_shared_bytes : int
        Shared memory, in bytes.
    warp_size : int
        Threads of a warp.
    """

    name: str
    capability: tuple[int, int]
    max_warps: int
    max_blocks: int
    max_registers: int
    max_shared_bytes: int
    warp_size: int = 32


def theoretical_occupancy(
    device: Device, threads: int, registers: int, shared_bytes: int
) -> float | None:
    """Return the share of warps that could be resident at once, 0 to 1.

    Parameters
    ----------
    device : Device
    threads : int
        Threads of a block.
    registers : int
        Registers of a thread.
    shared_bytes : int
        Shared memory of a block, static and dynamic, in bytes.

    Returns
    -------
    float or None
        None when a number is missing or no block fits.

    Notes
    -----
    Blocks that fit = the least of: the limit of blocks; warps / warps of a block; registers, which
    a warp takes in units of 256, with warps in fours; shared memory, which a block takes in units
    of 256 bytes before compute capability 8.0 and of 128 bytes, with 1 KiB for the system, from
    there on. Occupancy = blocks times warps of a block / warps. Source: CUDA C++ Programming Guide,
    "Hardware Multithreading" and "Compute Capabilities", with the allocation units of NVIDIA's
    occupancy calculator. The shared memory is taken as the largest the device can set aside; where
    the driver sets aside less, the true figure is lower. How many warps were resident when the
    kernel ran is another figure, which needs counters of the hardware.
    """
    limits = (device.max_warps, device.max_blocks, device.max_registers, device.warp_size)
    if min(limits) <= 0 or threads <= 0 or registers < 0 or shared_bytes < 0:
        return None
    warps = -(-threads // device.warp_size)
    blocks = min(device.max_blocks, device.max_warps // warps)
    if registers:
        each = _in_units(registers * device.warp_size, _REGISTER_UNIT)
        fitting = device.max_registers // each // _WARP_UNIT * _WARP_UNIT
        blocks = min(blocks, fitting // warps)
    modern = device.capability >= (8, 0)
    taken = _in_units(shared_bytes + (1024 if modern else 0), 128 if modern else 256)
    if taken and device.max_shared_bytes > 0:
        blocks = min(blocks, device.max_shared_bytes // taken)
    return min(1.0, blocks * warps / device.max_warps) if blocks > 0 else None


def _in_units(amount: int, unit: int) -> int:
    return -(-amount // unit) * unit
