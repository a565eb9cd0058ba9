"""`StillTimeline`: what `Profile.timeline` gives where no widget can live."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from mxprof_nb.trace import Trace
from mxprof_nb.view import plots, report

if TYPE_CHECKING:
    import plotly.graph_objects as go

__all__ = ["StillTimeline"]


@final
class StillTimeline:
    """Headline, sentences, picture and tables of one trace, and its figure.

    Parameters
    ----------
    trace : Trace
    """

    def __init__(self, trace: Trace) -> None:
        self._trace = trace

    def __repr__(self) -> str:
        return report.text_summary(self._trace)

    def to_figure(self, **options: Any) -> go.Figure:
        """Return the run as a plain plotly figure; options as for `mxprof_nb.timeline`."""
        return plots.timeline(self._trace, **options)

    def _repr_mimebundle_(self, **_options: Any) -> dict[str, Any]:
        """Return the forms that need no kernel."""
        return report.mime_bundle(self._trace)
