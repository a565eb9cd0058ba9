"""A real kernel, driven cell by cell, with everything a front end would see."""

from __future__ import annotations

import os
import queue
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager

ROOT = Path(__file__).resolve().parents[2]
PLUGIN = ROOT / "tests" / "plugin_example"
PATIENCE_S = 30


@dataclass
class Outcome:
    """What one execution gave."""

    status: str = ""
    ename: str = ""
    evalue: str = ""
    #: Data of displays, in order.
    displays: list[dict[str, Any]] = field(default_factory=list)
    #: Data that took the place of a display, in order.
    updates: list[dict[str, Any]] = field(default_factory=list)
    #: Data of the value, None without one.
    value: dict[str, Any] | None = None
    stdout: str = ""
    stderr: str = ""
    #: Tracebacks as the front end shows them.
    errors: list[list[str]] = field(default_factory=list)
    #: Kinds of output in the order they came.
    order: list[str] = field(default_factory=list)

    @property
    def text(self) -> str | None:
        """The value as text."""
        return None if self.value is None else self.value["text/plain"]


class Kernel:
    """One running kernel."""

    def __init__(self, manager: KernelManager, client: BlockingKernelClient) -> None:
        self.manager, self.client = manager, client

    def run(
        self,
        code: str,
        *,
        interrupt_at: tuple[str, ...] = (),
        allow_stdin: bool = False,
        subshell: str | None = None,
    ) -> Outcome:
        """Run a cell; interrupt when each of the given texts appears, in that order.

        A text is looked for in what is printed and in the names of errors shown.
        """
        waiting = list(interrupt_at)
        number = self.send(code, allow_stdin=allow_stdin, subshell=subshell)
        outcome = Outcome()
        for kind, content in self._messages(number):
            self._take(outcome, kind, content)
            shown = content.get("text", "") + content.get("ename", "")
            if waiting and waiting[0] in shown:
                waiting.pop(0)
                time.sleep(0.3)  # the text comes just before what is to be interrupted
                self.manager.interrupt_kernel()
        reply = self.reply(number)
        outcome.status = reply["status"]
        outcome.ename, outcome.evalue = reply.get("ename", ""), reply.get("evalue", "")
        return outcome

    def value(self, expression: str) -> Any:
        """Return the value of an expression that is a literal."""
        import ast

        outcome = self.run(f"print(repr({expression}))")
        assert outcome.status == "ok", outcome
        return ast.literal_eval(outcome.stdout)

    def send(self, code: str, *, allow_stdin: bool = False, subshell: str | None = None) -> str:
        """Send a cell and return the number of the request."""
        content = {
            "code": code, "silent": False, "store_history": True, "user_expressions": {},
            "allow_stdin": allow_stdin, "stop_on_error": True,
        }  # fmt: skip
        message = self.client.session.msg("execute_request", content)
        if subshell is not None:
            message["header"]["subshell_id"] = subshell
        self.client.shell_channel.send(message)
        number: str = message["header"]["msg_id"]
        return number

    def reply(self, number: str) -> dict[str, Any]:
        """Return the reply to a request."""
        while True:
            message = self.client.get_shell_msg(timeout=PATIENCE_S)
            if message["parent_header"].get("msg_id") == number:
                content: dict[str, Any] = message["content"]
                return content

    def control(self, kind: str, content: dict[str, Any]) -> dict[str, Any]:
        """Send a request on the control channel and return the reply."""
        message = self.client.session.msg(kind, content)
        self.client.control_channel.send(message)
        while True:
            reply = self.client.get_control_msg(timeout=PATIENCE_S)
            if reply["parent_header"].get("msg_id") == message["header"]["msg_id"]:
                answered: dict[str, Any] = reply["content"]
                return answered

    def _messages(self, number: str) -> Iterator[tuple[str, dict[str, Any]]]:
        end = time.monotonic() + PATIENCE_S
        while True:
            try:
                message = self.client.get_iopub_msg(timeout=max(end - time.monotonic(), 0.1))
            except queue.Empty:
                raise TimeoutError(f"The cell did not end within {PATIENCE_S} s.") from None
            if message["parent_header"].get("msg_id") != number:
                continue
            kind, content = message["msg_type"], message["content"]
            if kind == "status" and content["execution_state"] == "idle":
                return
            yield kind, content

    @staticmethod
    def _take(outcome: Outcome, kind: str, content: dict[str, Any]) -> None:
        if kind == "stream":
            old = getattr(outcome, content["name"])
            setattr(outcome, content["name"], old + content["text"])
        elif kind == "display_data":
            outcome.displays.append(content["data"])
        elif kind == "update_display_data":
            outcome.updates.append(content["data"])
        elif kind == "execute_result":
            outcome.value = content["data"]
        elif kind == "error":
            outcome.errors.append(content["traceback"])
        else:
            return
        outcome.order.append(kind)


@contextmanager
def started(folder: Path) -> Iterator[Kernel]:
    """Start a kernel that works in ``folder``/work, with the example plugin installed."""
    work, site = folder / "work", folder / "site"
    work.mkdir()
    info = site / "mxprof_jobs-0.1.dist-info"  # what an installer leaves behind
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mxprof-jobs\nVersion: 0.1\n")
    (info / "entry_points.txt").write_text("[mxprof_nb.backends]\njobs = mxprof_jobs:JobsBackend\n")
    env = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(map(str, (ROOT, PLUGIN, site))),
        "IPYTHONDIR": str(folder / "ipython"),
        "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
        "NO_COLOR": "1",
    }
    manager = KernelManager(kernel_name="python3", connection_file=str(folder / "connection.json"))
    assert manager.kernel_spec is not None, "ipykernel is not installed"
    manager.kernel_spec.argv[0] = sys.executable
    manager.start_kernel(env=env, cwd=str(work))
    client = manager.blocking_client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=PATIENCE_S)
        yield Kernel(manager, client)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
        manager.context.destroy(linger=0)
