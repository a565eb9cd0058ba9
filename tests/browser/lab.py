"""JupyterLab on loopback, driven in Chromium: what a person does, as methods.

- `running_lab` owns one server process and a folder of its own for everything Jupyter writes.
- `running_chromium` owns Playwright and one browser.
- `LabPage` is one page in one private browser context. It aborts and records every request that
  leaves the machine and records console errors; `assert_clean` is the verdict on both.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import nbformat
from nbformat import v4
from playwright.sync_api import Browser, ConsoleMessage, Locator, Route, WebSocket, sync_playwright

CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM_FLAGS = (
    "--no-sandbox",  # CI runs as root, where the sandbox refuses to start
    "--disable-gpu",
    "--use-angle=swiftshader",  # WebGL without a GPU
    "--enable-unsafe-swiftshader",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # What page routing cannot see (web sockets, the browser itself) finds no host either.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)
LOCAL_SCHEMES = {"data", "blob", "about"}


def find_chromium() -> str | None:
    """Return the browser named by MXPROF_CHROMIUM, or else the first one on PATH."""
    named = os.environ.get("MXPROF_CHROMIUM")
    return named or next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)


@dataclass(frozen=True)
class LabServer:
    """A running JupyterLab: its address with the slash, its token, and the folder it serves."""

    url: str
    token: str
    root: Path

    def write(self, name: str, *sources: str) -> Path:
        """Write a notebook of code cells into the served folder and return its path."""
        # Without a kernel named in it, Lab would open a dialog and ask for one.
        kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
        notebook = v4.new_notebook(
            cells=[v4.new_code_cell(source) for source in sources], metadata={"kernelspec": kernel}
        )
        path = self.root / name
        nbformat.write(notebook, path)
        return path

    def end_kernels(self) -> None:
        """Shut all kernels down: a notebook of the same name would go on with the old one."""
        for session in json.loads(self._ask("GET", "api/sessions")):
            self._ask("DELETE", f"api/sessions/{session['id']}")

    def _ask(self, method: str, path: str) -> bytes:
        headers = {"Authorization": f"token {self.token}"}
        request = Request(self.url + path, headers=headers, method=method)
        with urlopen(request, timeout=30) as answer:
            body: bytes = answer.read()
        return body


@contextmanager
def running_lab(root: Path, home: Path, *, timeout_s: float = 60) -> Iterator[LabServer]:
    """Serve `root` by a JupyterLab that keeps its settings, kernels and history under `home`."""
    settings = home / "settings"
    notification = settings / "@jupyterlab/apputils-extension/notification.jupyterlab-settings"
    notification.parent.mkdir(parents=True)
    # Lab otherwise asks, in a popup over the notebook, whether it may fetch news.
    notification.write_text(json.dumps({"fetchNews": "false", "checkForUpdates": False}))
    folders = {
        "JUPYTER_CONFIG_DIR": home / "config",
        "JUPYTER_DATA_DIR": home / "data",
        "JUPYTER_RUNTIME_DIR": home / "runtime",
        "IPYTHONDIR": home / "ipython",
        "JUPYTERLAB_SETTINGS_DIR": settings,
        "JUPYTERLAB_WORKSPACES_DIR": home / "workspaces",
    }
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("JUPYTER")}
    command = [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"),
        "--expose-app-in-browser",
        f"--ServerApp.root_dir={root}",
        "--ServerApp.ip=127.0.0.1",
        "--ServerApp.port=0",  # the system picks one; the runtime folder tells which
        "--LabApp.extension_manager=readonly",
        "--LabApp.news_url=None",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    ]
    log_path = home / "server.log"
    with log_path.open("w") as log:
        server = subprocess.Popen(
            command,
            env=inherited | {name: str(path) for name, path in folders.items()},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # so that its kernels can be ended with it
        )
        try:
            yield _wait_until_up(server, home / "runtime", root, log_path, timeout_s)
        finally:
            _end(server)


def _wait_until_up(
    server: "subprocess.Popen[bytes]", runtime: Path, root: Path, log: Path, timeout_s: float
) -> LabServer:
    # The server writes this file as soon as it listens.
    info_path = runtime / f"jpserver-{server.pid}.json"
    deadline = time.monotonic() + timeout_s
    while not info_path.exists():
        if server.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"JupyterLab did not start:\n{log.read_text()[-3000:]}")
        time.sleep(0.1)
    info = json.loads(info_path.read_text())
    return LabServer(info["url"], info["token"], root)


def _end(server: "subprocess.Popen[bytes]") -> None:
    server.terminate()  # Lab shuts its kernels down on SIGTERM
    try:
        server.wait(15)
    except subprocess.TimeoutExpired:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()


@contextmanager
def running_chromium(executable: str) -> Iterator[Browser]:
    """Start a headless Chromium through Playwright."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=executable, headless=True, args=CHROMIUM_FLAGS
        )
        yield browser
        browser.close()


class LabPage:
    """One JupyterLab page; a context manager that closes what it opened.

    Attributes
    ----------
    page : playwright.sync_api.Page
        For everything that has no method here.
    blocked : list of str
        Addresses outside this machine that were asked for, all in vain.
    errors : list of str
        Console errors and uncaught exceptions of the page.
    """

    def __init__(self, browser: Browser, server: LabServer) -> None:
        self.server = server
        self.blocked: list[str] = []
        self.errors: list[str] = []
        # Tall enough that the cells of a short notebook are all on screen.
        self._context = browser.new_context(
            viewport={"width": 1400, "height": 2000}, service_workers="block"
        )
        self._context.route("**/*", self._stay_on_this_machine)
        self.page = self._context.new_page()
        self.page.on("websocket", self._note_socket)
        self.page.on("console", self._note_error)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._context.close()

    def open(self, notebook: str) -> None:
        """Open a notebook, given relative to the server's root, and wait for its kernel."""
        self.page.goto(f"{self.server.url}lab/tree/{notebook}?token={self.server.token}&reset")
        self.page.wait_for_selector(".jp-NotebookPanel .jp-Notebook .jp-Cell")
        self.page.wait_for_function("() => window.jupyterapp?.shell.currentWidget?.sessionContext")
        self._in_notebook("await notebook.sessionContext.ready")

    def run_all(self, *, timeout_s: float = 60, allow_errors: bool = False) -> None:
        """Run all cells from a cleared state and wait until none is running or queued.

        Raises
        ------
        AssertionError
            With the tracebacks, when a cell failed and `allow_errors` is false.
        """
        # Old execution counts would look like a finished run.
        self._command("notebook:clear-all-cell-outputs")
        self._in_notebook("void app.commands.execute('notebook:run-all-cells')")
        # The kernel's own status cannot say "finished": it is idle while a subshell works.
        self.page.wait_for_function(
            """() => {
                const cells = jupyterapp.shell.currentWidget.content.widgets.filter(
                    cell => cell.model.type === 'code' && cell.model.sharedModel.source.trim());
                const busy = cells.some(
                    cell => cell.inputArea.promptNode.textContent.includes('[*]'));
                const failed = cells.some(cell => cell.model.outputs.toJSON().some(
                    output => output.output_type === 'error'));
                return !busy && (failed || cells.every(cell => cell.model.executionCount !== null));
            }""",
            timeout=timeout_s * 1000,
        )
        failures = [] if allow_errors else self.cell_errors()
        assert not failures, "\n\n".join(failures)

    def cell_errors(self) -> list[str]:
        """Return the tracebacks now shown in the notebook."""
        tracebacks: list[str] = self._in_notebook(
            """return notebook.content.widgets.flatMap(cell => cell.model.outputs?.toJSON() ?? [])
                .filter(output => output.output_type === 'error')
                .map(output => output.traceback.join('\\n'))"""
        )
        return tracebacks

    def save(self) -> None:
        """Save the notebook to its file."""
        self._command("docmanager:save")

    def execute(self, code: str) -> str:
        """Run code in the notebook's kernel, outside any cell, and return what it printed."""
        reply: dict[str, str] = self._in_notebook(
            """const {kernel} = notebook.sessionContext.session;
            const future = kernel.requestExecute({code: argument});
            let text = '', error = '';
            future.onIOPub = ({header, content}) => {
                if (header.msg_type === 'stream') text += content.text;
                if (header.msg_type === 'error') error += content.traceback.join('\\n');
            };
            await future.done;
            return {text, error}""",
            code,
        )
        assert not reply["error"], reply["error"]
        return reply["text"]

    def set_theme(self, theme: Literal["light", "dark"]) -> None:
        """Switch JupyterLab's theme and wait until the page wears it."""
        self._command("apputils:change-theme", {"theme": f"JupyterLab {theme.capitalize()}"})
        light = "true" if theme == "light" else "false"
        self.page.wait_for_selector(f"body[data-jp-theme-light={light}]", state="attached")
        # The splash screen covers the change and fades out over what a picture would show.
        self.page.wait_for_selector("#jupyterlab-splash", state="detached")

    def output(self, cell: int) -> Locator:
        """Return the output area under the cell with this index, Markdown cells counted."""
        return self.page.locator(".jp-Notebook .jp-Cell").nth(cell).locator(".jp-Cell-outputArea")

    def screenshot_output(self, cell: int, path: Path) -> None:
        """Keep a picture of one cell's output."""
        self.output(cell).screenshot(path=path)

    def assert_clean(self) -> None:
        """Fail if the page asked for anything outside this machine or logged an error."""
        assert not self.blocked, f"asked for from outside this machine: {self.blocked}"
        assert not self.errors, "\n".join(self.errors)

    def _command(self, name: str, arguments: dict[str, str] | None = None) -> None:
        self._in_notebook(
            "await app.commands.execute(...argument)", [name, *([arguments] if arguments else [])]
        )

    def _in_notebook(self, body: str, argument: object = None) -> Any:
        """Run JavaScript that sees Lab as `app`, the open notebook as `notebook`, `argument`."""
        return self.page.evaluate(
            f"""async argument => {{
                const app = window.jupyterapp, notebook = app.shell.currentWidget;
                {body}
            }}""",
            argument,
        )

    def _stay_on_this_machine(self, route: Route) -> None:
        if self._note_if_outside(route.request.url):
            route.abort()
        else:
            route.continue_()

    def _note_socket(self, socket: WebSocket) -> None:
        self._note_if_outside(socket.url)

    def _note_if_outside(self, url: str) -> bool:
        parts = urlsplit(url)
        outside = parts.hostname != "127.0.0.1" and parts.scheme not in LOCAL_SCHEMES
        if outside:
            self.blocked.append(url)
        return outside

    def _note_error(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.errors.append(f"{message.text} ({message.location['url']})")
