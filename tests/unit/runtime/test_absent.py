import pytest

import mxprof_nb.runtime as mx
from mxprof_nb.errors import MissingModuleError

TOLD = "mx.tvmop: MXNet 1.9.1 has it, the embedded runtime of mxprof_nb does not."


def test_a_module_of_mxnet_that_is_not_here_is_said_to_be_absent():
    with pytest.raises(AttributeError, match=TOLD) as caught:
        _ = mx.tvmop
    assert "profiler" in str(caught.value), "those that there are"
    with pytest.raises(MissingModuleError, match=TOLD):
        from mxprof_nb.runtime import tvmop  # noqa: F401


def test_who_asks_whether_a_name_is_there_gets_an_answer():
    assert not hasattr(mx, "tvmop")
    assert getattr(mx, "tvmop", 5) == 5
    assert hasattr(mx, "nd")


def test_a_misspelt_name_is_answered_with_the_closest_one():
    with pytest.raises(AttributeError, match="Did you mean 'profiler'"):
        _ = mx.profler
