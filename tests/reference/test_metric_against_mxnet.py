"""Metrics over several batches against real MXNet's."""

from __future__ import annotations

from typing import Any

import pytest

from tests.reference.conftest import Runtimes

START = """
random = np.random.RandomState(2)

def scores(*shape):
    e = np.exp(random.uniform(-2, 2, shape))
    return mx.nd.array(e / e.sum(axis=-1, keepdims=True))

def classes(count, *shape):
    return mx.nd.array(random.randint(0, count, shape))

def numbers(*shape):
    return mx.nd.array(random.uniform(-1, 1, shape))

metric = METRIC

def shown():
    show([metric.get_name_value(), metric.get_global_name_value(), str(metric.get()[0])])
"""

#: Source that makes labels and predictions of one batch.
CLASSES = "classes(4, 6), scores(6, 4)"
TWO = "classes(2, 6), scores(6, 2)"
NUMBERS = "numbers(6), numbers(6, 1)"
LISTS = "[classes(4, 6), classes(3, 5)], [scores(6, 4), scores(5, 3)]"

METRICS = {
    "mx.metric.Accuracy()": CLASSES,
    "mx.metric.create('acc')": LISTS,
    "mx.metric.Accuracy(axis=2, name='of pixels')": "classes(4, 2, 3), scores(2, 3, 4)",
    "mx.metric.create(['acc', 'ce', mx.metric.Loss('scores')])": CLASSES,
    "mx.metric.create('accuracy', name='classes found')": "classes(3, 6), classes(3, 6)",
    "mx.metric.TopKAccuracy(top_k=2)": CLASSES,
    "mx.metric.create('top_k_acc', top_k=3)": LISTS,
    "mx.metric.CrossEntropy()": CLASSES,
    "mx.metric.create('ce', eps=0.1, name='bits')": LISTS,
    "mx.metric.NegativeLogLikelihood()": CLASSES,
    "mx.metric.create('perplexity', ignore_label=1)": "[classes(4, 6)], [scores(6, 4)]",
    "mx.metric.Perplexity(None)": "[classes(4, 6)], [scores(6, 4)]",
    "mx.metric.MSE()": NUMBERS,
    "mx.metric.create('mse')": "[numbers(2, 3), numbers(4)], [numbers(2, 3), numbers(4)]",
    "mx.metric.MAE()": NUMBERS,
    "mx.metric.RMSE(name='error')": NUMBERS,
    "mx.metric.Loss()": "None, numbers(6)",
    "mx.metric.create('loss')": "None, [numbers(6), numbers(2, 2)]",
    "mx.metric.F1()": TWO,
    "mx.metric.F1(average='micro')": TWO,
    "mx.metric.MCC()": TWO,
    "mx.metric.MCC(average='micro')": TWO,
    "mx.metric.create('pearsonr')": "numbers(6), numbers(6)",
    "mx.metric.PearsonCorrelation(average='micro')": "numbers(6, 2), numbers(6, 2)",
    "mx.metric.np(lambda label, pred: float(abs(label - pred.argmax(axis=1)).max()))": CLASSES,
    "mx.metric.create(lambda label, pred: (label.sum(), len(label)), 'mean label')": CLASSES,
    "mx.metric.CompositeEvalMetric(['mae', mx.metric.create('mse')])": NUMBERS,
}

UPDATES = """
shown()
for number in range(5):
    metric.update(BATCH)
    shown()
    if number == 2:
        metric.reset_local()
        shown()
metric.reset()
shown()
metric.update(BATCH)
shown()
"""


def same(found: Any, expected: Any, told: str) -> None:
    if isinstance(expected, list):
        assert len(found) == len(expected), told
        for one, other in zip(found, expected, strict=True):
            same(one, other, told)
    elif isinstance(expected, str):
        assert found == expected, told
    else:
        assert float(found) == pytest.approx(float(expected), rel=1e-5, nan_ok=True), told


@pytest.mark.parametrize("metric", METRICS)
def test_figures_are_those_of_mxnet(runtimes: Runtimes, metric: str):
    program = START.replace("METRIC", metric) + UPDATES.replace("BATCH", METRICS[metric])
    if "micro" in metric and "Pearson" in metric:
        # In MXNet a stretch does not end, and there is no figure since the beginning.
        program = program.replace("metric.reset_local()", "pass").replace(
            "metric.get_global_name_value()", "0"
        )
    expected, found = runtimes.real().run(program), runtimes.ours().run(program)
    assert not expected.error, expected.message
    assert not found.error, found.message
    same(found.values, expected.values, metric)


NAMED = """
metric = mx.metric.create(["acc", "mse"])
metric.metrics[0].output_names, metric.metrics[0].label_names = ["b"], ["y"]
one, two = mx.nd.array([0, 1, 2]), mx.nd.array([2, 1, 2])
metric.update_dict({"y": one}, {"b": two})
show(metric.get_name_value())
single = mx.metric.Accuracy(output_names=["b"], label_names=["y"])
single.update_dict({"x": two, "y": one}, {"a": one, "b": two})
show(single.get_name_value())
config = single.get_config()
show(sorted(config))
again = mx.metric.create(config)
again.update_dict({"y": one}, {"b": two})
show(again.get_name_value())
show(str(again)[:10])
"""


def test_labels_and_predictions_with_names_are_chosen_as_in_mxnet(runtimes: Runtimes):
    expected, found = runtimes.real().run(NAMED), runtimes.ours().run(NAMED)
    assert not expected.error, expected.message
    assert not found.error, found.message
    same(found.values, expected.values, NAMED)


#: What MXNet refuses, by whatever error it has for it.
REFUSED = [
    "mx.metric.create('acuracy')",
    "mx.metric.TopKAccuracy()",
    "mx.metric.Accuracy().update([one], [one, one])",
    "mx.metric.Accuracy().update(one, mx.nd.ones((2, 3)))",
    "mx.metric.MSE().update(one, mx.nd.ones((2, 3, 4)))",
    "mx.metric.CrossEntropy().update(one, mx.nd.ones((3, 1)))",
    "mx.metric.F1().update(one, mx.nd.ones((3, 2)))",
    "mx.metric.create(mx.metric.MSE(), name='x')",
    "mx.metric.np(max).get_config()",
]


@pytest.mark.parametrize("call", REFUSED)
def test_what_mxnet_refuses_is_refused(runtimes: Runtimes, call: str):
    program = f"one = mx.nd.array([0, 1, 2])\n{call}"
    assert runtimes.real().run(program).error, call
    outcome = runtimes.ours().run(program)
    assert {"MXNetError", "NotImplementedError"} & set(outcome.error), outcome
