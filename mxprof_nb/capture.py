"""`Profile`, what a person gets, and two ways to one: `profile()` and `load()`.

A `Profile` is made when recording starts and can be read when it has stopped.
"""

from __future__ import annotations

import itertools
import os
import re
import weakref
from collections.abc import Container
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mxprof_nb._typing import StrPath
from mxprof_nb.backends import Block, LiveCapture, RangeCapture
from mxprof_nb.errors import NotRecordingError, WriteError
from mxprof_nb.record.config import RecordConfig
from mxprof_nb.trace import HasTrace, Health, Trace, trace_of
from mxprof_nb.trace.privacy import private
from mxprof_nb.view.kernel import request_of_a_person

if TYPE_CHECKING:
    import pandas as pd

    from mxprof_nb.io.content import Sources
    from mxprof_nb.io.limits import Limits
    from mxprof_nb.view.still import StillTimeline
    from mxprof_nb.view.widgets import ProfileWidget

__all__ = ["Profile", "check_target", "load", "profile", "save"]

WIDGET_MIME = "application/vnd.jupyter.widget-view+json"
PLOTLY_MIME = "application/vnd.plotly.v1+json"

#: Endings of the report, which `Profile.save` writes beside the formats of `mxprof_nb.io`.
REPORT_SUFFIXES = (".html", ".png")


class Profile:
    """What one run did: tables as pandas frames, a timeline, and a view of it all in a notebook.

    A cell under ``%%mxprofile``, ``with profile() as p:`` and `load` give one. Every further
    analysis is a function of ``p.trace``.

    Parameters
    ----------
    trace : Trace
        What was recorded, or an object that offers it as ``__mxprof_trace__``.

    Examples
    --------
    >>> from mxprof_nb.trace import Meta, TraceBuilder
    >>> Profile(TraceBuilder(Meta(title="cell 3")).build())
    <Profile 'cell 3': 0 events, 0.000 ms, clean>
    """

    def __init__(self, trace: HasTrace) -> None:
        self._trace: Trace | None = trace_of(trace)
        self._capture: LiveCapture | RangeCapture | None = None
        self._title = self._trace.meta.title
        self._live: list[weakref.ref[ProfileWidget]] = []

    @classmethod
    def _of(cls, capture: LiveCapture | RangeCapture) -> Profile:
        """Return the profile of a capture that may still run."""
        profile = cls.__new__(cls)
        profile._trace, profile._capture, profile._title = None, capture, capture.name
        profile._live = []
        return profile

    @property
    def _ended(self) -> bool:
        return self._trace is not None or (self._capture is not None and self._capture.ended)

    def __repr__(self) -> str:
        # Cheap on purpose: a debugger or a list of profiles calls it at any time.
        title = f" {self._title!r}" if self._title else ""
        if not self._ended:
            return f"<Profile{title}: still recording>"
        if self._trace is None and isinstance(self._capture, RangeCapture):
            return f"<Profile{title}: a range of another profile, not looked at yet>"
        trace = self.trace
        status = "" if trace.meta.status == "ok" else f", {trace.meta.status}"
        return (
            f"<Profile{title}: {len(trace):,} events, {trace.span_ns / 1e6:.3f} ms{status}, "
            f"{trace.health}>"
        )

    def __str__(self) -> str:
        """Return headline, sentences and the table of operators: ``print(p)`` in a program."""
        return self._summary() if self._ended else repr(self)

    def __eq__(self, other: object) -> bool:
        """Return whether another profile has the same content; one that still records has none."""
        if not isinstance(other, Profile):
            return NotImplemented
        return self is other or (self._ended and other._ended and self.trace == other.trace)

    def __copy__(self) -> Profile:
        return Profile(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Profile:
        return Profile(self)  # traces never change; frames are made anew

    def __reduce__(self) -> tuple[type[Profile], tuple[Trace]]:
        return (Profile, (self.trace,))

    @property
    def trace(self) -> Trace:
        """The immutable tables that everything else is computed from.

        Raises
        ------
        NotRecordingError
            The recording has not stopped yet; so do all attributes below.
        """
        if self._trace is None and self._capture is not None:
            self._trace = self._capture.trace
        if self._trace is None:
            raise NotRecordingError(
                f"{self!r} has no data yet: they are complete when its `with` block, or its "
                "cell, has ended. Read it after that."
            )
        self._capture = None
        return self._trace

    @cached_property
    def _fit_to_show(self) -> Trace:
        return private(self.trace)  # a notebook is a file, too

    @property
    def __mxprof_trace__(self) -> Trace:
        """The trace, for functions that take one."""
        return self.trace

    @property
    def health(self) -> Health:
        """What was lost, repaired or left out."""
        return self.trace.health

    @cached_property
    def events(self) -> pd.DataFrame:
        """One row per interval or point in time, by start; `mxprof_nb.schema` tells the columns.

        Times are whole nanoseconds from the origin of the trace, names are categories, what is
        not known is ``NA``. The frame is made when first asked for and is yours to change: the
        trace keeps its own. The same goes for all frames below.
        """
        return self.trace.frame("events")

    @cached_property
    def counters(self) -> pd.DataFrame:
        """One row per sample of a counter, by time; ``unit`` is "B" for bytes of memory."""
        return self.trace.frame("counters")

    @cached_property
    def tracks(self) -> pd.DataFrame:
        """One row per thread, worker, stream or owner of counters; events number them."""
        return self.trace.frame("tracks")

    @cached_property
    def flows(self) -> pd.DataFrame:
        """One row per known reason why one event precedes another: rows of ``events``, and why."""
        return self.trace.frame("flows")

    @cached_property
    def tables(self) -> dict[str, pd.DataFrame]:
        """Tables by title, for each domain that has rows: "Operators", "API calls", "Waits", ...

        Columns as `mxprof_nb.analysis.op_summary` and `mxprof_nb.analysis.wait_lines` tell them.
        A title that is not there raises a KeyError that names those that are.
        """
        from mxprof_nb.analysis import Frames, domain_tables

        tables = domain_tables(self.trace)
        return Frames({title: result.frame for title, result in tables.items()})

    def timeline(self) -> ProfileWidget | StillTimeline:
        """Return the timeline to display: live in a notebook, still where nobody could use it.

        Its ``to_figure(**options)`` is the part in view as a plain plotly figure, to restyle or to
        export; options and errors as in `mxprof_nb.timeline`.
        """
        from mxprof_nb.view.still import StillTimeline

        return self._widget(self._fit_to_show) or StillTimeline(self._fit_to_show)

    def save(
        self, path: StrPath, *, source: bool = True, private: bool = True, **options: Any
    ) -> Path:
        """Write the profile to a file and return its path; what was there stays if that fails.

        Parameters
        ----------
        path : str or path-like
            The suffix says the format: ``.html`` is the report that opens in any browser,
            ``.png`` its picture alone, ``.json`` or ``.json.gz`` a Chrome trace, ``.mxprof``
            everything for `load`, ``.csv`` and ``.parquet`` the events as a table.
        source : bool
            Write the code of the cell and the text of the lines that events came from.
        private : bool
            Give paths from the working directory on, and leave names of host and user out.
        **options
            What the format takes besides: ``layout="mxnet"`` writes a Chrome trace as MXNet does.

        Raises
        ------
        UnknownFormatError, MissingPackageError, WriteError, TypeError
            No format has the suffix, it needs a package, the path cannot be written, or the
            format has no such option.
        """
        target = Path(path).expanduser()
        try:
            if _check_suffix(target):
                from mxprof_nb.view import report

                picture = target.suffix.lower() == ".png"
                write = report.save_png if picture else report.save_html
                write(self.trace, target, source=source, private=private, **options)
            else:
                from mxprof_nb.io import registry

                registry.save(self.trace, target, source=source, private=private, **options)
        except WriteError:
            raise
        except OSError as cause:
            raise WriteError.to(str(target), cause) from cause
        return target

    def _repr_mimebundle_(
        self, include: Container[str] | None = None, exclude: Container[str] | None = None
    ) -> dict[str, Any]:
        """Return every form of the view that was asked for; never raise, a cell depends on it."""

        def wanted(mime: str) -> bool:
            return (not include or mime in include) and not (exclude and mime in exclude)

        if not self._ended:
            bundle: dict[str, Any] = {"text/plain": repr(self)}
        else:
            bundle = self._views(
                live=wanted(WIDGET_MIME),
                # JupyterLab prefers this one to HTML, and would show a figure without its words.
                figure=bool(include) and wanted(PLOTLY_MIME),
            )
        return {mime: data for mime, data in bundle.items() if wanted(mime)}

    def _views(self, *, live: bool, figure: bool) -> dict[str, Any]:
        try:
            from mxprof_nb.view import report

            trace = self._fit_to_show
            widget = self._widget(trace) if live else None
            bundle: dict[str, Any]
            if widget is None:
                bundle = report.mime_bundle(trace)
            else:
                bundle, _ = widget._repr_mimebundle_()
            if figure:
                bundle[PLOTLY_MIME] = report.plotly_json(trace)
        except Exception as broken:
            bundle = {"text/plain": f"{self._summary()}\n(no picture: {_told(broken)})"}
        return bundle

    def _summary(self) -> str:
        try:
            from mxprof_nb.view import report

            return str(report.text_summary(self.trace))
        except Exception as broken:
            return f"{self!r}\n(no summary: {_told(broken)})"

    def _widget(self, trace: Trace) -> ProfileWidget | None:
        """Return a new widget, None where nobody could use it or there is nothing to explore."""
        request = request_of_a_person()
        if request is None or not (len(trace.events) or len(trace.counters)):
            return None
        from mxprof_nb.view.widgets import ProfileWidget

        others = filter(None, (reference() for reference in self._live))
        widget = ProfileWidget(
            next((other.stage for other in others), trace),
            on_save=lambda: self.save(self._free_path(".html")),
            on_export=lambda: self.save(self._free_path(".json")),
            cell=_place(request),
        )
        self._live.append(weakref.ref(widget))
        return widget

    def _retire(self) -> None:
        """Close the live views: what the page then shows is the form that needs no kernel."""
        references, self._live = self._live, []
        for widget in (reference() for reference in references):
            if widget is not None:
                widget.close()

    def _free_path(self, suffix: str) -> Path:
        """Return a path in the working directory that is named after the title and not taken."""
        stem = re.sub(r"\W+", "-", f"profile {self._title}").strip("-")
        names = itertools.chain([stem], (f"{stem}-{number}" for number in itertools.count(2)))
        paths = (Path.cwd() / f"{name}{suffix}" for name in names)
        return next(path for path in paths if not path.exists())


def profile(
    *,
    backend: str = "embedded",
    config: RecordConfig | None = None,
    name: str | None = None,
    wait: bool = True,
) -> Block[Profile]:
    """Profile a block of code, or each call of a function.

    Parameters
    ----------
    backend : str
        Name of the runtime to record, see `mxprof_nb.list_backends`.
    config : RecordConfig, optional
        What to record.
    name : str, optional
        Title of the profile.
    wait : bool
        Wait for queued work at the end of the block, so that it is in the profile. The wait only
        observes: errors of queued work stay where they are.

    Returns
    -------
    context manager
        ``with profile() as p:`` gives the `Profile`, to be read after the block, also when the
        block ended with an error; it then holds what ran until then. As a decorator of a function
        or a coroutine function it profiles each call; ``f.profile`` is the `Profile` of the last.

    Raises
    ------
    AlreadyRecordingError
        At the ``with``: a profile of another backend runs in this thread; it goes on unharmed.
    BackendNotFoundError, BackendUnavailableError
        At the ``with``: there is no such backend, or it cannot record here.
    KeyboardInterrupt
        At the end: Ctrl-C ended the wait; the profile is kept.

    Notes
    -----
    - After an error the wait takes 1 s at most; ``p.trace.meta.pending`` says how many operators
      still ran, and so does ``p.health``.
    - A profile within a profile of the same thread, or within a cell under ``%%mxprofile``, is a
      range of that one: nothing is recorded twice, and ``config`` is that of the outer one.

    Examples
    --------
    >>> import mxprof_nb.runtime as mx
    >>> with profile() as p:
    ...     (mx.nd.ones((2, 3)) + 1).wait_to_read()
    >>> @profile()
    ... def double(x):
    ...     return (x * 2).asnumpy()
    >>> double(mx.nd.ones(3))
    array([2., 2., 2.], dtype=float32)
    >>> double.profile.trace.meta.title
    'double'
    """
    return Block(Profile._of, backend=backend, config=config, name=name, wait=wait)


def load(
    path: Sources | pd.DataFrame,
    *,
    format: str | None = None,
    limits: Limits | None = None,
    **options: Any,
) -> Profile:
    """Read what profilers wrote, a file or several of one run, or a table of events.

    The format is found out from the content, or one of `mxprof_nb.list_readers`; ``options`` are
    those of the format. gzip and zip are unpacked, within the `mxprof_nb.Limits`. Of DataFrames,
    CSV and Parquet files ``columns={"start_ns": ("Begin", "us"), ...}`` says which column is what.

    Raises
    ------
    ReadError, AlignmentError
        No reader knows the content, it breaks rules or asks too much; files share nothing.
    TypeError, OSError
        An argument or option is wrong; the file cannot be opened.
    """
    from mxprof_nb.io import registry
    from mxprof_nb.view.progress import ReadingLine

    with ReadingLine() as line:
        return Profile(registry.load(path, format=format, limits=limits, progress=line, **options))


def _check_suffix(path: StrPath) -> bool:
    """Return whether a path is that of a report, not of a trace; an error if it is neither."""
    if os.fspath(path).lower().endswith(REPORT_SUFFIXES):
        return True
    from mxprof_nb.io import registry

    registry.find_writer(path, others=REPORT_SUFFIXES)
    return False


def check_target(path: StrPath, source: StrPath | None = None) -> Path:
    """Return an absolute path that a profile can be written to, found out without writing.

    It may not be the file ``source``: what a reader left out would be lost for good.

    Raises
    ------
    UnknownFormatError, MissingPackageError, WriteError
        No format goes with its ending, or a package is missing; it cannot be written.
    """
    target = Path(path).expanduser().absolute()
    _check_suffix(target)
    if target.is_dir():
        problem = "it is a folder"
    elif not target.parent.is_dir():
        problem = f"there is no folder {target.parent}"
    elif not os.access(target if target.exists() else target.parent, os.W_OK):
        problem = "it may not be written"
    elif source is not None and target.exists() and os.path.exists(source):
        if not target.samefile(source):
            return target
        problem = "it is the trace that is read"
    else:
        return target
    raise WriteError(f"Cannot write {path}: {problem}. Name a file that can be written.")


def save(trace: HasTrace, path: StrPath, **options: Any) -> Path:
    """Write a trace or a profile to a file and return its path; see `Profile.save`."""
    return Profile(trace).save(path, **options)


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


_displays: tuple[str, int] = ("", 0)


def _place(request: dict[str, Any]) -> str:
    """Return a name for where the next output stands, the same when its cell runs again."""
    global _displays
    cell = request.get("metadata", {}).get("cellId", "")
    number = request.get("header", {}).get("msg_id", "")
    _displays = (number, _displays[1] + 1 if _displays[0] == number else 1)
    return f"{cell} {_displays[1]}" if cell else ""
