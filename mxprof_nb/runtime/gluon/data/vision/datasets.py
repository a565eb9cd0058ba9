"""Pictures of digits and of clothes, from files in MNIST's format. Nothing is downloaded."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from mxprof_nb._typing import StrPath
from mxprof_nb.errors import DatasetError, MissingDatasetError
from mxprof_nb.runtime import nd
from mxprof_nb.runtime.base import data_dir
from mxprof_nb.runtime.gluon.data.dataset import Dataset
from mxprof_nb.runtime.gluon.data.vision import idx

__all__ = ["MNIST", "FashionMNIST", "default_folder", "file_names"]


def default_folder(name: str = "mnist") -> Path:
    """Return where MXNet looks for a dataset; MXNET_HOME is honoured."""
    return Path(data_dir(), "datasets", name).expanduser()


def file_names(train: bool) -> tuple[str, str]:
    """Return the names of the files with the pictures and with the labels."""
    part = "train" if train else "t10k"
    return f"{part}-images-idx3-ubyte.gz", f"{part}-labels-idx1-ubyte.gz"


class MNIST(Dataset):
    """Handwritten digits: sample i is a picture and the digit that it shows.

    Parameters
    ----------
    root : path, optional
        Folder of the files, under MNIST's names, gzipped or not; by default
        ``datasets/mnist`` in MXNET_HOME, which is ``~/.mxnet`` unless set.
    train : bool
        Whether to take those to train with, or those to test with.
    transform : callable, optional
        Takes picture and label; returns the sample.

    Raises
    ------
    MissingDatasetError
        The files are not there. ``python -m mxprof_nb digits`` writes 5,000 digits as such files.
    DatasetError
        A file is damaged, or there are not as many labels as pictures.

    Notes
    -----
    A picture is an `NDArray` of uint8 and shape (28, 28, 1), a label a number of type int32.
    """

    _folder = "mnist"

    def __init__(
        self,
        root: StrPath | None = None,
        train: bool = True,
        transform: Callable[[Any, Any], Any] | None = None,
    ) -> None:
        folder = default_folder(self._folder) if root is None else Path(root).expanduser()
        pictures, labels = (self._find(folder, name) for name in file_names(train))
        data, label = idx.read(pictures, 3), idx.read(labels, 1)
        if len(data) != len(label):
            raise DatasetError(
                f"{pictures} has {len(data):,} pictures, and {labels} {len(label):,} labels. "
                "Get both files from one place."
            )
        self._transform = transform
        self._data = nd.array(data[..., np.newaxis], dtype=data.dtype)
        self._label = label.astype(np.int32)

    def _find(self, folder: Path, name: str) -> Path:
        for path in (folder / name, folder / name.removesuffix(".gz")):
            if path.is_file():
                return path
        remedy = (
            f"write 5,000 digits there with `python -m mxprof_nb digits{_to(folder)}`"
            if self._folder == "mnist"
            else "put them there, or name another folder"
        )
        raise MissingDatasetError(
            f"There is no {name} in {folder}, and nothing is downloaded here: {remedy}."
        )

    def __len__(self) -> int:
        return len(self._label)

    def __getitem__(self, idx: Any) -> Any:
        sample = self._data[idx], self._label[idx]
        return sample if self._transform is None else self._transform(*sample)


class FashionMNIST(MNIST):
    """Pictures of clothes in the same format: ten kinds; by default in ``fashion-mnist``."""

    _folder = "fashion-mnist"


def _to(folder: Path) -> str:
    """Return the flag for a folder that is not the default one."""
    return "" if folder == default_folder() else f" --to {os.fspath(folder)}"
