"""Bulks of the backward pass and of graphs: what the environment says, what profiles show."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mxprof_nb as mp
import mxprof_nb.runtime as mx
from mxprof_nb.analysis import domain_tables, launch_latency, op_summary
from mxprof_nb.errors import EngineError, OperatorError
from mxprof_nb.record import RECORDER, freeze
from mxprof_nb.runtime.engine import default_engine
from mxprof_nb.runtime.engine.bulking import backward_size, forward_size, is_bulked
from mxprof_nb.runtime.graph import Program, Step, in_bulks, in_segments, run
from mxprof_nb.runtime.ops import aval, spec
from mxprof_nb.trace import Meta, Trace

nd, autograd, engine = mx.nd, mx.autograd, mx.engine
PREFIX = "MXNET_EXEC_BULK_EXEC_"


def recorded(program: Callable[[], object]) -> Trace:
    nd.waitall()
    recording = RECORDER.start()
    try:
        program()
        default_engine().observe()
    finally:
        recording.stop()
    return freeze(recording, Meta())


def names(trace: Trace) -> list[str]:
    frame = trace.frame()
    return frame[frame.category == "operator"].sort_values("start_ns").name.astype(str).tolist()


def chain(*operators: str) -> Program:
    """A program of operators of one input each."""
    one = aval((2,), np.dtype("float32"))
    steps = [
        Step(spec(name), (), (), (place,), (place + 1,), f"{name}{place}")
        for place, name in enumerate(operators)
    ]
    return Program(tuple(steps), (one,) * (len(steps) + 1), ("x",), (len(steps),))


def started(program: Program, *values: float) -> list[Any]:
    x = nd.array(values or (1, -2))
    nd.waitall()
    return [x, *[None] * len(program.steps)]


def value(array: Any) -> list[float]:
    found: list[float] = nd.NDArray._of(array.chunk, array.aval, array.view).asnumpy().tolist()
    return found


class TestTheEnvironment:
    def test_fifteen_operators_go_together_unless_it_says_otherwise(self, monkeypatch):
        assert is_bulked(train=True)
        assert is_bulked(train=False)
        assert forward_size(train=True) == forward_size(train=False) == backward_size() == 15
        monkeypatch.setenv(f"{PREFIX}MAX_NODE_TRAIN", "7")
        assert (forward_size(train=True), backward_size()) == (7, 7)
        monkeypatch.setenv(f"{PREFIX}MAX_NODE_TRAIN_FWD", "3")
        assert (forward_size(train=True), backward_size()) == (3, 7)
        monkeypatch.setenv(f"{PREFIX}MAX_NODE_TRAIN_BWD", "5")
        assert (forward_size(train=True), backward_size()) == (3, 5)

    @pytest.mark.parametrize("word", ["0", "false", "False"])
    def test_training_and_inference_are_switched_off_apart(self, monkeypatch, word):
        monkeypatch.setenv(f"{PREFIX}TRAIN", word)
        assert (forward_size(train=True), forward_size(train=False), backward_size()) == (0, 15, 0)
        monkeypatch.delenv(f"{PREFIX}TRAIN")
        monkeypatch.setenv(f"{PREFIX}INFERENCE", word)
        assert (forward_size(train=True), forward_size(train=False), backward_size()) == (15, 0, 15)

    @pytest.mark.parametrize(
        ("name", "word"), [("TRAIN", "perhaps"), ("MAX_NODE_TRAIN", "-1"), ("MAX_NODE_TRAIN", "x")]
    )
    def test_what_cannot_be_is_refused_by_name(self, monkeypatch, name, word):
        monkeypatch.setenv(f"{PREFIX}{name}", word)
        with pytest.raises(EngineError, match=f"{PREFIX}{name}='{word}'"):
            backward_size()


class TestBackward:
    def gradient(self) -> Trace:
        x = nd.array([1.0, 2.0])
        x.attach_grad()

        def program() -> None:
            with autograd.record():
                y = nd.relu(x * 2).sum()
            y.backward()
            assert x.grad.asnumpy().tolist() == [2, 2]

        return recorded(program)

    def test_it_runs_as_one_bulk_that_ends_with_the_call(self):
        found = names(self.gradient())
        assert found[-1] == "ImperativeBulk"
        assert sorted(found[:-1]) == ["SetValueOp", "_mul_scalar", "relu", "sum"]

    def test_its_operators_are_single_where_training_is_not_bulked(self, monkeypatch):
        monkeypatch.setenv(f"{PREFIX}TRAIN", "0")
        back = [name for name in names(self.gradient()) if name.startswith("_backward")]
        assert back == ["_backward_sum", "_backward_relu", "_backward_mul_scalar"]

    def test_bulks_are_as_large_as_the_environment_says(self, monkeypatch):
        monkeypatch.setenv(f"{PREFIX}MAX_NODE_TRAIN_BWD", "2")
        assert names(self.gradient()).count("ImperativeBulk") == 2
        monkeypatch.setenv(f"{PREFIX}MAX_NODE_TRAIN_BWD", "1")
        assert names(self.gradient()).count("ImperativeBulk") == 3

    def test_the_bulks_of_the_program_are_its_own(self):
        x = nd.ones((2,))
        x.attach_grad()

        def program() -> None:
            with autograd.record():
                y = x * 2
            with engine.bulk(100):
                z = x + 1
                y.backward()
                z = z + 1
            z.wait_to_read()

        assert names(recorded(program)).count("ImperativeBulk") == 3
        assert engine.set_bulk_size(0) == 0

    def test_a_summary_by_category_tells_its_operators_and_counts_each_once(self):
        trace = self.gradient()
        found = op_summary(trace, category="operator").columns
        counts = dict(zip(found["name"], found["count"].tolist(), strict=True))
        assert counts["_backward_relu"] == counts["_backward_sum"] == counts["relu"] == 1
        assert "ImperativeBulk" not in counts
        assert set(found["domain"]) == {"operator"}
        whole = op_summary(trace, domain="operator").columns
        assert "ImperativeBulk" in whole["name"]

    def test_its_operators_are_in_the_table_and_in_latencies_each_once(self):
        trace = self.gradient()
        tables = domain_tables(trace)
        assert "bulk" not in tables
        for found in (tables["Operators"].columns, launch_latency(trace).columns):
            counts = dict(zip(found["name"], found["count"].tolist(), strict=True))
            assert counts["_backward_relu"] == counts["relu"] == 1
            assert "ImperativeBulk" not in counts
            assert set(found["domain"]) == {"operator"}
        assert tables["Queueing"].columns["name"] == ["EnginePush"]

    def test_a_failure_names_the_operator_and_the_line_that_went_back(self):
        class Fails(autograd.Function):
            def forward(self, x: Any) -> Any:
                return x + 0

            def backward(self, head: Any) -> Any:
                return nd.take(head, nd.array([7]), mode="raise").reshape((1,)) * nd.ones((1,))

        x = nd.ones((1,))
        x.attach_grad()
        with autograd.record():
            y = Fails()(x * 3)
        y.backward()  # the line
        with pytest.raises(OperatorError, match="take"):
            x.grad.asnumpy()


class TestPrograms:
    def test_it_runs_in_bulks_without_calls_of_its_own(self):
        program = chain("relu", "exp", "negative")
        arrays = started(program)

        def work() -> None:
            with in_bulks(2) as send:
                run(program, arrays, send)

        trace = recorded(work)
        assert names(trace) == ["ImperativeBulk", "ImperativeBulk"]
        frame = trace.frame()
        assert set(frame.name[frame.category == "api"]) == {"EnginePush"}
        np.testing.assert_allclose(value(arrays[-1]), [-np.e, -1], rtol=1e-6)

    @pytest.mark.parametrize(
        ("brackets", "size", "expected"),
        [
            (True, 15, ["[relu,exp,negative]"]),
            (False, 15, ["relu,exp,negative"]),
            (True, None, ["[relu,exp,negative]"]),
            (True, 2, ["[relu,exp]", "[negative]"]),
            (False, 2, ["relu,exp", "negative"]),
            (True, 0, ["relu", "exp", "negative"]),
        ],
    )
    def test_segments_are_called_as_in_mxnet(self, brackets, size, expected):
        program = chain("relu", "exp", "negative")
        arrays = started(program)

        def work() -> None:
            with in_segments(size, brackets=brackets) as send:
                run(program, arrays, send)

        trace = recorded(work)
        assert names(trace) == expected
        np.testing.assert_allclose(value(arrays[-1]), [-np.e, -1], rtol=1e-6)

    def test_long_names_are_cut_as_mxnet_cuts_them(self):
        program = chain(*["negative"] * 20)
        arrays = started(program)

        def work() -> None:
            with in_segments(None, brackets=False) as send:
                run(program, arrays, send)

        (name,) = names(recorded(work))
        assert name == ",".join(["negative"] * 20)[:127]

    def test_members_lie_inside_and_the_call_leads_to_the_segment_from_its_line(self):
        program = chain("relu", "exp")
        arrays = started(program)

        def work() -> None:
            with in_segments(15, brackets=True) as send:  # here
                run(program, arrays, send)

        trace = recorded(work)
        frame = trace.frame()
        segment = int(np.flatnonzero(frame.name == "[relu,exp]")[0])
        members = frame[frame.domain == "bulk"]
        assert members.name.tolist() == ["relu", "exp"]
        assert set(members.parent) == {segment}
        (source,), (target,) = trace.flows.source.tolist(), trace.flows.target.tolist()
        assert (frame.name.iloc[source], target) == ("EnginePush", segment)
        texts = trace.frame("sites").text.tolist()
        assert "# here" in texts[int(trace.events.site[segment])]

    @pytest.mark.usefixtures("fresh_profiler")
    def test_statistics_split_bulks_and_no_segments(self, tmp_path):
        program = chain("relu", "exp")
        profiler = mx.profiler
        profiler.set_config(aggregate_stats=True, filename=str(tmp_path / "p.json"))
        profiler.set_state("run")
        try:
            arrays = started(program)
            with in_bulks(15) as send:
                run(program, arrays, send)
            with in_segments(15, brackets=True) as send:
                run(program, started(program), send)
            nd.waitall()
        finally:
            profiler.set_state("stop")
        table = profiler.dumps(reset=True)
        assert "ImperativeBulk" not in table
        assert "[relu,exp]" in table
        assert "\nbulk\n" not in table
        assert "\nrelu " in table

    @pytest.mark.usefixtures("fresh_profiler")
    def test_the_profiler_records_segments_though_operators_on_arrays_are_left_out(self, tmp_path):
        program = chain("relu", "exp")
        profiler = mx.profiler
        file = tmp_path / "p.json"
        profiler.set_config(profile_imperative=False, filename=str(file))
        profiler.set_state("run")
        try:
            arrays = started(program)
            with in_bulks(15) as send:
                run(program, arrays, send)
            with in_segments(15, brackets=True) as send:
                run(program, started(program), send)
            nd.waitall()
        finally:
            profiler.set_state("stop")
        profiler.dump()
        events = mp.load(file).events
        assert events.name[events.category == "operator"].tolist() == ["[relu,exp]"]

    def test_what_is_kept_is_written_to_again(self):
        program = chain("relu", "exp")
        arrays = started(program)
        with in_segments(15, brackets=True) as send:
            run(program, arrays, send)
        chunks = [each.chunk for each in arrays]
        arrays[0][:] = 0
        with in_segments(15, brackets=True) as send:
            run(program, arrays, send)
        assert [each.chunk for each in arrays] == chunks
        assert value(arrays[-1]) == [1, 1]

    def test_some_steps_alone_need_those_before_them(self):
        program = chain("relu", "exp")
        arrays = started(program)
        with in_bulks(0) as send, pytest.raises(LookupError, match="exp1"):
            run(program, arrays, send, range(1, 2))
        with in_bulks(0) as send:
            run(program, arrays, send, range(1))
            run(program, arrays, send, range(1, 2))
        np.testing.assert_allclose(value(arrays[-1]), [np.e, 1], rtol=1e-6)

    @pytest.mark.parametrize("kind", ["ThreadedEnginePerDevice", "NaiveEngine"])
    def test_a_failure_reaches_what_depends_on_it_and_names_the_member(self, kind):
        one, where = aval((2,), np.dtype("float32")), aval((1,), np.dtype("float32"))
        take = (("axis", 0), ("mode", "raise"))
        program = Program(
            (
                Step(spec("exp"), (), (), (0,), (2,), "exp0"),
                Step(spec("take"), take, (), (0, 1), (3,), "take0"),
                Step(spec("negative"), (), (), (3,), (4,), "negative0"),
            ),
            (one, where, one, where, where),
            ("x", "where"),
            (2, 4),
        )
        before = engine.get_type()
        engine.set_type(kind)
        try:
            arrays: list[Any] = [nd.zeros((2,)), nd.array([7]), None, None, None]

            def forward() -> None:
                with in_segments(15, brackets=True) as send:  # this line
                    run(program, arrays, send)

            if kind == "NaiveEngine":
                with pytest.raises(OperatorError, match=r"take(?s:.*)this line"):
                    forward()
                return
            forward()
            assert value(arrays[2]) == [1, 1]
            with pytest.raises(OperatorError, match=r"take(?s:.*)this line"):
                value(arrays[4])
        finally:
            engine.set_type(before)
