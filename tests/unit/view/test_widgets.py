from __future__ import annotations

import base64
import gzip
import json
import re
import sys
import types
import zlib

import ipywidgets
import numpy as np
import pytest

from mxprof_nb.trace import TraceBuilder
from mxprof_nb.view.widgets import ProfileWidget, plotlyjs, profile
from mxprof_nb.view.widgets.packing import pack
from tests.traces import dot_cell, empty_cell, many


def unpack(packed):
    """What the page does, in Python."""
    raw = zlib.decompress(packed)
    offset = int.from_bytes(raw[:4], "little")

    def arrays(part):
        if set(part) == {"$"}:
            kind, first, length = part["$"]
            return np.frombuffer(raw, np.dtype(kind).newbyteorder("<"), length, first)
        return part

    return json.loads(raw[offset:].decode(), object_hook=arrays)


def live():
    return set(ipywidgets.widgets.widget._instances)


@pytest.fixture(autouse=True)
def closed():
    before = live()
    yield
    for model in live() - before:
        widget = ipywidgets.widgets.widget._instances.get(model)
        if widget is not None:
            widget.close()
    profile._live.clear()


def test_packing_keeps_every_number_and_aligns_it():
    figure = {
        "data": [{"x": np.array([1.5, np.nan]), "y": np.arange(3, dtype=np.float32)}],
        "big": np.array([2**40 + 1]),
        "text": ["ä", "@operator"],
    }
    found = unpack(pack(figure))
    assert found["data"][0]["x"][0] == 1.5
    assert np.isnan(found["data"][0]["x"][1])
    assert found["data"][0]["y"].tolist() == [0, 1, 2]
    assert found["big"].tolist() == [2**40 + 1]
    assert found["text"] == ["ä", "@operator"]


def test_the_widget_holds_what_the_page_shows_first():
    widget = ProfileWidget(dot_cell(), on_save=lambda: "x")
    figure = unpack(widget._figure)
    assert figure["unit_ns"] == 1e6
    assert figure["layout"]["xaxis"]["range"] == [0, 412]
    assert widget.view == [0, 412e6]
    assert widget._text["headline"].startswith("412 ms")
    assert widget._text["sentences"][1]["window"] == pytest.approx([20.2e6, 187.4e6])
    assert widget._range == "0 to 412 ms of 412 ms"
    assert [grid["title"] for grid in widget._tables][:2] == ["Operators", "API calls"]
    assert widget._can == {"save": True, "export": False}


def test_the_bundle_names_the_widget_only_where_its_page_could_not_find_it(monkeypatch):
    for name in ("VSCODE_PID", "VSCODE_CWD"):
        monkeypatch.delenv(name, raising=False)
    widget = ProfileWidget(dot_cell())
    bundle, _ = widget._repr_mimebundle_()
    assert bundle.keys() == {"text/html", "image/png", "text/plain"}
    assert f'class="mxp-form mxp-form-{widget._mark}"' in bundle["text/html"]
    assert ProfileWidget(dot_cell())._mark != widget._mark

    monkeypatch.setenv("VSCODE_PID", "1")
    assert widget._repr_mimebundle_()[0][profile.WIDGET_MIME]["model_id"] == widget.model_id
    monkeypatch.delenv("VSCODE_PID")
    monkeypatch.setitem(sys.modules, "google.colab", types.ModuleType("google.colab"))
    assert profile.WIDGET_MIME in widget._repr_mimebundle_()[0]


def test_a_new_view_is_answered_with_its_own_marks_and_tables():
    widget = ProfileWidget(many(30_000))
    before = widget._figure
    whole = widget._tables[0]["columns"][1]["values"][0]
    widget.view = [0.0, widget._span_ns / 100]
    assert widget._seq == 1
    assert widget._figure != before
    bars = [t for t in unpack(widget._figure)["data"] if t["type"] == "bar"]
    assert sum(len(trace["x"]) for trace in bars) <= 1000
    assert widget._range.startswith("0 to ")
    assert widget._tables[0]["columns"][1]["values"][0] != whole


def test_a_wider_plot_gets_new_labels_and_the_same_tables():
    widget = ProfileWidget(dot_cell())
    tables = widget._tables
    widget._width = 300
    labels = next(t for t in unpack(widget._figure)["data"] if t.get("mode") == "text")["text"]
    assert "line 7 waited 167 ms for dot" not in labels
    assert "waited 167 ms" in labels
    assert widget._tables is tables


@pytest.mark.parametrize("view", [[], [1.0], [float("nan"), 5.0], [0.0, float("inf")]])
def test_a_view_that_makes_no_sense_changes_nothing(view):
    widget = ProfileWidget(dot_cell())
    before = widget._figure
    widget.view = view
    assert widget._figure == before


def test_views_outside_the_run_or_turned_round_are_answered():
    widget = ProfileWidget(dot_cell())
    widget.view = [9e9, 8e9]
    assert unpack(widget._figure)["layout"]["annotations"][-1]["text"] == "no events in this range"


@pytest.mark.parametrize("view", [[1e19, 1e20], [-1e300, 1e300], [-1e20, -1e19]])
def test_a_view_far_from_the_run_is_brought_nearer(view):
    widget = ProfileWidget(dot_cell())
    widget.view = view
    begin, end = unpack(widget._figure)["layout"]["xaxis"]["range"]
    assert -41_200 <= begin < end <= 41_200.1
    assert re.fullmatch(r"(0|412) to (0|412|0.00) \w+ of 412 ms", widget._range), widget._range


def test_texts_that_look_like_colours_stand_under_no_key_of_colours():
    builder = TraceBuilder()
    track = builder.track("@text", role="worker")
    builder.event("@constructor", track=track, start_ns=0, dur_ns=500)
    widget = ProfileWidget(builder.build())

    def keys(part, key=""):
        if isinstance(part, dict):
            return {found for name, inner in part.items() for found in keys(inner, name)}
        if isinstance(part, list):
            return {found for inner in part for found in keys(inner, key)}
        return {key} if isinstance(part, str) and part.startswith("@") else set()

    assert {key for key in keys(unpack(widget._figure)) if not key.endswith("color")} == {
        "text",
        "ticktext",
    }


def test_the_foot_shows_the_path_or_the_reason():
    def fail():
        raise OSError("Cannot write /full: no space left.")

    widget = ProfileWidget(dot_cell(), on_save=lambda: "report.html", on_export=fail)
    widget._handle_custom_msg({"type": "save"}, [])
    assert widget._said == "Written: report.html"
    widget._handle_custom_msg({"type": "export"}, [])
    assert widget._said == "Cannot write /full: no space left."


def test_messages_that_mean_nothing_are_ignored():
    widget = ProfileWidget(dot_cell())
    for content in ({}, {"type": "save"}, {"type": "unknown"}, "text", None):
        widget._handle_custom_msg(content, [])
    assert widget._said == ""


def test_the_still_picture_comes_when_it_is_asked_for():
    widget = ProfileWidget(empty_cell())
    assert widget._picture == ""
    widget._handle_custom_msg({"type": "picture"}, [])
    assert widget._picture.startswith("data:image/svg+xml;base64,")


def test_closing_leaves_nothing_behind():
    before = live()
    widget = ProfileWidget(dot_cell())
    assert len(live() - before) == 2, "the widget and its layout"
    widget.close()
    assert live() == before


def test_a_cell_run_again_closes_its_old_widget_and_only_so_many_live(monkeypatch):
    monkeypatch.setattr(profile, "MAX_LIVE", 3)
    before = live()
    for _ in range(4):
        ProfileWidget(empty_cell(), cell="a")
    assert len(live() - before) == 2
    for _ in range(5):
        ProfileWidget(empty_cell())
    assert len(live() - before) == 2 * 3


class Page:
    def __init__(self):
        self.sent = []

    def send(self, content, buffers):
        self.sent.append((content, buffers))


@pytest.fixture
def clock(monkeypatch):
    now = [1000.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    monkeypatch.setattr(plotlyjs, "_answered", type(plotlyjs._answered)())
    return now


def test_a_page_gets_the_library_once_in_thirty_seconds(clock):
    page = Page()
    need = {"type": "need", "page": "p", "key": plotlyjs.key()}
    assert plotlyjs.answer(page, need)
    assert not plotlyjs.answer(page, need)
    assert plotlyjs.answer(page, {**need, "page": "q"}), "another page has its own clock"
    clock[0] += 31
    assert plotlyjs.answer(page, need)
    content, (packed,) = page.sent[0]
    assert content == {"type": "plotlyjs", "key": plotlyjs.key()}
    assert len(packed) < 2_000_000


def test_a_page_that_needs_another_version_gets_nothing(clock):
    page = Page()
    assert not plotlyjs.answer(page, {"type": "need", "page": "p", "key": "plotly-1.0-0"})
    assert page.sent == []


def test_the_library_is_pushed_once_per_kernel_and_never_without_one(monkeypatch):
    made = []
    monkeypatch.setattr(plotlyjs, "Loader", lambda: made.append(1))
    monkeypatch.setattr(plotlyjs, "_pushed", False)
    plotlyjs.push_once()
    assert made == []
    monkeypatch.setattr(plotlyjs, "kernel_runs", lambda: True)
    plotlyjs.push_once()
    plotlyjs.push_once()
    assert made == [1]


def test_a_loader_is_gone_once_the_page_has_the_library():
    before = live()
    loader = plotlyjs.Loader()
    loader._handle_custom_msg({"type": "loaded"}, [])
    assert live() == before


def test_scripts_keep_their_code_and_lose_their_comments():
    script = plotlyjs.script(*profile.SCRIPTS)
    assert "export default" in script
    assert not any(line.startswith("//") for line in script.split("\n"))
    assert script.count("`") % 2 == 0


def test_the_module_travels_packed():
    names = profile.SCRIPTS
    travelling = plotlyjs.packed_script(*names)
    packed = re.findall(r'atob\("([^"]+)"\)', travelling)
    assert gzip.decompress(base64.b64decode(packed[0])).decode() == plotlyjs.script(*names)
    assert "@" not in travelling
    assert len(travelling) < 0.5 * len(plotlyjs.script(*names))
