"""Function classes that plugrad has no need of: its operations under Chainer's names, and others.

The others are made of functions here, whose inputs come first, by position alone; what follows is
what the class is constructed with.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

from plugrad_chainer import version_1

from core import functions as F
from plugins.functions.composed import Composed

OPERATIONS = {
    "AddConstant": "math.with_number.AddConstant",
    "DiGamma": "math.gamma.Digamma",
    "Div": "math.arithmetic.Divide",
    "DivFromConstant": "math.with_number.DivideFromConstant",
    "ErfInv": "math.erfinv.Erfinv",
    "ErfcInv": "math.erfinv.Erfcinv",
    "MatMulVarVar": "math.matmul.MatMul",
    "Mul": "math.arithmetic.Multiply",
    "MulConstant": "math.with_number.MultiplyConstant",
    "NonparameterizedConvolution2D": "connection.convolution.Convolution2DFunction",
    "NonparameterizedLinear": "connection.linear.LinearFunction",
    "Neg": "math.arithmetic.Negative",
    "PReLUFunction": "activation.prelu.PReLU",
    "PolyGamma": "math.gamma.Polygamma",
    "PowConstVar": "math.with_number.ConstantPower",
    "PowVarConst": "math.with_number.PowerConstant",
    "PowVarVar": "math.arithmetic.Power",
    "Sub": "math.arithmetic.Subtract",
    "SubFromConstant": "math.with_number.SubtractFromConstant",
}
"""Class in Chainer -> the operation of plugrad that is what nodes of the function are."""


def __getattr__(name: str) -> Any:
    """The operation that stands for a class of Chainer."""
    if name in OPERATIONS:
        module, _, own = f"plugins.functions.{OPERATIONS[name]}".rpartition(".")
        return getattr(import_module(module), own)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class Made(Composed):
    """A base of classes that are made of a function."""

    _function: Callable[..., Any]
    _taken: inspect.Signature

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        bound = self._taken.bind(*args, **kwargs)
        bound.apply_defaults()
        self.__dict__.update(bound.arguments)

    def apply(self, inputs: Iterable[Any]) -> tuple[Any, ...]:
        """The outputs for Variables or arrays."""
        outputs = type(self)._function(*inputs, **self.__dict__)
        return outputs if isinstance(outputs, tuple) else (outputs,)


def _class(function: Callable[..., Any]) -> type:
    """The class whose instances compute the function."""
    settings = [
        p.replace(kind=p.POSITIONAL_OR_KEYWORD)
        for p in inspect.signature(function).parameters.values()
        if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)
    ]
    body = {
        "__doc__": function.__doc__,
        "__module__": __name__,
        "_function": staticmethod(function),
        "_taken": inspect.Signature(settings),
    }
    return type(function.__name__, (Made,), body)


# -- arrays ---------------------------------------------------------------------------------------


@_class
def Flatten(x: Any, /) -> Any:
    """All elements in one axis."""
    return F.flatten(x)


@_class
def Hstack(*xs: Any) -> Any:
    """Arrays beside each other."""
    return F.hstack(xs)


@_class
def Vstack(*xs: Any) -> Any:
    """Arrays below each other."""
    return F.vstack(xs)


@_class
def Dstack(*xs: Any) -> Any:
    """Arrays behind each other."""
    return F.dstack(xs)


@_class
def AsStrided(x: Any, /, shape: Any, strides: Any, storage_offset: Any = None) -> Any:
    """A view by steps."""
    return F.as_strided(x, shape, strides, storage_offset)


@_class
def Diagonal(x: Any, /, offset: int, axis1: int, axis2: int) -> Any:
    """Diagonals."""
    return F.diagonal(x, offset, axis1, axis2)


@_class
def Moveaxis(x: Any, /, source: Any, destination: Any) -> Any:
    """Axes at other places."""
    return F.moveaxis(x, source, destination)


@_class
def Repeat(x: Any, /, repeats: Any, axis: Any = None) -> Any:
    """Elements several times."""
    return F.repeat(x, repeats, axis)


@_class
def ScatterAdd(x: Any, b: Any, /, slices: Any) -> Any:
    """An array with others added in places."""
    return F.scatter_add(x, slices, b)


@_class
def Separate(x: Any, /, axis: int) -> Any:
    """What stands along an axis, one by one."""
    return F.separate(x, axis)


@_class
def Cumsum(x: Any, /, axis: Any = None) -> Any:
    """Sums of all that stands before."""
    return F.cumsum(x, axis)


# -- mathematics ----------------------------------------------------------------------------------


@_class
def MultiAdd(*xs: Any) -> Any:
    """The sum of arrays."""
    return F.add(*xs)


@_class
def MatMulVarConst(x: Any, /, value: Any) -> Any:
    """The product with a constant on the right."""
    return F.matmul(x, value)


@_class
def MatMulConstVar(x: Any, /, value: Any) -> Any:
    """The product with a constant on the left."""
    return F.matmul(value, x)


@_class
def BatchMatMul(a: Any, b: Any, /, transa: bool = False, transb: bool = False) -> Any:
    """Products of matrices, one by one."""
    return F.batch_matmul(a, b, transa, transb)


@_class
def Swish(x: Any, beta: Any, /) -> Any:
    """The product of x and sigmoid(beta x)."""
    return F.swish(x, beta)


@_class
def R2_score(pred: Any, true: Any, /, sample_weight: Any, multioutput: str) -> Any:
    """The coefficient of determination."""
    return F.r2_score(pred, true, sample_weight, multioutput)


def fbeta_score(
    y: Any, t: Any, label_num: Any = None, beta: float = 1.0, ignore_label: int = -1
) -> Any:
    """The F-score of each class, and how many examples each has."""
    _, _, score, support = F.classification_summary(y, t, label_num, beta, ignore_label)
    return score, support


def rsub(self: Any, rhs: Any) -> Any:
    """The difference, turned round."""
    return rhs - self


def rdiv(self: Any, rhs: Any) -> Any:
    """The quotient, turned round."""
    return rhs / self


def rfloordiv(self: Any, rhs: Any) -> Any:
    """The quotient rounded down, turned round."""
    return rhs // self


def rpow(self: Any, rhs: Any) -> Any:
    """The power, turned round."""
    return rhs**self


def rmatmul(self: Any, rhs: Any) -> Any:
    """The product of matrices, turned round."""
    return rhs @ self


def install_variable_arithmetics() -> None:
    """Nothing: Variables have their operators."""


def install_variable_get_item() -> None:
    """Nothing: Variables have their indexing."""


# -- links' functions -----------------------------------------------------------------------------


@_class
def BilinearFunction(*inputs: Any) -> Any:
    """e1ᵀ W e2, and linear terms of four more inputs."""
    return F.bilinear(*inputs)


@_class
def Deconvolution2DFunction(
    x: Any,
    W: Any,
    b: Any = None,
    /,
    stride: Any = 1,
    pad: Any = 0,
    outsize: Any = None,
    use_cudnn: bool = True,
    deterministic: bool = False,
    dilate: Any = 1,
    groups: int = 1,
) -> Any:
    """The adjoint of a convolution."""
    return F.deconvolution_2d(x, W, b, stride, pad, outsize, dilate=dilate, groups=groups)


@_class
def DilatedConvolution2DFunction(
    x: Any,
    W: Any,
    b: Any = None,
    /,
    stride: Any = 1,
    pad: Any = 0,
    dilate: Any = 1,
    cover_all: bool = False,
    requires_x_grad: bool = True,
    use_cudnn: bool = True,
) -> Any:
    """A convolution with gaps in its filter."""
    return F.dilated_convolution_2d(x, W, b, stride, pad, dilate, cover_all)


if version_1():  # which had the switch of cuDNN in fourth place
    _of_dilated: Any = DilatedConvolution2DFunction
    *_rest, _switch = _of_dilated._taken.parameters.values()
    _of_dilated._taken = inspect.Signature([*_rest[:3], _switch, *_rest[3:]])


@_class
def LocalConvolution2DFunction(x: Any, W: Any, b: Any = None, /, stride: Any = 1) -> Any:
    """A convolution with a filter for each place."""
    return F.local_convolution_2d(x, W, b, stride)


@_class
def NegativeSamplingFunction(
    x: Any, t: Any, W: Any, /, sampler: Any, sample_size: int, reduce: str = "sum"
) -> Any:
    """The loss of negative sampling."""
    return F.negative_sampling(x, t, W, sampler, sample_size, reduce)


@_class
def DiscriminativeMarginBasedClusteringLoss(
    embeddings: Any,
    labels: Any,
    /,
    delta_v: float = 0.5,
    delta_d: float = 1.5,
    max_embedding_dim: int = 10,
    norm: int = 1,
    alpha: float = 1.0,
    beta: float = 1.0,
    gamma: float = 0.001,
) -> Any:
    """Terms that gather what has one label and part what has not."""
    clusters = F.discriminative_margin_based_clustering_loss
    return clusters(
        embeddings, labels, delta_v, delta_d, max_embedding_dim, norm, alpha, beta, gamma
    )


# -- normalization --------------------------------------------------------------------------------


@_class
def BatchNormalizationFunction(
    x: Any,
    gamma: Any,
    beta: Any,
    fixed_mean: Any = None,
    fixed_var: Any = None,
    /,
    eps: float = 2e-5,
    mean: Any = None,
    var: Any = None,
    train: bool = False,
    decay: float = 0.9,
    use_cudnn: bool = True,
) -> Any:
    """Version 1's batch normalization: by the batch with `train`, else by two more inputs."""
    if train:
        return F.batch_normalization(
            x, gamma, beta, eps=eps, running_mean=mean, running_var=var, decay=decay
        )
    fixed = (mean, var) if fixed_mean is None else (fixed_mean, fixed_var)
    return F.fixed_batch_normalization(x, gamma, beta, *fixed, eps)


@_class
def BatchRenormalizationFunction(
    x: Any,
    gamma: Any,
    beta: Any,
    /,
    eps: float = 2e-5,
    mean: Any = None,
    var: Any = None,
    decay: float = 0.9,
    rmax: float = 1,
    dmax: float = 0,
    update_statistics: bool = True,
) -> Any:
    """Batch renormalization."""
    return F.batch_renormalization(
        x, gamma, beta, rmax, dmax, eps, mean, var, decay, update_statistics
    )


@_class
def DecorrelatedBatchNormalization(
    x: Any,
    /,
    groups: int = 16,
    eps: float = 2e-5,
    mean: Any = None,
    projection: Any = None,
    decay: float = 0.9,
) -> Any:
    """Normalization and decorrelation by the batch."""
    return F.decorrelated_batch_normalization(
        x, groups=groups, eps=eps, running_mean=mean, running_projection=projection, decay=decay
    )


@_class
def FixedDecorrelatedBatchNormalization(x: Any, mean: Any, projection: Any, /, groups: int) -> Any:
    """Normalization and decorrelation by what is given."""
    return F.fixed_decorrelated_batch_normalization(x, mean, projection, groups)


# -- pooling --------------------------------------------------------------------------------------


@_class
def SpatialPyramidPooling2D(
    x: Any,
    /,
    x_shape: Any,
    pyramid_height: int,
    pooling_class: Any,
    use_cudnn: bool = True,
) -> Any:
    """Version 1's pooling by ever finer grids; the shape is that of `x` anyway."""
    return F.spatial_pyramid_pooling_2d(x, pyramid_height, pooling_class)


@_class
def ROIAveragePooling2D(
    x: Any, rois: Any, roi_indices: Any, /, outsize: Any, spatial_scale: float
) -> Any:
    """Means over parts of regions."""
    return F.roi_average_pooling_2d(x, rois, roi_indices, outsize, spatial_scale)


@_class
def ROIAverageAlign2D(
    x: Any,
    rois: Any,
    roi_indices: Any,
    /,
    outsize: Any,
    spatial_scale: float,
    sampling_ratio: Any = None,
) -> Any:
    """Means of samples in regions."""
    return F.roi_average_align_2d(x, rois, roi_indices, outsize, spatial_scale, sampling_ratio)


@_class
def ROIMaxAlign2D(
    x: Any,
    rois: Any,
    roi_indices: Any,
    /,
    outsize: Any,
    spatial_scale: float,
    sampling_ratio: Any = None,
) -> Any:
    """Maxima of samples in regions."""
    return F.roi_max_align_2d(x, rois, roi_indices, outsize, spatial_scale, sampling_ratio)


# -- recurrent nets -------------------------------------------------------------------------------


def n_step_rnn_base(
    n_layers: int,
    dropout_ratio: float,
    hx: Any,
    ws: Any,
    bs: Any,
    xs: Any,
    activation: str,
    use_bi_direction: bool,
) -> Any:
    """`n_step_rnn`, or `n_step_birnn` with both directions."""
    function = F.n_step_birnn if use_bi_direction else F.n_step_rnn
    return function(n_layers, dropout_ratio, hx, ws, bs, xs, activation)


def n_step_gru_base(
    n_layers: int, dropout_ratio: float, hx: Any, ws: Any, bs: Any, xs: Any, use_bi_direction: bool
) -> Any:
    """`n_step_gru`, or `n_step_bigru` with both directions."""
    function = F.n_step_bigru if use_bi_direction else F.n_step_gru
    return function(n_layers, dropout_ratio, hx, ws, bs, xs)


def n_step_lstm_base(
    n_layers: int,
    dropout_ratio: float,
    hx: Any,
    cx: Any,
    ws: Any,
    bs: Any,
    xs: Any,
    use_bi_direction: bool,
) -> Any:
    """`n_step_lstm`, or `n_step_bilstm` with both directions."""
    function = F.n_step_bilstm if use_bi_direction else F.n_step_lstm
    return function(n_layers, dropout_ratio, hx, cx, ws, bs, xs)


# -- what modules have beside their functions -----------------------------------------------------

available_cpu = True
"""Whether it is computed without a GPU: here without SciPy, too."""
einsum_symbols = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
einsum_symbols_set = frozenset(einsum_symbols)


def argone(iterable: Iterable[int]) -> list[int]:
    """Where a sequence has 1."""
    return [i for i, x in enumerate(iterable) if x == 1]
