"""The command that a newcomer runs first."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import mxprof_nb

pytestmark = pytest.mark.integration


def demo(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mxprof_nb", "demo", *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> tuple[subprocess.CompletedProcess[str], Path]:
    folder = tmp_path_factory.mktemp("demo")
    return demo("--output", str(folder)), folder


def test_the_demo_prints_every_profile_and_mxnets_table(finished) -> None:
    done, _ = finished
    assert done.returncode == 0, done.stderr
    assert "14/14" in done.stderr  # the progress bar got to the end
    assert len(re.findall(r"recording\s+cost\b", done.stdout)) == 7
    for row in (
        r"diag +1 ",
        r"sum +1 ",
        r"MXImperativeInvokeEx +2 ",
        r"MXNDArrayWaitAll +1 ",
        r"Memory: cpu/0 +3 +0.0360 +0.0520 +0.0453",
    ):
        assert len(re.findall(rf"^{row}", done.stdout, re.MULTILINE)) >= 2, row
    assert re.search(
        r"Line 4, y_np = y.asnumpy\(\), waited .* for dot, queued on line 3\.", done.stdout
    )


def test_the_demo_writes_a_trace_that_loads(finished) -> None:
    _, folder = finished
    assert json.loads((folder / "trace.json").read_text())["traceEvents"]
    profile = mxprof_nb.load(folder / "trace.json")
    assert "log_softmax" in set(profile.events.name)
    assert profile.health.ok


def test_the_demo_writes_a_page_that_needs_no_network(finished) -> None:
    _, folder = finished
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "log_softmax" in page
    assert not re.search(r"<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)=.?(?:https?:)?//", page)


def test_a_folder_that_cannot_be_made_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = demo("--output", str(tmp_path / "file" / "below"))
    assert done.returncode == 1
    assert done.stderr.startswith("mxprof-nb: Cannot write")
    assert "Traceback" not in done.stderr
