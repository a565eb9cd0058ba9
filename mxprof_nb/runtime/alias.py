"""`register_as`: the embedded runtime under another package's name, where that is not installed.

A program that says ``import mxnet as mx`` then runs as it is. What the name gives is the runtime
itself, so classes and functions are the same under both names, and a pickle names the real place.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from types import ModuleType

from mxprof_nb.errors import ArgumentError, MissingModuleError, NameTakenError

__all__ = ["Registration", "register_as"]

RUNTIME = __name__.rpartition(".")[0]


class Registration:
    """A name under which the runtime can be imported, until `undo` or the end of a ``with`` block.

    Attributes
    ----------
    name : str
    """

    def __init__(self, name: str, finders: tuple[_Finder, _Last] | None = None) -> None:
        self.name = name
        self._finders = finders

    def __repr__(self) -> str:
        return f"<Registration: import {self.name} gives {RUNTIME}>"

    def __enter__(self) -> ModuleType:
        return sys.modules[RUNTIME]

    def __exit__(self, *error: object) -> None:
        self.undo()

    def undo(self) -> None:
        """Forget the name; what was imported by it stays usable. The second time does nothing."""
        finders, self._finders = self._finders, None
        if finders is None:
            return
        for finder in finders:
            sys.meta_path.remove(finder)
        for name in [name for name in sys.modules if finders[0].answers(name)]:
            del sys.modules[name]


def register_as(name: str = "mxnet") -> Registration:
    """Let ``import mxnet as mx`` give the embedded runtime.

    Parameters
    ----------
    name : str
        Name of a package that is not installed.

    Returns
    -------
    Registration
        For those who want to undo it; also a context manager that gives the runtime. When the
        name was registered before, this one has nothing to undo.

    Raises
    ------
    NameTakenError
        A package of that name is imported or installed: then ``import`` gives that one.
    ArgumentError
        The name is none that can be imported.

    Notes
    -----
    Every module of the runtime can be imported below the name; one that it does not have raises
    `mxprof_nb.errors.MissingModuleError`, an ImportError, which says so. Processes started by
    ``spawn`` have to register it again. ``mxnet.__version__`` is the version whose behaviour the
    runtime follows.

    Examples
    --------
    >>> with register_as("mxnet_in_small"):
    ...     from mxnet_in_small import nd
    >>> nd.ones((2,)).asnumpy()
    array([1., 1.], dtype=float32)
    """
    if not name.isidentifier():
        raise ArgumentError(
            f"{name!r} cannot be the name of a package; give one word, e.g. 'mxnet'."
        )
    if any(isinstance(finder, _Finder) and finder.name == name for finder in sys.meta_path):
        return Registration(name)
    if sys.modules.get(name) is not None:
        raise NameTakenError.by(name, "is imported already", _origin(sys.modules[name].__spec__))
    if (found := importlib.util.find_spec(name)) is not None:
        raise NameTakenError.by(name, "is installed", _origin(found))
    finder, last = _Finder(name), _Last(name)
    # Before the others: they would load modules of the runtime a second time, by its folder.
    sys.meta_path.insert(0, finder)
    sys.meta_path.append(last)
    sys.modules[name] = sys.modules[RUNTIME]
    return Registration(name, (finder, last))


def _origin(spec: ModuleSpec | None) -> str:
    """Return where a package comes from; a folder without ``__init__.py`` is one, too."""
    if spec is None:
        return ""
    return spec.origin or ", ".join(spec.submodule_search_locations or ())


class _Finder:
    """Answers for all modules below a name with those of the runtime."""

    def __init__(self, name: str) -> None:
        self.name = name

    def answers(self, fullname: str) -> bool:
        return fullname == self.name or fullname.startswith(f"{self.name}.")

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not self.answers(fullname):
            return None
        return ModuleSpec(fullname, _Loader(self._real(fullname)))

    def _real(self, fullname: str) -> ModuleType:
        module = sys.modules[RUNTIME]
        for child in fullname.split(".")[1:]:
            found = getattr(module, child, None)
            if not isinstance(found, ModuleType):
                found = _submodule(module, child)
            if found is None:
                raise MissingModuleError.below(self.name, fullname, child, _public(module))
            module = found
        return module


class _Last:
    """Asked when nobody has found a module; tells of those that the runtime does not have.

    ``from mxnet import gluon`` looks for gluon below the real name of the package.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> None:
        package, _, child = fullname.rpartition(".")
        if package == RUNTIME:
            known = _public(sys.modules[RUNTIME])
            raise MissingModuleError.below(self.name, f"{self.name}.{child}", child, known)


class _Loader(Loader):
    """Hands out a module that is loaded already, and leaves it as it is."""

    def __init__(self, module: ModuleType) -> None:
        self._module, self._spec = module, module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec  # the import system has put that of the other name there


def _submodule(module: ModuleType, child: str) -> ModuleType | None:
    """Return a module of a package that was not imported yet."""
    name = f"{module.__name__}.{child}"
    try:
        found = hasattr(module, "__path__") and importlib.util.find_spec(name)
    except MissingModuleError:
        return None
    return importlib.import_module(name) if found else None


def _public(module: ModuleType) -> list[str]:
    names = getattr(module, "__all__", ())
    return sorted(name for name in names if isinstance(getattr(module, name, None), ModuleType))
