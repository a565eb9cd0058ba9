"""What `mx.gluon.data` of MXNet 1.9.1 has and the embedded runtime does not, by name."""

from __future__ import annotations

from collections.abc import Iterable

from mxprof_nb.errors import close_match

__all__ = ["ABSENT", "no_such_name"]

#: By the module that has them.
ABSENT = {
    "data": frozenset(["RecordFileDataset"]),
    "data.vision": frozenset(["CIFAR10", "CIFAR100", "ImageFolderDataset", "ImageRecordDataset"]),
    "data.vision.transforms": frozenset(
        [
            "CenterCrop",
            "CropResize",
            "RandomApply",
            "RandomBrightness",
            "RandomColorJitter",
            "RandomContrast",
            "RandomFlipLeftRight",
            "RandomFlipTopBottom",
            "RandomHue",
            "RandomLighting",
            "RandomResizedCrop",
            "RandomRotation",
            "RandomSaturation",
            "Resize",
            "Rotate",
        ]
    ),
}


def no_such_name(module: str, name: str, known: Iterable[str]) -> AttributeError:
    """Return the error for a name that a module does not have here."""
    if name in ABSENT[module]:
        return AttributeError(
            f"mx.gluon.{module}.{name}: MXNet 1.9.1 has it, the embedded runtime of mxprof_nb does "
            f"not. There are {', '.join(known)}."
        )
    return AttributeError(f"mx.gluon.{module} has no {name!r}.{close_match(name, known)}")
