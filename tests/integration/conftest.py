from collections.abc import Iterator

import pytest
from jupyter_core.utils import ensure_event_loop

from tests.integration.kernel import Kernel, started

SETUP = """\
%load_ext mxprof_nb
import asyncio, threading, time, warnings
warnings.filterwarnings("always", message="To exit")  # else only the first exit says so
import mxprof_jobs as jobs
import mxprof_nb.runtime as mx
"""


@pytest.fixture(scope="session", autouse=True)
def no_loop_left() -> Iterator[None]:
    """Close the event loop that jupyter_client makes for calls from ordinary code."""
    yield
    ensure_event_loop().close()


@pytest.fixture(scope="session")
def running_kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    with started(tmp_path_factory.mktemp("kernel")) as kernel:
        yield kernel


@pytest.fixture
def kernel(running_kernel: Kernel) -> Kernel:
    """A kernel with the extension, the example plugin and nothing else in its namespace."""
    running_kernel.run("%reset -f")
    assert running_kernel.run(SETUP).status == "ok"
    return running_kernel
