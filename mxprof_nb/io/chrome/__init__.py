"""Chrome traces in (Trace Event Format), of any producer."""

from mxprof_nb.io.chrome.reader import read, read_chrome, read_file, sniff

__all__ = ["read", "read_chrome", "read_file", "sniff"]
