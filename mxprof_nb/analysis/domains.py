"""One table per family of names, under the title a person reads."""

from __future__ import annotations

import numpy as np

from mxprof_nb.analysis.counters import counter_tables
from mxprof_nb.analysis.intervals import Window
from mxprof_nb.analysis.result import Result
from mxprof_nb.analysis.summary import MEMBERS, members_of_bulks, op_summary
from mxprof_nb.analysis.wait_lines import wait_lines
from mxprof_nb.trace import HasTrace, schema, trace_of

__all__ = ["domain_tables"]

#: Titles of the domains that have one of their own, in the order of their tables.
_TITLES = {
    "operator": "Operators",
    "Custom Operator": "Custom operators",
    "MXNET_C_API": "API calls",
    "kernel": "Kernels",
}
_OTHER_TITLES = {
    "engine": "Queueing",
    "user": "Spans",
    "step": "Steps",
    "data loading": "Data loading",
    "profile": "Profiles",
    "": "Other",
}
#: Categories with tables of their own: neither waiting nor housekeeping is work.
_APART = ("sync", "engine")


def domain_tables(trace: HasTrace, *, window: Window = None) -> dict[str, Result]:
    """Return one table per domain that has rows, under the title a person reads.

    Parameters
    ----------
    trace : Trace
    window : tuple of int, optional
        Begin and end in ns; see `op_summary`.

    Returns
    -------
    dict of str to Result
        "Operators", "Custom operators", "API calls" and "Kernels" first, then "Waits", "Memory",
        "Engine", the other domains, the one with most events in the whole trace first, and
        "Counters". Tables of events as `op_summary` gives them, "Waits" as `wait_lines` does; those
        of counters have the columns name, count, min, mean, max and last (see `counter_tables`).

    Notes
    -----
    A wait is no work, nor is what the engine does for itself: both have a table of their own and
    no share in that of their domain, although MXNet counts ``WaitForVar`` and ``DeleteVariable``
    among the operators. A bulk is told as the operators that ran in it.
    """
    trace = trace_of(trace)
    codes, counts = np.unique(trace.events.domain, return_counts=True)
    texts = {trace.strings[int(code)]: int(n) for code, n in zip(codes, counts, strict=True)}
    work = [category for category in schema.CATEGORIES if category not in _APART]
    tables: dict[str, Result] = {}

    def add(title: str, table: Result, otherwise: str) -> None:
        if len(table):
            # A program may name a domain of its own as a title reads.
            tables[title if title not in tables else f"{title} ({otherwise})"] = table

    def add_domain(domain: str, title: str) -> None:
        add(title, op_summary(trace, domain=domain, category=work, window=window), domain)

    for domain, title in _TITLES.items():
        if domain in texts:
            add_domain(domain, title)
    add("Waits", wait_lines(trace, window=window), "sync")
    counters = counter_tables(trace, window=window)
    if "Memory" in counters:
        add("Memory", counters.pop("Memory"), "samples")
    add("Engine", op_summary(trace, category="engine", window=window), "engine")
    # What most events belong to is what the trace is about; of PyTorch's, "cpu_op" before "Trace".
    others = {text: n for text, n in texts.items() if text not in _TITLES}
    if others.get(MEMBERS) == int(members_of_bulks(trace).sum()):
        del others[MEMBERS]  # each stands in the place of its bulk
    for domain in sorted(others, key=lambda text: (-others[text], text)):
        add_domain(domain, _OTHER_TITLES.get(domain, domain))
    for title, table in counters.items():
        add(title, table, "samples")
    return tables
