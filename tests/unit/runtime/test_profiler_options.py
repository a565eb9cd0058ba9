"""`mx.profiler.set_config`: what each option takes, and that it applies whole or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import mxprof_nb.runtime as mx
from mxprof_nb.errors import ProfilerOptionError
from mxprof_nb.runtime.profiler import state
from mxprof_nb.runtime.profiler.config import Options, parse

nd, profiler = mx.nd, mx.profiler

pytestmark = pytest.mark.usefixtures("fresh_profiler")


def test_without_options_all_have_the_defaults_of_mxnet():
    assert parse({}) == Options(
        filename="profile.json",
        profile_all=False,
        profile_symbolic=True,
        profile_imperative=True,
        profile_memory=True,
        profile_api=True,
        continuous_dump=True,
        dump_period=1.0,
        aggregate_stats=False,
        profile_process="worker",
    )


@pytest.mark.parametrize("value", [True, 1, "1", "true", "True", "TRUE"])
def test_yes_is_spelt_as_mxnet_spells_it(value):
    assert parse({"aggregate_stats": value}).aggregate_stats is True


@pytest.mark.parametrize("value", [False, 0, "0", "false", "False"])
def test_no_is_spelt_as_mxnet_spells_it(value):
    assert parse({"profile_api": value}).profile_api is False


def test_seconds_may_be_text_and_count_only_for_a_continuous_dump():
    assert parse({"dump_period": "0.5"}).dump_period == 0.5
    assert parse({"dump_period": 0, "continuous_dump": False}).dump_period == 0


def test_a_path_may_be_an_object(tmp_path):
    assert parse({"filename": tmp_path / "a.json"}).filename == tmp_path / "a.json"


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"profile_al": True}, r"no option 'profile_al'\. Did you mean 'profile_all'"),
    ({"profile_all": "maybe"}, "profile_all='maybe' is neither true nor false"),
    ({"profile_api": None}, "profile_api=None is neither"),
    ({"aggregate_stats": 2}, "aggregate_stats=2 is neither"),
    ({"aggregate_stats": 1.0}, r"aggregate_stats=1\.0 is neither"),
    ({"dump_period": 0}, r"dump_period=0\.0.*more than 0"),
    ({"dump_period": -1}, r"dump_period=-1\.0.*more than 0"),
    ({"dump_period": "soon"}, "'soon' is no number of seconds"),
    ({"dump_period": float("nan")}, "is no number of seconds"),
    ({"filename": ""}, "names no file"),
    ({"filename": "a\0b"}, "no file can have this name"),
    ({"filename": "\ud800.json"}, "no file can have this name"),
    ({"filename": 3}, "filename=3: a path is a str"),
    ({"filename": b"a.json"}, "a path is a str"),
    ({"profile_process": "workr"}, "'workr' does not exist. Did you mean 'worker'"),
    ({"profile_process": "server"}, "there are no parameter servers"),
]


@pytest.mark.parametrize(("wrong", "message"), WRONG)
def test_what_is_wrong_is_said_and_everything_stays_as_it_was(tmp_path, wrong, message):
    profiler.set_config(filename=tmp_path / "a.json", aggregate_stats=True, profile_api=False)
    profiler.set_state("run")
    nd.ones(2).exp().wait_to_read()
    before = state.PROFILER.options, state.PROFILER.config
    right = {"filename": tmp_path / "b.json", "profile_memory": False, "aggregate_stats": False}
    with pytest.raises(ProfilerOptionError, match=message):
        profiler.set_config(**right | wrong)
    assert (state.PROFILER.options, state.PROFILER.config) == before
    profiler.set_state("stop")
    assert "exp" in profiler.dumps()
    profiler.dump()
    assert [file.name for file in tmp_path.iterdir()] == ["a.json"]


def test_programs_that_catch_errors_of_mxnet_catch_these():
    with pytest.raises(mx.base.MXNetError):
        profiler.set_config(bogus=1)
    with pytest.raises(ValueError, match="bogus"):
        profiler.set_state("bogus")
    with pytest.raises(mx.base.MXNetError):
        profiler.dump()


def test_options_have_no_order():
    with pytest.raises(TypeError, match="positional"):
        profiler.set_config("x")  # type: ignore[call-arg]


def test_the_other_functions_take_their_arguments_in_the_order_of_mxnet(tmp_path):
    file = tmp_path / "a.json"
    profiler.set_config(filename=file, aggregate_stats=True)
    profiler.set_state("run", "worker")
    nd.ones(2).exp().wait_to_read()
    profiler.pause("worker")
    profiler.resume("worker")
    profiler.set_state("stop", "worker")
    profiler.dump(False, "worker")
    assert file.stat().st_size
    assert profiler.dumps(False, "table", "count", True) == profiler.dumps(
        reset=False, format="table", sort_by="count", ascending=True
    )
    assert "exp" in profiler.dumps(True, "json", "avg", False)
    assert "exp" not in profiler.dumps()


@pytest.mark.parametrize("process", ["server", "x"])
def test_a_process_that_is_not_there_is_refused_everywhere(process):
    for call in (
        lambda: profiler.set_state("run", process),
        lambda: profiler.pause(process),
        lambda: profiler.resume(process),
        lambda: profiler.dump(True, process),
    ):
        with pytest.raises(ProfilerOptionError, match="profile_process="):
            call()
    assert not state.PROFILER.running


def test_deprecated_names_warn_and_do_what_their_successors_do(tmp_path):
    file = tmp_path / "a.json"
    with pytest.warns(DeprecationWarning, match=r"profiler_set_config\(\) is deprecated"):
        profiler.profiler_set_config(mode="all", filename=file)
    assert state.PROFILER.options == Options(filename=file, profile_all=True)
    with pytest.warns(DeprecationWarning, match=r"call profiler\.set_state\(\)") as told:
        profiler.profiler_set_state("run")
    assert Path(told[0].filename) == Path(__file__)
    nd.ones(2).exp().wait_to_read()
    with pytest.warns(DeprecationWarning, match="set_state"):
        profiler.profiler_set_state("stop")
    with pytest.warns(DeprecationWarning, match="dump"):
        profiler.dump_profile()
    assert '"exp"' in file.read_text()


def test_a_deprecated_mode_that_does_not_exist_is_refused():
    with (
        pytest.warns(DeprecationWarning, match="set_config"),
        pytest.raises(ProfilerOptionError, match="mode='zzz' does not exist"),
    ):
        profiler.profiler_set_config(mode="zzz")


def test_a_file_that_exists_stays_until_another_is_written(tmp_path):
    file = tmp_path / "a.json"
    file.write_text("old")
    profiler.set_config(filename=file)
    assert file.read_text() == "old"
    profiler.set_state("run")
    profiler.set_state("stop")
    profiler.dump()
    assert file.read_text() != "old"
