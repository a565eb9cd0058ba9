"""Reads what our own writer wrote: everything it knew finds its column again.

What breaks a rule is an error here, which names the event and the problem; the reader for files
of any producer takes what it can of such a file.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from operator import attrgetter
from pathlib import PurePath
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mxprof_nb.errors import CorruptTraceError, SchemaError
from mxprof_nb.io.chrome.tracks import add_tracks
from mxprof_nb.io.chrome_writer import own_key
from mxprof_nb.io.chrome_writer.mxnet_layout import completed
from mxprof_nb.trace import Meta, Trace, TraceBuilder, schema

if TYPE_CHECKING:
    from mxprof_nb.io.chrome.checked import Checked, Thread
    from mxprof_nb.io.chrome.events import ChromeFile, OwnArgs

__all__ = ["Reading", "read", "read_chrome", "sniff"]

_KIND = {phase: schema.KINDS.index("span") for phase in "XB"}
_KIND |= {phase: schema.KINDS.index("instant") for phase in "iIn"}
_KIND |= {"b": schema.KINDS.index("async")}

#: What an event is about, by the ``cat`` its producer gives it; others are the program's own.
_CATEGORIES = {
    "operator": "operator",
    "Custom Operator": "operator",
    "cpu_op": "operator",
    "MXNET_C_API": "api",
    "cuda_runtime": "api",
    "cuda_driver": "api",
    "kernel": "kernel",
    "gpu_memcpy": "copy",
    "gpu_memset": "copy",
    "python_function": "python",
}
#: What MXNet's engine does for itself; it stands among the operators of its dumps.
_HOUSEKEEPING = (
    "DeleteOperator",
    "DeleteVariable",
    "ResourceNativeRandomSetSeed",
    "ResourceParallelRandomSetSeed",
    "ResourceRandomSetSeed",
    "SetupExec",
    "WaitForVar",
)
#: Values of counters that JSON has no number for.
_SPECIAL: dict[str | None, float] = {text: float(text) for text in ("nan", "inf", "-inf")}
#: JSON knows larger integers than floats.
_LARGEST = sys.float_info.max


def sniff(head: bytes, path: str) -> float:
    """Return how sure it is that content beginning with ``head`` is a Chrome trace, 0 to 1."""
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith(b"{") and b'"traceEvents"' in text:
        return 1.0
    if text.startswith(b"[") and b'"ph"' in text:
        return 0.9
    # An array of nothing, or an object whose events begin further down.
    if text.startswith(b"[") and text[1:].lstrip()[:1] in (b"", b"{", b"]"):
        return 0.2
    return 0.1 if text.startswith(b"{") else 0.0


def read_chrome(content: bytes, *, path: str = "<bytes>") -> Trace:
    """Read a Chrome trace.

    Parameters
    ----------
    content : bytes
        JSON text: the array form or the object form.
    path : str
        For messages and the title.

    Returns
    -------
    Trace
        Times are those of the file in ns, unshifted; ids keep their text. ``cat`` becomes the
        domain, and the category where its producer is known. Arguments stay undecoded text in
        the args table. The other keys of the object form are in ``meta.extra``.

    Raises
    ------
    CorruptTraceError
        The content is no JSON, no Chrome trace, or breaks a rule; names the place.
    UnsupportedVersionError
        A later release of mxprof_nb wrote it.
    """
    from mxprof_nb.io.chrome.events import collector_off, decode

    content, is_cut = completed(content)
    with collector_off():
        try:
            # The decoded events are larger than the columns: they go before the trace is built.
            return _filled(decode(content, path, own_key.KEY), is_cut).build()
        except SchemaError as cause:  # a number of our own that leads nowhere
            raise CorruptTraceError.at(
                path, "", f"it does not hold together. {cause}", own_key.AS_PLAIN
            ) from cause


#: What `mxprof_nb.io.registry.Reader` asks for.
read = read_chrome


def _filled(file: ChromeFile, is_cut: bool) -> TraceBuilder:
    """Return a builder that holds the rows of a file."""
    from mxprof_nb.io.chrome.checked import Checked

    if file.own is not None and "layout" in file.own:
        from mxprof_nb.io.chrome.mxnet_layout import MxnetReading, prepared

        reading: Reading = MxnetReading(prepared(file, is_cut))
    else:
        reading = Reading(Checked(file))
    reading.add_rows()
    return reading.builder


class Reading:
    """One file on its way into a builder."""

    def __init__(self, checked: Checked) -> None:
        self.checked = checked
        self.file = checked.file
        self.events = checked.events
        self.is_own = self.file.own is not None
        self.slices = checked.slices()
        self._families: dict[str, tuple[int, int]] = {}
        self.known: dict[Thread, int] = {}
        if self.file.own is not None:
            self.builder, self.known = own_key.restored(self.file.own, self.file.path)
            checked.start += own_key.zero_ns(self.file.own, self.file.path, checked.start)
            return
        extra = dict(self.file.extras)
        if checked.others:
            extra["metadata_events"] = checked.others
        base = extra.get("baseTimeNanoseconds")  # PyTorch: the Unix time of its time 0
        self.builder = TraceBuilder(
            Meta(
                title="" if self.file.path.startswith("<") else PurePath(self.file.path).name,
                origin_epoch_ns=base if type(base) is int and base >= 0 else -1,
                extra=MappingProxyType(extra),
            )
        )

    def add_rows(self) -> None:
        """Fill the builder."""
        for note in self.checked.left_out:
            self.builder.note(note.code, note.count, note.message)
        from mxprof_nb.io.chrome.flows import add_flows

        threads, codes = self.checked.threads(self.slices)
        rows, counters = self._tracks(threads)
        track = np.array([rows[thread] for thread in threads], dtype=np.int32)[codes]
        self._add_events(track)
        self._add_counters(counters)
        add_flows(self.builder, self.checked, self.slices, track, rows)

    def _tracks(
        self, of_slices: Sequence[Thread]
    ) -> tuple[Mapping[Thread, int], Mapping[Any, int]]:
        """Return tracks by thread, and tracks of counters by process (by thread in our files)."""
        thread, points = self.checked.thread, self.checked.by_phase["C"]
        threads = dict.fromkeys(of_slices)
        if not self.is_own:
            counters = dict.fromkeys(self.checked.id_text(self.events[row].pid) for row in points)
            return add_tracks(self.builder, threads, counters, self.checked.labels)
        threads |= dict.fromkeys(map(thread, points))
        new = [one for one in threads if one not in self.known]
        added, _ = add_tracks(self.builder, new, (), self.checked.labels)
        rows: dict[Thread, int] = {**self.known, **added}
        return rows, rows

    def _add_events(self, track: NDArray[Any]) -> None:
        checked, slices = self.checked, self.slices
        chosen = [self.events[row] for row in slices]
        columns: dict[str, Any] = {
            "start_ns": checked.start[slices],
            "dur_ns": checked.lengths(slices),
            "name": self._codes(list(map(attrgetter("name"), chosen))),
            "track": track,
            **self._sorts(chosen),
        }
        if self.is_own:
            columns |= self._own_columns()
        else:
            columns["arg"] = self._foreign_args()
            columns["category"] = self._without_housekeeping(columns)
        self._added(self.builder.add_events(**columns), columns)

    def _sorts(self, chosen: Sequence[Any]) -> dict[str, list[int]]:
        """Return kind, category and domain of events."""
        families = list(map(self._family, map(attrgetter("cat"), chosen)))
        return {
            "kind": [_KIND[phase] for phase in map(attrgetter("ph"), chosen)],
            "category": [category for category, _ in families],
            "domain": [domain for _, domain in families],
        }

    def _added(self, rows: NDArray[Any], columns: Mapping[str, Any]) -> None:
        """Take note of the rows that events became; other layouts add what follows from them."""

    def _family(self, cat: str) -> tuple[int, int]:
        """Return the codes of category and domain."""
        known = self._families.get(cat)
        if known is None:
            text = self.file.text(cat)
            if not self.is_own:
                category, domain = _CATEGORIES.get(text, "user"), text
            else:
                category, _, domain = text.partition(",")
                if category not in schema.CATEGORIES:  # added by another program
                    category, domain = _CATEGORIES.get(text, "user"), text
            known = schema.CATEGORIES.index(category), self.builder.string(domain)
            self._families[cat] = known
        return known

    def _without_housekeeping(self, columns: dict[str, Any]) -> NDArray[Any]:
        """Return the categories, with what MXNet's engine does for itself told apart."""
        category, domain = np.array(columns["category"]), np.array(columns["domain"])
        names = [self.builder.string(name) for name in _HOUSEKEEPING]
        own = np.isin(columns["name"], names) & (domain == self.builder.string("operator"))
        return np.where(own, schema.CATEGORIES.index("engine"), category)

    def _foreign_args(self) -> NDArray[Any]:
        """Add arguments as raw text and return their rows, -1 for none."""
        texts: list[str] = []
        rows = np.full(len(self.slices), -1, dtype=np.int64)
        for place, row in enumerate(self.slices):
            text = self.file.raw(row, self.events[row].args)
            end = self.checked.ends.get(row)
            if end is not None:
                text = _merged(text, self.file.raw(end, self.events[end].args))
            if text not in ("", "{}"):
                rows[place] = len(texts)
                texts.append(text)
        if texts:
            self.builder.add_args(raw=self.builder.strings(texts))
        return rows

    def _own_columns(self) -> dict[str, Any]:
        """Return the columns that our writer put into the arguments; add rows of args."""
        from mxprof_nb.io.chrome.events import OwnArgs

        nothing = OwnArgs()
        said = [self.events[row].args or nothing for row in self.slices]
        columns: dict[str, Any] = {
            name: list(map(attrgetter(name), said))
            for name in ("correlation", "step", "queued_ns", "earlier", "site", "arg")
        }
        # Several events may share one row of args: the first that has it tells it.
        first: dict[int, int] = {}
        for place, number in enumerate(columns["arg"]):
            if number >= 0:
                first.setdefault(number, place)
        if first:
            numbers = sorted(first)
            renumber = {number: row for row, number in enumerate(numbers)}
            columns["arg"] = [renumber.get(number, -1) for number in columns["arg"]]
            args = [said[first[number]] for number in numbers]
            self.builder.add_args(
                bytes=list(map(attrgetter("bytes"), args)),
                flops=list(map(attrgetter("flops"), args)),
                shapes=self._codes(list(map(attrgetter("shapes"), args))),
                dtype=self._codes(list(map(attrgetter("dtype"), args))),
                raw=self._raw_codes([self.slices[first[number]] for number in numbers], args),
            )
        return columns

    def _raw_codes(self, rows: Sequence[int], args: Sequence[OwnArgs]) -> list[int]:
        """Return the codes of what our writer had no field for: JSON as it stood, or a text."""
        no_details = type(args[0])().details
        codes = self._codes([one.text for one in args])
        for place, one in enumerate(args):
            if one.details is not no_details:
                codes[place] = self.builder.string(self.file.raw(rows[place], one.details))
        return codes

    def _codes(self, texts: Sequence[str | None]) -> list[int]:
        """Return the codes of decoded texts, -1 for None."""
        known: dict[str | None, int] = {None: -1}
        for text in dict.fromkeys(texts):
            if text is not None:
                known[text] = self.builder.string(self.file.text(text))
        return [known[text] for text in texts]

    def _add_counters(self, tracks: Mapping[Any, int]) -> None:
        """Add a sample per series of every counter event."""
        own, checked = self.is_own, self.checked
        rows: list[int] = []
        names, values, units = [], [], []
        for row in checked.by_phase["C"]:
            event = self.events[row]
            name = self.file.text(event.name)
            if own:
                number = event.args.value if event.args else None
                series: dict[str, Any] = {"value": number}
                if event.special in _SPECIAL:
                    series = {"value": 0.0}
            else:
                series = self._series(row)
                name += f"[{event.id}]" if event.id is not None else ""
            for key, value in series.items():
                if type(value) not in (int, float) or abs(value) > _LARGEST:
                    checked.refuse(row, f"series {key!r} of counter {name!r} is no number.")
                # One series stands for the counter itself, whatever it is called.
                names.append(name if len(series) == 1 else f"{name} {key}")
                rows.append(row)
                values.append(_SPECIAL.get(event.special if own else None, float(value)))
                units.append(event.unit if own else "B" if name.startswith("Memory: ") else None)
        if rows:
            self.builder.add_counters(
                time_ns=checked.start[rows],
                track=[
                    tracks[checked.thread(row) if own else checked.id_text(self.events[row].pid)]
                    for row in rows
                ],
                name=self.builder.strings(names),
                value=values,
                unit=self._codes(units),
            )

    def _series(self, row: int) -> dict[str, Any]:
        args = self.file.plain(row, self.events[row].args)
        if not isinstance(args, dict):
            self.checked.refuse(row, "the args of a counter must be an object.")
        return dict(args)


def _merged(begin: str, end: str) -> str:
    """Return the arguments of a begin and its end as one JSON text; the end's win."""
    if end in ("", "{}"):
        return begin
    if begin in ("", "{}"):
        return end
    if begin.startswith("{") and end.startswith("{"):
        return f"{begin[:-1].rstrip()},{end[1:].lstrip()}"
    return f"[{begin},{end}]"
