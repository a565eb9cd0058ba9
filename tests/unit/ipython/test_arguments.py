from pathlib import Path

import pytest
from IPython.core.error import UsageError

from mxprof_nb.backends.live import LiveCapture
from mxprof_nb.ipython.arguments import HelpWanted, Options, check, parse, split_statement
from mxprof_nb.record import RecordConfig
from tests.unit.capture.fake_backend import FakeBackend


def test_without_flags_the_embedded_backend_records_and_the_profile_is_displayed():
    assert parse("") == Options("embedded", None, (), quiet=False)


@pytest.mark.parametrize(
    "line", ["-b x -o p -e /a.json -q", "--backend x -o p --export /a.json --quiet"]
)
def test_flags_have_a_short_and_a_long_form(line: str):
    assert parse(line) == Options("x", "p", (Path("/a.json"),), quiet=True)


def test_a_path_may_be_quoted_relative_or_at_home(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert parse("-e 'two words.json'").exports == (tmp_path / "two words.json",)
    assert parse('-e "a.json"').exports == (tmp_path / "a.json",)
    assert parse("-e ~/a.json").exports == (tmp_path / "a.json",)


def test_variables_are_not_expanded():
    assert parse("-b {x}").backend == "{x}"
    assert parse("-b $x").backend == "$x"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("--bogus", "--bogus"),
        ("word", "word"),
        ("-o", "-o"),
        ("-e 'open", "No closing quotation"),
        ("-o 1p", "1p"),
        ("-o class", "class"),
        ("-o a.b", r"a\.b"),
    ],
)
def test_what_cannot_be_understood_is_a_usage_error_that_quotes_it(line: str, told: str):
    with pytest.raises(UsageError, match=told):
        parse(line)


def test_a_check_passes_and_changes_nothing_when_all_is_well(fake: FakeBackend, tmp_path):
    check(parse(f"-b fake -e {tmp_path}/a.json"))
    check(parse(f"-b fake -e {tmp_path}/a.html"))
    assert not fake.sessions
    assert not list(tmp_path.iterdir())


def test_a_check_finds_an_unknown_backend(fake: FakeBackend):
    with pytest.raises(UsageError, match="Did you mean 'fake'"):
        check(parse("-b fakt"))


def test_a_check_finds_what_cannot_be_exported(fake: FakeBackend, tmp_path):
    (tmp_path / "folder.json").mkdir()
    for path, told in [
        (f"{tmp_path}/none/a.json", "there is no folder"),
        (f"{tmp_path}/none/a.html", "there is no folder"),
        (f"{tmp_path}/folder.json", "it is a folder"),
        (f"{tmp_path}/a.unknown", "unknown"),
    ]:
        with pytest.raises(UsageError, match=told):
            check(parse(f"-b fake -e {path}"))


def test_a_check_finds_a_folder_that_may_not_be_written(fake, tmp_path, monkeypatch):
    monkeypatch.setattr("os.access", lambda path, mode: False)  # root may write everywhere
    with pytest.raises(UsageError, match="may not be written"):
        check(parse(f"-b fake -e {tmp_path}/a.json"))


def test_a_check_finds_a_profile_that_runs_in_this_thread(fake: FakeBackend):
    capture = LiveCapture("fake", name="first")
    capture.start()
    try:
        with pytest.raises(UsageError, match=r"\(first\) already runs"):
            check(parse("-b fake"))
    finally:
        capture.stop()


def test_a_broken_plugin_is_a_usage_error_too(fake: FakeBackend, monkeypatch, tmp_path):
    def broken(path: Path, **options: object) -> None:
        raise RuntimeError("bad plugin")

    monkeypatch.setattr("mxprof_nb.io.registry.find_writer", broken)
    with pytest.raises(UsageError, match=r"RuntimeError: bad plugin\. Nothing ran\.$"):
        check(parse(f"-b fake -e {tmp_path}/a.json"))


@pytest.mark.parametrize("line", ["-h", "--help", "-b fake -h"])
def test_who_asks_for_help_is_not_told_of_unrecognized_arguments(line):
    with pytest.raises(HelpWanted) as told:
        parse(line)
    assert "unrecognized" not in str(told.value)


@pytest.mark.parametrize(
    "line",
    [
        *("--bogus", "-b", "-o", "-o 1p", "-e 'open", "-b nope"),
        *("-e nothing.xls", "-e no_ending", "-e /no/such/folder/a.json", "-e /no/such/a.html"),
    ],
)
def test_every_usage_error_ends_by_saying_that_nothing_ran(fake: FakeBackend, line: str):
    with pytest.raises(UsageError) as told:
        check(parse(line))
    assert str(told.value).endswith(" Nothing ran.")
    assert "format=" not in str(told.value), "no flag of that name"


def test_an_ending_that_stands_for_nothing_is_answered_with_all_that_do(fake: FakeBackend):
    with pytest.raises(UsageError, match=r"Known endings: \.csv, .* \.html, \.json, .*\.png\."):
        check(parse("-e foo.xls"))


def test_flags_say_what_to_record():
    chosen = parse("--no-memory --no-api --lines --max-events 7").config
    assert chosen == RecordConfig(memory=False, api=False, lines=True, max_events=7)
    assert parse("").config == RecordConfig()
    assert parse("--memory --api --no-lines").config == RecordConfig(lines=False)


def test_flags_say_how_often_to_run_and_whether_to_wait():
    found = parse("-n 5 -w 2 --no-wait")
    assert (found.repeat, found.warmup, found.wait) == (5, 2, False)
    found = parse("--repeat 5 --warmup 2")
    assert (found.repeat, found.warmup, found.wait) == (5, 2, True)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("-n 0", "--repeat 0: choose 1 or more"),
        ("-w -1", "-w"),
        ("--max-events 0", "--max-events 0: choose 1"),
        ("-n five", "five"),
    ],
)
def test_a_number_that_makes_no_sense_is_a_usage_error(line: str, told: str):
    with pytest.raises(UsageError, match=told):
        parse(line)


@pytest.mark.parametrize(
    ("line", "flags", "statement"),
    [
        ("f(x)", "", "f(x)"),
        ("-q -n 3 f(x,  'a -b')", "-q -n 3", "f(x,  'a -b')"),
        ("--export 'two words.json' -q x = 1", "--export 'two words.json' -q", "x = 1"),
        ("--repeat=3 x", "--repeat=3", "x"),
        ("-- -x", "", "-x"),
        ('-q print("it\'s")', "-q", 'print("it\'s")'),
        ("--bogus x", "--bogus", "x"),
        ("-q", "-q", ""),
        ("", "", ""),
    ],
)
def test_a_statement_begins_with_the_first_word_that_is_no_flag(line, flags, statement):
    found = split_statement(line)
    assert (found[0].strip(), found[1]) == (flags, statement)
