"""What `mx.gluon` of MXNet 1.9.1 has and the embedded runtime does not, by name."""

from __future__ import annotations

from collections.abc import Iterable

from mxprof_nb.errors import close_match

__all__ = ["ABSENT", "no_such_name"]

#: For each module of public names.
ABSENT = {
    "gluon": {"contrib", "model_zoo", "rnn"},
    "gluon.block": set(),
    "gluon.data": {"RecordFileDataset"},
    "gluon.data.vision": {"CIFAR10", "CIFAR100", "ImageFolderDataset", "ImageRecordDataset"},
    "gluon.data.vision.transforms": {
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
    },
    "gluon.loss": {"CTCLoss", "SDMLLoss"},
    "gluon.nn": {
        "AvgPool3D",
        "BatchNormReLU",
        "Conv3D",
        "Conv3DTranspose",
        "GlobalAvgPool3D",
        "GlobalMaxPool3D",
        "MaxPool3D",
    },
    "gluon.utils": {"check_sha1", "download"},
}


def no_such_name(module: str, name: str, known: Iterable[str]) -> AttributeError:
    """Return the error for a name that a module does not have here."""
    if name in ABSENT[module]:
        return AttributeError(
            f"mx.{module}.{name}: MXNet 1.9.1 has it, the embedded runtime of mxprof_nb does not."
        )
    return AttributeError(f"mx.{module} has no {name!r}.{close_match(name, known)}")
