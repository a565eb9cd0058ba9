"""Graphs as text: MXNet's JSON, letter by letter, and lists for people.

Files come from strangers: what is read is checked before it becomes a graph, and nothing is run.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mxprof_nb.errors import ArgumentError, EngineError
from mxprof_nb.runtime.graph import VARIABLE, Entry, Node, in_order
from mxprof_nb.runtime.graph.operators import operator_of
from mxprof_nb.runtime.symbol.marks import hidden, is_mark

__all__ = ["from_json", "listed", "load", "save", "to_json"]

#: MXNet's version that the format is of.
VERSION = 10901

#: Longer texts are refused.
MAX_CHARACTERS = 512 * 2**20

#: How many results MXNet counts, where programs do not see all.
_RESULTS = {
    "BatchNorm": 3,
    "Dropout": 2,
    "GroupNorm": 3,
    "InstanceNorm": 3,
    "L2Normalization": 2,
    "LRN": 2,
    "LayerNorm": 3,
    "_linalg_det": 3,
    "_linalg_slogdet": 4,
    "sort": 2,
}


# Writing


def to_json(heads: Sequence[Entry]) -> str:
    """Return a graph as MXNet writes it."""
    order = in_order(heads)
    numbers = {node: number for number, node in enumerate(order)}
    versions: dict[Node, int] = {}
    rows, nodes = [0], []
    for node in order:
        written = [
            [numbers[parent], result, version]
            for (parent, result), version in zip(node.inputs, _seen(node, versions), strict=True)
        ]
        attrs = {**node.attrs, **node.marks}
        nodes.append(
            {
                "op": node.op,
                "name": node.name,
                **({"attrs": dict(sorted(attrs.items()))} if attrs else {}),
                "inputs": written,
            }
        )
        rows.append(rows[-1] + _results(node))
    return _text(
        {
            "nodes": nodes,
            "arg_nodes": [number for node, number in numbers.items() if node.is_variable],
            "node_row_ptr": rows,
            "heads": [[numbers[node], place, versions.get(node, 0)] for node, place in heads],
            "attrs": {"mxnet_version": ["int", VERSION]},
        }
    )


def _seen(node: Node, versions: dict[Node, int]) -> list[int]:
    """Return which state of each input a node sees: how often it was written until then."""
    found = []
    mutated = () if node.is_variable else operator_of(node.op).mutated(len(node.inputs))
    for place, (parent, _) in enumerate(node.inputs):
        if place in mutated:
            versions[parent] = versions.get(parent, 0) + 1
        found.append(versions.get(parent, 0))
    return found


def _results(node: Node) -> int:
    if node.is_variable:
        return 1
    if (node.op, node.attrs.get("pool_type", "max")) == ("Pooling", "max"):
        return 2
    if (node.op, node.attrs.get("ret_typ")) == ("topk", "value"):
        return 2
    return _RESULTS.get(node.op) or len(operator_of(node.op).outputs(node.attrs))


def _text(value: Any, indent: str = "") -> str:
    """Return a value as MXNet's writer lays it out."""
    if not isinstance(value, (dict, list)):
        return json.dumps(value, ensure_ascii=False)
    more = indent + "  "
    if isinstance(value, dict):
        parts = [f"{_text(key)}: {_text(each, more)}" for key, each in value.items()]
        lines, begin, end = len(parts) > 1, "{", "}"
    else:
        parts = [_text(each, more) for each in value]
        lines = len(parts) > 10 or any(isinstance(each, dict) for each in value)
        begin, end = "[", "]"
    if not lines:
        return f"{begin}{', '.join(parts)}{end}"
    inside = f", \n{more}".join(parts)
    return f"{begin}\n{more}{inside}\n{indent}{end}"


def save(heads: Sequence[Entry], fname: str) -> None:
    """Write a graph to a file.

    Raises
    ------
    TypeError
        The name is no text.
    """
    Path(_path(fname)).write_text(to_json(heads), "utf-8")


def _path(fname: object) -> str:
    if not isinstance(fname, (str, Path)):
        raise TypeError(f"fname must be the name of a file, not {type(fname).__name__}.")
    return str(fname)


# Reading


def load(fname: str) -> list[Entry]:
    """Return the graph in a file.

    Raises
    ------
    ArgumentError
        The file holds no graph.
    """
    try:
        text = Path(_path(fname)).read_text("utf-8")
    except UnicodeDecodeError as error:
        raise ArgumentError(f"{fname} holds no graph: {error}.") from None
    return from_json(text, str(fname))


def from_json(text: str, source: str = "The text") -> list[Entry]:
    """Return the graph that a text describes.

    Parameters
    ----------
    text : str
    source : str
        Where it comes from, for errors.

    Raises
    ------
    ArgumentError
        It is no JSON, or describes no graph.
    UnknownOperatorError
        A node has an operator that is not known.
    """
    if not isinstance(text, str):
        raise TypeError(f"A graph is read from a text, not {type(text).__name__}.")
    if len(text) > MAX_CHARACTERS:
        raise ArgumentError(f"{source} has {len(text):,} characters, too many for a graph.")
    try:
        read = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ArgumentError(f"{source} is no JSON: {error or 'it is nested too deep'}.") from None
    try:
        return _Reader(read).heads()
    except _Broken as broken:
        raise ArgumentError(f"{source} describes no graph: {broken}.") from None


class _Broken(Exception):
    """What is wrong, in words."""


class _Reader:
    """Makes nodes of what JSON says."""

    def __init__(self, read: Any) -> None:
        if not isinstance(read, dict) or not isinstance(read.get("nodes"), list):
            raise _Broken("it has no list of nodes")
        self._read = read
        self._nodes: list[Node] = []
        self._counts: list[int] = []
        for number, each in enumerate(read["nodes"]):
            self._add(number, each)

    def heads(self) -> list[Entry]:
        heads = self._read.get("heads")
        if not isinstance(heads, list) or not heads:
            raise _Broken("it has no heads, so no results")
        return [self._entry(each, "a head") for each in heads]

    def _add(self, number: int, read: Any) -> None:
        if not isinstance(read, dict):
            raise _Broken(f"node {number} is no object")
        op, name = read.get("op"), read.get("name")
        if not isinstance(op, str) or not isinstance(name, str):
            raise _Broken(f"node {number} has no op or no name")
        told: dict[str, str] = {}
        for key in ("param", "attr", "attrs"):  # the first two by versions before 1.0
            some = read.get(key, {})
            if not isinstance(some, dict) or not all(isinstance(v, str) for v in some.values()):
                raise _Broken(f"the {key} of node {name!r} are no texts")
            told.update(some)
        inputs = read.get("inputs", [])
        if not isinstance(inputs, list):
            raise _Broken(f"the inputs of node {name!r} are no list")
        node = Node(op, name, inputs=[self._entry(each, f"node {name!r}") for each in inputs])
        if op == VARIABLE:
            if inputs:
                raise _Broken(f"the variable {name!r} has inputs")
            node.marks = {hidden(key): value for key, value in told.items()}
            self._counts.append(1)
        else:
            self._counts.append(self._check(node, told))
        self._nodes.append(node)

    def _check(self, node: Node, told: dict[str, str]) -> int:
        """Sort what is told about an operator; return how many results it has."""
        try:
            operator = operator_of(node.op)
            node.op = operator.name
            for key, value in told.items():
                if key not in operator.parameters and is_mark(key):
                    node.marks[hidden(key)] = value
                else:
                    node.attrs[key] = value
            operator.values(node.attrs)
            names = operator.input_names(node.attrs, len(node.inputs))
            if len(names) != len(node.inputs):
                raise ArgumentError(
                    f"{operator.name} takes {len(names)} inputs ({', '.join(names[:10])}), not "
                    f"{len(node.inputs)}."
                )
            return len(operator.outputs(node.attrs))
        except EngineError as error:
            raise type(error)(f"Node {node.name!r} ({node.op}): {error}") from error

    def _entry(self, read: Any, owner: str) -> Entry:
        if (
            not isinstance(read, list)
            or not 2 <= len(read) <= 3
            or not all(type(each) is int and each >= 0 for each in read)
        ):
            raise _Broken(f"{read!r:.60}, which {owner} takes, is no [node, result, version]")
        number, place = read[:2]
        if number >= len(self._nodes):
            raise _Broken(f"{owner} takes node {number}, and there are {len(self._nodes)} before")
        if place >= self._counts[number]:
            raise _Broken(
                f"{owner} takes result {place} of node {self._nodes[number].name!r}, which has "
                f"{self._counts[number]}"
            )
        return self._nodes[number], place


# For people


def listed(heads: Sequence[Entry]) -> str:
    """Return a graph as a list of its nodes, laid out as MXNet does."""
    lines = ["Symbol Outputs:"]
    for number, (node, place) in enumerate(heads):
        lines.append(f"\toutput[{number}]={node.name}({place})")
    versions: dict[Node, int] = {}
    for node in in_order(heads):
        if node.is_variable:
            lines.append(f"Variable:{node.name}")
            continue
        lines += ["--------------------", f"Op:{node.op}, Name={node.name}", "Inputs:"]
        for number, version in enumerate(_seen(node, versions)):
            parent, place = node.inputs[number]
            told = f" version={version}" if parent.is_variable else ""
            lines.append(f"\targ[{number}]={parent.name}({place}){told}")
        attrs = {**node.attrs, **node.marks}
        if attrs:
            lines.append("Attrs:")
            lines += [f"\t{key}={value}" for key, value in sorted(attrs.items())]
    return "\n".join(lines) + "\n"
