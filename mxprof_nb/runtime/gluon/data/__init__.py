"""`mx.gluon.data`: samples, the order in which they are taken, and batches of them."""

from typing import NoReturn

from mxprof_nb.runtime.gluon import absent
from mxprof_nb.runtime.gluon.data import vision
from mxprof_nb.runtime.gluon.data.dataloader import DataLoader
from mxprof_nb.runtime.gluon.data.dataset import ArrayDataset, Dataset, SimpleDataset
from mxprof_nb.runtime.gluon.data.sampler import (
    BatchSampler,
    FilterSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
)

__all__ = [
    "ArrayDataset",
    "BatchSampler",
    "DataLoader",
    "Dataset",
    "FilterSampler",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "SimpleDataset",
    "vision",
]


def __getattr__(name: str) -> NoReturn:
    raise absent.no_such_name("gluon.data", name, __all__)
