"""Links in float16 and bfloat16, trained through float32 masters: they stay in their dtype."""

import ml_dtypes  # noqa: F401 - lets NumPy know the name bfloat16
import numpy as np
import pytest

import core
import core.functions as F
import core.links as L
from core import optimizers

ROWS, IMAGES, SERIES = (4, 6), (2, 3, 8, 8), (4, 5, 6)
LINKS = {
    "Linear": ((6, 3), ROWS),
    "Convolution2D": ((3, 4, 3), IMAGES),
    "ConvolutionND": ((2, 3, 4, 3), IMAGES),
    "Deconvolution2D": ((3, 4, 3), IMAGES),
    "DepthwiseConvolution2D": ((3, 2, 3), IMAGES),
    "LocalConvolution2D": ((3, 4, 8, 3), IMAGES),
    "MLPConvolution2D": ((3, (4, 4), 3), IMAGES),
    "Inception": ((3, 2, 2, 2, 2, 2, 2), IMAGES),
    "BatchNormalization": ((3,), IMAGES),
    "BatchRenormalization": ((6,), ROWS),
    "LayerNormalization": ((6,), ROWS),
    "GroupNormalization": ((3, 3), IMAGES),
    "RMSNormalization": ((6,), ROWS),
    "LSTM": ((6, 3), ROWS),
    "GRU": ((6, 3), ROWS),
    "Highway": ((6,), ROWS),
    "Maxout": ((6, 3, 2), ROWS),
    "PReLU": ((), ROWS),
    "Swish": ((6,), ROWS),
    "Scale": ((1, (6,)), ROWS),
    "Bias": ((1, (6,)), ROWS),
    "SimplifiedDropconnect": ((6, 3), ROWS),
    "MultiHeadAttention": ((6, 2), SERIES),
    "TransformerBlock": ((6, 2), SERIES),
}


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", LINKS)
def test_a_link_trains(name, dtype):
    arguments, shape = LINKS[name]
    x = np.random.default_rng(0).normal(size=shape).astype(dtype)
    with core.using_config("dtype", dtype):
        link = getattr(L, name)(*arguments)
        optimizer = optimizers.Adam(1e-2)
        optimizer.use_fp32_update()
        optimizer.setup(link)
        before = [param.array.copy() for param in link.params()]
        for _ in range(2):
            optimizer.update(lambda: F.sum(F.cast(link(x) ** 2, "float32")))
        assert link(x).dtype == dtype
    for param in link.params():
        assert param.dtype == param.grad.dtype == dtype
        assert np.isfinite(param.array.astype("float64")).all()
    assert any((param.array != old).any() for param, old in zip(link.params(), before, strict=True))
