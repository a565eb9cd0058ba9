"""Layers of filters that move over images."""

from __future__ import annotations

from typing import Any

from mxprof_nb.runtime.gluon.block import HybridBlock
from mxprof_nb.runtime.gluon.block.scope import fwd
from mxprof_nb.runtime.gluon.nn.activations import Activation
from mxprof_nb.runtime.gluon.nn.windows import Sizes, count, must_be_layout, sizes

__all__ = ["Conv1D", "Conv1DTranspose", "Conv2D", "Conv2DTranspose"]


class _Conv(HybridBlock):
    """What all layers of filters have in common.

    Parameters
    ----------
    axes : int
        Number of axes of space.
    channels : int
        Number of filters.
    kernel_size, strides, padding, dilation : int or tuple of int
        Extent of the window, its steps, zeros around the image, distance of the window's points.
    groups : int
        Groups of channels that have their own filters.
    layout : str
        Order of the axes.
    activation : str, optional
    use_bias : bool
    weight_initializer, bias_initializer : str or Initializer, optional
    in_channels : int
        0 if the first data tell.
    output_padding : int or tuple of int, optional
        Added to the result of an enlarging layer; None for the others.
    **kwargs
        See `Block`.
    """

    def __init__(
        self,
        axes: int,
        channels: int,
        kernel_size: Sizes,
        strides: Sizes,
        padding: Sizes,
        dilation: Sizes,
        groups: int,
        layout: str,
        activation: str | None,
        use_bias: bool,
        weight_initializer: Any,
        bias_initializer: Any,
        in_channels: int,
        output_padding: Sizes | None = None,
        **kwargs: Any,
    ) -> None:
        must_be_layout(layout, axes)
        super().__init__(**kwargs)
        kernel = sizes("kernel_size", kernel_size, axes)
        channels, groups = count("channels", channels), count("groups", groups)
        in_channels = count("in_channels", in_channels, least=0)
        self._op_name = "Convolution" if output_padding is None else "Deconvolution"
        self._kwargs: dict[str, Any] = {
            "kernel": kernel,
            "stride": sizes("strides", strides, axes),
            "dilate": sizes("dilation", dilation, axes),
            "pad": sizes("padding", padding, axes, least=0),
            "num_filter": channels,
            "num_group": groups,
            "no_bias": not use_bias,
            "layout": layout,
        }
        if output_padding is None:
            first, second = channels, in_channels // groups
        else:
            self._kwargs["adj"] = sizes("output_padding", output_padding, axes, least=0)
            first, second = in_channels, channels // groups
        with self.name_scope():
            self.weight = self.params.get(
                "weight",
                shape=(first, second, *kernel),
                init=weight_initializer,
                allow_deferred_init=True,
            )
            self.bias = (
                self.params.get(
                    "bias", shape=(channels,), init=bias_initializer, allow_deferred_init=True
                )
                if use_bias
                else None
            )
            self.act = Activation(activation, prefix=f"{activation}_") if activation else None

    def _alias(self) -> str:
        return "conv"

    def hybrid_forward(self, F: Any, x: Any, weight: Any = None, bias: Any = None) -> Any:
        """Return the activation of what each filter sees."""
        made = getattr(F, self._op_name)(x, weight, bias, **self._kwargs, **fwd(F))
        return made if self.act is None else self.act(made)

    def __repr__(self) -> str:
        told = self._kwargs
        axes = len(told["kernel"])
        shape = self.weight.shape or (0, 0)
        parts = [
            f"{shape[1] or None} -> {shape[0]}",
            f"kernel_size={told['kernel']}",
            f"stride={told['stride']}",
        ]
        if told["pad"] != (0,) * axes:
            parts.append(f"padding={told['pad']}")
        if told["dilate"] != (1,) * axes:
            parts.append(f"dilation={told['dilate']}")
        if told["num_group"] != 1:
            parts.append(f"groups={told['num_group']}")
        if self.bias is None:
            parts.append("bias=False")
        if self.act is not None:
            parts.append(repr(self.act))
        return f"{type(self).__name__}({', '.join(parts)})"


class Conv1D(_Conv):
    """Filters over rows of data, such as sounds; parameters as for `Conv2D`."""

    def __init__(
        self,
        channels: int,
        kernel_size: Sizes,
        strides: Sizes = 1,
        padding: Sizes = 0,
        dilation: Sizes = 1,
        groups: int = 1,
        layout: str = "NCW",
        activation: str | None = None,
        use_bias: bool = True,
        weight_initializer: Any = None,
        bias_initializer: Any = "zeros",
        in_channels: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            1,
            channels,
            kernel_size,
            strides,
            padding,
            dilation,
            groups,
            layout,
            activation,
            use_bias,
            weight_initializer,
            bias_initializer,
            in_channels,
            **kwargs,
        )


class Conv2D(_Conv):
    """Filters over images.

    Parameters
    ----------
    channels : int
        Number of filters.
    kernel_size, strides, padding, dilation : int or tuple of int
        Extent of the window, its steps, zeros around the image, distance of the window's points.
    groups : int
        Groups of channels that have their own filters.
    layout : str
        Order of the axes.
    activation : str, optional
        Function of the results, see `Activation`.
    use_bias : bool
    weight_initializer, bias_initializer : str or Initializer, optional
    in_channels : int
        0 if the first data tell.
    **kwargs
        See `Block`.
    """

    def __init__(
        self,
        channels: int,
        kernel_size: Sizes,
        strides: Sizes = (1, 1),
        padding: Sizes = (0, 0),
        dilation: Sizes = (1, 1),
        groups: int = 1,
        layout: str = "NCHW",
        activation: str | None = None,
        use_bias: bool = True,
        weight_initializer: Any = None,
        bias_initializer: Any = "zeros",
        in_channels: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            2,
            channels,
            kernel_size,
            strides,
            padding,
            dilation,
            groups,
            layout,
            activation,
            use_bias,
            weight_initializer,
            bias_initializer,
            in_channels,
            **kwargs,
        )


class Conv1DTranspose(_Conv):
    """Filters that enlarge rows of data; parameters as for `Conv2DTranspose`."""

    def __init__(
        self,
        channels: int,
        kernel_size: Sizes,
        strides: Sizes = 1,
        padding: Sizes = 0,
        output_padding: Sizes = 0,
        dilation: Sizes = 1,
        groups: int = 1,
        layout: str = "NCW",
        activation: str | None = None,
        use_bias: bool = True,
        weight_initializer: Any = None,
        bias_initializer: Any = "zeros",
        in_channels: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            1,
            channels,
            kernel_size,
            strides,
            padding,
            dilation,
            groups,
            layout,
            activation,
            use_bias,
            weight_initializer,
            bias_initializer,
            in_channels,
            output_padding,
            **kwargs,
        )
        self.outpad = self._kwargs["adj"]


class Conv2DTranspose(_Conv):
    """Filters that enlarge images; the gradient of a `Conv2D` as a layer.

    Parameters
    ----------
    output_padding : int or tuple of int
        Added to the extents of the result.
    channels, kernel_size, strides, padding, dilation, groups, layout, activation, use_bias
        See `Conv2D`.
    weight_initializer, bias_initializer, in_channels, **kwargs
        See `Conv2D`.
    """

    def __init__(
        self,
        channels: int,
        kernel_size: Sizes,
        strides: Sizes = (1, 1),
        padding: Sizes = (0, 0),
        output_padding: Sizes = (0, 0),
        dilation: Sizes = (1, 1),
        groups: int = 1,
        layout: str = "NCHW",
        activation: str | None = None,
        use_bias: bool = True,
        weight_initializer: Any = None,
        bias_initializer: Any = "zeros",
        in_channels: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            2,
            channels,
            kernel_size,
            strides,
            padding,
            dilation,
            groups,
            layout,
            activation,
            use_bias,
            weight_initializer,
            bias_initializer,
            in_channels,
            output_padding,
            **kwargs,
        )
        self.outpad = self._kwargs["adj"]
