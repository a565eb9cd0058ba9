"""How files are damaged: by Hypothesis, so that what it finds shrinks to the damage alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

__all__ = ["TOKENS", "damaged"]

#: What often means something, or too much.
TOKENS = [
    b"", b"\0", b"\n", b"\r\n", b",", b",,", b'"', b"\\", b"\\u", b"\\ud800", b"{", b"}", b"[",
    b"]", b"[" * 500, b'{"a":' * 200, b"null", b"true", b"NaN", b"Infinity", b"-0", b"-1", b"1e999",
    b"1" * 400, b"9223372036854775808", b"18446744073709551616", b"0.1", b"1e-400", b"\xff",
    b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xff\xff\xff\x7f", b"\xff" * 8, b"\0" * 8, b"A" * 3_000,
    b'"ph":"B"', b'"ph":"E"', b'"ts":', b'"args":{}', b'"id":', b'"pid":', b"exec,", b"create,",
    b"onednn_verbose,v1,", b"PK\x03\x04", b"PK\x01\x02", b"\x1f\x8b\x08", b"PAR1",
    b"SQLite format 3\0", b"==1== NVPROF", b"name,start_ns,dur_ns\n",
]  # fmt: skip


@st.composite
def damaged(draw: Any, samples: Sequence[bytes]) -> bytes:
    """Draw a sample with some damage: pieces cut out, doubled, moved, replaced, bytes changed."""
    content: bytes = draw(st.sampled_from(samples))
    for _ in range(draw(st.integers(1, 6))):
        size = len(content)
        at = draw(st.integers(0, size))
        end = draw(st.integers(at, min(size, at + 2_000)))
        how = draw(st.sampled_from(["cut", "end", "double", "token", "bytes", "flip", "other"]))
        if how == "cut":
            content = content[:at] + content[end:]
        elif how == "end":
            content = content[:at]
        elif how == "double":
            content = content[:end] + content[at:]
        elif how == "token":
            content = content[:at] + draw(st.sampled_from(TOKENS)) + content[end:]
        elif how == "bytes":
            content = content[:at] + draw(st.binary(max_size=16)) + content[end:]
        elif how == "flip" and size:
            at = min(at, size - 1)
            bit = draw(st.integers(0, 7))
            content = content[:at] + bytes([content[at] ^ (1 << bit)]) + content[at + 1 :]
        else:
            other: bytes = draw(st.sampled_from(samples))
            start = draw(st.integers(0, len(other)))
            content = content[:at] + other[start : start + 2_000] + content[end:]
    return content
