"""`HybridBlock`: a block whose computation is written for arrays and symbols alike."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from typing import Any

from mxprof_nb.errors import ArgumentError, NoGraphError
from mxprof_nb.runtime import nd, symbol
from mxprof_nb.runtime.cached_op import Options
from mxprof_nb.runtime.context import Context
from mxprof_nb.runtime.gluon.block.block import Block, told
from mxprof_nb.runtime.gluon.block.deduction import LENIENT, Unshaped
from mxprof_nb.runtime.gluon.block.nesting import Nesting, flatten, leaves
from mxprof_nb.runtime.gluon.block.traced import TRACING, Traced, count_of_array, is_array
from mxprof_nb.runtime.gluon.parameter import Parameter
from mxprof_nb.runtime.gluon.parameter.shape import is_known
from mxprof_nb.runtime.symbol import Symbol

__all__ = ["HybridBlock"]

#: Graphs kept of one block: one for each way in which its arguments were nested.
MAX_GRAPHS = 16


class HybridBlock(Block):
    """A block that computes in ``hybrid_forward(self, F, x, *args, **params)``.

    ``F`` is `mx.nd` or `mx.sym`, ``params`` are the block's parameters by the names of their
    attributes: arrays or symbols. Extents of parameters that are not known follow from the first
    data.

    A hybridized block calls `hybrid_forward` once, with symbols, and from then on runs the graph
    that this made (`mxprof_nb.runtime.cached_op.CachedOp`): what else Python does there, such as
    ``print``, happens that once, and again after a block within has got other blocks or
    parameters. Several threads may call it.

    Parameters
    ----------
    prefix, params
        See `Block`.
    """

    def __init__(self, prefix: str | None = None, params: Any = None) -> None:
        super().__init__(prefix, params)
        self._active = False
        self._options = Options()
        self._structure = object()
        self._gives_names = False
        self._graphs: dict[Any, Traced] = {}
        self._last: Traced | None = None

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if isinstance(value, (Block, Parameter)):
            self._get_new_structure()

    def register_child(self, block: Block, name: str | None = None) -> None:
        """Make a block one of this one's; it must be a `HybridBlock` too."""
        if not isinstance(block, HybridBlock):
            raise ArgumentError(
                f"{type(self).__name__} is a HybridBlock, so its blocks must be some too; "
                f"{type(block).__name__} is none. In Sequential they may be any."
            )
        super().register_child(block, name)
        self._get_new_structure()

    def hybridize(
        self,
        active: bool = True,
        backend: str | None = None,
        clear: bool = True,
        static_alloc: bool = False,
        static_shape: bool = False,
        inline_limit: int = 2,
        forward_bulk_size: int | None = None,
        backward_bulk_size: int | None = None,
        **kwargs: Any,
    ) -> None:
        """Choose whether to compute by a graph, this block and all within.

        Parameters
        ----------
        active : bool
        backend : str, optional
            None: there are no other backends here.
        clear : bool
            Whether to forget graphs that were made, so that they are made anew.
        static_alloc, static_shape, inline_limit, forward_bulk_size, backward_bulk_size
            See `mxprof_nb.runtime.cached_op.Options`.

        Raises
        ------
        ArgumentError
            There is no such option, or it cannot have this value.
        """
        if backend is not None:
            raise _no_backend(backend)
        if kwargs:
            raise ArgumentError(
                f"hybridize({', '.join(f'{k}={v!r}' for k, v in kwargs.items())}): there is no "
                "such option. See help(mx.gluon.HybridBlock.hybridize) for those there are."
            )
        options: dict[str, Any] = {
            "static_alloc": static_alloc,
            "static_shape": static_shape,
            "inline_limit": inline_limit,
            "forward_bulk_size": forward_bulk_size,
            "backward_bulk_size": backward_bulk_size,
        }
        self._options = Options(**options)
        self._active = bool(active)
        self._forget_graphs(whole=clear)
        if active and (self._forward_hooks or self._forward_pre_hooks):
            warnings.warn(
                f"{self.name!r} is hybridized and has hooks. Within another hybridized block they "
                "are called once, with symbols, and not again.",
                stacklevel=2,
            )
        super().hybridize(active, **options)

    def optimize_for(self, x: Any, *args: Any, backend: str | None = None, **kwargs: Any) -> None:
        """Refuse: in MXNet it hands a graph to another backend, of which there is none here.

        Raises
        ------
        ArgumentError
            Always.
        """
        raise _no_backend(backend)

    def cast(self, dtype: Any) -> None:
        """Change the type of all parameters; the graph is made anew."""
        self._forget_graphs()
        super().cast(dtype)

    def _get_new_structure(self) -> None:
        """Forget the graphs, and let those of blocks around this one notice."""
        self._forget_graphs()
        if "_structure" in vars(self):
            self._structure = Traced.newest_structure = object()

    def _forget_graphs(self, *, whole: bool = True) -> None:
        """Forget what was made of the graphs, with ``whole`` also the graphs."""
        if "_graphs" not in vars(self):
            return  # super().__init__() is still to come
        if whole:
            self._graphs, self._last = {}, None
        else:
            self._graphs = {
                key: each.with_options(self._options) for key, each in self._graphs.items()
            }
            self._last = next(reversed(self._graphs.values()), None)

    # Calls

    def forward(self, x: Any, *args: Any, **kwargs: Any) -> Any:
        """Give `hybrid_forward` the parameters: on the device where the data are, or as symbols."""
        given = next((each for each in leaves((x, args, kwargs)) if is_array(each)), None)
        if isinstance(given, Symbol):
            params = {name: each.var() for name, each in self._reg_params.items()}
            with self.name_scope():
                return self.hybrid_forward(symbol, x, *args, **kwargs, **params)
        if given is None:
            raise ArgumentError(
                f"{self.name}: {type(self).__name__} is called with arrays; there is none in "
                f"{told((x, *args))}. Make one with mx.nd.array(...)."
            )
        if self._active:
            return self._call_graph((x, *args), kwargs)
        return self._forward_arrays(given.context, x, *args, **kwargs)

    def _forward_arrays(self, context: Context, x: Any, *args: Any, **kwargs: Any) -> Any:
        params: dict[str, Any] = {}
        waiting = [each for each in self._reg_params.values() if each._deferred is not None]
        if waiting:
            waiting = self._still_waiting(waiting, x, *args)
        for name, each in self._reg_params.items():
            params[name] = Unshaped(each, context) if each in waiting else each.data(context)
        F: Any = LENIENT if waiting or self._gives_names else nd
        with context:
            try:
                return self.hybrid_forward(F, x, *args, **kwargs, **params)
            except TypeError as error:
                if F is not nd or "unexpected keyword argument 'name'" not in str(error):
                    raise
            # Functions of arrays take no name; those of symbols do, and a block may give some.
            self._gives_names = True
            return self.hybrid_forward(LENIENT, x, *args, **kwargs, **params)

    def _still_waiting(self, waiting: list[Parameter], *args: Any) -> list[Parameter]:
        """Initialize parameters whose shapes are known by now; return the others.

        A block may have a method ``infer_shape(*args)`` of its own that sets them, as in MXNet's
        next generation.
        """
        if type(self).infer_shape is not HybridBlock.infer_shape:
            self.infer_shape(*args)
        for each in waiting:
            if is_known(each.shape):
                each._finish_deferred_init()
        return [each for each in waiting if each._deferred is not None]

    def hybrid_forward(self, F: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
        """Compute; subclasses say how."""
        raise NotImplementedError(
            f"{type(self).__name__} needs a method hybrid_forward(self, F, x, *args, **params)."
        )

    # Graphs

    def _call_graph(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """Run the graph, which the first call makes."""
        arrays, nesting = flatten((args, dict(kwargs)), count_of_array, self.name)
        graph = self._graph(nesting) or self._trace(args, kwargs)
        return graph.call(arrays)

    def _graph(self, nesting: Nesting) -> Traced | None:
        """Return the graph for arguments nested in this way, if there is one that holds."""
        graph = self._graphs.get(nesting)
        return graph if graph is None or graph.holds_for(self) else None

    def _structures(self) -> list[object]:
        """Return what this block and all within change when they get other parts."""
        found = [self._structure]
        for each in self._children.values():
            if isinstance(each, HybridBlock):
                found += each._structures()
        return found

    def _trace(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Traced:
        """Return the graph for arguments nested as these are."""
        _, nesting = flatten((args, dict(kwargs)), count_of_array, self.name)
        with TRACING:
            found = self._graph(nesting)
            return found or self._keep(nesting, Traced.of(self, nesting, self._options))

    def _keep(self, nesting: Nesting, graph: Traced) -> Traced:
        while len(self._graphs) >= MAX_GRAPHS:
            self._graphs.pop(next(iter(self._graphs)), None)
        graph.structures = self._structures()
        self._graphs[nesting] = self._last = graph
        return graph

    def _compute_symbols(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return what the block makes of symbols; hooks are not asked."""
        return self.forward(*args, **kwargs)

    def infer_shape(self, *args: Any) -> None:
        """Set the shapes of all parameters to what follows from those of data.

        Parameters
        ----------
        *args
            Arrays as the block is called with.

        Raises
        ------
        ShapeError
            They do not follow, or contradict what is known.
        """
        arrays, _ = flatten((args, {}), count_of_array, self.name)
        self._trace(args, {}).infer_shapes(arrays)

    def infer_type(self, *args: Any) -> None:
        """Set the types of all parameters to what follows from those of data."""
        arrays, _ = flatten((args, {}), count_of_array, self.name)
        self._trace(args, {}).infer_types(arrays)

    def export(
        self, path: str | os.PathLike[str], epoch: int = 0, remove_amp_cast: bool = True
    ) -> tuple[str, str]:
        """Write graph and values of a hybridized block, for `SymbolBlock.imports` and MXNet.

        An input is called ``data``; several ones are ``data0``, ``data1`` and so on.

        Parameters
        ----------
        path : str or path
            What the names of both files begin with.
        epoch : int
            Number in the name of the file with the values, at least four digits.
        remove_amp_cast : bool
            Without effect: graphs have no casts of mixed precision here.

        Returns
        -------
        tuple of str
            ``{path}-symbol.json`` and ``{path}-{epoch}.params``.

        Raises
        ------
        NoGraphError
            The block was not hybridized, or not called since.
        """
        graph = self._last
        if graph is None or not graph.holds_for(self):
            raise NoGraphError(
                f"{self.name!r} has no graph to export yet. Call hybridize(), then the block once "
                "with data, then export()."
            )
        names = f"{os.fspath(path)}-symbol.json", f"{os.fspath(path)}-{epoch:04d}.params"
        values = graph.values()
        graph.symbol.save(names[0])
        nd.save(names[1], values)
        return names


def _no_backend(backend: str | None) -> ArgumentError:
    return ArgumentError(
        f"backend={backend!r}: graphs run on this runtime's own operators; there are no other "
        "backends here. Leave it out."
    )
