"""`mxprof-nb doctor`: say what is installed, what is missing, and how to get it.

Exit status 0 when all that recording needs is there; what only notebooks or the demo need may be
missing. The versions below the list belong into every report of a fault.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

__all__ = ["declare", "pip", "work"]

#: Parts of JupyterLab that draw the live view, and the package that brings each.
_WIDGETS = {
    "@jupyter-widgets/jupyterlab-manager": "jupyterlab_widgets",
    "anywidget": "anywidget",
}
_LEAST = re.compile(r"^([\w.-]+)\s*>=\s*([\d.]+)")


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the list.

    Attributes
    ----------
    state : {"ok", "missing", "optional"}
        "optional": missing, and only one use of several needs it.
    about : str
        What was looked at.
    text : str
        What was found.
    command : str
        What to run, where something is missing; on a line of its own, to be copied.
    """

    state: str
    about: str
    text: str
    command: str = ""


def declare(parser: argparse.ArgumentParser) -> None:
    """Add no flags; the verb has none."""


def work(options: argparse.Namespace) -> int:
    """Do it; return the exit status."""
    # Plain text without rich, which may be what is missing.
    findings = [_packages(), _recording(), _kernel(), _lab(), _demo(), _formats(), _reports()]
    width = max(len(finding.about) for finding in findings)
    for finding in findings:
        print(f"{finding.state:<8}  {finding.about:<{width}}  {finding.text}")
        if finding.command:
            print(f"{'':<8}  {'':<{width}}  Run: {finding.command}")
    print("\nVersions, to quote when you ask for help:\n")
    from mxprof_nb.backends import show_versions

    show_versions()
    missing = [finding.about for finding in findings if finding.state == "missing"]
    print(f"\nMissing: {', '.join(missing)}." if missing else "\nAll that is required is there.")
    return 1 if missing else 0


def _packages() -> Finding:
    try:
        needed = [line for line in requires("mxprof-nb") or () if "extra ==" not in line]
    except PackageNotFoundError:
        return Finding(
            "missing",
            "packages",
            "mxprof-nb runs from a folder and is not installed; in that folder:",
            pip("-e ."),
        )
    wrong = list(_wanting(needed))
    if wrong:
        names = " ".join(f'"{line}"' for line, _ in wrong)
        told = ", ".join(why for _, why in wrong)
        return Finding("missing", "packages", f"{told}.", pip(names))
    return Finding("ok", "packages", f"all {len(needed)} that it needs, at versions that fit")


def _wanting(requirements: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield each requirement that is not met, and why."""
    for line in requirements:
        found = _LEAST.match(line)
        name, least = found.groups() if found else (re.split(r"[^\w.-]", line)[0], "")
        try:
            have = version(name)
        except PackageNotFoundError:
            yield line, f"{name} is not installed"
        else:
            if _parts(have) < _parts(least):
                yield line, f"{name} {have} is older than {least}"


def _parts(version: str) -> tuple[int, ...]:
    leading = re.match(r"[\d.]*", version)
    return tuple(int(part) for part in (leading.group() if leading else "").split(".") if part)


def _recording() -> Finding:
    try:
        import mxprof_nb.runtime as mx
        from mxprof_nb.capture import profile

        with profile(name="doctor") as tried:
            (mx.nd.ones((2, 2)) + 1).wait_to_read()
        ran = int(tried.trace.events.is_category("operator").sum())
    except Exception as error:  # whatever it is, the person has to see it
        return Finding("missing", "recording", f"failed: {type(error).__name__}: {error}")
    if not ran:
        return Finding("missing", "recording", "a sum was computed, and no operator was recorded")
    return Finding("ok", "recording", f"tried: {ran} operators of the embedded runtime recorded")


def _kernel() -> Finding:
    return _optional("notebooks", ["ipykernel"], "a kernel for Jupyter")


def _lab() -> Finding:
    """Look for what draws the live view; the front end may live in another environment."""
    about = "live view"
    if not _installed("jupyterlab"):
        return Finding(
            "optional",
            about,
            "JupyterLab is not in this environment. Where it runs in another one, that one needs "
            f"{' and '.join(_WIDGETS.values())}.",
            pip("jupyterlab"),
        )
    wanting = [package for part, package in _WIDGETS.items() if not _has_extension(part)]
    if wanting:
        return Finding(
            "optional",
            about,
            f"JupyterLab {version('jupyterlab')} lacks {', '.join(wanting)}: profiles show as "
            "still pictures. Reload the page after:",
            pip(" ".join(wanting)),
        )
    return Finding("ok", about, f"JupyterLab {version('jupyterlab')} and its widget extensions")


def _has_extension(name: str) -> bool:
    return any((folder / name / "package.json").is_file() for folder in _extension_folders())


def _extension_folders() -> list[Path]:
    try:
        from jupyter_core.paths import jupyter_path

        return [Path(folder) for folder in jupyter_path("labextensions")]
    except ImportError:
        return [Path(sys.prefix, "share", "jupyter", "labextensions")]


def _demo() -> Finding:
    return _optional("demo", ["nbclient", "mlxtend"], "`mxprof-nb demo` and the tutorials")


def _formats() -> Finding:
    return _optional("formats", ["pyarrow"], ".mxprof and Parquet files")


def _reports() -> Finding:
    return Finding("ok", "reports", "open in any browser; none is needed to record or to write")


def _optional(about: str, packages: list[str], purpose: str) -> Finding:
    wanting = [package for package in packages if not _installed(package)]
    if not wanting:
        return Finding("ok", about, purpose)
    are = "is" if len(wanting) == 1 else "are"
    text = f"{', '.join(wanting)} {are} not installed; needed for {purpose}."
    return Finding("optional", about, text, pip(" ".join(wanting)))


def _installed(package: str) -> bool:
    try:
        version(package)
    except PackageNotFoundError:
        return False
    return True


def pip(what: str) -> str:
    """Return the command that installs something for this very Python."""
    python = os.path.relpath(sys.executable)
    if python.startswith(os.path.join("..", "..")):
        python = sys.executable
    return f"{python} -m pip install {what}"
