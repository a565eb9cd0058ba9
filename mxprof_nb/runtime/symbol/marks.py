"""Attributes of nodes that are no parameters of operators."""

from __future__ import annotations

from mxprof_nb.runtime.graph import Node

__all__ = ["HIDDEN", "hidden", "is_mark", "seen"]

#: Attributes that MXNet keeps with underscores around them, however they are given.
HIDDEN = ("ctx_group", "lr_mult", "wd_mult", "force_mirroring", "mirror_stage", "profiler_scope")


def hidden(key: str) -> str:
    """Return under which name an attribute is kept."""
    return f"__{key}__" if key in HIDDEN else key


def is_mark(key: str) -> bool:
    """Return whether an attribute may stand at any node: ``__mine__``, or one of MXNet's."""
    key = hidden(key)
    return len(key) > 4 and key.startswith("__") and key.endswith("__")


def seen(node: Node) -> dict[str, str]:
    """Return attributes and parameters as MXNet tells them: some under both of their names."""
    told = {**node.attrs, **node.marks}
    for key in list(told):
        plain = key[2:-2]
        if plain in HIDDEN and key == f"__{plain}__":
            told[plain] = told[key]
    return told
