"""`glossary`: what a name in a profile means, in one sentence."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, overload

from mxprof_nb.errors import UnknownNameError, close_match
from mxprof_nb.view.meanings import MEANINGS

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["DOMAINS", "glossary", "meaning"]

#: Domains whose names are MXNet's: elsewhere the same name may mean another thing.
DOMAINS = (
    *("operator", "bulk", "MXNET_C_API", "Custom Operator", "Device Storage", "Pool Memory"),
    *("engine", "data loading"),
)

_BULK = re.compile(r"\[?[\w]+(,[\w]+)*\]?$")


@overload
def glossary(name: None = None) -> pd.DataFrame: ...
@overload
def glossary(name: str) -> str: ...
def glossary(name: str | None = None) -> str | pd.DataFrame:
    """Return what a name in a profile means; all names when none is given.

    Parameters
    ----------
    name : str, optional
        A row of a table, a domain, a category, or a word of the view such as "self time".

    Returns
    -------
    str or pandas.DataFrame
        One sentence. Without a name a frame with the columns ``name``, ``kind`` (call, engine,
        resource, counter, operator, domain, category, term) and ``sentence``.

    Raises
    ------
    UnknownNameError
        The name has no entry; the message suggests those that are spelt alike.

    Examples
    --------
    >>> glossary("MXNDArrayWaitAll")
    'Holds the host until everything that was queued has ended.'
    >>> glossary("_backward_sum")
    'Gradient of sum: how a change of its inputs changes the loss.'
    """
    import_module("mxprof_nb.runtime")  # its operators bring sentences

    if name is None:
        import pandas as pd

        return pd.DataFrame(list(_entries()), columns=["name", "kind", "sentence"])
    found = meaning(name)
    if not found:
        known = [entry for entry, _, _ in _entries()]
        raise UnknownNameError(
            f"The glossary has no entry {name!r}.{close_match(str(name), known)} "
            "`mxprof_nb.glossary()` lists all; names that a program or another profiler chose are "
            "not in it."
        )
    return found


def meaning(name: str) -> str:
    """Return the sentence on a name, nothing where there is none.

    Operators of the embedded runtime are known once it is loaded: a view loads nothing.
    """
    for entries in MEANINGS.values():
        if name in entries:
            return entries[name]
    return _operators().get(name) or _by_rule(name)


def _by_rule(name: str) -> str:
    """Return the sentence on a name that is made of others."""
    custom, colons, inner = name.partition("::")
    if colons:
        whose = custom.removeprefix("_backward_")
        part = f"the gradient of {whose}" if whose != custom else custom
        if inner == "pure_python":
            return f"The Python code of {part}, an operator that is written in Python."
        told = meaning(inner)
        return f"Called by {part}, an operator that is written in Python. {told}".rstrip()
    if name.startswith("_backward_") and _BULK.match(name) and "," not in name:
        told = name.removeprefix("_backward_")
        return f"Gradient of {told}: how a change of its inputs changes the loss."
    if (name[:1] == "[" or "," in name) and _BULK.match(name):
        return "Several operators of a graph, run as one."
    if name.startswith("Memory: "):
        device, _, scope = name.removeprefix("Memory: ").partition(" ")
        if device == "pool":
            return "Bytes that the runtime keeps for the next large array."
        inside = f" that were made in the scope {scope}" if scope else ""
        return f"Bytes that arrays{inside} take on {device}, since the profile began."
    return ""


def _operators() -> dict[str, str]:
    """Return the sentences of the operators that are registered, if the runtime is loaded."""
    registry = sys.modules.get("mxprof_nb.runtime.ops.registry")
    if registry is None:
        return {}
    return {name: spec.doc for name, spec in registry.operator_names().items()}


def _entries() -> Iterator[tuple[str, str, str]]:
    """Yield name, kind and sentence, each name once."""
    seen = set()
    operators = {"operator": {**MEANINGS["operator"], **_operators()}}
    for kind, entries in {**MEANINGS, **operators}.items():
        for name, sentence in entries.items():
            if name not in seen:
                seen.add(name)
                yield name, kind, sentence
