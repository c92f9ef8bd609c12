"""Debug mode on whole models: which operation, in which link, called at which line."""

import numpy as np
import pytest

import core
import core.functions as F
import core.links as L
from core import optimizers
from core.errors import GraphError


class Block(core.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.l = L.Linear(2, 2)

    def forward(self, x):
        return F.sqrt(self.l(x))  # the line that is named


class Model(core.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.body = core.ChainList(Block(), Block())

    def forward(self, x):
        for block in self.body:
            x = block(x)
        return x


@pytest.fixture
def model():
    model = Model()
    for block in model.body:
        block.l.W.array[...] = np.eye(2)
    return model


@pytest.fixture(autouse=True)
def debug():
    with core.using_config("debug", True), np.errstate(all="ignore"):
        yield


LINE = "return F.sqrt(self.l(x))  # the line that is named"


def test_forward(model):
    with pytest.raises(GraphError, match="NaN .* forward computation of .* in link") as caught:
        model(-np.ones((1, 2), "f"))
    text = str(caught.value)
    assert "/body/0" in text and "test_debug_of_models.py" in text and LINE in text
    assert not hasattr(caught.value, "__notes__")


def test_forward_in_the_second_block(model):
    model.body[1].l.b.array[...] = -5
    with pytest.raises(GraphError) as caught:
        model(np.ones((1, 2), "f"))
    assert "/body/1" in str(caught.value) and LINE in str(caught.value)


def zero_slope(model):
    """Finite forward; backward multiplies zero by the infinite slope of the root at zero."""
    x = core.Variable(np.zeros((1, 2), "f"))
    return x, F.sum(model(x) * 0)


def test_backward(model):
    x, loss = zero_slope(model)
    with pytest.raises(GraphError, match="NaN .* backward computation") as caught:
        loss.backward()
    assert "/body/1" in str(caught.value) and LINE in str(caught.value)
    assert x.grad is None and all(p.grad is None for p in model.params())


def test_grad(model):
    x, loss = zero_slope(model)
    with pytest.raises(GraphError, match="NaN .* backward computation") as caught:
        core.grad([loss], [x])
    assert "/body/1" in str(caught.value) and LINE in str(caught.value)
    with pytest.raises(GraphError, match="NaN"):
        core.grad([loss], [x], enable_double_backprop=True)


class GeneralRoot(core.FunctionNode):
    def forward(self, inputs):
        self.retain_outputs((0,))
        return (inputs[0] ** 0.5,)

    def backward(self, indexes, grad_outputs):
        return (grad_outputs[0] * 0.5 / self.get_retained_outputs()[0],)


class OldRoot(core.Function):
    def forward(self, inputs):
        self.y = inputs[0] ** 0.5
        return (self.y,)

    def backward(self, inputs, grad_outputs):
        return (grad_outputs[0] * 0.5 / self.y,)


@pytest.mark.parametrize(
    "apply", [lambda x: GeneralRoot().apply((x,))[0], lambda x: OldRoot()(x)], ids=["new", "old"]
)
def test_functions_of_ones_own(apply):
    with pytest.raises(GraphError, match="forward computation of .*Root, called at .*apply"):
        apply(core.Variable(-np.ones(2, "f")))
    x = core.Variable(np.zeros(2, "f"))
    y = F.sum(apply(x) * 0)
    with pytest.raises(
        GraphError, match="backward computation of OldRoot|of _ / _, called at .*g.* 0.5 /"
    ):
        y.backward()
    assert x.grad is None


@pytest.mark.parametrize("make", [optimizers.SGD, optimizers.MomentumSGD, optimizers.Adam])
def test_a_step_between_forward_and_backward(make):
    model = L.Linear(2, 2)
    optimizer = make().setup(model)
    x = core.Variable(np.ones((1, 2), "f"))
    first, second = F.sum(model(x) ** 2), F.sum(model(x))
    model.cleargrads()
    second.backward()
    optimizer.update()
    with pytest.raises(GraphError, match="parameter W was changed in place after LinearFunction"):
        first.backward()
    with core.using_config("debug", False):
        first.backward()


def test_a_model_that_is_well_trains_as_without(model):
    model = L.Classifier(L.Linear(3, 2))
    x, t = np.eye(3, dtype="f"), np.array([0, 1, 0])
    weights = []
    for debug in (True, False):
        np.random.seed(0)
        duplicate = model.copy("copy")
        optimizer = optimizers.Adam().setup(duplicate)
        with core.using_config("debug", debug):
            for _ in range(3):
                optimizer.update(duplicate, x, t)
        weights.append(duplicate.predictor.W.array)
    np.testing.assert_array_equal(*weights)
