"""`Program`: a script or module that runs as ``__main__``, as if Python itself had started it."""

from __future__ import annotations

import importlib.util
import os
import sys
import tokenize
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType, TracebackType
from typing import Any

from mxprof_nb.errors import ReadError, close_match

__all__ = ["Program"]

_OURS = os.path.join(str(Path(__file__).parent), "")


class Program:
    """Something that ``python`` could run: a file, a folder or archive with a main module, ``-m``.

    Parameters
    ----------
    words : sequence of str
        What would follow ``python``: ``["train.py", "--fast"]`` or ``["-m", "train", "--fast"]``.

    Attributes
    ----------
    name : str
        What a person calls it.
    file : str
        The file that it is compiled from; empty until it runs, for a module.
    source : str
        Its text; empty where there is none.

    Raises
    ------
    ReadError
        There is no such file or module. No code of the program has run then.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self._module = words[0] == "-m"
        self.name, *self._arguments = words[1:] if self._module else words
        self.file = self.source = ""
        self._path = ""
        if self._module:
            self._path = os.getcwd()
            top = self.name.partition(".")[0]
            with self._first_on_path():
                if not top or importlib.util.find_spec(top) is None:
                    raise ReadError.at(
                        f"-m {self.name}", "", "there is no module of that name.", ""
                    )
        elif not os.path.exists(self.name):
            raise ReadError.at(self.name, "", "there is no such file to run.", _hint(self.name))
        elif self.name.endswith(".ipynb"):
            how = "Open it in Jupyter, and write %%mxprofile above a cell."
            raise ReadError.at(self.name, "", "it is a notebook, not a script.", how)
        elif os.path.isdir(self.name) or not _is_text(self.name):
            self._path = os.path.abspath(self.name)
            if PathFinder.find_spec("__main__", [self._path]) is None:
                raise ReadError.at(
                    self.name, "", "it holds no __main__.py.", "Name a script, or -m MODULE."
                )
        else:
            self.file = os.path.abspath(self.name)
            self._path = os.path.dirname(os.path.realpath(self.name))

    def run(self) -> None:
        """Run it; whatever ends it is raised, with frames of ours above its own."""
        sys.argv = ["-m" if self._module else self.name, *self._arguments]
        if not sys.flags.safe_path:
            sys.path[0] = self._path
        facts, code = self._script() if self.file else self._found()
        main = ModuleType("__main__")
        vars(main).update(facts, __annotations__={})
        # Pickles and processes that the program starts look for it under this name.
        sys.modules["__main__"] = main
        exec(code, vars(main))

    def _script(self) -> tuple[dict[str, Any], CodeType]:
        with open(self.file, "rb") as file:
            content = file.read()
        code = compile(content, self.file, "exec", dont_inherit=True)
        with tokenize.open(self.file) as text:
            self.source = text.read()
        loader = SourceFileLoader("__main__", self.file)
        return {"__file__": self.file, "__cached__": None, "__loader__": loader}, code

    def _found(self) -> tuple[dict[str, Any], CodeType]:
        """Find the module as ``python -m`` does; packages that hold it are imported for that."""
        name = self.name if self._module else "__main__"
        spec = importlib.util.find_spec(name) if self._module else self._inside()
        if spec is not None and spec.submodule_search_locations is not None:
            name = f"{name}.__main__"
            spec = importlib.util.find_spec(name)
        loader: Any = spec and spec.loader
        code = loader.get_code(name) if hasattr(loader, "get_code") else None
        if spec is None or code is None:
            raise ImportError(f"No module named {name}, or no code in it", name=name)
        self.file, self.source = code.co_filename, loader.get_source(name) or ""
        if self._module:
            sys.argv[0] = spec.origin or self.file
        return {
            "__file__": spec.origin,
            "__cached__": spec.cached,
            "__loader__": loader,
            "__package__": spec.parent,
            "__spec__": spec,
        }, code

    def _inside(self) -> ModuleSpec | None:
        return PathFinder.find_spec("__main__", [self._path])

    @contextmanager
    def _first_on_path(self) -> Iterator[None]:
        before = list(sys.path)
        if not sys.flags.safe_path:
            sys.path[0] = self._path
        try:
            yield
        finally:
            sys.path[:] = before

    @staticmethod
    def own_traceback(error: BaseException) -> TracebackType | None:
        """Return the traceback of an error as it would be had Python run the program."""
        traceback = error.__traceback__
        while traceback is not None and _is_ours(traceback.tb_frame.f_code.co_filename):
            traceback = traceback.tb_next
        return traceback


def _is_ours(file: str) -> bool:
    return file.startswith((_OURS, "<frozen "))


def _is_text(path: str) -> bool:
    """Return whether a file is a script rather than an archive."""
    with open(path, "rb") as file:
        return not file.read(4).startswith(b"PK")


def _hint(name: str) -> str:
    if name.isidentifier() and importlib.util.find_spec(name) is not None:
        return f"There is a module {name}: use -m {name}."
    folder = os.path.dirname(name) or "."
    if not os.path.isdir(folder):
        return ""
    return close_match(os.path.basename(name), os.listdir(folder)).strip()
