"""The link hooks that come along: what they compute, keep, undo and refuse."""

import contextlib
import copy
import io
import pickle
import re
import threading

import ml_dtypes  # noqa: F401 - lets NumPy know the name bfloat16
import numpy as np
import pytest

import core
import core.functions as F
import core.links as L
from core import link_hooks
from core.errors import HookError, InvalidSetting, RegistrationError
from core.testing import gradient_check
from core.testing.memory import load, saved


class Weighted(core.Link):
    """Gives its weight, so that tests see what a hook puts in its place."""

    def __init__(self, weight, fail=False):
        super().__init__()
        self.fail = fail
        with self.init_scope():
            self.W = core.Parameter(weight)

    def forward(self):
        if self.fail:
            raise ZeroDivisionError
        return self.W * 1


def weight(shape=(4, 3), dtype="float64", seed=0):
    return np.random.default_rng(seed).normal(1, 2, shape).astype(dtype)


def spectral(shape=(4, 3), dtype="float64", **arguments):
    link = Weighted(weight(shape, dtype))
    link.add_hook(link_hooks.SpectralNormalization(**arguments))
    return link


def sigma(array):
    return np.linalg.svd(array.reshape(len(array), -1), compute_uv=False)[0]


# -- timer ------------------------------------------------------------------------------------


def test_timer():
    model = core.Sequential(L.Linear(3, 4), L.Linear(4, 2))
    with link_hooks.TimerHook() as timer:
        for _ in range(3):
            model(np.ones((2, 3), "f"))
    summary = timer.summary()
    assert summary["Linear"]["occurrence"] == 6 and summary["Sequential"]["occurrence"] == 3
    assert 0 < summary["Linear"]["elapsed_time"] < summary["Sequential"]["elapsed_time"]
    assert timer.total_time() == pytest.approx(sum(s["elapsed_time"] for s in summary.values()))
    assert [label for label, _ in timer.call_history] == ["Linear", "Linear", "Sequential"] * 3
    text = io.StringIO()
    timer.print_report(text, unit="ms")
    head, first, second = text.getvalue().splitlines()
    assert head.split() == ["LinkName", "ElapsedTime", "Occurrence"]
    assert re.fullmatch(r"Sequential +\d+\.\d\dms +3", first) and second.startswith("Linear")


def test_a_report_takes_file_and_unit_in_either_order(capsys):
    timer = link_hooks.TimerHook()
    timer.call_history.append(("Linear", 0.002))
    texts = [io.StringIO() for _ in range(3)]
    timer.print_report(texts[0], "ms")
    timer.print_report("ms", texts[1])
    timer.print_report(unit="ms", file=texts[2])
    timer.print_report("ms")
    assert {text.getvalue() for text in texts} == {capsys.readouterr().out}
    assert "2.00ms" in texts[0].getvalue()


def test_timer_of_one_link_forgets_a_call_that_failed():
    link, timer = Weighted(weight(), fail=True), link_hooks.TimerHook()
    link.add_hook(timer)
    with pytest.raises(ZeroDivisionError):
        link()
    link.fail = False
    link()
    assert len(timer.call_history) == 1 and timer._running == []


# -- what both weight hooks do ----------------------------------------------------------------

HOOKS = [
    link_hooks.SpectralNormalization,
    link_hooks.WeightNormalization,
    link_hooks.WeightStandardization,
]
each = pytest.mark.parametrize("make", HOOKS)


@each
def test_the_parameter_is_back_after_the_call(make):
    link = Weighted(weight())
    parameter = link.W
    link.add_hook(make())
    assert link() is not parameter and link.W is parameter
    link.fail = True
    with pytest.raises(ZeroDivisionError):
        link()
    assert link.W is parameter
    np.testing.assert_array_equal(parameter.array, weight())


@each
def test_the_parameter_is_back_when_another_hook_fails(make):
    class Failing(core.LinkHook):
        def forward_postprocess(self, args):
            raise KeyError("late")

    link = Weighted(weight())
    link.add_hook(Failing()).add_hook(make())
    with pytest.raises(KeyError, match="late"):
        link()
    assert isinstance(link.W, core.Parameter)


@each
def test_a_link_that_calls_itself_is_replaced_once(make):
    class Deep(Weighted):
        def forward(self, depth=2):
            return self(depth - 1) if depth else super().forward()

    deep, plain = Deep(weight()), Weighted(weight())
    core.seed(1)
    deep.add_hook(make())
    core.seed(1)
    plain.add_hook(make())
    core.seed(None)
    np.testing.assert_array_equal(deep().array, plain().array)
    assert isinstance(deep.W, core.Parameter)


@pytest.mark.parametrize("make, xs", [(L.NStepBiLSTM, (None, None)), (L.NStepGRU, (None,))])
def test_hooks_of_a_unit_replace_what_the_layers_are_run_with(make, xs):
    layers, x = make(2, 3, 4, 0.0), weight((5, 3), "float32")
    other = copy.deepcopy(layers)
    last = layers[-1].count - 1
    for unit, own in zip(layers, other, strict=True):
        unit.add_hook(link_hooks.WeightStandardization(weight_name=f"w{last}"))
        rows = getattr(own, f"w{last}").array
        shift, scale = rows.mean(1, keepdims=True), np.sqrt(rows.var(1, keepdims=True) + 1e-5)
        setattr(own, f"w{last}", (rows - shift) / scale)
    np.testing.assert_allclose(layers(*xs, [x])[0].array, other(*xs, [x])[0].array, atol=1e-5)


@each
def test_threads_that_call_one_link_wait_for_each_other(make):
    """One would put the parameter back while the other computes."""

    class Meeting(make):
        def replacement(self, link, weight):
            with contextlib.suppress(threading.BrokenBarrierError):
                both.wait(0.02)
            return super().replacement(link, weight)

    class Late(Weighted):
        def forward(self):
            if threading.current_thread() is other:
                done.wait(0.02)
            return super().forward()

    both, done, found = threading.Barrier(2), threading.Event(), []
    link = Late(weight())
    parameter = link.W
    link.add_hook(Meeting(**{"axis": None} if make is link_hooks.WeightNormalization else {}))
    if make is link_hooks.WeightNormalization:
        link.W_g.array[...] = 7
    other = threading.Thread(target=lambda: found.append(link()))
    other.start()
    result = link()
    done.set()
    other.join()
    assert link.W is parameter
    tolerance = 0.5 if make is link_hooks.SpectralNormalization else 1e-7  # a step more of its u
    np.testing.assert_allclose(found[0].array, result.array, rtol=tolerance)


def test_two_hooks_on_one_weight_follow_each_other():
    link = spectral(n_power_iteration=50)
    link.add_hook(link_hooks.WeightStandardization())
    expected = standardized(weight() / sigma(weight()))
    np.testing.assert_allclose(link().array, expected, rtol=1e-6)
    assert isinstance(link.W, core.Parameter)


@each
def test_a_weight_that_is_not_there_or_belongs_to_nobody(make):
    with pytest.raises(HookError, match=r"a parameter 'V', got a Weighted with W"):
        Weighted(weight()).add_hook(make(weight_name="V"))
    with pytest.raises(HookError, match=r"expected link.add_hook"), make():
        pass


@each
def test_names(make):
    link = Weighted(weight())
    link.add_hook(make(name="mine"))
    assert list(link.local_link_hooks) == ["mine"]
    link.delete_hook("mine")
    np.testing.assert_array_equal(link().array, weight())


@each
@pytest.mark.parametrize(
    ("make_link", "x"),
    [
        (lambda: L.Linear(None, 4), np.ones((2, 3), "f")),
        (lambda: L.Convolution2D(None, 4, 2), np.ones((2, 3, 5, 5), "f")),
    ],
)
def test_sizes_that_the_first_input_decides(make, make_link, x):
    link = make_link()
    link.add_hook(make())
    link.W.initializer = core.initializers.Normal(1.0)
    y = link(x)
    assert link.W.is_initialized and y.shape[1] == 4
    F.sum(y * y).backward()
    assert np.abs(link.W.grad).max() > 0


@each
@pytest.mark.parametrize("clone", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_clones_go_on_alike(make, clone):
    link = L.Linear(3, 4)
    link.add_hook(make())
    link(np.ones((1, 3), "f"))
    duplicate = clone(link)
    x = np.ones((2, 3), "f")
    np.testing.assert_array_equal(link(x).array, duplicate(x).array)


@each
@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32", "float64"])
def test_dtypes(make, dtype):
    link = Weighted(weight(dtype=dtype) * 100)
    link.add_hook(make(**({"n_power_iteration": 50} if make is HOOKS[0] else {})))
    y = link()
    wide = weight() * 100
    expected = [wide / sigma(wide), wide, standardized(wide)][HOOKS.index(make)]
    assert y.dtype == dtype
    near = {"bfloat16": 4e-2, "float16": 1e-2}.get(dtype, 1e-4)
    scale = 100 if make is link_hooks.WeightNormalization else 1  # what it gives is as large
    np.testing.assert_allclose(y.array.astype("float64") / scale, expected / scale, atol=near)


@each
def test_other_backends(make):
    link = Weighted(weight())
    link.add_hook(make())
    expected = link().array
    duplicate = Weighted(weight()).to_device("strict")
    duplicate.add_hook(make())
    if make is HOOKS[0]:
        duplicate.W_u = None
        core.seed(0)
        link.W_u = None
        expected = link().array
        core.seed(0)
    found = duplicate()
    core.seed(None)
    assert found.backend.name == "strict"
    np.testing.assert_allclose(core.backend.to_host(found), expected, rtol=1e-9)


# -- spectral normalization -------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(4, 3), (3, 5), (4, 2, 3, 3), (1, 4), (5, 1)])
def test_the_largest_singular_value_becomes_1(shape):
    link = spectral(shape, n_power_iteration=200)
    np.testing.assert_allclose(link().array, weight(shape) / sigma(weight(shape)), rtol=1e-5)


def test_iterations_of_training_add_up_and_those_of_testing_do_not():
    link = spectral()
    u = link.W_u.copy()
    with core.using_config("train", False):
        first = link().array
        np.testing.assert_array_equal(link().array, first)
    np.testing.assert_array_equal(link.W_u, u)
    v = weight().T @ u / (np.linalg.norm(weight().T @ u) + 1e-6)
    u = weight() @ v / (np.linalg.norm(weight() @ v) + 1e-6)
    np.testing.assert_allclose(first, weight() / (u @ weight() @ v))
    for _ in range(100):
        link()
    np.testing.assert_allclose(link().array, weight() / sigma(weight()), rtol=1e-5)


def test_a_deconvolution_has_its_outputs_second():
    rng = np.random.default_rng(1)
    x, W = (rng.normal(size=shape).astype("f") for shape in ((2, 3, 4, 4), (3, 5, 2, 2)))
    link = L.Deconvolution2D(3, 5, 2, nobias=True, initialW=W)
    link.add_hook(link_hooks.SpectralNormalization(n_power_iteration=100))
    assert link.W_u.shape == (5,)
    matrix = link.W.array.swapaxes(0, 1).reshape(5, -1)
    first, second, *_ = np.linalg.svd(matrix, compute_uv=False)
    assert second < 0.9 * first  # the iterations lessen what is left by this factor, squared
    expected = F.deconvolution_2d(x, link.W.array / sigma(matrix)).array
    np.testing.assert_allclose(link(x).array, expected, rtol=1e-4, atol=1e-5)


def test_factor_and_gamma():
    halved = spectral(n_power_iteration=100, factor=0.5)
    np.testing.assert_allclose(halved().array, 0.5 * weight() / sigma(weight()), rtol=1e-5)
    link = spectral(n_power_iteration=100, use_gamma=True)
    np.testing.assert_allclose(link.gamma.array, sigma(weight()))
    np.testing.assert_allclose(link().array, weight(), rtol=1e-5)
    F.sum(link()).backward()
    np.testing.assert_allclose(link.gamma.grad, weight().sum() / sigma(weight()), rtol=1e-5)
    with pytest.raises(ValueError, match="n_power_iteration >= 1, got 0"):
        link_hooks.SpectralNormalization(0)


def test_gradients_hold_the_vectors_constant():
    link = spectral()
    with core.using_config("train", False):
        link()
        u, v = link._spectral_vectors

        def normalized(w):
            return w / F.broadcast_to(F.sum(u * F.matmul(w, v)), w.shape)

        g = weight(seed=1)
        gradient_check.check_backward(normalized, (weight(),), (g,), dtype="float64")
        y = link()
        y.grad = g
        y.backward()
        w = core.Variable(weight())
        expected = normalized(w)
        expected.grad = g
        expected.backward()
    np.testing.assert_allclose(link.W.grad, w.grad)


def test_a_recomputation_uses_the_vectors_of_the_call_before():
    link = spectral()
    first = link().array
    with core.using_config("in_recomputing", True):
        np.testing.assert_array_equal(link().array, first)
    assert not np.array_equal(link().array, first)


@pytest.mark.parametrize("taken", ["W_u", "gamma"])
def test_a_hook_that_refuses_the_link_leaves_it_as_it_was(taken):
    link = Weighted(weight())
    with link.init_scope():
        setattr(link, taken, core.Parameter(np.ones(3)))
    before = dict(link.namedparams())
    for hook, error in (
        (link_hooks.SpectralNormalization(use_gamma=True), RegistrationError),
        (link_hooks.SpectralNormalization(weight_name="V"), HookError),
        (link_hooks.WeightStandardization(weight_name="V"), HookError),
    ):
        with pytest.raises(error):
            link.add_hook(hook)
        assert dict(link.namedparams()) == before and set(saved(link)) == {"W", taken}
        assert not link.local_link_hooks
    np.testing.assert_array_equal(link().array, weight())


def test_removal_leaves_the_link_as_it_was():
    link = spectral(use_gamma=True)
    link()
    link.delete_hook("SpectralNormalization")
    assert not hasattr(link, "W_u") and not hasattr(link, "gamma")
    assert set(saved(link)) == {"W"}


def test_saving_and_resuming_before_and_after_the_size_is_known():
    def start():
        link = L.Linear(None, 4)
        link.add_hook(link_hooks.SpectralNormalization(use_gamma=True))
        return link

    x = np.ones((2, 3), "f")
    link = start()
    assert set(saved(link)) == {"W", "b", "W_u", "gamma"}
    load(start(), saved(link))
    link(x)
    fresh = start()
    load(fresh, saved(link))
    for _ in range(3):
        np.testing.assert_array_equal(fresh(x).array, link(x).array)


def test_training_goes_on_with_an_optimizer():
    link = L.Linear(3, 2, initialW=weight((2, 3), "float32"))
    link.add_hook(link_hooks.SpectralNormalization(n_power_iteration=30))
    optimizer = core.optimizers.SGD(0.5).setup(link)
    x, t = np.eye(3, dtype="f"), np.array([[0.5, 0], [0, 0.5], [0.5, 0]], "f")
    losses = []
    for _ in range(50):
        optimizer.update(lambda: F.mean_squared_error(link(x), t))
        losses.append(float(F.mean_squared_error(link(x), t).array))
    assert losses[-1] < losses[0] / 2
    used = link(x).array - link.b.array
    assert np.linalg.svd(used, compute_uv=False)[0] == pytest.approx(1, rel=1e-3)


# -- weight standardization -------------------------------------------------------------------


def standardized(w, eps=1e-5):
    rows = w.reshape(len(w), -1)
    mean, variance = rows.mean(1, keepdims=True), rows.var(1, keepdims=True)
    return ((rows - mean) / np.sqrt(variance + eps)).reshape(w.shape)


@pytest.mark.parametrize("shape", [(4, 3), (4, 2, 3, 3)])
@pytest.mark.parametrize("eps", [1e-5, 0.5])
def test_rows_are_standardized(shape, eps):
    link = Weighted(weight(shape))
    link.add_hook(link_hooks.WeightStandardization(eps=eps))
    np.testing.assert_allclose(link().array, standardized(weight(shape), eps))
    y = link()
    y.grad = weight(shape, seed=1)
    y.backward()

    def formula(w):
        rows = F.reshape(w, (shape[0], -1))
        mean = F.mean(rows, axis=1, keepdims=True)
        centred = rows - F.broadcast_to(mean, rows.shape)
        variance = F.mean(centred * centred, axis=1, keepdims=True)
        return F.reshape(centred / F.broadcast_to(F.sqrt(variance + eps), rows.shape), w.shape)

    w = core.Variable(weight(shape))
    expected = formula(w)
    expected.grad = y.grad
    expected.backward()
    np.testing.assert_allclose(link.W.grad, w.grad, atol=1e-12)


@pytest.mark.parametrize("axis", [0, 1, -1, None])
def test_length_and_direction_are_apart(axis):
    link = Weighted(weight((4, 2, 3)))
    link.add_hook(link_hooks.WeightNormalization(axis=axis))
    w = weight((4, 2, 3))
    others = None if axis is None else tuple({0, 1, 2} - {axis % 3})
    norm = np.sqrt((w**2).sum(axis=others, keepdims=True))
    np.testing.assert_allclose(link.W_g.array, norm)
    link.W_g.array *= np.linspace(1, 2, norm.size).reshape(norm.shape)
    link.W.array *= 5  # the length of a direction does not count
    y = link()
    lengths = link.W_g.array.copy()
    np.testing.assert_allclose(y.array, w / norm * lengths)
    y.grad = g = weight((4, 2, 3), seed=1)
    y.backward()
    along = (g * w / norm).sum(axis=others, keepdims=True)
    np.testing.assert_allclose(link.W_g.grad, along)
    across = lengths / (5 * norm) * (g - along * w / norm)  # equations 3
    np.testing.assert_allclose(link.W.grad, across, atol=1e-12)
    again = Weighted(w).add_hook(link_hooks.WeightNormalization(axis=axis))
    load(again, saved(link))
    np.testing.assert_array_equal(again().array, y.array)
    link.delete_hook("WeightNormalization")
    np.testing.assert_array_equal(link.W.array, y.array)
    assert [path for path, _ in link.namedparams()] == ["/W"]


def test_lengths_are_those_of_a_weight_that_gets_its_size_late():
    link = L.Linear(None, 3).add_hook(link_hooks.WeightNormalization())
    assert not link.W_g.is_initialized
    x = np.eye(2, dtype="f")
    y = link(x).array
    np.testing.assert_allclose(y, link.W.array.T, rtol=1e-6)
    with pytest.raises(RegistrationError, match="W_g"):
        link.add_hook(link_hooks.WeightNormalization(name="again"))


@pytest.mark.parametrize("hook", ["SpectralNormalization", "WeightStandardization"])
def test_settings_of_a_wrong_kind_are_refused_when_it_is_made(hook):
    with pytest.raises(InvalidSetting, match=f"{hook}: expected eps to be .* got str 'x'"):
        getattr(link_hooks, hook)(eps="x")
