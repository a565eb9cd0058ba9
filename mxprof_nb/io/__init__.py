"""Files to traces and back: `load` and `save`, and who reads and writes which format."""

from mxprof_nb.io.content import Progress, Source
from mxprof_nb.io.limits import Limits
from mxprof_nb.io.registry import (
    Reader,
    Writer,
    find_writer,
    list_readers,
    list_writers,
    load,
    save,
)

__all__ = [
    "Limits",
    "Progress",
    "Reader",
    "Source",
    "Writer",
    "find_writer",
    "list_readers",
    "list_writers",
    "load",
    "save",
]
