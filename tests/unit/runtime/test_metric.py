"""Metrics: how they add up, how they are named, what they refuse."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

import mxprof_nb.runtime as mx
from mxprof_nb.errors import ArgumentError, MissingModuleError, ShapeError

nd, metric = mx.nd, mx.metric

LABELS = nd.array([0, 1, 1])
SCORES = nd.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]])


def test_accuracy_is_the_share_of_labels_that_were_predicted():
    accuracy = metric.Accuracy()
    assert math.isnan(accuracy.get()[1])
    accuracy.update(LABELS, SCORES)
    assert accuracy.get() == ("accuracy", 2 / 3)
    assert str(accuracy) == f"EvalMetric: {{'accuracy': {2 / 3}}}"
    accuracy.update([LABELS], [LABELS])
    assert accuracy.get_name_value() == [("accuracy", 5 / 6)]


def test_a_stretch_ends_and_the_whole_goes_on():
    loss = metric.Loss()
    loss.update(None, nd.array([1.0, 3.0]))
    loss.reset_local()
    assert math.isnan(loss.get()[1])
    loss.update(None, nd.array([5.0]))
    assert loss.get() == ("loss", 5)
    assert loss.get_global() == ("loss", 3)
    loss.reset()
    assert math.isnan(loss.get_global()[1])


def test_figures_are_numbers_of_python():
    for name in ("acc", "ce", "mse", "f1"):
        made = metric.create(name)
        made.update(LABELS, SCORES if name != "mse" else LABELS)
        assert type(made.get()[1]) is float
        json.dumps(made.get_name_value())


def test_metrics_are_made_by_name_function_list_or_configuration():
    assert type(metric.create("ACC")) is metric.Accuracy
    assert metric.create('["acc", {"name": "share"}]').name == "share"
    assert metric.create('{"metric": "mse", "name": "error"}').name == "error"
    both: Any = metric.create(["acc", metric.MSE()])
    assert both.get()[0] == ["accuracy", "mse"]
    assert metric.create(both.get_config()).get()[0] == ["accuracy", "mse"]
    assert both.get_metric(1).name == "mse"
    with pytest.raises(ArgumentError, match=r"get_metric\(2\): composite has 2 metrics"):
        both.get_metric(2)
    with pytest.raises(ArgumentError, match=r"no metric 'acuracy'.*Did you mean 'accuracy'"):
        metric.create("acuracy")
    with pytest.raises(TypeError, match="not by int"):
        metric.create(3)
    with pytest.raises(ArgumentError, match="is a metric already"):
        metric.create(metric.MSE(), name="x")


def test_a_function_can_be_a_metric():
    made = metric.np(lambda label, pred: np.abs(label - pred).max())
    made.update(LABELS, nd.array([0, 3, 1]))
    assert made.get() == ("custom(<lambda>)", 2)
    extra = metric.CustomMetric(lambda label, pred: (pred.sum(), 3), "mean", True)
    extra.update([LABELS], [LABELS, SCORES])
    assert extra.get() == ("mean", 2 / 3)


def test_a_program_adds_a_metric_of_its_own():
    class Last(metric.EvalMetric):
        def update(self, labels, preds):
            self.sum_metric, self.num_inst = preds[-1].asscalar(), 1

    metric.register(Last)
    try:
        made = metric.create("last", "last loss")
        made.update(None, LABELS)
        assert made.get() == made.get_global() == ("last loss", 1)

        class Other(metric.EvalMetric):
            pass

        with pytest.warns(UserWarning, match="'last' is now"):
            metric.register(Other, "last")
    finally:
        del metric.base._known["last"]
    with pytest.raises(TypeError, match="derived from EvalMetric"):
        metric.register(int)  # type: ignore[type-var]
    with pytest.raises(NotImplementedError, match="has to define update"):
        metric.EvalMetric("nothing").update(LABELS, LABELS)


MISFITS = {
    "acc": (LABELS, nd.ones((4, 2))),
    "ce": (LABELS, nd.ones((3, 1))),
    "nll_loss": (LABELS, nd.ones(3)),
    "top_k_acc": (LABELS, nd.ones((3, 2, 2))),
    "mse": (nd.ones((3, 2)), nd.ones((3, 5))),
    "mae": (nd.ones((3, 2)), nd.ones((3, 5))),
    "f1": (nd.array([0, 1, 2]), SCORES),
    "mcc": (LABELS, nd.ones(3)),
    "pearsonr": (LABELS, SCORES),
}


@pytest.mark.parametrize("name", MISFITS)
def test_a_batch_that_does_not_fit_is_refused_whole(name):
    options = {"top_k": 2} if name == "top_k_acc" else {}
    made = metric.create(name, **options)
    first = LABELS if name in ("mse", "mae", "pearsonr") else SCORES
    label, pred = MISFITS[name]
    made.update(LABELS, first)
    before = made.get()
    with pytest.raises((ShapeError, ArgumentError), match=made.name):
        made.update([LABELS, label], [first, pred])
    assert made.get() == before


def test_labels_and_predictions_differ_in_number():
    with pytest.raises(ShapeError, match="number 1 and 2"):
        metric.Accuracy().update([LABELS], [LABELS, LABELS])
    with pytest.raises(ShapeError, match=r"shape \(3,\) and \(3, 2\)"):
        metric.check_label_shapes(LABELS, SCORES, shape=True)


def test_the_best_one_is_accuracy():
    with pytest.raises(ArgumentError, match="use that"):
        metric.TopKAccuracy(1)


def test_two_classes_in_one_table():
    labels, scores = nd.array([1, 1, 0, 0]), nd.array([[0, 1], [1, 0], [0, 1], [1, 0]])
    for name in ("f1", "mcc"):
        made = metric.create(name, average="micro")
        made.update(labels, scores)
        made.update(labels, 1 - scores)
        assert made.get()[1] == pytest.approx({"f1": 0.5, "mcc": 0}[name])
    nothing = metric.create("f1")
    nothing.update(nd.array([0]), nd.array([[1, 0]]))
    assert nothing.get()[1] == 0


def test_what_mxnet_has_besides_is_said_to_be_absent():
    with pytest.raises(AttributeError, match=r"mx\.metric\.PCC: MXNet 1\.9\.1 has it"):
        _ = metric.PCC
    with pytest.raises(MissingModuleError, match=r"mx\.metric\.PCC"):
        from mxprof_nb.runtime.metric import PCC  # noqa: F401
    with pytest.raises(AttributeError, match="Did you mean 'Accuracy'"):
        _ = metric.Acuracy


@pytest.mark.parametrize("make", [metric.Accuracy, lambda: metric.TopKAccuracy(2)])
def test_labels_and_predictions_in_the_wrong_order_are_told_with_their_shapes(make):
    made = make()
    with pytest.raises(ShapeError, match=r"6 labels|shape \(3, 2\), predictions \(3,\)"):
        made.update(SCORES, LABELS)
    made.update(LABELS, SCORES)


@pytest.mark.parametrize("name", ["acc", "mse", "ce", "f1", "pearsonr", "perplexity"])
@pytest.mark.parametrize("given", [None, 5, [1, 0, 1], np.array([1, 0, 1])])
def test_what_is_no_array_of_labels_is_refused_in_words(name: str, given: Any):
    made = metric.create(name, **({"ignore_label": None} if name == "perplexity" else {}))
    with pytest.raises(TypeError, match="takes labels, then predictions, each an NDArray"):
        made.update(given, SCORES)
