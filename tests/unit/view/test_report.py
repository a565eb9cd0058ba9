from __future__ import annotations

import base64
import io
import json
import re
from dataclasses import replace
from datetime import datetime
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
    title, *table = lines[lines.index("") + 1 :]
    assert title == "Operators"
    table, others = table[: table.index("")], table[table.index("") + 1 :]
    assert others == ["Other tables: API calls, Waits, Memory, Engine, Counters."]
    heads = ["name", "count", "total ms", "self ms", "mean ms", "p90 ms", "max ms", "share %"]
    assert re.split(r"  +", table[0]) == heads
    end = table[0].index("max ms") + len("max ms")
    points = {line[:end].split("  ", 1)[-1].rsplit(" " * 3, 1)[-1] for line in table[1:]}
    assert points == {"208  ", "171  ", "14.0"}, "points stand below one another"


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
    for word in ("host · MainThread", "waits", "cpu/0 workers", "worker 1", "API call", "wait"):
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
    assert text.count("</script>") == text.count("<script") == 2, "no name ends a script"
    assert not re.search(r"(src|href)=['\"]?(https?:)?//", text)
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text)


def test_a_report_takes_some_bytes_for_each_event_and_few_for_none(tmp_path):
    def size(trace):
        return report.save_html(trace, tmp_path / "report.html").stat().st_size

    least = size(many(200))
    assert least < 200_000
    assert (size(many(100_000, tracks=8)) - least) / 100_000 < 8


def test_a_path_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(WriteError, match=r"Cannot write .*report\.html.*still in memory"):
        report.save_html(dot_cell(), tmp_path / "none" / "report.html")


def test_a_report_that_cannot_be_written_whole_leaves_the_old_file(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    path = tmp_path / "report.html"
    path.write_text("old")
    monkeypatch.setattr("os.replace", full)
    with pytest.raises(WriteError, match=r"report\.html: No space left on device"):
        report.save_html(dot_cell(), path)
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["report.html"]


def test_the_bundle_holds_what_is_complete_without_a_kernel():
    bundle = report.mime_bundle(dot_cell())
    assert bundle.keys() == {"text/html", "image/png", "text/plain"}
    assert bundle["text/plain"].startswith("412 ms")
    image = Image.open(io.BytesIO(base64.b64decode(bundle["image/png"])))
    assert image.size[0] == 980, "viewers show a PNG at its own size"
    assert sum(map(len, bundle.values())) < 40_000
    assert sum(map(len, report.mime_bundle(many(20_000)).values())) < 60_000


def test_the_mark_stands_in_a_class_which_sanitisers_keep():
    html = report.html(dot_cell(), mark="7<")
    assert html.startswith('<div class="mxp-form mxp-form-7&lt;"><div ')
    assert html.removeprefix('<div class="mxp-form mxp-form-7&lt;">').removesuffix("</div>") == (
        report.html(dot_cell())
    )


def test_a_cell_without_runtime_calls_is_told_in_words_alone(tmp_path):
    bundle = report.mime_bundle(empty_cell())
    assert bundle.keys() == {"text/html", "text/plain"}
    assert not tags_of(bundle["text/html"]).seen & {"img", "table", "details"}
    page = report.save_html(empty_cell(), tmp_path / "report.html").read_text("utf-8")
    assert "<script" not in page


def test_the_report_shows_the_code_with_its_line_numbers_and_when_it_ran(tmp_path):
    trace = dot_cell()
    day = 1_700_000_000 * 10**9
    source = "a = 1\n<b>" + "\n" * 9 + "c"
    trace = dot_cell(replace(trace.meta, origin_epoch_ns=day, source=source))
    page = report.save_html(trace, tmp_path / "report.html").read_text("utf-8")
    page = re.sub(r"<script>.*?</script>", "", page, flags=re.S)
    assert "<title>Profile of cell 4</title>" in page
    (code,) = re.findall(r"<details open>.*?<pre[^>]*>(.*?)</pre>", page, flags=re.S)
    lines = re.sub(r"<[^>]*>", "", code).split("\n")
    assert lines[:2] == [" 1  a = 1", " 2  &lt;b&gt;"]
    assert lines[10] == "11  c"
    begin = datetime.fromtimestamp(day / 1e9 + 1).astimezone()
    assert begin.strftime("Recorded %Y-%m-%d %H:%M:%S") in page
    assert "Recorded" not in report.save_html(dot_cell(), tmp_path / "b.html").read_text("utf-8")


def test_the_first_table_with_rows_is_open():
    html = report.html(dot_cell())
    assert re.findall(r"<details( open)?[^>]*><summary>(\w+)", html)[0] == (" open", "Operators")
    assert html.count("<details open") == 1


def test_ticks_are_round_and_cover_the_window():
    assert [text for _, text in ticks(0, 3_000, most=4)] == ["0 µs", "1 µs", "2 µs", "3 µs"]
    assert ticks(0, 1)[0] == (0, "0 ns")


def test_the_dark_picture_has_another_background():
    assert picture(dot_cell(), theme="dark").background == "#111111"


@pytest.mark.parametrize(("events", "tracks"), [(1_000_000, 8), (200_000, 5_000)])
def test_a_notebook_stores_little_of_a_profile_of_any_size(events, tracks):
    bundle = report.mime_bundle(many(events, tracks=tracks))
    assert sum(len(form) for form in bundle.values()) < 300_000
    assert bundle.keys() == {"text/html", "image/png", "text/plain"}
    figure = report.plotly_json(many(events, tracks=tracks))
    assert len(json.dumps(figure)) < 300_000


def test_a_track_of_more_events_at_once_than_calls_can_nest_is_saved(tmp_path):
    builder = TraceBuilder()
    track = builder.track("requests", role="host")
    for start in range(25_000):
        builder.event("request", track=track, start_ns=start, dur_ns=100_000)
    path = report.save_html(builder.build(), tmp_path / "report.html")
    assert "25,000 events" in path.read_text("utf-8")


def test_a_share_of_nothing_has_no_bar():
    builder = TraceBuilder()
    track = builder.track("host", role="host")
    builder.event("long", track=track, start_ns=0, dur_ns=9)
    builder.event("none", track=track, start_ns=9, dur_ns=0)
    html = report.html(builder.build())
    assert html.count("height:9px;width:90px") == 1
    assert html.count("height:9px;width:0px") == 1
