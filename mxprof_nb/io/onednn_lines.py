"""Lines of the log of oneDNN, which was MKL-DNN and DNNL: their fields in every version.

::

    0.x       mkldnn_verbose,exec,PRIMITIVE,implementation,prop,formats,aux,problem,ms
    1.0       mkldnn_verbose,exec,ENGINE,primitive,implementation,prop,tensors,aux,problem,ms
    1.1-2.4   dnnl_verbose,exec,engine,primitive,...,tensors,ATTRIBUTES,aux,problem,ms
    2.5-3.2   onednn_verbose, the same
    3.3-3.5   onednn_verbose,API,exec,...          API: primitive, graph, common
    3.6-      onednn_verbose,VERSION,api,exec,...  VERSION: v0, v1

A time stamp may stand before the API, or before the operation where there is no API. Where the
head of the log holds a template it says what the fields are. Reference: the source of each
release, and "Verbose Mode" in its documentation.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["MARKER", "Info", "Message", "Templates", "Torn", "Work", "parsed"]

#: What every line of the log begins with.
MARKER = re.compile(r"(?:onednn|dnnl|mkldnn)_verbose,", re.A)
_VERSION = re.compile(r"v\d+", re.A)
#: A time stamp has a fraction; whole numbers are nowhere at its place.
_STAMP = re.compile(r"\d+\.\d+", re.A)
_TIME = re.compile(r"\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+", re.A)
_ENGINE = re.compile(r"(?:cpu|gpu|any|undef|cpu2gpu|gpu2cpu)(?::\d+)?", re.A)
_TEMPLATE = re.compile(r"(?:\w+_)?template:(.*)", re.A)
_APIS = ("primitive", "graph", "common", "ukernel", "gemm_api")
#: Operations that say something about a creation and take no time.
_TIMELESS = ("create:check", "create:dispatch")

_SHAPES: tuple[tuple[str, ...], ...] = (
    ("operation", "primitive", "implementation", "prop_kind", "memory_descriptors", "auxiliary",
     "problem_desc", "exec_time"),
    ("operation", "engine", "primitive", "implementation", "prop_kind", "memory_descriptors",
     "auxiliary", "problem_desc", "exec_time"),
    ("operation", "engine", "primitive", "implementation", "prop_kind", "memory_descriptors",
     "attributes", "auxiliary", "problem_desc", "exec_time"),
)  # fmt: skip
_GRAPHS: tuple[tuple[str, ...], ...] = (
    ("operation", "engine", "partition_id", "partition_kind", "op_names", "data_formats",
     "logical_tensors", "fpmath_mode", "backend", "exec_time"),
    ("operation", "engine", "partition_id", "partition_kind", "op_names", "data_formats",
     "logical_tensors", "fpmath_mode", "implementation", "backend", "exec_time"),
)  # fmt: skip


@dataclass(slots=True)
class Work:
    """An execution or a creation, which took time.

    Attributes
    ----------
    stamp_ns : int
        Unix time of its begin, or time since the machine started; -1 when not said.
    dur_ns : int
    api : str
        ``"primitive"`` or ``"graph"``.
    fields : dict
        All fields but these by their names in the template.
    """

    stamp_ns: int
    dur_ns: int
    api: str
    fields: dict[str, str]

    @property
    def is_creation(self) -> bool:
        """Whether it made something that is then executed."""
        return not self.fields["operation"].startswith("exec")

    @property
    def name(self) -> str:
        """The primitive, or the kind of a part of a graph."""
        return self.fields.get("primitive") or self.fields.get("partition_kind") or self.api


@dataclass(slots=True)
class Message:
    """Why something was refused or passed over; takes no time."""

    stamp_ns: int
    operation: str
    name: str
    text: str


@dataclass(slots=True)
class Info:
    """A line of the head: version, threads, instructions."""

    text: str


@dataclass(slots=True)
class Torn:
    """A line that is not whole, or not as any version writes it."""

    text: str


class Templates:
    """What the log said about its own fields, by API."""

    def __init__(self) -> None:
        self._said: dict[str, tuple[str, ...]] = {}

    def learn(self, api: str, text: str) -> None:
        """Take note of a template."""
        names = tuple(name.strip() for name in text.split(",") if name.strip() != "timestamp")
        if names[:1] == ("operation",) and names[-1] == "exec_time":
            self._said[api] = names

    def fitting(self, api: str, values: Sequence[str]) -> tuple[str, ...]:
        """Return the names of some fields, empty when they are of no known shape."""
        said = self._said.get(api, ())
        if len(said) == len(values):
            return said
        for names in _GRAPHS if api == "graph" else _SHAPES:
            if len(names) == len(values) and _fits(names, values):
                return names
        return ()

    def most(self, api: str) -> int:
        """Return how many fields a line has at most."""
        return len(self._said.get(api, ())) or max(map(len, _SHAPES + _GRAPHS))


def parsed(text: str, templates: Templates) -> Work | Message | Info | Torn:
    """Return what one line says.

    Parameters
    ----------
    text : str
        From behind the marker to the end of the line.
    templates : Templates
        Learns from a line that is a template.
    """
    values = text.rstrip().split(",")
    at = 1 if _VERSION.fullmatch(values[0]) else 0
    stamp = -1
    if at < len(values) and _STAMP.fullmatch(values[at]):
        stamp = _ns(values[at])
        at += 1
    api = "primitive"
    if at < len(values) and values[at] in _APIS:
        api = values[at]
        at += 1
    values = values[at:]
    operation = values[0] if values else ""
    kind = operation.partition(":")[0]
    if kind == "info":
        rest = ",".join(values[1:])
        template = _TEMPLATE.match(rest)
        if template is not None:
            templates.learn(api, template[1])
        return Info(rest if api in ("primitive", "common") else f"{api},{rest}")
    if operation in _TIMELESS or kind in ("error", "warn", "check", "dispatch"):
        name = values[1] if len(values) > 2 else ""
        return Message(stamp, operation, name or api, ",".join(values[1:]))
    if kind not in ("exec", "create", "compile", "destroy"):
        return Torn(text)
    if not _TIME.fullmatch(values[-1].strip()):
        return Torn(text)
    names = templates.fitting(api, values)
    if not names:
        return Torn(text)
    fields = dict(zip(names, values, strict=True))
    return Work(stamp, _ns(fields.pop("exec_time").strip()), api, fields)


def _fits(names: Sequence[str], values: Sequence[str]) -> bool:
    """Return whether the engine stands where it should, or nowhere in the oldest versions."""
    return bool(_ENGINE.fullmatch(values[1])) == (names[1] == "engine")


def _ns(milliseconds: str) -> int:
    """Return a number of ms in ns, to the ns however large it is."""
    whole, dot, fraction = milliseconds.partition(".")
    if dot and (whole + fraction).isdecimal():
        rest = fraction.ljust(7, "0")
        return int(whole or "0") * 1_000_000 + int(rest[:6]) + (rest[6] >= "5")
    return round(float(milliseconds) * 1e6)
