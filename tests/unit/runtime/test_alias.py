import copy
import importlib
import importlib.util
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import mxprof_nb.runtime as mx
from mxprof_nb.errors import ArgumentError, MissingModuleError, NameTakenError
from mxprof_nb.runtime.alias import Registration, register_as
from tests.environment import ROOT, missing

#: Nothing has this name, whatever is installed here.
NAME = "mxnet_for_tests"


@pytest.fixture
def registered() -> Iterator[Registration]:
    registration = register_as(NAME)
    yield registration
    registration.undo()


def run(program: str) -> list[str]:
    """Run a program in which MXNet is not installed, and return the lines that it prints."""
    hidden = """
import sys
from importlib.machinery import PathFinder
class Hiding(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name == "mxnet" else super().find_spec(name, path, target)
sys.meta_path[sys.meta_path.index(PathFinder)] = Hiding
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", hidden + program],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def test_a_program_for_mxnet_runs_as_it_is():
    printed = run("""
import mxprof_nb.runtime
mxprof_nb.runtime.register_as("mxnet")
import mxnet as mx
from mxnet import nd, profiler, random
from mxnet.base import MXNetError
import mxnet.ndarray as ndarray
import mxnet.nd.random, mxnet.engine
print(nd is mx.nd is ndarray is mx.ndarray is mxprof_nb.runtime.nd)
print(nd.ones((2,), ctx=mx.cpu()).asnumpy().sum())
print(MXNetError is mxprof_nb.runtime.MXNetError)
print([int(part) for part in mx.__version__.split(".")])
try:
    from mxnet import nothing_here
except ImportError as error:
    print(error)
""")
    assert printed[:4] == ["True", "2.0", "True", "[1, 9, 1]"]
    assert (
        "has no 'nothing_here'. There are attribute, autograd, base, context, device, eng"
        in printed[4]
    )


def test_where_real_mxnet_is_installed_it_is_left_alone():
    if importlib.util.find_spec("mxnet") is None:
        missing("real MXNet is not installed here")
    if "mxnet" in sys.modules:
        pytest.skip("real MXNet was imported by another test")
    with pytest.raises(NameTakenError, match=r"'mxnet' is installed \(.*so `import mxnet` gives"):
        register_as("mxnet")
    assert "mxnet" not in sys.modules


@pytest.mark.parametrize("file", ["__init__.py", "notes.txt"])
def test_a_package_or_folder_of_that_name_is_left_alone(file: str, tmp_path: Path, monkeypatch):
    (tmp_path / "pretender").mkdir()
    (tmp_path / "pretender" / file).write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(NameTakenError, match=r"is installed \(.*pretender"):
        register_as("pretender")


def test_what_is_imported_already_is_left_alone():
    with pytest.raises(NameTakenError, match=r"'json' is imported already \(.*json"):
        register_as("json")


@pytest.mark.parametrize("name", ["", "mx.nd", "my-mxnet"])
def test_a_name_must_be_one_word(name: str):
    with pytest.raises(ArgumentError, match="cannot be the name of a package"):
        register_as(name)


@pytest.mark.usefixtures("registered")
def test_modules_are_those_of_the_runtime_and_stay_as_they_are():
    ours = [name for name in sys.modules if name.startswith("mxprof_nb.")]
    before = [(sys.modules[name], sys.modules[name].__spec__) for name in ours]
    assert importlib.import_module(NAME) is mx
    assert importlib.import_module(f"{NAME}.nd.linalg") is mx.nd.linalg
    assert importlib.import_module(f"{NAME}.profiler") is mx.profiler
    assert [(sys.modules[name], sys.modules[name].__spec__) for name in ours] == before


@pytest.mark.usefixtures("registered")
def test_a_specification_is_found_for_what_there_is():
    assert importlib.util.find_spec(NAME) is mx.__spec__
    found = importlib.util.find_spec(f"{NAME}.nd")
    assert found is not None
    assert found.name == f"{NAME}.nd"
    with pytest.raises(MissingModuleError):
        importlib.util.find_spec(f"{NAME}.nothing_here")


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("from {} import profilr", "Did you mean 'profiler'?"),
        ("import {}.no_such", "No '{}.no_such': the embedded runtime, which stands in for {} here"),
        ("from {0} import nd, no_such", "No '{0}.no_such'"),
        ("import {}.nd.no_such.deeper", "No '{}.nd.no_such'"),
    ],
)
def test_what_is_missing_is_named(statement: str, told: str):
    with pytest.raises(ImportError) as caught:
        exec(statement.format(NAME), {})
    assert isinstance(caught.value, MissingModuleError)
    assert told.format(NAME, NAME) in str(caught.value)


@pytest.mark.usefixtures("registered")
def test_a_module_that_the_runtime_gets_later_can_be_imported_by_itself(monkeypatch, tmp_path):
    later = tmp_path / "later"
    (later / "inner").mkdir(parents=True)
    (later / "__init__.py").write_text("")
    (later / "inner" / "__init__.py").write_text("from . import deep\nvalue = 3\n")
    (later / "inner" / "deep.py").write_text("")
    monkeypatch.setattr(mx, "__path__", [*mx.__path__, str(tmp_path)])
    scope: dict = {}
    exec(f"from {NAME} import later; from {NAME}.later.inner import value, deep", scope)
    assert scope["value"] == 3
    assert scope["later"] is sys.modules["mxprof_nb.runtime.later"]
    assert isinstance(scope["deep"], ModuleType)
    for name in [name for name in sys.modules if ".later" in name]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr(mx, "later")


def test_pickles_name_the_real_place():
    with register_as(NAME):
        other = importlib.import_module(NAME)
        packed = pickle.dumps([other.nd.ones((2,)), other.cpu(1), other.MXNetError("no")])
    assert NAME.encode() not in packed
    array, device, error = pickle.loads(packed)
    assert (array.asnumpy().tolist(), device, str(error)) == ([1, 1], mx.cpu(1), "no")
    assert copy.deepcopy(device) is device


def test_after_the_block_the_name_is_forgotten():
    finders = list(sys.meta_path)
    with register_as(NAME) as given:
        assert given is mx
        importlib.import_module(f"{NAME}.base")
    assert sys.meta_path == finders
    assert not [name for name in sys.modules if name.startswith(NAME)]
    with pytest.raises(ModuleNotFoundError, match=f"No module named '{NAME}'"):
        importlib.import_module(NAME)


def test_a_second_registration_changes_nothing_and_undoes_nothing():
    with register_as(NAME) as given:
        finders = list(sys.meta_path)
        with register_as(NAME) as again:
            assert again is given
            assert sys.meta_path == finders
        assert importlib.import_module(NAME) is mx
        register_as(NAME).undo()
        assert importlib.import_module(NAME) is mx


def test_undoing_twice_is_undoing_once(registered: Registration):
    registered.undo()
    registered.undo()
    assert NAME not in sys.modules
