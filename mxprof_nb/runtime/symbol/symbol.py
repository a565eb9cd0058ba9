"""`Symbol`: results of a graph of operators that is described now and run later."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from mxprof_nb.errors import ArgumentError, close_match
from mxprof_nb.runtime import symbol as package
from mxprof_nb.runtime.attribute import texts
from mxprof_nb.runtime.calls import recorded
from mxprof_nb.runtime.executor.binding import Binding
from mxprof_nb.runtime.graph import Entry, Node, in_order
from mxprof_nb.runtime.graph.operators import operator_of
from mxprof_nb.runtime.symbol import arithmetic, files, inference
from mxprof_nb.runtime.symbol.marks import hidden, seen

__all__ = ["Symbol", "entry_of", "set_attribute", "symbol_of"]


#: Functions of symbols that are methods too, and under which name.
METHODS = {
    **dict.fromkeys(
        (
            *("abs", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "argmax"),
            *("argmax_channel", "argmin", "argsort", "broadcast_axes", "broadcast_like"),
            *("broadcast_to", "cbrt", "ceil", "clip", "cos", "cosh", "degrees", "depth_to_space"),
            *("diag", "exp", "expand_dims", "expm1", "fix", "flatten", "flip", "floor", "log"),
            *("log10", "log1p", "log2", "log_softmax", "max", "mean", "min", "nanprod", "nansum"),
            *("norm", "one_hot", "ones_like", "pad", "pick", "prod", "radians", "rcbrt"),
            *("reciprocal", "relu", "repeat", "reshape", "reshape_like", "rint", "round"),
            *("rsqrt", "shape_array", "sigmoid", "sign", "sin", "sinh", "size_array", "slice"),
            *("slice_axis", "slice_like", "softmax", "softmin", "sort", "space_to_depth"),
            *("split", "split_v2", "sqrt", "square", "squeeze", "sum", "swapaxes", "take", "tan"),
            *("tanh", "tile", "topk", "transpose", "trunc", "zeros_like"),
        )
    ),
    "astype": "cast",
}

#: What arrays can do because they have a value.
ARRAYS_ONLY = ("asnumpy", "asscalar", "as_in_context", "backward", "copy", "detach", "wait_to_read")


class Symbol(arithmetic.Arithmetic, inference.Inferring, Binding):
    """One or more results of a graph.

    Made by `var`, by the functions of `mxprof_nb.runtime.symbol`, by `Group` and `load`, not by
    calling the class. Functions of symbols are also methods: ``x.sum(axis=1)``.
    """

    __slots__ = ("_entries",)

    _entries: tuple[Entry, ...]

    # What it is

    @property
    def name(self) -> str | None:
        """Name of the node whose results it is; None for results of several."""
        node = self._entries[0][0]
        return node.name if all(each is node for each, _ in self._entries) else None

    def __repr__(self) -> str:
        if self.name is not None:
            return f"<Symbol {self.name}>"
        return f"<Symbol group [{', '.join(each.name for each, _ in self._entries)}]>"

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Symbol]:
        return (symbol_of((each,)) for each in self._entries)

    def __bool__(self) -> bool:
        raise TypeError(
            f"{self!r} has no value yet, so it is neither true nor false. Bind and run it first."
        )

    def __getitem__(self, index: int | str | slice) -> Symbol:
        """Return one result, by its place or by its name in `list_outputs`, or a slice of them."""
        if isinstance(index, str):
            return self._named(index)
        if isinstance(index, slice):
            chosen = self._entries[index]
            if not chosen:
                raise IndexError(f"{self!r} has {len(self)} results; {index} chooses none.")
            return symbol_of(chosen)
        if isinstance(index, bool) or not isinstance(index, int):
            raise TypeError(f"{self!r} is indexed by places and names, not {type(index).__name__}.")
        if not 0 <= index < len(self):
            raise IndexError(f"{self!r} has {len(self)} results; there is no number {index}.")
        return symbol_of(self._entries[index : index + 1])

    def _named(self, name: str) -> Symbol:
        names = self.list_outputs()
        places = [place for place, each in enumerate(names) if each in (name, f"{name}_output")]
        if not places:
            raise ArgumentError(f"{self!r} has no result named {name!r}.{close_match(name, names)}")
        if len(places) > 1:
            raise ArgumentError(f"{self!r} has {len(places)} results named {name!r}; ask by place.")
        return self[places[0]]

    def __getattr__(self, name: str) -> Any:
        """Return a function of symbols as a method."""
        if name in METHODS:
            return partial(getattr(package, METHODS[name] or name), self)
        if name in ARRAYS_ONLY:
            raise AttributeError(
                f"{name}: {self!r} has no value, an NDArray has. Bind it and run it first."
            )
        raise AttributeError(f"A Symbol has no {name!r}.{close_match(name, METHODS)}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *METHODS]

    # The graph

    def _nodes(self) -> list[Node]:
        return in_order(self._entries)

    def _variables(self) -> list[tuple[Node, bool]]:
        """Return the variables, and whether each is an auxiliary state."""
        order = self._nodes()
        states = set()
        for node in order:
            if not node.is_variable:
                for place in operator_of(node.op, node.attrs).mutated(len(node.inputs)):
                    states.add(node.inputs[place][0])
        return [(node, node in states) for node in order if node.is_variable]

    def list_arguments(self) -> list[str]:
        """Return the names of all variables that are no auxiliary states, in order."""
        return [node.name for node, state in self._variables() if not state]

    def list_auxiliary_states(self) -> list[str]:
        """Return the names of the variables that operators write, such as moving averages."""
        return [node.name for node, state in self._variables() if state]

    def list_inputs(self) -> list[str]:
        """Return the names of all variables, in order."""
        return [node.name for node, _ in self._variables()]

    def list_outputs(self) -> list[str]:
        """Return the names of the results: those of nodes with ``_output`` and the like behind."""
        return [_output_name(entry) for entry in self._entries]

    @recorded("MXSymbolGetInternals")
    def get_internals(self) -> Symbol:
        """Return the results of all nodes, variables among them, in order."""
        return symbol_of([(node, place) for node in self._nodes() for place in range(_count(node))])

    @recorded("MXSymbolGetChildren")
    def get_children(self) -> Symbol | None:
        """Return what the nodes of these results take, None if they take nothing."""
        nodes = dict.fromkeys(node for node, _ in self._entries)
        entries = [each for node in nodes for each in node.inputs]
        return symbol_of(entries) if entries else None

    # Composition

    def __call__(self, *args: Symbol, name: str | None = None, **kwargs: Any) -> Symbol:
        """Return a copy in which variables are replaced by other symbols.

        Parameters
        ----------
        *args
            None: which variable would be meant is told by its name.
        name : str, optional
            New name of the node whose results these are.
        **kwargs : Symbol
            What replaces each variable, by its name.
        """
        made = self.__copy__()
        made._compose(*args, name=name, **kwargs)
        return made

    def _compose(self, *args: Symbol, name: str | None = None, **kwargs: Symbol) -> None:
        """Replace variables by other symbols."""
        if args:
            raise ArgumentError(
                f"{self!r} is composed by names of variables, e.g. "
                f"net({self.list_inputs()[0] if self.list_inputs() else 'data'}=other)."
            )
        entries = {}
        known = self.list_inputs()
        for variable, each in kwargs.items():
            entries[variable] = entry_of(each, variable)
            if variable not in known:
                raise ArgumentError(
                    f"{self!r} has no variable {variable!r}.{close_match(variable, known)} "
                    f"It has {', '.join(known)}."
                )
        for node in self._nodes():
            node.inputs = [
                entries.get(parent.name, (parent, place)) if parent.is_variable else (parent, place)
                for parent, place in node.inputs
            ]
        self._entries = tuple(
            [
                entries.get(node.name, (node, place)) if node.is_variable else (node, place)
                for node, place in self._entries
            ]
        )
        if name is not None and self.name is not None:
            self._entries[0][0].name = name

    def __copy__(self) -> Symbol:
        copies: dict[Node, Node] = {}
        for node in self._nodes():
            inputs = [(copies[parent], place) for parent, place in node.inputs]
            copies[node] = Node(node.op, node.name, dict(node.attrs), inputs, dict(node.marks))
        return symbol_of([(copies[node], place) for node, place in self._entries])

    def __deepcopy__(self, memo: object) -> Symbol:
        return self.__copy__()

    def __reduce__(self) -> Any:
        return _restored, (self.tojson(),)

    # Attributes

    def _only(self, doing: str) -> Node:
        if self.name is None:
            raise ArgumentError(f"{self!r} are results of several nodes; {doing} of one of them.")
        return self._entries[0][0]

    @recorded("MXSymbolGetAttr")
    def attr(self, key: str) -> str | None:
        """Return an attribute or a parameter as text, None if there is none of that name.

        ``name`` is an attribute here, though not in `list_attr`.
        """
        if not isinstance(key, str):
            raise TypeError(f"Attributes have names, not {type(key).__name__}.")
        node = self._only("ask for the attributes")
        return seen(node).get(key, node.name if key == "name" else None)

    @recorded("MXSymbolListAttrShallow")
    def list_attr(self) -> dict[str, str]:
        """Return the attributes and parameters of the node."""
        return seen(self._only("ask for the attributes"))

    @recorded("MXSymbolListAttr")
    def attr_dict(self) -> dict[str, dict[str, str]]:
        """Return the attributes and parameters of all nodes that have some, by name."""
        return {node.name: told for node in self._nodes() if (told := seen(node))}

    def _set_attr(self, **kwargs: str) -> None:
        """Set attributes of the node."""
        node = self._only("set the attributes")
        for key, value in texts(kwargs).items():
            set_attribute(node, key, value)

    # Files

    @recorded("MXSymbolSaveToJSON")
    def tojson(self, remove_amp_cast: bool = True) -> str:
        """Return the graph as text, in MXNet's format; there are no casts of its AMP to remove."""
        return files.to_json(self._entries)

    @recorded("MXSymbolSaveToFile")
    def save(self, fname: str, remove_amp_cast: bool = True) -> None:
        """Write the graph to a file, in MXNet's format; see `tojson`."""
        files.save(self._entries, fname)

    def debug_str(self) -> str:
        """Return the graph as a list for people."""
        return files.listed(self._entries)


@recorded("MXSymbolSetAttr")
def set_attribute(node: Node, key: str, value: str) -> None:
    """Set a parameter of a node, which is checked, or another attribute."""
    if not node.is_variable and key in operator_of(node.op, node.attrs).parameters:
        node.attrs[key] = value
        operator_of(node.op, node.attrs).values(node.attrs)
    else:
        node.marks[hidden(key)] = value


def symbol_of(entries: Sequence[Entry]) -> Symbol:
    """Return results of nodes as a symbol."""
    made = Symbol.__new__(Symbol)
    made._entries = tuple(entries)
    return made


def entry_of(symbol: object, place: str) -> Entry:
    """Return the one result that a symbol is.

    Raises
    ------
    TypeError
        It is no symbol.
    ArgumentError
        It is several.
    """
    if not isinstance(symbol, Symbol):
        raise TypeError(f"{place} must be a Symbol, not {type(symbol).__name__}.")
    if len(symbol._entries) != 1:
        raise ArgumentError(
            f"{place}: {symbol!r} is {len(symbol)} results, and one is needed. Choose one: sym[0]."
        )
    return symbol._entries[0]


def _restored(text: str) -> Symbol:
    """Return a pickled symbol."""
    return symbol_of(files.from_json(text))


def _count(node: Node) -> int:
    return 1 if node.is_variable else len(operator_of(node.op, node.attrs).outputs(node.attrs))


def _output_name(entry: Entry) -> str:
    node, place = entry
    if node.is_variable:
        return node.name
    return f"{node.name}_{operator_of(node.op, node.attrs).outputs(node.attrs)[place]}"
