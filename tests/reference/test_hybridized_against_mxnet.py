"""Hybridized blocks: real MXNet's against ours, what they compute, write, and show in profiles."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.reference.agreement import alike
from tests.reference.conftest import Runtimes
from tests.reference.gluon_programs import CONTAINERS, LAYERS, LOSSES, START, training
from tests.reference.hybrid_programs import GOLDEN, MODES, counted
from tests.reference.test_gluon_against_mxnet import random_network

#: Options of `hybridize` that are tried in turn.
OPTIONS = ["", "static_alloc=True", "static_alloc=True, static_shape=True"]

#: A layer or loss on the arrays, twice forward and backward, with other data in between.
HYBRID = """
net.initialize()
if hasattr(net, "hybrid_forward"):
    net.hybridize({options})
net(*arrays)
fill(net)
for round in range(2):
    for each in arrays:
        if each is not None:
            each.attach_grad()
    with autograd.record():
        y = net(*arrays)
    y.backward()
    show(y)
    show(arrays[0].grad)
    learn(net)
    show(net(*arrays))
"""


def both(runtimes: Runtimes, program: str, tolerance: float = 2e-5) -> None:
    expected, found = runtimes.real().run(START + program), runtimes.ours().run(START + program)
    assert not expected.error, f"{program}\n{expected}"
    assert not found.error, f"{program}\n{found}"
    alike(found.values, expected.values, program, tolerance)


@pytest.mark.parametrize("told", LAYERS)
def test_hybridized_layers_agree(told, runtimes):
    made, shape = LAYERS[told]
    options = OPTIONS[sorted(LAYERS).index(told) % 3]
    both(runtimes, f"net, arrays = {made}, [values({shape}, 1)]" + HYBRID.format(options=options))


@pytest.mark.parametrize("told", LOSSES)
def test_hybridized_losses_agree(told, runtimes):
    made, arrays = LOSSES[told]
    options = OPTIONS[sorted(LOSSES).index(told) % 3]
    both(
        runtimes,
        f"net, arrays = gluon.loss.{made}, [{arrays}]" + HYBRID.format(options=options),
    )


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("told", CONTAINERS)
def test_hybridized_networks_learn_alike(told, options, runtimes):
    made = training(CONTAINERS[told]).replace("net.summary(x)\n", "")
    program = made.replace("x, labels =", f"net.hybridize({options})\nx, labels =", 1)
    both(runtimes, program, tolerance=1e-4)


# Files


EXPORT = """
net.initialize()
net.hybridize()
x = values(shape, 1)
net(x)
fill(net)
show(net(x))
net.export(FILE, epoch=3)
"""

IMPORT = """
x = values({shape}, 1)
net = gluon.SymbolBlock.imports(FILE + "-symbol.json", ["data"], FILE + "-0003.params")
show(net(x))
x.attach_grad()
with autograd.record():
    y = net(x)
y.backward()
show(x.grad)
for param in net.collect_params().values():
    if param.grad_req != "null":
        show([param.name, param.grad()])
"""


def exported(told: str) -> tuple[str, tuple[int, ...]]:
    """Return the program that makes a network, and the shape of its data."""
    made = CONTAINERS[told] if told in CONTAINERS else random_network(int(told))
    made = made.replace("nn.Sequential()", "nn.HybridSequential()")
    namespace: dict[str, tuple[int, ...]] = {}
    exec(next(line for line in made.splitlines() if line.startswith("shape")), namespace)
    return made, namespace["shape"]


@pytest.mark.parametrize("told", [*CONTAINERS, *map(str, range(12))])
def test_either_reads_what_the_other_exports(told, runtimes, tmp_path):
    made, shape = exported(told)
    values = []
    for number, (writer, reader) in enumerate(
        (
            (runtimes.real(), runtimes.real()),
            (runtimes.real(), runtimes.ours()),
            (runtimes.ours(), runtimes.real()),
            (runtimes.ours(), runtimes.ours()),
        )
    ):
        name = f"FILE = {str(tmp_path / str(number))!r}\n"
        written = writer.run(START + name + made + EXPORT)
        assert not written.error, f"{made}\n{written}"
        read = reader.run(START + name + IMPORT.format(shape=shape))
        assert not read.error, f"{made}\n{read}"
        values.append([*written.values, *read.values])
    for each in values[1:]:
        alike(each, values[0], told, 1e-3)


@pytest.mark.parametrize("told", CONTAINERS)
def test_what_is_exported_has_the_same_nodes(told, runtimes, tmp_path):
    made, _ = exported(told)
    graphs = []
    for name, runtime in (("real", runtimes.real()), ("ours", runtimes.ours())):
        file = tmp_path / name
        assert not runtime.run(START + f"FILE = {str(file)!r}\n" + made + EXPORT).error
        graphs.append(json.loads(Path(f"{file}-symbol.json").read_text()))
    real, ours = graphs
    assert [(node["op"], node["name"], node["inputs"]) for node in ours["nodes"]] == [
        (node["op"], node["name"], node["inputs"]) for node in real["nodes"]
    ]
    assert ours["heads"] == real["heads"]


# Profiles

#: Rows that are left out, each with its cause.
DIFFERENT = {
    "DeleteVariable": "Python drops arrays elsewhere than MXNet's C++",
    "_zeros_without_dtype": "MXNet's Pooling has a hidden second result, whose gradient is zeros",
    "WaitForVar": "whether a wait blocks is a matter of time",
}
CALLS = ("MXInvokeCachedOp", "MXInvokeCachedOpEx", "MXImperativeInvokeEx", "MXAutogradBackwardEx")
#: Cut from a name where MXNet cut it, and cannot be compared beyond.
LONGEST = 127


def plain(counts: Mapping[str, int]) -> Counter[str]:
    """Return counts without what differs; names as they would be without zeros for Pooling."""
    found: Counter[str] = Counter()
    for name, count in counts.items():
        told = ",".join(each for each in name.split(",") if each != "_zeros_without_dtype")
        if told and name not in DIFFERENT:
            found[told[:80]] += count
    return found


def golden_counts(file: Path) -> tuple[Counter[str], Counter[str]]:
    events = json.loads(file.read_text())["traceEvents"]
    operators = Counter(e["name"] for e in events if e["ph"] == "B" and e["cat"] == "operator")
    calls = Counter(
        e["name"] for e in events if e["ph"] == "b" and e["cat"] == "MXNET_C_API"
    )
    return operators, calls


RECORDED = [name for name in GOLDEN if "hyb0" not in name]


@pytest.mark.parametrize("told", RECORDED)
def test_profiles_of_hybridized_blocks_have_the_recorded_counts(
    told, golden, runtimes, tmp_path
):
    file = golden / "bulk" / f"{told}.json"
    if not file.exists():
        pytest.skip("not recorded with real MXNet")
    work, mode, environment, statistics = GOLDEN[told]
    program = counted(work, mode, str(tmp_path / "ours.json"), statistics=statistics)
    outcome = runtimes.ours(**environment).run(program)
    assert not outcome.error, outcome
    operators, calls = json.loads(outcome.values[0])
    expected, expected_calls = golden_counts(file)
    assert {name: calls.get(name, 0) for name in CALLS} == {
        name: expected_calls.get(name, 0) for name in CALLS
    }
    assert plain(operators) == plain(expected)
