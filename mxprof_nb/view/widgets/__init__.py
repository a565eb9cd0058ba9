"""Widgets of our own that draw with plotly.js, loaded once per page."""

from mxprof_nb.view.widgets.profile import ProfileWidget

__all__ = ["ProfileWidget"]
