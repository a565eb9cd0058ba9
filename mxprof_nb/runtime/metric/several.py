"""Metrics of several others, and of functions; `create` knows them all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mxprof_nb.errors import ArgumentError
from mxprof_nb.runtime.metric.base import (
    EvalMetric,
    alias,
    check_label_shapes,
    made,
    on_host,
    register,
)

__all__ = ["CompositeEvalMetric", "CustomMetric", "create", "np"]


def create(metric: Any, *args: Any, **kwargs: Any) -> EvalMetric:
    """Return a metric.

    Parameters
    ----------
    metric : str, callable, EvalMetric, dict or list
        Its name (``"acc"``, ``"mse"``, ...), a function of label and prediction, a metric, a
        configuration as `EvalMetric.get_config` gives it, or several of these.
    *args, **kwargs
        Its parameters.

    Raises
    ------
    ArgumentError
        No metric has the name.
    """
    if isinstance(metric, list):
        together = CompositeEvalMetric()
        for each in metric:
            together.add(create(each, *args, **kwargs))
        return together
    if callable(metric):
        return CustomMetric(metric, *args, **kwargs)
    return made(metric, *args, **kwargs)


@register
@alias("composite")
class CompositeEvalMetric(EvalMetric):
    """Several metrics that are given the same batches; its figures are lists."""

    def __init__(
        self,
        metrics: Sequence[Any] | None = None,
        name: str = "composite",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        self.metrics = [create(each) for each in metrics or ()]
        super().__init__(name, output_names, label_names, has_global_stats=True)

    def add(self, metric: Any) -> None:
        """Add a metric, or what `create` makes one of."""
        self.metrics.append(create(metric))

    def get_metric(self, index: int) -> EvalMetric:
        """Return one of them.

        Raises
        ------
        ArgumentError
            There are not so many; MXNet returns the error.
        """
        try:
            return self.metrics[index]
        except IndexError:
            raise ArgumentError(
                f"get_metric({index}): {self.name} has {len(self.metrics)} metrics, from 0."
            ) from None

    def update(self, labels: Any, preds: Any) -> None:
        """Take a batch in, with each."""
        for each in self.metrics:
            each.update(labels, preds)

    def update_dict(self, label: Mapping[str, Any], pred: Mapping[str, Any]) -> None:
        """Take a batch in whose labels and predictions have names, with each."""
        label = _among(label, self.label_names)
        pred = _among(pred, self.output_names)
        for each in self.metrics:
            each.update_dict(label, pred)

    def reset(self) -> None:
        """Begin anew, with each."""
        for each in self.metrics:
            each.reset()

    def reset_local(self) -> None:
        """Begin a stretch anew, with each."""
        for each in self.metrics:
            each.reset_local()

    def get(self) -> tuple[list[str], list[float]]:
        """Return names and figures of the stretch."""
        return _columns([pair for each in self.metrics for pair in each.get_name_value()])

    def get_global(self) -> tuple[list[str], list[float]]:
        """Return names and figures since the beginning."""
        return _columns([pair for each in self.metrics for pair in each.get_global_name_value()])

    def get_config(self) -> dict[str, Any]:
        """Return what `create` makes such a metric of."""
        return {**super().get_config(), "metrics": [each.get_config() for each in self.metrics]}


def _among(given: Mapping[str, Any], names: Sequence[str] | None) -> Mapping[str, Any]:
    return given if names is None else {key: given[key] for key in given if key in names}


def _columns(pairs: Sequence[tuple[str, float]]) -> tuple[list[str], list[float]]:
    return [name for name, _ in pairs], [value for _, value in pairs]


@register
class CustomMetric(EvalMetric):
    """The mean of a function of label and prediction, both NumPy arrays.

    Parameters
    ----------
    feval : callable
        Returns a number for the batch, or a sum and how many it is of.
    name : str, optional
        That of the function by default.
    allow_extra_outputs : bool
        Whether there may be more predictions than labels; the first count.
    output_names, label_names : list of str, optional
        As for `EvalMetric`.
    """

    def __init__(
        self,
        feval: Callable[[Any, Any], Any],
        name: str | None = None,
        allow_extra_outputs: bool = False,
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        if name is None:
            own = getattr(feval, "__name__", type(feval).__name__)
            name = f"custom({own})" if "<" in own else own
        super().__init__(
            name,
            output_names,
            label_names,
            feval=feval,
            allow_extra_outputs=allow_extra_outputs,
            has_global_stats=True,
        )
        self._feval = feval
        self._allow_extra_outputs = allow_extra_outputs

    def update(self, labels: Any, preds: Any) -> None:
        """Take a batch in, whole or not at all."""
        if not self._allow_extra_outputs:
            labels, preds = check_label_shapes(labels, preds, wrap=True)
        found = [
            self._feval(on_host(label), on_host(pred))
            for label, pred in zip(labels, preds, strict=False)
        ]
        for each in found:
            total, count = each if isinstance(each, tuple) else (each, 1)
            self._add(float(total), count)

    def get_config(self) -> dict[str, Any]:
        """Refuse: a function cannot be written down."""
        raise NotImplementedError("CustomMetric holds a function, which no configuration can hold.")


def np(
    numpy_feval: Callable[[Any, Any], Any],
    name: str | None = None,
    allow_extra_outputs: bool = False,
) -> CustomMetric:
    """Return a `CustomMetric` of a function of two NumPy arrays, label and prediction."""
    return CustomMetric(numpy_feval, name, allow_extra_outputs)
