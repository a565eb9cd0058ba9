import numpy as np
import pytest

from mxprof_nb.analysis import Result, op_summary
from mxprof_nb.errors import SchemaError
from tests.traces import dot_cell


def test_the_frame_is_made_once_and_has_the_columns():
    result = op_summary(dot_cell())
    assert result.frame is result.frame
    assert list(result.frame.columns) == list(result.columns)
    assert len(result.frame) == len(result)


def test_the_frame_may_be_changed_without_changing_the_result():
    result = Result({"a": np.array([1, 2])}, [np.array([0]), np.array([1])])
    result.frame.loc[0, "a"] = 9
    assert result.columns["a"].tolist() == [1, 2]


def test_columns_of_unequal_length_are_refused():
    with pytest.raises(SchemaError, match="all columns have 1 rows"):
        Result({"a": [1, 2]}, [np.array([0])])


def test_the_repr_is_short():
    result = Result({"name": ["dot"], "count": [1]}, [np.array([0])], ("A note.",))
    assert repr(result) == "<Result: 1 rows of name, count, 1 note in .notes>"


def test_a_result_cannot_be_changed_by_its_columns():
    result = op_summary(dot_cell())
    with pytest.raises(ValueError, match="read-only"):
        result.columns["total_ns"][0] = 0
    result.frame.loc[0, "total_ns"] = 0
