"""Arrays of several backends or devices in one operation: both are named, and the cure."""

import numpy as np
import pytest

import core
import core.functions as F
import core.links as L
from core import Variable
from core.arrays.backend import BackendError, BackendUnavailable

STRICT = core.backend.get("strict")
HERE, THERE = STRICT.devices()[:2]


def here(*shape):
    return np.ones(shape, "f")


def there(*shape):
    return STRICT.asarray(here(*shape))


LABELS = np.zeros(2, "int32")


class General(core.FunctionNode):
    def forward(self, inputs):
        return (inputs[0] + 0,)


class Old(core.Function):
    def forward(self, inputs):
        return (inputs[0] + 0,)


MIXTURES = {
    "Add": lambda: Variable(here(2)) + Variable(there(2)),
    "MatMul": lambda: Variable(here(2, 2)) @ Variable(there(2, 2)),
    "Linear": lambda: F.linear(here(2, 3), there(4, 3)),
    "Linear's bias": lambda: F.linear(here(2, 3), here(4, 3), there(4)),
    "Convolution": lambda: F.convolution_2d(here(1, 1, 4, 4), there(1, 1, 3, 3)),
    "BatchNormalization": lambda: F.batch_normalization(here(2, 3), there(3), there(3)),
    "Concat": lambda: F.concat([here(2, 3), there(2, 3)]),
    "Where": lambda: F.where(here(2) > 0, there(2), there(2)),
    "SoftmaxCrossEntropy": lambda: F.softmax_cross_entropy(there(2, 3), LABELS),
    "Accuracy": lambda: F.accuracy(there(2, 3), LABELS),
    "MeanSquaredError": lambda: F.mean_squared_error(here(2), there(2)),
    "EmbedID": lambda: F.embed_id(LABELS, there(3, 2)),
    "LSTM": lambda: F.lstm(here(2, 3), there(2, 12)),
    "a mask": lambda: F.dropout(here(2), mask=there(2)),
    "a mask of weights": lambda: F.simplified_dropconnect(here(2, 3), here(4, 3), mask=there(4, 3)),
    "the general form": lambda: General().apply((here(2), there(2))),
    "the old form": lambda: Old()(here(2), there(2)),
    "backend.of": lambda: core.backend.of(here(2), there(2)),
}


@pytest.mark.parametrize("name", MIXTURES)
def test_two_backends(name):
    with pytest.raises(BackendError) as caught:
        MIXTURES[name]()
    text = str(caught.value)
    assert "numpy" in text and "strict:0" in text and "to_device('strict:0')" in text


def test_a_link_and_its_input():
    link = L.Linear(3, 2)
    message = r"LinearFunction: .*x on strict:0 and W on numpy.*to_device\('numpy'\)"
    with pytest.raises(BackendError, match=message):
        link(there(2, 3))
    assert link(Variable(there(2, 3)).to_device("numpy")).shape == (2, 2)


def test_two_devices_of_one_backend():
    def on(device, *shape):
        return STRICT.asarray(here(*shape), device=device)

    for call in (
        lambda: F.linear(on(HERE, 2, 3), on(THERE, 4, 3)),
        lambda: Variable(on(HERE, 2)) * on(THERE, 2),
        lambda: General().apply((on(HERE, 2), on(THERE, 2))),
    ):
        with pytest.raises(BackendError, match="strict:0 and .*strict:1.*to_device"):
            call()
    x = Variable(on(HERE, 2))
    with pytest.raises(TypeError, match="expected an array on strict:0, got one on strict:1"):
        x.grad = on(THERE, 2)
    assert x.grad is None


def test_a_gradient_on_another_backend():
    x = Variable(here(2), name="x")
    with pytest.raises(TypeError, match="gradient of x: .*numpy.*strict.*to_device"):
        x.grad = there(2)
    with pytest.raises(TypeError, match="gradient of .*strict.*numpy.*to_device"):
        core.grad([Variable(there(2)) * 1], [x], [Variable(here(2))])


def test_devices_that_are_not_there():
    with pytest.raises(BackendError, match="'numpy' has no device numpy:3; it has numpy"):
        core.get_device("numpy:3")
    with pytest.raises(BackendError, match="'strict' has no device strict:9; it has strict:0"):
        L.Linear(2, 2).to_device("strict:9")


@pytest.mark.parametrize(
    "call",
    [
        lambda: core.use("cuda"),
        lambda: L.Linear(2, 2).to_gpu(),
        lambda: Variable(here(2)).to_gpu(0),
        lambda: core.backend.to_backend(here(2), "cuda"),
    ],
)
def test_a_backend_that_cannot_run_here(call):
    reason = core.backend.available()["cuda"]
    if reason is None:
        pytest.skip("CUDA works here")
    with pytest.raises(BackendUnavailable) as caught:
        call()
    assert reason in str(caught.value) and "Available: numpy" in str(caught.value)


def test_what_is_no_array():
    for call in (
        lambda: F.linear([[1.0, 2.0]], here(3, 2)),
        lambda: L.Linear(2, 3)([[1.0, 2.0]]),
        lambda: F.relu("text"),
        lambda: F.relu(3.0),
        lambda: F.concat([here(2, 2), "text"]),
    ):
        with pytest.raises(TypeError, match="expected .*array.*got (list|str|float)"):
            call()


def test_what_has_no_array_yet():
    for call in (
        lambda: L.Linear(None, 2).W.shape,
        lambda: F.linear(here(2, 3), L.Linear(None, 2).W),
        lambda: F.sum(core.Parameter()),
        lambda: L.Linear(3, 2)(None),
        lambda: L.Linear(3, 2)(Variable()),
    ):
        with pytest.raises((AttributeError, core.errors.GraphError), match="initialize|no array"):
            call()
