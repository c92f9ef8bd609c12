import runpy

import core
import core.functions as F
import numpy as np


def test_thing(tmp_path):
    path, x = tmp_path / "model.py", np.arange(6, dtype="f").reshape(2, 3)
    core.export.thing(F.sum, (x,), str(path))
    assert runpy.run_path(str(path))["program"](x) == 15
