"""What an import costs, and what a public name means after every import."""

import sys
from pathlib import Path

import pytest

from tests.environment import run


@pytest.mark.parametrize(
    ("module", "allowed"),
    [("mxprof_nb", {"numpy"}), ("mxprof_nb.runtime", {"numpy", "threadpoolctl"})],
)
def test_an_import_loads_nothing_heavier_than_numpy(module: str, allowed: set[str]):
    program = f"""
import sys
before = set(sys.modules)
import {module}
print(*sorted({{name.partition(".")[0] for name in set(sys.modules) - before}}))
"""
    loaded = set(run(sys.executable, "-c", program).split()) - set(sys.stdlib_module_names)
    # Cython, which NumPy is built with, registers helper modules under names of its own.
    ours = {name for name in loaded if not name.lstrip("_").startswith("cython")}
    assert ours - {"mxprof_nb"} <= allowed


def test_no_public_name_is_lost_to_a_submodule_of_that_name():
    # Importing a submodule binds its name in the package, over whatever had that name.
    program = """
import importlib, pkgutil
import mxprof_nb

found = list(pkgutil.walk_packages(mxprof_nb.__path__, "mxprof_nb."))
packages = [mxprof_nb, *(importlib.import_module(info.name) for info in found if info.ispkg)]
public = [(p, name, getattr(p, name)) for p in packages for name in getattr(p, "__all__", ())]
for info in found:
    if not info.name.endswith("__main__"):
        importlib.import_module(info.name)
for package, name, value in public:
    assert getattr(package, name) is value, f"{package.__name__}.{name} is now a module"
"""
    run(sys.executable, "-c", program)


def test_the_layer_contracts_hold():
    run(Path(sys.executable).with_name("lint-imports"), "--no-cache")
