"""Operators that programs bring along are called by the name they were offered under."""

from __future__ import annotations

import numpy as np
import pytest

import mxprof_nb.runtime as mx
from mxprof_nb.errors import UnknownOperatorError
from mxprof_nb.runtime.ops import OpSpec
from mxprof_nb.runtime.ops.custom import custom, offer

nd = mx.nd


@pytest.fixture
def scaled() -> list[dict[str, str]]:
    """Offer an operator that multiplies by ``by``; return the attributes it was made for."""
    made: list[dict[str, str]] = []

    def make(attributes: dict[str, str]) -> OpSpec:
        made.append(attributes)
        factor = float(attributes.get("by", 2))
        return OpSpec("Scaled", lambda x: x * np.float32(factor), lambda x: x, "Scaled.")

    offer("scaled", make)
    return made


def test_an_operator_is_called_by_its_name_with_its_attributes(scaled):
    x = nd.array([1, 2])
    assert nd.Custom(x, op_type="scaled").asnumpy().tolist() == [2, 4]
    assert nd.Custom(x, op_type="scaled", by=5).asnumpy().tolist() == [5, 10]
    assert scaled == [{}, {"by": "5"}]


def test_it_is_made_once_for_the_same_attributes(scaled):
    assert custom("scaled", (("by", "3"),)) is custom("scaled", (("by", "3"),))
    assert len(scaled) == 1


def test_an_operator_of_several_results_gives_a_list():
    def halves(x):
        return x[:1].copy(), x[1:].copy()

    pair = OpSpec("Halves", halves, lambda x: (mx.nd.ones(1).aval,) * 2, "Two halves.")
    offer("halves", lambda attributes: pair)
    first, second = nd.Custom(nd.array([3, 4]), op_type="halves")
    assert (first.asscalar(), second.asscalar()) == (3, 4)


def test_a_later_offer_takes_the_place_of_an_earlier(scaled):
    before = custom("scaled")
    offer("scaled", lambda attributes: OpSpec("Other", lambda x: x + 1, lambda x: x, "Other."))
    assert custom("scaled") is not before
    assert nd.Custom(nd.ones(1), op_type="scaled").asscalar() == 2


def test_an_unknown_name_is_refused_with_the_closest_known(scaled):
    with pytest.raises(UnknownOperatorError, match="Did you mean 'scaled'"):
        nd.Custom(nd.ones(1), op_type="scale")
