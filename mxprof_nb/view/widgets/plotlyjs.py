"""plotly.js for the page: pushed once per kernel, or sent when a page asks.

- `push_once` runs before the first widget is shown. It makes a `Loader`, a widget that is never
  displayed and whose state carries the library (1.5 MB packed); when the page says that it has
  unpacked it, the loader and its bytes are gone from kernel, page and saved notebook.
- `answer` serves a page that the push did not reach: a reload, a second notebook. Such a message
  is handled on any thread, and only once the kernel gets to it.
"""

from __future__ import annotations

import gzip
import hashlib
import threading
import time
from collections import OrderedDict
from functools import lru_cache
from typing import Any

import anywidget
import traitlets
from plotly.offline import get_plotlyjs, get_plotlyjs_version

from mxprof_nb.view.kernel import kernel_runs
from mxprof_nb.view.scripts import script

__all__ = ["Loader", "answer", "key", "push_once", "version"]

#: A page gets the library at most this often, whatever it asks.
ANSWER_EVERY_S = 30.0
PAGES_KEPT = 64

_lock = threading.Lock()
_pushed = False
_answered: OrderedDict[str, float] = OrderedDict()


@lru_cache(maxsize=1)
def version() -> str:
    """Return the version of plotly.js that the installed plotly carries."""
    return str(get_plotlyjs_version())


@lru_cache(maxsize=1)
def _library() -> tuple[str, bytes]:
    source = get_plotlyjs().encode()
    checksum = hashlib.sha256(source).hexdigest()[:12]
    packed = gzip.compress(source, 4)  # in half the time of 6, and 4 % more
    return f"plotly-{version()}-{checksum}", packed


def key() -> str:
    """Return what names the library on a page: its version and checksum."""
    return _library()[0]


class Loader(anywidget.AnyWidget):
    """Carries the packed library to the page; closes itself when the page has it."""

    _esm = script("plotlyjs.js", "loader.js")
    _plotly_key = traitlets.Unicode().tag(sync=True)
    _packed = traitlets.Bytes().tag(sync=True)

    def __init__(self) -> None:
        name, packed = _library()
        super().__init__(_plotly_key=name, _packed=packed)
        self.on_msg(self._on_message)

    def _on_message(self, _widget: Any, content: Any, _buffers: Any) -> None:
        # "failed" also ends it: the page will ask for the library when it needs it.
        if isinstance(content, dict) and content.get("type") in ("loaded", "failed"):
            self.close()

    def close(self) -> None:
        """Remove the loader, and the layout that every widget owns, from kernel and page."""
        layout = self.layout
        super().close()
        if layout is not None:
            layout.close()


def push_once() -> None:
    """Send the library to the page, the first time this is called in a running kernel."""
    global _pushed
    with _lock:
        if _pushed or not kernel_runs():
            return
        _pushed = True
    Loader()


def answer(widget: Any, content: dict[str, Any]) -> bool:
    """Send the library to a page that asked; return whether it was sent.

    Parameters
    ----------
    widget : widget
        The one whose view asked.
    content : dict
        The question: ``page`` tells pages apart, ``key`` is what it needs.
    """
    page, now = str(content.get("page", "")), time.monotonic()
    with _lock:
        if now - _answered.get(page, -ANSWER_EVERY_S) < ANSWER_EVERY_S:
            return False
        _answered[page] = now
        _answered.move_to_end(page)
        while len(_answered) > PAGES_KEPT:
            _answered.popitem(last=False)
    name, packed = _library()
    if content.get("key") != name:  # a saved widget of another plotly: nothing here fits it
        return False
    widget.send({"type": "plotlyjs", "key": name}, buffers=[packed])
    return True
