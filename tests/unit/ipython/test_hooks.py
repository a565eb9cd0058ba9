"""The hooks in a real shell, with a backend that has no runtime behind it."""

import ast
import sys
import time

import pytest
from IPython.core.inputtransformer2 import TransformerManager
from IPython.core.interactiveshell import InteractiveShell
from threadpoolctl import ThreadpoolController

import mxprof_nb as mp
from mxprof_nb.errors import NotRecordingError
from mxprof_nb.ipython import last_profile
from mxprof_nb.ipython.hooks import CellHooks
from mxprof_nb.ipython.run import NAME
from tests.unit.capture.fake_backend import FakeBackend


@pytest.fixture
def run(shell: InteractiveShell, fake: FakeBackend):
    """Run a cell as a front end would."""
    return lambda cell, **options: shell.run_cell(cell, **{"store_history": True, **options})


def test_the_transform_only_comments_the_first_line_out(shell: InteractiveShell):
    cell = 'a\n"""\n%%mxprofile\n"""\n'
    assert shell.transform_cell(f"{NAME} -q\n{cell}") == f"#{NAME} -q\n{cell}"


@pytest.mark.parametrize(
    "cell",
    [
        "x = 1\n",
        "",
        "%%time\nx\n",
        "# comment\n%%mxprofile\nx\n",
        "%%mxprofiled\nx\n",
        "%%mxprofile?\n",
        "'''\n%%mxprofile\n'''\n",
    ],
)
def test_other_cells_are_left_as_they_are(shell: InteractiveShell, cell: str):
    lines = cell.splitlines(keepends=True)
    assert CellHooks(shell).transform(lines) == lines


def test_an_indented_cell_keeps_its_indentation(shell: InteractiveShell):
    assert shell.transform_cell(f"\n  {NAME}\n  x = 1\n") == f"#{NAME}\nx = 1\n"


def test_a_cell_magic_below_is_still_found(shell: InteractiveShell):
    assert shell.transform_cell(f"{NAME}\n%%time\nx\n") == (
        f"#{NAME}\nget_ipython().run_cell_magic('time', '', 'x\\n')\n"
    )


def test_while_typing_a_cell_is_complete_when_any_cell_magic_would_be(shell: InteractiveShell):
    manager = shell.input_transformer_manager
    for text in (NAME, f"{NAME}\nx = 1", f"{NAME}\nx = 1\n"):
        plain = TransformerManager().check_complete(text)
        assert manager.check_complete(text) == plain


def test_a_profiled_cell_hands_its_profile_over(run, shell, fake, capsys):
    result = run(f"{NAME} -b fake -o p\nx = 20\nx + 1")
    assert (result.result, shell.user_ns["x"], shell.user_ns["_"]) == (21, 20, 21)
    p = shell.user_ns["p"]
    assert isinstance(p, mp.Profile)
    assert last_profile().trace is p.trace
    out = capsys.readouterr().out
    assert out.index("21") < out.index("dot"), "the profile stands under the cell's own output"
    assert not fake.recording


def test_the_profile_knows_the_cell_by_the_name_it_was_compiled_under(run, shell):
    run(f"\n\n{NAME} -b fake -q -o p\nimport sys\nframe = sys._getframe()")
    meta, frame = shell.user_ns["p"].trace.meta, shell.user_ns["frame"]
    assert meta.source_file == frame.f_code.co_filename
    assert meta.source.splitlines()[frame.f_lineno - 1].startswith("frame")
    assert meta.title == f"cell {shell.execution_count - 1}"


def test_the_time_that_compiling_takes_is_not_the_time_of_the_cell(run, shell):
    class Slow(ast.NodeTransformer):
        done = 0

        def visit(self, node):
            self.done = time.time_ns()
            return node

    slow = Slow()
    shell.ast_transformers.append(slow)
    try:
        assert run(f"{NAME} -q -o p\nx = 1").success
    finally:
        shell.ast_transformers.remove(slow)
    meta = shell.user_ns["p"].trace.meta
    assert slow.done <= meta.origin_epoch_ns + meta.window_ns[0]


def test_quiet_displays_nothing(run, capsys):
    run(f"{NAME} -b fake -q\nx = 1")
    assert capsys.readouterr().out == ""


def test_an_error_keeps_the_profile_and_stays_an_error(run, shell):
    result = run(f"{NAME} -b fake -o p\n1 / 0")
    assert isinstance(result.error_in_exec, ZeroDivisionError)
    assert shell.user_ns["p"].trace.meta.status == "error"


def test_a_syntax_error_records_nothing_and_the_next_cell_is_profiled(run, shell, fake, capsys):
    result = run(f"{NAME} -b fake -o p\n1 +")
    assert isinstance(result.error_before_exec, SyntaxError)
    assert "p" not in shell.user_ns
    assert "dot" not in capsys.readouterr().out
    assert not fake.recording
    run(f"{NAME} -b fake -o p\n1")
    assert len(shell.user_ns["p"].events) == 2


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("--bogus", "--bogus"),
        ("-b fakt", "Did you mean 'fake'"),
        ("-b fake -e /no/such/folder/a.json", "no folder"),
        ("-b fake -o 1", "no name"),
    ],
)
def test_a_line_that_cannot_be_followed_runs_nothing(run, shell, fake, capsys, line, told):
    result = run(f"{NAME} {line}\nran = True")
    assert type(result.error_in_exec).__name__ == "UsageError"
    assert "ran" not in shell.user_ns
    assert not fake.sessions
    captured = capsys.readouterr()
    assert told in captured.err
    assert captured.err.count("UsageError") == 1
    assert captured.out == ""


@pytest.mark.parametrize("cell", [NAME, f"{NAME}\n", f"{NAME}\n  \n\n"])
def test_an_empty_cell_is_one_clear_error(run, capsys, cell: str):
    result = run(cell)
    assert type(result.error_in_exec).__name__ == "UsageError"
    assert "Write the code to profile under it" in capsys.readouterr().err


def test_a_profiled_cell_within_a_profiled_cell_is_refused_and_the_outer_goes_on(run, shell, fake):
    run(f"{NAME} -b fake -o p\ninner = get_ipython().run_cell('{NAME} -b fake -o q\\nran = 1')")
    assert "already runs" in str(shell.user_ns["inner"].error_in_exec)
    assert "ran" not in shell.user_ns
    assert "q" not in shell.user_ns
    assert len(shell.user_ns["p"].events) == 2
    assert len(fake.sessions) == 1


def test_an_ordinary_cell_within_a_profiled_cell_does_not_end_the_profile(run, shell, fake):
    shell.user_ns["fake"] = fake
    run(f"{NAME} -b fake -o p\nget_ipython().run_cell('x = 1')\nstill = len(fake.recording)")
    assert shell.user_ns["still"] == 1
    assert "p" in shell.user_ns


def test_a_profiled_cell_within_an_ordinary_cell_is_profiled(run, shell):
    run(f"r = get_ipython().run_cell('{NAME} -b fake -o p\\n7')\nafter = 'p' in globals()")
    assert shell.user_ns["r"].result == 7
    assert shell.user_ns["after"]


def test_a_silent_execution_is_not_profiled(run, shell, fake):
    run(f"{NAME} -b fake -o p\nx = 1", silent=True)
    assert shell.user_ns["x"] == 1
    assert not fake.sessions


@pytest.mark.parametrize("above", ["%%time", "%%timeit -n 1 -r 2", "%%capture", "%%prun -q"])
def test_under_another_magic_the_code_is_profiled_once(run, shell, fake, above: str):
    result = run(f"{above}\n{NAME} -b fake -o p\nx = 1\n5")
    assert result.success
    assert len(fake.sessions) == 1
    assert not fake.recording
    assert shell.user_ns["p"].trace.meta.source.startswith(NAME)


@pytest.mark.parametrize("below", ["%%time", "%%timeit -n 1 -r 2", "%%capture"])
def test_above_another_magic_that_magic_is_profiled(run, shell, fake, below: str):
    result = run(f"{NAME} -b fake -o p\n{below}\nx = 1\n5")
    assert result.success
    assert len(fake.sessions) == 1
    assert "p" in shell.user_ns


@pytest.mark.parametrize("above", ["%%html", "%%script true", "%%writefile {folder}/a.txt"])
def test_a_magic_that_takes_the_text_for_itself_is_one_warning(
    run, shell, fake, capsys, tmp_path, above: str
):
    assert run(f"{above.format(folder=tmp_path)}\n{NAME} -b fake\nx = 1").success
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith(f"mxprof_nb: nothing was profiled: {above.split()[0]} ")
    assert not fake.sessions


@pytest.mark.parametrize("above", ["%%time", "%%timeit -n 1 -r 1", "%%capture --no-stderr"])
def test_a_magic_that_runs_the_text_is_no_warning(run, shell, fake, capsys, above: str):
    run(f"{above}\n{NAME} -q -b fake\nx = 1")
    assert len(fake.sessions) == 1
    assert capsys.readouterr().err == ""


def test_a_bad_line_under_another_magic_runs_nothing_either(run, shell, fake, capsys):
    run(f"%%time\n{NAME} --bogus\nran = 1")
    assert "--bogus" in capsys.readouterr().err
    assert "ran" not in shell.user_ns
    assert not fake.sessions


def test_called_by_name_the_magic_profiles_and_returns_the_last_value(run, shell, fake):
    shell.user_ns["fake"] = fake
    result = run(
        "value = get_ipython().run_cell_magic('mxprofile', '-b fake -o p', 'x = 2\\nx + 1')"
    )
    assert result.success
    assert (shell.user_ns["value"], shell.user_ns["x"]) == (3, 2)
    assert len(shell.user_ns["p"].events) == 2
    assert run("get_ipython().run_cell_magic('mxprofile', '-b fake', 'x = 3')").result is None
    assert shell.user_ns["x"] == 3
    result = run("get_ipython().run_cell_magic('mxprofile', '-b fake -o p', '1 / 0')")
    assert isinstance(result.error_in_exec, ZeroDivisionError)
    assert shell.user_ns["p"].trace.meta.status == "error"
    assert not fake.recording


def test_a_backend_that_fails_to_start_keeps_the_cell_from_running(run, shell, fake, capsys):
    fake.start_raises = RuntimeError("no permission")
    result = run(f"{NAME} -b fake\nran = True")
    assert not result.success
    assert "ran" not in shell.user_ns
    assert "RuntimeError: no permission" in capsys.readouterr().out
    fake.start_raises = None
    assert run(f"{NAME} -b fake -o p\nran = True").success
    assert shell.user_ns["ran"]
    assert shell.ast_transformers == []


def test_a_failed_start_of_a_cell_that_does_not_compile_does_not_harm_the_next(run, shell, fake):
    fake.start_raises = RuntimeError("no permission")
    run(f"{NAME} -b fake\n1 +")
    assert run("x = 1").success


def test_ctrl_c_in_the_wait_interrupts_the_cell_and_keeps_the_profile(run, shell, fake):
    fake.wait_raises, fake.stuck = KeyboardInterrupt(), 2
    result = run(f"{NAME} -b fake -o p\nx = 1")
    assert isinstance(result.error_in_exec, KeyboardInterrupt)
    meta = shell.user_ns["p"].trace.meta
    assert (meta.status, meta.pending) == ("interrupted", 2)


def test_a_second_ctrl_c_ends_the_wait_and_keeps_the_profile(run, shell, fake):
    fake.wait_raises = KeyboardInterrupt()
    result = run(f"{NAME} -b fake -o p\nraise KeyboardInterrupt")
    assert isinstance(result.error_in_exec, KeyboardInterrupt)
    assert shell.user_ns["p"].trace.meta.status == "interrupted"


def test_a_backend_that_fails_to_stop_is_told_in_one_line(run, fake, capsys, monkeypatch):
    def broken(session):
        session.stopped = True
        raise RuntimeError("disk on fire")

    monkeypatch.setattr("tests.unit.capture.fake_backend.FakeSession.stop", broken)
    assert run(f"{NAME} -b fake\nx = 1").success
    assert "mxprof_nb: the profile of cell" in (err := capsys.readouterr().err)
    assert "RuntimeError: disk on fire" in err
    monkeypatch.undo()


def test_an_interrupt_between_the_hooks_does_not_leave_a_recording_behind(shell, fake):
    hooks = _hooks(shell)
    for lost in (None, "other info"):
        info = _info(f"{NAME} -b fake -q -o p\nx")
        hooks.pre_run_cell(info)
        assert len(fake.recording) == 1
        hooks.post_run_cell(None if lost is None else _result(_info(info.raw_cell)))
        assert not fake.recording
        assert shell.user_ns.pop("p").trace.meta.status == "interrupted"


def test_an_execution_whose_end_was_never_told_is_over_with_the_one_around_it(shell, fake):
    hooks = _hooks(shell)
    outer = _info("x = 1")
    hooks.pre_run_cell(outer)
    hooks.pre_run_cell(_info(f"{NAME} -b fake -q -o p\nx"))
    hooks.post_run_cell(_result(outer))
    assert not fake.recording
    assert "p" not in shell.user_ns
    assert shell.run_cell(f"{NAME} -b fake -q -o p\n1").success


def test_the_profile_is_exported_and_the_place_is_told(run, shell, tmp_path, capsys):
    path = tmp_path / "report.html"
    run(f"{NAME} -b fake -e {path}\nx = 1")
    assert path.exists()
    assert f"Profile written to {path}" in capsys.readouterr().out
    run(f"{NAME} -b fake -q -e {path}\nx = 1")
    assert capsys.readouterr().out == ""


def test_every_file_that_is_asked_for_is_written_also_after_one_that_fails(run, tmp_path, capsys):
    folder = tmp_path / "gone"
    folder.mkdir()
    flags = f"-e {tmp_path}/a.json -e {folder}/b.html --export {tmp_path}/c.png"
    run(f"{NAME} -b fake {flags}\nimport os\nos.rmdir({str(folder)!r})")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.json", "c.png"]
    told = capsys.readouterr()
    assert told.out.count("Profile written to") == 2
    assert "b.html" in told.err


def test_an_export_that_fails_is_told_in_one_line_and_loses_nothing(run, shell, tmp_path, capsys):
    folder = tmp_path / "gone"
    folder.mkdir()
    result = run(f"{NAME} -b fake -q -e {folder}/a.html\nimport os\nos.rmdir({str(folder)!r})")
    assert result.success
    [line] = capsys.readouterr().err.splitlines()
    assert "Cannot write" in line
    assert len(last_profile().events) == 2


def test_the_line_magic_returns_the_last_profile_or_says_what_to_do(run, shell):
    assert "Run one first" in str(run("%mxprofile --last").error_in_exec)
    with pytest.raises(NotRecordingError, match="Run one"):
        last_profile()
    run(f"{NAME} -b fake -q\nx = 1")
    assert run("%mxprofile --last").result.trace is last_profile().trace
    assert "two percent signs" in str(run("%mxprofile").error_in_exec)


def test_help_shows_what_the_magic_does_and_its_flags(run, shell):
    text = shell.find_cell_magic("mxprofile").__doc__
    for flag in ("--backend NAME", "-o NAME", "--export FILE", "--quiet"):
        assert flag in text


def test_history_keeps_the_text_the_person_wrote(run, shell):
    run(f"{NAME} -b fake -q\nx = 1")
    assert shell.history_manager.input_hist_raw[-1] == f"{NAME} -b fake -q\nx = 1"


def _state(shell: InteractiveShell):
    return (
        list(shell.input_transformer_manager.cleanup_transforms),
        {event: list(calls) for event, calls in shell.events.callbacks.items()},
        {kind: set(table) for kind, table in shell.magics_manager.magics.items()},
        set(shell.magics_manager.registry),
        list(shell.ast_transformers),
    )


def test_loading_twice_changes_nothing_and_unloading_restores_everything(shell):
    loaded = _state(shell)
    mp.load_ipython_extension(shell)
    assert _state(shell) == loaded
    mp.unload_ipython_extension(shell)
    bare = _state(shell)
    assert "mxprofile" not in bare[2]["cell"] | bare[2]["line"]
    mp.unload_ipython_extension(shell)
    assert _state(shell) == bare
    mp.load_ipython_extension(shell)
    mp.unload_ipython_extension(shell)
    assert _state(shell) == bare


def test_after_unloading_interval_threads_and_hooks_are_as_before_a_profiled_cell(run, shell):
    run("import mxprof_nb.runtime as mx, numpy as np\nnp.ones((64, 64)) @ np.ones((64, 64))")
    mp.unload_ipython_extension(shell)

    ours = {"showtraceback", "run_code"}

    def state():
        blas = ThreadpoolController().select(user_api="blas").info()
        threads = sorted((one["filepath"], one["num_threads"]) for one in blas)
        return _state(shell), sys.getswitchinterval(), threads, set(vars(shell)) & ours

    before = state()
    mp.load_ipython_extension(shell)
    for ended in ("mx.nd.waitall()", "1 / 0", "1 +"):
        chain = "a = mx.nd.ones((300, 300))\nfor _ in range(9): mx.nd.dot(a, a)"
        run(f"{NAME} -q -n 2\n{chain}\n{ended}")
    mp.unload_ipython_extension(shell)
    run("mx.nd.waitall()")  # after an error nobody waits for all
    assert state() == before


def test_reloading_leaves_one_hook(run, shell, fake):
    run("%reload_ext mxprof_nb")
    run("%load_ext mxprof_nb")
    assert _state(shell)[1]["pre_run_cell"].count(_hooks(shell).pre_run_cell) == 1
    run(f"{NAME} -b fake -o p\nx = 1")
    assert len(fake.sessions) == 1


def test_unloading_gives_a_magic_of_the_same_name_back(shell):
    mp.unload_ipython_extension(shell)
    shell.register_magic_function(lambda line, cell: "other", "cell", "mxprofile")
    mp.load_ipython_extension(shell)
    mp.unload_ipython_extension(shell)
    assert shell.run_cell_magic("mxprofile", "", "x") == "other"
    del shell.magics_manager.magics["cell"]["mxprofile"]


def test_unloading_within_a_profiled_cell_leaves_nothing_running(run, shell, fake):
    assert run(f"{NAME} -b fake\n%unload_ext mxprof_nb").success
    assert not fake.recording


def _hooks(shell: InteractiveShell) -> CellHooks:
    owners = [getattr(call, "__self__", None) for call in shell.events.callbacks["pre_run_cell"]]
    [hooks] = [owner for owner in owners if isinstance(owner, CellHooks)]
    return hooks


def _info(cell: str):
    from IPython.core.interactiveshell import ExecutionInfo

    return ExecutionInfo(cell, True, False, True, None)


def _result(info):
    from IPython.core.interactiveshell import ExecutionResult

    result = ExecutionResult(info)
    result.error_in_exec = KeyboardInterrupt()
    return result


@pytest.mark.parametrize("indent", ["  ", "\t"])
def test_a_cell_that_is_indented_as_a_whole_runs_as_it_does_plain(shell, indent):
    cell = f"%%mxprofile -q\n{indent}x = 3\n{indent}x\n"
    result = shell.run_cell(cell)
    assert result.success
    assert result.result == 3
