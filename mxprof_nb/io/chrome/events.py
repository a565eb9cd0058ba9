"""The JSON of a Chrome trace, as typed events.

Reference: "Trace Event Format", the document that chrome://tracing and Perfetto follow. A trace
is an array of events, or an object whose ``traceEvents`` is one; everything else in the object
says something about the trace as a whole.

- Import it inside functions: it loads msgspec.
- Arguments of foreign events stay undecoded bytes; those of our own files are typed.
- Keep the collector off meanwhile (`collector_off`): it would walk through a million objects
  that hold no cycle.
"""

from __future__ import annotations

import gc
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import msgspec

from mxprof_nb.errors import CorruptTraceError, ReadError

__all__ = ["ChromeEvent", "ChromeFile", "OwnArgs", "OwnEvent", "collector_off", "decode"]

REWRITE = "Have its producer write it again, or repair the place by hand."
#: A backslash and what it escapes: a whole surrogate pair, half of one, or anything else.
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|u([dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)


class Numbers(msgspec.Struct, gc=False):
    """The times of an event, digit by digit."""

    ts: Decimal | None = None
    dur: Decimal | None = None


class ChromeEvent(msgspec.Struct, gc=False):
    """One event as the format defines it; fields that no reader needs are left out."""

    ph: str = ""
    name: str = ""
    cat: str = ""
    ts: int | float | None = None
    dur: int | float | None = None
    pid: int | str | None = None
    tid: int | str | None = None
    id: int | str | None = None
    id2: dict[str, int | str] | None = None
    bp: str = ""
    unit: str | None = None  # ours: of a counter
    special: str | None = None  # ours: the value of a counter that is no JSON number
    args: msgspec.Raw = msgspec.Raw()


class OwnArgs(msgspec.Struct, gc=False):
    """What our writer puts into the arguments of an event."""

    correlation: int = -1
    step: int = -1
    queued_ns: int = -1
    earlier: int = -1
    site: int = -1
    arg: int = -1
    bytes: int = -1
    flops: int = -1
    shapes: str | None = None
    dtype: str | None = None
    details: msgspec.Raw = msgspec.Raw()
    text: str | None = None
    category: str | None = None
    kind: str | None = None
    source: int = -1  # of a flow: the row it starts from
    target: int = -1  # and the row it leads to
    event: int = -1  # either, in files of before
    value: float | None = None  # of a counter


class OwnEvent(ChromeEvent, gc=False):
    """One event of a file that our writer wrote."""

    args: OwnArgs | None = None  # type: ignore[assignment]


@dataclass(frozen=True, slots=True)
class ChromeFile:
    """A decoded Chrome trace.

    Attributes
    ----------
    path : str
        Where it came from, for messages.
    events : list of ChromeEvent or OwnEvent
        In the order of the file.
    extras : dict
        Everything else in the object form, decoded.
    own : dict or None
        What our writer said about the trace as a whole, None in foreign files; if present,
        every event is an `OwnEvent`, unless it names another layout.
    json : msgspec.Raw
        The array of events.
    marks : Marks or None
        How halves of surrogate pairs were marked, None when there are none.
    """

    path: str
    events: list[Any]
    extras: dict[str, Any]
    own: dict[str, Any] | None
    json: msgspec.Raw
    marks: Marks | None

    def corrupt(self, event: int, problem: str, remedy: str) -> ReadError:
        """Build the error for one event, counted from 0."""
        return CorruptTraceError.at(self.path, f"event {event}", problem, remedy)

    def exact_times(self, rows: Sequence[int]) -> tuple[list[Decimal], list[Decimal]]:
        """Return ts and dur of the given events digit by digit; 0 where there is none.

        Decodes the file once more.
        """
        numbers = msgspec.json.decode(self.json, type=list[Numbers])
        zero = Decimal(0)
        return [numbers[row].ts or zero for row in rows], [numbers[row].dur or zero for row in rows]

    def text(self, text: str) -> str:
        """Return the text that was meant by a decoded one."""
        return text if self.marks is None else self.marks.removed(text)

    def raw(self, event: int, raw: msgspec.Raw) -> str:
        """Return undecoded arguments as the JSON text that stands in the file."""
        try:
            text = bytes(raw).decode()
        except UnicodeDecodeError as cause:
            raise self.corrupt(event, f"its args are no UTF-8 ({cause}).", REWRITE) from cause
        return text if self.marks is None else self.marks.escaped(text)

    def plain(self, event: int, raw: msgspec.Raw) -> Any:
        """Return decoded arguments; None where there are none."""
        text = self.raw(event, raw)
        try:
            return json.loads(text) if text else None
        except (ValueError, RecursionError) as cause:  # a number of thousands of digits
            raise self.corrupt(event, f"its args cannot be decoded ({cause}).", REWRITE) from cause


def decode(content: bytes, path: str, own_key: str) -> ChromeFile:
    """Decode a Chrome trace.

    Parameters
    ----------
    content : bytes
        JSON text in UTF-8, with or without a byte order mark.
    path : str
        For messages.
    own_key : str
        Key of the object under which our writer leaves what the format has no place for.

    Raises
    ------
    CorruptTraceError
        The text is no JSON, or the JSON no Chrome trace; names the byte or the event.
    """
    content = content.removeprefix(b"\xef\xbb\xbf")
    marks = None
    with _errors_of(path, content):
        try:
            events_json, others = _parts(content, path)
        except msgspec.DecodeError:
            content, marks = _without_halves(content)
            if marks is None:
                raise
            events_json, others = _parts(content, path)
        extras = {key: _plain(raw, marks) for key, raw in others.items()}
        own = extras.pop(own_key, None)
        kind = OwnEvent if isinstance(own, dict) and "layout" not in own else ChromeEvent
        events = msgspec.json.decode(events_json, type=list[kind])  # type: ignore[valid-type]
    return ChromeFile(
        path, events, extras, own if isinstance(own, dict) else None, events_json, marks
    )


def _parts(content: bytes, path: str) -> tuple[msgspec.Raw, dict[str, msgspec.Raw]]:
    """Return the array of events, and the other keys of the object form; both undecoded."""
    if content.lstrip()[:1] != b"{":
        return msgspec.json.decode(content, type=msgspec.Raw), {}
    others = msgspec.json.decode(content, type=dict[str, msgspec.Raw])
    if "traceEvents" not in others:
        raise CorruptTraceError.at(
            path,
            "",
            "the object has no key 'traceEvents', under which a Chrome trace keeps its events.",
            "mxprof_nb.list_readers() names the formats that can be read.",
        )
    return others.pop("traceEvents"), others


def _plain(raw: msgspec.Raw, marks: Marks | None) -> Any:
    """Decode a part that is small, or text that may hold halves of surrogate pairs."""
    text = bytes(raw).decode()
    return json.loads(text if marks is None else marks.escaped(text))


@contextmanager
def collector_off() -> Iterator[None]:
    """Keep the garbage collector from running, if it is on."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@contextmanager
def _errors_of(path: str, content: bytes) -> Iterator[None]:
    """Turn what a decoder raises into an error that names the byte or the event."""
    try:
        yield
    except msgspec.ValidationError as cause:
        problem, _, where = str(cause).partition(" - at ")
        found = re.fullmatch(r"`\$\[(\d+)\]\.?(.*)`", where)
        place = f"event {found[1]}" if found else ""
        field = f"field {found[2]!r}: " if found and found[2] else ""
        problem = problem.replace(" | null`", "`")
        raise CorruptTraceError.at(path, place, f"{field}{problem}.", REWRITE) from cause
    except ReadError:
        raise
    except (msgspec.DecodeError, ValueError) as cause:  # also of UTF-8, and of numbers too long
        found = re.fullmatch(r"(?:JSON is malformed: )?(.*?)(?: \(byte (\d+)\))?", str(cause))
        problem, byte = (found[1], found[2]) if found else (str(cause), None)
        if problem == "Input data was truncated":
            problem, byte = "the file ends in the middle", str(len(content))
        raise CorruptTraceError.at(
            path, f"byte {byte}" if byte else "", f"this is no valid JSON: {problem}.", REWRITE
        ) from cause
    except RecursionError as cause:
        raise CorruptTraceError.at(path, "", "it is nested too deeply.", REWRITE) from cause


@dataclass(frozen=True, slots=True)
class Marks:
    """Stand-ins for halves of surrogate pairs, which JSON may hold and no UTF-8 decoder takes.

    Python keeps bytes of file names it cannot decode as such halves, so names do contain them.
    """

    pattern: re.Pattern[str]

    def removed(self, text: str) -> str:
        """Return a decoded text with the halves back in it."""
        return self.pattern.sub(lambda mark: chr(int(mark[1], 16)), text)

    def escaped(self, text: str) -> str:
        """Return undecoded JSON text with the escapes back in it."""
        return self.pattern.sub(lambda mark: f"\\u{mark[1]}", text)


def _without_halves(content: bytes) -> tuple[bytes, Marks | None]:
    """Replace the escape of every half surrogate by a mark that occurs nowhere else."""
    number = 0
    while (mark := b"<half-%d-" % number) in content:
        number += 1
    marked = _ESCAPE.sub(lambda m: mark + m[1] + b">" if m[1] else m[0], content)
    if marked == content:
        return content, None
    return marked, Marks(re.compile(re.escape(mark.decode()) + "([0-9a-fA-F]{4})>"))
