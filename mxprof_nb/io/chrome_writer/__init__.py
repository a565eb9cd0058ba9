"""Writes Chrome traces, in a layout of our own and in that of MXNet's ``profiler.dump()``."""

from mxprof_nb.io.chrome_writer.own_layout import suffixes, write, write_chrome

__all__ = ["suffixes", "write", "write_chrome"]
