"""`Repeated`: has the code of one execution run several times, as if it were written so.

The tree becomes a loop around the cell's statements, and these once more: so ``await``, the value
of the last expression, line numbers and errors are the plain cell's. What must stand first stays
first, and code that would only be right within a loop still is an error.
"""

from __future__ import annotations

import ast
import copy
import threading
from typing import Any

from IPython.core.interactiveshell import InteractiveShell

__all__ = ["Repeated", "repeated"]

_NEXT = "__import__('mxprof_nb.ipython', fromlist=['another']).another()"


def repeated(tree: ast.Module) -> ast.Module:
    """Return a module that runs its statements until `another` says that this is the last time."""
    body = list(tree.body)
    first = []
    while body and isinstance(body[0], ast.ImportFrom) and body[0].module == "__future__":
        first.append(body.pop(0))
    if not body:
        return tree
    loop = ast.While(_next(), copy.deepcopy(body), [])
    # On line 1, where the magic stands: no line of the cell is blamed for it.
    for node in (loop, *ast.walk(loop.test)):
        ast.copy_location(node, _LINE_1)
    tree.body = [*first, loop, *body]
    return tree


_LINE_1 = ast.Constant(None, lineno=1, col_offset=0, end_lineno=1, end_col_offset=0)


def _next() -> ast.expr:
    return ast.parse(_NEXT, mode="eval").body


class Repeated(ast.NodeTransformer):
    """Repeats the next code that this thread compiles, once."""

    def __init__(self, shell: InteractiveShell) -> None:
        self.shell, self.thread = shell, threading.current_thread()
        shell.ast_transformers.append(self)

    def visit(self, node: ast.AST) -> Any:
        """Return the code repeated; called by the shell before it compiles."""
        if threading.current_thread() is not self.thread or not isinstance(node, ast.Module):
            return node
        self.shell.ast_transformers.remove(self)
        return repeated(node)

    def take_back(self) -> None:
        """Let go when the code never came so far, e.g. for a syntax error."""
        if self in self.shell.ast_transformers:
            self.shell.ast_transformers.remove(self)
