"""Arguments that functions and links have lost since version 1, by name and by position."""

import os

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
import pytest
from plugrad_chainer.version1.keywords import signatures

VERSION_1 = os.environ.get("CHAINER_COMPAT") == "1"
only_version_1 = pytest.mark.skipif(not VERSION_1, reason="CHAINER_COMPAT=1 decides")
only_later = pytest.mark.skipif(VERSION_1, reason="CHAINER_COMPAT=1 decides")


def ones(*shape):
    return np.ones(shape, "f")


@pytest.mark.parametrize("name", sorted(signatures()))
def test_every_function_of_the_table_takes_them(name):
    """The arguments that are gone are known, and none of those that stay is lost."""
    kind, name, *method = name.split(".")
    function = getattr(getattr(chainer, kind), name)
    if method:
        function = getattr(function, "forward" if method == ["__call__"] else method[0])
    assert hasattr(function, "__wrapped__")


def test_the_mode_of_a_call():
    x = ones(50, 4)
    assert (F.dropout(x, train=False).data == 1).all() and (
        F.dropout(x, 0.5, False).data == 1
    ).all()
    assert (F.dropout(x, ratio=0.5, train=True).data == 0).any()
    with chainer.using_config("train", False):
        assert (F.dropout(x, train=True).data == 0).any()
    bn = L.BatchNormalization(4)
    bn.avg_var[...] = 1
    assert (bn(x, test=True).data == x / np.sqrt(1 + 2e-5).astype("f")).all()
    before = bn.avg_mean.copy()
    bn(x, test=False)
    assert (bn.avg_mean != before).all()
    bn(x, False, True)
    h, c, ys = L.NStepLSTM(1, 4, 3, 0.9, use_cudnn=False)(None, None, [x, x], train=False)
    assert h.shape == c.shape and len(ys) == 2


def test_cudnn_is_of_no_effect():
    x, image = ones(2, 3), ones(1, 2, 6, 6)
    W = ones(3, 2, 3, 3)
    for use in (True, False):
        assert (F.relu(x, use_cudnn=use).data == x).all() and (F.relu(x, use).data == x).all()
        assert F.softmax_cross_entropy(x, np.zeros(2, "i"), use_cudnn=use).shape == ()
        assert F.convolution_2d(image, W, use_cudnn=use, deterministic=use).shape == (1, 3, 4, 4)
        assert F.max_pooling_2d(image, 2, use_cudnn=use).shape == (1, 2, 3, 3)
        link = L.Convolution2D(2, 3, 3, use_cudnn=use, deterministic=True)
        assert link(image).shape == (1, 3, 4, 4)


def test_classes_of_functions_take_them_too():
    """In both modes: what comes by position is told from later arguments by its number."""
    x, image = ones(2, 3), ones(1, 2, 6, 6)
    t = np.zeros(2, "i")
    for use in (True, False):
        assert F.MaxPooling2D(2, use_cudnn=use)(image).shape == (1, 2, 3, 3)
        assert F.MaxPooling2D(3, 2, 0, False, use)(image).shape == (1, 2, 2, 2)
        assert F.AveragePooling2D(2, 2, 0, False, use)(image).shape == (1, 2, 3, 3)
        for cls in (F.ReLU, F.Sigmoid, F.Tanh, F.LogSoftmax, F.Softmax):
            assert cls(use_cudnn=use)(x).shape == (2, 3)
        for cls in (F.ReLU, F.Sigmoid, F.Tanh):
            assert cls(use)(x).shape == (2, 3)
        assert F.SoftmaxCrossEntropy(use_cudnn=use)(x, t).data == pytest.approx(np.log(3))
        assert F.SigmoidCrossEntropy(use_cudnn=use, normalize=True)(x[:, 0], t).shape == ()
        pyramid = F.SpatialPyramidPooling2D((2, 6, 6), 2, F.MaxPooling2D, use_cudnn=use)
        assert pyramid(image).shape == (1, 10, 1, 1)
        assert F.SpatialTransformerGrid((4, 4), use_cudnn=use)(ones(1, 2, 3)).shape == (1, 2, 4, 4)
    y = F.relu(chainer.Variable(x))
    assert isinstance(y.creator, F.ReLU)
    with pytest.raises(TypeError, match="Tanh: 2 arguments, where version 1 took 1"):
        F.Tanh(True, 3)


def test_links_stand_beside_functions():
    assert F.PReLU is L.PReLU and F.BatchNormalization is L.BatchNormalization
    assert F.PReLU(init=0.5)(-ones(2, 3)).data[0, 0] == -0.5
    assert F.BatchNormalization(3, 0.9, 1e-5)(ones(2, 3), test=True).shape == (2, 3)


def test_scales_and_biases():
    np.random.seed(0)
    link = L.Linear(400, 300, wscale=0.5, bias=2)
    assert link.W.data.std() == pytest.approx(0.5 / np.sqrt(400), rel=0.02)
    assert (link.b.data == 2).all()
    link = L.Convolution2D(30, 40, 3, wscale=2, bias=1)
    assert link.W.data.std() == pytest.approx(2 / np.sqrt(270), rel=0.05)
    assert (link.b.data == 1).all()
    given = ones(2, 3)
    assert (L.Linear(3, 2, wscale=0.5, initialW=given).W.data == given).all()
    assert L.Maxout(3, 2, 2, wscale=3)(ones(1, 3)).shape == (1, 2)


def test_weights_are_filled_by_an_initializer():
    link = L.Linear(300, 200)
    chainer.initializers.init_weight(link.W, chainer.initializers.Normal(0.05))
    assert link.W.data.std() == pytest.approx(0.05, rel=0.05)
    chainer.initializers.init_weight(link.W.data, 2, scale=3)
    assert (link.W.data == 6).all()


def test_a_derived_link_takes_them_too():
    class Own(L.Linear):
        def __init__(self):
            super().__init__(3, 2, bias=4)

    assert (Own().b.data == 4).all()


def test_too_many_arguments_are_refused():
    with pytest.raises(TypeError, match="version 1 took 3"):
        F.dropout(ones(2), 0.5, True, 1, 2, 3)
    with pytest.raises(TypeError, match="Did you mean"):
        F.dropout(ones(2), ratoi=0.5)


@only_later
def test_later_versions_decide():
    assert chainer.__version__ == "7.8.1"
    assert L.Linear(3, 2, True).b is None
    assert type(F.split_axis(ones(2, 3), 1, 1)) is tuple
    assert len(chainer.Variable(ones(2, 3))) == 2
    assert (L.LSTM(3, 2).upward.b.data != 0).any()
    assert (L.BatchNormalization(2).avg_var == 1).all()
    assert L.ConvolutionND(1, 2, 3, 3).b is not None
    assert L.GRU(2, 4)(ones(1, 2)).shape == (1, 4)


@only_version_1
def test_version_1_decides():
    assert chainer.__version__ == "1.24.0"
    link = L.Linear(3, 2, 0.0, 1.5)
    assert (link.W.data == 0).all() and (link.b.data == 1.5).all()
    assert isinstance(F.split_axis(ones(2, 3), 1, 1), chainer.Variable)
    assert len(chainer.Variable(ones(2, 3))) == 6
    assert (L.LSTM(3, 2).upward.b.data == 0).all()
    assert L.ConvolutionND(1, 2, 3, 3).b is None
    assert L.ConvolutionND(1, 2, 3, 3, initial_bias=1.0).b is not None
    assert (L.ConvolutionND(1, 2, 3, 3, 1, 0, None, 0.5).b.data == 0.5).all()  # by position
    assert (L.BatchNormalization(2).avg_var == 0).all()
    gru = L.GRU(4, 2)
    assert gru(chainer.Variable(ones(1, 4)), ones(1, 2)).shape == (1, 4)
    assert (F.softmax(ones(2, 3), True, 0).data == 0.5).all()
    assert (F.Softmax(True, 0)(ones(2, 3)).data == 0.5).all()
    assert (F.Softmax(False)(ones(2, 2)).data == 0.5).all()


def train_once(model, tmp_path, *extensions):
    examples = [(ones(2), np.int32(i % 2)) for i in range(4)]
    optimizer = chainer.optimizers.SGD()
    optimizer.setup(model)
    iterator = chainer.iterators.SerialIterator(examples, 2)
    updater = chainer.training.StandardUpdater(iterator, optimizer)
    trainer = chainer.training.Trainer(updater, (2, "iteration"), out=str(tmp_path))
    for extension in extensions:
        trainer.extend(extension)
    trainer.run()
    return trainer


class Seeing(L.Classifier):
    def __call__(self, x, t):
        self.seen = type(x)
        return super().__call__(x, t)


def test_what_updaters_hand_to_the_loss(tmp_path):
    model = Seeing(L.Linear(2, 2))
    train_once(model, tmp_path)
    assert model.seen is (chainer.Variable if VERSION_1 else np.ndarray)


def test_when_extensions_run(tmp_path):
    from chainer.training import extensions, make_extension

    seen = []

    @make_extension(trigger=(1, "iteration"), invoke_before_training=True)
    def early(trainer):
        seen.append(trainer.updater.iteration)

    class Early(chainer.training.Extension):
        invoke_before_training = True
        trigger = (2, "iteration")

        def __call__(self, trainer):
            seen.append("class")

    snapshot = extensions.snapshot(trigger=(1, "iteration"))
    train_once(L.Classifier(L.Linear(2, 2)), tmp_path, early, Early(), snapshot)
    assert sorted(map(str, seen)) == ["0", "1", "2", "class", "class"]
    assert (tmp_path / "snapshot_iter_1").exists()
