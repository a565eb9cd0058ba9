from __future__ import annotations

import base64
import gzip
import json
import re
import sys
import threading
import types
import zlib

import ipywidgets
import numpy as np
import pytest

from mxprof_nb.trace import TraceBuilder
from mxprof_nb.view import scripts
from mxprof_nb.view.widgets import ProfileWidget, assets, plotlyjs, profile
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
    assets.assets_id()  # made once, and kept
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
    figure = unpack(widget._shown["figure"])
    assert figure["unit_ns"] == 1e6
    assert figure["layout"]["xaxis"]["range"] == [0, 412]
    assert widget.view == [0, 412e6]
    assert widget._text["headline"].startswith("412 ms")
    assert widget._text["sentences"][1]["window"] == pytest.approx([20.2e6, 187.4e6])
    assert widget._range == "0 to 412 ms of 412 ms"
    assert [grid["title"] for grid in unpack(widget._tables)["grids"]][:2] == [
        "Operators",
        "API calls",
    ]
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
    before = widget._shown["figure"]
    whole = unpack(widget._tables)["grids"][0]["columns"][1]["values"][0]
    widget.view = [0.0, widget._span_ns / 100]
    assert widget._shown["seq"] == 1
    assert widget._shown["figure"] != before
    bars = [t for t in unpack(widget._shown["figure"])["data"] if t["type"] == "bar"]
    assert sum(len(trace["x"]) for trace in bars) <= 1000
    widget._tabulating.join()
    assert widget._range.startswith("0 to ")
    assert unpack(widget._tables)["grids"][0]["columns"][1]["values"][0] != whole


def test_tables_follow_the_newest_view_only_and_none_after_close(monkeypatch):
    widget = ProfileWidget(many(2_000))
    made = []
    tabled = widget._tabled

    def noted(*window):
        made.append(window)
        return tabled(*window)

    monkeypatch.setattr(widget, "_tabled", noted)
    for k in range(1, 5):
        widget.view = [0.0, 1e5 * k]
    widget._tabulating.join()
    assert made == [(0, 400_000)]
    widget.view = [0.0, 5e5]
    widget.close()
    widget._tabulating.join()
    assert len(made) == 1


def test_a_wider_plot_gets_new_labels_and_the_same_tables():
    widget = ProfileWidget(dot_cell())
    tables = widget._tables
    widget._width = 300
    labels = next(t for t in unpack(widget._shown["figure"])["data"] if t.get("mode") == "text")[
        "text"
    ]
    assert "line 7 waited 167 ms for dot" not in labels
    assert "waited 167 ms for dot" in labels
    assert widget._tables is tables


@pytest.mark.parametrize("view", [[], [1.0], [float("nan"), 5.0], [0.0, float("inf")]])
def test_a_view_that_makes_no_sense_changes_nothing(view):
    widget = ProfileWidget(dot_cell())
    before = widget._shown["figure"]
    widget.view = view
    assert widget._shown["figure"] == before


def test_views_outside_the_run_or_turned_round_are_answered():
    widget = ProfileWidget(dot_cell())
    widget.view = [9e9, 8e9]
    assert (
        unpack(widget._shown["figure"])["layout"]["annotations"][-1]["text"]
        == "no events in this range"
    )


@pytest.mark.parametrize("view", [[1e19, 1e20], [-1e300, 1e300], [-1e20, -1e19]])
def test_a_view_far_from_the_run_is_brought_nearer(view):
    widget = ProfileWidget(dot_cell())
    widget.view = view
    begin, end = unpack(widget._shown["figure"])["layout"]["xaxis"]["range"]
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

    assert {key for key in keys(unpack(widget._shown["figure"])) if not key.endswith("color")} == {
        "text",
        "ticktext",
        "name",
        "title",
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


def test_the_figure_of_a_widget_is_what_is_in_view_unless_told_otherwise():
    widget = ProfileWidget(dot_cell())
    widget.view = [20e6, 200e6]
    figure = widget.to_figure()
    assert type(figure).__module__.startswith("plotly.")
    assert figure.layout.xaxis.range == (20, 200)
    whole = widget.to_figure(begin_ns=1_000_000_000, end_ns=1_412_000_000, theme="dark")
    assert whole.layout.xaxis.range == (0, 412)
    assert whole.layout.font.color == "#e6e6e6"


def test_a_timeline_is_made_for_the_width_at_which_the_last_one_was_drawn(monkeypatch):
    monkeypatch.setattr(profile, "_usual_width", 840)
    first = ProfileWidget(dot_cell())
    first.set_state({"_width": 1234})
    second = ProfileWidget(dot_cell())
    assert second._width == 1234
    assert second._shown["figure"] == first._shown["figure"]


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
    script = scripts.script(*assets.SCRIPTS)
    assert "export default" in script
    assert not any(line.startswith("//") for line in script.split("\n"))
    assert script.count("`") % 2 == 0


def test_the_code_travels_packed_and_once_and_each_widget_names_it():
    assert assets.assets_id() == assets.assets_id()
    packed = re.findall(r'atob\("([^"]+)"\)', assets.Assets._esm)
    assert gzip.decompress(base64.b64decode(packed[0])).decode() == assets.source()
    assert len(assets.Assets._esm) < 0.5 * len(assets.source())
    widget = ProfileWidget(dot_cell())
    assert widget._assets == assets.assets_id()
    for text in (widget._esm, assets.Assets._esm):
        assert f'"{assets.KEY}"' in text
        assert "@" not in text


def test_the_code_is_made_anew_when_all_widgets_were_closed():
    first = assets.assets_id()
    ipywidgets.Widget.close_all()
    assert assets.assets_id() != first


def test_a_further_widget_weighs_little_beside_its_figure():
    state = ProfileWidget(many(100_000, tracks=5)).get_state()
    figure = len(state["_shown"].pop("figure"))
    texts = len(state.pop("_hover"))  # of all bars, beside the pointer
    sizes = {
        key: len(value) if isinstance(value, bytes) else len(json.dumps(value))
        for key, value in state.items()
    }
    assert sum(sizes.values()) < 5_000, sizes
    assert texts < 10_000
    assert figure < 25_000


def test_what_is_wrong_with_a_search_is_told_until_another_one_comes():
    widget = ProfileWidget(dot_cell())
    widget._query = {"text": "(", "regex": True}
    told = widget._shown["found"]["error"]
    widget.view = [0.0, 1e6]
    assert widget._shown["found"]["error"] == told != ""
    widget._query = {"text": "dot", "regex": True}
    assert widget._shown["found"]["error"] == ""


class Gate:
    """Holds the drawing of figures back until it is opened, and keeps what was drawn."""

    def __init__(self, widget, monkeypatch):
        self.open, self.reached = threading.Event(), threading.Event()
        self.drawn: list[tuple[int, int]] = []
        draw = widget._drawn

        def drawn(asked):
            self.drawn.append(asked[:2])
            self.reached.set()
            assert self.open.wait(10)
            return draw(asked)

        monkeypatch.setattr(widget, "_drawn", drawn)


def from_the_page(widget, **state):
    """What the kernel does with a message, on a thread of its own."""
    thread = threading.Thread(target=widget.set_state, args=(state,))
    thread.start()
    return thread


def test_views_that_come_while_one_is_drawn_are_answered_once_with_the_newest(monkeypatch):
    widget = ProfileWidget(dot_cell())
    gate = Gate(widget, monkeypatch)
    first = from_the_page(widget, view=[0.0, 1e6])
    assert gate.reached.wait(10)
    others = [from_the_page(widget, view=[0.0, k * 1e6]) for k in range(2, 9)]
    others.append(from_the_page(widget, selected=3))
    for thread in others:
        thread.join(10)
        assert not thread.is_alive(), "whoever draws will look again: nobody else waits"
    gate.open.set()
    first.join(10)
    newest = tuple(int(time) for time in widget.view)
    assert gate.drawn == [(0, 1_000_000), newest]
    assert widget._shown["seq"] == 2
    figure = unpack(widget._shown["figure"])
    assert figure["layout"]["xaxis"]["range"] == [0, newest[1] / 1e6]
    assert widget._shown["inspected"]["row"] == 3
    assert widget._range == f"0 to {newest[1] / 1e6:.2f} ms of 412 ms"


def test_no_view_is_lost_whichever_threads_they_come_from():
    widget = ProfileWidget(many(2_000))
    start = threading.Barrier(4)

    def move(number):
        start.wait()
        for k in range(20):
            state = {"view": [0.0, 1e5 + 1e4 * (number * 20 + k)]}
            if number:
                widget.set_state(state)
            else:  # from a cell
                widget.view = state["view"]

    threads = [threading.Thread(target=move, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()
    figure = unpack(widget._shown["figure"])
    shown = [time * figure["unit_ns"] for time in figure["layout"]["xaxis"]["range"]]
    assert shown == pytest.approx(widget.view)
    assert not widget._answers.waiting


def test_nothing_is_answered_after_a_widget_was_closed(monkeypatch):
    widget = ProfileWidget(dot_cell(), on_save=lambda: "x")
    gate = Gate(widget, monkeypatch)
    comm = widget.comm
    sent = []
    monkeypatch.setattr(comm, "send", lambda *a, **o: sent.append(a), raising=False)
    drawing = from_the_page(widget, view=[0.0, 1e6])
    assert gate.reached.wait(10)
    sent.clear()  # the echo of the page's own change
    widget.close()
    gate.open.set()
    drawing.join(10)
    widget.set_state({"view": [0.0, 2e6]})
    widget.view = [0.0, 3e6]
    for content in ({"type": "pick", "time": 1, "y": 0, "pixel": 1}, {"type": "save"}):
        widget._handle_custom_msg(content, [])
    assert gate.drawn == [(0, 1_000_000)]
    assert sent == []
    assert widget._shown["seq"] == 0
    assert widget._said == ""


def test_an_error_while_drawing_leaves_the_widget_able_to_draw(monkeypatch):
    widget = ProfileWidget(dot_cell())
    with monkeypatch.context() as patch:
        patch.setattr(widget, "_drawn", lambda asked: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            widget.view = [0.0, 1e6]
    widget.view = [0.0, 2e6]
    assert widget._shown["seq"] == 1


def test_tables_of_many_names_are_small_on_their_way():
    builder = TraceBuilder()
    worker = builder.track("worker", role="worker")
    for k in range(3000):
        builder.event(
            f"aten::some_operator_{k % 1500}",
            track=worker,
            start_ns=k * 10**6,
            dur_ns=(k * 7919) % 10**6,
            category="operator",
            domain="operator",
        )
    widget = ProfileWidget(builder.build())
    (grid,) = unpack(widget._tables)["grids"]
    assert grid["total"] == 1500
    assert len(grid["columns"][0]["texts"]) == 400
    assert grid["notes"] == ["The first 400 of 1,500 rows."]
    assert len(widget._tables) < 25_000


def test_a_row_of_a_table_finds_its_events_and_a_selected_event_names_its_row():
    widget = ProfileWidget(dot_cell())
    widget._query = {"text": "line 7, y.asnumpy()", "regex": False, "table": "Waits"}
    assert widget._shown["found"]["count"] == 1
    widget._query = {"text": "line 7, y.asnumpy()", "regex": False}
    assert widget._shown["found"]["count"] == 0, "no event is called so"
    widget._query = {"text": "WaitForVar", "regex": False, "table": "nothing of this name"}
    assert widget._shown["found"]["count"] == 0

    events, strings = dot_cell().events, dot_cell().strings
    for name, row in (
        ("dot", ("Operators", "dot")),
        ("WaitForVar", ("Waits", "line 7, y.asnumpy()")),
        ("DeleteVariable", ("Engine", "DeleteVariable")),
    ):
        widget.selected = int(np.flatnonzero(events.name == strings.code(name))[0])
        assert widget._shown["inspected"]["table_row"] == row


def test_a_unit_of_any_length_leaves_room_for_the_plot():
    builder = TraceBuilder()
    worker, counter = builder.track("w", role="worker"), builder.track("c", role="counter")
    builder.event("dot", track=worker, start_ns=0, dur_ns=100)
    builder.counter("n", track=counter, time_ns=5, value=9.0, unit="x" * 10_000)
    assert ProfileWidget(builder.build())._margin[0] < 250
