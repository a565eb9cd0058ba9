"""The text of a Chrome trace, block by block, as events; damage costs the block it is in.

A block ends where an event probably ends. Whether it does is shown by the decoder, which takes
the block for a list of whole values or refuses it; what it refuses is searched for events one by
one. So no guess decides about what is read, only about how fast.

As long as nothing is wrong, no more of the file is in memory than a block; else all of it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import IO, Any

import msgspec

from mxprof_nb.errors import CorruptTraceError
from mxprof_nb.io.chrome.faults import Faults, no_events
from mxprof_nb.io.chrome.records import Everything, InWholes, Usual, plain, settled
from mxprof_nb.io.chrome.repair import repaired
from mxprof_nb.io.chrome.scanner import EVENT_START, NO_KEY, Scan, Span, rest_of_object, scanned
from mxprof_nb.io.limits import Limits

__all__ = ["Document"]

#: What is decoded at a time; it and the events made of it fit into the cache of a processor.
BLOCK_BYTES = 1 << 22
#: The end of a block is looked for in its last bytes.
_NEAR = 1 << 16
#: No further than this without an end.
_MOST_BYTES = 16 << 20
_EVENTS = "traceEvents"
_ARRAY = re.compile(rb'"traceEvents"\s*:\s*\[')
_SPACE = re.compile(rb"\s*")
_BETWEEN = re.compile(rb"\s*(,?)\s*")
_FIRST_KEYS = re.compile(rb'\}\s*,\s*\{\s*"(\w{1,20})"')
#: What events begin with; more is learned from the first ones of the file.
_USUAL_KEYS = (b"ph", b"name", b"cat", b"pid", b"tid", b"ts", b"args")
_TRIES = 3
_BREAK = b"\n"
_MARK = b"\xef\xbb\xbf"


class Document:
    """The text of one file.

    Parameters
    ----------
    file : file object
        At its begin, and able to go back there.
    path : str
        For messages.
    limits : Limits
    faults : Faults
        Told what was wrong.

    Attributes
    ----------
    extras : dict
        What the object form says beside its events; whole when all blocks were taken.
    rows : int
        Number of entries given out so far.
    """

    def __init__(self, file: IO[bytes], path: str, limits: Limits, faults: Faults) -> None:
        self.path = path
        self.limits = limits
        self.faults = faults
        self.extras: dict[str, Any] = {}
        self.rows = 0
        self._file = file
        #: What was let go of, in bytes, and the text from there on; all of it if ``_is_whole``.
        self._before = 0
        self._text = file.read(BLOCK_BYTES)
        self._is_whole = len(self._text) < BLOCK_BYTES
        self._place = len(_MARK) if self._text.startswith(_MARK) else 0
        self._block: Any = b""
        self._decoders: list[Any] = [
            msgspec.json.Decoder(list[InWholes]),
            msgspec.json.Decoder(list[Usual]),
            msgspec.json.Decoder(list[Everything]),
        ]
        self._one = msgspec.json.Decoder(Everything)
        self._loose = msgspec.json.Decoder(dict[str, msgspec.Raw])
        self._entries = msgspec.json.Decoder(list[msgspec.Raw])
        self._traces = 0
        self._is_first = True  # no comma is due
        self._is_object = False

    @property
    def done(self) -> int:
        """How many bytes have been read."""
        return self._before + self._place

    def close(self) -> None:
        """Let go of the text."""
        self._text = self._block = b""

    def again(self) -> Sequence[Any]:
        """Return the last events once more, with the text of their times."""
        events: list[Any] = self._decoders[-1].decode(self._block)
        return events

    def _take_whole(self) -> None:
        """Put all of the file into memory."""
        self._file.seek(0)
        self._text = self._file.read()
        self._place += self._before
        self._before, self._is_whole = 0, True

    def blocks(self) -> Iterator[Sequence[Any]]:
        """Yield all entries, some thousands at a time, as `Usual` or `Everything`.

        Raises
        ------
        CorruptTraceError
            There is nothing in the text that could be an event.
        """
        while self._open():
            self._traces += 1
            yield from self._list()
        if self._traces > 1:
            self.faults.add("joined_files", count=self._traces - 1)

    # Where the list begins

    def _open(self) -> bool:
        """Go to the begin of the next list of events; return whether there is one."""
        if self._traces and EVENT_START.search(self._text, self._place) is None:
            return False
        for _ in range(2 - self._is_whole):
            if self._opens():
                return True
            if not self._is_whole:
                self._take_whole()
        text = self._text
        place = self._after_space()
        start = EVENT_START.search(text, place)
        first = _ARRAY.search(text, place, start.start() if start else len(text))
        if first is not None:
            if text[place : first.start()].strip(b" \t\r\n{,"):
                self.faults.add("damaged_keys", self._where(place))
            self._place = first.end()
            return True
        if start is None:
            raise CorruptTraceError.at(self.path, "", *no_events(text, place))
        if not self._traces:
            self.faults.add("no_brackets")
        self._place = start.start()
        return True

    def _opens(self) -> bool:
        """Go to the begin of the list if it stands where it should; return whether it does."""
        text = self._text
        place = self._after_space()
        self._is_object = text[place : place + 1] == b"{"
        if text[place : place + 1] == b"[":
            self._place = place + 1
            return True
        found = _ARRAY.search(text, place)
        while found is not None and self._is_object:
            head = text[place : found.start()] + b'"":0}'
            try:
                keys = self._loose.decode(head)
            except (msgspec.DecodeError, RecursionError, ValueError):
                is_near = found.start() - place < 1 << 20
                found = _ARRAY.search(text, found.end()) if is_near else None
                continue
            self._keep(keys)
            self._place = found.end()
            return True
        return False

    def _after_space(self) -> int:
        space = _SPACE.match(self._text, self._place)
        return space.end() if space else self._place

    def _keep(self, keys: dict[str, msgspec.Raw]) -> None:
        """Decode what stands beside the events."""
        for key, raw in keys.items():
            if not key:
                continue
            try:
                self.extras[key] = json.loads(bytes(raw))
            except (ValueError, RecursionError):  # a number of thousands of digits
                self.faults.add("damaged_keys", f"key {key!r}")

    # The list itself

    def _list(self) -> Iterator[Sequence[Any]]:
        self._is_first = True
        # Of thousands of short lists none may cost a look at all that stands behind it.
        if self._traces > 1 and not (yield from self._by_search(self._place + _NEAR)):
            return
        keys = {*_USUAL_KEYS, *_FIRST_KEYS.findall(self._text, self._place, self._place + _NEAR)}
        boundary = re.compile(rb'\}\s*,\s*\{\s*"(?:%b)"' % b"|".join(sorted(keys)))
        if not self._is_whole:
            yield from self._clean(boundary)
            if self._place == len(self._text):
                return
        text = self._text
        while True:
            begin = self._after_comma()
            events, stop = self._up_to(boundary, begin, self._place + BLOCK_BYTES)
            if stop < 0:
                events, stop = self._tail(begin), len(text)
            if events is not None:
                yield events
                if stop == len(text):
                    return
                self._place, self._is_first = stop, False
                continue
            if not (yield from self._by_search(stop)):
                return

    def _by_search(self, stop: int) -> Generator[Sequence[Any], None, bool]:
        """Yield the events that begin before a place; return whether the list goes on there."""
        nesting = self.limits.nesting
        scan = scanned(self._text, self._place, stop, nesting, is_first=self._is_first)
        yield self._searched(scan)
        self._place, self._is_first = scan.end, True
        if scan.state == "closed":
            self._after_list(scan.end)
        elif scan.state == "end" and not self.faults.count("no_brackets"):
            is_cut = any(span.state == "cut" for span in scan.spans[-1:])
            self.faults.add("cut_off" if is_cut else "no_end_bracket")
        return scan.state == "stop"

    def _clean(self, boundary: re.Pattern[bytes]) -> Iterator[Sequence[Any]]:
        """Yield the events piece by piece, and have all in memory as soon as one is damaged."""
        while True:
            piece = self._file.read(BLOCK_BYTES)
            self._text = self._text[self._place :] + piece
            self._before, self._place = self._before + self._place, 0
            begin, size = self._after_comma(), len(self._text)
            if piece:
                events, stop = self._up_to(boundary, begin, max(begin, size - _NEAR))
                if stop < 0 and size < _MOST_BYTES:  # a long event, or what follows them all
                    continue
            else:
                events, stop = self._tail(begin), size
            if events is None:
                self._take_whole()
                return
            self._place, self._is_first = stop, False
            yield events
            if not piece:
                return

    def _after_comma(self) -> int:
        """Return where the next event is due."""
        between = _BETWEEN.match(self._text, self._place)
        return between.end() if between and bool(between[1]) != self._is_first else self._place

    def _up_to(
        self, boundary: re.Pattern[bytes], begin: int, near: int
    ) -> tuple[Sequence[Any] | None, int]:
        """Return the events up to one that ends behind a place, and where it does.

        None where that could not be decoded, and -1 where no event seems to end.
        """
        stop = near
        for _ in range(_TRIES):
            found = boundary.search(self._text, stop)
            if found is None:
                return None, -1
            stop = found.start() + 1
            events = self._decoded(begin, stop)
            if events is not None:
                return events, stop
        return None, stop

    def _tail(self, place: int) -> Sequence[Any] | None:
        """Return the last events, when the text ends as it should."""
        text, stop = self._text, len(self._text)
        for _ in range(3):
            stop = text.rfind(b"]", place, stop)
            if stop < 0:
                return None
            rest = text[stop + 1 :].strip()
            if rest and (rest[-1:] != b"}" or rest[0] not in b",}"):
                continue
            try:
                keys = self._loose.decode(NO_KEY + rest) if rest else {}
            except (msgspec.DecodeError, RecursionError, ValueError):
                continue
            if _EVENTS in keys:  # a second time
                return None
            events = self._decoded(place, stop)
            if events is not None:
                self._keep(keys)
                if self._is_object and not rest and not self.faults.count("no_brackets"):
                    self.faults.add("no_end_bracket")
                self._place = len(text)
                return events
        return None

    def _decoded(self, place: int, stop: int) -> Sequence[Any] | None:
        """Return what stands between two places, None where that is not a list of values."""
        with memoryview(self._text) as text:
            self._block = block = b"".join((b"[", text[place:stop], b"]"))
        if not block.isascii() and not _is_utf8(block):  # what stays undecoded would go unnoticed
            return None
        while True:
            try:
                events: list[Any] = self._decoders[0].decode(block)
            except msgspec.ValidationError:
                if len(self._decoders) > 1:  # a field that is not usual
                    del self._decoders[0]
                    continue
                return self._by_one(block)
            except (msgspec.DecodeError, RecursionError, ValueError):
                return None
            self.rows += len(events)
            return events

    def _by_one(self, block: bytes) -> Sequence[Any] | None:
        """Return the entries of a list in which some have fields of another type."""
        try:
            entries = self._entries.decode(block)
        except (msgspec.DecodeError, RecursionError, ValueError):
            return None
        return list(map(self._entry, entries))

    def _entry(self, raw: Any) -> Everything:
        """Return one entry, whatever it is."""
        place = f"event {self.rows}"
        self.rows += 1
        try:
            return self._one.decode(raw)
        except (msgspec.DecodeError, RecursionError, ValueError):
            pass
        try:
            told = self._loose.decode(raw)
        except (msgspec.DecodeError, RecursionError, ValueError):
            self.faults.add("no_event", place)
            return _NOT_THERE
        event, is_odd = settled(plain(told))
        if is_odd:
            self.faults.add("mixed_types", place)
        return event

    # What no decoder takes

    def _searched(self, scan: Scan) -> list[Any]:
        """Return the events that were found one by one."""
        for code, places in (("stray_comma", scan.stray), ("missing_comma", scan.missing)):
            if places:
                self.faults.add(code, self._where(places[0]), len(places))
        found = []
        for span in scan.spans:
            event = self._found(span)
            if event is not None:
                found.append(event)
        return found

    def _found(self, span: Span) -> Everything | None:
        text = self._text[span.begin : span.end]
        place = self._of_event(span)
        if span.state == "cut":
            return None  # its last number may lack digits
        if len(text) > self.limits.string_bytes:
            self.faults.add("too_long", self._where(span.begin))
            return None
        if span.state == "whole" and _is_utf8(text):
            try:
                (entry,) = self._entries.decode(b"[%b]" % text)
            except (msgspec.DecodeError, RecursionError, ValueError):
                pass
            else:
                return self._entry(entry)
        if span.state == "too_deep":
            self.faults.add("too_deep", place)
            return None
        if span.state == "damaged":
            text = text.rstrip(b", \t\r\n")
        return self._mended(text, place, is_sure=span.state != "damaged")

    def _mended(
        self, text: bytes, place: Callable[[], str], *, is_sure: bool = True
    ) -> Everything | None:
        """Return an event of which no decoder could make sense, None where nobody can."""
        told, faults = repaired(text)
        if told is None or not (is_sure or (isinstance(told, dict) and "ph" in told)):
            self.faults.add("damaged", place)
            return None
        for code in faults:
            self.faults.add(code, place)
        self.rows += 1
        if not isinstance(told, dict):
            self.faults.add("no_event", place)
            return _NOT_THERE
        event, is_odd = settled(told)
        if is_odd:
            self.faults.add("mixed_types", place)
        return event

    def _where(self, place: int) -> Callable[[], str]:
        """Return what tells where a place is: finding the line takes long."""
        return lambda: f"line {self._text.count(_BREAK, 0, place) + 1:,}"

    def _of_event(self, span: Span) -> Callable[[], str]:
        row, line = self.rows, self._where(span.begin)
        return lambda: f"event {row} ({line()})"

    # Behind the list

    def _after_list(self, end: int) -> None:
        """Take what the object says behind its events; leave the place where it ends."""
        text = self._text
        if text[end - 1 : end] != b"]":
            self.faults.add("no_end_bracket", self._where(end))
        self._place = end
        self._place = place = self._after_space()
        first = text[place : place + 1]
        if first not in (b",", b"}"):
            return
        if first == b"," and EVENT_START.match(text[place + 1 : place + 4096].lstrip()):
            return  # a bracket too many: events go on
        tail, span = rest_of_object(text, place, self.limits.nesting)
        try:
            keys = self._loose.decode(tail[: span.end])
            again = _ARRAY.search(text, place) if keys.pop(_EVENTS, None) else None
            self._keep(keys)
            if again is not None:
                self._place = again.end() - 1
                return
        except (msgspec.DecodeError, RecursionError, ValueError):
            told, _ = repaired(tail[: span.end])
            if isinstance(told, dict):
                self.extras |= {key: value for key, value in told.items() if key}
            if tail[: span.end].strip() != NO_KEY or span.state != "cut":
                self.faults.add("damaged_keys", self._where(end))
            else:
                self.faults.add("no_end_bracket")
        self._place = place + span.end - len(NO_KEY)


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


#: Stands for an entry that is no event, so that those behind it keep their numbers.
_NOT_THERE = Everything(ph="\0")
