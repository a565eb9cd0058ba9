"""The table that `Block.summary` prints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from mxprof_nb.errors import ArgumentError
from mxprof_nb.runtime.nd import NDArray

if TYPE_CHECKING:
    from mxprof_nb.runtime.gluon.block.block import Block
    from mxprof_nb.runtime.gluon.parameter import Parameter

__all__ = ["print_summary"]

WIDTH = 80


class _Row(NamedTuple):
    """One call of a layer; numbers of elements."""

    layer: str
    shape: str
    params: int = 0
    trainable: int = 0
    shared: int = 0


def print_summary(block: Block, inputs: Sequence[Any]) -> None:
    """Call a block and print what its layers did, in MXNet's form."""
    rows = [_Row("Input", _shapes_told(inputs))]
    seen: set[int] = set()

    def note(layer: Block, args: Any, result: Any) -> None:
        name = f"{type(layer).__name__}-{len(rows)}"
        rows.append(_row(name, result, list(layer._own_params().values()), seen))

    handles = []
    try:
        for each in _all_blocks(block):
            if getattr(each, "_active", False):
                raise ArgumentError(
                    f"{each.name!r} is hybridized, so its layers are not called one by one. Call "
                    "hybridize(False) before summary()."
                )
            if not each._is_sequence:
                handles.append(each.register_forward_hook(note))
        block(*inputs)
    finally:
        for handle in handles:
            handle.detach()
    print("\n".join(_lines(rows)))


def _all_blocks(block: Block) -> list[Block]:
    found: list[Block] = []
    block.apply(found.append)
    return found


def _row(name: str, result: Any, params: Sequence[Parameter], seen: set[int]) -> _Row:
    row = _Row(name, _shapes_told(result))
    for param in params:
        size = param.data(param.list_ctx()[0]).size
        row = row._replace(
            params=row.params + size,
            trainable=row.trainable + (0 if param.grad_req == "null" else size),
            shared=row.shared + (size if id(param) in seen else 0),
        )
        seen.add(id(param))
    return row


def _lines(rows: Sequence[_Row]) -> list[str]:
    def line(layer: str, shape: str, params: object) -> str:
        return f"{layer:>20}  {shape:>42} {params:>15}"

    total = sum(row.params for row in rows)
    trainable = sum(row.trainable for row in rows)
    shared = sum(row.shared for row in rows)
    return [
        "-" * WIDTH,
        line("Layer (type)", "Output Shape", "Param #"),
        "=" * WIDTH,
        *(line(row.layer, row.shape, row.params) for row in rows),
        "=" * WIDTH,
        "Parameters in forward computation graph, duplicate included",
        f"   Total params: {total}",
        f"   Trainable params: {trainable}",
        f"   Non-trainable params: {total - trainable}",
        f"Shared params in forward computation graph: {shared}",
        f"Unique parameters in model: {total - shared}",
        "-" * WIDTH,
    ]


def _shapes_told(value: Any) -> str:
    """Return the shapes of arrays, nested as they are; a list of them without its brackets."""
    shapes = _shapes(value)
    if not isinstance(shapes, list):
        return str(shapes)
    return str(shapes[0]) if len(shapes) == 1 else str(shapes)[1:-1]


def _shapes(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_shapes(each) for each in value]
    return value.shape if isinstance(value, NDArray) else value
