"""``%load_ext mxprof_nb``: the cell magic ``%%mxprofile``."""

from mxprof_nb.ipython.extension import (
    another,
    begin,
    last_profile,
    load_ipython_extension,
    unload_ipython_extension,
)

__all__ = [
    "another",
    "begin",
    "last_profile",
    "load_ipython_extension",
    "unload_ipython_extension",
]
