"""Arrays in files: what is saved comes back, what is damaged is refused with the place."""

from __future__ import annotations

import struct
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mxprof_nb.runtime as mx
from mxprof_nb.errors import EngineError, OperatorError

nd: Any = mx.nd
TYPES = ("float16", "float32", "float64", "int8", "uint8", "int32", "int64", "bool")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "arrays"


@pytest.mark.parametrize("dtype", TYPES)
def test_a_saved_array_comes_back_in_shape_and_type(path, dtype):
    x = nd.array(np.arange(6).reshape(1, 2, 3), dtype=dtype)
    nd.save(path, x)
    (found,) = nd.load(path)
    assert found.dtype == x.dtype
    np.testing.assert_array_equal(found.asnumpy(), x.asnumpy())


def test_a_dict_comes_back_with_its_names_and_a_list_in_order(path):
    nd.save(str(path), {"weight": nd.ones(2), "größe": nd.zeros(1)})
    found = nd.load(str(path))
    assert isinstance(found, dict)
    assert {name: x.tolist() for name, x in found.items()} == {"weight": [1, 1], "größe": [0]}
    nd.save(path, [nd.ones(2), nd.arange(3)[1:]])
    assert [x.tolist() for x in nd.load(path)] == [[1, 1], [1, 2]]
    nd.save(path, [])
    assert nd.load(path) == []


def test_the_content_can_be_loaded_without_a_file(path):
    nd.save(path, [nd.arange(3)])
    (found,) = nd.load_frombuffer(path.read_bytes())
    assert found.tolist() == [0, 1, 2]


def test_saving_waits_for_the_value_and_a_failed_one_leaves_no_file(path):
    with pytest.raises(OperatorError, match="scale"):
        nd.save(path, [nd.ones(1), nd.random.normal(scale=-1)])
    assert not path.exists()


@pytest.mark.parametrize("data", [5, [5], {"a": 5}, {5: None}, "ab", [np.ones(2)]])
def test_what_is_no_array_is_not_saved(path, data: Any):
    with pytest.raises(TypeError, match=r"save: .*(NDArray|string)"):
        nd.save(path, data)
    assert not path.exists()


def test_a_number_is_no_file_to_write_to_or_to_read():
    loose: Any = mx.nd
    with pytest.raises(TypeError, match="save: fname must be a string or a path, not 1"):
        loose.save(1, mx.nd.ones(2))  # would write to the output and close it
    with pytest.raises(TypeError, match="load: fname must be"):
        loose.load(0)
    for wrong in ("text", 5):
        with pytest.raises(TypeError, match="load_frombuffer: bytes are needed, not"):
            loose.load_frombuffer(wrong)


def test_a_name_must_be_a_string(path):
    with pytest.raises(TypeError, match="name 5 must be a string"):
        nd.save(path, {5: nd.ones(1)})


def test_every_cut_is_noticed(path):
    nd.save(path, {"a": nd.ones((2, 3)), "b": nd.zeros(1)})
    content = path.read_bytes()
    for length in range(len(content)):
        with pytest.raises(EngineError, match=r"cut short|does not begin|more than it has"):
            nd.load_frombuffer(content[:length])


def test_a_changed_byte_is_an_error_or_another_value_but_nothing_else(path):
    nd.save(path, {"a": nd.ones((2, 3)), "b": nd.zeros(1)})
    content = bytearray(path.read_bytes())
    for place in range(len(content)):
        damaged = bytearray(content)
        damaged[place] ^= 0xFF
        with suppress(EngineError):
            assert len(nd.load_frombuffer(bytes(damaged))) == 2


def test_sparse_arrays_are_refused_by_name(path):
    nd.save(path, nd.ones(2))
    content = bytearray(path.read_bytes())
    content[28:32] = struct.pack("<i", 1)
    with pytest.raises(EngineError, match="sparse array"):
        nd.load_frombuffer(bytes(content))


def test_arrays_of_older_files_are_read():
    value = np.arange(6, dtype="<f4")
    begin, end = struct.pack("<QQQ", 0x112, 0, 1), struct.pack("<Q", 0)
    device = struct.pack("<iii", 1, 0, 0)
    oldest = struct.pack("<III", 2, 2, 3)
    older = struct.pack("<Iiqq", 0xF993FAC8, 2, 2, 3)
    for kind in (oldest, older):
        (found,) = nd.load_frombuffer(begin + kind + device + value.tobytes() + end)
        assert found.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_a_missing_file_is_the_error_python_has_for_it(path):
    with pytest.raises(FileNotFoundError):
        nd.load(path)
