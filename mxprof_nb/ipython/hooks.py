"""`CellHooks`: the ``%%mxprofile`` of one shell, which never runs the cell's code itself.

- `transform`, called for every text before it is compiled, turns the first line into a comment,
  so that the rest runs as an ordinary cell: ``await``, the last expression, line numbers and
  errors are the plain cell's. It changes nothing else and keeps the number of lines.
- `pre_run_cell` starts a recording and `post_run_cell` ends it, each called in the thread that
  runs the cell. Executions may nest (a cell that calls ``run_cell``) and run beside each other
  (subshells), so every thread has a stack of them and an end belongs to the execution it names.
- A line that cannot be followed (an unknown flag, say) stays in place: IPython then calls the
  cell magic of the same name, which raises, and nothing of the cell runs.
- Within a running cell, another magic (``%%time``) may transform the rest of the text and run it
  without telling anybody. There the first line becomes a call of `begin`.
"""

from __future__ import annotations

import ast
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any

from IPython.core.error import InputRejected, UsageError
from IPython.core.inputtransformer2 import cell_magic, leading_empty_lines
from IPython.core.interactiveshell import ExecutionInfo, ExecutionResult, InteractiveShell

from mxprof_nb.ipython.arguments import Options, check, parse
from mxprof_nb.ipython.kept import KeptProfiles
from mxprof_nb.ipython.repetition import Repeated, repeated
from mxprof_nb.ipython.run import NAME, Run, complain

__all__ = ["CellHooks"]


@dataclass(slots=True)
class _Execution:
    """One execution that has begun; holds its info so that no other can take its identity."""

    info: ExecutionInfo
    #: How many runs had finished in the shell when it began.
    finished: int
    run: Run | None = None
    repeated: Repeated | None = None

    def give_up(self) -> None:
        """End without a profile what runs for it."""
        if self.repeated is not None:
            self.repeated.take_back()
        if self.run is not None:
            self.run.abandon()


class CellHooks:
    """The life of ``%%mxprofile`` in one shell, from `install` to `remove`.

    Attributes
    ----------
    kept : KeptProfiles
        The profiles made last, and those with a name.
    """

    def __init__(self, shell: InteractiveShell) -> None:
        self.shell = shell
        self.kept = KeptProfiles()
        self._number = 0  # of the execution that follows
        self._finished = 0  # runs so far
        self._repeating: dict[threading.Thread, Run] = {}
        self._listening: list[Callable[..., Any]] = []
        self._stacks: dict[threading.Thread, list[_Execution]] = {}

    def install(self) -> None:
        """Put the hooks into the shell."""
        self.shell.input_transformer_manager.cleanup_transforms.insert(0, self.transform)
        self.shell.events.register("pre_run_cell", self.pre_run_cell)
        self.shell.events.register("post_run_cell", self.post_run_cell)

    def remove(self) -> None:
        """Take everything back; a recording that runs meanwhile is dropped."""
        self.shell.input_transformer_manager.cleanup_transforms.remove(self.transform)
        self.shell.events.unregister("pre_run_cell", self.pre_run_cell)
        self.shell.events.unregister("post_run_cell", self.post_run_cell)
        for stack in self._stacks.values():
            for execution in stack:
                execution.give_up()
        self._stacks.clear()
        self._repeating.clear()
        self._listen_no_more()

    # Before the cell is compiled.

    def transform(self, lines: list[str]) -> list[str]:
        """Return the lines of a cell with ``%%mxprofile`` taken out of the way."""
        found = _first_line(lines)
        if found is None:
            return lines
        # Some versions of IPython count on before `pre_run_cell`, others at the end.
        self._number = self.shell.execution_count
        at, arguments = found
        head, body = lines[:at], lines[at + 1 :]
        if _refusal(arguments, body) is not None:
            return lines if body else [*lines, "\n"]  # the magic is only called with a body
        first = lines[at]
        indent = first[: len(first) - len(first.lstrip())]
        inner = leading_empty_lines(body)
        if inner[0].startswith("%%"):
            body = cell_magic(inner)  # IPython only looks for one on the first line
        if self._stacks.get(threading.current_thread()):
            call = f"begin({arguments!r}, {''.join(lines[at:])!r})"
            instead = f"{indent}__import__('mxprof_nb.ipython', fromlist=['begin']).{call}\n"
        else:
            # As far in as the code below, so that a cell that is indented as a whole still runs.
            inner_line = next((line for line in body if line.strip()), first)
            indent = inner_line[: len(inner_line) - len(inner_line.lstrip())]
            instead = f"{indent}#{first.lstrip()}"
        return [*head, instead, *body]

    # While a person types, a cell counts as complete by the rules for cell magics.
    transform.has_side_effects = True  # type: ignore[attr-defined]

    # Around the cell.

    def pre_run_cell(self, info: ExecutionInfo) -> None:
        """Start to record when the cell asks for it."""
        execution = _Execution(info, self._finished)
        run = self._asked_for(execution)
        self._stack().append(execution)
        if run is None:
            return
        try:
            run.live.start()
        except Exception as error:
            self.shell.ast_transformers.append(_Rejection(self.shell, error))
        else:
            execution.run = run
            self._listen()
            if run.times > 1:
                execution.repeated = Repeated(self.shell)
                self._repeating[threading.current_thread()] = run
            run.progress.start()

    def another(self) -> bool:
        """Begin a repetition of the code that runs in this thread; return whether more follow."""
        run = self._repeating.get(threading.current_thread())
        return run is not None and run.another()

    def _listen(self) -> None:
        """Have the shell say what it is about to run, and when it begins to print a traceback."""
        shell = self.shell
        if self._listening:
            return  # for another execution
        show: Callable[..., Any] = shell.showtraceback
        run: Callable[..., Any] = shell.run_code

        def showtraceback(*args: Any, **kwargs: Any) -> None:
            for execution in self._stack()[-1:]:  # not those around it, which go on
                if execution.run is not None:
                    execution.run.live.returned()  # printing takes its time
            show(*args, **kwargs)

        def run_code(code: CodeType, *args: Any, **kwargs: Any) -> Any:
            for execution in self._stack():
                if execution.run is not None:
                    execution.run.live.follow(code)
            return run(code, *args, **kwargs)

        for function in (showtraceback, run_code):
            if function.__name__ not in vars(shell):  # else somebody else listens
                vars(shell)[function.__name__] = function
                self._listening.append(function)

    def _listen_no_more(self) -> None:
        """Let the shell do both by itself again, once no recording runs."""
        if any(one.run for stack in self._stacks.values() for one in stack):
            return
        for function in self._listening:
            if vars(self.shell).get(function.__name__) is function:
                delattr(self.shell, function.__name__)
        self._listening.clear()

    def _asked_for(self, execution: _Execution) -> Run | None:
        """Return what an execution that begins asks for by its first line."""
        cell = execution.info.raw_cell or ""
        lines = cell.splitlines(keepends=True)
        found = _first_line(lines)
        if found is None:
            return None
        at, arguments = found
        if _refusal(arguments, lines[at + 1 :]) is not None:
            return None  # the magic says so
        # Before IPython 9.16 the info lacks it; later on, `transform` would see a running profile.
        known = getattr(execution.info, "transformed_cell", None)
        text = known or self.shell.transform_cell(cell)
        file = self.shell.compile.get_code_name(cell, text, self._number)
        # IPython drops empty lines at the top before it counts.
        return Run(parse(arguments), "".join(lines[at:]), file)

    def post_run_cell(self, result: ExecutionResult | None) -> None:
        """Stop the recording that belongs to this execution and show the profile."""
        self._take_rejections_back()
        execution = self._ended(result)
        self._listen_no_more()
        if execution is not None and execution.repeated is not None:
            execution.repeated.take_back()
            self._repeating.pop(threading.current_thread(), None)
        if execution is None:
            return
        if (run := execution.run) is None:
            if result is not None and result.success and execution.finished == self._finished:
                _warn_of_unused(execution.info.raw_cell or "")
            return
        if result is not None and result.error_before_exec is not None:
            run.abandon()  # nothing ran
            return
        error = KeyboardInterrupt() if result is None else result.error_in_exec
        count = None if result is None else result.execution_count
        title = f"cell {count}" if execution.info.store_history and count else "cell"
        try:
            self._finish(run, error, title)
        except KeyboardInterrupt as cut:
            # What a person stops counts as interrupted, so that "Run All" stops here too.
            self.shell.showtraceback((KeyboardInterrupt, cut, None), exception_only=True)
            if result is not None:
                result.error_in_exec = cut

    # For code that IPython runs without these hooks.

    def begin(self, arguments: str, source: str, frame: FrameType) -> None:
        """Record from here to the end of the execution that is under way in this thread."""
        execution = self._stack()[-1]
        if execution.run is not None:
            return  # its own first line, or a repetition
        run = Run(parse(arguments), source, frame.f_code.co_filename)
        if run.times > 1:
            complain(
                "under another magic the code runs as often as that one says, not as -n and -w "
                "do. Put %%mxprofile on the first line of the cell for those."
            )
        run.live.start(frame)
        execution.run = run

    def run_here(self, options: Options, cell: str) -> Any:
        """Profile a text as ``%%time`` would run it; return the value of its last expression."""
        shell = self.shell
        text = shell.transform_cell(cell)
        name = shell.compile.cache(text, shell.execution_count, raw_code=cell)
        tree = shell.transform_ast(shell.compile.ast_parse(text, filename=name))
        run = Run(options, cell, name)
        if run.times > 1:
            tree = repeated(tree)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        # The shell's compiler knows the __future__ of this shell. What it refuses never ran.
        compiled: Callable[..., CodeType] = shell.compile
        body = compiled(tree, name, "exec")
        value = None if last is None else compiled(ast.Expression(last.value), name, "eval")
        run.live.start()
        run.progress.start()
        self._repeating[threading.current_thread()] = run
        error: BaseException | None = None
        try:
            run.live.follow(body)
            exec(body, shell.user_ns)
            if value is None:
                return None
            run.live.follow(value)
            return eval(value, shell.user_ns)
        except BaseException as raised:
            error = raised
            raise
        finally:
            self._repeating.pop(threading.current_thread(), None)
            self._finish(run, error, "cell")

    def _finish(self, run: Run, error: BaseException | None, title: str) -> None:
        self._finished += 1
        try:
            run.finish(self.shell, error, title)
        finally:
            if run.profile is not None:
                self.kept.add(run.profile, run.options.output)

    def _stack(self) -> list[_Execution]:
        return self._stacks.setdefault(threading.current_thread(), [])

    def _ended(self, result: ExecutionResult | None) -> _Execution | None:
        """Take the execution that ended off the stack, with those above that never told."""
        stack = self._stack()
        info = None if result is None else result.info
        at = next((i for i, one in enumerate(stack) if one.info is info), None)
        if at is None:
            # An interrupt between the hooks makes IPython lose the info, or all of the result.
            text = None if info is None else info.raw_cell
            same = [i for i, one in enumerate(stack) if text in (None, one.info.raw_cell)]
            if not same:
                return None
            at = same[-1]
        for lost in stack[at + 1 :]:
            lost.give_up()
        execution = stack[at]
        del stack[at:]
        if not stack:
            self._stacks.pop(threading.current_thread(), None)
        return execution

    def _take_rejections_back(self) -> None:
        for one in [t for t in self.shell.ast_transformers if isinstance(t, _Rejection)]:
            one.take_back()


class NotStartedError(InputRejected):
    """Recording could not start, so the cell did not run."""

    def _render_traceback_(self) -> list[str]:
        return [f"{type(self.__cause__).__name__}: {self}"]


class _Rejection(ast.NodeTransformer):
    """Keeps the next code of this thread from running; the only such means outside a magic."""

    def __init__(self, shell: InteractiveShell, error: Exception) -> None:
        self.shell, self.error, self.thread = shell, error, threading.current_thread()

    def visit(self, node: ast.AST) -> Any:
        if threading.current_thread() is not self.thread:
            return node
        self.shell.ast_transformers.remove(self)
        raise NotStartedError(str(self.error)) from self.error

    def take_back(self) -> None:
        """Let go when the code never came so far, e.g. for a syntax error."""
        if threading.current_thread() is self.thread:
            self.shell.ast_transformers.remove(self)


def _first_line(lines: Sequence[str]) -> tuple[int, str] | None:
    """Return where ``%%mxprofile`` stands and what follows it, None for other cells."""
    for at, line in enumerate(lines):
        words = line.split(None, 1)
        if words:
            return (at, words[1].strip() if words[1:] else "") if words[0] == NAME else None
    return None


def _warn_of_unused(cell: str) -> None:
    """Say so when a magic above ``%%mxprofile`` took the text below it for itself."""
    first, *below = leading_empty_lines(cell.splitlines(keepends=True)) or [""]
    magic = next(iter(first.split()), "")
    if magic.startswith("%%") and magic != NAME and _first_line(below) is not None:
        complain(
            f"nothing was profiled: {magic} does not run the text below it as a cell. Put "
            f"{NAME} on the first line to profile that."
        )


def _refusal(arguments: str, body: Sequence[str]) -> UsageError | None:
    """Return why a cell cannot be profiled as asked, None when it can; changes nothing."""
    if not any(line.strip() for line in body):
        return UsageError("empty")
    try:
        check(parse(arguments))
    except UsageError as error:
        return error
    return None
