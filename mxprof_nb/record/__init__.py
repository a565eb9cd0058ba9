"""How a profile is captured: clock, buffers, recorder. Standard library and NumPy only."""

from mxprof_nb.record.buffer import ThreadBuffer
from mxprof_nb.record.clock import Clock, fake_clock
from mxprof_nb.record.config import RecordConfig
from mxprof_nb.record.freeze import freeze
from mxprof_nb.record.labels import Label
from mxprof_nb.record.recorder import RECORDER, Recorder, Recording

__all__ = [
    "RECORDER",
    "Clock",
    "Label",
    "RecordConfig",
    "Recorder",
    "Recording",
    "ThreadBuffer",
    "fake_clock",
    "freeze",
]
