"""`mx.base`: the error that programs written for MXNet catch, and where MXNet keeps its files."""

import os

import numpy as np

from mxprof_nb.errors import EngineError as MXNetError

__all__ = ["MXNetError", "data_dir", "numeric_types", "string_types"]

#: What programs hold an argument against that may be a number, or text.
numeric_types = (float, int, np.generic)
string_types = (str,)


def data_dir() -> str:
    """Return the folder of downloaded files: MXNET_HOME, by default ``~/.mxnet`` as in MXNet."""
    if home := os.environ.get("MXNET_HOME"):
        return home
    if os.name == "nt" and (roaming := os.environ.get("APPDATA")):
        return os.path.join(roaming, "mxnet")
    return os.path.join(os.path.expanduser("~"), ".mxnet")
