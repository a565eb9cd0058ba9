"""What names mean: every name that the runtime records, or MXNet 1.9.1 does, has a sentence."""

import json
import re
import sys

import pytest

import mxprof_nb as mp
from mxprof_nb.errors import UnknownNameError
from mxprof_nb.runtime.ops import operator_names
from mxprof_nb.trace import TraceBuilder
from mxprof_nb.trace.schema import CATEGORIES
from mxprof_nb.view import report
from mxprof_nb.view.glossary import glossary, meaning
from mxprof_nb.view.meanings import MEANINGS
from mxprof_nb.view.scene import Stage
from mxprof_nb.view.tables import grids
from tests.environment import run
from tests.traces import dot_cell

#: A process of its own, so that it finds the runtime's labels and not those of other tests.
COLLECT = """
import json
import mxprof_nb as mp
import mxprof_nb.runtime as mx
from mxprof_nb.record import RECORDER

with mp.profile() as p:
    x = mx.nd.array([[1.0, 2.0], [3.0, 4.0]])
    y = (x[0] + x[0:1].reshape((2,)) * 2).copyto(mx.cpu(1))
    mx.random.seed(3)
    z = mx.nd.random_uniform(shape=(2,)).sum() + mx.nd.stack(x, x).mean()
    with mx.engine.bulk(3):
        z = z + 1 - 2
    z.context, z.wait_to_read(), y.asnumpy()
    mx.engine.push(lambda: None, name="mine")
    del x, y, z
    mx.nd.waitall()
table = RECORDER.labels
labels = [table[number] for number in range(len(table))]
print(json.dumps({
    "labels": sorted({l.name for l in labels if l.category != "user" and l.name != "mine"}),
    "counters": sorted(set(p.counters.name)),
    "domains": sorted({l.domain for l in labels} | set(p.counters.track_name)),
}))
"""


@pytest.fixture(scope="module")
def recorded() -> dict[str, list[str]]:
    found: dict[str, list[str]] = json.loads(run(sys.executable, "-c", COLLECT))
    return found


def test_every_label_of_the_runtime_has_a_sentence(recorded):
    assert {"MXEnginePushSync", "ResourceRandomSetSeed", "DeleteVariable", "ImperativeBulk"} <= {
        *recorded["labels"]
    }
    assert [name for name in recorded["labels"] if not meaning(name)] == []


def test_every_counter_and_domain_of_the_runtime_has_a_sentence(recorded):
    assert {"Memory: cpu/1", "MXNet C API Calls"} <= {*recorded["counters"]}
    assert [name for name in recorded["counters"] if not meaning(name)] == []
    ours = [name for name in recorded["domains"] if not name.startswith(("cpu/", "Memory"))]
    assert [name for name in ours if not (meaning(name))] == []


def test_every_name_that_mxnet_records_has_a_sentence(shared_dir):
    told = (shared_dir / "golden/mxnet/event_names.txt").read_text()
    names = set(re.findall(r"\w+\|(.+?) x\d+", told))
    assert len(names) > 80
    assert [name for name in sorted(names) if not meaning(name)] == []


def test_every_category_and_every_heading_has_a_sentence():
    assert set(CATEGORIES) == MEANINGS["category"].keys()
    found = grids(dot_cell())
    assert {grid.title for grid in found} >= {"Operators", "Waits", "Memory"}
    for grid in found:
        assert all(grid.heading_meanings[1:]), grid.headings


@pytest.mark.parametrize("term", ["launch latency", "busy", "wait", "self time"])
def test_the_words_of_the_view_are_explained(term):
    assert glossary(term).endswith(".")


def test_an_operator_is_explained_by_its_own_sentence():
    assert glossary("dot") == operator_names()["dot"].doc


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("_backward_FullyConnected", "Gradient of FullyConnected"),
        ("[FullyConnected,Activation]", "run as one"),
        ("MyAddOne::pure_python", "Python code of MyAddOne"),
        ("_backward_MyAddOne::CopyCPU2CPU", "the gradient of MyAddOne"),
        ("Memory: cpu/3", "cpu/3"),
        ("Memory: cpu/0 encoder:", "scope encoder:"),
    ],
)
def test_names_made_of_others_follow_from_a_rule(name, told):
    assert told in glossary(name)


def test_an_unknown_name_is_answered_with_the_closest():
    with pytest.raises(UnknownNameError, match="Did you mean 'MXNDArrayWaitAll'"):
        glossary("MXNDArrayWaitAl")
    with pytest.raises(LookupError, match="glossary"):
        glossary("")


def test_the_whole_is_a_frame_of_names_kinds_and_sentences():
    frame = mp.glossary()
    assert list(frame.columns) == ["name", "kind", "sentence"]
    assert frame.name.is_unique
    assert set(operator_names()) <= set(frame.name[frame.kind == "operator"])
    one_sentence = frame.sentence.str.fullmatch(r".*[^.]\.", flags=re.DOTALL)
    assert list(frame.sentence[~one_sentence]) == []
    assert frame.sentence.str.len().max() < 150


def test_hover_says_what_a_name_means_in_short_lines():
    scene = Stage(dot_cell()).scene()
    hover = [text for bars in scene.bars for text in bars.hover]
    (waited,) = {text for text in hover if text.startswith("<b>MXNDArraySyncCopyToCPU</b>")}
    assert waited.replace("</i><br><i>", " ").endswith(
        f"<i>{meaning('MXNDArraySyncCopyToCPU')}</i>"
    )
    assert max(len(line) for line in waited.split("<br>")) < 75


def test_tables_say_what_a_name_means_beside_the_pointer():
    page = report.html(dot_cell())
    assert f'title="{meaning("MXNDArraySyncCopyToCPU")}"' in page
    assert f'title="{meaning("self time")}"' in page


def test_what_another_producer_called_alike_is_not_explained():
    # "sum" of a domain that is not MXNet's may be anything.
    builder = TraceBuilder()
    track = builder.track("t", role="worker")
    builder.event("sum", track=track, start_ns=0, dur_ns=5, category="operator", domain="cuda")
    trace = builder.build()
    assert meaning("sum")
    (bars,) = Stage(trace).scene().bars
    assert meaning("sum") not in bars.hover[0]
    assert [grid.meanings for grid in grids(trace)] == [("",)]


def test_a_sentence_cannot_break_out_of_its_attribute(monkeypatch):
    monkeypatch.setitem(MEANINGS["call"], "MXNDArraySyncCopyToCPU", '"><script>')
    page = report.html(dot_cell())
    assert "<script>" not in page
    assert 'title="&quot;&gt;&lt;script&gt;"' in page
    hover = "".join(t for bars in Stage(dot_cell()).scene().bars for t in bars.hover)
    assert "<script>" not in hover
