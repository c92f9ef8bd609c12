"""Where plugrad differs on purpose, and is like Chainer under this import."""

import copy
import pickle

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
import pytest
from chainer import Variable, optimizers, serializers


def ones(*shape):
    return np.ones(shape, "f")


def test_a_missing_gradient_counts_as_zero():
    model = chainer.Chain(a=L.Linear(2, 1), b=L.Linear(2, 1))
    optimizer = optimizers.SGD(1.0)
    optimizer.setup(model)
    optimizer.add_hook(chainer.optimizer.WeightDecay(0.5))
    before = model.b.W.array.copy()
    model.cleargrads()
    F.sum(model.a(ones(1, 2))).backward()
    optimizer.update()
    np.testing.assert_allclose(model.b.W.array, before / 2, rtol=1e-6)
    assert (model.b.b.grad == 0).all()


def test_a_shared_parameter_takes_a_step_for_each_link():
    a, b = L.Linear(2, 2, nobias=True), L.Linear(2, 2, nobias=True)
    b.W = a.W
    model = chainer.ChainList(a, b)
    optimizer = optimizers.MomentumSGD(1.0, momentum=0.5)
    optimizer.setup(model)
    before = a.W.array.copy()
    a.W.grad = ones(2, 2)
    optimizer.update()
    np.testing.assert_allclose(a.W.array, before - 1 - 1.5, rtol=1e-5)
    assert a.W.update_rule.t == 2
    optimizer.update()
    np.testing.assert_allclose(a.W.array, before - 2.5 - 1.75 - 1.875, rtol=1e-5)
    assert a.W.update_rule.t == 4


def test_a_link_may_be_registered_twice():
    layer = L.Linear(2, 2)
    model = chainer.ChainList(layer, layer)
    assert len(model) == 2 and model[0] is model[1]


def test_new_parameters_have_gradients_of_nan():
    assert np.isnan(chainer.Parameter(0, (2,)).grad).all()
    link = L.Linear(None, 2)
    assert link.W.grad is None
    link(ones(1, 3))
    assert np.isnan(link.W.grad).all()
    cleared = L.Linear(None, 2)
    cleared.cleargrads()
    cleared(ones(1, 3))
    assert cleared.W.grad is None
    assert chainer.Parameter(ones(2)).grad is None


def test_gradients_of_frozen_parameters_are_computed():
    model = L.Linear(2, 1)
    optimizer = optimizers.SGD(1.0).setup(model)
    model.disable_update()
    before = model.W.array.copy()
    model.cleargrads()
    F.sum(model(ones(1, 2))).backward()
    assert (model.W.grad == 1).all()
    optimizer.update()
    assert (model.W.array == before).all()
    model.enable_update()
    optimizer.update()
    assert (model.W.array == before - 1).all()


def test_backward_without_a_graph_does_nothing():
    x = Variable(ones(1))
    with chainer.no_backprop_mode():
        y = x + 1
    y.backward()
    x.backward()
    assert x.grad is None and y.grad is None


def test_a_parameter_may_be_computed_with_in_place():
    bn = L.BatchNormalization(3)
    bn.beta += 2.0
    bn.gamma *= 5.0
    x = np.arange(9, dtype="f").reshape(3, 3)
    y = bn(x)
    np.testing.assert_allclose(y.array.mean(axis=0), 2, rtol=1e-5)
    assert isinstance(bn.beta, Variable) and not list(bn.params())


def test_snapshots_are_written_in_the_background(tmp_path):
    from chainer.training import extensions
    from chainer.training.extensions.snapshot_writers import ThreadWriter

    trainer = chainer.testing.get_trainer_with_mock_updater((1, "iteration"))
    trainer.out = str(tmp_path)
    target = L.Linear(2, 1)
    writer = extensions.snapshot_writers.ThreadWriter()
    assert isinstance(writer, ThreadWriter)
    trainer.extend(
        extensions.snapshot_object(target, "model", writer=writer), trigger=(1, "iteration")
    )
    trainer.run()
    copy = L.Linear(2, 1)
    serializers.load_npz(str(tmp_path / "model"), copy)
    assert (copy.W.array == target.W.array).all()


def test_unknown_attributes_of_optimizers_are_taken():
    optimizer = optimizers.SGD()
    optimizer.anything = 3
    assert optimizer.anything == 3


@pytest.mark.parametrize("compare", ["eq", "ne", "lt", "le", "gt", "ge"])
def test_comparisons_are_not_defined(compare):
    import operator

    x = Variable(ones(2))
    with pytest.raises(NotImplementedError, match=r"x\.array"):
        getattr(operator, compare)(x, 1)
    assert len({x, x}) == 1


def test_derivatives_that_compare_still_work():
    x = Variable(np.array([-1.0, 2.0], "f"))
    (gx,) = chainer.grad([F.sum(F.leaky_relu(x) ** 2)], [x], enable_double_backprop=True)
    F.sum(gx).backward()
    np.testing.assert_allclose(x.grad, [0.08, 2.0], rtol=1e-6)


def test_what_a_file_lacks_raises_keyerror(tmp_path):
    serializers.save_npz(tmp_path / "m.npz", L.Linear(2, 1, nobias=True))
    with pytest.raises(KeyError):
        serializers.load_npz(tmp_path / "m.npz", L.Linear(2, 1))
    with np.load(tmp_path / "m.npz") as stored, pytest.raises(KeyError, match="'x'"):
        serializers.NpzDeserializer(stored)("x", None)


@pytest.mark.parametrize(
    ("name", "default"),
    [
        ("use_ideep", "never"),
        ("lazy_grad_sum", False),
        ("compute_mode", None),
        ("schedule_func", None),
        ("use_static_graph", True),
        ("in_recomputing", False),
    ],
)
def test_entries_of_later_versions_can_be_read(name, default):
    """With Chainer 7.8.1's defaults: `if chainer.config.use_ideep != "never": ...`."""
    assert getattr(chainer.config, name) == getattr(chainer.global_config, name) == default
    with chainer.using_config(name, "other" if name != "in_recomputing" else True):
        assert getattr(chainer.config, name) != default
    assert getattr(chainer.config, name) == default


def test_entries_of_any_name_are_configuration():
    chainer.global_config.trian = 3
    try:
        assert chainer.config.trian == 3
        with pytest.raises(ValueError, match="expected True or False"):
            chainer.config.train = "no"
    finally:
        del chainer.global_config.trian


def test_chainers_environment_is_read(monkeypatch, tmp_path):
    from plugrad_chainer.behaviour import environment

    root = chainer.dataset.get_dataset_root()
    monkeypatch.setenv("CHAINER_TYPE_CHECK", "0")
    monkeypatch.setenv("CHAINER_DTYPE", "mixed16")
    monkeypatch.setenv("CHAINER_DATASET_ROOT", str(tmp_path))
    try:
        environment.switch()
        assert chainer.config.type_check is False and chainer.config.dtype == chainer.mixed16
        assert chainer.dataset.get_dataset_root() == str(tmp_path)
    finally:
        chainer.global_config.type_check = True
        chainer.global_config.dtype = np.float32
        chainer.dataset.set_dataset_root(root)


@pytest.mark.filterwarnings("ignore:.*in1d.*:DeprecationWarning")  # of a NumPy that has it
def test_names_that_numpy_and_python_have_removed_are_there():
    import collections
    import fractions
    import inspect
    import time

    assert np.float is float and np.float_ is np.float64 and np.product([2, 3]) == 6
    assert np.in1d([[1, 2], [3, 4]], [2]).tolist() == [False, True, False, False]
    assert np.asfarray([1]).dtype == np.float64 and np.msort([[2], [1]]).tolist() == [[1], [2]]
    assert isinstance([], collections.Iterable) and issubclass(dict, collections.Mapping)
    assert fractions.gcd(4, 6) == 2 and time.clock() <= time.process_time()
    assert inspect.getargspec(lambda x, *y, z=1: None)[:3] == (["x"], "y", None)


def test_stacks_take_generators_as_they_did():
    rows = [[1, 2], [3, 4]]
    for name in ("stack", "hstack", "vstack", "dstack", "column_stack"):
        stack = getattr(np, name)
        expected = stack([np.array(row) for row in rows])
        np.testing.assert_array_equal(stack(np.array(row) for row in rows), expected)
    assert np.stack((np.array(row) for row in rows), axis=1).tolist() == [[1, 3], [2, 4]]


def test_a_variable_is_no_iterable_and_yet_gone_over():
    """By which programs tell Variables from lists of them."""
    from collections.abc import Iterable

    x = Variable(np.arange(4.0).reshape(2, 2))
    assert not isinstance(x, Iterable) and [row.array.tolist() for row in x] == [[0, 1], [2, 3]]
    first, second = x
    F.sum(first * second).backward()
    assert x.grad.tolist() == [[2, 3], [0, 1]]


def test_links_say_where_they_are_as_before_version_6():
    link = L.Linear(2, 2)
    assert link._cpu and link._device_id is None
    link._device_id = None  # as links with a to_gpu of their own do
    assert link.xp is np


@pytest.mark.parametrize("make", [copy.deepcopy, lambda link: pickle.loads(pickle.dumps(link))])
def test_links_are_copied_whole(make):
    """What they hold for themselves included, such as initializers for several gates."""
    links = [
        L.LSTM(None, 3),
        L.StatelessGRU(2, 3),
        L.NStepLSTM(1, 2, 3, 0.0),
        L.BatchNormalization(3),
        chainer.Sequential(L.Linear(None, 2, initialW=chainer.initializers.Orthogonal(2)), F.relu),
    ]
    for link in links:
        again = make(link)
        assert repr(again) == repr(link) and again is not link
        for a, b in zip(link.params(), again.params(), strict=True):
            assert type(a.initializer) is type(b.initializer)
            assert a is not b and (a.array is None or (a.array == b.array).all())
    assert make(links[0])(np.ones((1, 4), "f")).shape == (1, 3)


@pytest.mark.parametrize("mode", ["init", "copy", "share"])
def test_a_sequential_is_repeated_whole(mode):
    """As Chainer 7.8.1 names the parameters in its files."""
    block = chainer.Sequential(L.Linear(2, 2), F.relu)
    repeated = block.repeat(2, mode)
    assert [type(layer) for layer in repeated] == [chainer.Sequential] * 2
    names = [name for name, _ in repeated.namedparams()]
    assert sorted(names) == ["/0/0/W", "/0/0/b", "/1/0/W", "/1/0/b"]
    assert (repeated[1][0].W.array is block[0].W.array) == (mode == "share")
    assert len(block.repeat(0)) == 0


def test_a_missing_dataset_is_downloaded(monkeypatch, tmp_path):
    """There is no network in tests: the error is that of the download."""
    root = chainer.dataset.get_dataset_root()
    chainer.dataset.set_dataset_root(str(tmp_path))
    monkeypatch.setattr("urllib.request.urlopen", no_network)
    try:
        with pytest.raises(OSError, match="cannot be downloaded"):
            chainer.datasets.get_mnist()
    finally:
        chainer.dataset.set_dataset_root(root)


def no_network(*args, **kwargs):
    raise TimeoutError("no network")


def test_evaluators_count_a_short_last_batch_like_a_full_one():
    class Reports(L.Linear):
        def __call__(self, x):
            chainer.report({"mean": x.mean()}, self)

    data = np.array([[0.0], [0.0], [3.0]], "f")
    batches = chainer.iterators.SerialIterator(data, 2, repeat=False, shuffle=False)
    means = chainer.training.extensions.Evaluator(batches, Reports(1, 1), device=-1)()
    assert float(means["main/mean"]) == 1.5


def test_a_program_may_catch_what_a_file_lacks(tmp_path):
    """As iterators do that have got a new attribute; without that, all is as it was before."""

    class Own(L.Linear):
        catches = True

        def serialize(self, serializer):
            super().serialize(serializer)
            try:
                self.count = serializer("count", self.count)
            except KeyError:
                if not self.catches:
                    raise
                self.count = -1

    old, new = L.Linear(3, 2), Own(3, 2)
    new.count = 0
    serializers.save_npz(tmp_path / "old.npz", old)
    serializers.load_npz(tmp_path / "old.npz", new)
    assert new.count == -1 and (new.W.array == old.W.array).all()
    new.W.array[...] = 5
    Own.catches = False
    with pytest.raises(KeyError, match="count"):
        serializers.load_npz(tmp_path / "old.npz", new)
    assert (new.W.array == 5).all()


def test_devices_are_printed_as_they_are_asked_for():
    device = chainer.get_device("@numpy")
    assert f"{device}" == device.name == "@numpy" and chainer.get_device(str(device)) == device
    assert device.supported_array_types == (np.ndarray,)
    with device.create_context():
        assert device.send_array(np.ones(2)).sum() == 2


def test_parameters_take_attributes():
    parameter = chainer.links.Linear(3, 2).W
    assert not hasattr(parameter, "mask")
    parameter.mask = np.ones((2, 3))
    parameter.mask *= 2
    for each in (parameter, copy.deepcopy(parameter), pickle.loads(pickle.dumps(parameter))):
        assert each.mask.sum() == 12
    del parameter.mask
    for read in (lambda: parameter.mask, lambda: chainer.Parameter(1.0, ()).mask):
        with pytest.raises(AttributeError, match="'Parameter' object has no attribute 'mask'"):
            read()
    with pytest.raises(AttributeError, match="Did you mean"):
        parameter.requires_grad_()
    with pytest.raises(AttributeError):
        parameter.shape = (3, 2)
    parameter.data = parameter.data * 0
    assert not parameter.array.any()
