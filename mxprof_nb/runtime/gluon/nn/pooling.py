"""Layers that make images smaller, and a border around them."""

from __future__ import annotations

from typing import Any

from mxprof_nb.errors import ArgumentError
from mxprof_nb.runtime.gluon.block import HybridBlock
from mxprof_nb.runtime.gluon.block.scope import fwd
from mxprof_nb.runtime.gluon.nn.windows import Sizes, must_be_layout, sizes

__all__ = [
    "AvgPool1D",
    "AvgPool2D",
    "GlobalAvgPool1D",
    "GlobalAvgPool2D",
    "GlobalMaxPool1D",
    "GlobalMaxPool2D",
    "MaxPool1D",
    "MaxPool2D",
    "ReflectionPad2D",
]


class _Pooling(HybridBlock):
    """What all layers that join neighbours have in common.

    Parameters
    ----------
    axes : int
        Number of axes of space.
    pool_type : {'max', 'avg'}
    layout : str
        Order of the axes.
    pool_size : int or tuple of int
        Extent of the window.
    strides : int or tuple of int, optional
        Its steps; its extent by default.
    padding : int or tuple of int
        Around the image.
    ceil_mode : bool
        Whether a window may stand over the edge.
    count_include_pad : bool, optional
        Whether averages count the padding.
    global_pool : bool
        Whether the window is the whole image.
    **kwargs
        See `Block`.
    """

    def __init__(
        self,
        axes: int,
        pool_type: str,
        layout: str,
        pool_size: Sizes = 1,
        strides: Sizes | None = None,
        padding: Sizes = 0,
        ceil_mode: bool = True,
        count_include_pad: bool | None = None,
        global_pool: bool = False,
        **kwargs: Any,
    ) -> None:
        must_be_layout(layout, axes)
        super().__init__(**kwargs)
        kernel = sizes("pool_size", pool_size, axes)
        self._kwargs: dict[str, Any] = {
            "kernel": kernel,
            "stride": kernel if strides is None else sizes("strides", strides, axes),
            "pad": sizes("padding", padding, axes, least=0),
            "global_pool": global_pool,
            "pool_type": pool_type,
            "layout": layout,
            "pooling_convention": "full" if ceil_mode else "valid",
        }
        if count_include_pad is not None:
            self._kwargs["count_include_pad"] = count_include_pad

    def _alias(self) -> str:
        return "pool"

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Return the largest elements, or averages, of all windows."""
        return F.Pooling(x, **self._kwargs, **fwd(F))

    def __repr__(self) -> str:
        told = self._kwargs
        ceil_mode = told["pooling_convention"] == "full"
        return (
            f"{type(self).__name__}(size={told['kernel']}, stride={told['stride']}, "
            f"padding={told['pad']}, ceil_mode={ceil_mode}, global_pool={told['global_pool']}, "
            f"pool_type={told['pool_type']}, layout={told['layout']})"
        )


class MaxPool1D(_Pooling):
    """The largest element of each window over rows of data; parameters as for `MaxPool2D`."""

    def __init__(
        self,
        pool_size: Sizes = 2,
        strides: Sizes | None = None,
        padding: Sizes = 0,
        layout: str = "NCW",
        ceil_mode: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(1, "max", layout, pool_size, strides, padding, ceil_mode, **kwargs)


class MaxPool2D(_Pooling):
    """The largest element of each window over images.

    Parameters
    ----------
    pool_size : int or tuple of int
        Extent of the window.
    strides : int or tuple of int, optional
        Its steps; its extent by default.
    padding : int or tuple of int
        Around the image.
    layout : str
        Order of the axes.
    ceil_mode : bool
        Whether a window may stand over the edge.
    **kwargs
        See `Block`.
    """

    def __init__(
        self,
        pool_size: Sizes = (2, 2),
        strides: Sizes | None = None,
        padding: Sizes = 0,
        layout: str = "NCHW",
        ceil_mode: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(2, "max", layout, pool_size, strides, padding, ceil_mode, **kwargs)


class AvgPool1D(_Pooling):
    """The average of each window over rows of data; parameters as for `AvgPool2D`."""

    def __init__(
        self,
        pool_size: Sizes = 2,
        strides: Sizes | None = None,
        padding: Sizes = 0,
        layout: str = "NCW",
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            1, "avg", layout, pool_size, strides, padding, ceil_mode, count_include_pad, **kwargs
        )


class AvgPool2D(_Pooling):
    """The average of each window over images.

    Parameters
    ----------
    count_include_pad : bool
        Whether the padding counts.
    pool_size, strides, padding, ceil_mode, layout, **kwargs
        See `MaxPool2D`.
    """

    def __init__(
        self,
        pool_size: Sizes = (2, 2),
        strides: Sizes | None = None,
        padding: Sizes = 0,
        ceil_mode: bool = False,
        layout: str = "NCHW",
        count_include_pad: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            2, "avg", layout, pool_size, strides, padding, ceil_mode, count_include_pad, **kwargs
        )


class GlobalMaxPool1D(_Pooling):
    """The largest element of each channel of rows of data."""

    def __init__(self, layout: str = "NCW", **kwargs: Any) -> None:
        super().__init__(1, "max", layout, global_pool=True, **kwargs)


class GlobalMaxPool2D(_Pooling):
    """The largest element of each channel of images."""

    def __init__(self, layout: str = "NCHW", **kwargs: Any) -> None:
        super().__init__(2, "max", layout, global_pool=True, **kwargs)


class GlobalAvgPool1D(_Pooling):
    """The average of each channel of rows of data."""

    def __init__(self, layout: str = "NCW", **kwargs: Any) -> None:
        super().__init__(1, "avg", layout, global_pool=True, **kwargs)


class GlobalAvgPool2D(_Pooling):
    """The average of each channel of images."""

    def __init__(self, layout: str = "NCHW", **kwargs: Any) -> None:
        super().__init__(2, "avg", layout, global_pool=True, **kwargs)


class ReflectionPad2D(HybridBlock):
    """Images with a border that mirrors them.

    Parameters
    ----------
    padding : int or tuple of 8 int
        Its width; or before and after each of the four axes.
    **kwargs
        See `Block`.
    """

    def __init__(self, padding: Sizes = 0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        widths = (0,) * 4 + (padding,) * 4 if isinstance(padding, int) else tuple(padding)
        if len(widths) != 8:
            raise ArgumentError(f"ReflectionPad2D: padding={padding!r} must be one number, or 8.")
        self._padding = widths

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Return the images with the border."""
        return F.pad(x, mode="reflect", pad_width=self._padding)
