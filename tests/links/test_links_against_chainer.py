"""Each link against what Chainer says of its own: names, shapes, initial values, outputs."""

import json
from pathlib import Path

import numpy as np
import pytest
from data.links.link_cases import CASES, LARGE
from data.links.link_facts import deviations, fact
from data.links.link_scripts import SCRIPTS, run

import core
import core.functions as F
import core.links as L
import core.serializers  # link_facts uses it
from plugins.links.function_link import FunctionLink

TABLES = json.loads((Path(__file__).parents[1] / "data" / "links" / "links.json").read_text())
NAMESPACE = {"L": L, "F": F}
DIFFERENT = {
    ("L.DeformableConvolution2D(3, 2, 3)", "/deform_conv/W"): "theirs start at 0; ours are drawn",
    ("L.DecorrelatedBatchNormalization(4, 2)", "dtypes"): "theirs are float32 unless one asks",
    ("L.LSTM(3)", "owned"): "theirs are filled at the first call, ours when they are made",
}
DRAWN_HERE = {
    ("L.DeformableConvolution2D(20, 60, 5)", "/deform_conv/W"): "theirs start at 0",
    ("L.BlackOut(300, [1] * 200, 3)", "/W"): "theirs are NaN until somebody sets them",
}


def numbers(told):
    """The numbers in what is told, in order, and what remains without them."""
    if isinstance(told, dict):
        parts = [numbers(part) for part in told.values()]
        rest = list(told)
    elif isinstance(told, list):
        parts = [numbers(part) for part in told]
        rest = len(told)
    elif isinstance(told, (int, float)):
        return [told], "number"
    else:
        return [], told
    return [n for found, _ in parts for n in found], [rest, [left for _, left in parts]]


def assert_same(ours, theirs, where):
    (found, form), (expected, expected_form) = numbers(ours), numbers(theirs)
    assert form == expected_form, where
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5, err_msg=where)


@pytest.mark.parametrize("code", CASES)
def test_link(code):
    ours = json.loads(json.dumps(fact(code, NAMESPACE, core)))
    theirs = TABLES["facts"][code]
    assert list(ours) == list(theirs)
    for part, told in theirs.items():
        if (code, part) in DIFFERENT:
            continue
        if not isinstance(told, dict):
            assert_same(ours[part], told, part)
            continue
        assert list(ours[part]) == list(told), part
        for path in told:
            if (code, path) not in DIFFERENT:
                assert_same(ours[part][path], told[path], f"{part} {path}")


@pytest.mark.parametrize("name", SCRIPTS)
def test_script(name):
    assert_same(run(SCRIPTS[name], core), TABLES["scripts"][name], name)


@pytest.mark.parametrize("code", LARGE)
def test_random_initial_values(code):
    core.seed(0)
    try:
        ours = deviations(code, NAMESPACE)
    finally:
        core.seed(None)
    theirs = TABLES["deviations"][code]
    assert set(ours) == {*theirs, *(path for other, path in DRAWN_HERE if other == code)}
    for path, (deviation, size) in theirs.items():
        assert ours[path][1] == size
        assert abs(ours[path][0] / deviation - 1) < 5 / np.sqrt(size), path


def test_every_link_of_chainers_is_compared():
    compared = {code.partition("(")[0].removeprefix("L.") for code in (*CASES, *LARGE)}
    own = {"MultiHeadAttention", "RMSNormalization", "TransformerBlock"}
    own |= {"CaffeFunction", "ONNXModel"}  # which are what their files say
    vision = {name for name in dir(L) if "VGG" in name or "Net" in name} | {"BuildingBlock"}
    links = {name for name in dir(L) if name[0].isupper()}
    own |= {name for name in links if issubclass(getattr(L, name), FunctionLink)}
    assert links - compared - vision == own
