from importlib.metadata import EntryPoint

import pytest

from mxprof_nb import backends
from mxprof_nb.backends import Availability, registry
from mxprof_nb.errors import BackendNotFoundError, BackendUnavailableError
from tests.unit.capture.fake_backend import FakeBackend


def test_the_embedded_backend_is_known_without_reading_what_is_installed(monkeypatch):
    monkeypatch.setattr(registry, "entry_points", lambda *, group: pytest.fail("was read"))
    assert backends.find_backend("embedded").name == "embedded"


def test_an_installed_package_adds_a_backend_by_an_entry_point_alone(fake: FakeBackend):
    assert backends.list_backends() == ["embedded", "fake"]
    assert backends.find_backend("fake") is fake


def test_an_entry_point_may_name_a_class(monkeypatch):
    point = EntryPoint("fake", f"{FakeBackend.__module__}:FakeBackend", registry.GROUP)
    monkeypatch.setattr(registry, "entry_points", lambda *, group: [point])
    assert isinstance(backends.find_backend("fake"), FakeBackend)


def test_an_unknown_name_is_answered_with_the_known_ones_and_the_closest(fake: FakeBackend):
    with pytest.raises(BackendNotFoundError, match="Did you mean 'embedded'") as told:
        backends.find_backend("embeded")
    assert told.value.name == "embeded"
    assert "embedded, fake" in str(told.value)


def test_a_backend_that_cannot_record_here_says_why_and_what_to_do(fake: FakeBackend):
    fake.available = Availability(ok=False, reason="There is no device.", remedy="Buy one.")
    with pytest.raises(BackendUnavailableError, match=r"'fake'.*no device\. Buy one\."):
        backends.find_backend("fake")


def test_a_broken_package_is_an_unavailable_backend_and_does_not_hide_the_others(monkeypatch):
    point = EntryPoint("broken", "mxprof_nb_no_such_module:Backend", registry.GROUP)
    monkeypatch.setattr(registry, "entry_points", lambda *, group: [point])
    with pytest.raises(BackendUnavailableError, match="mxprof_nb_no_such_module") as told:
        backends.find_backend("broken")
    assert isinstance(told.value.__cause__, ModuleNotFoundError)
    described = {info.name: info for info in registry.describe_backends()}
    assert described["embedded"].available
    assert not described["broken"].available
    assert "mxprof_nb_no_such_module" in described["broken"].reason


def test_a_built_in_backend_cannot_be_replaced(monkeypatch):
    point = EntryPoint("embedded", f"{FakeBackend.__module__}:FakeBackend", registry.GROUP)
    monkeypatch.setattr(registry, "entry_points", lambda *, group: [point])
    assert not isinstance(backends.find_backend("embedded"), FakeBackend)
    described = {info.name: info for info in registry.describe_backends()}
    assert described["embedded"].origin.startswith("mxprof_nb.")


def test_show_versions_names_backends_and_what_is_not_installed(fake, capsys, monkeypatch):
    fake.available = Availability(ok=False, reason="There is no device.")
    monkeypatch.setattr("mxprof_nb.backends.environment._PACKAGES", ("numpy", "no-such-package"))
    backends.show_versions()
    rows = dict(line.split("  ", 1) for line in capsys.readouterr().out.splitlines())
    rows = {name.strip(): value.strip() for name, value in rows.items()}
    assert rows["no-such-package"] == "not installed"
    assert rows["backend embedded"] == "available"
    assert rows["backend fake"] == "There is no device."
    assert rows["numpy"][0].isdigit()
    assert rows["writes"] == "chrome, csv, mxprof, parquet, html, png"
    assert "thread" in rows["blas"]
