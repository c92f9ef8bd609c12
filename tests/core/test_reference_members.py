"""What the classes of the reference can do, those of the same name here can do by the same name."""

from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import core
from core.arrays import backend

LIST = Path(__file__).parents[1] / "data" / "reference_members.txt"

# Names that are left out, by what they are for.
LEFT_OUT = {
    **dict.fromkeys(["to_intel64"], "iDeep, which is no more"),
    **dict.fromkeys(
        ["from_chx", "to_chx", "chx_array", "forward_chainerx", "update_core_chainerx"],
        "ChainerX, in whose place stand backends",
    ),
    **dict.fromkeys(
        ["as_layout", "layout", "raw_array", "check_layout_forward", "input_layouts"]
        + ["output_layouts"],
        "memory layouts of cuDNN",
    ),
    "device_resident_accept": "visitors; a link that keeps arrays of its own overrides _move",
    "__setstate__": "what the default of Python does",
    "__del__": "iterators end their workers by weak references",
    "__copy__": "only copy.copy is promised, which needs no method of its own",
}


def classes():
    lines = LIST.read_text(encoding="utf-8").splitlines()
    pairs = [line.split(": ") for line in lines if line and not line.startswith("#")]
    return {path: names.split() for path, names in pairs}


def found(path):
    room, _, name = path.rpartition(".")
    return getattr(import_module(f"core.{room}") if room else core, name)


@pytest.mark.parametrize(("path", "names"), classes().items())
def test_members(path, names):
    cls = found(path)
    missing = [name for name in names if name not in LEFT_OUT and not hasattr(cls, name)]
    assert not missing, f"{cls} lacks {missing}"


def test_all_are_listed():
    listed = classes()
    assert len(listed) == 149
    assert {"Link", "Chain", "Variable", "links.Linear", "training.Trainer"} <= listed.keys()
    assert sum(map(len, listed.values())) > 2000


def test_a_device_knows_its_arrays():
    device = core.get_device("numpy")
    assert device.name == "numpy"
    assert device.is_array_supported(np.ones(1))
    assert not device.is_array_supported(backend.get("strict").asarray([1.0]))
    assert not device.is_array_supported([1.0])
