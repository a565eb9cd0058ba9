import json
from types import MappingProxyType

import numpy as np

from mxprof_nb.io.chrome_writer.own_key import plain


def test_whatever_a_producer_left_becomes_data_that_json_can_hold():
    left = MappingProxyType(
        {
            1: np.int64(3),
            "share": np.float32(0.5),
            "lost": [float("nan"), float("inf")],
            "shape": (2, 3),
            "array": np.arange(2),
            "path": {None},
            "type": int,
        }
    )
    found = plain(left)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert found == {
        "1": 3,
        "share": 0.5,
        "lost": [None, None],
        "shape": [2, 3],
        "array": [0, 1],
        "path": [None],
        "type": "<class 'int'>",
    }
