"""Damaged files against every reader: no crash, no hang, no untyped error, no flood of memory."""
