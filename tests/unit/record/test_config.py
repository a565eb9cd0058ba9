from typing import Any

import numpy as np
import pytest

from mxprof_nb.record import RecordConfig


@pytest.mark.parametrize("name", ["operators", "api", "memory", "sites", "lines", "python"])
@pytest.mark.parametrize("value", ["no", None, 1])
def test_a_setting_that_is_neither_yes_nor_no_is_refused(name: str, value: Any):
    with pytest.raises(TypeError, match=f"{name}={value!r}: say True or False"):
        RecordConfig(**{name: value})


@pytest.mark.parametrize("value", ["5", 5.5, None])
def test_a_limit_is_a_whole_number(value: Any):
    with pytest.raises(TypeError, match="a whole number is needed"):
        RecordConfig(max_events=value)
    assert RecordConfig(max_events=np.int64(5)).max_events == 5  # type: ignore[arg-type]
