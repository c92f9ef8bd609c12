"""Functions made of several operations, on the referee backend and in every precision.

Single operations are run there by tests/test_ops.py; what holds them together is not.
"""

import numpy as np
import pytest

import core
import core.functions as F

DRAW = np.random.default_rng(0).normal


def cells(count, *sizes):
    return [[DRAW(size=(3, n)) for n in sizes for _ in range(count)]]


def biases(count):
    return [[DRAW(size=3) for _ in range(count)]]


XS = [DRAW(size=(2, 4)), DRAW(size=(2, 4)), DRAW(size=(1, 4))]
ONES, IMAGES = np.ones(3), DRAW(size=(2, 3, 5, 4))
ROIS, WHICH = np.array([[0.0, 1.0, 3.0, 4.0], [-1.0, 0.0, 7.0, 2.0]]), np.array([1, 0])
HX = DRAW(size=(1, 2, 3))

CALLS = {
    "n_step_lstm": (1, 0.0, HX, HX, cells(4, 4, 3), biases(8), XS),
    "n_step_gru": (1, 0.0, HX, cells(3, 4, 3), biases(6), XS),
    "n_step_birnn": (1, 0.0, np.tile(HX, (2, 1, 1)), cells(1, 4, 3) * 2, biases(2) * 2, XS),
    "tree_lstm": (DRAW(size=(2, 3)), DRAW(size=(2, 3)), DRAW(size=(2, 15))),
    "bilinear": (XS[0], XS[1], DRAW(size=(4, 4, 2))),
    "deformable_convolution_2d_sampler": (
        IMAGES,
        np.round(DRAW(size=(2, 8, 4, 3)) * 4) / 4 + 1 / 8,  # off the integers, where it has kinks
        DRAW(size=(2, 3, 2, 2)),
    ),
    "depthwise_convolution_2d": (IMAGES, DRAW(size=(2, 3, 2, 2))),
    "local_convolution_2d": (IMAGES, DRAW(size=(2, 4, 3, 3, 2, 2)), DRAW(size=(2, 4, 3))),
    "layer_normalization": (IMAGES, np.ones((5, 4)), np.zeros((5, 4))),
    "batch_renormalization": (IMAGES, ONES, ONES, 2.0, 1.0, 1e-5, ONES, ONES),
    "decorrelated_batch_normalization": (DRAW(size=(20, 16, 2)),),
    "simplified_dropconnect": (XS[0], DRAW(size=(3, 4)), ONES, 0.5, False),
    "adaptive_average_pooling_nd": (IMAGES, 3),
    "adaptive_max_pooling_nd": (IMAGES, 3),
    "spatial_pyramid_pooling_2d": (IMAGES, 2, "max"),
    "roi_average_pooling_2d": (IMAGES, ROIS, WHICH, 2, 1.0),
    "roi_average_align_2d": (IMAGES, ROIS, WHICH, 2, 1.0),
    "roi_max_align_2d": (IMAGES, ROIS, WHICH, (2, 1), 1.0),
    "unpooling_nd": (IMAGES, 2),
}


def converted(value, backend, dtype, found):
    """Arrays as Variables of a backend, if floating of that dtype; these are collected."""
    if isinstance(value, list):
        return [converted(v, backend, dtype, found) for v in value]
    if not isinstance(value, np.ndarray):
        return value
    if value.dtype.kind != "f":
        return backend.asarray(value)
    found.append(core.Variable(backend.asarray(value.astype(dtype))))
    return found[-1]


def flat(outputs):
    if isinstance(outputs, tuple):
        return [y for part in outputs for y in flat(part)]
    return [outputs]


def run(name, backend, dtype):
    """Outputs and gradients as host arrays."""
    found = []
    backend = core.backend.get(backend)
    args = [converted(arg, backend, dtype, found) for arg in CALLS[name]]
    outputs = flat(getattr(F, name)(*args))
    seeds = [np.cos(np.arange(y.size)).reshape(y.shape).astype(dtype) for y in outputs]
    seeds = [core.Variable(backend.asarray(seed)) for seed in seeds]
    gradients = core.grad(outputs, found, seeds)
    arrays = [y.array for y in [*outputs, *[g for g in gradients if g is not None]]]
    assert {backend.dtype_name(a.dtype) for a in arrays} == {dtype}
    assert all(isinstance(a, backend.array_type) for a in arrays)
    return [backend.to_host(a) for a in arrays]


@pytest.mark.parametrize("name", CALLS)
def test_backends_agree(name):
    for actual, expected in zip(
        run(name, "strict", "float64"), run(name, "numpy", "float64"), strict=True
    ):
        np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("dtype", "near"), [("float32", 1e-4), ("float16", 0.05)])
@pytest.mark.parametrize("name", CALLS)
def test_precisions_agree(name, dtype, near):
    wide = run(name, "numpy", "float64")
    for actual, expected in zip(run(name, "numpy", dtype), wide, strict=True):
        scale = max(1, np.abs(expected).max())
        np.testing.assert_allclose(actual, expected, rtol=near, atol=near * scale)


def test_gumbel_draws_live_on_the_backend_of_their_probabilities():
    backend = core.backend.get("strict")
    y = F.gumbel_softmax(backend.asarray(np.zeros((2, 3), "float32")))
    assert isinstance(y.array, backend.array_type)
    assert backend.dtype_name(y.dtype) == "float32"
