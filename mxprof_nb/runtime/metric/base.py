"""`EvalMetric`: a figure that adds up over batches, for a stretch and since the beginning."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray as NumpyArray

from mxprof_nb.errors import ArgumentError, ShapeError, close_match
from mxprof_nb.runtime.nd import NDArray

__all__ = [
    "EvalMetric",
    "PairMetric",
    "alias",
    "check_label_shapes",
    "made",
    "on_host",
    "pairs",
    "register",
]

Array = NumpyArray[Any]
Kind = TypeVar("Kind", bound="type[EvalMetric]")

_known: dict[str, type[EvalMetric]] = {}


def on_host(array: Any) -> Array:
    """Wait for an array and return its value."""
    value: Array = array.asnumpy() if isinstance(array, NDArray) else np.asarray(array)
    return value


def check_label_shapes(
    labels: Any, preds: Any, wrap: bool = False, shape: bool = False
) -> tuple[Any, Any]:
    """Refuse labels and predictions that differ in number, or with ``shape`` in shape.

    Parameters
    ----------
    labels, preds : NDArray, or sequence of NDArray
    wrap : bool
        Whether to return a single array as a list.
    shape : bool

    Raises
    ------
    ShapeError
    """
    told = (labels.shape, preds.shape) if shape else (len(labels), len(preds))
    if told[0] != told[1]:
        kind = "shape" if shape else "number"
        raise ShapeError(
            f"Labels and predictions do not fit: {kind} {told[0]} and {told[1]}. "
            "Give one label for each prediction, labels first."
        )
    if wrap:
        labels = [labels] if isinstance(labels, NDArray) else labels
        preds = [preds] if isinstance(preds, NDArray) else preds
    return labels, preds


def pairs(name: str, labels: Any, preds: Any, wrap: bool = True) -> list[tuple[Any, Any]]:
    """Return each label with its prediction; see `check_label_shapes`.

    Raises
    ------
    ShapeError
    TypeError
        They are neither arrays nor sequences of arrays.
    """
    for given in (labels, preds):
        if not isinstance(given, (NDArray, Sequence)):
            raise _no_arrays(name, given)
    labels, preds = check_label_shapes(labels, preds, wrap)
    for each in (*labels, *preds):
        if not isinstance(each, (NDArray, np.ndarray)):
            raise _no_arrays(name, each)
    return list(zip(labels, preds, strict=True))


def _no_arrays(name: str, given: Any) -> TypeError:
    return TypeError(
        f"{name}: update takes labels, then predictions, each an NDArray or a list of them; not "
        f"{type(given).__name__}. Make one with mx.nd.array(...)."
    )


class EvalMetric:
    """Base of all metrics: a sum over a number of instances, whose mean is the figure.

    Parameters
    ----------
    name : str
    output_names, label_names : list of str, optional
        Which predictions and labels `update_dict` takes; all by default.
    **kwargs
        ``has_global_stats=True`` if `update` adds to both pairs of sums; the rest is kept for
        `get_config`.

    Attributes
    ----------
    sum_metric, num_inst
        Since `reset_local`.
    global_sum_metric, global_num_inst
        Since `reset`.
    """

    sum_metric: float
    num_inst: float
    global_sum_metric: float
    global_num_inst: float

    def __init__(
        self,
        name: str,
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
        **kwargs: Any,
    ) -> None:
        self.name = str(name)
        self.output_names = output_names
        self.label_names = label_names
        self._has_global_stats = bool(kwargs.pop("has_global_stats", False))
        self._kwargs = kwargs
        self.reset()

    def __str__(self) -> str:
        return f"EvalMetric: {dict(self.get_name_value())}"

    def get_config(self) -> dict[str, Any]:
        """Return what `create` makes such a metric of."""
        return {
            **self._kwargs,
            "metric": type(self).__name__,
            "name": self.name,
            "output_names": self.output_names,
            "label_names": self.label_names,
        }

    # Adding up

    def update(self, labels: Any, preds: Any) -> None:
        """Take a batch in.

        Parameters
        ----------
        labels, preds : NDArray, or list of NDArray
        """
        raise NotImplementedError(f"{type(self).__name__} has to define update(labels, preds).")

    def update_dict(self, label: Mapping[str, Any], pred: Mapping[str, Any]) -> None:
        """Take a batch in whose labels and predictions have names."""
        self.update(_chosen(label, self.label_names), _chosen(pred, self.output_names))

    def _add(self, total: float, count: float) -> None:
        self.sum_metric += total
        self.num_inst += count
        self.global_sum_metric += total
        self.global_num_inst += count

    def reset(self) -> None:
        """Begin anew."""
        self.global_sum_metric = 0.0
        self.global_num_inst = 0
        self.reset_local()

    def reset_local(self) -> None:
        """Begin a stretch anew; what there is since the beginning stays."""
        self.sum_metric = 0.0
        self.num_inst = 0

    # The figures

    def get(self) -> tuple[Any, Any]:
        """Return name and figure of the stretch, not a number before the first batch."""
        return self.name, self._figure(self.sum_metric, self.num_inst)

    def get_global(self) -> tuple[Any, Any]:
        """Return name and figure since the beginning."""
        if not self._has_global_stats:
            return self.get()
        return self.name, self._figure(self.global_sum_metric, self.global_num_inst)

    def _figure(self, total: float, count: float) -> float:
        return float(total / count) if count else float("nan")

    def get_name_value(self) -> list[tuple[str, float]]:
        """Return `get` as a list of pairs."""
        return _pairs(*self.get())

    def get_global_name_value(self) -> list[tuple[str, float]]:
        """Return `get_global` as a list of pairs."""
        return _pairs(*self.get_global())


def _chosen(given: Mapping[str, Any], names: Sequence[str] | None) -> list[Any]:
    return list(given.values()) if names is None else [given[name] for name in names]


def _pairs(name: Any, value: Any) -> list[tuple[str, float]]:
    names = name if isinstance(name, list) else [name]
    values = value if isinstance(value, list) else [value]
    return list(zip(names, values, strict=True))


class PairMetric(EvalMetric):
    """A metric that measures each label and its prediction for themselves."""

    def update(self, labels: Any, preds: Any) -> None:
        """Take a batch in, whole or not at all."""
        found = [self._measure(*pair) for pair in pairs(self.name, labels, preds)]
        for total, count in found:
            self._add(total, count)

    def _measure(self, label: Any, pred: Any) -> tuple[float, float]:
        """Return what to add to sum and number."""
        raise NotImplementedError


# Names


def register(klass: Kind, name: str | None = None) -> Kind:
    """Make a class known to `create`, under its name in lower case or another."""
    if not (isinstance(klass, type) and issubclass(klass, EvalMetric)):
        raise TypeError(f"register takes a class derived from EvalMetric, not {klass!r:.60}.")
    key = (name or klass.__name__).lower()
    known = _known.get(key)
    if known is not None and known.__qualname__ != klass.__qualname__:
        warnings.warn(
            f"The metric {key!r} is now {klass.__module__}.{klass.__name__}, and no longer "
            f"{known.__module__}.{known.__name__}.",
            stacklevel=2,
        )
    _known[key] = klass
    return klass


def alias(*names: str) -> Callable[[Kind], Kind]:
    """Return a decorator that makes a class known under further names."""

    def keep(klass: Kind) -> Kind:
        for name in names:
            register(klass, name)
        return klass

    return keep


def made(metric: Any, *args: Any, **kwargs: Any) -> EvalMetric:
    """Return a metric: itself, or made by name, by configuration, or by that as JSON."""
    if isinstance(metric, EvalMetric):
        if args or kwargs:
            raise ArgumentError(f"{metric.name} is a metric already; it takes no more arguments.")
        return metric
    if isinstance(metric, dict):
        return made(**metric)
    if not isinstance(metric, str):
        raise TypeError(f"A metric is named by a string, not by {type(metric).__name__}.")
    if metric.startswith("{"):
        return made(**json.loads(metric))
    if metric.startswith("["):
        name, named = json.loads(metric)
        return made(name, **named)
    if metric.lower() not in _known:
        raise ArgumentError(
            f"There is no metric {metric!r:.60}.{close_match(metric.lower(), _known)} "
            f"There are {', '.join(sorted(_known))}."
        )
    return _known[metric.lower()](*args, **kwargs)
