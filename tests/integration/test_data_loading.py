"""Loading data in a notebook and in processes: what the profile shows, Ctrl-C, fork, exit."""

from __future__ import annotations

import os

import pytest

from tests.integration.kernel import Kernel
from tests.integration.test_runtime_process import run

SLOW = """\
class Slow(mx.gluon.data.Dataset):
    def __len__(self):
        return 16
    def __getitem__(self, place):
        time.sleep(0.01)
        return mx.nd.ones((8, 8)) * place, place
loader = mx.gluon.data.DataLoader(Slow(), 2, num_workers=2)
"""

LOOP = """%%mxprofile -o p
total = mx.nd.zeros((1,))
for data, label in loader:
    total += data.sum()
total.asscalar()"""


def test_a_training_loop_shows_who_loads_and_which_line_waits_for_it(kernel: Kernel):
    kernel.run(SLOW)
    outcome = kernel.run(LOOP)
    assert outcome.status == "ok"
    [bundle] = outcome.displays
    told = " ".join(bundle["text/plain"].split())
    assert "Line 3, for data, label in loader:, waited" in told
    assert "for batch, queued on line 3." in told
    kernel.run("from mxprof_nb import analysis; e = p.events; t = p.tracks")
    assert kernel.value("sorted(t.name[t.role == 'data'])") == ["data worker 1", "data worker 2"]
    assert kernel.value("int((e.name == 'batch').sum())") == 8
    assert kernel.value("e[e.name == 'batch'].line.unique().tolist()") == [3]
    waits = "analysis.sync_waits(p).frame.query('waited_for_name == \"batch\"')"
    assert kernel.value(f"{waits}.line.unique().tolist()") == [3]
    assert kernel.value(f"{waits}.track_name.unique().tolist()") == ["MainThread"]
    assert kernel.value(f"int({waits}.dur_ns.sum())") > 40_000_000, "8 batches of 20 ms by two"
    # What the data set queues is blamed on its own line, in another cell.
    assert kernel.value("e[e.name == '_mul_scalar'].line.unique().tolist()") == [6]
    assert kernel.value("p.tables['Data loading'].set_index('name')['count'].tolist()") == [8, 9, 8]


def test_a_second_pass_has_the_same_rows(kernel: Kernel):
    kernel.run(SLOW)
    kernel.run(LOOP + "\nfor batch in loader: pass")
    assert kernel.value("sorted(p.tracks.name[p.tracks.role == 'data'])") == [
        "data worker 1",
        "data worker 2",
    ]
    assert kernel.value("int((p.events.name == 'batch').sum())") == 16


HEAD = """
    import os, signal, sys, threading, time, warnings
    import mxprof_nb.runtime as mx
    from mxprof_nb.runtime import gluon
    def slow(sample):
        time.sleep(DELAY)
        return sample
    def loader(workers=2, samples=20):
        dataset = gluon.data.SimpleDataset(list(range(samples))).transform(slow)
        return gluon.data.DataLoader(dataset, 2, num_workers=workers)
"""


@pytest.mark.parametrize("end", ["", "raise SystemExit(0)", "del made", "mx.nd.waitall()"])
def test_a_program_that_ends_in_the_middle_of_a_pass_ends(end: str):
    run(
        HEAD.replace("DELAY", "0.02")
        + f"""
    made = loader()
    batches = iter(made)
    next(batches)
    {end}
    """
    )


def test_ctrl_c_while_waiting_for_a_batch_arrives_and_the_loader_goes_on():
    run(
        HEAD.replace("DELAY", "0.2 if late else 0")
        + """
    import mxprof_nb as mp
    from mxprof_nb import analysis
    signal.signal(signal.SIGINT, signal.default_int_handler)
    late = True
    made = loader()
    with mp.profile() as p:
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            for batch in made:
                raise SystemExit("not interrupted")
        except KeyboardInterrupt:
            pass
    (wait,) = analysis.sync_waits(p).frame.query("dur_ns > 0").itertuples()
    assert wait.api_name == "DataLoader.next" and wait.dur_ns > 20e6, wait
    assert wait.text == "" or "made" in wait.text
    late = False
    assert [int(batch.sum().asscalar()) for batch in made] == [4 * n + 1 for n in range(10)]
    """
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_both_sides_of_a_fork_go_on_with_their_batches():
    run(
        HEAD.replace("DELAY", "0.005")
        + """
    warnings.simplefilter("ignore", DeprecationWarning)  # fork in a process with threads
    made = loader()
    batches = iter(made)
    first = int(next(batches).sum().asscalar())
    child = os.fork()
    sums = [first, *(int(batch.sum().asscalar()) for batch in batches)]
    assert sums == [4 * n + 1 for n in range(10)], sums
    assert len(list(made)) == 10
    names = {one.name for one in threading.enumerate() if "data worker" in one.name}
    assert names == {"mxprof data worker 1", "mxprof data worker 2"}, names
    if child:
        assert os.waitpid(child, 0)[1] == 0
    """
    )


def test_the_line_of_a_loop_with_a_progress_bar_is_the_loops():
    run(
        HEAD.replace("DELAY", "0.002")
        + """
    import mxprof_nb as mp
    from tqdm import tqdm
    with open("program.py", "w") as file:
        file.write("for batch in tqdm(made, disable=True):\\n    pass\\n")
    for workers, name in ((2, "DataLoader.next"), (0, "batch")):
        made = loader(workers)
        with mp.profile() as p:
            exec(compile(open("program.py").read(), "program.py", "exec"))
        frame = p.events.merge(p.trace.frame("sites"), left_on="site", right_index=True)
        assert set(frame[frame.name == name].file) == {"program.py"}, frame
    """
    )


def test_the_naive_engine_loads_too():
    run(
        HEAD.replace("DELAY", "0")
        + """
    assert [int(batch.sum().asscalar()) for batch in loader()] == [4 * n + 1 for n in range(10)]
    """,
        MXNET_ENGINE_TYPE="NaiveEngine",
    )
