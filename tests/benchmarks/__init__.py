"""Paired measurements: `python -m tests.benchmarks [--quick] [--only NAME]` prints a table."""
