"""The processes that the comparison with real MXNet stands on."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.reference.hybrid_programs import MODES, counted
from tests.reference.runtime_process import OURS, REAL, ProcessDied, RuntimeProcess


@pytest.fixture(params=[REAL, OURS])
def process(request: pytest.FixtureRequest, runtimes) -> RuntimeProcess:
    found: RuntimeProcess = runtimes.real() if request.param == REAL else runtimes.ours()
    return found


def test_real_mxnet_is_of_the_version_compared_with(runtimes):
    assert runtimes.real().get("mx.__version__") == "1.9.1"


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "uint8"])
def test_arrays_go_in_and_come_out_in_their_type(process, dtype):
    given = np.arange(6, dtype=dtype).reshape(2, 3)
    (found,) = process.call("nd.NDArray.copy", [given]).values
    np.testing.assert_array_equal(found, given, strict=True)


def test_a_call_takes_attributes_and_methods_go_by_their_class(process):
    ones = np.ones((2, 3), np.float32)
    product, shaped = process.calls(
        [
            ("nd.dot", [ones, ones], {"transpose_b": True}),
            ("nd.NDArray.reshape", [ones, (3, 2)], {}),
        ]
    )
    assert product.values[0].tolist() == [[3, 3], [3, 3]]
    assert shaped.values[0].shape == (3, 2)


def test_a_refused_call_is_an_outcome(process):
    ones = np.ones((2, 3), np.float32)
    outcome = process.call("nd.dot", [ones, ones])
    assert "MXNetError" in outcome.error
    assert outcome.message
    assert outcome.values == []


def test_a_program_shows_values_and_ends_with_its_first_error(process):
    outcome = process.run(
        "x = mx.nd.ones(2)\nshow([x, 'text', x.shape, x.dtype])\nnp.ones(3).reshape(7)\nshow(1)"
    )
    (shown,) = outcome.values
    assert shown[0].tolist() == [1, 1]
    assert shown[1:] == ["text", [2], "float32"]
    assert outcome.error[0] == "ValueError"
    assert outcome.line == 3


def test_a_program_leaves_nothing_to_the_next(process):
    process.run("left = mx.nd.random.normal(scale=-1, shape=(2,))")
    outcome = process.run("mx.nd.waitall()\nleft")
    assert (outcome.error[0], outcome.line) == ("NameError", 2)


def test_a_call_that_fails_does_not_reach_the_next(process):
    failed = process.call("nd.random.normal", scale=-1, shape=(2,))
    assert "MXNetError" in failed.error
    after = process.calls([("nd.random.normal", [], {"shape": (2,)}), ("nd.ones", [2], {})])
    assert [outcome.error for outcome in after] == [(), ()]


def test_what_a_program_prints_does_not_get_into_the_answer(process):
    outcome = process.run("import os\nprint('noise')\nos.system('echo noise')\nshow(1)")
    assert outcome.values == [1]


def test_what_earlier_programs_left_is_not_deleted_in_a_profile(process, tmp_path):
    train = counted("train", MODES["hyb3"], str(tmp_path / "profile.json"))
    collects = train.replace("    work()\n", "    work()\n    __import__('gc').collect()\n")
    assert collects != train
    process.run(train)
    outcome = process.run(collects)
    assert not outcome.error, outcome
    operators, _ = json.loads(outcome.values[0])
    assert "DeleteOperator" not in operators


def test_work_defined_once_is_timed_where_it_runs(process):
    process.define("def work():\n    sum(range(100_000))")
    wall_ns, cpu_ns = process.time("work")
    assert wall_ns > 0
    assert cpu_ns > 0


def test_an_unknown_question_is_told_with_the_place(process):
    with pytest.raises(RuntimeError, match=r"NameError.*no_such_name"):
        process.get("no_such_name")


def test_a_process_that_ends_says_its_last_words():
    with RuntimeProcess(OURS) as dying:
        with pytest.raises(ProcessDied, match="exit status 3\nfarewell"):
            dying.run(
                "import os, sys\nsys.stderr.write('farewell')\nsys.stderr.flush()\nos._exit(3)"
            )
        assert dying.closed
        with pytest.raises(ProcessDied, match="was closed"):
            dying.run("show(1)")


def test_a_process_that_does_not_answer_in_time_is_ended():
    with RuntimeProcess(OURS, timeout_s=2) as hanging:
        with pytest.raises(ProcessDied, match="no answer within 2 s"):
            hanging.run("import time\ntime.sleep(100)")
        assert hanging.closed
