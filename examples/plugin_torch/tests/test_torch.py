"""The backend, proved, and used as any other."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from inspect import signature
from pathlib import Path

import numpy as np
import pytest

os.environ.setdefault("PLUGRAD_COMPILED", "0")  # NumPy is a reference here: no loops are compiled

import core
import core.functions as F
import core.links as L
from core import optimizers
from core.arrays.backend import Device
from core.errors import BackendError, InvalidType, UpdateError
from core.programs import Launched
from core.testing import check_backend, check_op

torch = pytest.importorskip("torch", reason="the backend of PyTorch needs PyTorch")
B = core.backend.get("torch")
DIGITS = Path(__file__).parents[2] / "digits" / "train_digits.py"


def test_what_the_core_asks_of_a_backend():
    check_backend("torch")


def test_pytorch_is_not_imported_before_it_is_asked_for():
    code = (
        "import sys, core, numpy, core.functions as F; F.relu(numpy.ones(2, 'f'))\n"
        "assert core.backend.available()['torch'] is None\n"
        "print('torch' in sys.modules)\n"
        "core.use('torch'); print('torch' in sys.modules)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.split() == ["False", "True"]


def test_devices_have_pytorchs_words():
    assert str(core.get_device("torch")) == "torch:cpu" == str(core.get_device("torch:cpu"))
    here = [str(device) for device in B.devices()]
    assert here[0] == "torch:cpu"
    for name in ("torch:cuda:0", "torch:xpu:0", "torch:mps"):
        if name in here:
            x = core.Variable(B.asarray(np.ones(2, "f"), device=core.get_device(name)))
            assert str((x + x).device) == name
        else:
            with pytest.raises(BackendError, match=f"no device {name}; it has torch:cpu"):
                core.get_device(name)


class Swish(core.Elementwise):
    """An operation of somebody else, written in the standard's words."""

    domain = core.Domain(x=core.real(-6, 6))

    def compute(self, xp, x):
        return x / (1 + xp.exp(-x))

    def gradient(self, xp, g, x):
        s = 1 / (1 + xp.exp(-x))
        return g * s * (1 + x * (1 - s))


def test_an_operation_is_proved_on_it():
    check_op(Swish, backends=["torch"])


def test_tensors_with_graphs_of_their_own_are_refused_or_detached(monkeypatch):
    t = torch.ones(2, requires_grad=True)
    x = core.Variable(torch.ones(2))
    for enter in (core.Variable, core.as_variable, lambda t: x * t, F.relu, core.Parameter):
        with pytest.raises(BackendError, match=r"requires a gradient of PyTorch's own"):
            enter(t)
    monkeypatch.setattr(B, "detaches", True)
    for enter in (core.Variable, core.as_variable, lambda t: x * t, F.relu, core.Parameter):
        assert not enter(t).array.requires_grad


def test_gradients_and_copies_bring_no_graph_of_their_own(monkeypatch):
    """PyTorch would go on recording in what they are written to: parameters, sums of gradients."""
    t, x = torch.ones(2, requires_grad=True), core.Parameter(torch.zeros(2))
    takes = (
        lambda: setattr(x, "grad", t),
        lambda: core.backend.copyto(x, t),
        lambda: core.Variable(x.array, grad=t),
    )
    for take in takes:
        with pytest.raises(BackendError, match=r"requires a gradient of PyTorch's own"):
            take()
    monkeypatch.setattr(B, "detaches", True)
    for take in takes:
        take()
    assert x.grad.tolist() == x.array.tolist() == [1, 1]
    assert not x.grad.requires_grad and not x.array.requires_grad


def test_tensors_that_are_not_dense_are_refused():
    with pytest.raises(BackendError, match="laid out as torch.sparse_coo. Give tensor.to_dense"):
        core.Variable(torch.eye(2).to_sparse())


def test_what_is_only_seen_as_conjugate_or_negative_leaves_as_it_is_seen():
    conjugate = torch.tensor([1 + 2j, 3 - 4j]).conj()
    for tensor in (conjugate, conjugate.imag):
        x = core.Variable(tensor, requires_grad=False)
        assert np.from_dlpack(x).tolist() == tensor.tolist()


def test_pytorch_records_nothing():
    model = core.Sequential(L.Linear(2, 3), F.relu, L.Linear(3, 1)).to_device("torch")
    y = F.sum(model(torch.ones(4, 2)))
    assert y.array.grad_fn is None
    y.backward()
    assert all(p.grad.grad_fn is None for p in model.params())


@pytest.mark.parametrize("seed", [None, 3])
def test_random_numbers_are_resumed_to_the_bit(seed):
    before = core.backend.random_state()
    try:
        core.seed(seed)
        core.backend.get("torch").random.normal((3,))
        state = json.loads(json.dumps(core.backend.random_state()))
        x = torch.ones(1000)

        def drawn():
            r = B.random
            several = [r.normal((5,)), r.uniform((5,), "float64", 2, 3), r.permutation(9)]
            with core.using_config("train", True):
                return [a.numpy() for a in [*several, F.dropout(x).array]]

        first = drawn()
        other = drawn()
        core.backend.set_random_state(state)
        for a, b, c in zip(first, drawn(), other, strict=True):
            assert np.array_equal(a, b) and not np.array_equal(a, c)
    finally:
        core.backend.set_random_state(before)


def test_each_draw_has_its_own_key_whoever_draws_beside_it():
    def drawn(times):
        return [tuple(B.random.normal((2,)).tolist()) for _ in range(times)]

    before, interval = core.backend.random_state(), sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        core.seed(3)
        alone = drawn(2000)
        core.seed(3)
        with ThreadPoolExecutor(4) as pool:
            together = sum(pool.map(drawn, [500] * 4), [])
        assert sorted(together) == sorted(alone)
    finally:
        sys.setswitchinterval(interval)
        core.backend.set_random_state(before)


def test_threads_are_limited_for_a_block():
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        with core.using_threads(2):
            with core.using_threads(1):
                assert torch.get_num_threads() == 1
            assert torch.get_num_threads() == 2
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)


def test_a_damaged_random_state_changes_nothing():
    before = core.backend.random_state()
    for wrong in ("not base64!", "AAAA", 3):
        with pytest.raises(core.errors.CheckpointError):
            core.backend.set_random_state({**before, "backends": {"torch": {"cpu": wrong}}})
    assert core.backend.random_state() == before


BACKWARDS = [slice(None, None, -1), (0, slice(None, 0, -2)), (..., slice(2, 9, -1))]


@pytest.mark.parametrize("index", BACKWARDS)
def test_slices_may_go_backwards(index):
    x = np.arange(12.0).reshape(3, 4)
    y = core.Variable(torch.asarray(x))[index]
    assert np.array_equal(y.array.numpy(), x[index])
    x, y = core.Variable(torch.asarray(x)), core.Variable(x)
    F.sum(x[index] * x[index]).backward()
    F.sum(y[index] * y[index]).backward()
    assert np.array_equal(x.grad.numpy(), y.grad)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int32"])
def test_numbers_of_few_bits_are_numbers(dtype):
    """PyTorch itself takes uint8 for truth values, and 300 for 44 beside it."""
    at = np.array([2, 0, 2], dtype)
    x = np.arange(12.0).reshape(3, 4)
    for index in (at, (at, at), (slice(None), at), (at, slice(None, None, -1))):
        y, there = [core.Variable(lib.asarray(x.copy())) for lib in (np, torch)]
        for given in (index, tuple(map(_there, index)) if isinstance(index, tuple) else _there(at)):
            there.cleargrad()
            F.sum(there[given] * there[given]).backward()
            y.cleargrad()
            F.sum(y[index] * y[index]).backward()
            np.testing.assert_array_equal(there.grad, y.grad)
    changed = core.Variable(torch.asarray(x), requires_grad=False)
    changed[_there(at)] = 7.0
    assert changed[2].array.tolist() == changed[0].array.tolist() == [7.0] * 4
    scores = np.random.default_rng(0).normal(size=(3, 300))
    losses = [F.softmax_cross_entropy(lib.asarray(scores), lib.asarray(at)) for lib in (np, torch)]
    assert losses[1].item() == pytest.approx(losses[0].item())
    assert np.array_equal(F.embed_id(_there(at), torch.asarray(x)).array, x[at])


def _there(part):
    return torch.asarray(part) if isinstance(part, np.ndarray) else part


def test_what_is_kept_of_a_maximum_is_its_place_in_the_window():
    x = np.random.RandomState(0).permutation(70).reshape(1, 2, 5, 7).astype("f")
    for settings in ((2,), (3, 2, 1), ((2, 3), 1, 0, False)):
        y, places = F.max_pooling_2d(torch.asarray(x), *settings, return_indices=True)
        expected, there = F.max_pooling_2d(x, *settings, return_indices=True)
        assert np.array_equal(y.array.numpy(), expected.array)
        assert np.array_equal(places.numpy(), there) and places.dtype is torch.int32


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [None, (), 0, -1, (0, 1)])
@pytest.mark.parametrize("dtype", ["bool", "int8", "float32", "complex64"])
def test_what_is_not_0_is_counted_along_the_axes_that_are_named(dtype, axis, keepdims):
    x = np.array([[0, 1, 3], [0, 0, 2]], dtype)
    found = B.xp.count_nonzero(torch.asarray(x), axis=axis, keepdims=keepdims)
    expected = np.count_nonzero(x, axis=axis, keepdims=keepdims)
    np.testing.assert_array_equal(found.numpy(), expected, strict=True)


@pytest.mark.parametrize("find", [F.argmax, F.argmin])
@pytest.mark.parametrize("axis", [None, 0, -1])
def test_places_of_extrema_are_found_in_all_of_a_tensor_and_along_an_axis(find, axis):
    x = np.random.default_rng(0).normal(size=(3, 4))
    found, expected = (find(lib.asarray(x), axis=axis).array for lib in (torch, np))
    np.testing.assert_array_equal(found.numpy(), expected, strict=True)


def test_a_statistic_of_one_element_is_warned_of():
    bn = L.BatchNormalization(3).to_device("torch")
    with core.using_config("train", True), pytest.warns(UserWarning, match="over one element"):
        bn(torch.ones(1, 3))


def test_a_cell_of_one_unit_leaves_its_input_as_it_is():
    x = torch.randn(1, 4)
    before = x.clone()
    F.lstm(torch.zeros(1, 1), x)
    assert torch.equal(x, before)


@pytest.mark.parametrize("shape", [(4, 6), (4, 6, 3), (4, 6, 3, 3)])
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("statistics", [(), (0.25, 2.0)])
def test_each_channel_is_scaled_by_its_own_number_however_these_lie(shape, last, statistics):
    x, g = torch.randn(2, *shape, dtype=torch.float64)
    if last:
        x, g = (each.movedim(1, -1).contiguous().movedim(-1, 1) for each in (x, g))
    fixed = [torch.full((12,), value, dtype=torch.float64)[::2] for value in statistics]
    function = F.fixed_batch_normalization if statistics else F.batch_normalization
    gamma, beta = torch.randn(12, 2, dtype=torch.float64).T[:, ::2]
    found = []
    for lie in (lambda t: t, lambda t: t.clone(memory_format=torch.contiguous_format)):
        inputs = [core.Variable(lie(each)) for each in (x, gamma, beta)]
        y = function(*inputs, *fixed)
        y.grad = lie(g)
        y.backward()
        found.append([y.array, *[each.grad for each in inputs]])
    torch.testing.assert_close(*found)


@pytest.mark.parametrize("name", ["Adafactor", "Adam", "AMSGrad", "AdamW", "MomentumSGD", "SGD"])
@pytest.mark.parametrize("turned", ["parameter", "gradient"])
def test_arrays_that_do_not_lie_in_order_are_updated_in_order(name, turned):
    rng, moved = np.random.default_rng(0), []
    w, g = rng.normal(size=(2, 3, 4)).astype("f")
    for lib in (np, torch):
        model = core.Link()
        with model.init_scope():
            made = lib.asarray(w.T.copy())
            model.p = core.Parameter(lib.asarray(w.copy()).T if turned == "parameter" else made)
        optimizer = getattr(optimizers, name)().setup(model)
        for _ in range(2):
            made = lib.asarray(g.T.copy())
            model.p.grad = lib.asarray(g.copy()).T if turned == "gradient" else made
            optimizer.update()
        moved.append(np.asarray(model.p.array))
    np.testing.assert_allclose(moved[1], moved[0], atol=1e-6)


def test_arrays_of_the_other_order_of_bytes_come_in():
    assert B.asarray(np.arange(3, dtype=">f4")).tolist() == [0, 1, 2]


def test_calls_of_gpus_that_are_not_here_have_their_names(monkeypatch):
    """Signatures; an object of PyTorch for a device that it was not built with cannot be made."""
    for kind in (torch.cuda, torch.xpu, torch.mps):
        assert "device" in signature(kind.get_rng_state).parameters
        assert list(signature(kind.set_rng_state).parameters) == ["new_state", "device"]
    for name in ("Stream", "stream", "current_stream", "graph", "memory_allocated"):
        assert callable(getattr(torch.cuda, name))
    assert {"replay", "capture_begin"} <= set(dir(torch.cuda.graphs.CUDAGraph))
    assert B.stage is None or B.devices()[0].id != "cpu"
    monkeypatch.setattr(B, "default_device", lambda: Device(B, "cuda:0"))
    assert isinstance(B.stage(None), Launched)


@pytest.mark.skipif(torch.cuda.is_available(), reason="it would be recorded")
def test_what_cuda_does_not_record_is_asked_for_one_by_one(monkeypatch):
    monkeypatch.setattr(type(B), "stage", type(B)._launched)
    model = L.Linear(3, 2, initialW=1.0).to_device("torch")

    @core.capture
    def step(x):
        model.cleargrads()
        F.sum(model(x) ** 2).backward()
        return model.b.grad * 2

    with pytest.warns(UserWarning, match="torch cannot record it .RuntimeError: .*CUDAGraph"):
        found = [step(torch.full((1, 3), float(i))).tolist() for i in range(5)]
    assert found == [[12.0 * i] * 2 for i in range(5)]
    assert "not as a whole: RuntimeError" in step.report()


def trained(backend, steps=30):
    core.seed(0)
    model = core.Sequential(L.Linear(1, 8), F.tanh, L.Linear(8, 1))
    model.to_device(backend)
    optimizer = optimizers.MomentumSGD(lr=0.1).setup(model)
    x = core.get_device(backend).send(np.linspace(-2, 2, 32, dtype="f")[:, None])
    losses = []
    for _ in range(steps):
        loss = F.mean_squared_error(model(x), F.sin(x))
        optimizer.update(lambda loss=loss: loss)
        losses.append(loss.item())
    return losses


def test_a_model_learns_what_it_learns_with_numpy():
    try:
        losses = {name: trained(name) for name in ("numpy", "torch")}
    finally:
        core.seed(None)
    np.testing.assert_allclose(losses["torch"], losses["numpy"], rtol=1e-3)
    assert losses["torch"][-1] < losses["torch"][0] / 2


def digits(out, *options):
    """Train the example of digits in a process of its own, up to the second epoch."""
    command = [sys.executable, str(DIGITS), "--backend", "torch", "--epoch", "2", "--out", str(out)]
    done = subprocess.run([*command, *options], capture_output=True, text=True, cwd=out.parent)
    assert done.returncode == 0, done.stderr
    return sorted(out.glob("snapshot_iter_*"), key=lambda path: int(path.name.rpartition("_")[2]))


@pytest.mark.skipif(not DIGITS.exists(), reason="the example of digits is not beside this one")
def test_digits_are_learnt_and_a_run_that_is_resumed_repeats_its_bits(tmp_path):
    first, last = digits(tmp_path / "whole", "--check", "85")
    (again,) = digits(tmp_path / "resumed", "--resume", str(first))
    with np.load(last) as whole, np.load(again) as resumed:
        names = [name for name in whole.files if "/model:main/" in name]
        assert len(names) == 8
        assert all(np.array_equal(whole[name], resumed[name]) for name in names)


def of_inference():
    with torch.inference_mode():
        return torch.ones(3)


@pytest.mark.parametrize("made", [lambda: torch.ones(1).expand(3), of_inference])
@pytest.mark.parametrize("name", ["SGD", "AdaGrad"])
def test_parameters_that_cannot_be_changed_are_refused_before_anything_moves(name, made):
    model = core.Link()
    with model.init_scope():
        model.p, model.q = core.Parameter(torch.ones(3)), core.Parameter(made())
    optimizer = getattr(optimizers, name)().setup(model)
    loss = F.sum(model.p**2) + F.sum(model.q**2)
    with pytest.raises(UpdateError, match="update q: .* Nothing has been updated"):
        optimizer.update(lambda: loss)
    assert model.p.array.tolist() == [1, 1, 1] and optimizer.t == 0
    model.q.array = model.q.array.clone()
    optimizer.update(lambda: F.sum(model.p**2) + F.sum(model.q**2))
    assert optimizer.t == 1


def test_each_element_of_a_gradient_is_one_of_its_own():
    x = core.Variable(torch.ones(3))
    (2 * F.sum(x)).backward()
    x.grad[0] = 5
    assert x.grad.tolist() == [5, 2, 2]


def test_numbers_are_not_brought_into_the_range_of_integers():
    """PyTorch adds 44 for 300, and finds no byte greater than -1."""
    x = core.Variable(torch.tensor([1, 2], dtype=torch.uint8))
    for call in (lambda: x + 300, lambda: 300 * x, lambda: x > -1, lambda: F.maximum(x, 256)):
        with pytest.raises(InvalidType, match="numbers in its range beside uint8"):
            call()
    with pytest.raises(OverflowError):
        B.asarray([1, 300], "uint8")


@pytest.mark.parametrize("computed", [False, True])
def test_what_is_assigned_is_of_pytorch_or_a_number(computed):
    x = core.Variable(torch.zeros(3), requires_grad=computed)
    x = x * 1 if computed else x
    x[0], x[1] = np.float64(2), core.Variable(torch.tensor(3), requires_grad=False)
    assert x.array.tolist() == [2, 3, 0]
    with pytest.raises(BackendError, match="two backends meet in one operation: torch:cpu and num"):
        x[:2] = np.ones(2)


ACTIVATIONS = [
    "clipped_relu",
    "elu",
    "gelu",
    "hard_sigmoid",
    "leaky_relu",
    "selu",
    "silu",
    "softplus",
]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations_are_those_of_the_formula_far_out_and_on_kinks(name, dtype):
    ends = [0.0, 2.5, 6.0, 19.0, 21.0, 41.0, 90.0, 1e4]
    x = np.array([*ends, *[-end for end in ends]], dtype)
    found = []
    for lib in (np, torch):
        v = core.Variable(lib.asarray(x.copy()))
        y = getattr(F, name)(v)
        y.grad = lib.ones_like(v.array)
        y.backward()
        found.append((np.asarray(y.array), np.asarray(v.grad)))
    near = 100 * np.finfo(dtype).eps
    for expected, actual in zip(*found, strict=True):
        np.testing.assert_allclose(actual, expected, rtol=near, atol=near)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_is_ignored_may_be_nan():
    """As where all scores of an example were masked; its gradient was NaN."""
    x = np.array([[-np.inf, -np.inf], [0, 1], [np.nan, 0]], "f")
    labels = np.array([-1, 1, -1], "i")
    several = np.array([[-1, -1], [1, 0], [-1, 1]], "i")
    for loss, t in ((F.softmax_cross_entropy, labels), (F.sigmoid_cross_entropy, several)):
        for reduce in ("mean", "no"):
            grads = []
            for lib in (np, torch):
                v = core.Variable(lib.asarray(x.copy()))
                y = loss(v, lib.asarray(t), reduce=reduce)
                y.grad = lib.ones_like(y.array)
                y.backward()
                grads.append(np.asarray(v.grad))
            assert np.isfinite(grads[1]).all()
            np.testing.assert_allclose(grads[1], grads[0], rtol=1e-6)


def test_parts_with_holes_and_turned_ones_send_their_gradients_back():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(4, 5, 6))
    some = (1, ..., (0, slice(None), 2), (slice(1, 3), None), (..., slice(None, None, 2)))
    for index in (*some, (slice(None, None, -2), 1), (np.array([1, 1]), slice(2)), ([0, 0], 1)):
        grads = []
        for lib in (np, torch):
            v = core.Variable(lib.asarray(x.copy()))
            F.sum(v[index] ** 2).backward()
            grads.append(np.asarray(v.grad))
        np.testing.assert_allclose(grads[1], grads[0])
