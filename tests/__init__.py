"""Tests of mxprof_nb; `python -m tests.check` and `python -m tests.benchmarks` run from here."""
