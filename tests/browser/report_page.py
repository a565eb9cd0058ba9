"""A saved report, opened from its file in Chromium: what a person does, as methods."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from playwright.sync_api import Browser, ConsoleMessage, Locator, Page

from mxprof_nb.trace import Trace
from mxprof_nb.view.report import save_html

Scheme = Literal["light", "dark"]


class ReportPage:
    """One report in one page of its own; `assert_clean` is the verdict on it.

    Attributes
    ----------
    page : playwright.sync_api.Page
        For everything that has no method here.
    """

    def __init__(self, page: Page, path: Path) -> None:
        self.page = page
        self.errors: list[str] = []
        self.requests: list[str] = []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", self._note_error)
        page.on("request", lambda request: self.requests.append(request.url))
        page.goto(path.as_uri())
        self.canvas.wait_for()

    @property
    def canvas(self) -> Locator:
        return self.page.locator("canvas")

    @property
    def inspector(self) -> Locator:
        return self.page.get_by_role("region", name="Selected event")

    def ask(self, script: str, argument: object = None) -> Any:
        """Return what an expression of the page is worth; ``report`` is the view."""
        return self.page.evaluate(script, argument)

    def range(self) -> tuple[float, float]:
        """Return the visible part, in ns from the begin of the run."""
        begin, end = self.ask("report.range")
        return begin, end

    def width(self) -> float:
        begin, end = self.range()
        return end - begin

    def place(self, time_ns: float, row: int) -> tuple[float, float]:
        """Return where a time and a row of events stand in the window, scrolled there."""
        self.canvas.scroll_into_view_if_needed()
        x, y = self.ask(
            """([time, row]) => {
                const {picture} = report, box = picture.canvas.getBoundingClientRect();
                const {y} = picture.layout.rows.filter(one => !one.head)[row];
                return [box.left + picture.x(time), box.top + picture.y(y)];
            }""",
            [time_ns, row],
        )
        return x, y

    def time_at(self, x: float) -> float:
        """Return the time below a place of the page."""
        found: float = self.ask(
            "x => report.picture.timeAt(x - report.picture.canvas.getBoundingClientRect().left)", x
        )
        return found

    def click(self, time_ns: float, row: int) -> None:
        self.page.mouse.click(*self.place(time_ns, row))
        self.painted()

    def drag(self, first: tuple[float, float], last: tuple[float, float]) -> None:
        mouse = self.page.mouse
        mouse.move(*first)
        mouse.down()
        mouse.move((first[0] + last[0]) / 2, first[1], steps=4)
        mouse.move(*last, steps=4)
        mouse.up()
        self.painted()

    def press(self, key: str) -> None:
        self.page.keyboard.press(key)
        self.painted()

    def painted(self) -> None:
        """Wait until what was asked for is drawn."""
        self.ask("() => new Promise(done => requestAnimationFrame(() => setTimeout(done)))")

    def colour(self, time_ns: float, row: int) -> tuple[int, int, int]:
        """Return the colour of the picture at a time and a row, red, green and blue."""
        self.painted()
        red, green, blue, _ = self.ask(
            """([time, row]) => {
                const {picture} = report, {ratio} = picture;
                const middle = picture.layout.rows.filter(one => !one.head)[row].y;
                const [x, y] = [picture.x(time), picture.y(middle)];
                return [...picture.pen.getImageData(x * ratio, y * ratio, 1, 1).data];
            }""",
            [time_ns, row],
        )
        return red, green, blue

    def _note_error(self, line: ConsoleMessage) -> None:
        if line.type == "error":
            self.errors.append(line.text)

    def assert_clean(self) -> None:
        """Fail if the page asked for another file than itself or logged an error."""
        assert not self.errors, "\n".join(self.errors)
        others = [url for url in self.requests[1:] if not url.startswith(("data:", "blob:"))]
        assert not others, f"asked for: {others}"


@contextmanager
def opened(
    chromium: Browser, trace: Trace, folder: Path, *, scheme: Scheme = "light", width: int = 1200
) -> Iterator[ReportPage]:
    """Write the report of a trace, and show it in a window 1,100 px high."""
    path = save_html(trace, folder / "report.html")
    context = chromium.new_context(
        viewport={"width": width, "height": 1100}, color_scheme=scheme, offline=True
    )
    try:
        yield ReportPage(context.new_page(), path)
    finally:
        context.close()
