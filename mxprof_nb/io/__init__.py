"""Files to traces and back: `load` and `save`, and who reads and writes which format."""

from mxprof_nb.io.files import Source
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
    "Reader",
    "Source",
    "Writer",
    "find_writer",
    "list_readers",
    "list_writers",
    "load",
    "save",
]
