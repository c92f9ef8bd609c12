"""Link hooks make of links what Chainer's make of them, call by call."""

import inspect
import json
from pathlib import Path

import numpy as np
import pytest

import core
import core.functions as F
import core.links as L
from core import link_hooks

CHAINER = json.loads((Path(__file__).parents[1] / "data/oracle/link_hooks.json").read_text())


@pytest.mark.parametrize(
    "case", CHAINER["cases"], ids=lambda c: f"{c['hook']}{c['arguments']} on {c['link']}"
)
def test_calls(case):
    link = getattr(L, case["link"])(*case["sizes"], nobias=True)
    link.W.array = np.array(case["W"])
    link.add_hook(getattr(link_hooks, case["hook"])(**case["arguments"]))
    if "u" in case["calls"][0]:
        link.W_u = np.array(case["u"])
    for number, expected in enumerate(case["calls"]):
        with core.using_config("train", expected["train"]):
            link.cleargrads()
            y = link(np.array(case["x"]))
            F.sum(y * y).backward()
        found = {"y": y.array, "gW": link.W.grad}
        found["u"] = getattr(link, "W_u", None)
        found["gamma"] = link.gamma.array if hasattr(link, "gamma") else None
        for name in expected.keys() - {"train"}:
            np.testing.assert_allclose(
                found[name], expected[name], 1e-8, 1e-10, err_msg=f"{name} of call {number}"
            )


@pytest.mark.parametrize("name", CHAINER["signatures"])
def test_arguments(name):
    shown = str(inspect.signature(getattr(link_hooks, name), eval_str=False))
    ours = inspect.signature(getattr(link_hooks, name)).parameters.values()
    plain = inspect.Signature([one.replace(annotation=one.empty) for one in ours])
    assert str(plain) == CHAINER["signatures"][name], shown


def test_every_link_hook_is_recorded():
    named = {n for n in core.registry.catalogue("link_hooks").names() if n[0].isupper()}
    assert named - {"WeightNormalization"} == set(CHAINER["signatures"])
