"""What `mx.profiler` writes tells nothing of host, user and folders."""

from __future__ import annotations

from pathlib import Path

import pytest

import mxprof_nb.runtime as mx
from mxprof_nb.runtime.profiler import state
from tests.home import given_away, move_in, written

pytestmark = pytest.mark.usefixtures("fresh_profiler")

NEVER = 10_000


@pytest.mark.parametrize("name", ["dumped.json", "dumped.json.gz"])
@pytest.mark.parametrize("continuous", [False, True])
def test_a_dump_names_files_from_the_working_folder_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, continuous: bool
):
    home = move_in(tmp_path, monkeypatch)
    script = home / "work" / "train.py"
    script.write_text("mx.nd.ones(3).wait_to_read()\n")
    mx.profiler.set_config(
        profile_all=True, filename=name, continuous_dump=continuous, dump_period=NEVER
    )
    mx.profiler.set_state("run")
    for _ in range(2):
        exec(compile(script.read_text(), str(script), "exec"), {"mx": mx})
        if state.PROFILER.continuous is not None:
            state.PROFILER.flush(True, state.PROFILER.continuous)
            while state.PROFILER.catch_up():
                pass
    assert (state.PROFILER.continuous is not None) is continuous
    mx.profiler.set_state("stop")
    mx.profiler.dump()
    text = written(home / "work" / name)
    assert "train.py" in text
    assert given_away(text, home) == []
