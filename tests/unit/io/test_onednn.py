import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from mxprof_nb.analysis import op_summary
from mxprof_nb.errors import CorruptTraceError, LimitExceededError
from mxprof_nb.io import Limits, load
from tests.environment import ROOT

GOLDEN = ROOT / "tests" / "golden" / "onednn"
SHARED = ROOT.parent / "shared"
TENSORS = "src_f32::blocked:abcd:f0 dst_u8::blocked:aBcd16b:f0"
#: A convolution that takes 0.5 ms, as each range of versions writes it.
VERSIONS = {
    "0.21": "mkldnn_verbose,exec,convolution,jit:avx2,forward_inference,fsrc:nchw fwei:Oihw8o "
    "fbia:x fdst:nChw8c,alg:convolution_direct,mb1_ic3oc8_ih9oh7,0.5",
    "1.0": f"mkldnn_verbose,exec,cpu,convolution,jit:avx2,forward_inference,{TENSORS},"
    "alg:convolution_direct,mb1_ic3oc8_ih9oh7,0.5",
    "1.1": f"dnnl_verbose,exec,cpu,convolution,jit:avx2,forward_inference,{TENSORS},,"
    "alg:convolution_direct,mb1_ic3oc8_ih9oh7,0.5",
    "2.1, stamped": "dnnl_verbose,1796027017594.274902,exec,cpu,convolution,jit:avx2,"
    f"forward_inference,{TENSORS},,alg:convolution_direct,mb1_ic3oc8_ih9oh7,0.5",
    "2.5": f"onednn_verbose,exec,cpu,convolution,jit:avx2,forward_inference,{TENSORS},"
    "attr-post-ops:eltwise_relu:0:1+sum:1 ,alg:convolution_direct,mb1_ic3oc8_ih9oh7,0.5",
    "3.3": "onednn_verbose,primitive,exec,cpu,convolution,jit:avx2,forward_inference,"
    "src_f32:a:blocked:aBcd16b::f0 dst_u8::blocked:a::f0,,alg:convolution_direct,"
    "mb1_ic3oc8_ih9oh7,0.5",
    "3.3, stamped": "onednn_verbose,1796027017594.274902,primitive,exec,gpu,convolution,jit:ir,"
    f"forward_inference,{TENSORS},,alg:convolution_direct,mb1_ic3oc8_ih9oh7,0.5",
    "3.6": "onednn_verbose,v1,primitive,exec,cpu,convolution,jit:avx2,forward_inference,"
    "src:f32:a:blocked:abcd::f0 dst:u8:a:blocked:a::f0,attr-scratchpad:user,"
    "alg:convolution_direct,mb1_ic3oc8_ih9oh7,0.5",
    "3.6, stamped": "onednn_verbose,v1,1796027017594.274902,primitive,exec,gpu:0,convolution,"
    f"jit:ir,forward_inference,{TENSORS},,alg:convolution_direct,mb1_ic3oc8_ih9oh7,0.5",
}


def line(operation="exec", primitive="reorder", ms="0.5", stamp="", marker="dnnl_verbose"):
    begin = f"{marker},{stamp},{operation}" if stamp else f"{marker},{operation}"
    return f"{begin},cpu,{primitive},jit:uni,undef,{TENSORS},,,64x50x4x4,{ms}"


def read(*lines: str):
    return load("\n".join([*lines, ""]).encode())


def details(trace, row=0) -> dict[str, str]:
    arg = int(trace.events.arg[row])
    told: dict[str, str] = json.loads(trace.strings[int(trace.args.raw[arg])])
    return told


def sums(trace) -> dict[str, Any]:
    """Return count and ms by primitive, of executions and of creations."""
    found: dict[str, Any] = {"oneDNN": {}, "oneDNN create": {}}
    for row in op_summary(trace).frame.to_dict("records"):
        found[row["domain"]][row["name"]] = (row["count"], row["total_ns"] / 1e6)
    return found


@pytest.mark.parametrize("version", VERSIONS)
def test_a_line_of_any_version_says_what_ran_for_how_long_and_how(version):
    trace = read(VERSIONS[version])
    (row,) = trace.frame().itertuples()
    assert (row.name, row.domain, row.category) == ("convolution", "oneDNN", "operator")
    assert (row.start_ns, row.dur_ns) == (0, 500_000)
    told = details(trace)
    assert told["implementation"] in ("jit:avx2", "jit:ir")
    assert told["prop_kind"] == "forward_inference"
    assert told["auxiliary"] == "alg:convolution_direct"
    assert told["problem_desc"] == "mb1_ic3oc8_ih9oh7"
    assert ("attributes" in told) == (version in ("2.5", "3.6"))
    assert trace.strings[int(trace.args.shapes[0])] == "mb1_ic3oc8_ih9oh7"
    if version != "0.21":
        assert trace.strings[int(trace.args.dtype[0])] == "f32, u8"
    engine = told.get("engine", "cpu")
    assert trace.strings[int(trace.tracks.name[0])] == f"oneDNN {engine}"
    stamped = "stamped" in version
    assert trace.meta.origin_epoch_ns == (1_796_027_017_594_274_902 if stamped else -1)
    assert [note.code for note in trace.health.notes] == ([] if stamped else ["no_times"])


def test_events_without_time_stamps_lie_end_to_end_and_the_health_says_so():
    trace = read(line(ms="0.25"), line(ms="0.5"), line("create:cache_miss", ms="1e-3"))
    assert trace.events.start_ns.tolist() == [0, 250_000, 750_000]
    assert trace.events.end_ns.tolist() == [250_000, 750_000, 751_000]
    assert "lie end to end" in str(trace.health)


def test_events_with_time_stamps_stand_where_they_ran():
    trace = read(
        line(stamp="1796027017594.415039", ms="207.146"),
        line(stamp="1796027017594.274902", ms="0.02", operation="create:cache_hit"),
    )
    assert trace.events.start_ns.tolist() == [0, 140_137]
    assert trace.meta.origin_epoch_ns == 1_796_027_017_594_274_902
    assert trace.health.ok


def test_time_since_the_machine_started_is_no_date():
    trace = read(line(stamp="86400000.25"), line(stamp="86400001.5"))
    assert trace.events.start_ns.tolist() == [0, 1_250_000]
    assert trace.meta.origin_epoch_ns == -1


@pytest.mark.parametrize(
    "operation",
    ["create", "create:cache_hit", "create:cache_miss", "create:from_cache_blob",
     "create:nested_cache_hit"],
)  # fmt: skip
def test_every_kind_of_creation_counts_as_one(operation):
    found = sums(read(line(operation, ms="0.25"), line(ms="0.5")))
    assert found == {"oneDNN": {"reorder": (1, 0.5)}, "oneDNN create": {"reorder": (1, 0.25)}}


def test_what_was_refused_or_passed_over_is_a_point_with_its_reason():
    begin = "onednn_verbose,v1,primitive,"
    trace = read(
        f"{begin}create:check,matmul,dimension src:1 is inconsistent,src/common/matmul.cpp:144",
        f"{begin}create:dispatch,matmul,cpu,matmul,brg,undef,src dst,,,2x3:3x4,unsupported isa,"
        "src/cpu/matmul.cpp:97",
        f"{begin}error,ocl,cannot build a kernel,src/gpu/ocl.cpp:5",
        line(marker="onednn_verbose,v1,primitive"),
    )
    points = trace.frame().query("kind == 'instant'")
    assert list(points["name"]) == [
        "matmul create:check", "matmul create:dispatch", "ocl error"
    ]  # fmt: skip
    assert details(trace, points.index[0])["message"].endswith("matmul.cpp:144")
    assert len(op_summary(trace).frame) == 1


def test_a_part_of_a_graph_is_told_apart_from_primitives():
    graph = "onednn_verbose,v1,graph,"
    fields = "cpu,100002,mha,dot;softmax,s:abx,in0_f32:0:strided:undef:2x3,fpm:strict"
    trace = read(
        f"{graph}info,template:operation,engine,partition_id,partition_kind,op_names,"
        "data_formats,logical_tensors,fpmath_mode,implementation,backend,exec_time",
        f"{graph}exec,{fields},larger_partition_kernel_t,dnnl_backend,1.5",
        f"{graph}compile:cache_miss,{fields},larger_partition_kernel_t,dnnl_backend,0.5",
        f"onednn_verbose,graph,exec,{fields},dnnl_backend,0.25",
    )
    assert [(row.name, row.domain, row.dur_ns) for row in trace.frame().itertuples()] == [
        ("mha", "oneDNN graph", 1_500_000),
        ("mha", "oneDNN create", 500_000),
        ("mha", "oneDNN graph", 250_000),
    ]
    assert details(trace)["op_names"] == "dot;softmax"


def test_a_template_of_the_log_says_what_its_fields_are():
    trace = read(
        "onednn_verbose,primitive,info,template:timestamp,operation,engine,primitive,colour,"
        "exec_time",
        "onednn_verbose,1796027017594.5,primitive,exec,cpu,matmul,blue,0.5",
    )
    assert details(trace) == {
        "operation": "exec", "engine": "cpu", "primitive": "matmul", "colour": "blue",
    }  # fmt: skip


def test_the_head_is_kept_and_gives_the_version():
    trace = load(GOLDEN / "stamped.log")
    assert trace.meta.versions["oneDNN"].startswith("v2.4.4 (commit 5818c40")
    assert "cpu,runtime:OpenMP" in trace.meta.extra["info"]
    assert (trace.meta.title, trace.meta.backend) == ("stamped.log", "onednn")


def test_a_log_of_a_head_only_says_that_nothing_ran():
    trace = read("dnnl_verbose,info,oneDNN v2.4.4 (commit 5818c40)")
    assert len(trace) == 0
    assert "no primitive ran" in str(trace.health)


def test_output_of_the_program_is_passed_over_wherever_it_stands():
    trace = read(
        "loading digits", "Epoch 1: " + line(ms="0.25"), f"[1,0]<stdout>:{line(ms='0.5')}\r",
        "exec,cpu,convolution,0.75", "done",
    )  # fmt: skip
    assert trace.events.dur_ns.tolist() == [250_000, 500_000]


def test_lines_that_two_threads_wrote_into_each_other_are_told_apart():
    half = line(primitive="convolution", ms="7")[:60]
    trace = read(line(ms="0.25"), half + line(ms="0.5"), line(ms="0.75"))
    assert trace.events.dur_ns.tolist() == [250_000, 500_000, 750_000]
    (note,) = [note for note in trace.health.notes if note.code == "torn"]
    assert (note.count, "Line 2 was not whole" in note.message) == (1, True)


def test_a_line_that_the_program_wrote_into_is_put_together():
    whole = line(primitive="convolution", ms="0.5")
    at = whole.index("jit:uni") + 5
    trace = read(line(), f"{whole[:at]}Epoch 2", whole[at:], line())
    assert trace.events.dur_ns.tolist() == [500_000] * 3
    assert details(trace, 1)["primitive"] == "convolution"
    assert "Line 2 was interrupted" in str(trace.health)


@pytest.mark.parametrize("ms", ["", "-1", "0.5x", "nan", "inf", "1e300", "src/a.cpp:7"])
def test_a_line_whose_time_is_none_is_left_out_and_counted(ms):
    trace = read(line(), line(ms=ms), line())
    assert len(trace) == 2
    assert [note.code for note in trace.health.notes] == ["no_times", "torn"]


def test_colours_of_a_terminal_around_a_line_are_passed_over():
    trace = read(f"\x1b[32m{line()}\x1b[0m", f"\x1b[1;31m{line()}\x1b[K")
    assert trace.events.dur_ns.tolist() == [500_000] * 2
    assert [note.code for note in trace.health.notes] == ["no_times"]


def test_a_log_whose_lines_are_all_torn_does_not_say_that_nothing_ran():
    trace = read("onednn_verbose,info,oneDNN v3.1.0", "onednn_verbose,exec,cpu,sum,jit,und")
    assert [note.code for note in trace.health.notes] == ["torn"]


def test_a_log_as_powershell_redirects_it_is_read():
    for codec in ("utf-16-le", "utf-16-be"):
        content = ("\ufeff" + line() + "\r\n").encode(codec)
        assert load(content).events.dur_ns.tolist() == [500_000]


def test_bad_utf_8_beside_the_log_does_no_harm():
    assert len(load(b"\xff\xfa\x80 caf\xe9\n" + line().encode() + b"\n\xc3")) == 1


def test_without_a_line_of_oneDNN_the_error_says_how_to_get_some():
    with pytest.raises(CorruptTraceError, match="ONEDNN_VERBOSE=2"):
        load(b"epoch 1\n", format="onednn")


def test_bounds_on_lines_texts_and_events_are_kept():
    content = "\n".join([line()] * 5).encode()
    assert len(load(content, limits=Limits(rows=5, events=5))) == 5
    with pytest.raises(LimitExceededError, match="line 5: it holds more than 4 rows"):
        load(content, limits=Limits(rows=4))
    with pytest.raises(LimitExceededError, match="more than 3 events"):
        load(content, limits=Limits(events=3))
    with pytest.raises(LimitExceededError, match=r"line 1: one text is longer than 50 bytes"):
        load(content, limits=Limits(string_bytes=50))


def with_awk(path: Path, kind: str) -> dict[str, tuple[int, float]]:
    """Return count and sum by primitive, as the field before the last time is added up."""
    program = (
        'BEGIN {FS = ","} '
        '/^(onednn|dnnl|mkldnn)_verbose,/ && $0 ~ ",' + kind + '(:cache_[a-z]+)?," '
        "{for (i = 1; i < NF; i++) if ($i ~ /^(cpu|gpu)/) "
        "{N[$(i+1)]++; S[$(i+1)] += $NF; break}}"
        ' END {for (p in N) printf "%s %d %.9f\\n", p, N[p], S[p]}'
    )  # fmt: skip
    done = subprocess.run(
        ["awk", program, str(path)], capture_output=True, text=True, check=True,
        env={"LC_ALL": "C", "PATH": "/usr/bin:/bin:/usr/local/bin"},
    )  # fmt: skip
    rows = [row.split() for row in done.stdout.splitlines()]
    return {name: (int(count), float(total)) for name, count, total in rows}


LOGS = sorted([*GOLDEN.glob("*.log"), *SHARED.glob("golden/mxnet/dnnl/[DM]*.log"),
               *SHARED.glob("traces/gen-onednn/*.log")])  # fmt: skip


@pytest.mark.skipif(not shutil.which("awk"), reason="no awk here")
@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.name)
def test_times_per_primitive_are_what_awk_adds_up(path):
    found = sums(load(path))
    for kind, domain in (("exec", "oneDNN"), ("create", "oneDNN create")):
        expected = with_awk(path, kind)
        assert found[domain].keys() == expected.keys()
        for name, (count, total) in expected.items():
            assert found[domain][name][0] == count
            # A duration is rounded to the ns, awk adds up doubles.
            assert found[domain][name][1] == pytest.approx(total, abs=count * 0.6e-6)
    assert bool(with_awk(path, "exec"))


@pytest.mark.parametrize(
    "name", ["gen-onednn/mxnet191_DNNL_VERBOSE1.log", "gen-onednn/torch213_verbose1.log"]
)
def test_real_logs_give_the_right_values(name):
    path = SHARED / "traces" / name
    if not path.exists():
        pytest.skip("the shared traces are not here")
    right = json.loads((SHARED / "traces" / "answers" / "onednn.json").read_text())[name]
    trace = load(path)
    found = sums(trace)
    for part, domain in (("exec", "oneDNN"), ("create", "oneDNN create")):
        expected = {name: (count, pytest.approx(ms, abs=count * 0.6e-6))
                    for name, (count, ms) in right[part].items()}  # fmt: skip
        assert found[domain] == expected
    implementations: dict[str, int] = {}
    for row in range(len(trace)):
        told = details(trace, row)
        key = f"{told['primitive']} {told['implementation']}"
        implementations[key] = implementations.get(key, 0) + 1
    assert implementations == right["impl"]


def test_the_examples_in_the_documentation_of_oneDNN_are_read():
    path = SHARED / "traces" / "onednn" / "doc__performance_considerations__verbose.md"
    if not path.exists():
        pytest.skip("the shared traces are not here")
    trace = load(path)
    assert sum(kind == "instant" for kind in trace.frame()["kind"]) == 5
    found = sums(trace)
    assert found["oneDNN"] == {
        "reorder": (4, pytest.approx(16.481 + 12.604 + 0.052002 + 18.8389)),
        "convolution": (1, pytest.approx(0.0878906, abs=1e-6)),
    }
    assert found["oneDNN create"]["convolution"] == (2, pytest.approx(0.7260743, abs=2e-6))
