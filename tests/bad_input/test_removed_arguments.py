"""Arguments that the system once had are refused, each with what to write today."""

import numpy as np
import pytest

import core
import core.functions as F
import core.links as L
from core import initializers, training
from core.errors import RemovedArgument, UnknownName
from core.training import extensions


def ones(*shape):
    return np.ones(shape, "f")


def image(size=4):
    return ones(1, 1, size, size)


LABELS = np.zeros(2, "i")
MODE = "using_config.'train', False."
CUDNN = "Leave it out: core.config has use_cudnn"
DETERMINISTIC = CUDNN

FUNCTIONS = {
    "dropout train": (lambda: F.dropout(ones(2), train=False), MODE),
    "dropout test": (lambda: F.dropout(ones(2), test=True), MODE),
    "zoneout train": (lambda: F.zoneout(ones(2), ones(2), train=False), MODE),
    "relu use_cudnn": (lambda: F.relu(ones(2), use_cudnn=False), CUDNN),
    "relu use_cudnn by position": (lambda: F.relu(ones(2), False), CUDNN),
    "sigmoid use_cudnn": (lambda: F.sigmoid(ones(2), use_cudnn=True), CUDNN),
    "tanh use_cudnn": (lambda: F.tanh(ones(2), use_cudnn=True), CUDNN),
    "clipped_relu use_cudnn": (lambda: F.clipped_relu(ones(2), use_cudnn=True), CUDNN),
    "softmax use_cudnn": (lambda: F.softmax(ones(2, 3), use_cudnn=True), CUDNN),
    "log_softmax use_cudnn": (lambda: F.log_softmax(ones(2, 3), use_cudnn=True), CUDNN),
    "softmax_cross_entropy use_cudnn": (
        lambda: F.softmax_cross_entropy(ones(2, 3), LABELS, use_cudnn=True),
        CUDNN,
    ),
    "sigmoid_cross_entropy use_cudnn": (
        lambda: F.sigmoid_cross_entropy(ones(2), LABELS, use_cudnn=True),
        CUDNN,
    ),
    "max_pooling_2d use_cudnn": (lambda: F.max_pooling_2d(image(), 2, use_cudnn=True), CUDNN),
    "max_pooling_nd use_cudnn": (lambda: F.max_pooling_nd(image(), 2, use_cudnn=True), CUDNN),
    "average_pooling_2d use_cudnn": (
        lambda: F.average_pooling_2d(image(), 2, use_cudnn=True),
        CUDNN,
    ),
    "average_pooling_nd use_cudnn": (
        lambda: F.average_pooling_nd(image(), 2, use_cudnn=True),
        CUDNN,
    ),
    "spatial_pyramid_pooling_2d use_cudnn": (
        lambda: F.spatial_pyramid_pooling_2d(image(), 2, "max", use_cudnn=True),
        CUDNN,
    ),
    "convolution_2d use_cudnn": (
        lambda: F.convolution_2d(image(), image(3), use_cudnn=True),
        CUDNN,
    ),
    "convolution_2d deterministic": (
        lambda: F.convolution_2d(image(), image(3), deterministic=True),
        DETERMINISTIC,
    ),
    "convolution_nd use_cudnn": (
        lambda: F.convolution_nd(image(), image(3), use_cudnn=True),
        CUDNN,
    ),
    "deconvolution_2d deterministic": (
        lambda: F.deconvolution_2d(image(), image(3), deterministic=True),
        DETERMINISTIC,
    ),
    "deconvolution_nd use_cudnn": (
        lambda: F.deconvolution_nd(image(), image(3), use_cudnn=True),
        CUDNN,
    ),
    "dilated_convolution_2d use_cudnn": (
        lambda: F.dilated_convolution_2d(image(), image(3), use_cudnn=True),
        CUDNN,
    ),
    "batch_normalization use_cudnn": (
        lambda: F.batch_normalization(ones(2, 3), ones(3), ones(3), use_cudnn=True),
        CUDNN,
    ),
    "fixed_batch_normalization use_cudnn": (
        lambda: F.fixed_batch_normalization(ones(2, 3), *[ones(3)] * 4, use_cudnn=True),
        CUDNN,
    ),
    "n_step_lstm train": (lambda: F.n_step_lstm(1, 0.5, *[None] * 5, train=True), MODE),
}

WSCALE = "HeNormal.scale / math.sqrt.2.., or LeCunNormal.scale."
LINKS = {
    "Linear wscale": (lambda: L.Linear(3, 2, wscale=0.5), WSCALE),
    "Linear bias": (lambda: L.Linear(3, 2, bias=1), "initial_bias"),
    "Convolution2D wscale": (lambda: L.Convolution2D(1, 2, 3, wscale=0.5), WSCALE),
    "Convolution2D bias": (lambda: L.Convolution2D(1, 2, 3, bias=1), "initial_bias"),
    "Convolution2D use_cudnn": (lambda: L.Convolution2D(1, 2, 3, use_cudnn=True), CUDNN),
    "Convolution2D deterministic": (
        lambda: L.Convolution2D(1, 2, 3, deterministic=True),
        DETERMINISTIC,
    ),
    "Deconvolution2D wscale": (lambda: L.Deconvolution2D(1, 2, 3, wscale=0.5), WSCALE),
    "Deconvolution2D bias": (lambda: L.Deconvolution2D(1, 2, 3, bias=1), "initial_bias"),
    "DilatedConvolution2D bias": (lambda: L.DilatedConvolution2D(1, 2, 3, bias=1), "initial_bias"),
    "BatchNormalization use_cudnn": (lambda: L.BatchNormalization(3, use_cudnn=True), CUDNN),
    "BatchNormalization test": (
        lambda: L.BatchNormalization(3)(ones(2, 3), test=True),
        MODE,
    ),
}

AT_EXTEND = "trainer.extend.*trigger="
INITIALIZE = "initialize.trainer."
OTHERS = {
    "Variable volatile": (lambda: core.Variable(ones(2), volatile=True), "no_backprop_mode"),
    "snapshot trigger": (lambda: extensions.snapshot(trigger=(1, "epoch")), AT_EXTEND),
    "snapshot_object trigger": (
        lambda: extensions.snapshot_object(L.Linear(2, 2), "m", trigger=(1, "epoch")),
        AT_EXTEND,
    ),
    "make_extension invoke_before_training": (
        lambda: training.make_extension(invoke_before_training=True),
        INITIALIZE,
    ),
}

ALL = FUNCTIONS | LINKS | OTHERS


@pytest.mark.parametrize("name", ALL)
def test_a_removed_argument_is_refused_with_its_cure(name):
    call, cure = ALL[name]
    who, argument = name.split()[:2]
    with pytest.raises(RemovedArgument, match=cure) as caught:
        call()
    assert who in str(caught.value) and f"argument {argument!r} no longer exists" in str(
        caught.value
    )


def test_the_cures_are_true():
    """What the messages say to write instead works, and does what the argument did."""
    x = ones(4)
    with core.using_config("train", False):
        assert (F.dropout(x).array == x).all()
    with core.no_backprop_mode():
        assert F.relu(core.Variable(x)).creator is None
    he = initializers.HeNormal(0.5 / np.sqrt(2)).spread((10, 4))
    assert he == pytest.approx(initializers.LeCunNormal(0.5).spread((10, 4)))
    assert he == pytest.approx(0.5 * np.sqrt(1 / 4))
    assert (L.Linear(3, 2, initial_bias=1).b.array == 1).all()


def test_the_flag_of_a_variable():
    x = core.Variable(ones(2))
    assert not hasattr(x, "volatile")
    with pytest.raises(UnknownName, match="volatile no longer exists.*no_backprop_mode"):
        x.volatile  # noqa: B018
    with pytest.raises(UnknownName, match="volatile no longer exists.*no_backprop_mode"):
        x.volatile = True


class Early(training.Extension):
    invoke_before_training = True

    def __call__(self, trainer):
        pass


def test_the_attribute_of_an_extension(trainer):
    with pytest.raises(RemovedArgument, match="invoke_before_training.*initialize.trainer."):
        trainer.extend(Early())
    with pytest.raises(RemovedArgument, match="invoke_before_training.*initialize.trainer."):
        trainer.extend(lambda trainer: None, invoke_before_training=True)


@pytest.mark.parametrize(
    ("name", "cure"),
    [
        ("zero_grads", "cleargrads"),
        ("clip_grads", "GradientClipping"),
        ("compute_grads_norm", "GradientClipping"),
        ("weight_decay", "WeightDecay"),
        ("accumulate_grads", "addgrads"),
    ],
)
def test_removed_methods_of_optimizers(name, cure):
    optimizer = core.optimizers.SGD().setup(L.Linear(2, 2))
    with pytest.raises(AttributeError, match=f"{name} no longer exists.*{cure}"):
        getattr(optimizer, name)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: F.dropout(ones(2), ration=0.5), "dropout.*'ration'.*Did you mean 'ratio'"),
        (
            lambda: F.convolution_2d(image(), image(3), strid=2),
            "convolution_2d.*'strid'.*Did you mean 'stride'",
        ),
        (
            lambda: F.max_pooling_2d(image(), 2, cover_al=True),
            "max_pooling_2d.*'cover_al'.*Did you mean 'cover_all'",
        ),
        (lambda: L.Linear(3, 2, initalW=1), "Linear.*'initalW'.*Did you mean 'initialW'"),
        (
            lambda: L.Convolution2D(1, 2, 3, inital_bias=1),
            "Convolution2D.*'inital_bias'.*Did you mean 'initial_bias'",
        ),
        (lambda: core.Variable(ones(2), nam="x"), "Variable.*'nam'.*Did you mean 'name'"),
        (lambda: core.optimizers.Adam(alhpa=1), "Adam.*'alhpa'.*Did you mean 'alpha'"),
        (
            lambda: extensions.snapshot(n_retain=1),
            "snapshot.*'n_retain'.*Did you mean 'n_retains'",
        ),
        (
            lambda: extensions.LogReport(postproces=print),
            "LogReport.*'postproces'.*Did you mean 'postprocess'",
        ),
        (
            lambda: extensions.PlotReport(["x"], filenam="a.png"),
            "PlotReport.*'filenam'.*Did you mean 'filename'",
        ),
        (
            lambda: training.make_extension(initialiser=print),
            "make_extension.*'initialiser'.*Did you mean 'initializer'",
        ),
    ],
)
def test_a_misspelt_argument_gets_the_nearest(call, message):
    with pytest.raises(TypeError, match=message):
        call()
