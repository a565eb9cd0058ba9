"""The reader of Chrome traces (Trace Event Format), of any producer and in any state.

- Slices: ``X``, and ``B``/``E`` by process and thread: an end closes the innermost begin, in order
  of time; in MXNet's dumps it closes the one before it. Asynchronous: ``b``/``e`` by category, id
  and name, ``S``/``F`` by category, id and process, ``(``/``)``, objects from ``N`` to ``D``.
  Points: ``i``, ``I``, ``n``, ``O``, samples ``P``, steps ``T`` and ``p``. Counters ``C``, flows
  ``s``/``t``/``f`` and ``bind_id``, names and order from ``M``.
- Times are microseconds, as numbers or texts; what they are displayed in is not looked at.
- MXNet's operators stand twice in its dumps and once here. PyTorch's launches are linked to the
  kernels they launched by their correlation; streams are tracks of their device.
- What has one meaning is repaired, what has none is set aside; the health says what, how often,
  and where first. One bad event never costs another. A slice without an end is drawn to the end
  of the run; other programs leave it out.
- Files of our own writer come back as the trace that was written.

Reference: "Trace Event Format"; where it is silent (ids in ``id2``, the slice a flow binds to)
the importers of catapult and Perfetto.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from io import BytesIO
from typing import IO

from mxprof_nb.errors import CorruptTraceError, SchemaError, UnsupportedVersionError
from mxprof_nb.io.chrome_writer import own_key
from mxprof_nb.io.chrome_writer.mxnet_layout import completed
from mxprof_nb.io.content import Progress
from mxprof_nb.io.limits import Limits
from mxprof_nb.trace import Trace

__all__ = ["read", "read_chrome", "read_file", "sniff"]

_KEY = f'"{own_key.KEY}"'.encode()
#: Where our writer has its key, and how far others look.
_HEAD = 4096
_EVENT = re.compile(rb'\{\s*"(?:ph|name|cat|pid|tid|ts|dur|id|args)"\s*:')
_PHASE = re.compile(rb'"ph"\s*:\s*"[A-Za-z()]"')


def sniff(head: bytes, path: str) -> float:
    """Return how sure it is that content beginning with ``head`` is a Chrome trace, 0 to 1."""
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith(b"{") and b'"traceEvents"' in text:
        return 1.0
    has_phase = _PHASE.search(text) is not None
    if text.startswith(b"[") and b'"ph"' in text:
        return 0.9
    if has_phase and _EVENT.search(text):  # a piece of a list
        return 0.6
    # An array of nothing, or an object whose events begin further down.
    if text.startswith(b"[") and text[1:].lstrip()[:1] in (b"", b"{", b"]"):
        return 0.2
    return 0.1 if text.startswith(b"{") else 0.0


def read_chrome(
    content: bytes,
    *,
    path: str = "<bytes>",
    limits: Limits | None = None,
    progress: Progress | None = None,
) -> Trace:
    """Read a Chrome trace.

    Parameters
    ----------
    content : bytes
        JSON text: the array form, the object form, or what is left of either.
    path : str
        For messages and the title.
    limits : Limits, optional
        How much the file may ask for.
    progress : callable, optional
        Told how far it is.

    Returns
    -------
    Trace
        Times are those of the file in ns, unshifted; ids keep their text. ``cat`` becomes the
        domain, and the category where its producer is known. Arguments stay undecoded text in
        the args table. The other keys of the object form are in ``meta.extra``.

    Raises
    ------
    CorruptTraceError
        Nothing in it could be an event.
    LimitExceededError
        The file asks for more than the limits allow.
    UnsupportedVersionError
        A later release of mxprof_nb wrote it.
    """
    file = BytesIO(content)
    return _read(file, len(content), path, limits or Limits(), progress)


#: What `mxprof_nb.io.registry.Reader` asks for.
read = read_chrome


def read_file(
    file: str,
    *,
    path: str,
    limits: Limits | None = None,
    progress: Progress | None = None,
) -> Trace:
    """Read a Chrome trace from a file of its own, piece by piece.

    Parameters
    ----------
    file : str
        Where it lies.
    path, limits, progress
        As of `read_chrome`.
    """
    with open(file, "rb") as opened:
        return _read(opened, os.stat(file).st_size, path, limits or Limits(), progress)


def _read(
    file: IO[bytes], size: int, path: str, limits: Limits, progress: Progress | None
) -> Trace:
    from mxprof_nb.io.chrome.events import collector_off
    from mxprof_nb.io.chrome.foreign import ForeignTrace

    problem = ""
    with collector_off():
        head = file.read(_HEAD)
        file.seek(0)
        if _KEY in head:
            try:
                return _own(file.read(), path)
            except UnsupportedVersionError:
                raise
            except CorruptTraceError as error:
                problem = str(error)
            file.seek(0)
        reading = ForeignTrace(file, size, path, limits, progress)
        reading.read()
        trace = reading.build()
    if not problem:
        return trace
    said = f"It was written by mxprof_nb and read like any other file, as it was changed: {problem}"
    return replace(trace, health=trace.health.with_note("own_part", 1, said))


def _own(content: bytes, path: str) -> Trace:
    """Read a file of our own writer."""
    from mxprof_nb.io.chrome.checked import Checked
    from mxprof_nb.io.chrome.events import decode
    from mxprof_nb.io.chrome.mxnet_layout import MxnetReading, prepared
    from mxprof_nb.io.chrome.own_layout import Reading

    content, is_cut = completed(content)
    file = decode(content, path, own_key.KEY)
    try:
        reading: Reading
        if file.own is None:
            raise CorruptTraceError.at(path, "", "the key of mxprof_nb is not at its place.", "")
        if "layout" in file.own:
            reading = MxnetReading(prepared(file, is_cut))
        else:
            reading = Reading(Checked(file))
        reading.add_rows()
        return reading.builder.build()
    except SchemaError as cause:  # a number of our own that leads nowhere
        raise CorruptTraceError.at(
            path, "", f"it does not hold together. {cause}", own_key.AS_PLAIN
        ) from cause
