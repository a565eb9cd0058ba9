"""``python -m mxprof_nb`` is the command ``mxprof-nb``."""

from mxprof_nb.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
