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
