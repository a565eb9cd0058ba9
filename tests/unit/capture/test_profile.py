import functools
import signal
import threading
from types import SimpleNamespace
from typing import ClassVar

import pytest

import mxprof_nb as mp
from mxprof_nb.backends.live import WAIT_AFTER_ERROR_S, LiveCapture
from mxprof_nb.errors import (
    AlreadyRecordingError,
    BackendNotFoundError,
    NotRecordingError,
    ReadError,
    TraceError,
    UnknownFormatError,
    WriteError,
)
from mxprof_nb.trace import Trace, TraceBuilder
from mxprof_nb.view.kernel import request_of_a_person
from mxprof_nb.view.still import StillTimeline
from tests.unit.capture.fake_backend import FakeBackend, FakeSession


@pytest.fixture
def finished(fake: FakeBackend) -> mp.Profile:
    with mp.profile(backend="fake", name="a name") as p:
        pass
    return p


def test_after_the_block_the_profile_has_all_tables_as_frames(finished: mp.Profile):
    assert isinstance(finished.trace, Trace)
    assert finished.events["name"].tolist() == ["MXImperativeInvokeEx", "dot"]
    assert len(finished.flows) == 1
    assert finished.counters["value"].tolist() == [64.0]
    assert finished.tracks["name"].tolist()[0] == "MainThread"
    assert finished.health.ok


def test_aggregate_tables_stand_under_the_title_of_their_domain(finished: mp.Profile):
    assert list(finished.tables)[:2] == ["Operators", "API calls"]
    assert finished.tables["Operators"]["total_ns"].tolist() == [1_500_000]


@pytest.mark.parametrize("title", ["operators", "OPERATORS", "Operator"])
def test_a_table_asked_for_by_a_wrong_title_is_answered_with_the_right_one(finished, title):
    with pytest.raises(TraceError, match=r"Did you mean 'Operators'\?.* 'API calls'"):
        finished.tables[title]
    assert title not in finished.tables
    assert finished.tables.get(title) is None
    with pytest.raises(KeyError) as told:
        finished.tables["zzz"]
    assert str(told.value).startswith("This profile has no table 'zzz'. It has 'Operators',")


def test_a_profile_without_events_says_that_it_has_no_tables():
    with pytest.raises(KeyError, match="It has no events"):
        mp.Profile(TraceBuilder().build()).tables["Operators"]


def test_a_script_can_print_what_a_notebook_shows_as_text(finished: mp.Profile):
    text = str(finished)
    assert text == finished._repr_mimebundle_(include={"text/plain"})["text/plain"]
    assert "dot" in text
    assert len(text.splitlines()) > 3


def test_frames_are_computed_once(finished: mp.Profile):
    assert finished.events is finished.events
    assert finished.tables is finished.tables


def test_a_profile_is_accepted_wherever_a_trace_is(finished: mp.Profile):
    assert finished.__mxprof_trace__ is finished.trace
    assert mp.Profile(finished).trace is finished.trace


def test_reading_within_the_block_says_when_to_read(fake: FakeBackend):
    with mp.profile(backend="fake") as p:
        assert "still recording" in repr(p)
        with pytest.raises(NotRecordingError, match="when its `with` block"):
            p.events  # noqa: B018
        assert p._repr_mimebundle_() == {"text/plain": repr(p)}
    assert len(p.events) == 2


def test_an_error_passes_through_and_what_was_recorded_is_kept(fake: FakeBackend):
    with pytest.raises(ZeroDivisionError), mp.profile(backend="fake") as p:
        1 / 0  # noqa: B018
    assert p.trace.meta.status == "error"
    assert p.trace.meta.error == "ZeroDivisionError: division by zero"
    assert "error" in repr(p)
    assert len(p.events) == 2


def test_it_waits_for_queued_work_without_limit_and_after_an_error_for_one_second(fake):
    with mp.profile(backend="fake"):
        pass
    with pytest.raises(ZeroDivisionError), mp.profile(backend="fake"):
        1 / 0  # noqa: B018
    with mp.profile(backend="fake", wait=False):
        pass
    assert [session.waits for session in fake.sessions] == [[None], [WAIT_AFTER_ERROR_S], []]


@pytest.mark.parametrize(("stuck", "told"), [(1, "1 operator was"), (1200, "1,200 operators were")])
def test_operators_that_still_run_are_counted_and_told(fake: FakeBackend, stuck: int, told: str):
    fake.stuck = stuck
    with mp.profile(backend="fake", wait=False) as p:
        pass
    assert p.trace.meta.pending == stuck
    [note] = p.health.notes
    assert (note.code, note.count) == ("pending", stuck)
    assert note.message.startswith(told)


def test_ctrl_c_ends_the_wait_and_keeps_the_profile(fake: FakeBackend):
    fake.wait_raises, fake.stuck = KeyboardInterrupt(), 3
    with pytest.raises(KeyboardInterrupt), mp.profile(backend="fake") as p:
        pass
    assert (p.trace.meta.status, p.trace.meta.pending) == ("interrupted", 3)
    assert not fake.recording


def test_ctrl_c_in_the_wait_after_an_error_leaves_that_error_in_charge(fake: FakeBackend):
    fake.wait_raises = KeyboardInterrupt()
    with pytest.raises(ZeroDivisionError), mp.profile(backend="fake") as p:
        1 / 0  # noqa: B018
    assert p.trace.meta.status == "error"


def test_a_wait_that_fails_loses_nothing(fake: FakeBackend):
    fake.wait_raises = RuntimeError("backend is broken")
    with pytest.raises(RuntimeError, match="broken"), mp.profile(backend="fake") as p:
        pass
    assert len(p.events) == 2
    assert not fake.recording


def test_a_profile_of_another_backend_is_refused_and_the_first_goes_on(fake: FakeBackend):
    with mp.profile(backend="fake", name="outer") as p:
        with pytest.raises(AlreadyRecordingError, match=r"\(outer\) already runs"):
            mp.profile().__enter__()
        assert len(fake.recording) == 1
    assert len(p.events) == 2
    with mp.profile(backend="fake") as again:
        pass
    assert len(again.events) == 2


def test_another_thread_may_be_profiled_meanwhile(fake: FakeBackend):
    others: list[mp.Profile] = []

    def work():
        with mp.profile(backend="fake") as other:
            assert len(fake.recording) == 2
        others.append(other)

    with mp.profile(backend="fake"):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert len(others[0].events) == 2


def test_a_block_that_could_not_start_leaves_the_profiler_ready(fake: FakeBackend):
    with pytest.raises(BackendNotFoundError), mp.profile(backend="no such"):
        pass
    fake.start_raises = RuntimeError("no permission")
    with pytest.raises(RuntimeError, match="no permission"), mp.profile(backend="fake"):
        pass
    fake.start_raises = None
    with mp.profile(backend="fake") as p:
        pass
    assert len(p.events) == 2


def test_a_capture_stops_once_and_only_after_it_started(fake: FakeBackend):
    capture = LiveCapture("fake")
    with pytest.raises(NotRecordingError, match="never started"):
        capture.stop()
    capture.start()
    capture.stop()
    with pytest.raises(NotRecordingError, match="stopped before"):
        capture.stop()


def test_an_abandoned_capture_leaves_the_thread_free(fake: FakeBackend):
    capture = LiveCapture("fake")
    capture.start()
    capture.abandon()
    assert capture.trace is None
    assert not fake.recording
    LiveCapture.check_idle()


def test_the_facts_name_title_backend_and_settings(finished: mp.Profile):
    meta = finished.trace.meta
    assert (meta.title, meta.backend, meta.status) == ("a name", "fake", "ok")
    assert meta.config["max_events"] == mp.RecordConfig().max_events


def test_the_settings_reach_the_backend(fake: FakeBackend):
    config = mp.RecordConfig(memory=False)
    with mp.profile(backend="fake", config=config):
        pass
    assert fake.sessions[0].config is config


def test_the_bundle_holds_what_was_asked_for(finished: mp.Profile):
    whole = finished._repr_mimebundle_()
    assert {"text/plain", "text/html"} <= set(whole)
    assert finished._repr_mimebundle_(include={"text/plain"}).keys() == {"text/plain"}
    assert "text/html" not in finished._repr_mimebundle_(exclude={"text/html"})
    assert not any("widget" in mime for mime in whole), "no kernel, no widget"
    plotly = "application/vnd.plotly.v1+json"
    assert plotly not in whole, "JupyterLab would show it instead of the words and tables"
    assert finished._repr_mimebundle_(include={plotly})[plotly]["data"]


def test_a_broken_view_falls_back_to_the_summary_and_says_why(finished, monkeypatch):
    def broken(*args: object, **options: object) -> None:
        raise RuntimeError("no ink")

    monkeypatch.setattr("mxprof_nb.view.report.mime_bundle", broken)
    text = finished._repr_mimebundle_()["text/plain"]
    assert "RuntimeError: no ink" in text
    assert "dot" in text, "the summary is still there"
    monkeypatch.setattr("mxprof_nb.view.report.text_summary", broken)
    assert repr(finished) in finished._repr_mimebundle_()["text/plain"]


def test_the_timeline_displays_without_a_kernel_and_gives_a_plain_figure(finished: mp.Profile):
    timeline = finished.timeline()
    assert isinstance(timeline, StillTimeline)
    bundle = timeline._repr_mimebundle_()
    assert isinstance(bundle, dict)
    assert bundle.keys() == {"text/html", "image/png", "text/plain"}
    assert repr(timeline) == bundle["text/plain"] == str(finished)
    figure = timeline.to_figure(max_marks=1, theme="dark")
    assert type(figure).__module__.startswith("plotly.")
    with pytest.raises(TraceError, match="blue"):
        timeline.to_figure(theme="blue")


def test_save_chooses_the_format_by_the_suffix(finished: mp.Profile, tmp_path):
    report = finished.save(tmp_path / "report.html")
    assert "<" in report.read_text(encoding="utf-8")
    picture = finished.save(tmp_path / "Report.PNG")
    assert picture.read_bytes().startswith(b"\x89PNG\r\n")
    mp.save(finished, tmp_path / "trace.json")
    again = mp.load(tmp_path / "trace.json")
    assert "dot" in again.events["name"].tolist()


def test_save_tells_what_it_cannot_do(finished: mp.Profile, tmp_path):
    for save in (finished.save, functools.partial(mp.save, finished)):
        for name in ("trace.unknown", "trace"):
            with pytest.raises(UnknownFormatError) as unknown:
                save(tmp_path / name)
            assert str(unknown.value).endswith(
                "Known endings: .csv, .csv.gz, .html, .json, .json.gz, .mxprof, .parquet, .png."
            )
    for name in ("report.html", "report.png", "trace.json"):
        with pytest.raises(WriteError, match="Nothing is lost") as told:
            finished.save(tmp_path / "no such folder" / name)
        assert name in told.value.path


def test_a_file_that_cannot_be_read_is_not_answered_with_an_argument_that_load_lacks(tmp_path):
    for content in (b"hello", b'{"events": []}'):
        (tmp_path / "file").write_bytes(content)
        with pytest.raises(ReadError) as told:
            mp.load(tmp_path / "file")
        assert "format=" not in str(told.value)


def test_ctrl_c_during_the_stop_is_delivered_after_it(fake: FakeBackend, monkeypatch):
    stop = FakeSession.stop

    def interrupted_stop(session: FakeSession) -> Trace:
        signal.raise_signal(signal.SIGINT)
        return stop(session)

    monkeypatch.setattr(FakeSession, "stop", interrupted_stop)
    with pytest.raises(KeyboardInterrupt), mp.profile(backend="fake") as p:
        pass
    assert len(p.events) == 2
    LiveCapture.check_idle()


class FakeWidget:
    made: ClassVar[list["FakeWidget"]] = []

    def __init__(self, trace: Trace, *, on_save, on_export, cell: str) -> None:
        self.trace, self.on_save, self.on_export, self.cell = trace, on_save, on_export, cell
        self.stage = trace
        self.made.append(self)

    def _repr_mimebundle_(self, **options: object) -> tuple[dict[str, object], dict[str, object]]:
        return {"text/html": "marked"}, {}


@pytest.fixture
def widgets(monkeypatch: pytest.MonkeyPatch) -> list[FakeWidget]:
    """A front end with a person before it: every widget that is made for it."""
    request = {"header": {"msg_id": "m"}, "metadata": {"cellId": "c"}, "content": {}}
    monkeypatch.setattr("mxprof_nb.capture.request_of_a_person", lambda: request)
    monkeypatch.setattr("mxprof_nb.view.widgets.ProfileWidget", FakeWidget)
    monkeypatch.setattr("mxprof_nb.capture._displays", ("", 0))
    FakeWidget.made.clear()
    return FakeWidget.made


def test_each_display_has_a_widget_that_knows_its_place(finished, widgets):
    assert finished._repr_mimebundle_() == {"text/html": "marked"}
    finished._repr_mimebundle_()
    assert [widget.cell for widget in widgets] == ["c 1", "c 2"]
    assert widgets[0].trace is finished.trace


def test_no_widget_is_made_when_none_was_asked_for(finished, widgets):
    finished._repr_mimebundle_(include={"text/plain"})
    finished._repr_mimebundle_(exclude={"application/vnd.jupyter.widget-view+json"})
    mp.Profile(TraceBuilder().build())._repr_mimebundle_()  # there is nothing to explore
    assert widgets == []


def test_the_buttons_write_new_files_named_after_the_profile(
    finished, widgets, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    finished._repr_mimebundle_()
    written = [widgets[0].on_save(), widgets[0].on_save(), widgets[0].on_export()]
    assert [path.name for path in written] == [
        "profile-a-name.html",
        "profile-a-name-2.html",
        "profile-a-name.json",
    ]
    assert all(path.exists() for path in written)


@pytest.mark.parametrize(
    ("content", "watched"),
    [({"allow_stdin": True}, True), ({"allow_stdin": False}, False), ({}, True)],
)
def test_a_request_that_allows_no_input_is_one_that_nobody_watches(monkeypatch, content, watched):
    kernel = SimpleNamespace(comm_manager=object(), get_parent=lambda: {"content": content})
    monkeypatch.setattr("IPython.get_ipython", lambda: SimpleNamespace(kernel=kernel))
    assert (request_of_a_person() is not None) == watched


def test_outside_a_kernel_nobody_can_use_a_widget(monkeypatch):
    for shell in (None, SimpleNamespace(), SimpleNamespace(kernel=SimpleNamespace())):
        monkeypatch.setattr("IPython.get_ipython", lambda shell=shell: shell)
        assert request_of_a_person() is None
