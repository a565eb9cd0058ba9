"""Take the README's picture: ``python -m tests.browser.picture``.

A real JupyterLab, a real page, the tutorial's second part; whoever changes what a person sees runs
this again.
"""

import sys
import tempfile
from pathlib import Path

from tests.browser.lab import LabPage, find_chromium, running_chromium, running_lab

PICTURE = Path(__file__).parents[2] / "notebooks" / "pictures" / "profiled_cell.png"
CELLS = (
    "%load_ext mxprof_nb\nimport mxprof_nb.runtime as mx\nmx.nd.random_uniform().wait_to_read()",
    """\
%%mxprofile
x = mx.nd.random_uniform(shape=(2000, 2000))
y = mx.nd.dot(x, x)
y_np = y.asnumpy()""",
)


def main() -> int:
    executable = find_chromium()
    if executable is None:
        print("No Chromium was found: install the package chromium.", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder:
        root, home = Path(folder) / "root", Path(folder) / "home"
        root.mkdir()
        with (
            running_lab(root, home) as server,
            running_chromium(executable) as browser,
            LabPage(browser, server) as lab,
        ):
            server.write("picture.ipynb", *CELLS)
            lab.open("picture.ipynb")
            lab.run_all()
            lab.output(1).locator(".js-plotly-plot .xtick").first.wait_for()
            cell = lab.page.locator(".jp-Notebook .jp-Cell").nth(1)
            PICTURE.parent.mkdir(exist_ok=True)
            cell.screenshot(path=PICTURE)
    print(f"Wrote {PICTURE}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
