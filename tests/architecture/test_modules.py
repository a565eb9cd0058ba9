"""The rules of thumb for modules, read off the source."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.environment import ROOT

PACKAGE = ROOT / "mxprof_nb"
MODULES = sorted(PACKAGE.rglob("*.py"))
FOLDERS = [path for path in MODULES if path.name == "__init__.py"]
MAX_LINES = 450
# A lazy facade is these functions (PEP 562); IPython calls the other two.
FACADE_FUNCTIONS = {"__getattr__", "__dir__", "load_ipython_extension", "unload_ipython_extension"}


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_module_is_one_thing(path: Path):
    lines = path.read_text().count("\n")
    assert lines <= MAX_LINES, "two modules in one file?"
    assert path.stem not in {"utils", "common", "helpers"}, "name the module after its noun"


@pytest.mark.parametrize("path", FOLDERS, ids=name_of)
def test_a_folder_only_re_exports(path: Path):
    assert [ast.unparse(node) for node in work(ast.parse(path.read_text()).body)] == []


def work(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements that do more than import, name and document."""
    for node in body:
        match node:
            case ast.Import() | ast.ImportFrom() | ast.Assign() | ast.AnnAssign():
                continue
            case ast.AugAssign(target=ast.Name(id="__all__")):
                continue
            case ast.Expr(value=ast.Constant(value=str())):
                continue
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                yield from work(node.body)
            case ast.FunctionDef(name=name) if name in FACADE_FUNCTIONS:
                continue
            case _:
                yield node
