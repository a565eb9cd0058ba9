from importlib.metadata import EntryPoint

import pytest

from mxprof_nb.backends import registry
from tests.unit.capture.fake_backend import FakeBackend

FAKE = FakeBackend()


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeBackend:
    """A backend called "fake", registered as an installed package would."""
    backend = FakeBackend()
    monkeypatch.setattr(f"{__name__}.FAKE", backend)
    point = EntryPoint("fake", f"{__name__}:FAKE", registry.GROUP)
    monkeypatch.setattr(registry, "entry_points", lambda *, group: [point])
    return backend
