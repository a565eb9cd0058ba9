"""What a live capture needs: the protocol, the table of backends, and the capture itself."""

from mxprof_nb.backends.block import Block
from mxprof_nb.backends.environment import show_versions
from mxprof_nb.backends.live import LiveCapture
from mxprof_nb.backends.protocols import Availability, Backend, CaptureSession
from mxprof_nb.backends.ranges import RangeCapture
from mxprof_nb.backends.registry import (
    BackendInfo,
    describe_backends,
    find_backend,
    list_backends,
)

__all__ = [
    "Availability",
    "Backend",
    "BackendInfo",
    "Block",
    "CaptureSession",
    "LiveCapture",
    "RangeCapture",
    "describe_backends",
    "find_backend",
    "list_backends",
    "show_versions",
]
