"""`mx.gluon.utils`: batches for several devices, and gradients that are too large."""

from typing import NoReturn

from mxprof_nb.runtime.gluon import absent
from mxprof_nb.runtime.gluon.block import HookHandle
from mxprof_nb.runtime.gluon.clipping import clip_global_norm
from mxprof_nb.runtime.gluon.splitting import split_and_load, split_data

__all__ = ["HookHandle", "clip_global_norm", "split_and_load", "split_data"]


def __getattr__(name: str) -> NoReturn:
    raise absent.no_such_name("gluon.utils", name, __all__)
