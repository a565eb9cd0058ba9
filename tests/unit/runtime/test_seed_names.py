"""The two documents that people learn MXNet's profiler from: their names exist, programs run."""

from __future__ import annotations

import html
import json
import re
from functools import reduce
from pathlib import Path

import pytest

import mxprof_nb.runtime as mx

#: Every name under ``mxnet`` that their programs use.
NAMES = {
    "autograd",
    "autograd.record",
    "context.num_gpus",
    "cpu",
    "gluon",
    "gluon.Trainer",
    "gluon.data.DataLoader",
    "gluon.data.vision.MNIST",
    "gluon.data.vision.transforms",
    "gluon.data.vision.transforms.ToTensor",
    "gluon.loss.SoftmaxCrossEntropyLoss",
    "gluon.nn",
    "gluon.nn.Activation",
    "gluon.nn.Conv2D",
    "gluon.nn.Dense",
    "gluon.nn.Dropout",
    "gluon.nn.Flatten",
    "gluon.nn.HybridSequential",
    "gluon.nn.MaxPool2D",
    "gpu",
    "init.Xavier",
    "nd",
    "nd.Custom",
    "nd.array",
    "nd.diag",
    "nd.dot",
    "nd.random_uniform",
    "nd.sum",
    "nd.waitall",
    "nd.zeros",
    "operator.CustomOp",
    "operator.CustomOpProp",
    "operator.register",
    "profiler",
    "profiler.dump",
    "profiler.dumps",
    "profiler.set_config",
    "profiler.set_state",
    "sym.var",
    "symbol.Custom",
    "symbol.Variable",
}

#: What networks, symbols and operators written in Python will bring.
LATER = ("operator", "symbol.Custom")


def is_later(name: str) -> bool:
    return any(name == one or name.startswith(f"{one}.") for one in LATER)


def documents(folder: Path) -> list[list[str]]:
    """Return the Python programs of each document, as far as its text keeps them."""
    page, notebook = (path.read_text("utf-8") for path in sorted(folder.glob("*.txt")))
    # The page is HTML in a table of one column, which took the indentation.
    text = re.sub(r"^\| ?(.*?) ?\|$", r"\1", page, flags=re.MULTILINE)
    blocks = re.findall(r"<pre[^>]*>(.*?)</pre>", text, re.DOTALL)
    shown = [html.unescape(re.sub(r"<[^>]+>", "", block)) for block in blocks]
    # The notebook has its programs in its texts, behind a line that says where it was.
    cells = json.loads(notebook[notebook.index("{\n") : notebook.rindex("}") + 1])["cells"]
    fenced = [
        program
        for cell in cells
        for program in re.findall(r"```python *\n(.*?)```", "".join(cell["source"]), re.DOTALL)
    ]
    return [[block for block in shown if "import mxnet" in block], fenced]


def names_in(programs: list[str]) -> set[str]:
    """Return the names under ``mxnet`` that programs use one after the other."""
    text = re.sub(r"#.*|'[^'\n]*'|\"[^\"\n]*\"", "", "\n".join(programs))
    known = {"mx": ""}
    found = set()
    for module, imported in re.findall(r"from mxnet([.\w]*) import (.+)", text):
        for name in imported.replace(" ", "").split(","):
            known[name] = f"{module}.{name}".lstrip(".")
            found.add(known[name])
    for first, rest in re.findall(r"(?<![.\w])(\w+)((?:\.\w+)+)", text):
        if first in known:
            found.add(f"{known[first]}{rest}".lstrip("."))
    return found


@pytest.fixture(scope="module")
def seeds(shared_dir) -> list[list[str]]:
    return documents(shared_dir / "seeds")


def test_the_list_holds_the_names_that_the_programs_use(seeds):
    assert set().union(*map(names_in, seeds)) == NAMES


@pytest.mark.parametrize("name", sorted(name for name in NAMES if not is_later(name)))
def test_a_name_of_the_documents_exists(name):
    assert reduce(getattr, name.split("."), mx) is not None


@pytest.mark.parametrize("name", ["as_in_context", "asnumpy", "shape"])
def test_an_array_has_what_the_programs_ask_of_it(name):
    assert hasattr(mx.nd.NDArray, name)


def test_a_device_goes_by_either_of_its_names():
    for made in (mx.nd.zeros((16, 10), ctx=mx.cpu()), mx.nd.zeros((16, 10), device=mx.cpu())):
        assert made.context == mx.cpu()


def as_ours(program: str) -> str:
    """Return a program as written but for its imports."""
    ours = re.sub(r"^import mxnet as mx$", "import mxprof_nb.runtime as mx", program, flags=re.M)
    return re.sub(r"^from mxnet(?=[. ])", "from mxprof_nb.runtime", ours, flags=re.MULTILINE)


def run(program: str) -> None:
    exec(compile(as_ours(program), "<seed>", "exec"), {})


def count_of(table: str, name: str) -> int:
    (row,) = re.findall(rf"^{name} +(\d+) ", table, re.MULTILINE)
    return int(row)


@pytest.mark.usefixtures("fresh_profiler")
@pytest.mark.parametrize(("place", "times"), [(1, 1), (2, 2)])
def test_the_programs_about_one_and_two_runs_print_what_they_should(
    place, times, seeds, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    run(seeds[0][place])
    table = capsys.readouterr().out
    for name in ("diag", "sum", "MXNDArraySyncCopyFromCPU"):
        assert count_of(table, name) == times
    assert count_of(table, "MXImperativeInvokeEx") == 2 * times
    events = json.loads(Path("trace_profile.json").read_text())["traceEvents"]
    begun = [event for event in events if event.get("name") == "diag" and event["ph"] == "B"]
    assert len(begun) == times


def test_the_program_about_asynchrony_runs(seeds, capsys):
    run(seeds[1][0])
    assert re.findall(r"Time for [\w ]+: \d", capsys.readouterr().out) != []


@pytest.mark.usefixtures("fresh_profiler")
def test_the_cells_that_only_profile_run_one_after_the_other(seeds, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    cells = [cell for cell in seeds[1] if names_of_objects(cell) == {"profiler"}]
    assert len(cells) == 3
    run("from mxnet import profiler\n" + "\n".join(cells))
    assert "Profile Statistics" in capsys.readouterr().out
    assert "traceEvents" in json.loads(Path("profile_output.json").read_text())


def names_of_objects(cell: str) -> set[str]:
    """Return the names that a cell takes something from or calls, but for built-in ones."""
    code = re.sub(r"#.*|'[^'\n]*'", "", cell)
    return set(re.findall(r"(?<![.\w])(\w+)[.(]", code)) - {"print"}
