"""Links give what Chainer's give from the same parameters, and save it under the same names."""

from pathlib import Path

import numpy as np
import pytest
from oracles.link_cases import CASES, run

import core
import core.links as L
import core.serializers

DATA = Path(__file__).parents[1] / "data" / "oracle" / "links.npz"


@pytest.fixture(scope="module")
def records():
    with np.load(DATA) as arrays:
        return dict(arrays)


def of(name, records):
    return {
        key.partition(":")[2]: value for key, value in records.items() if key.startswith(f"{name}:")
    }


@pytest.mark.parametrize("name", CASES)
def test_as_chainer(name, records):
    expected, found = of(name, records), run(name, core)
    assert found.keys() == expected.keys()
    for key, value in expected.items():
        if value.dtype.kind == "f":
            assert found[key].dtype == value.dtype, key
        assert found[key].shape == value.shape, key
        np.testing.assert_allclose(found[key], value, rtol=2e-4, atol=2e-5, err_msg=key)


@pytest.mark.parametrize("name", CASES)
def test_what_chainer_saved_is_loaded(name, records, tmp_path):
    saved = {
        key.removeprefix("saved/"): value
        for key, value in of(name, records).items()
        if key.startswith("saved/")
    }
    np.savez(tmp_path / "link.npz", **saved)
    link = CASES[name][0](L)
    core.serializers.load_npz(tmp_path / "link.npz", link)
    for path, param in link.namedparams():
        np.testing.assert_array_equal(param.array, saved[path.lstrip("/")])


def test_every_link_of_chainer_is_compared():
    """All that Chainer has, save what draws, holds no parameters, or is a large network."""
    listed = (Path(__file__).parents[1] / "data" / "link_signatures.txt").read_text("utf-8")
    names = {line.partition("(")[0] for line in listed.splitlines() if line[:1].isalpha()}
    large = {"GoogLeNet", "VGG16Layers", "VGG19Layers"} | {
        f"ResNet{n}Layers" for n in (50, 101, 152)
    }
    assert names - {case.partition(",")[0] for case in CASES} == {*large, "Parameter"}
