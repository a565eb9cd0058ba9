"""`writing`: what a path may lead to, and what is left of it."""

from __future__ import annotations

import gzip
import os
import stat
import threading

import pytest

from mxprof_nb.errors import WriteError
from mxprof_nb.io.files import is_special, writing


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
@pytest.mark.parametrize("name", ["pipe", "pipe.gz"])
def test_a_pipe_or_device_is_written_to_and_not_replaced_by_a_file(tmp_path, name):
    pipe, heard = tmp_path / name, []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: heard.append(pipe.read_bytes()), daemon=True)
    reader.start()
    with writing(pipe) as file:
        file.write(b"content")
    reader.join(10.0)
    (content,) = heard
    assert (gzip.decompress(content) if name.endswith(".gz") else content) == b"content"
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_files_folders_and_nothing_are_not_special(tmp_path):
    (tmp_path / "file").touch()
    assert not any(map(is_special, [tmp_path / "file", tmp_path, tmp_path / "none", "a\0b"]))
    assert is_special(os.devnull)


@pytest.mark.parametrize("name", ["a\0b", "\ud800"])
def test_a_name_that_no_file_can_have_is_an_error_of_writing(tmp_path, name):
    with pytest.raises(WriteError, match="Nothing is lost"), writing(tmp_path / name):
        pytest.fail("there is nothing to write to")
