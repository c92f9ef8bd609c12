"""Every link in a captured step: eager's bits, and in loops what eager gives within rounding."""

import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import core
import core.functions as F
from backends.numpy_backend.kernels import compiler
from core.optimizer_hooks import WeightDecay
from core.testing.links import outputs, reset, values

sys.path.append(str(Path(__file__).parents[1] / "links"))
from test_every_link import tables

CASES = {
    f"{file.removeprefix('test_')}: {case}": (make, inputs)
    for file, case, make, inputs, _ in tables()
    if list(make().params())
}
EARLIER = "comes from the graph of an earlier step"


@pytest.fixture(autouse=True)
def no_seed():
    """The stream of the process is as it was."""
    yield
    core.seed(None)


def trained(make, inputs, capture):
    """Losses, gradients, and all values of a link after some steps, and what is not replayed."""
    np.random.seed(0)
    core.seed(0)
    link = make()
    xs = [x.astype("f") if x.dtype.kind == "f" else x for x in map(np.asarray, inputs)]
    optimizer = core.optimizers.MomentumSGD(0.01).setup(link)
    optimizer.add_hook(WeightDecay(0.01))

    def step(*xs):
        ys = [y for y in outputs(link, xs) if y.requires_grad]
        loss = sum([F.mean(y * y) for y in ys])
        link.cleargrads()
        loss.backward()
        optimizer.update()
        return loss

    run = capture(step)
    found = {"losses": []}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", f".*{EARLIER}")
        for i in range(6):
            if i == 4:
                reset(link)
            found["losses"].append(run(*xs).array)
    found |= {f"gradient of {name}": p.grad for name, p in link.namedparams()}
    found |= values(link)
    return found, "" if run is step else run.report()


@pytest.mark.slow
@pytest.mark.parametrize("fuse", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_a_step_with_it_is_replayed(case, fuse):
    make, inputs = CASES[case]
    expected, _ = trained(make, inputs, lambda step: step)
    found, report = trained(make, inputs, core.capture(fuse=fuse))
    assert "not replayed" not in report or EARLIER in report, report
    loose = fuse and compiler.available()
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        if loose and value is not None:
            np.testing.assert_allclose(found[name], value, rtol=2e-4, atol=2e-5, err_msg=name)
        else:
            np.testing.assert_array_equal(found[name], value, err_msg=name)
