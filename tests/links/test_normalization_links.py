"""The normalizations with parameters, by check_link, against elementwise references."""

import numpy as np
import pytest
from references.normalization import group_normalization, layer_normalization, rms_normalization

import core
import core.functions as F
import core.links as L
from core.testing import check_link

RANDOM = np.random.RandomState(0)
X = RANDOM.uniform(-1, 1, (5, 4))
IMAGES = RANDOM.uniform(-1, 1, (3, 4, 2, 2))


def whitened(x, groups, eps=2e-5):
    """The groups of channels of x, of covariance one."""
    n, c, *places = x.shape
    parts = np.moveaxis(x, 1, 0).reshape(groups, c // groups, -1)
    parts = parts - parts.mean(2, keepdims=True)
    for g, part in enumerate(parts):
        values, vectors = np.linalg.eigh(part @ part.T / part.shape[1] + eps * np.eye(len(part)))
        parts[g] = vectors @ np.diag(values**-0.5) @ vectors.T @ part
    return np.moveaxis(parts.reshape(c, n, *places), 0, 1)


def renormalized(p, x, rmax, dmax, eps=2e-5):
    axes = (0, *range(2, x.ndim))
    kept = (-1, *(1,) * (x.ndim - 2))
    mean, deviation = x.mean(axes), np.sqrt(x.var(axes) + eps)
    running = np.sqrt(p["/avg_var"] + eps)
    r = np.clip(deviation / running, 1 / rmax, rmax)
    d = np.clip((mean - p["/avg_mean"]) / running, -dmax, dmax)
    z = (x - mean.reshape(kept)) / deviation.reshape(kept) * r.reshape(kept) + d.reshape(kept)
    gamma, beta = p.get("/gamma", np.ones_like(mean)), p.get("/beta", np.zeros_like(mean))
    return z * gamma.reshape(kept) + beta.reshape(kept)


LINKS = {
    "LayerNormalization": (
        lambda: L.LayerNormalization(4, initial_gamma=2, initial_beta=0.5),
        (X,),
        lambda p, x: layer_normalization(x, p["/gamma"], p["/beta"], 1e-6),
    ),
    "LayerNormalization, size omitted": (
        lambda: L.LayerNormalization(eps=1e-2),
        (X[None],),
        lambda p, x: layer_normalization(x, p["/gamma"], p["/beta"], 1e-2, axis=(2,)),
    ),
    "LayerNormalization over several axes": (
        lambda: L.LayerNormalization((4, 2, 2)),
        (IMAGES,),
        lambda p, x: layer_normalization(x, p["/gamma"], p["/beta"], 1e-6, axis=(1, 2, 3)),
    ),
    "RMSNormalization": (
        lambda: L.RMSNormalization(4, initial_gamma=2),
        (X,),
        lambda p, x: rms_normalization(x, p["/gamma"]),
    ),
    "RMSNormalization, size omitted": (
        lambda: L.RMSNormalization(eps=1e-2),
        (X[None],),
        lambda p, x: rms_normalization(x, p["/gamma"], 1e-2),
    ),
    "GroupNormalization": (
        lambda: L.GroupNormalization(2, 4, initial_gamma=2, initial_beta=0.5),
        (IMAGES,),
        lambda p, x: group_normalization(x, p["/gamma"], p["/beta"], 2),
    ),
    "GroupNormalization, size omitted": (
        lambda: L.GroupNormalization(2, eps=1e-2),
        (IMAGES,),
        lambda p, x: group_normalization(x, p["/gamma"], p["/beta"], 2, 1e-2),
    ),
    "DecorrelatedBatchNormalization": (
        lambda: L.DecorrelatedBatchNormalization(4, groups=2),
        (IMAGES,),
        lambda p, x: whitened(x, 2),
    ),
    "BatchRenormalization as it starts": (
        lambda: L.BatchRenormalization(4),
        (IMAGES,),
        lambda p, x: renormalized(p, x, 1, 0),
    ),
}


@pytest.mark.parametrize("name", LINKS)
def test_link(name):
    check_link(*LINKS[name], kind="solution")


def test_renormalization_leans_on_the_running_statistics():
    settings = {"initial_gamma": 2, "initial_avg_mean": 0.3, "initial_avg_var": 0.5}
    for size, x, more in ((None, X, {}), (4, IMAGES, {"use_beta": False, "use_gamma": False})):
        layer = L.BatchRenormalization(size, 1.1, 0.2, **settings, **more)
        reference = L.BatchNormalization(size, **more)
        x = x.astype("f")
        reference(x)
        with core.using_config("train", False):
            layer(x)
        p = {path: param.array for path, param in layer.namedparams()}
        p |= {"/avg_mean": layer.avg_mean.copy(), "/avg_var": layer.avg_var.copy()}
        np.testing.assert_allclose(layer(x).array, renormalized(p, x, 1.1, 0.2), atol=1e-5)
        moved = layer.avg_mean - 0.9 * 0.3
        np.testing.assert_allclose(moved, reference.avg_mean, rtol=1e-4, atol=1e-6)


def test_renormalization_with_frozen_statistics():
    start = {"initial_avg_mean": 0.3, "initial_avg_var": 0.5}
    frozen = L.BatchRenormalization(4, 1.1, 0.2, **start, freeze_running_statistics=True)
    moving = L.BatchRenormalization(4, rmax=1.1, dmax=0.2, **start)
    x = X.astype("f")
    for _ in range(2):
        y = frozen(x)
        np.testing.assert_array_equal(frozen.avg_mean, np.full(4, 0.3, "f"))
        np.testing.assert_array_equal(frozen.avg_var, np.full(4, 0.5, "f"))
    np.testing.assert_array_equal(y.array, moving(x).array)
    frozen.freeze_running_statistics = False
    frozen.rmax, frozen.dmax = 1.0, 0.0
    np.testing.assert_allclose(frozen(x).array, L.BatchNormalization(4)(x).array, atol=1e-6)
    np.testing.assert_array_equal(frozen.avg_mean, moving.avg_mean)


def test_decorrelation_is_kept_for_test_mode():
    layer = L.DecorrelatedBatchNormalization(4, groups=2, decay=0.0)
    x = RANDOM.normal(size=(200, 4)).astype("f")
    y = layer(x).array
    with core.using_config("train", False):
        np.testing.assert_allclose(layer(x).array, y * 200 / 199 + 0, atol=0.1)
    assert layer.avg_mean.shape == (2, 2) and layer.avg_projection.shape == (2, 2, 2)
    fresh = L.DecorrelatedBatchNormalization(4, groups=2)
    with core.using_config("train", False):
        np.testing.assert_array_equal(fresh(x).array, x)


@pytest.mark.parametrize("cls", [L.BatchRenormalization, L.DecorrelatedBatchNormalization])
def test_finetuning_gives_the_plain_mean(cls):
    layer = cls(4, 2) if cls is L.DecorrelatedBatchNormalization else cls(4)
    batches = RANDOM.normal(size=(3, 50, 4)).astype("f")
    layer.start_finetuning()
    for x in batches:
        layer(x, finetune=True)
    assert layer.N == 3
    np.testing.assert_allclose(layer.avg_mean.ravel(), batches.mean((0, 1)), atol=1e-5)


def test_groups_that_do_not_divide_are_refused():
    with pytest.raises(ValueError, match="expected channels that 3 groups divide, got 4"):
        L.DecorrelatedBatchNormalization(4, 3)


def test_a_batch_of_one_example_is_warned_of_in_training():
    layer = L.BatchNormalization(3)
    x = np.ones((1, 3), "f")
    with pytest.warns(UserWarning, match="over one element.*'train', False.*last batch") as caught:
        layer(x)
    assert caught[0].filename == __file__
    with core.using_config("train", False):
        layer(x)
    L.BatchNormalization(3)(np.ones((1, 3, 2, 2), "f"))
    L.BatchRenormalization(3)(x)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's, of the mean of nothing
@pytest.mark.parametrize("shape", [(0, 2), (0, 2, 3), (3, 2, 0)])
@pytest.mark.parametrize("name", ["BatchNormalization", "BatchRenormalization"])
def test_a_batch_of_no_examples_leaves_the_averages_as_they_are(name, shape):
    layer = getattr(L, name)(2)
    layer(np.array([[1, 2], [3, 5]], "f"))
    before = layer.avg_mean.copy(), layer.avg_var.copy()
    layer.cleargrads()
    y = layer(np.zeros(shape, "f"))
    assert y.shape == shape
    F.sum(y).backward()
    np.testing.assert_array_equal([layer.avg_mean, layer.avg_var], before)
    np.testing.assert_array_equal([layer.gamma.grad, layer.beta.grad], np.zeros((2, 2)))


@pytest.mark.parametrize("size", [4, None, (3, 4)])
@pytest.mark.parametrize("gamma", [True, False])
@pytest.mark.parametrize("beta", [True, False])
def test_layer_normalization_without_scale_or_shift(size, gamma, beta):
    link = L.LayerNormalization(size, 1e-5, use_gamma=gamma, use_beta=beta)
    x = np.random.default_rng(0).normal(size=(5, 3, 4)).astype("f")
    axes = (1, 2) if size == (3, 4) else 2
    mean, var = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    np.testing.assert_allclose(link(x).array, (x - mean) / np.sqrt(var + 1e-5), atol=1e-5)
    names = [n for n, used in (("/beta", beta), ("/gamma", gamma)) if used]
    assert sorted(n for n, _ in link.namedparams()) == names
    assert ("use_beta=False" in repr(link)) is not beta
    assert ("use_gamma=False" in repr(link)) is not gamma
