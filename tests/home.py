"""The home of somebody whose names must not travel, for tests of what is written."""

from __future__ import annotations

import base64
import gzip
import re
import zlib
from pathlib import Path

import pytest

__all__ = ["HOST", "USER", "given_away", "move_in", "written"]

HOST, USER = "atlas-9f3", "wilhelmina"


def move_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in the home folder of somebody, on a machine with a name; return that folder."""
    home = tmp_path / "homes" / USER
    work = home / "work"
    work.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PWD", str(work))
    monkeypatch.setattr("getpass.getuser", lambda: USER)
    monkeypatch.setattr("socket.gethostname", lambda: f"{HOST}.example.org")
    monkeypatch.chdir(work)
    return home


def written(path: Path) -> str:
    """Return the content of a file as text, whatever it is."""
    content = path.read_bytes()
    if path.suffix == ".gz":
        content = gzip.decompress(content)
    # What a report holds for its script stands there packed.
    for packed in re.findall(rb'class="mxp-data">([^<]*)<', content):
        content += zlib.decompress(base64.b64decode(packed))
    return content.decode("utf-8", "replace").replace("\\/", "/")


def given_away(text: str, home: Path) -> list[str]:
    """Return what a text tells of host, user and folders."""
    return [word for word in (HOST, USER, str(home), str(home / "work")) if word in text]
