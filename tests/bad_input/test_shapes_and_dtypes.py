"""Inputs that do not fit: the error names the operation, what it expected and what came."""

import re

import numpy as np
import pytest

import core
import core.functions as F
import core.links as L
from core import iterators
from core.errors import InvalidType


def a(*shape, dtype="f"):
    return np.ones(shape, dtype)


LABELS = np.zeros(2, "int32")

REFUSED = {
    "_ + _": (
        lambda: core.Variable(a(3)) + a(4),
        "x.shape and y.shape broadcast",
        r"\(3,\) and \(4,\)",
    ),
    "Broadcast": (
        lambda: F.broadcast(a(3), a(4)),
        "xs[0].shape and xs[1].shape broadcast",
        r"\(3,\) and \(4,\)",
    ),
    "conj": (
        lambda: core.Variable(a(3)).__array_namespace__().conj(a(3, dtype="complex64")),
        "x.dtype is real-valued",
        r"complex64 .*use the .array",
    ),
    "_ * _": (
        lambda: core.Variable(a(2)) * core.Variable(a(2, dtype="d")),
        "dtype",
        "float32 != float64",
    ),
    "MatMul": (lambda: F.matmul(a(2, 3), a(2, 3)), "a.shape[1] == b.shape[0]", "3 != 2"),
    "ReLU": (lambda: F.relu(np.arange(3)), "x.dtype is floating", "int64"),
    "Sum": (lambda: F.sum(a(2, 3), axis=5), "x.ndim > 5", "2 <= 5"),
    "Softmax": (lambda: F.softmax(a(2, 3), axis=-3), "x.ndim >= 3", "2 < 3"),
    "Reshape": (lambda: F.reshape(a(2, 3), (4, 2)), "x.size == 8", "6 != 8"),
    "BroadcastTo": (lambda: F.broadcast_to(a(2, 3), (2, 4)), "shapes that broadcast", r"\(2, 3\)"),
    "Concat": (
        lambda: F.concat([a(2, 3), a(2, 2)], 0),
        "xs[1].shape[1] == xs[0].shape[1]",
        "2 != 3",
    ),
    "SplitAxis": (lambda: F.split_axis(a(2, 3), 2, 1), "x.shape[1] % 2 == 0", "1 != 0"),
    "Squeeze": (lambda: F.squeeze(a(2, 3), 0), "x.shape[0] == 1", "2 != 1"),
    "Where": (lambda: F.where(a(2), a(2), a(2)), "condition.dtype is bool", "float32"),
    "Linear": (lambda: L.Linear(4, 2)(a(2, 3)), "x.shape[1] == W.shape[1]", "3 != 4"),
    "LinearFunction": (
        lambda: L.Linear(3, 2)(a(2, 3, dtype="d")),
        "x.dtype == b.dtype",
        "float64 != float32",
    ),
    "Convolution": (
        lambda: F.convolution_2d(a(1, 2, 4, 4), a(3, 1, 3, 3)),
        "x.shape[1] == W.shape[1]",
        "2 != 1",
    ),
    "convolution_2d": (
        lambda: F.convolution_2d(a(1, 4, 4), a(3, 1, 3, 3)),
        "x.ndim == 4",
        "3 != 4",
    ),
    "BatchNormalization": (
        lambda: L.BatchNormalization(4)(a(2, 3)),
        "gamma.shape[0] == x.shape[1]",
        "4 != 3",
    ),
    "EmbedID": (lambda: L.EmbedID(3, 2)(a(2)), "x.dtype is integral", "float32"),
    "LSTM": (lambda: F.lstm(a(2, 3), a(2, 10)), "x.shape[1] == 4 * c_prev.shape[1]", "10 != 12"),
    "SoftmaxCrossEntropy": (
        lambda: F.softmax_cross_entropy(a(3, 2), LABELS),
        "x.shape[0] == t.shape[0]",
        "3 != 2",
    ),
    "SigmoidCrossEntropy": (
        lambda: F.sigmoid_cross_entropy(a(3), LABELS),
        "x.shape == t.shape",
        r"\(3,\) != \(2,\)",
    ),
    "MeanSquaredError": (
        lambda: F.mean_squared_error(a(2), a(3)),
        "x0.shape == x1.shape",
        r"\(2,\) != \(3,\)",
    ),
    "Accuracy": (lambda: F.accuracy(a(3, 2), LABELS), "y.shape[0] == t.shape[0]", "3 != 2"),
    "Accuracy (": (lambda: F.accuracy(a(2, 0), LABELS), "y.shape[1] > 0", "0 <= 0"),
    "ClassificationSummary": (lambda: F.recall(a(2, 0), LABELS), "y.shape[1] > 0", "0 <= 0"),
    "LayerNormalization": (
        lambda: F.layer_normalization(a(), a(), a()),
        "gamma.ndim > 0",
        "0 <= 0",
    ),
    "SpatialTransformerSampler": (
        lambda: F.spatial_transformer_sampler(a(1, 1, 0, 4), a(1, 2, 3, 3)),
        "x.shape[2] > 0",
        "0 <= 0",
    ),
    "ROIPooling2D": (
        lambda: F.roi_pooling_2d(a(1, 1, 0, 4), a(1, 5), 1, 1, 1.0),
        "x.shape[2] > 0",
        "0 <= 0",
    ),
    "ROIMaxPooling2D": (
        lambda: F.roi_max_pooling_2d(a(2, 1, 4, 0), a(2, 4), LABELS, 1, 1.0),
        "x.shape[3] > 0",
        "0 <= 0",
    ),
    "roi_max_align_2d": (
        lambda: F.roi_max_align_2d(a(2, 1, 0, 4), a(2, 4), LABELS, 1, 1.0),
        "x.shape[2:] without 0",
        r"\(0, 4\)",
    ),
    "roi_average_pooling_2d": (
        lambda: F.roi_average_pooling_2d(a(2, 1, 4, 0), a(2, 4), LABELS, 1, 1.0),
        "x.shape[2:] without 0",
        r"\(4, 0\)",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_operation_expected_and_actual(name):
    call, expected, actual = REFUSED[name]
    with pytest.raises(InvalidType) as caught:
        call()
    first, condition = str(caught.value).strip().split("\n\n")[:2]
    second, third = condition.split("\n")
    assert first.startswith("Invalid operation is performed in: ") and name in first
    assert str(caught.value).count("(Forward)") == 1
    assert second.startswith("Expect: ") and expected in second
    assert third.startswith("Actual: ") and re.search(actual, third)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: F.dropout(a(2), 1.0), r"dropout: expected a ratio in \[0, 1\), got 1.0"),
        (lambda: F.transpose(a(2, 3), (0, 0)), r"(?s)Transpose.*a permutation of 2 axes.*\(0, 0\)"),
        (lambda: F.concat([]), "concat: expected at least one array"),
        (lambda: F.concat(3), "concat: expected a list or tuple.*got int"),
        (
            lambda: F.convolution_2d(a(1, 1, 2, 2), a(1, 1, 3, 3)),
            r"(?s)\(3, 3\).*do not fit into \(2, 2\).*smaller window or more padding",
        ),
        (
            lambda: F.max_pooling_2d(a(1, 1, 2, 2), 0),
            "at least 1, got the size 0",
        ),
        (lambda: F.max_pooling_2d(a(1, 1, 2, 2), 2, stride=0), "stride"),
        (lambda: F.pad(a(2), (), "constant"), r"pad: expected pad_width to be 1 pairs.* got \(\)"),
        (lambda: F.depth2space(a(1, 4, 2, 2), 0), r"expected r to be .* in \[1, inf\), got int 0"),
        (lambda: F.space2depth(a(1, 4, 2, 2), -1), r"expected r to be .* in \[1, inf\)"),
        (
            lambda: F.convolution_2d(a(1, 2, 4, 4), a(2, 1, 1, 1), groups=-2),
            r"Convolution: expected groups to be .* in \[1, inf\), got int -2",
        ),
        (
            lambda: F.deconvolution_2d(a(1, 2, 4, 4), a(2, 1, 1, 1), groups=0),
            r"Deconvolution: expected groups to be .* in \[1, inf\), got int 0",
        ),
        (lambda: F.recall(a(2, 3), LABELS, -1), r"label_num to be .* in \[0, inf\) or None"),
        (
            lambda: F.roi_max_align_2d(a(2, 1, 4, 4), a(2, 4) * np.nan, LABELS, 1, 1.0),
            "roi_max_align_2d: expected rois and a spatial_scale that are finite",
        ),
        (lambda: F.convolution_2d(a(1, 1, 4, 4), a(1, 1, 3, 3), stride=0), "stride 0"),
        (
            lambda: F.softmax_cross_entropy(a(2, 3), LABELS, reduce="men"),
            "'mean' or 'no', got 'men'. Did you mean 'mean'",
        ),
        (
            lambda: L.Linear(3, 2, initialW="HeNormal"),
            "expected None, a number, an array or a callable.*got str",
        ),
        (lambda: L.Linear(3, 2, initialW=a(3, 2)), r"shape \(2, 3\).*\(3, 2\)|\(3, 2\).*\(2, 3\)"),
        (lambda: core.Parameter(a(3), (2,)), r"expected an array of shape \(2,\), got \(3,\)"),
        (lambda: iterators.SerialIterator([1, 2], 0), "batch size of 1 or more, got 0"),
        (lambda: core.datasets.TupleDataset([1], [1, 2]), "(?i)length"),
        (lambda: core.datasets.split_dataset([1, 2], 3), "3"),
        (lambda: core.dataset.concat_examples([]), "(?i)batch|example"),
        (lambda: core.optimizers.SGD().setup(3), "expected a link, got int"),
        (lambda: core.optimizers.SGD().setup([]), "got list. Give the model itself"),
        (lambda: core.Sequential([L.Linear(1, 1)]), r"got list. .*Sequential\(\*layers\)"),
        (
            lambda: core.optimizers.SGD().setup(L.Linear(1, 1)).update(lambda: None),
            "got NoneType. Is there no `return loss`",
        ),
        (
            lambda: L.Classifier(L.Linear(1, 1))(image=a(1, 1), label=a(1)),
            "got 0 positional arguments and image, label. Name one of these as label_key",
        ),
        (lambda: L.Classifier(L.Linear(3, 2), label_key="y")(a(2, 3)), "'y'"),
        (
            lambda: (
                core.optimizers.SGD().setup(L.Linear(3, 2)).update(L.Linear(3, 2), a(4, 3), a(4))
            ),
            "got ndarray of the shape .*Is it one argument too many, as labels",
        ),
        (lambda: L.Linear(None, 2)(a(4, 3), a(4)), "n_batch_axes .* one argument too many"),
        (lambda: L.BatchNormalization(3)(a(4, 3), a(4)), "finetune .* one argument too many"),
        (lambda: L.DecorrelatedBatchNormalization(3, 1)(a(4, 3), a(4)), "finetune .* one argument"),
    ],
)
def test_settings_that_make_no_sense(call, message):
    with pytest.raises((ValueError, TypeError, KeyError), match=message):
        call()


def test_backward_says_where_to_begin():
    y = core.Variable(a(3)) * 2
    with pytest.raises(core.errors.GraphError, match=r"shape \(3,\).*Set its grad first.*F.sum"):
        y.backward()
    with core.no_backprop_mode():
        z = core.Variable(a(3)) * 2
    with pytest.raises(core.errors.GraphError, match="no_backprop_mode"):
        z.backward()


def test_gradients_that_do_not_fit():
    x = core.Variable(a(3), name="x")
    for gradient, message in (
        (a(2), r"gradient of x: expected shape \(3,\), got \(2,\)"),
        (a(3, dtype="d"), "gradient of x: expected dtype float32, got float64"),
        ([1.0, 1.0, 1.0], "gradient: expected an array, got list"),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            x.grad = gradient
    assert x.grad is None
