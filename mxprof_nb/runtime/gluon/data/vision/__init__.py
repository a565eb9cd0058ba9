"""`mx.gluon.data.vision`: pictures, and what is done to them before a network sees them."""

from typing import NoReturn

from mxprof_nb.runtime.gluon import absent
from mxprof_nb.runtime.gluon.data.vision import transforms
from mxprof_nb.runtime.gluon.data.vision.datasets import MNIST, FashionMNIST

__all__ = ["MNIST", "FashionMNIST", "transforms"]


def __getattr__(name: str) -> NoReturn:
    raise absent.no_such_name("gluon.data.vision", name, __all__)
