"""Links and optimizers that the real Chainer has pickled whole: `pickles/make.py` wrote them."""

import copy
import io
import lzma
import pickle
import sys
from pathlib import Path

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
import pytest

HERE = Path(__file__).with_name("pickles")
FILES = {path.name[8:-7]: path for path in sorted(HERE.glob("*.xz"))}


@pytest.fixture(scope="module", params=FILES)
def pickled(request):
    """What a version has written: an optimizer in the middle of training, and links."""
    sys.path.insert(0, str(HERE))  # where the class is that they name
    with lzma.open(FILES[request.param]) as file:
        yield pickle.load(file)
    sys.path.remove(str(HERE))


def test_there_are_three_versions():
    assert list(FILES) == ["1.24.0", "3.5.0", "7.8.1"]


def test_a_training_goes_on(pickled):
    (saved, x, words, losses), *_ = pickled
    optimizer = pickle.loads(saved)
    model = optimizer.target
    assert type(model).__name__ == "Net" and model.note == {"seen": [1, 2]} and optimizer.t == 2
    assert optimizer.alpha == 0.01 and list(optimizer._hooks) == ["WeightDecay"]
    for loss in losses:
        found = F.sum(model(chainer.Variable(x), chainer.Variable(words)) ** 2)
        assert float(found.array) == pytest.approx(loss, rel=1e-5)
        model.cleargrads()
        found.backward()
        optimizer.update()


def test_links_give_what_they_gave(pickled):
    _, links, _ = pickled
    for name, (saved, inputs, y) in links.items():
        if name == "refused":
            with pytest.raises(pickle.UnpicklingError, match=r"Deformable.*load_pickled\(file"):
                pickle.loads(saved)
            continue
        link = pickle.loads(saved)
        again = pickle.loads(pickle.dumps(link))
        assert repr(link) == repr(again) and link.copy() is not link
        if inputs is not None:
            np.testing.assert_allclose(link(*inputs).array, y, rtol=1e-4, atol=1e-5)
            assert chainer.as_array(again(*inputs)).shape == y.shape


def test_layers_of_rnns_are_those_of_here(pickled):
    rnn = pickle.loads(pickled[1]["sequences"][0])
    fresh = L.NStepLSTM(1, 3, 2, 0.0)
    fresh.copyparams(rnn)
    xs = [np.ones((2, 3), "f"), np.ones((1, 3), "f")]
    for y, z in zip(rnn(None, None, xs)[2], fresh(None, None, xs)[2], strict=True):
        np.testing.assert_array_equal(y.array, z.array)


def test_links_of_a_sequential_have_chainers_numbers():
    """The first, and then the others backwards, in files too."""
    with lzma.open(FILES["7.8.1"]) as file:
        _, links, _ = pickle.load(file)
    theirs = pickle.loads(links["layers"][0])
    ours = chainer.Sequential(*theirs)
    assert [ours.index(child) for child in theirs.children()] == [0, 3, 2]
    assert [child.name for child in ours.children()] == ["0", "1", "2"]
    filled = ours.copy("init")
    chainer.serializers.load_pickled(io.BytesIO(links["layers"][0]), filled)
    for one, other in zip(filled.params(), theirs.params(), strict=True):
        np.testing.assert_array_equal(one.array, other.array)


def test_the_first_rate_of_adabound_is_kept():
    with lzma.open(FILES["7.8.1"]) as file:
        *_, (saved, W) = pickle.load(file)
    optimizer = pickle.loads(saved)
    optimizer.alpha *= 0.5
    optimizer.update(lambda: F.sum(optimizer.target(np.ones((1, 3), "f")) ** 2))
    np.testing.assert_allclose(optimizer.target.W.array, W, rtol=1e-6)


def test_what_version_1_pickled_as_functions_is_refused():
    saved = b"cchainer.functions.connection.linear\nLinear\n)\x81}X\x01\x00\x00\x00WNsb."
    with pytest.raises(pickle.UnpicklingError, match="Linear: Chainer 1.0 to 1.4 has pickled it"):
        pickle.loads(saved)


@pytest.mark.parametrize("name", ["Adam", "MomentumSGD", "SGD", "AdaDelta"])
def test_plugrads_own_pickles_stay_as_they_are(name):
    model = L.Classifier(L.Linear(3, 2))
    optimizer = getattr(chainer.optimizers, name)().setup(model)
    x, t = np.ones((2, 3), "f"), np.array([0, 1], "i")
    optimizer.update(model, x, t)
    again = pickle.loads(pickle.dumps(optimizer))
    for each in (optimizer, again):
        each.update(each.target, x, t)
    assert again.t == 2
    np.testing.assert_array_equal(again.target.predictor.W.array, model.predictor.W.array)


def test_samplers_draw_as_they_did():
    state = {"threshold": np.array([0.5, 1], "f"), "values": np.array([0, 1, 1, 1], "i")}
    known = b"cchainer.utils.walker_alias\nWalkerAlias\n)\x81"
    sampler = pickle.loads(known + pickle.dumps(state, 2)[2:-1] + b"b.")
    fresh = chainer.utils.WalkerAlias([1, 3])
    for ours, theirs in zip(sampler._tables, fresh._tables, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert pickle.loads(pickle.dumps(sampler)).sample(5).shape == (5,)


class Filled(chainer.initializer.Initializer):
    """A program's own, which keeps its argument by another name."""

    def __init__(self, value):
        self._filled_with = value
        super().__init__()

    def __call__(self, array):
        array[...] = self._filled_with


def test_links_with_a_programs_own_initializer_are_copied():
    link = L.Linear(3, 2, initialW=Filled(2.0))
    for again in (copy.deepcopy(link), pickle.loads(pickle.dumps(link)), link.copy("init")):
        assert (again.W.array == 2).all()
        assert again.W.initializer._filled_with == 2
