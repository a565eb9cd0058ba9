"""Interactive profiling of asynchronous runtimes inside Jupyter notebooks.

In a notebook::

    %load_ext mxprof_nb

    %%mxprofile
    ... code ...

In a program::

    import mxprof_nb as mp

    with mp.profile() as p:
        ...
    p.save("report.html")

Names are loaded when they are first used; the import itself loads nothing heavier than NumPy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mxprof_nb import analysis as analysis
    from mxprof_nb import errors as errors
    from mxprof_nb import io as io
    from mxprof_nb import runtime as runtime
    from mxprof_nb import view as view
    from mxprof_nb.backends import list_backends, show_versions
    from mxprof_nb.capture import Profile, load, profile, save
    from mxprof_nb.io.limits import Limits
    from mxprof_nb.io.registry import list_readers, list_writers
    from mxprof_nb.ipython import load_ipython_extension, unload_ipython_extension
    from mxprof_nb.record import RecordConfig
    from mxprof_nb.record.spans import counter, mark, span, step
    from mxprof_nb.trace import Trace, TraceBuilder, concat
    from mxprof_nb.trace.schema import documentation as schema
    from mxprof_nb.view import plots as plots
    from mxprof_nb.view.glossary import glossary
    from mxprof_nb.view.plots import timeline

__version__ = "0.1.0"

__all__ = [
    "Limits",
    "Profile",
    "RecordConfig",
    "Trace",
    "TraceBuilder",
    "__version__",
    "concat",
    "counter",
    "glossary",
    "list_backends",
    "list_readers",
    "list_writers",
    "load",
    "load_ipython_extension",
    "mark",
    "plots",
    "profile",
    "save",
    "schema",
    "show_versions",
    "span",
    "step",
    "timeline",
    "unload_ipython_extension",
]

#: Public name -> where it is defined, "module:attribute".
_DEFINED = {
    "Limits": "io.limits:Limits",
    "Profile": "capture:Profile",
    "RecordConfig": "record.config:RecordConfig",
    "Trace": "trace:Trace",
    "TraceBuilder": "trace:TraceBuilder",
    "concat": "trace:concat",
    "counter": "record.spans:counter",
    "glossary": "view.glossary:glossary",
    "list_backends": "backends:list_backends",
    "list_readers": "io.registry:list_readers",
    "list_writers": "io.registry:list_writers",
    "load": "capture:load",
    "load_ipython_extension": "ipython:load_ipython_extension",
    "mark": "record.spans:mark",
    "plots": "view:plots",
    "profile": "capture:profile",
    "save": "capture:save",
    "schema": "trace.schema:documentation",
    "show_versions": "backends:show_versions",
    "span": "record.spans:span",
    "step": "record.spans:step",
    "timeline": "view.plots:timeline",
    "unload_ipython_extension": "ipython:unload_ipython_extension",
}

_SUBPACKAGES = ("analysis", "errors", "io", "runtime", "view")


def __getattr__(name: str) -> Any:
    if name in _SUBPACKAGES:
        return import_module(f"{__name__}.{name}")
    if name not in _DEFINED:
        from mxprof_nb.errors import close_match

        raise AttributeError(
            f"module {__name__!r} has no attribute {name!r}."
            f"{close_match(name, [*_DEFINED, *_SUBPACKAGES])}"
        )
    module, _, attribute = _DEFINED[name].partition(":")
    value = getattr(import_module(f"{__name__}.{module}"), attribute)
    globals()[name] = value  # found at once from now on
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *_SUBPACKAGES})
