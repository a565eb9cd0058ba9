"""How MXNet's layout of Chrome traces tells events apart: by domain, kind and category."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mxprof_nb.io.chrome_writer.text import JsonTexts, distinct
from mxprof_nb.trace import Trace, schema

__all__ = ["API_DOMAIN", "Families", "usual"]

#: Domains whose operators stand under their device too.
OPERATOR_DOMAINS = ("operator", "Custom Operator")
API_DOMAIN, EVENT_DOMAIN = "MXNET_C_API", "event"
#: Time in the Python code of a custom operator: not on the device.
PURE_PYTHON = "::pure_python"


def usual(domain: str, phase: str) -> tuple[str, str]:
    """Return category and kind of an event whose ``args`` say nothing about them."""
    category = "api" if domain == API_DOMAIN else "user"
    if domain in OPERATOR_DOMAINS:
        category = "operator"
    if phase == "n":
        return category, "instant"
    return category, "span" if phase == "B" or domain == API_DOMAIN else "async"


class Families:
    """What events of one name, domain, category and kind have in common.

    Attributes
    ----------
    named : list of str
        The record up to its category, with what stands between it and the one before.
    names, domains, categories, kinds : list of str
    """

    def __init__(self, trace: Trace, names: JsonTexts, codes: list[tuple[int, ...]]) -> None:
        strings = trace.strings
        self.names = [strings[name] for name, *_ in codes]
        self.domains = [strings[domain] for _, domain, *_ in codes]
        self.categories = [schema.CATEGORIES[category] for _, _, category, _ in codes]
        self.kinds = [schema.KINDS[kind] for *_, kind in codes]
        self.named = [
            f',\n{{"name":{names[name]},"cat":{names[domain]}' for name, domain, *_ in codes
        ]

    @classmethod
    def of(
        cls, trace: Trace, names: JsonTexts, rows: NDArray[Any]
    ) -> tuple[Families, NDArray[np.intp]]:
        """Return the families of the given events, and the number of that of each.

        Parameters
        ----------
        trace : Trace
        names : JsonTexts
            The string table as JSON texts.
        rows : ndarray of int, shape (n,)
        """
        events = trace.events
        sizes = (len(trace.strings), len(schema.CATEGORIES), len(schema.KINDS))
        key = events.name[rows].astype(np.int64)
        columns = (events.domain[rows], events.category[rows], events.kind[rows])
        for column, size in zip(columns, sizes, strict=True):
            key = key * size + column
        used, which = distinct(key)
        codes = []
        for value in used.tolist():
            rest, kind = divmod(value, sizes[2])
            rest, category = divmod(rest, sizes[1])
            codes.append((*divmod(rest, sizes[0]), category, kind))
        return cls(trace, names, codes), which

    def phase(self, family: int) -> str:
        """Return the phase of the begin of what lasts."""
        domain, span = self.domains[family], self.kinds[family] == "span"
        on_device = self.on_device(family)
        return "B" if on_device or (domain == EVENT_DOMAIN and span) else "b"

    def on_device(self, family: int) -> bool:
        """Whether it stands under its device, and once more under its category."""
        return (
            self.kinds[family] == "span"
            and self.domains[family] in OPERATOR_DOMAINS
            and not self.names[family].endswith(PURE_PYTHON)
        )

    def told(self, family: int, phase: str) -> str:
        """Return the arguments that say what domain and phase do not, a comma before each."""
        category, kind = usual(self.domains[family], phase)
        text = ""
        if self.categories[family] != category:
            text += f',"category":"{self.categories[family]}"'
        if self.kinds[family] != kind:
            text += f',"kind":"{self.kinds[family]}"'
        return text
