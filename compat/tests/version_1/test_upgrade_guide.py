"""The 25 blocks of code of the upgrade guide to version 2, in the guide's order, in both modes.

Those of version 1 and those that it says to write instead give the same. What the guide leaves out
(`...`, `f`) is filled in; a parenthesis that one of them lacks is closed.
"""

import math

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
import pytest
from chainer.utils import type_check
from plugrad_chainer import version_1


def ones(*shape):
    return np.ones(shape, "f")


class MyModel(chainer.Chain):
    def __init__(self):
        super().__init__(l=L.Linear(4, 30))

    def __call__(self, x, train=True):
        return F.dropout(self.l(x), train=train)


class MyModelOf2(MyModel):
    def __call__(self, x):
        return F.dropout(self.l(x))


def test_a_mode_that_is_handed_on():
    m = MyModelOf2()
    with chainer.using_config("train", False):
        y = m(ones(5, 4))
    assert (y.data == m.l(ones(5, 4)).data).all() and (m(ones(5, 4)).data == 0).any()
    model = MyModel()
    assert (model(ones(5, 4)).data == 0).any()
    assert (model(ones(5, 4), train=False).data == model.l(ones(5, 4)).data).all()
    assert chainer.config.train


def test_a_model_in_volatile_mode():
    x = chainer.Variable(ones(5, 4), volatile=True)
    y = MyModel()(x)
    assert y.volatile == "on" and y.creator is None
    x = chainer.Variable(ones(5, 4))
    with chainer.no_backprop_mode():
        y = MyModel()(x)
    assert y.creator is None and MyModel()(x).creator is not None


class AddFunction(chainer.Function):
    def check_type_forward(self, in_types):
        type_check.expect(in_types.size() == 2)
        type_check.expect(in_types[0].dtype.kind == "f", in_types[0].shape == in_types[1].shape)

    def forward(self, inputs):
        return (inputs[0] + inputs[1],)

    def backward(self, inputs, grad_outputs):
        return grad_outputs[0], grad_outputs[0]


class TanhFunction(chainer.Function):
    def forward(self, inputs):
        xp = chainer.cuda.get_array_module(inputs[0])
        self.y = xp.tanh(inputs[0])
        return (self.y,)

    def backward(self, inputs, grad_outputs):
        one = self.y.dtype.type(1)
        return (grad_outputs[0] * (one - self.y * self.y),)


class AddFunctionOf2(AddFunction):
    def forward(self, inputs):
        self.retain_inputs(())
        return (inputs[0] + inputs[1],)


class TanhFunctionOf2(chainer.Function):
    def forward(self, inputs):
        self.retain_outputs((0,))
        xp = chainer.cuda.get_array_module(inputs[0])
        return (xp.tanh(inputs[0]),)

    def backward(self, inputs, grad_outputs):
        y = self.output_data[0]
        one = y.dtype.type(1)
        return (grad_outputs[0] * (one - y * y),)


@pytest.mark.parametrize(
    "Add, Tanh", [(AddFunction, TanhFunction), (AddFunctionOf2, TanhFunctionOf2)]
)
def test_functions_that_keep_what_they_need(Add, Tanh):
    x = chainer.Variable(np.array([0.5, -1], "f"))
    y = Add()(Tanh()(x), x)
    F.sum(y).backward()
    np.testing.assert_allclose(x.grad, 2 - np.tanh(x.data) ** 2, rtol=1e-6)


def test_functions_of_ones_own():
    x = chainer.Variable(np.array([0.5, -1], "f"))
    y = AddFunction()(TanhFunction()(x), x)
    F.sum(y).backward()
    np.testing.assert_allclose(x.grad, 2 - np.tanh(x.data) ** 2, rtol=1e-6)
    with pytest.raises(type_check.InvalidType, match=r"in_types\.size\(\) == 2|2"):
        AddFunction()(x)
    with chainer.using_config("type_check", False):
        assert AddFunction()(x, ones(1)).shape == (2,)


def test_the_flag_of_type_checks(monkeypatch):
    assert chainer.Function.type_check_enable
    with pytest.raises(type_check.InvalidType):
        AddFunction()(ones(2), ones(1))
    monkeypatch.setattr(chainer.Function, "type_check_enable", False)
    assert AddFunction()(ones(2), ones(1)).shape == (2,)


class MyLink(chainer.Link):
    def __init__(self):
        super().__init__(W=(100, 50), b=(5,))
        chainer.initializers.init_weight(self.W, chainer.initializers.Normal(0.05))
        self.b.data.fill(0)

    def __call__(self, x):
        return x.data.shape


class ClassicMLP(chainer.Chain):
    def __init__(self):
        super().__init__(layer1=L.Linear(None, 20), layer2=L.Linear(None, 30))

    def __call__(self, x):
        return self.layer2(F.relu(self.layer1(x)))


class MyLinkWithInitializer(chainer.Link):
    def __init__(self):
        super().__init__(W=(100, 50), b=(5,))
        chainer.initializers.Normal(0.05)(self.W.data)
        self.b.data.fill(0)


class MyLinkOf2(chainer.Link):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.W = chainer.Parameter(chainer.initializers.Normal(0.05), (100, 50))
            self.b = chainer.Parameter(0, (5,))

    def __call__(self, x):
        return x.shape


class MyLinkWithoutScope(chainer.Link):
    def __init__(self):
        super().__init__()
        self.W = chainer.Parameter(chainer.initializers.Normal(0.05), (100, 50))
        self.b = chainer.Parameter(0, (5,))


class MLPOf2(ClassicMLP):
    def __init__(self):
        chainer.Chain.__init__(self)
        with self.init_scope():
            self.layer1 = L.Linear(20)
            self.layer2 = L.Linear(30)


@pytest.mark.parametrize("cls", [MyLink, MyLinkWithInitializer, MyLinkOf2, MyLinkWithoutScope])
def test_links_of_ones_own(cls):
    link = cls()
    assert link.W.data.std() == pytest.approx(0.05, rel=0.05) and (link.b.data == 0).all()
    assert len(list(link.params())) == (0 if cls is MyLinkWithoutScope else 2)


def test_links_take_variables_and_arrays():
    assert MyLink()(chainer.Variable(ones(2, 3))) == (2, 3)
    for x in (ones(2, 3), chainer.Variable(ones(2, 3))):
        assert MyLinkOf2()(x) == (2, 3)


@pytest.mark.parametrize("cls", [ClassicMLP, MLPOf2])
def test_chains_of_ones_own(cls):
    model = cls()
    assert model(ones(2, 7)).shape == (2, 30)
    assert [path for path, _ in sorted(model.namedlinks())] == ["/", "/layer1", "/layer2"]


@pytest.mark.parametrize(
    "settings",
    [
        {"wscale": 0.5},
        {"initialW": chainer.initializers.Normal(0.5 / math.sqrt(400))},
        {"initialW": chainer.initializers.HeNormal(0.5 / math.sqrt(2))},
    ],
)
def test_weights_of_half_the_size(settings):
    linear = chainer.links.Linear(400, 50, **settings)
    assert linear.W.data.std() == pytest.approx(0.5 / math.sqrt(400), rel=0.05)


def test_the_sizes_of_a_gru():
    if version_1():
        gru = chainer.links.GRU(20, 10)
        assert gru(ones(1, 20), ones(1, 10)).shape == (1, 20)
    else:
        gru = chainer.links.GRU(10, 20)
        assert gru(ones(1, 10)).shape == (1, 20)


@pytest.mark.parametrize("within", [True, False])
def test_snapshots_at_a_trigger(within, tmp_path):
    model = ClassicMLP()
    optimizer = chainer.optimizers.SGD().setup(model)
    rows = chainer.iterators.SerialIterator([ones(3)] * 4, 2)
    updater = chainer.training.StandardUpdater(
        rows, optimizer, loss_func=lambda x: F.sum(model(x)) * 1e-3
    )
    trainer = chainer.training.Trainer(updater, (4, "iteration"), out=str(tmp_path))
    if within:
        trainer.extend(chainer.training.extensions.snapshot(trigger=(2, "iteration")))
    else:
        trainer.extend(chainer.training.extensions.snapshot(), trigger=(2, "iteration"))
    trainer.run()
    found = sorted(path.name for path in tmp_path.glob("snapshot*"))
    assert found == ["snapshot_iter_2", "snapshot_iter_4"]


def test_the_size_of_what_comes_in_may_be_left_out():
    gru = L.GRU(20)
    h = gru(ones(1, 7)) if hasattr(gru, "reset_state") else gru(ones(1, 20), ones(1, 20))
    assert h.shape == (1, 20)
    linear = L.Linear(10, 5, wscale=0.5)
    assert linear.W.shape == (5, 10)
    assert L.ConvolutionND(2, 3, 4, 3, nobias=True).b is None
    assert (L.LSTM(3, 2, forget_bias_init=0).upward.b.data == 0).all()


def test_gradients_begin_as_zeros_where_they_are_missed():
    model = chainer.Chain(used=L.Linear(3, 2), unused=L.Linear(3, 2))
    optimizer = chainer.optimizers.SGD()
    optimizer.setup(model)
    optimizer.update(lambda x: F.sum(model.used(x)), ones(1, 3))
    assert (model.unused.W.grad == 0).all()


def test_reported_variables_keep_their_graph_on_request():
    observation = {}
    x = chainer.Variable(ones(1))
    reporter = chainer.Reporter()
    with chainer.using_config("keep_graph_on_report", True), reporter.scope(observation):
        chainer.report({"loss": x * 2})
    assert observation["loss"].creator is not None
