"""Every reader, for MXPROF_FUZZ_SECONDS: by default 20 with ``CI=true``, 3 otherwise.

``python -m tests.fuzz`` is the long form.
"""

import os

import pytest

from mxprof_nb.io import list_readers
from tests.conformance.samples import samples
from tests.fuzz.campaign import fuzz

SECONDS = float(
    os.environ.get("MXPROF_FUZZ_SECONDS") or (20 if os.environ.get("CI") == "true" else 3)
)


@pytest.mark.slow
@pytest.mark.timeout(SECONDS + 120)
@pytest.mark.parametrize("format", list_readers())
def test_whatever_is_done_to_a_file_it_gives_a_trace_or_a_typed_error(format: str):
    found = fuzz(format, samples(format), SECONDS)
    assert sum(found.values()) >= 50
    assert len(found) > 1, f"nothing was damaged, or nothing was read: {found}"
