"""The reader of oneDNN's verbose log (MKL-DNN, DNNL), 0.x to 3.x, mixed with other output.

- An execution is an operator in the domain ``oneDNN``, a creation, ``create:cache_hit`` and
  ``create:cache_miss`` included, a call in ``oneDNN create``; both are named after the primitive,
  so `op_summary` gives what adding up the last field of the lines does.
- Parts of a graph are in ``oneDNN graph``. What was refused or passed over is an instant in
  ``oneDNN message``.
- Without time stamps events lie end to end in the order of the log, which its health says.

Reference: "Verbose Mode" in oneDNN's documentation, and the source of its releases.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import PurePath
from types import MappingProxyType
from typing import TYPE_CHECKING

from mxprof_nb.errors import CorruptTraceError
from mxprof_nb.io.onednn_lines import MARKER, Info, Message, Templates, Torn, Work, parsed
from mxprof_nb.trace import Meta, Trace, TraceBuilder, schema

if TYPE_CHECKING:
    from mxprof_nb.io.limits import Limits

__all__ = ["read", "sniff"]

_SNIFF = re.compile(
    rb"(?:onednn|dnnl|mkldnn)_verbose,(?:v\d+,)?(?:\d+\.\d+,)?(?:(?:primitive|graph|common),)?"
    rb"(?:info|exec|create|compile|error)[,:]"
)
#: What colours text on a terminal (ECMA-48, section 5.4), as services that run programs keep it.
_COLOUR = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
#: A time stamp above this is a Unix time in ns (1973), below it time since the machine started.
_UNIX_NS = 100_000_000 * 10**9
#: Times are kept in 64 bits: stamps and durations above 146 years are none.
_LARGEST_NS = 1 << 62
_LINES_PER_STEP = 1 << 16


def sniff(head: bytes, path: str) -> float:
    """Return how sure it is that content beginning with ``head`` is such a log, 0 to 1."""
    found = _SNIFF.search(head)
    if found is None:
        return 0.0
    # In JSON and HTML it may be a citation.
    begin = head[:256].lstrip()[:1]
    return 1.0 if found.start() == 0 else 0.3 if begin in (b"{", b"[", b"<") else 0.8


def read(
    content: bytes,
    *,
    path: str = "<bytes>",
    limits: Limits | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Trace:
    """Read a log.

    Parameters
    ----------
    content : bytes
        What a program wrote to its standard output; other lines of it are passed over.
    path : str
        For messages and the title.
    limits : Limits, optional
        How many lines, how long a line, and how many events there may be.
    progress : callable, optional
        Told how many lines are read.

    Returns
    -------
    Trace
        A track per engine. Times begin at the first time stamp; without any they begin at 0.

    Raises
    ------
    CorruptTraceError
        No line is one of oneDNN's.
    LimitExceededError
        There is more than the limits allow.
    """
    log = _Log(path, limits)
    total = content.count(b"\n") + 1
    for number, line, following in _lines(content.decode("utf-8", "replace")):
        log.add(number, line, following)
        if progress is not None and not number % _LINES_PER_STEP:
            progress(f"Reading {PurePath(path).name}", number, total)
    if not log.seen:
        raise CorruptTraceError.at(
            path,
            "",
            "no line of it is one of oneDNN's log.",
            "Run the program with ONEDNN_VERBOSE=2 (DNNL_VERBOSE, MKLDNN_VERBOSE before 2.5), "
            "and keep its standard output.",
        )
    return log.trace()


def _lines(text: str) -> Iterator[tuple[int, str, str]]:
    """Give number, text and next line of every line that holds a marker."""
    number, begin = 1, 0
    found = MARKER.search(text)
    while found is not None:
        number += text.count("\n", begin, found.start())
        begin = text.rfind("\n", 0, found.start()) + 1
        end = text.find("\n", begin)
        end = len(text) if end < 0 else end
        after = text.find("\n", end + 1)
        yield number, text[begin:end], text[end + 1 : len(text) if after < 0 else after]
        begin, found = end, MARKER.search(text, end)


class _Log:
    """Lines on their way into a trace."""

    def __init__(self, path: str, limits: Limits | None) -> None:
        self._path = path
        self._limits = limits
        self._templates = Templates()
        self._entries: list[Work | Message] = []
        self._info: list[str] = []
        self._torn: list[int] = []
        self._joined: list[int] = []
        self.seen = False

    def add(self, number: int, line: str, following: str) -> None:
        """Take what is in one line."""
        if self._limits is not None:
            self._limits.check("rows", number, self._path, f"line {number}")
            self._limits.check("string_bytes", len(line), self._path, f"line {number}")
            self._limits.check("events", len(self._entries), self._path, f"line {number}")
        self.seen = True
        if "\x1b" in line or "\x1b" in following:
            line, following = _COLOUR.sub("", line), _COLOUR.sub("", following)
        # Several threads may have written into one line.
        parts = MARKER.split(line)[1:]
        for place, part in enumerate(parts):
            entry = parsed(part, self._templates)
            if isinstance(entry, Torn) and place == len(parts) - 1 and not MARKER.search(following):
                entry = self._with_the_rest(part, following)
                if not isinstance(entry, Torn):
                    self._joined.append(number)
            if isinstance(entry, Torn):
                self._torn.append(number)
            elif isinstance(entry, Info):
                if entry.text not in self._info:
                    self._info.append(entry.text)
            elif max(entry.stamp_ns, getattr(entry, "dur_ns", 0)) >= _LARGEST_NS:
                self._torn.append(number)
            else:
                self._entries.append(entry)

    def _with_the_rest(self, part: str, following: str) -> Work | Message | Info | Torn:
        """Return a line whose end stands in the next one, behind output of the program.

        The field that was torn keeps what was written into it; the number of fields tells that
        the others are where they belong.
        """
        if part.count(",") < 3 or not following or following.startswith(","):
            return Torn(part)
        whole = parsed(f"{part.rstrip()} {following}", self._templates)
        return whole if isinstance(whole, Work) else Torn(part)

    def trace(self) -> Trace:
        """Return the trace of all lines."""
        stamps = [entry.stamp_ns for entry in self._entries if entry.stamp_ns >= 0]
        origin = min(stamps, default=0)
        builder = TraceBuilder(
            Meta(
                title="" if self._path.startswith("<") else PurePath(self._path).name,
                origin_epoch_ns=origin if origin >= _UNIX_NS else -1,
                backend="onednn",
                versions=MappingProxyType(self._versions()),
                extra=MappingProxyType({"info": list(self._info)} if self._info else {}),
            )
        )
        rows = _Rows(builder)
        now = 0
        for entry in self._entries:
            start = entry.stamp_ns - origin if entry.stamp_ns >= 0 else now
            now = max(now, rows.add(entry, start))
            if now >= _LARGEST_NS:
                raise CorruptTraceError.at(
                    self._path, "", "its times add up to more than 146 years.", ""
                )
        rows.finish()
        self._notes(builder, len(stamps))
        return builder.build()

    def _versions(self) -> dict[str, str]:
        """Return the version of the library, as the first line of the head tells it."""
        for text in self._info:
            if found := re.match(r"(?:oneDNN|DNNL|Intel\(R\) MKL-DNN|MKL-DNN) (v\S+.*)", text):
                return {"oneDNN": found[1].strip()}
        return {}

    def _notes(self, builder: TraceBuilder, stamped: int) -> None:
        without = len(self._entries) - stamped
        if without:
            who = f"{without:,} lines of the log have" if stamped else "The log has"
            what = "their events" if stamped else "events"
            builder.note(
                "no_times",
                without,
                f"{who} no time stamps: {what} lie end to end in its order, so gaps and overlaps "
                "are not shown (durations are exact). ONEDNN_VERBOSE_TIMESTAMP=1 "
                "(DNNL_VERBOSE_TIMESTAMP before 2.5) adds them.",
            )
        if self._joined:
            builder.note(
                "joined",
                len(self._joined),
                f"{_lines_were(self._joined)} interrupted by other output and put together; a "
                "field of each may hold some of that.",
            )
        if self._torn:
            builder.note(
                "torn",
                len(self._torn),
                f"{_lines_were(self._torn)} not whole, or not as any version writes it, and left "
                "out. Another thread or process may have written into it.",
            )
        elif not self._entries:
            builder.note(
                "only_head",
                1,
                "The log holds its head only: no primitive ran, or ONEDNN_VERBOSE is below 1.",
            )


def _lines_were(numbers: list[int]) -> str:
    if len(numbers) == 1:
        return f"Line {numbers[0]:,} was"
    return f"{len(numbers):,} lines, the first of them line {numbers[0]:,}, were"


class _Rows:
    """Rows of events and of their details; many events of a log share their details."""

    def __init__(self, builder: TraceBuilder) -> None:
        self._builder = builder
        self._tracks: dict[str, int] = {}
        self._args: dict[tuple[str, ...], int] = {}
        names = ("start_ns", "dur_ns", "kind", "name", "category", "domain", "track", "arg")
        self._columns: dict[str, list[int]] = {name: [] for name in names}

    def add(self, entry: Work | Message, start: int) -> int:
        """Add one event and return when it ends."""
        if isinstance(entry, Message):
            told = {"operation": entry.operation, "message": entry.text}
            self._row(start, 0, "instant", f"{entry.name} {entry.operation}", "engine",
                      "oneDNN message", self._track("cpu"), self._arg(told))  # fmt: skip
            return start
        domain, category = "oneDNN", "operator"
        if entry.is_creation:
            domain, category = "oneDNN create", "api"
        elif entry.api == "graph":
            domain = "oneDNN graph"
        engine = entry.fields.get("engine", "cpu")
        self._row(start, entry.dur_ns, "span", entry.name, category, domain,
                  self._track(engine), self._arg(entry.fields))  # fmt: skip
        return start + entry.dur_ns

    def finish(self) -> None:
        """Hand all rows to the builder."""
        self._builder.add_events(**self._columns)

    def _row(self, start: int, dur: int, kind: str, name: str, category: str, domain: str,
             track: int, arg: int) -> None:  # fmt: skip
        string = self._builder.string
        row = (start, dur, schema.KINDS.index(kind), string(name),
               schema.CATEGORIES.index(category), string(domain), track, arg)  # fmt: skip
        for column, value in zip(self._columns.values(), row, strict=True):
            column.append(value)

    def _track(self, engine: str) -> int:
        if engine not in self._tracks:
            role = "stream" if engine.startswith("gpu") else "worker"
            self._tracks[engine] = self._builder.track(
                f"oneDNN {engine}", role=role, device=engine, backend="onednn"
            )
        return self._tracks[engine]

    def _arg(self, fields: dict[str, str]) -> int:
        key = tuple(fields.values())
        if key not in self._args:
            told = {name: value for name, value in fields.items() if value}
            self._args[key] = self._builder.arg(
                shapes=fields.get("problem_desc") or None,
                dtype=_dtype(fields.get("memory_descriptors", "")),
                raw=json.dumps(told, ensure_ascii=False, separators=(",", ":")),
            )
        return self._args[key]


def _dtype(tensors: str) -> str | None:
    """Return the types of the tensors in their order, each once: ``"u8, s8, f32"``."""
    found = re.findall(r"(?:^| )(?:\w*_|\w+:)([a-z]+\d\w*):", tensors)
    return ", ".join(dict.fromkeys(found)) or None
