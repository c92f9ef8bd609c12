"""What fails leaves everything as it was: parameters, gradients, files, configuration, hooks."""

import gc
import os

import numpy as np
import pytest

import core
import core.functions as F
import core.links as L
from core import optimizers, serializers
from core.errors import CheckpointError, RegistrationError
from core.registry import configuration
from core.training import extensions


def ones(*shape):
    return np.ones(shape, "f")


def bits(link, optimizer=None):
    """Everything a training would save, as bytes."""
    saved = serializers.DictionarySerializer()
    saved.save(link)
    if optimizer is not None:
        saved["optimizer"].save(optimizer)
    return {name: np.asarray(value).tobytes() for name, value in saved.target.items()}


@pytest.fixture
def trained():
    model = core.Chain(first=L.Linear(3, 4), second=L.Linear(4, 2))
    optimizer = optimizers.Adam().setup(model)
    optimizer.update(lambda: F.sum(model.second(model.first(ones(2, 3)))))
    return model, optimizer


# -- parameters ------------------------------------------------------------------------------------


def test_a_loss_that_fails(trained):
    model, optimizer = trained
    before, grads = bits(model, optimizer), [p.grad.copy() for p in model.params()]

    def failing():
        model.second(model.first(ones(2, 5)))

    with pytest.raises(core.errors.InvalidType):
        optimizer.update(failing)
    assert bits(model, optimizer) == before
    assert all((p.grad == g).all() for p, g in zip(model.params(), grads, strict=True))


def test_a_loss_of_many_elements(trained):
    model, optimizer = trained
    before = bits(model, optimizer)
    with pytest.raises((core.errors.GraphError, core.errors.UpdateError)):
        optimizer.update(lambda: model.second(model.first(ones(2, 3))))
    with pytest.raises(core.errors.UpdateError, match="expected the loss function to return"):
        optimizer.update(lambda: 1.0)
    assert bits(model, optimizer) == before


def test_one_gradient_that_does_not_fit_its_parameter(trained):
    model, optimizer = trained
    for parameter in model.params():
        parameter.grad = ones(*parameter.shape)
    model.second.b.array = ones(7)
    before = bits(model, optimizer)
    with pytest.raises(core.errors.UpdateError, match="second/b|b"):
        optimizer.update()
    assert bits(model, optimizer) == before


def test_a_hook_that_fails(trained):
    model, optimizer = trained
    before = bits(model)

    def failing(optimizer):
        raise ZeroDivisionError

    optimizer.add_hook(failing, name="failing")
    with pytest.raises(ZeroDivisionError):
        optimizer.update(lambda: F.sum(model.second(model.first(ones(2, 3)))))
    assert bits(model) == before


def test_statistics_of_a_refused_batch():
    link = L.BatchNormalization(3)
    link(ones(4, 3))
    before = bits(link)
    for batch in (ones(4, 2), np.ones((4, 3)), ones(3)):
        with pytest.raises(TypeError):
            link(batch)
    assert bits(link) == before


def test_counts_of_a_refused_batch():
    link = L.BatchNormalization(3)
    link.start_finetuning()
    with pytest.raises(TypeError):
        link(ones(4, 2), finetune=True)
    assert link.N == 0
    link(ones(4, 3), finetune=True)
    assert link.N == 1


@pytest.mark.parametrize(
    ("make", "bad", "good"),
    [
        (lambda: L.Convolution2D(None, 2, 3), (1, 4, 4), (1, 1, 4, 4)),
        (lambda: L.ConvolutionND(1, None, 2, 3), (1, 2, 4, 4), (1, 1, 4)),
        (lambda: L.Deconvolution2D(None, 2, 3), (1, 4, 4), (1, 1, 4, 4)),
        (lambda: L.DepthwiseConvolution2D(None, 2, 3), (1, 4, 4), (1, 1, 4, 4)),
        (lambda: L.LocalConvolution2D(None, 2, None, 3), (1, 4, 4), (1, 1, 4, 4)),
        (lambda: L.BatchNormalization(), (4,), (4, 3)),
        (lambda: L.GroupNormalization(1), (4,), (4, 3)),
    ],
)
def test_a_refused_first_input_decides_no_sizes(make, bad, good):
    link = make()
    with pytest.raises(core.errors.InvalidType, match=r"Expect: x.ndim (==|>=) \d"):
        link(ones(*bad))
    assert link(ones(*good)).shape


def test_the_state_of_a_refused_step():
    link = L.LSTM(3, 2)
    link(ones(2, 3))
    c, h = link.c, link.h
    with pytest.raises(TypeError):
        link(ones(2, 4))
    assert link.c is c and link.h is h


def test_a_registration_that_is_refused():
    chain = core.Chain(l1=L.Linear(2, 2))
    before = repr(chain)
    for call in (
        lambda: chain.add_link("l1", L.Linear(2, 2)),
        lambda: chain.add_link("again", chain.l1),
        lambda: chain.add_param("l1", (2,)),
        lambda: chain.add_link("loop", core.Chain(inner=chain)),
        lambda: chain.add_param("copy", (2,)),
    ):
        with pytest.raises(RegistrationError):
            call()
    assert repr(chain) == before
    assert not chain.within_init_scope


# -- gradients -------------------------------------------------------------------------------------


class Fails(core.FunctionNode):
    """Its backward raises what it is made with."""

    def __init__(self, error):
        self.error = error

    def forward(self, inputs):
        return (inputs[0] * 1,)

    def backward(self, indexes, grad_outputs):
        raise self.error


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, MemoryError])
@pytest.mark.parametrize("graph", [False, True])
def test_a_backward_that_is_interrupted(error, graph):
    x, w = core.Variable(ones(2)), core.Parameter(ones(2), name="w")
    x.grad = 3 * ones(2)
    kept = x.grad
    (middle,) = Fails(error()).apply((x * w,))
    y = F.sum(middle * w + x)
    with pytest.raises(error):
        y.backward(enable_double_backprop=graph)
    with pytest.raises(error):
        core.grad([y], [x], enable_double_backprop=graph)
    assert x.grad is kept and (kept == 3).all() and w.grad is None
    assert core.config.enable_backprop is True
    (gw,) = core.grad([F.sum(w * w)], [w])
    assert (gw.array == 2).all()


def test_a_backward_that_fails_may_be_repeated():
    x = core.Variable(ones(2))
    node = Fails(ValueError())
    (middle,) = node.apply((x * 2,))
    y = F.sum(middle)
    with pytest.raises(ValueError):
        y.backward()
    node.backward = lambda indexes, gys: (gys[0],)
    y.cleargrad()
    y.backward()
    assert (x.grad == 2).all()


def test_an_interrupt_within_an_update(trained):
    model, optimizer = trained
    before = bits(model, optimizer)

    def loss():
        (y,) = Fails(KeyboardInterrupt()).apply((model.second(model.first(ones(2, 3))),))
        return F.sum(y)

    with pytest.raises(KeyboardInterrupt):
        optimizer.update(loss)
    assert bits(model, optimizer) == before and all(p.grad is None for p in model.params())


def test_a_graph_that_failed_is_freed():
    x = core.Variable(ones(2))
    gc.collect()
    gc.disable()
    try:
        middle = Fails(ValueError()).apply((x * 2,))[0]
        import weakref

        gone = weakref.ref(middle.creator)
        try:
            F.sum(middle).backward()
        except ValueError as error:
            error.__traceback__ = None
        del middle
        assert gone() is None
    finally:
        gc.enable()


# -- files -----------------------------------------------------------------------------------------


def test_a_file_that_does_not_fit(trained, tmp_path):
    model, optimizer = trained
    path = tmp_path / "model.npz"
    serializers.save_npz(path, core.Chain(first=L.Linear(3, 4), second=L.Linear(5, 2)))
    before = bits(model, optimizer)
    with pytest.raises(CheckpointError, match="second/W.*expected.*nothing|nothing was loaded"):
        serializers.load_npz(path, model)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(CheckpointError, match="damaged"):
        serializers.load_npz(path, model)
    with pytest.raises(OSError, match="no.npz"):
        serializers.load_npz(tmp_path / "no.npz", model)
    assert bits(model, optimizer) == before


class Breaks(core.Link):
    """Serializes some of itself, and then raises."""

    def serialize(self, serializer):
        serializer("one", np.ones(1000))
        raise ZeroDivisionError


def test_a_save_that_fails(tmp_path):
    path = tmp_path / "model.npz"
    with pytest.raises(ZeroDivisionError):
        serializers.save_npz(path, Breaks())
    assert os.listdir(tmp_path) == []
    serializers.save_npz(path, L.Linear(2, 2))
    kept = path.read_bytes()
    with pytest.raises(ZeroDivisionError):
        serializers.save_npz(path, Breaks())
    assert os.listdir(tmp_path) == ["model.npz"] and path.read_bytes() == kept
    with pytest.raises(FileNotFoundError, match="directory of this file does not exist"):
        serializers.save_npz(tmp_path / "no" / "model.npz", L.Linear(2, 2))
    assert os.listdir(tmp_path) == ["model.npz"]


def test_a_directory_that_is_a_file(make_trainer, tmp_path):
    out = tmp_path / "results"
    out.write_text("mine")
    with pytest.raises(NotADirectoryError, match="expected out to be a directory.*results"):
        make_trainer(out=out)
    assert out.read_text() == "mine"
    with pytest.raises(TypeError, match="expected out to be the path of a directory, got 3"):
        make_trainer(out=3)


def test_a_training_that_fails_leaves_whole_files(make_trainer, tmp_path):
    def fail(trainer):
        if trainer.updater.iteration == 3:
            raise ZeroDivisionError

    trainer = make_trainer(
        extensions.LogReport(trigger=(1, "iteration")), stop=(4, "iteration"), out=tmp_path
    )
    trainer.extend(extensions.snapshot(), trigger=(1, "iteration"))
    trainer.extend(fail, name="fail")
    with pytest.raises(ZeroDivisionError):
        trainer.run(show_loop_exception_msg=False)
    names = sorted(os.listdir(tmp_path))
    assert names == ["log", "snapshot_iter_1", "snapshot_iter_2"]
    for name in names[1:]:
        model = L.Classifier(L.Linear(3, 2))
        serializers.load_npz(tmp_path / name, model, path="updater/model:main/")
        assert np.isfinite(model.predictor.W.array).all()


# -- configuration and hooks -----------------------------------------------------------------------


class Hook(core.FunctionHook):
    """Raises at one of its calls."""

    name = "Raises"

    def __init__(self, when):
        self.when = when

    def __getattribute__(self, name):
        if name == "when" or name != self.when:
            return super().__getattribute__(name)
        return lambda *args: 1 / 0


@pytest.mark.parametrize(
    "when",
    [
        "added",
        "forward_preprocess",
        "forward_postprocess",
        "backward_preprocess",
        "backward_postprocess",
    ],
)
def test_a_hook_of_functions_that_raises(when):
    x = core.Variable(ones(2))
    state = configuration.current_state()
    with pytest.raises(ZeroDivisionError), Hook(when):
        F.sum(x * x).backward()
    assert configuration.current_state() is state or not configuration.current_state().hooks
    assert x.grad is None and core.get_function_hooks() == {}
    F.sum(x * x).backward()
    assert (x.grad == 2).all()


def test_modes_end_with_their_block():
    for mode in (
        core.no_backprop_mode,
        core.force_backprop_mode,
        lambda: core.using_config("train", False),
        lambda: core.configuration.DebugMode(True),
        lambda: core.using("strict"),
        lambda: core.using_device("strict:1"),
    ):
        with pytest.raises(KeyboardInterrupt), mode():
            raise KeyboardInterrupt
    assert core.config.enable_backprop and core.config.train and not core.config.debug
    assert core.backend.current().name == "numpy"


def test_a_forward_that_raises_under_debug_mode_in_links():
    from core.graph import debug

    link = L.Linear(3, 2)
    with core.using_config("debug", True), pytest.raises(TypeError):
        link(ones(2, 4))
    assert debug.links.get() == ()
