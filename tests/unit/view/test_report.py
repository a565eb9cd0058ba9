from __future__ import annotations

import base64
import io
import json
import re
import sys
import types
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from PIL import Image

from mxprof_nb.errors import WriteError
from mxprof_nb.trace import TraceBuilder
from mxprof_nb.view import report
from mxprof_nb.view.picture import picture, ticks
from tests.traces import dot_cell, empty_cell, ended, many


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.seen: set[str] = set()
        self.sources: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        if tag != "img":
            self.open.append(tag)
        self.sources += [value for name, value in attrs if name in ("src", "href")]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, "tags are closed in order"


def tags_of(html):
    parser = Tags()
    parser.feed(html)
    parser.close()
    assert not parser.open
    return parser


def hostile():
    builder = TraceBuilder()
    worker = builder.track("</p><script>alert(1)</script>", role="worker")
    site = builder.site("<x>", 1, "f", "y = a < b & '\"'")
    builder.event(
        "</script><img src=x onerror=alert(1)>",
        track=worker,
        start_ns=0,
        dur_ns=9_000,
        category="operator",
        domain="operator",
        site=site,
    )
    return builder.build()


def test_the_summary_is_aligned_and_fits_a_terminal():
    for trace in (dot_cell(), ended("error", "ValueError: " + "long " * 40), many(2_000)):
        lines = report.text_summary(trace).split("\n")
        assert max(len(line) for line in lines) <= 100
    lines = report.text_summary(dot_cell()).split("\n")
    table = lines[lines.index("") + 1 :]
    assert table[0].split() == ["name", "count", "total", "self", "mean", "p90", "max", "share"]
    ends = {line.index("max") + 3 for line in table[:1]}
    assert all(re.search(r"\d (ns|µs|ms|s)$", line[: min(ends)]) for line in table[1:])


def test_html_survives_a_sanitiser_and_says_the_same():
    html = report.html(dot_cell())
    tags = tags_of(html)
    assert not tags.seen & {"script", "style", "svg", "iframe", "link"}
    assert tags.seen >= {"img", "table", "details", "ul"}
    assert all(source.startswith("data:image/svg+xml;base64,") for source in tags.sources)
    assert "waited 167 ms for dot, queued on line 3." in html


def test_names_cannot_leave_their_place():
    html = report.html(hostile())
    assert "&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;" in html
    assert tags_of(html).seen & {"script", "img"} == {"img"}
    assert len(tags_of(html).sources) == 1
    ElementTree.fromstring(report.svg(hostile()))


def test_the_svg_is_well_formed_and_shows_rows_waits_and_legend():
    root = ElementTree.fromstring(report.svg(dot_cell()))
    words = [node.text for node in root.iter("{http://www.w3.org/2000/svg}text")]
    for word in ("host · MainThread", "waits", "cpu/0 worker 1", "operator", "API call", "wait"):
        assert word in words
    assert "line 7 waited 167 ms for dot" in words


def test_the_png_is_a_picture_of_some_colours():
    image = Image.open(io.BytesIO(report.png(dot_cell())))
    assert image.size[0] == 1960
    assert len(image.convert("RGB").getcolors(10_000) or ()) > 10
    assert len(report.png(many(20_000))) < 120_000


def test_plotly_json_is_json_and_far_below_a_hundred_kilobytes():
    for trace in (dot_cell(), many(50_000), empty_cell(), hostile()):
        text = json.dumps(report.plotly_json(trace), allow_nan=False)
        assert len(text) < 80_000
        assert '"@' not in text
    bars = [t for t in report.plotly_json(many(50_000))["data"] if t["type"] == "bar"]
    assert sum(len(trace["x"]) for trace in bars) <= 600


def test_a_saved_report_needs_nothing_from_outside(tmp_path):
    path = report.save_html(hostile(), tmp_path / "report.html")
    text = path.read_text("utf-8")
    assert text.count("</script>") == 2, "no name ends a script"
    page = re.sub(r"<script>.*?</script>", "", text, flags=re.S)
    assert not re.search(r"(src|href)=['\"]?(https?:)?//", page)
    assert "Plotly.newPlot" in text


def test_a_path_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(WriteError, match=r"Cannot write .*report\.html.*still in memory"):
        report.save_html(dot_cell(), tmp_path / "none" / "report.html")


class Shown:
    def _repr_mimebundle_(self, **kwargs):
        return {report.WIDGET_MIME: {"model_id": "7"}, "text/plain": "widget"}, {}


def test_the_bundle_names_the_widget_only_while_a_kernel_runs(monkeypatch):
    static = {report.PLOTLY_MIME, "text/html", "image/png", "text/plain"}
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: None))
    assert report.mime_bundle(dot_cell(), Shown()).keys() == static

    shell = types.SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    bundle = report.mime_bundle(dot_cell(), Shown())
    assert bundle.keys() == static | {report.WIDGET_MIME}
    assert bundle["text/plain"].startswith("412 ms")
    assert base64.b64decode(bundle["image/png"]).startswith(b"\x89PNG")
    assert report.mime_bundle(dot_cell()).keys() == static


def test_ticks_are_round_and_cover_the_window():
    assert [text for _, text in ticks(0, 3_000, most=4)] == ["0 µs", "1 µs", "2 µs", "3 µs"]
    assert ticks(0, 1)[0] == (0, "0 ns")


def test_the_dark_picture_has_another_background():
    assert picture(dot_cell(), theme="dark").background == "#111111"
