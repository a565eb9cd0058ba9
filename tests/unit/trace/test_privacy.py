"""Nothing that is written tells the host, the user, the home folder or where one worked."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest

import mxprof_nb as mp
from mxprof_nb.trace import Meta, Trace, TraceBuilder
from mxprof_nb.trace.privacy import private, without_source
from tests.home import HOST, USER, given_away, move_in, written
from tests.traces import dot_cell


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home folder of somebody on a machine with a name; work is below it."""
    return move_in(tmp_path, monkeypatch)


def telling(home: Path) -> Trace:
    """A trace in which every text tells something it should not."""
    work = home / "work"
    secret = (
        f"{work}/data.csv, {home}/key, /data/{USER}/x, '/data/{USER}', {USER}@{HOST}, "
        f"{HOST}.example.org"
    )
    builder = TraceBuilder(
        Meta(
            title=f"{work}/train.py",
            source=f"x = read('{work}/data.csv')\ny = read('{home}/key')",
            source_file=f"{work}/train.py",
            status="error",
            error=f"FileNotFoundError: {secret}",
            versions=MappingProxyType({"torch": f"1.0 from {home}/lib"}),
            extra=MappingProxyType({"host_name": "elsewhere", "a": {"b": [secret, 1]}}),
            history=(f"loaded {work}/a.json",),
            backend="embedded",
        )
    )
    builder.note("lost", 1, f"One was lost in {secret}.")
    host = builder.track(f"{USER}@{HOST}", role="host", process=f"{HOST} 12", pid_text=HOST)
    worker = builder.track(f"{work}/worker", role="worker", device=f"{HOST}/0")
    sites = [
        builder.site(f"{work}/train.py", 1, "f", f"x = read('{work}/data.csv')"),
        builder.site(f"{home}/elsewhere/lib.py", 2, "g", f"y = read('{home}/key')"),
    ]
    raw = json.dumps({"path": secret})
    builder.event(f"read {work}/data.csv", track=host, start_ns=0, dur_ns=5, category="api",
                  site=sites[0], arg=builder.arg(raw=raw))  # fmt: skip
    builder.event("dot", track=worker, start_ns=5, dur_ns=10, category="operator",
                  domain=f"of {home}", site=sites[1])  # fmt: skip
    builder.counter(f"size of {home}/key", track=worker, time_ns=0, value=1)
    return builder.build()


@pytest.mark.parametrize("name", ["trace.json", "trace.json.gz", "report.html", "picture.png"])
def test_no_file_tells_host_user_or_folders(home: Path, name: str):
    trace = telling(home)
    assert given_away(written(mp.save(trace, home / "work" / name)), home) == []
    if name != "picture.png":
        open_ = written(mp.save(trace, home / "work" / f"open {name}", private=False))
        assert given_away(open_, home) == [HOST, USER, str(home), str(home / "work")]


def test_no_output_of_a_cell_tells_host_user_or_folders(home: Path):
    p = mp.Profile(telling(home))
    bundle = p._repr_mimebundle_(include={"text/plain", "text/html", "image/png",
                                          "application/vnd.plotly.v1+json"})  # fmt: skip
    assert set(bundle) >= {"text/plain", "text/html", "image/png"}
    assert given_away(json.dumps(bundle, ensure_ascii=False), home) == []


def test_a_recorded_program_is_written_with_names_of_files_from_the_working_folder_on(home):
    script = home / "work" / "code" / "train.py"
    script.parent.mkdir()
    script.write_text("import mxprof_nb.runtime as mx\nmx.nd.ones(3).wait_to_read()\n")
    with mp.profile() as p:
        exec(compile(script.read_text(), str(script), "exec"), {})
    for name in ("t.json", "r.html"):
        assert given_away(written(p.save(name)), home) == []
    again = mp.load("t.json").trace
    assert set(again.frame("sites")["file"]) == {"code/train.py"}
    assert set(again.frame("sites")["text"]) == {"mx.nd.ones(3).wait_to_read()"}


def test_files_elsewhere_are_named_as_python_finds_them(home: Path, monkeypatch):
    monkeypatch.syspath_prepend("/opt/lib/site-packages")
    builder = TraceBuilder()
    files = (
        "/opt/lib/site-packages/pandas/core/frame.py",
        "/usr/share/program.py",
        "/tmp/ipykernel_12/345.py",
        "already/relative.py",
        "<ipython-input-3-abc>",
    )
    for file in files:
        builder.site(file, 1, "f")
    assert private(builder.build()).frame("sites")["file"].tolist() == [
        "pandas/core/frame.py",
        "program.py",
        "ipykernel_12/345.py",
        "already/relative.py",
        "<ipython-input-3-abc>",
    ]


def test_words_that_only_look_like_folders_or_names_stay(home: Path):
    work = home / "work"
    kept = (f"{work}shop/x", f"{USER} is a name", f"my{HOST}", f"{HOST}ling")
    builder = TraceBuilder()
    for text in kept:
        builder.track(text, role="host")
    told = private(builder.build()).frame("tracks")["name"].tolist()
    assert told[1:] == list(kept[1:])
    assert told[0] == "~/workshop/x", "the home folder, and not the working folder"


def test_a_host_named_by_a_plain_word_leaves_operators_and_code_alone(home: Path, monkeypatch):
    monkeypatch.setattr("socket.gethostname", lambda: "dot")
    trace = dot_cell(replace(dot_cell().meta, error="no answer from dot", status="error"))
    told = private(trace)
    assert told.meta.error == "no answer from <host>"
    assert told.frame("events").equals(trace.frame("events"))
    assert told.meta.source == trace.meta.source


def test_where_there_is_nothing_to_hide_the_trace_stays_the_same_object(home: Path):
    trace = dot_cell()
    assert private(trace) is trace
    assert private(private(telling(home))) == private(telling(home))


def test_the_cell_and_its_lines_remain_in_one_file(home: Path):
    told = private(telling(home))
    assert told.meta.source_file in set(told.frame("sites")["file"])


@pytest.mark.parametrize("name", ["trace.json", "report.html"])
def test_without_source_no_code_is_written(home: Path, name: str):
    trace = dot_cell(
        replace(
            dot_cell().meta,
            status="error",
            error="OperatorError: it failed\nIt was queued at line 7: y.asnumpy()",
        )
    )
    code = ("asnumpy()", "random_uniform(", "wait_to_read()", "import mxprof_nb")
    text = written(mp.save(trace, home / name))
    assert all(line in text for line in code)
    bare = written(mp.save(trace, home / f"bare {name}", source=False))
    assert not any(line in bare for line in code)
    assert "dot" in bare


def test_lines_keep_their_numbers_without_their_text():
    trace = without_source(dot_cell())
    assert trace.frame("sites")["text"].isna().all()
    assert trace.frame("sites")["line"].equals(dot_cell().frame("sites")["line"])


def test_the_foot_of_a_report_says_what_it_contains(home: Path):
    def foot(**options: bool) -> str:
        text = written(mp.save(telling(home), home / "report.html", **options))
        return text.partition("<footer>")[2].partition("</footer>")[0]

    assert foot() == (
        "This page contains names and times of 2 events, the code of the cell, the text of 2 lines "
        "of code, the names of 2 files and the message of the error that ended it. Names of host "
        "and user were left out."
    )
    assert "code" not in foot(source=False)
    whole = foot(private=False)
    assert "the names of 2 files, with their whole paths" in whole
    assert "left out" not in whole


def test_a_working_folder_that_is_gone_is_no_reason_to_fail(home: Path, monkeypatch):
    def gone() -> str:
        raise FileNotFoundError

    monkeypatch.setattr("os.getcwd", gone)
    monkeypatch.setattr("getpass.getuser", lambda: (_ for _ in ()).throw(KeyError("no user")))
    assert USER not in private(telling(home)).meta.title


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"see /{'home'}/alice/run/log.txt", "see ~/run/log.txt"),
        ("'/Users/bob/x.py', line 3", "'~/x.py', line 3"),
        (r"C:\Users\carol\x.py", r"~\x.py"),
        (r'{"path": "D:\\Users\\carol\\x"}', r'{"path": "~\\x"}'),
        ("https://example.org/home/page", "https://example.org/home/page"),
        ("/home", "/home"),
    ],
)
def test_home_folders_of_other_machines_are_taken_out(text: str, shown: str) -> None:
    builder = TraceBuilder(Meta(error=text))
    builder.note("diagnostic", 1, text)
    builder.event("read", track=builder.track(text, role="host"), start_ns=0)
    trace = private(builder.build())
    assert [trace.strings[trace.tracks.name[0]], trace.meta.error, str(trace.health)] == [shown] * 3
