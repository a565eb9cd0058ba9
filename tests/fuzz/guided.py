"""One reader under atheris: ``python -m tests.fuzz.guided FORMAT CORPUS [libFuzzer options]``."""

from __future__ import annotations

import importlib
import pkgutil
import sys

import atheris

with atheris.instrument_imports(include=["mxprof_nb.io"]):
    import mxprof_nb.io

    # Readers are imported when they are used, which would be too late to see their branches.
    for module in pkgutil.walk_packages(mxprof_nb.io.__path__, "mxprof_nb.io."):
        importlib.import_module(module.name)

from tests.fuzz.outcome import outcome


def main() -> None:
    """Read whatever the fuzzer thinks of; an untyped error ends the process."""
    format = sys.argv.pop(1)
    atheris.Setup(sys.argv, lambda content: outcome(format, content) and None)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
