"""Windows that do not fit are refused before anything is computed, by the operation's name."""

import numpy as np
import pytest

import core.functions as F
from core.errors import InvalidType

X, W = np.ones((1, 2, 3, 3), "f"), np.ones((2, 2, 5, 5), "f")


@pytest.mark.parametrize(
    ("call", "operation"),
    [
        (lambda: F.convolution_2d(X, W), "Convolution"),
        (lambda: F.dilated_convolution_2d(X, W[:, :, :2, :2], dilate=4), "Convolution"),
        (lambda: F.depthwise_convolution_2d(X, W), "Convolution"),
        (lambda: F.max_pooling_2d(X, 5, cover_all=False), "MaxPooling2D"),
        (lambda: F.max_pooling_nd(X, 5, cover_all=False), "MaxPooling"),
        (lambda: F.average_pooling_2d(X, 5), "AveragePooling2D"),
        (lambda: F.average_pooling_nd(X, 5), "AveragePooling"),
        (lambda: F.im2col(X, 5), "Im2Col"),
    ],
)
def test_too_large(call, operation):
    fits = r".*that fit into the input\nActual: they do not fit into \(3, 3\) padded by \(0, 0\)"
    with pytest.raises(InvalidType, match=rf"{operation}\w* \(Forward\)\n\nExpect: windows{fits}"):
        call()


def test_padding_that_leaves_no_output():
    with pytest.raises(
        InvalidType, match=r"Deconvolution.*\n\n.*\nActual: \(-11, -11\)\. Use less"
    ):
        F.deconvolution_2d(X, W, pad=9)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: F.convolution_2d(X, W, stride=0), "Convolution: .*stride 0"),
        (lambda: F.max_pooling_2d(X, 0), "MaxPooling2D: .*the size 0"),
        (lambda: F.average_pooling_2d(X, 2, 0), "AveragePooling2D: .*stride 0"),
        (lambda: F.im2col(X, 2, dilate=0), "Im2Col: .*dilate 0"),
        (lambda: F.max_pooling_2d(X, 2, pad=-1), "MaxPooling2D: .*pad -1"),
        (lambda: F.unpooling_2d(X, 2, pad=-1), "pad -1"),
        (lambda: F.upsampling_2d(X, np.zeros(X.shape, "i"), 2, pad=-1), "pad -1"),
        (lambda: F.max_pooling_2d(X, (2, 2, 2)), "max_pooling_2d: ksize: expected 2 integers"),
        (lambda: F.convolution_2d(X, W, pad=(1, 1, 1)), "convolution_2d: pad: expected 2 integers"),
    ],
)
def test_settings_that_make_no_windows(call, message):
    with pytest.raises(ValueError, match=message):
        call()
