"""Every probe runs twice in a real kernel, plain and under ``%%mxprofile``, and is compared."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from tests.integration.kernel import Kernel, Outcome

SAME = {
    "names go to the notebook": "x = 20\ndef found(): return x\nimport math\nfound()",
    "names are deleted": "x = 20\ndel x\n'x' in globals()",
    "the last expression is shown": "x = 20\nx + 1",
    "a semicolon silences": "x = 20\nx + 1;",
    "without an expression nothing is shown": "x = 20",
    "prints": "import sys\nprint('out')\nprint('err', file=sys.stderr)",
    "displays": "from IPython.display import display, HTML\ndisplay(HTML('<b>b</b>'))\n5",
    "a semicolon within a string": "'a;'",
    "a semicolon before a comment": "20;  # quiet",
    "an exception": "def f():\n    return 1 / 0\nf()",
    "an exception after output": "print('before')\nraise ValueError('told')",
    "an exception group": "raise ExceptionGroup('many', [ValueError('a'), KeyError('b')])",
    "SystemExit": "raise SystemExit(3)",
    "sys.exit": "import sys\nprint('before')\nsys.exit('told')",
    "KeyboardInterrupt raised": "raise KeyboardInterrupt",
    "await": "await asyncio.sleep(0.01)\n'awaited'",
    "await with a semicolon": "await asyncio.sleep(0.01, 'x');",
    "await that fails": "async def f():\n    raise ValueError('told')\nawait f()",
    "async for": (
        "async def ticks():\n    for i in range(3):\n        await asyncio.sleep(0)\n"
        "        yield i\nseen = []\nasync for i in ticks():\n    seen.append(i)\nseen"
    ),
    "async with": (
        "class A:\n    async def __aenter__(self): return 1\n"
        "    async def __aexit__(self, *e): pass\nasync with A() as a:\n    print(a)"
    ),
    "async comprehension": "async def one():\n    yield 1\n[i async for i in one()]",
    "await that gives nothing": "await asyncio.sleep(0)",
    "a task that outlives the cell": "t = asyncio.ensure_future(asyncio.sleep(0, 5))\nt.done()",
    "a shell command": "!echo hello\n3",
    "a shell command that fails": "!exit 3\n_exit_code",
    "a shell command in a loop": "for x in range(2):\n    !echo {x} $x",
    "a captured shell command": "words = !echo a b\nwords",
    "a line magic": "%pwd -q\n%alias_magic t timeit\n4",
    "a magic with a value": "words = %pwd\ntype(words)",
    "a magic that runs code": "%prun -q x = 20\nx",
    "a cell magic below": "%%capture words\nprint('x')",
    "a help line": "len?",
    "a failing line magic": "%no_such_magic\n4",
    "from __future__": (
        "from __future__ import annotations\ndef f(x: Nope): pass\nf.__annotations__"
    ),
    "a triple-quoted string": "text = '''a\n  b\n%%mxprofile\n    c'''\ntext",
    "a triple-quoted string at the end": 'x = """\n\ta\n\n  b"""\nx',
    "a string of magics": "'%time !ls {x} $x'",
    "a syntax error": "x = 1\nx +",
    "an indentation error": "if 1:\nx = 1",
    "return outside a function": "x = 1\nreturn x",
    "a class and a decorator": (
        "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int = 1\nP()"
    ),
    "globals": "'x' in globals(), __name__, __builtins__.__name__",
    "only a comment": "# nothing",
    "lines joined by a backslash": "x = 1 + \\\n    2\nx",
    "an unfinished string": "x = 'abc",
    "a warning": "import warnings\nwarnings.warn('told')\n5",
    "input that nobody gives": "input()",
    "an async array program": "a = mx.nd.ones((2, 3))\nb = a + 1\nb.asnumpy().sum()",
    "a display that fails": "class B:\n    def __repr__(self): raise ValueError('x')\nB()",
    "the value before": "_",
}


@pytest.mark.parametrize("flags", ["", "-b jobs"])
@pytest.mark.parametrize("name", SAME)
def test_a_cell_gives_what_the_plain_cell_gives(kernel: Kernel, name: str, flags: str):
    code = SAME[name]
    kernel.run("'value before'")
    plain = kernel.run(code)
    plain_after = after(kernel)
    kernel.run("'value before'")
    profiled = kernel.run(f"%%mxprofile {flags}\n{code}")
    shown = [data for data in profiled.displays if is_profile(data)]
    profiled = without_profile(profiled)
    assert comparable(profiled) == comparable(plain)
    assert after(kernel) == plain_after
    assert len(shown) == (plain.ename not in ("SyntaxError", "IndentationError"))


@pytest.mark.parametrize("name", ["the last expression is shown", "prints", "displays"])
def test_under_capture_the_value_and_the_output_are_captured(kernel: Kernel, name: str):
    """And the profile, as the last of what is shown."""
    for top in ("", "%%mxprofile\n"):
        outcome = kernel.run(f"%%capture {'profiled' if top else 'plain'}\n{top}{SAME[name]}")
        assert (outcome.status, outcome.order) == ("ok", [])
    for part in ("stdout", "stderr"):
        assert kernel.value(f"profiled.{part}") == kernel.value(f"plain.{part}")
    shown = "[str(output.data['text/plain']) for output in {}.outputs]"
    *others, profile = kernel.value(shown.format("profiled"))
    assert others == kernel.value(shown.format("plain"))
    assert is_profile({"text/plain": profile})


def test_an_exception_under_capture_is_the_plain_one(kernel: Kernel):
    plain = kernel.run("%%capture\n1 / 0")
    profiled = kernel.run("%%capture\n%%mxprofile\n1 / 0")
    assert (profiled.status, profiled.ename) == (plain.status, plain.ename)


def after(kernel: Kernel) -> object:
    """What the next cell sees: `_`, and the values it may ask for by name."""
    return kernel.value(
        "(type(_).__name__, str(_) if isinstance(_, (int, str, list)) else '', "
        "globals().get('x'), globals().get('seen'))"
    )


def is_profile(data: dict[str, object]) -> bool:
    # The headline: parts with dots between them, one of which counts events.
    return bool(re.match(r"[^·]* · .*\d+\s+events?\b", str(data.get("text/plain", "")), re.DOTALL))


def without_profile(outcome: Outcome) -> Outcome:
    order = list(outcome.order)
    if any(map(is_profile, outcome.displays)):
        assert order.pop() == "display_data", "the profile comes last"
    return replace(
        outcome, displays=[d for d in outcome.displays if not is_profile(d)], order=order
    )


def comparable(outcome: Outcome) -> Outcome:
    """Leave out what differs between any two runs: numbers of cells, lines moved by one."""

    def neutral(text: str) -> str:
        text = re.sub(r"#%%mxprofile.*\n", "", text)
        text = re.sub(r"\x1b\[[0-9;]*m", "", text)
        text = re.sub(r"0x[0-9a-f]+", "0x", text)
        text = re.sub(
            r"In ?\[\d+\]|line \d+|(?<=:)\d+(?=: \w+Warning)|(ipykernel_\d+/)?\d+\.py", "", text
        )
        text = re.sub(r"(?m)^(-+> ?)?\s*\d+ ", r"\1", text)
        return re.sub(r"[ \t]+", " ", text)

    return replace(
        outcome,
        errors=[[neutral(line) for line in "\n".join(e).splitlines()
                 if not re.fullmatch(r"\s*\d+ #%%mxprofile.*", neutral_colours(line))]
                for e in outcome.errors],
        evalue=neutral(outcome.evalue),
        stdout=neutral(outcome.stdout),
        stderr=neutral(outcome.stderr),
        order=[kind for k, kind in enumerate(outcome.order)
               if not k or (kind, outcome.order[k - 1]) != ("stream", "stream")],
    )  # fmt: skip


def neutral_colours(line: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", line)


def test_an_error_names_the_lines_of_the_notebook_cell(kernel: Kernel):
    outcome = kernel.run("%%mxprofile -q\nx = 1\nx / 0")
    [traceback] = outcome.errors
    assert "line 3" in neutral_colours(traceback[1]) or "----> 3" in "".join(
        map(neutral_colours, traceback)
    )


def test_values_and_inputs_are_kept_under_the_number_of_the_cell(kernel: Kernel):
    kernel.run("%%mxprofile -q\n'kept'")
    count = kernel.value("len(In) - 1") - 1
    assert kernel.value(f"Out[{count}]") == "kept"
    assert kernel.value(f"get_ipython().history_manager.input_hist_raw[{count}]") == (
        "%%mxprofile -q\n'kept'"
    )


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("--bogus", "--bogus"),
        ("-b embeded", "Did you mean 'embedded'"),
        ("-e no_such_folder/a.json", "no folder"),
        ("-e a.unknown", "unknown"),
    ],
)
def test_a_line_that_cannot_be_followed_is_a_usage_error_and_nothing_runs(kernel, line, told):
    outcome = kernel.run(f"%%mxprofile {line}\nran = await asyncio.sleep(0, 1)")
    assert (outcome.status, outcome.ename) == ("error", "UsageError")
    assert told in outcome.stderr
    assert outcome.stderr.count("UsageError") == 1
    assert not outcome.displays
    assert kernel.value("'ran' in globals()") is False
    assert kernel.run("%%mxprofile\n1").displays, "the next cell is profiled"


def test_an_empty_cell_is_one_clear_error(kernel: Kernel):
    outcome = kernel.run("%%mxprofile")
    assert outcome.ename == "UsageError"
    assert "Write the code to profile" in outcome.stderr


def test_nothing_is_left_in_the_working_directory(kernel: Kernel):
    kernel.run("%%mxprofile\nmx.nd.ones((2, 2)).asnumpy()")
    kernel.run("%%mxprofile\n1 / 0")
    assert kernel.value("__import__('os').listdir()") == []


def test_help_opens_in_the_pager_and_runs_nothing(kernel: Kernel):
    number = kernel.send("%%mxprofile?")
    reply = kernel.reply(number)
    [page] = [part for part in reply["payload"] if part["source"] == "page"]
    assert "--export FILE" in page["data"]["text/plain"]
