"""Traces whose texts and numbers no page, picture or terminal could take as they are."""

from __future__ import annotations

import base64
import io
import json
import re
import zlib
from xml.etree import ElementTree

import pytest
from PIL import Image

from mxprof_nb.trace import Meta, TraceBuilder
from mxprof_nb.view import plots, report
from mxprof_nb.view.legible import legible, shown
from mxprof_nb.view.widgets import ProfileWidget
from tests.traces import dot_cell

RAW = "a\udc80b\x00c\x1b[2Jd\ud800\x9be\nf\tg\r\ufffe\u202eh\u2067i\u200f"
CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff\u200f\u202a-\u202e\u2066-\u2069]"
)
MS = 1_000_000


def raw():
    """A trace with the same hostile text wherever a text may stand."""
    meta = Meta(
        window_ns=(0, 100 * MS),
        title=RAW,
        source=f"x = 1\r\n{RAW}",
        source_file=RAW,
        status="error",
        error=RAW,
    )
    builder = TraceBuilder(meta)
    site = builder.site(RAW, 2, RAW, RAW)
    host = builder.track(RAW, role="host")
    worker = builder.track(RAW + "w", role="worker", device=RAW)
    memory = builder.track(RAW + "m", role="counter")
    call = builder.event(
        RAW, track=host, start_ns=0, dur_ns=90 * MS, category="api", domain="MXNET_C_API", site=site
    )
    builder.event(
        RAW, track=host, start_ns=MS, dur_ns=80 * MS, category="sync", site=site, correlation=1
    )
    operator = builder.event(
        RAW,
        track=worker,
        start_ns=2 * MS,
        dur_ns=79 * MS,
        category="operator",
        domain="operator",
        site=site,
        queued_ns=MS,
        correlation=1,
        arg=builder.arg(bytes=8, shapes=RAW, dtype=RAW),
    )
    builder.flow(call, operator, "launch")
    builder.event("other", track=worker, start_ns=90 * MS, dur_ns=MS, domain=RAW)
    builder.counter(RAW, track=memory, time_ns=MS, value=5.0, unit="B")
    builder.note("lost", 1, RAW)
    return builder.build()


def extreme(*values):
    builder = TraceBuilder(Meta(window_ns=(0, 100 * MS)))
    memory = builder.track("Memory: cpu/0", role="counter")
    for unit in ("B", "ns", ""):
        for number, value in enumerate(values, start=1):
            builder.counter(
                f"Memory {unit}", track=memory, time_ns=number * MS, value=value, unit=unit
            )
    return builder.build()


def test_texts_without_harm_stay_the_very_same_trace():
    trace = dot_cell()
    assert legible(trace) is trace
    assert shown("ä → 漢字 😀\n\tx") == "ä → 漢字 😀\n\tx"


def test_raw_names_enter_no_form():
    trace = raw()
    html = report.html(trace)
    (image,) = re.findall(r"data:image/svg\+xml;base64,([^\"]*)", html)
    forms = {
        "text": report.text_summary(trace),
        "html": html,
        "svg": report.svg(trace),
        "image": base64.b64decode(image).decode(),
        "plotly": json.dumps(report.plotly_json(trace), allow_nan=False, ensure_ascii=False),
        "figure": plots.timeline(trace).to_json(),
    }
    for name, form in forms.items():
        assert not CONTROL.search(form), name
        assert "a\ufffdb\ufffdc\ufffd[2Jd" in form or "a\\ufffdb" in form, name
        form.encode()
    ElementTree.fromstring(forms["svg"])
    ElementTree.fromstring(forms["image"])
    assert Image.open(io.BytesIO(report.png(trace))).size[0] == 1960
    assert report.mime_bundle(trace).keys() == {"text/html", "image/png", "text/plain"}


def test_raw_names_are_written_to_a_file_that_can_be_read(tmp_path):
    page = report.save_html(raw(), tmp_path / "report.html").read_text("utf-8")
    words = re.sub(r"<script>.*?</script>", "", page, flags=re.S)
    assert not CONTROL.search(words)
    assert "<title>Profile of a\ufffdb" in words


def test_raw_names_reach_the_page_of_a_widget_as_characters():
    def fail():
        raise OSError(RAW)

    widget = ProfileWidget(raw(), on_save=fail)
    try:
        widget._handle_custom_msg({"type": "save"}, [])
        widget._handle_custom_msg({"type": "picture"}, [])
        for sent in (widget._shown["figure"], widget._tables):
            packed = zlib.decompress(sent)
            head = packed[int.from_bytes(packed[:4], "little") :].decode()
            assert not CONTROL.search(head)
        for text in (json.dumps(widget._text), json.dumps(widget._said)):
            assert not CONTROL.search(json.loads(f"[{json.dumps(text)}]")[0])
            assert "\\u001b" not in text
            assert "\\udc80" not in text
    finally:
        widget.close()


@pytest.mark.parametrize(
    "values", [(1e308, -1e308), (-1e308,), (1.7976931348623157e308, 1e308), (1e16, -1e16)]
)
def test_counters_of_any_size_are_drawn(values, tmp_path):
    trace = extreme(*values)
    ElementTree.fromstring(report.svg(trace))
    assert not re.search(r"\b(inf|nan)\b", report.svg(trace))
    assert Image.open(io.BytesIO(report.png(trace))).size[0] == 1960
    json.dumps(report.plotly_json(trace), allow_nan=False)
    assert max(map(len, report.text_summary(trace).split("\n"))) <= 100
    report.save_html(trace, tmp_path / "report.html")
    ProfileWidget(trace).close()
