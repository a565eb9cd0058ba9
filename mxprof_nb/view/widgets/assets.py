"""What all timelines of a page share: code, style and colours, carried there once per kernel.

A widget of anywidget carries its module in its state. Ours is a stub of a few lines
(``static/stub.js``) that waits for the code of the key it names. The code comes, packed, with
`Assets`, a widget that nobody displays and that lives as long as the kernel: a page that is loaded
again gets it with the rest of the kernel's widgets.

A further script is one more name in `SCRIPTS`: the files are joined in that order, and see one
another's names.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import threading

import anywidget

from mxprof_nb.view.palette import THEMES, colours
from mxprof_nb.view.plots import marks
from mxprof_nb.view.scripts import script

__all__ = ["KEY", "SCRIPTS", "STUB", "Assets", "assets_id", "source"]

SCRIPTS = (
    "plotlyjs.js",
    "appearances.js",
    "fitting.js",
    "element.js",
    "parts.js",
    "tables.js",
    "inspector.js",
    "groups.js",
    "search.js",
    "keys.js",
    "pointer.js",
    "hint.js",
    "labels.js",
    "heat.js",
    "marks.js",
    "plot.js",
    "profile.js",
)


def source() -> str:
    """Return the module that draws a timeline, as the page reads it once it is unpacked."""
    given = {
        "CSS": script("profile.css", "tables.css"),
        "PALETTE": {theme: colours(theme) for theme in THEMES},
        "CONFIG": marks.CONFIG,
    }
    lines = [f"const {name} = {json.dumps(value)};" for name, value in given.items()]
    return "\n".join([*lines, script(*SCRIPTS)])


def _filled(name: str, **values: str) -> str:
    """Return a script with ``@NAME@`` replaced by values."""
    text = script(name)
    for key, value in values.items():
        text = text.replace(f"@{key}@", value)
    return text


_SOURCE = source().encode()
#: Names the code on a page: kernels of one version share it, two versions do not meet.
KEY = hashlib.sha256(_SOURCE).hexdigest()[:12]
STUB = _filled("stub.js", KEY=KEY)


class Assets(anywidget.AnyWidget):
    """Carries the code to the page; the page reads it once, whichever kernel's comes first."""

    _esm = _filled(
        "assets.js",
        KEY=KEY,
        PACKED=base64.b64encode(gzip.compress(_SOURCE, 9, mtime=0)).decode(),
    )


_lock = threading.Lock()
_assets: Assets | None = None


def assets_id() -> str:
    """Return the name of the kernel's `Assets`, which are made when first asked for.

    To be called before the widget that needs them is made: they then reach the page first.
    """
    global _assets
    with _lock:
        if _assets is None or _assets.comm is None:  # `Widget.close_all` closes them, too
            _assets = Assets()
        return str(_assets.model_id)
