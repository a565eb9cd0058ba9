"""The command ``mxprof-nb``; one module for each of its verbs."""

from mxprof_nb.cli.command import main

__all__ = ["main"]
