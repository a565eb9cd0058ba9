"""`private`: a trace that tells nothing of the machine and the person it was recorded by.

What is written to a file travels. Names of files are given from the working directory on, the
home folder is ``~``, and names of the host and of the user are taken out of every text.
"""

from __future__ import annotations

import getpass
import os
import re
import socket
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import PurePath
from typing import Any

import numpy as np

from mxprof_nb.trace.meta import Health, Meta
from mxprof_nb.trace.strings import Strings
from mxprof_nb.trace.tables import SiteTable
from mxprof_nb.trace.trace import Trace

__all__ = ["fit_to_travel", "private", "without_source"]

#: Stand for what was taken out.
HOST, USER, HOME = "<host>", "<user>", "~"
#: Facts that producers write about where they ran, which may be another machine than this.
_NAMES = {"host_name": HOST, "hostname": HOST, "user_name": USER, "username": USER}
#: Host names of another kind are words that a program may use for something else.
_TELLING = re.compile(r"[-.\d]")
#: Folders of people, on whatever machine a file was recorded that is read here.
_HOMES = re.compile(
    r"""(?<![\w.~-])(?:/home/|/Users/|[A-Za-z]:[\\/]+Users[\\/]+)[^\s/\\"',;:()<>]+"""
)
_HOME_CLUES = ("/home/", "/Users/", "Users\\")
_WORD, _END = r"(?<![\w.-])", r"(?![\w-])"


def fit_to_travel(trace: Trace, *, source: bool = True, private: bool = True) -> Trace:
    """Return the trace as it is written to a file: see `private` and `without_source`."""
    if not source:
        trace = without_source(trace)
    return _private(trace) if private else trace


def private(trace: Trace) -> Trace:
    """Return the trace without names of host and user, its paths from the working directory on.

    Parameters
    ----------
    trace : Trace

    Returns
    -------
    Trace
        The same one where there was nothing to take out.

    Notes
    -----
    - Files outside the working directory are given from the folder on that Python found them in,
      else by their name alone.
    - So is the home folder of whoever recorded a file on another machine.
    - The user's name is taken out where it is part of a path or of an address ``user@host``; as a
      word of its own it may be anything. A host name is taken out wherever it is a word; one
      without digit, hyphen or dot not from names of events and from code, where it is more likely
      something else.
    - A file of ``trace.meta.source_file`` and in the sites stays one and the same.
    """
    hide, kind = _Hide(), _kinds(trace)
    rewrite: tuple[Callable[[str], str], ...] = (hide.text, hide.code, hide.file)
    texts = tuple(
        rewrite[way](text) for way, text in zip(kind.tolist(), trace.strings, strict=True)
    )
    meta = _meta(trace.meta, hide)
    notes = tuple(replace(note, message=hide.text(note.message)) for note in trace.health.notes)
    if (texts, meta, notes) == (tuple(trace.strings), trace.meta, trace.health.notes):
        return trace
    return replace(trace, strings=Strings(texts), meta=meta, health=Health(notes))


def without_source(trace: Trace) -> Trace:
    """Return the trace without the text of any code; numbers of lines stay."""
    meta, sites = trace.meta, trace.sites
    lines = {trace.strings[code] for code in np.unique(sites.text[sites.text >= 0]).tolist()}
    lines |= {line.strip() for line in meta.source.splitlines()}
    error = meta.error
    for line in sorted(filter(None, lines), key=len, reverse=True):
        error = error.replace(f": {line}", "")  # errors of the runtime quote the line
    columns: dict[str, Any] = {column.name: values for column, values in sites.columns()}
    columns["text"] = np.full(len(sites), -1)
    return replace(trace, sites=SiteTable.of(columns), meta=replace(meta, source="", error=error))


def _kinds(trace: Trace) -> np.ndarray[Any, np.dtype[np.int8]]:
    """Return what each text is: 0 a text, 1 code or the name of an event, 2 a file."""
    kind = np.zeros(len(trace.strings), dtype=np.int8)
    events, sites, args = trace.events, trace.sites, trace.args
    for codes in (events.name, events.domain, trace.counters.name, sites.text, sites.function,
                  args.shapes, args.dtype):  # fmt: skip
        kind[codes[codes >= 0]] = 1
    kind[sites.file[sites.file >= 0]] = 2
    return kind


def _meta(meta: Meta, hide: _Hide) -> Meta:
    return replace(
        meta,
        title=hide.text(meta.title),
        source=hide.code(meta.source),
        source_file=hide.file(meta.source_file),
        error=hide.text(meta.error),
        config=hide.within(meta.config),
        versions=hide.within(meta.versions),
        history=tuple(map(hide.text, meta.history)),
        extra=hide.within(meta.extra),
    )


class _Hide:
    """What is known here of folders, host and user, as patterns."""

    def __init__(self) -> None:
        try:
            here = os.getcwd()
        except OSError:  # it has been removed
            here = ""
        self._here = _folders(here, os.environ.get("PWD", ""))
        self._home = _folders(os.path.expanduser("~"))
        self._found = _folders(*(entry for entry in sys.path if entry))
        user, host = _user(), socket.gethostname()
        in_path = rf"(?<=[/\\]){re.escape(user)}(?![\w.-])|{_WORD}{re.escape(user)}(?=@)"
        self._user = re.compile(in_path) if user else None
        names = sorted({host, host.partition(".")[0]} - {"", "localhost"}, key=len, reverse=True)
        pattern = f"{_WORD}(?:{'|'.join(map(re.escape, names))}){_END}"
        self._host = re.compile(pattern) if names else None
        self._telling = bool(names) and bool(_TELLING.search(host))
        # Most texts hold none of these, and are done with sooner for it.
        self._clues = [
            clue for clue in (*self._here, *self._home, *_HOME_CLUES, user, *names) if clue
        ]

    def text(self, text: str) -> str:
        """Return a text of any kind without what is private."""
        text = self.code(text)
        return self._host.sub(HOST, text) if self._host and self._suspicious(text) else text

    def code(self, text: str) -> str:
        """Return code, or a name, which may hold words that look like a host's name."""
        if not self._suspicious(text):
            return text
        for folder in self._here:
            text = _from_folder(text, folder, "")
        for folder in self._home:
            text = _from_folder(text, folder, HOME + os.sep)
        text = _HOMES.sub(HOME, text)
        if self._user:
            text = self._user.sub(USER, text)
        return self._host.sub(HOST, text) if self._host and self._telling else text

    def _suspicious(self, text: str) -> bool:
        return any(map(text.__contains__, self._clues))

    def file(self, path: str) -> str:
        """Return a path from the working directory on, or from where Python looks for modules."""
        if not os.path.isabs(path):
            return self.text(path)
        for folder in (*self._here, *self._found):
            if path.startswith(folder + os.sep):
                return self.text(path[len(folder) + 1 :])
        parts = PurePath(path).parts
        return self.text(os.sep.join(parts[-2:] if _numbered(parts) else parts[-1:]))

    def within(self, told: Any) -> Any:
        """Return nested data with every text in it rewritten."""
        if isinstance(told, str):
            return self.text(told)
        if isinstance(told, Mapping):
            changed = {
                key: _NAMES.get(str(key).lower()) or self.within(value)
                for key, value in told.items()
            }
            return told if changed == told else changed
        if isinstance(told, list | tuple):
            return type(told)(map(self.within, told))
        return told


def _numbered(parts: tuple[str, ...]) -> bool:
    """Return whether a path is that of a notebook cell, which is known by its folder."""
    return len(parts) > 1 and parts[-2].startswith("ipykernel_")


def _folders(*names: str) -> list[str]:
    """Return folders, the longest first, also by their real names; not the root."""
    found = {name for given in names if given for name in (given, os.path.realpath(given))}
    return sorted({name.rstrip("/\\") for name in found} - {"", "~"}, key=len, reverse=True)


def _from_folder(text: str, folder: str, instead: str) -> str:
    """Return a text in which paths below a folder begin with ``instead``."""
    if folder not in text:
        return text
    below = re.compile(rf"(?<![\w.~-]){re.escape(folder)}(?:[/\\]|(?![\w.-]))")
    return below.sub(
        lambda found: instead if found[0] != folder else (instead.rstrip("/\\") or "."), text
    )


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):  # a user without a name
        return ""


_private = private  # where a parameter has its name
