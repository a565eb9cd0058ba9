"""Names in `mx.nd`: what real MXNet has is here, or said to be absent."""

from __future__ import annotations

import inspect
import re
from operator import attrgetter

import pytest

import mxprof_nb.runtime as mx
from mxprof_nb.runtime import absent
from mxprof_nb.runtime.gluon.absent import ABSENT as GLUON_ABSENT
from mxprof_nb.runtime.nd.absent import ABSENT
from tests.reference.conftest import Runtimes

pytestmark = pytest.mark.reference

#: How MXNet is built inside, and its other array library.
WORKINGS = {
    "CachedOp",
    "fill_element_0index",
    "get_indexing_dispatch_code",
    "get_oshape_of_gather_nd_op",
    "indexing_key_expand_implicit_axes",
    "ndarray",
    "np",
    "npx",
    "numpy",
    "numpy_extension",
    "op",
    "register",
    "utils",
}


def test_every_name_is_here_or_said_to_be_absent(runtimes: Runtimes):
    theirs = {name for name in runtimes.real().get("dir(mx.nd)") if name[0] != "_"}
    unknown = theirs - {*dir(mx.nd)} - ABSENT - WORKINGS
    assert {name for name in unknown if not name.startswith(("gen_", "linalg_"))} == set()
    assert theirs >= ABSENT | WORKINGS


def test_every_function_of_symbols_is_here_or_said_to_be_absent(runtimes: Runtimes):
    theirs = {name for name in runtimes.real().get("dir(mx.sym)") if name[0] != "_"}
    unknown = {name for name in theirs - ABSENT - WORKINGS if not hasattr(mx.sym, name)}
    assert {name for name in unknown if not name.startswith(("gen_", "linalg_"))} == set()
    assert {*mx.sym.__all__} - theirs == {"fromjson"}  # MXNet 2 has it
    for name in ("linalg", "image"):
        part = getattr(mx.sym, name)
        assert {*part.__all__} <= {*runtimes.real().get(f"dir(mx.sym.{name})")}


def test_symbols_have_the_methods_of_those_of_mxnet(runtimes: Runtimes):
    theirs = {name for name in runtimes.real().get("dir(mx.sym.Symbol)") if name[0] != "_"}
    lacking = {name for name in theirs if not hasattr(mx.sym.var("x"), name)}
    assert lacking == {
        # What arrays can do, which raise an error there too.
        *("as_in_context", "asnumpy", "asscalar", "backward", "copy", "detach", "gradient"),
        "wait_to_read",
        # Workings, other back ends and the other array library.
        *("as_nd_ndarray", "as_np_ndarray", "get_backend_symbol", "handle", "optimize_for"),
    }


def test_every_module_said_to_be_absent_is_one_that_mxnet_has(runtimes: Runtimes):
    assert set(runtimes.real().get("dir(mx)")) >= absent.ABSENT


@pytest.mark.parametrize("module", [*GLUON_ABSENT])
def test_every_name_of_a_network_is_here_or_said_to_be_absent(module, runtimes: Runtimes):
    ours = attrgetter(module)(mx)
    theirs = {name for name in runtimes.real().get(f"dir(mx.{module})") if name[0] != "_"}
    own = {name for name in theirs if hasattr(ours, name)}
    assert not own & GLUON_ABSENT[module]
    assert theirs >= GLUON_ABSENT[module]
    if module in ("gluon.loss", "gluon.nn"):  # classes; the others import what is not theirs
        classes = {name for name in theirs if name[0].isupper()} - {"HybridBlock"}
        assert classes - own == GLUON_ABSENT[module]


def test_what_mxnet_requires_has_no_default_here(runtimes: Runtimes):
    # None stands for no default where a parameter with one comes before.
    checked = 0
    for name, function in inspect.getmembers(mx.nd, inspect.isfunction):
        told = runtimes.real().get(f"getattr(mx.nd, {name!r}, None).__doc__") or ""
        own = inspect.signature(function).parameters
        for parameter in re.findall(r"^(\w+) : [^\n]*, required$", told, re.MULTILINE):
            if parameter in own and (name, parameter) != ("UpSampling", "sample_type"):
                assert own[parameter].default in (None, inspect.Parameter.empty), (name, parameter)
                checked += 1
    assert checked > 30


#: What those who train call, and what MXNet's modules import besides.
TRAINING = {"optimizer": {"NDabs"}, "lr_scheduler": set(), "metric": {"NDArray", "OrderedDict"}}


@pytest.mark.parametrize("module", TRAINING)
def test_every_name_of_training_is_here_or_said_to_be_absent(module, runtimes: Runtimes):
    ours = getattr(mx, module)
    lacking: frozenset[str] = getattr(ours, "ABSENT", frozenset())
    theirs = {name for name in runtimes.real().get(f"dir(mx.{module})") if name[0] != "_"}
    assert theirs >= lacking
    assert not {name for name in lacking if hasattr(ours, name)}
    classes = {name for name in theirs if name[0].isupper()} - TRAINING[module]
    assert {name for name in classes if not hasattr(ours, name)} == {
        name for name in lacking if name[0].isupper()
    }


#: Asks for the names and defaults of what the class of a name is made with.
SIGNATURE = (
    "[[p.name, p.default] for p in __import__('inspect').signature(mx.{}).parameters.values()]"
)


def test_optimisers_schedules_metrics_and_trainers_are_made_as_in_mxnet(runtimes: Runtimes):
    names = [
        f"{module}.{name}"
        for module in TRAINING
        for name in getattr(mx, module).__all__
        if inspect.isclass(getattr(getattr(mx, module), name)) and name != "ccSGD"  # *args there
    ]
    assert len(names) > 30
    for name in [*names, "gluon.Trainer", "optimizer.create", "metric.create", "metric.np"]:
        parameters = inspect.signature(attrgetter(name)(mx)).parameters.values()
        ours = [[each.name, each.default] for each in parameters]
        theirs = runtimes.real().get(SIGNATURE.format(name))
        assert [plain(each) for each in ours] == [plain(each) for each in theirs], name


def plain(parameter: list[object]) -> list[object]:
    name, default = parameter
    return [name, "none" if "_empty" in str(default) else default]
