"""What `core.functions` offers; written by `plugrad stubs`, not by hand."""

from typing import Literal, overload

from core import Variable
from core.registry import Offer
from core.typing import Array, Axes, BackendArray, Operand, Pair, Sizes, Widths
from plugins.functions.activation.clipped_relu import ClippedReLU as ClippedReLU
from plugins.functions.activation.clipped_relu import relu6 as relu6
from plugins.functions.activation.crelu import CReLU as CReLU
from plugins.functions.activation.elu import ELU as ELU
from plugins.functions.activation.elu import selu as selu
from plugins.functions.activation.gelu import GELU as GELU
from plugins.functions.activation.hard_sigmoid import HardSigmoid as HardSigmoid
from plugins.functions.activation.leaky_relu import LeakyReLU as LeakyReLU
from plugins.functions.activation.log_softmax import LogSoftmax as LogSoftmax
from plugins.functions.activation.maxout import maxout as maxout
from plugins.functions.activation.prelu import PReLU as PReLU
from plugins.functions.activation.prelu import prelu as prelu
from plugins.functions.activation.relu import ReLU as ReLU
from plugins.functions.activation.rrelu import RReLU as RReLU
from plugins.functions.activation.sigmoid import Sigmoid as Sigmoid
from plugins.functions.activation.softmax import Softmax as Softmax
from plugins.functions.activation.softplus import Softplus as Softplus
from plugins.functions.activation.swish import SiLU as SiLU
from plugins.functions.activation.swish import swish as swish
from plugins.functions.activation.tanh import Tanh as Tanh
from plugins.functions.array.as_strided import as_strided as as_strided
from plugins.functions.array.axis_order import Rollaxis as Rollaxis
from plugins.functions.array.axis_order import Swapaxes as Swapaxes
from plugins.functions.array.axis_order import Transpose as Transpose
from plugins.functions.array.axis_order import moveaxis as moveaxis
from plugins.functions.array.axis_order import transpose as transpose
from plugins.functions.array.broadcast import Broadcast as Broadcast
from plugins.functions.array.broadcast import BroadcastTo as BroadcastTo
from plugins.functions.array.broadcast import broadcast as broadcast
from plugins.functions.array.broadcast import broadcast_to as broadcast_to
from plugins.functions.array.cast import Cast as Cast
from plugins.functions.array.cast import cast as cast
from plugins.functions.array.concat import Concat as Concat
from plugins.functions.array.concat import concat as concat
from plugins.functions.array.concat import dstack as dstack
from plugins.functions.array.concat import hstack as hstack
from plugins.functions.array.concat import vstack as vstack
from plugins.functions.array.copy import Copy as Copy
from plugins.functions.array.copy import copy as copy
from plugins.functions.array.depth2space import Depth2Space as Depth2Space
from plugins.functions.array.depth2space import Space2Depth as Space2Depth
from plugins.functions.array.diagonal import diagonal as diagonal
from plugins.functions.array.expand_dims import ExpandDims as ExpandDims
from plugins.functions.array.flip import Flip as Flip
from plugins.functions.array.flip import FlipLR as FlipLR
from plugins.functions.array.flip import FlipUD as FlipUD
from plugins.functions.array.flip import flip as flip
from plugins.functions.array.flip import fliplr as fliplr
from plugins.functions.array.flip import flipud as flipud
from plugins.functions.array.get_item import GetItem as GetItem
from plugins.functions.array.get_item import SetItem as SetItem
from plugins.functions.array.get_item import get_item as get_item
from plugins.functions.array.im2col import Im2Col as Im2Col
from plugins.functions.array.one_hot import one_hot as one_hot
from plugins.functions.array.pad import Pad as Pad
from plugins.functions.array.pad import pad as pad
from plugins.functions.array.pad_sequence import PadSequence as PadSequence
from plugins.functions.array.pad_sequence import pad_sequence as pad_sequence
from plugins.functions.array.permutate import Permutate as Permutate
from plugins.functions.array.permutate import permutate as permutate
from plugins.functions.array.pixel_shuffle import pixel_shuffle as pixel_shuffle
from plugins.functions.array.pixel_shuffle import pixel_unshuffle as pixel_unshuffle
from plugins.functions.array.repeat import repeat as repeat
from plugins.functions.array.reshape import Reshape as Reshape
from plugins.functions.array.reshape import flatten as flatten
from plugins.functions.array.reshape import reshape as reshape
from plugins.functions.array.resize_images import ResizeImages as ResizeImages
from plugins.functions.array.scatter_add import scatter_add as scatter_add
from plugins.functions.array.select_item import SelectItem as SelectItem
from plugins.functions.array.spatial_transformer import (
    SpatialTransformerGrid as SpatialTransformerGrid,
)
from plugins.functions.array.spatial_transformer import (
    SpatialTransformerSampler as SpatialTransformerSampler,
)
from plugins.functions.array.split_axis import SplitAxis as SplitAxis
from plugins.functions.array.split_axis import separate as separate
from plugins.functions.array.split_axis import split_axis as split_axis
from plugins.functions.array.squeeze import Squeeze as Squeeze
from plugins.functions.array.stack import Stack as Stack
from plugins.functions.array.stack import stack as stack
from plugins.functions.array.tile import Tile as Tile
from plugins.functions.array.tile import tile as tile
from plugins.functions.array.transpose_sequence import TransposeSequence as TransposeSequence
from plugins.functions.array.transpose_sequence import transpose_sequence as transpose_sequence
from plugins.functions.array.where import Where as Where
from plugins.functions.array.where import where as where
from plugins.functions.attention.scaled_dot_product_attention import (
    scaled_dot_product_attention as scaled_dot_product_attention,
)
from plugins.functions.connection.bilinear import bilinear as bilinear
from plugins.functions.connection.convolution import Convolution as Convolution
from plugins.functions.connection.convolution import Convolution2DFunction as Convolution2DFunction
from plugins.functions.connection.convolution import Deconvolution as Deconvolution
from plugins.functions.connection.deformable_convolution import (
    deformable_convolution_2d_sampler as deformable_convolution_2d_sampler,
)
from plugins.functions.connection.depthwise_convolution import (
    depthwise_convolution_2d as depthwise_convolution_2d,
)
from plugins.functions.connection.dilated_convolution import (
    dilated_convolution_2d as dilated_convolution_2d,
)
from plugins.functions.connection.embed_id import EmbedIDFunction as EmbedIDFunction
from plugins.functions.connection.linear import LinearFunction as LinearFunction
from plugins.functions.connection.linear import linear as linear
from plugins.functions.connection.local_convolution import (
    local_convolution_2d as local_convolution_2d,
)
from plugins.functions.connection.shift import Shift as Shift
from plugins.functions.connection.shift import shift as shift
from plugins.functions.evaluation.accuracy import Accuracy as Accuracy
from plugins.functions.evaluation.accuracy import accuracy as accuracy
from plugins.functions.evaluation.binary_accuracy import BinaryAccuracy as BinaryAccuracy
from plugins.functions.evaluation.classification_summary import (
    ClassificationSummary as ClassificationSummary,
)
from plugins.functions.evaluation.classification_summary import (
    classification_summary as classification_summary,
)
from plugins.functions.evaluation.classification_summary import f1_score as f1_score
from plugins.functions.evaluation.classification_summary import precision as precision
from plugins.functions.evaluation.classification_summary import recall as recall
from plugins.functions.evaluation.non_maximum_suppression import (
    non_maximum_suppression as non_maximum_suppression,
)
from plugins.functions.evaluation.r2_score import R2Score as R2Score
from plugins.functions.evaluation.r2_score import r2_score as r2_score
from plugins.functions.loss.absolute_error import AbsoluteError as AbsoluteError
from plugins.functions.loss.black_out import black_out as black_out
from plugins.functions.loss.connectionist_temporal_classification import (
    ConnectionistTemporalClassification as ConnectionistTemporalClassification,
)
from plugins.functions.loss.connectionist_temporal_classification import (
    connectionist_temporal_classification as connectionist_temporal_classification,
)
from plugins.functions.loss.contrastive import Contrastive as Contrastive
from plugins.functions.loss.contrastive import contrastive as contrastive
from plugins.functions.loss.covariance import CrossCovariance as CrossCovariance
from plugins.functions.loss.covariance import DeCov as DeCov
from plugins.functions.loss.crf1d import argmax_crf1d as argmax_crf1d
from plugins.functions.loss.crf1d import crf1d as crf1d
from plugins.functions.loss.discriminative import (
    discriminative_margin_based_clustering_loss as discriminative_margin_based_clustering_loss,
)
from plugins.functions.loss.hinge import Hinge as Hinge
from plugins.functions.loss.huber_loss import HuberLoss as HuberLoss
from plugins.functions.loss.mean_absolute_error import MeanAbsoluteError as MeanAbsoluteError
from plugins.functions.loss.mean_squared_error import MeanSquaredError as MeanSquaredError
from plugins.functions.loss.negative_sampling import negative_sampling as negative_sampling
from plugins.functions.loss.sigmoid_cross_entropy import SigmoidCrossEntropy as SigmoidCrossEntropy
from plugins.functions.loss.sigmoid_cross_entropy import (
    sigmoid_cross_entropy as sigmoid_cross_entropy,
)
from plugins.functions.loss.softmax_cross_entropy import SoftmaxCrossEntropy as SoftmaxCrossEntropy
from plugins.functions.loss.softmax_cross_entropy import (
    softmax_cross_entropy as softmax_cross_entropy,
)
from plugins.functions.loss.squared_error import SquaredError as SquaredError
from plugins.functions.loss.triplet import Triplet as Triplet
from plugins.functions.loss.triplet import triplet as triplet
from plugins.functions.loss.vae import bernoulli_nll as bernoulli_nll
from plugins.functions.loss.vae import gaussian_kl_divergence as gaussian_kl_divergence
from plugins.functions.loss.vae import gaussian_nll as gaussian_nll
from plugins.functions.math.absolute import Absolute as Absolute
from plugins.functions.math.absolute import absolute as absolute
from plugins.functions.math.add import Add as Add
from plugins.functions.math.add import add as add
from plugins.functions.math.argextrema import ArgMax as ArgMax
from plugins.functions.math.argextrema import ArgMin as ArgMin
from plugins.functions.math.arithmetic import Divide as Divide
from plugins.functions.math.arithmetic import Multiply as Multiply
from plugins.functions.math.arithmetic import Negative as Negative
from plugins.functions.math.arithmetic import Power as Power
from plugins.functions.math.arithmetic import Subtract as Subtract
from plugins.functions.math.average import Mean as Mean
from plugins.functions.math.average import average as average
from plugins.functions.math.average import mean as mean
from plugins.functions.math.bias import bias as bias
from plugins.functions.math.cholesky import Cholesky as Cholesky
from plugins.functions.math.clip import Clip as Clip
from plugins.functions.math.clip import clip as clip
from plugins.functions.math.cumulative import Cumprod as Cumprod
from plugins.functions.math.cumulative import Cumsum as Cumsum
from plugins.functions.math.cumulative import LogCumSumExp as LogCumSumExp
from plugins.functions.math.det import BatchDet as BatchDet
from plugins.functions.math.det import det as det
from plugins.functions.math.einsum import EinSum as EinSum
from plugins.functions.math.einsum import einsum as einsum
from plugins.functions.math.erf import Erf as Erf
from plugins.functions.math.erfc import Erfc as Erfc
from plugins.functions.math.erfc import Erfcx as Erfcx
from plugins.functions.math.erfinv import Erfcinv as Erfcinv
from plugins.functions.math.erfinv import Erfinv as Erfinv
from plugins.functions.math.exponential import Exp as Exp
from plugins.functions.math.exponential import Expm1 as Expm1
from plugins.functions.math.extrema import Max as Max
from plugins.functions.math.extrema import Min as Min
from plugins.functions.math.fft import FFT as FFT
from plugins.functions.math.fft import fft as fft
from plugins.functions.math.fft import ifft as ifft
from plugins.functions.math.fmod import Fmod as Fmod
from plugins.functions.math.gamma import Digamma as Digamma
from plugins.functions.math.gamma import LGamma as LGamma
from plugins.functions.math.gamma import Polygamma as Polygamma
from plugins.functions.math.gamma import polygamma as polygamma
from plugins.functions.math.hyperbolic import Arccosh as Arccosh
from plugins.functions.math.hyperbolic import Arcsinh as Arcsinh
from plugins.functions.math.hyperbolic import Arctanh as Arctanh
from plugins.functions.math.hyperbolic import Cosh as Cosh
from plugins.functions.math.hyperbolic import Sinh as Sinh
from plugins.functions.math.identity import Identity as Identity
from plugins.functions.math.identity import identity as identity
from plugins.functions.math.inv import BatchInv as BatchInv
from plugins.functions.math.inv import Inv as Inv
from plugins.functions.math.linear_interpolate import LinearInterpolate as LinearInterpolate
from plugins.functions.math.linear_interpolate import linear_interpolate as linear_interpolate
from plugins.functions.math.logarithm import Log as Log
from plugins.functions.math.logarithm import Log1p as Log1p
from plugins.functions.math.logarithm import Log2 as Log2
from plugins.functions.math.logarithm import Log10 as Log10
from plugins.functions.math.logsumexp import LogSumExp as LogSumExp
from plugins.functions.math.matmul import MatMul as MatMul
from plugins.functions.math.matmul import batch_matmul as batch_matmul
from plugins.functions.math.matmul import matmul as matmul
from plugins.functions.math.maximum import Maximum as Maximum
from plugins.functions.math.maximum import Minimum as Minimum
from plugins.functions.math.ndtr import LogNdtr as LogNdtr
from plugins.functions.math.ndtr import Ndtr as Ndtr
from plugins.functions.math.ndtr import Ndtri as Ndtri
from plugins.functions.math.norm import BatchL2NormSquared as BatchL2NormSquared
from plugins.functions.math.prod import Prod as Prod
from plugins.functions.math.root import Rsqrt as Rsqrt
from plugins.functions.math.root import Sqrt as Sqrt
from plugins.functions.math.root import Square as Square
from plugins.functions.math.rounding import Ceil as Ceil
from plugins.functions.math.rounding import Fix as Fix
from plugins.functions.math.rounding import Floor as Floor
from plugins.functions.math.scale import scale as scale
from plugins.functions.math.segments import SegmentMax as SegmentMax
from plugins.functions.math.segments import SegmentMean as SegmentMean
from plugins.functions.math.segments import SegmentMin as SegmentMin
from plugins.functions.math.segments import SegmentSoftmax as SegmentSoftmax
from plugins.functions.math.segments import SegmentSum as SegmentSum
from plugins.functions.math.sign import Sign as Sign
from plugins.functions.math.sparse_matmul import CooMatMul as CooMatMul
from plugins.functions.math.sparse_matmul import sparse_matmul as sparse_matmul
from plugins.functions.math.squared_difference import SquaredDifference as SquaredDifference
from plugins.functions.math.sum import Sum as Sum
from plugins.functions.math.sum import SumTo as SumTo
from plugins.functions.math.sum import sum_to as sum_to
from plugins.functions.math.tensordot import tensordot as tensordot
from plugins.functions.math.trigonometric import Arccos as Arccos
from plugins.functions.math.trigonometric import Arcsin as Arcsin
from plugins.functions.math.trigonometric import Arctan as Arctan
from plugins.functions.math.trigonometric import Arctan2 as Arctan2
from plugins.functions.math.trigonometric import Cos as Cos
from plugins.functions.math.trigonometric import Sin as Sin
from plugins.functions.math.trigonometric import Tan as Tan
from plugins.functions.math.zeta import Zeta as Zeta
from plugins.functions.noise.dropout import Dropout as Dropout
from plugins.functions.noise.dropout import dropout as dropout
from plugins.functions.noise.gaussian import Gaussian as Gaussian
from plugins.functions.noise.gumbel_softmax import gumbel_softmax as gumbel_softmax
from plugins.functions.noise.simplified_dropconnect import (
    SimplifiedDropconnect as SimplifiedDropconnect,
)
from plugins.functions.noise.simplified_dropconnect import (
    simplified_dropconnect as simplified_dropconnect,
)
from plugins.functions.noise.zoneout import Zoneout as Zoneout
from plugins.functions.noise.zoneout import zoneout as zoneout
from plugins.functions.normalization.batch_normalization import (
    BatchNormalization as BatchNormalization,
)
from plugins.functions.normalization.batch_normalization import (
    batch_normalization as batch_normalization,
)
from plugins.functions.normalization.batch_renormalization import (
    batch_renormalization as batch_renormalization,
)
from plugins.functions.normalization.batch_renormalization import (
    fixed_batch_renormalization as fixed_batch_renormalization,
)
from plugins.functions.normalization.decorrelated_batch_normalization import (
    decorrelated_batch_normalization as decorrelated_batch_normalization,
)
from plugins.functions.normalization.decorrelated_batch_normalization import (
    fixed_decorrelated_batch_normalization as fixed_decorrelated_batch_normalization,
)
from plugins.functions.normalization.fixed_batch_normalization import (
    FixedBatchNormalization as FixedBatchNormalization,
)
from plugins.functions.normalization.fixed_batch_normalization import (
    fixed_batch_normalization as fixed_batch_normalization,
)
from plugins.functions.normalization.group_normalization import (
    GroupNormalization as GroupNormalization,
)
from plugins.functions.normalization.group_normalization import (
    group_normalization as group_normalization,
)
from plugins.functions.normalization.l2_normalization import NormalizeL2 as NormalizeL2
from plugins.functions.normalization.layer_normalization import (
    LayerNormalization as LayerNormalization,
)
from plugins.functions.normalization.layer_normalization import (
    layer_normalization as layer_normalization,
)
from plugins.functions.normalization.local_response_normalization import (
    LocalResponseNormalization as LocalResponseNormalization,
)
from plugins.functions.normalization.rms_normalization import RMSNormalization as RMSNormalization
from plugins.functions.pooling.adaptive_pooling import (
    adaptive_average_pooling_nd as adaptive_average_pooling_nd,
)
from plugins.functions.pooling.adaptive_pooling import (
    adaptive_max_pooling_nd as adaptive_max_pooling_nd,
)
from plugins.functions.pooling.average_pooling import AveragePooling2D as AveragePooling2D
from plugins.functions.pooling.average_pooling import AveragePoolingND as AveragePoolingND
from plugins.functions.pooling.max_pooling import MaxPooling2D as MaxPooling2D
from plugins.functions.pooling.max_pooling import MaxPoolingND as MaxPoolingND
from plugins.functions.pooling.roi_align import roi_average_align_2d as roi_average_align_2d
from plugins.functions.pooling.roi_align import roi_max_align_2d as roi_max_align_2d
from plugins.functions.pooling.roi_average_pooling import (
    roi_average_pooling_2d as roi_average_pooling_2d,
)
from plugins.functions.pooling.roi_max_pooling import ROIMaxPooling2D as ROIMaxPooling2D
from plugins.functions.pooling.roi_max_pooling import ROIPooling2D as ROIPooling2D
from plugins.functions.pooling.roi_max_pooling import roi_max_pooling_2d as roi_max_pooling_2d
from plugins.functions.pooling.roi_max_pooling import roi_pooling_2d as roi_pooling_2d
from plugins.functions.pooling.spatial_pyramid_pooling import (
    spatial_pyramid_pooling_2d as spatial_pyramid_pooling_2d,
)
from plugins.functions.pooling.unpooling import Unpooling2D as Unpooling2D
from plugins.functions.pooling.unpooling import UnpoolingND as UnpoolingND
from plugins.functions.pooling.upsampling import Upsampling2D as Upsampling2D
from plugins.functions.pooling.upsampling import upsampling_2d as upsampling_2d
from plugins.functions.rnn.lstm import LSTM as LSTM
from plugins.functions.rnn.n_step_classes import NStepBiGRU as NStepBiGRU
from plugins.functions.rnn.n_step_classes import NStepBiLSTM as NStepBiLSTM
from plugins.functions.rnn.n_step_classes import NStepBiRNNReLU as NStepBiRNNReLU
from plugins.functions.rnn.n_step_classes import NStepBiRNNTanh as NStepBiRNNTanh
from plugins.functions.rnn.n_step_classes import NStepGRU as NStepGRU
from plugins.functions.rnn.n_step_classes import NStepLSTM as NStepLSTM
from plugins.functions.rnn.n_step_classes import NStepRNNReLU as NStepRNNReLU
from plugins.functions.rnn.n_step_classes import NStepRNNTanh as NStepRNNTanh
from plugins.functions.rnn.n_step_gru import n_step_bigru as n_step_bigru
from plugins.functions.rnn.n_step_gru import n_step_gru as n_step_gru
from plugins.functions.rnn.n_step_lstm import n_step_bilstm as n_step_bilstm
from plugins.functions.rnn.n_step_lstm import n_step_lstm as n_step_lstm
from plugins.functions.rnn.n_step_rnn import n_step_birnn as n_step_birnn
from plugins.functions.rnn.n_step_rnn import n_step_rnn as n_step_rnn
from plugins.functions.rnn.slstm import SLSTM as SLSTM
from plugins.functions.rnn.tree_lstm import TreeLSTM as TreeLSTM
from plugins.functions.rnn.tree_lstm import tree_lstm as tree_lstm
from plugins.functions.util.forget import Forget as Forget
from plugins.functions.util.forget import forget as forget
from plugins.functions.util.from_torch import from_torch as from_torch

def clipped_relu(x: Array, z: float = 20.0) -> Variable:
    """Clip each element to between 0 and `z`: min(max(x, 0), z).

    The derivative is 1 strictly between 0 and `z`, and 0 elsewhere; so it is at 0 and at `z`.

    Args:
        x: Floating, of any shape.
        z: The ceiling, greater than 0.

    Returns:
        The shape and dtype of `x`.

    Raises:
        InvalidType: `x` is not floating.

    Source: Hannun et al. 2014 (arXiv:1412.5567), section 2.

    >>> import core.functions as F, numpy as np
    >>> F.clipped_relu(np.array([-1, 2, 99], "f"))
    variable([ 0.,  2., 20.], dtype=float32)
    """

def crelu(x: Array, axis: int = 1) -> Variable:
    """Join the rectified parts of x and -x along an axis, which doubles its length.

    max(x, 0) is followed by max(-x, 0).

    The derivative at 0 is taken as 0.

    Args:
        x: Floating, of any shape that has the axis.
        axis: The axis to join along.

    Returns:
        The dtype of `x`, and its shape but for the axis.

    Raises:
        InvalidType: `x` is not floating, or has no such axis.

    Source: Shang et al. 2016 (arXiv:1603.05201).

    >>> import core.functions as F, numpy as np
    >>> F.crelu(np.array([[-1, 2]], "f"))
    variable([[0., 2., 1., 0.]], dtype=float32)
    """

def elu(x: Array, alpha: float = 1.0) -> Variable:
    """Apply the exponential linear unit: x for x >= 0, otherwise alpha * (exp(x) - 1).

    The derivative for negative elements is alpha exp(x).

    The derivative at 0 is taken as `alpha`.

    Args:
        x: Floating, of any shape.
        alpha: What negative elements tend to, negated.

    Returns:
        The shape and dtype of `x`.

    Raises:
        InvalidType: `x` is not floating.

    Source: Clevert et al. 2016 (arXiv:1511.07289).

    >>> import core.functions as F, numpy as np
    >>> F.elu(np.array([-100, 2], "f"))
    variable([-1.,  2.], dtype=float32)
    """

def gelu(x: Array) -> Variable:
    """Apply the Gaussian error linear unit: x times the probability of a normal number below x.

    With P that probability, the derivative is P + x exp(-x^2/2) / √(2π).

    Args:
        x: Floating, of any shape.

    Returns:
        The shape and dtype of `x`.

    Raises:
        InvalidType: `x` is not floating.

    Source: Hendrycks and Gimpel 2016 (arXiv:1606.08415).

    >>> import core.functions as F, numpy as np
    >>> F.gelu(np.array([-100, 0, 100], "f"))
    variable([ -0.,   0., 100.], dtype=float32)
    """

def hard_sigmoid(x: Array) -> Variable:
    """Apply a piecewise linear sigmoid: 0.2 * x + 0.5, clipped to [0, 1].

    The derivative is 0.2 for |x| < 2.5, else 0.

    Args:
        x: Floating, of any shape.

    Returns:
        The shape and dtype of `x`.

    Raises:
        InvalidType: `x` is not floating.

    >>> import core.functions as F, numpy as np
    >>> F.hard_sigmoid(np.array([-3, 0, 3], "f"))
    variable([0. , 0.5, 1. ], dtype=float32)
    """

def leaky_relu(x: Array, slope: float = 0.2) -> Variable:
    """Scale negative elements down: x for x >= 0, otherwise slope * x.

    The derivative at 0 is taken as `slope`.

    Args:
        x: Floating, of any shape.
        slope: The factor for negative elements.

    Returns:
        The shape and dtype of `x`.

    Raises:
        InvalidType: `x` is not floating.

    Source: Maas et al. 2013, "Rectifier nonlinearities improve neural network acoustic models".

    >>> import core.functions as F, numpy as np
    >>> F.leaky_relu(np.array([-2, 3], "f"), slope=0.5)
    variable([-1.,  3.], dtype=float32)
    """

def log_softmax(x: Array, axis: int = 1) -> Variable:
    """Compute the logarithm of the softmax along an axis: x_i - log sum_j exp(x_j).

    With y the result, the gradient is g - exp(y) sum g.

    Exact where the logarithm of `softmax(x)` would be that of a rounded zero.

    Args:
        x: Floating, of any shape that has the axis.
        axis: The axis to sum over.

    Returns:
        The shape and dtype of `x`.

    Raises:
        InvalidType: `x` is not floating, or has no such axis.

    >>> import core.functions as F, numpy as np
    >>> F.log_softmax(np.array([[1000, 0]], "f"))
    variable([[    0., -1000.]], dtype=float32)
    """

def relu(x: Array) -> Variable:
    """Set negative elements to zero: max(x, 0).

    The derivative is 1 for x > 0, and 0 for x < 0.

    The derivative at 0 is taken as 0.

    Args:
        x: Floating, of any shape.

    Returns:
        The shape and dtype of `x`.

    Raises:
        InvalidType: `x` is not floating.

    Source: Nair and Hinton 2010, "Rectified linear units improve restricted Boltzmann machines".

    >>> import core.functions as F, numpy as np
    >>> F.relu(np.array([-1, 2], "f"))
    variable([0., 2.], dtype=float32)
    """

@overload
def rrelu(
    x: Array,
    l: float = 0.125,
    u: float = 0.3333333333333333,
    *,
    r: Array | None = None,
    return_r: Literal[False] = False,
) -> Variable:
    """Scale negative elements down by random factors: x for x >= 0, otherwise r x.

    While training, each r is drawn from the uniform distribution on [l, u); with
    `core.config.train` off all are (l + u) / 2, whatever `r` is given. The derivative at 0 is taken
    as 1.

    Args:
        x: Floating, of any shape.
        l: The lowest factor.
        u: The highest factor, not below `l`.
        r: An array like `x` to take for the factors instead of drawing them.
        return_r: Also give the factors, an array.

    Returns:
        The shape and dtype of `x`, or a pair with `return_r`.

    Raises:
        InvalidType: `x` is not floating, or `r` has another shape or dtype.
        ValueError: `u` is below `l`.

    Source: Xu, Wang, Chen and Li 2015, "Empirical evaluation of rectified activations in
    convolutional network" (arXiv:1505.00853), section 2.4.

    >>> import core.functions as F, numpy as np
    >>> F.rrelu(np.array([-2, 3], "f"), r=np.array([0.25, 0.25], "f"))
    variable([-0.5,  3. ], dtype=float32)
    """

@overload
def rrelu(
    x: Array,
    l: float = 0.125,
    u: float = 0.3333333333333333,
    *,
    r: Array | None = None,
    return_r: Literal[True],
) -> tuple[Variable, BackendArray]: ...
@overload
def rrelu(
    x: Array,
    l: float = 0.125,
    u: float = 0.3333333333333333,
    *,
    r: Array | None = None,
    return_r: bool,
) -> Variable | tuple[Variable, BackendArray]: ...
def sigmoid(x: Array) -> Variable:
    """Compute the logistic function of each element: 1 / (1 + exp(-x)).

    With s the result, the derivative is s (1 - s). Computed as exp(min(x, 0)) / (1 + exp(-|x|)) it
    cannot overflow, and far below 0 it is as precise as elsewhere: its logarithm is about x there.

    Args:
        x: Floating, of any shape.

    Returns:
        The shape and dtype of `x`, in [0, 1].

    Raises:
        InvalidType: `x` is not floating.

    >>> import core.functions as F, numpy as np
    >>> F.sigmoid(np.array([0, 100], "f"))
    variable([0.5, 1. ], dtype=float32)
    """

def softmax(x: Array, axis: int = 1) -> Variable:
    """Compute weights that sum to 1 along an axis: exp(x_i) / sum_j exp(x_j).

    With y the result, the gradient is y (g - sum g y).

    The greatest element is subtracted first, so that nothing overflows.

    Args:
        x: Floating, of any shape that has the axis.
        axis: The axis to sum over.

    Returns:
        The shape and dtype of `x`.

    Raises:
        InvalidType: `x` is not floating, or has no such axis.

    >>> import core.functions as F, numpy as np
    >>> F.softmax(np.array([[0, 0], [1000, 0]], "f"))
    variable([[0.5, 0.5],
              [1. , 0. ]], dtype=float32)
    """

def softplus(x: Array, beta: float = 1.0) -> Variable:
    """Apply a smooth rectifier, without overflow: log(1 + exp(beta * x)) / beta.

    The derivative is the sigmoid of beta x.

    Args:
        x: Floating, of any shape.
        beta: The greater, the nearer to `relu`.

    Returns:
        The shape and dtype of `x`.

    Raises:
        InvalidType: `x` is not floating.

    Source: Dugas et al. 2001, "Incorporating second-order functional knowledge for better option
    pricing".

    >>> import core.functions as F, numpy as np
    >>> F.softplus(np.array([0, 1000], "f"))
    variable([6.931472e-01, 1.000000e+03], dtype=float32)
    """

def silu(x: Array) -> Variable:
    """Weight each element by its own sigmoid: x / (1 + exp(-x)).

    With s the sigmoid of x, the derivative is s (1 + x (1 - s)).

    Args:
        x: Floating, of any shape.

    Returns:
        The shape and dtype of `x`.

    Raises:
        InvalidType: `x` is not floating.

    Source: Elfwing et al. 2018 (arXiv:1702.03118).

    >>> import core.functions as F, numpy as np
    >>> F.silu(np.array([-100, 0, 100], "f"))
    variable([ -0.,   0., 100.], dtype=float32)
    """

def tanh(x: Array) -> Variable:
    """Compute the hyperbolic tangent of each element.

    The derivative is 1 - tanh(x)^2.

    Args:
        x: Floating, of any shape.

    Returns:
        The shape and dtype of `x`, in [-1, 1].

    Raises:
        InvalidType: `x` is not floating.

    >>> import core.functions as F, numpy as np
    >>> F.tanh(np.array([0, 1], "f"))
    variable([0.       , 0.7615942], dtype=float32)
    """

def rollaxis(x: Array, axis: int, start: int = 0) -> Variable:
    """Move an axis to before another one.

    Args:
        x: Of any shape and dtype that has the axis.
        axis: The axis to move.
        start: The axis that it comes to stand before; the number of axes puts it last.

    Returns:
        The dtype of `x`.

    Raises:
        InvalidType: `x` has no such axis.

    >>> import core.functions as F, numpy as np
    >>> F.rollaxis(np.zeros((2, 3, 4), "f"), 2).shape
    (4, 2, 3)
    """

def swapaxes(x: Array, axis1: int, axis2: int) -> Variable:
    """Swap two axes.

    Args:
        x: Of any shape and dtype that has the axes.
        axis1: One axis.
        axis2: The other one.

    Returns:
        The dtype of `x`.

    Raises:
        InvalidType: `x` has no such axis.

    >>> import core.functions as F, numpy as np
    >>> F.swapaxes(np.zeros((2, 3, 4), "f"), 0, -1).shape
    (4, 3, 2)
    """

def depth2space(X: Array, r: int) -> Variable:
    """Turn channels into pixels: r² channels become a block of r x r pixels.

    Pixel (i, j) of each block of channel k comes from channel (i r + j) c + k, with c channels in
    the result. It is the shuffle of "Real-Time Single Image and Video Super-Resolution Using an
    Efficient Sub-Pixel Convolutional Neural Network" (Shi et al. 2016, eq. 4). PyTorch takes the
    channels in another order: `pixel_shuffle`.

    Args:
        X: (n, r² c, h, w), floating.
        r: The factor of height and width.

    Returns:
        (n, c, r h, r w), and the dtype of `X`.

    Raises:
        InvalidType: `r²` does not divide the channels, or `X` has no four axes.

    >>> import core.functions as F, numpy as np
    >>> F.depth2space(np.arange(4, dtype="f").reshape(1, 4, 1, 1), 2)
    variable([[[[0., 1.],
                [2., 3.]]]], dtype=float32)
    """

def space2depth(X: Array, r: int) -> Variable:
    """Turn pixels into channels: a block of r x r pixels becomes r² channels.

    It undoes `depth2space`.

    Args:
        X: (n, c, r h, r w), floating.
        r: The factor of height and width.

    Returns:
        (n, r² c, h, w), and the dtype of `X`.

    Raises:
        InvalidType: `r` does not divide height and width, or `X` has no four axes.

    >>> import core.functions as F, numpy as np
    >>> F.space2depth(np.arange(4, dtype="f").reshape(1, 1, 2, 2), 2).array.ravel()
    array([0., 1., 2., 3.], dtype=float32)
    """

def expand_dims(x: Array, axis: int) -> Variable:
    """Insert a new axis of length 1.

    Args:
        x: Of any shape and dtype.
        axis: Where the new axis comes to stand.

    Returns:
        The dtype of `x`.

    Raises:
        InvalidType: The axis is out of range.

    >>> import core.functions as F, numpy as np
    >>> F.expand_dims(np.zeros((2, 3), "f"), 1).shape
    (2, 1, 3)
    """

def im2col(
    x: Array,
    ksize: Pair,
    stride: Pair = 1,
    pad: Pair = 0,
    cover_all: bool = False,
    dilate: Pair = 1,
) -> Variable:
    """Arrange the windows of images as columns, as a convolution sees them.

    The gradient's columns are added up where they came from.

    Args:
        x: Images (n, c, h, w), floating.
        ksize: Height and width of a window, a pair or an int.
        stride: How far apart windows are, a pair or an int.
        pad: How many zeros go around the images, a pair or an int.
        cover_all: Whether the last windows reach every pixel.
        dilate: How far apart the pixels of a window are, a pair or an int.

    Returns:
        (n, c kh kw, out_h, out_w), and the dtype of `x`: channel by channel, then row by row, the
        pixels of the window at each place.

    Raises:
        InvalidType: `x` has no four axes, or is not floating.
        ValueError: Not one window fits.

    >>> import core.functions as F, numpy as np
    >>> x = np.arange(9, dtype="f").reshape(1, 1, 3, 3)
    >>> F.im2col(x, 2).array[0, :, 0, 1]
    array([1., 2., 4., 5.], dtype=float32)
    """

def resize_images(
    x: Array,
    output_shape: tuple[int, int],
    *,
    mode: str = "bilinear",
    align_corners: bool = True,
) -> Variable:
    """Resize images by bilinear interpolation, or by repeating and omitting pixels.

    Interpolated, a new pixel is made of its two neighbours along each axis, by how near they are;
    the gradient goes to these. Of other pixels none counts, so that an infinite one stays where it
    is. Otherwise pixels are taken by number.

    Args:
        x: Images (n, c, h, w), floating.
        output_shape: Height and width of the result.
        mode: 'bilinear', or 'nearest': the pixel under the corner of the new one.
        align_corners: Of bilinear interpolation: whether the middles of the corner pixels stay
            where they are, or the outer edges of the image.

    Returns:
        (n, c, *output_shape), and the dtype of `x`.

    Raises:
        InvalidType: `x` has no four axes, has no pixels, or is not floating.
        ValueError: There is no such mode, or a size is negative.

    >>> import core.functions as F, numpy as np
    >>> x = np.array([[[[0, 2]]]], "f")
    >>> F.resize_images(x, (1, 3))
    variable([[[[0., 1., 2.]]]], dtype=float32)
    >>> F.resize_images(x, (1, 4), align_corners=False)
    variable([[[[0. , 0.5, 1.5, 2. ]]]], dtype=float32)
    """

def select_item(x: Array, t: Array) -> Variable:
    """Select one element of each row by its index: x[i, t[i]].

    The gradient goes to these places.

    Args:
        x: Of any dtype, (n, k).
        t: Integers, (n,), each in [0, k).

    Returns:
        (n,), and the dtype of `x`.

    Raises:
        InvalidType: Shapes or dtypes do not fit.
        OutOfRange: An element of `t` is not in [0, k); where devices run ahead, under
            `core.config.debug`.

    >>> import core.functions as F, numpy as np
    >>> F.select_item(np.array([[1, 2], [3, 4]], "f"), np.array([1, 0]))
    variable([2., 3.], dtype=float32)
    """

def spatial_transformer_grid(theta: Array, output_shape: tuple[int, int]) -> Variable:
    """Map each pixel of the result to a place by an affine map (Jaderberg et al. 2015).

    The result is theta (u, v, 1)^T at every place (u, v) of an even grid (eq. 1).

    Args:
        theta: Affine maps (n, 2, 3), floating.
        output_shape: Height and width of the grid.

    Returns:
        (n, 2, *output_shape), and the dtype of `theta`: how far across, then how far down, each
        pixel is to be sampled, from -1 to 1.

    Raises:
        InvalidType: `theta` has another shape, or is not floating.

    >>> import core.functions as F, numpy as np
    >>> F.spatial_transformer_grid(np.array([[[1, 0, 0], [0, 1, 0.5]]], "f"), (1, 3))
    variable([[[[-1. ,  0. ,  1. ]],
    <BLANKLINE>
               [[-0.5, -0.5, -0.5]]]], dtype=float32)
    """

def spatial_transformer_sampler(x: Array, grid: Array) -> Variable:
    """Sample images at the places of a grid, bilinearly (Jaderberg et al. 2015, eq. 5).

    Each element lies between four pixels, with zeros outside the image (eq. 5 to 7). The image gets
    a border of zeros, and places beyond that are moved onto it. Rows of the border and the image
    are taken by number, so that the derivatives are takings and addings of rows.

    Args:
        x: Images (n, c, h, w), floating.
        grid: (n, 2, p, q), of the dtype of `x`: how far across, then how far down, from -1, the
            first pixel, to 1, the last one. Beyond them the images are 0.

    Returns:
        (n, c, p, q), and the dtype of `x`.

    Raises:
        InvalidType: Shapes or dtypes do not fit.

    >>> import core.functions as F, numpy as np
    >>> grid = np.array([[[[0.5, 3]], [[0, 0]]]], "f")
    >>> F.spatial_transformer_sampler(np.array([[[[1, 2, 3]]]], "f"), grid)
    variable([[[[2.5, 0. ]]]], dtype=float32)
    """

def squeeze(x: Array, axis: Axes = None) -> Variable:
    """Remove axes of length 1.

    Args:
        x: Of any shape and dtype.
        axis: An axis, or several, each of length 1; None takes all of that length.

    Returns:
        The dtype of `x`.

    Raises:
        InvalidType: `x` has no such axis, or one of another length.

    >>> import core.functions as F, numpy as np
    >>> F.squeeze(np.zeros((1, 2, 1), "f"), axis=0).shape
    (2, 1)
    """

def convolution_1d(
    x: Array,
    W: Array,
    b: Array | None = None,
    stride: Sizes = 1,
    pad: Sizes = 0,
    cover_all: bool = False,
    dilate: Sizes = 1,
    groups: int = 1,
) -> Variable:
    """Convolution (cross-correlation, as networks use the word) over one spatial axis.

    Each output is the sum of products of a window of `x` with a filter, plus a bias.

    Args:
        x: Floating, (n, c, l).
        W: Filters, (o, c / groups, k), floating.
        b: Biases, (o,), of the dtype of `x`, or None.
        stride: Distance of neighbouring windows, in a tuple or alone.
        pad: Zeros around the input, likewise.
        cover_all: Let the windows reach every element, padding the end further.
        dilate: Distance of neighbouring elements of a window, likewise.
        groups: Into how many independent parts input and output channels are divided.

    Returns:
        (n, o, l'), and the dtype of `x`. Each size becomes
        floor((size + 2 pad - dilate (k - 1) - 1) / stride) + 1, rounded up with `cover_all`.

    Raises:
        InvalidType: Ranks, channels or dtypes do not fit, or windows are larger than the padded
            input.

    >>> import core.functions as F, numpy as np
    >>> x, W = np.ones((1, 2, 5), "f"), np.ones((3, 2, 3), "f")
    >>> F.convolution_1d(x, W).shape
    (1, 3, 3)
    """

def convolution_2d(
    x: Array,
    W: Array,
    b: Array | None = None,
    stride: Sizes = 1,
    pad: Sizes = 0,
    cover_all: bool = False,
    *,
    dilate: Sizes = 1,
    groups: int = 1,
) -> Variable:
    """Convolution (cross-correlation, as networks use the word) over images.

    Each output is the sum of products of a window of `x` with a filter, plus a bias.

    Args:
        x: Floating, (n, c, h, w).
        W: Filters, (o, c / groups, kh, kw), floating.
        b: Biases, (o,), of the dtype of `x`, or None.
        stride: Distance of neighbouring windows, for each axis or for both.
        pad: Zeros around the input, likewise.
        cover_all: Let the windows reach every element, padding the end further.
        dilate: Distance of neighbouring elements of a window, likewise.
        groups: Into how many independent parts input and output channels are divided.

    Returns:
        (n, o, h', w'), and the dtype of `x`. Each size becomes
        floor((size + 2 pad - dilate (k - 1) - 1) / stride) + 1, rounded up with `cover_all`.

    Raises:
        InvalidType: Ranks, channels or dtypes do not fit, or windows are larger than the padded
            input.

    >>> import core.functions as F, numpy as np
    >>> x, W = np.ones((1, 2, 5, 5), "f"), np.ones((3, 2, 3, 3), "f")
    >>> F.convolution_2d(x, W).shape
    (1, 3, 3, 3)
    """

def convolution_3d(
    x: Array,
    W: Array,
    b: Array | None = None,
    stride: Sizes = 1,
    pad: Sizes = 0,
    cover_all: bool = False,
    dilate: Sizes = 1,
    groups: int = 1,
) -> Variable:
    """Convolution (cross-correlation, as networks use the word) over volumes.

    Each output is the sum of products of a window of `x` with a filter, plus a bias.

    Args:
        x: Floating, (n, c, d, h, w).
        W: Filters, (o, c / groups, kd, kh, kw), floating.
        b: Biases, (o,), of the dtype of `x`, or None.
        stride: Distance of neighbouring windows, for each axis or for all.
        pad: Zeros around the input, likewise.
        cover_all: Let the windows reach every element, padding the end further.
        dilate: Distance of neighbouring elements of a window, likewise.
        groups: Into how many independent parts input and output channels are divided.

    Returns:
        (n, o, d', h', w'), and the dtype of `x`. Each size becomes
        floor((size + 2 pad - dilate (k - 1) - 1) / stride) + 1, rounded up with `cover_all`.

    Raises:
        InvalidType: Ranks, channels or dtypes do not fit, or windows are larger than the padded
            input.

    >>> import core.functions as F, numpy as np
    >>> x, W = np.ones((1, 2, 5, 5, 5), "f"), np.ones((3, 2, 3, 3, 3), "f")
    >>> F.convolution_3d(x, W).shape
    (1, 3, 3, 3, 3)
    """

def convolution_nd(
    x: Array,
    W: Array,
    b: Array | None = None,
    stride: Sizes = 1,
    pad: Sizes = 0,
    cover_all: bool = False,
    dilate: Sizes = 1,
    groups: int = 1,
) -> Variable:
    """Convolution (cross-correlation, as networks use the word) over any number of spatial axes.

    Each output is the sum of products of a window of `x` with a filter, plus a bias.

    Args:
        x: Floating, (n, c, d_1, ..., d_N).
        W: Filters, (o, c / groups, k_1, ..., k_N), floating.
        b: Biases, (o,), of the dtype of `x`, or None.
        stride: Distance of neighbouring windows, for each axis or for all.
        pad: Zeros around the input, likewise.
        cover_all: Let the windows reach every element, padding the end further.
        dilate: Distance of neighbouring elements of a window, likewise.
        groups: Into how many independent parts input and output channels are divided.

    Returns:
        (n, o, e_1, ..., e_N), and the dtype of `x`. Each size becomes
        floor((size + 2 pad - dilate (k - 1) - 1) / stride) + 1, rounded up with `cover_all`.

    Raises:
        InvalidType: Ranks, channels or dtypes do not fit, or windows are larger than the padded
            input.

    >>> import core.functions as F, numpy as np
    >>> x, W = np.ones((1, 2, 5, 5, 5, 5), "f"), np.ones((3, 2, 3, 3, 3, 3), "f")
    >>> F.convolution_nd(x, W).shape
    (1, 3, 3, 3, 3, 3)
    """

def deconvolution_1d(
    x: Array,
    W: Array,
    b: Array | None = None,
    stride: Sizes = 1,
    pad: Widths = 0,
    outsize: Sizes | None = None,
    dilate: Sizes = 1,
    groups: int = 1,
) -> Variable:
    """Deconvolution over one spatial axis: each element spreads a filter over the output.

    The gradient of `convolution_1d` with respect to its input, seen as a function of its own.

    Args:
        x: Floating, (n, c, l).
        W: Filters, (c, o / groups, k), floating.
        b: Biases, (o,), of the dtype of `x`, or None.
        stride: How far apart neighbouring elements spread filters, in a tuple or alone.
        pad: How much is cut off each end of the output, likewise.
        outsize: Spatial sizes (l') of the output, None for the least. A convolution of
            an array of these sizes has to give (l); with a stride above 1 several do.
        dilate: Distance of neighbouring elements of a filter, as `stride`.
        groups: Into how many independent parts input and output channels are divided.

    Returns:
        (n, o, l'), and the dtype of `x`; by default each size becomes
        stride (size - 1) + dilate (k - 1) + 1 - 2 pad.

    Raises:
        InvalidType: Ranks, channels, dtypes or `outsize` do not fit.

    Source: Zeiler, Krishnan, Taylor and Fergus 2010, "Deconvolutional networks".

    >>> import core.functions as F, numpy as np
    >>> x, W = np.ones((1, 2, 4), "f"), np.ones((2, 3, 3), "f")
    >>> F.deconvolution_1d(x, W, stride=2, pad=1, outsize=8).shape
    (1, 3, 8)
    """

def deconvolution_2d(
    x: Array,
    W: Array,
    b: Array | None = None,
    stride: Sizes = 1,
    pad: Widths = 0,
    outsize: Sizes | None = None,
    *,
    dilate: Sizes = 1,
    groups: int = 1,
) -> Variable:
    """Deconvolution over images: each element spreads a filter over the output.

    The gradient of `convolution_2d` with respect to its input, seen as a function of its own.

    Args:
        x: Floating, (n, c, h, w).
        W: Filters, (c, o / groups, kh, kw), floating.
        b: Biases, (o,), of the dtype of `x`, or None.
        stride: How far apart neighbouring elements spread filters, for each axis or for both.
        pad: How much is cut off each end of the output, likewise.
        outsize: Spatial sizes (h', w') of the output, None for the least. A convolution of
            an array of these sizes has to give (h, w); with a stride above 1 several do.
        dilate: Distance of neighbouring elements of a filter, as `stride`.
        groups: Into how many independent parts input and output channels are divided.

    Returns:
        (n, o, h', w'), and the dtype of `x`; by default each size becomes
        stride (size - 1) + dilate (k - 1) + 1 - 2 pad.

    Raises:
        InvalidType: Ranks, channels, dtypes or `outsize` do not fit.

    Source: Zeiler, Krishnan, Taylor and Fergus 2010, "Deconvolutional networks".

    >>> import core.functions as F, numpy as np
    >>> x, W = np.ones((1, 2, 4, 4), "f"), np.ones((2, 3, 3, 3), "f")
    >>> F.deconvolution_2d(x, W, stride=2, pad=1, outsize=8).shape
    (1, 3, 8, 8)
    """

def deconvolution_3d(
    x: Array,
    W: Array,
    b: Array | None = None,
    stride: Sizes = 1,
    pad: Widths = 0,
    outsize: Sizes | None = None,
    dilate: Sizes = 1,
    groups: int = 1,
) -> Variable:
    """Deconvolution over volumes: each element spreads a filter over the output.

    The gradient of `convolution_3d` with respect to its input, seen as a function of its own.

    Args:
        x: Floating, (n, c, d, h, w).
        W: Filters, (c, o / groups, kd, kh, kw), floating.
        b: Biases, (o,), of the dtype of `x`, or None.
        stride: How far apart neighbouring elements spread filters, for each axis or for all.
        pad: How much is cut off each end of the output, likewise.
        outsize: Spatial sizes (d', h', w') of the output, None for the least. A convolution of
            an array of these sizes has to give (d, h, w); with a stride above 1 several do.
        dilate: Distance of neighbouring elements of a filter, as `stride`.
        groups: Into how many independent parts input and output channels are divided.

    Returns:
        (n, o, d', h', w'), and the dtype of `x`; by default each size becomes
        stride (size - 1) + dilate (k - 1) + 1 - 2 pad.

    Raises:
        InvalidType: Ranks, channels, dtypes or `outsize` do not fit.

    Source: Zeiler, Krishnan, Taylor and Fergus 2010, "Deconvolutional networks".

    >>> import core.functions as F, numpy as np
    >>> x, W = np.ones((1, 2, 4, 4, 4), "f"), np.ones((2, 3, 3, 3, 3), "f")
    >>> F.deconvolution_3d(x, W, stride=2, pad=1, outsize=8).shape
    (1, 3, 8, 8, 8)
    """

def deconvolution_nd(
    x: Array,
    W: Array,
    b: Array | None = None,
    stride: Sizes = 1,
    pad: Widths = 0,
    outsize: Sizes | None = None,
    dilate: Sizes = 1,
    groups: int = 1,
) -> Variable:
    """Deconvolution over any number of spatial axes: each element spreads a filter over the output.

    The gradient of `convolution_nd` with respect to its input, seen as a function of its own.

    Args:
        x: Floating, (n, c, d_1, ..., d_N).
        W: Filters, (c, o / groups, k_1, ..., k_N), floating.
        b: Biases, (o,), of the dtype of `x`, or None.
        stride: How far apart neighbouring elements spread filters, for each axis or for all.
        pad: How much is cut off each end of the output, likewise.
        outsize: Spatial sizes (e_1, ..., e_N) of the output, None for the least. A convolution of
            an array of these sizes has to give (d_1, ..., d_N); with a stride above 1 several do.
        dilate: Distance of neighbouring elements of a filter, as `stride`.
        groups: Into how many independent parts input and output channels are divided.

    Returns:
        (n, o, e_1, ..., e_N), and the dtype of `x`; by default each size becomes
        stride (size - 1) + dilate (k - 1) + 1 - 2 pad.

    Raises:
        InvalidType: Ranks, channels, dtypes or `outsize` do not fit.

    Source: Zeiler, Krishnan, Taylor and Fergus 2010, "Deconvolutional networks".

    >>> import core.functions as F, numpy as np
    >>> x, W = np.ones((1, 2, 4, 4, 4, 4), "f"), np.ones((2, 3, 3, 3, 3, 3), "f")
    >>> F.deconvolution_nd(x, W, stride=2, pad=1, outsize=8).shape
    (1, 3, 8, 8, 8, 8)
    """

def embed_id(x: Array, W: Array, ignore_label: int | None = None) -> Variable:
    """Look up rows of `W` by number.

    Args:
        x: Integers of any shape, each in [0, v) or equal to `ignore_label`.
        W: The table, (v, k), floating.
        ignore_label: A number whose row is zeros and gets no gradient, or None.

    Returns:
        The shape of `x` with an axis of length k added, in the dtype of `W`.

    Raises:
        InvalidType: `x` is not integral or `W` not a floating matrix.
        OutOfRange: A number has no row; where devices run ahead, under `core.config.debug`.

    >>> import core.functions as F, numpy as np
    >>> W = np.array([[0, 0], [1, 1], [2, 2]], "f")
    >>> F.embed_id(np.array([2, -1]), W, ignore_label=-1)
    variable([[2., 2.],
              [0., 0.]], dtype=float32)
    """

def binary_accuracy(y: Array, t: Array) -> Variable:
    """Compute the share of scores on the right side of 0; without gradient.

    Args:
        y: Scores, floating, of any shape; 0 and more mean the label 1.
        t: Integers of the shape of `y`: labels 0 and 1, or -1 for what does not count.

    Returns:
        No axes, the dtype of `y`; 0 where no score counts.

    Raises:
        InvalidType: Shapes or dtypes do not fit.

    >>> import core.functions as F, numpy as np
    >>> F.binary_accuracy(np.array([2, -1, 3], "f"), np.array([1, 1, -1]))
    variable(0.5, dtype=float32)
    """

def absolute_error(x0: Array, x1: Array) -> Variable:
    """Compute the absolute difference of each two elements: |x0 - x1|.

    The derivatives are the sign of x0 - x1 and its negative.

    The derivative where both are equal is taken as 0.

    Args:
        x0: Floating, of any shape.
        x1: Of the shape and dtype of `x0`.

    Returns:
        The shape and dtype of `x0`.

    Raises:
        InvalidType: Shapes or dtypes do not fit.

    >>> import core.functions as F, numpy as np
    >>> F.absolute_error(np.array([1, 5], "f"), np.array([3, 5], "f"))
    variable([2., 0.], dtype=float32)
    """

def cross_covariance(y: Array, z: Array, reduce: str = "half_squared_sum") -> Variable:
    """Measure the covariance of the features of `y` and `z`: ½ Σᵢⱼ (1/n Σₙ (yᵢ - ȳᵢ)(zⱼ - z̄ⱼ))².

    C = Y^T Z / n of centered Y and Z, or half the sum of its squares. With G the gradient of C the
    derivatives are Z G^T / n and Y G / n, of the centered ones.

    Args:
        y: Features, (n, k), floating.
        z: Other features of the same examples, (n, m), of the dtype of `y`.
        reduce: 'half_squared_sum', or 'no' for the cross-covariance matrix itself.

    Returns:
        No axes, or (k, m) with `reduce='no'`, and the dtype of `y`.

    Raises:
        InvalidType: Shapes or dtypes do not fit.
        ValueError: `reduce` is unknown.

    Source: Cheung, Livezey, Bansal and Olshausen 2014 (arXiv:1412.6583), equation 6.

    >>> import core.functions as F, numpy as np
    >>> y = np.array([[1], [-1]], "f")
    >>> F.cross_covariance(y, 2 * y)
    variable(2., dtype=float32)
    """

def decov(h: Array, reduce: str = "half_squared_sum") -> Variable:
    """Measure how much features vary together: half the sum of their squared covariances.

    C = H^T H / n of centered H, or half the sum of its squares. With G the gradient of C, its
    diagonal zero, the derivative is H (G + G^T) / n.

    Variances do not count: the diagonal of the covariance matrix is set to zero.

    Args:
        h: Features, (n, k), floating.
        reduce: 'half_squared_sum', or 'no' for the matrix of covariances.

    Returns:
        No axes, or (k, k) with `reduce='no'`, and the dtype of `h`.

    Raises:
        InvalidType: `h` is not a floating matrix.
        ValueError: `reduce` is unknown.

    Source: Cogswell, Ahmed, Girshick, Zitnick and Batra 2015 (arXiv:1511.06068), equation 2.

    >>> import core.functions as F, numpy as np
    >>> F.decov(np.array([[1, 2], [-1, -2]], "f"), reduce="no")
    variable([[0., 2.],
              [2., 0.]], dtype=float32)
    """

def hinge(x: Array, t: Array, norm: str = "L1", reduce: str = "mean") -> Variable:
    """Compute the one-against-rest hinge loss: max(0, 1 - x) at the label, max(0, 1 + x) elsewhere.

    It is m = max(0, 1 + s x), or its square, with s = -1 at the label and 1 elsewhere.

    The derivative at the hinge is taken as 0.

    Args:
        x: Scores, (n, classes), floating.
        t: Labels, (n,), integers in [0, classes).
        norm: 'L1', or 'L2' for squares.
        reduce: 'mean' for the sum over the classes, averaged over the examples; or 'no' for the
            loss of each score.

    Returns:
        No axes, or the shape of `x` with `reduce='no'`, and its dtype.

    Raises:
        InvalidType: Shapes or dtypes do not fit.
        OutOfRange: A label is not a class; where devices run ahead, under `core.config.debug`.
        ValueError: A setting is unknown.

    >>> import core.functions as F, numpy as np
    >>> F.hinge(np.array([[2, -3], [0.5, 0.5]], "f"), np.array([0, 0]))
    variable(1., dtype=float32)
    """

def huber_loss(x: Array, t: Array, delta: float, reduce: str = "sum_along_second_axis") -> Variable:
    """Compute the Huber loss: half the squared difference up to `delta`, and linear beyond.

    With d = x - t it is d^2 / 2 for |d| < delta, otherwise delta (|d| - delta / 2). The derivative
    is d, cut off at -delta and delta.

    Args:
        x: Floating, of any shape; at least two axes unless `reduce` is 'no'.
        t: Of the shape and dtype of `x`.
        delta: Where the square ends, greater than 0.
        reduce: 'sum_along_second_axis', or 'no' for the loss of each element.

    Returns:
        The shape of `x`, without axis 1 where it is summed over, and its dtype.

    Raises:
        InvalidType: Shapes or dtypes do not fit.
        ValueError: `reduce` is unknown.

    Source: Huber 1964, "Robust estimation of a location parameter".

    >>> import core.functions as F, numpy as np
    >>> F.huber_loss(np.array([[1, 5]], "f"), np.zeros((1, 2), "f"), delta=2)
    variable([8.5], dtype=float32)
    """

def mean_absolute_error(x0: Array, x1: Array) -> Variable:
    """Average the absolute differences of all elements.

    The derivatives are the sign of x0 - x1, divided by n, and its negative.

    The derivative where two elements are equal is taken as 0.

    Args:
        x0: Floating, of any shape. Floats of 16 bits are summed in float32.
        x1: Of the shape and dtype of `x0`.

    Returns:
        No axes, the dtype of `x0`; 0 where there is no element.

    Raises:
        InvalidType: Shapes or dtypes do not fit.

    >>> import core.functions as F, numpy as np
    >>> F.mean_absolute_error(np.array([1, 5], "f"), np.array([3, 5], "f"))
    variable(1., dtype=float32)
    """

def mean_squared_error(x0: Array, x1: Array) -> Variable:
    """Average the squared differences of all elements.

    The derivatives are 2 (x0 - x1) / n and its negative.

    Args:
        x0: Floating, of any shape. Floats of 16 bits are summed in float32.
        x1: Of the shape and dtype of `x0`.

    Returns:
        No axes, the dtype of `x0`; 0 where there is no element.

    Raises:
        InvalidType: Shapes or dtypes do not fit.

    >>> import core.functions as F, numpy as np
    >>> F.mean_squared_error(np.array([1, 5], "f"), np.array([3, 5], "f"))
    variable(2., dtype=float32)
    """

def squared_error(x0: Array, x1: Array) -> Variable:
    """Compute the squared difference of each two elements: (x0 - x1)².

    The derivatives are 2 (x0 - x1) and its negative.

    Args:
        x0: Floating, of any shape.
        x1: Of the shape and dtype of `x0`.

    Returns:
        The shape and dtype of `x0`.

    Raises:
        InvalidType: Shapes or dtypes do not fit.

    >>> import core.functions as F, numpy as np
    >>> F.squared_error(np.array([1, 5], "f"), np.array([3, 5], "f"))
    variable([4., 0.], dtype=float32)
    """

def argmax(x: Array, axis: int | None = None) -> Variable:
    """Find the index of the greatest element, the first one of equals; without gradient.

    Args:
        x: Floating, of any shape.
        axis: The axis to search along; None searches the flattened array.

    Returns:
        int32, the shape of `x` without the axis; int64 for an axis of more than 2^31 elements.

    Raises:
        InvalidType: `x` has no such axis, or has no element along it.

    >>> import core.functions as F, numpy as np
    >>> F.argmax(np.array([[1, 2], [4, 3]], "f"), axis=1)
    variable([1, 0], dtype=int32)
    """

def argmin(x: Array, axis: int | None = None) -> Variable:
    """Find the index of the least element, the first one of equals; without gradient.

    Args:
        x: Floating, of any shape.
        axis: The axis to search along; None searches the flattened array.

    Returns:
        int32, the shape of `x` without the axis; int64 for an axis of more than 2^31 elements.

    Raises:
        InvalidType: `x` has no such axis, or has no element along it.

    >>> import core.functions as F, numpy as np
    >>> F.argmin(np.array([[1, 2], [4, 3]], "f"), axis=1)
    variable([0, 1], dtype=int32)
    """

def cholesky(a: Array) -> Variable:
    """Factorize a positive definite matrix: return the lower triangular L with L L^T = a.

    With P the lower triangle of L^T g, its diagonal halved, the gradient is the symmetric part of
    L^-T P L^-1 (Murray, "Differentiation of the Cholesky decomposition", 2016, eq. 9 and 10).

    A matrix that is not symmetric counts as its symmetric part, and so does the gradient.

    Args:
        a: (n, n), floating, symmetric and positive definite. Floats of 16 bits are computed in
            float32.

    Returns:
        (n, n), and the dtype of `a`; zeros above the diagonal.

    Raises:
        InvalidType: `a` is not a square matrix, or not floating.
        numpy.linalg.LinAlgError: On NumPy: `a` is not positive definite.

    >>> import core.functions as F, numpy as np
    >>> F.cholesky(np.array([[4, 2], [2, 5]], "f"))
    variable([[2., 0.],
              [1., 2.]], dtype=float32)
    """

def cumprod(x: Array, axis: int | None = None) -> Variable:
    """Multiply each element and those before it along an axis.

    An element's gradient is the product of those before it times r_i = g_i + x_(i+1) r_(i+1): no
    division, so it is right where there are zeros.

    Args:
        x: Of any shape, floating or of integers. Floats of 16 bits are multiplied in float32.
        axis: The axis; None multiplies along the flattened array.

    Returns:
        The dtype of `x`; its shape, or one axis without `axis`.

    Raises:
        InvalidType: `x` has no such axis, or is not of real numbers.
        TypeError: `axis` is neither None nor an int.

    >>> import core.functions as F, numpy as np
    >>> F.cumprod(np.array([[1, 2], [3, 4]], "f"))
    variable([ 1.,  2.,  6., 24.], dtype=float32)
    """

def cumsum(x: Array, axis: int | None = None) -> Variable:
    """Sum each element and those before it along an axis.

    The gradient is summed from the other end.

    Args:
        x: Of any shape, floating or of integers. Floats of 16 bits are summed in float32.
        axis: The axis; None sums along the flattened array.

    Returns:
        The dtype of `x`; its shape, or one axis without `axis`.

    Raises:
        InvalidType: `x` has no such axis, or is not of real numbers.
        TypeError: `axis` is neither None nor an int.

    >>> import core.functions as F, numpy as np
    >>> F.cumsum(np.array([[1, 2], [3, 4]], "f"), axis=0)
    variable([[1., 2.],
              [4., 6.]], dtype=float32)
    """

def logcumsumexp(x: Array, axis: int | None = None) -> Variable:
    """Compute the logarithm of the running sum of exponentials along an axis, without overflow.

    With y the result, the gradient at i is the sum of g_j exp(x_i - y_j) over j from i on, of which
    no exponential is greater than 1.

    Args:
        x: Floating, of any shape.
        axis: The axis; None sums along the flattened array.

    Returns:
        The dtype of `x`; its shape, or one axis without `axis`. -inf as long as all elements are.

    Raises:
        InvalidType: `x` has no such axis.
        TypeError: `axis` is neither None nor an int.

    >>> import core.functions as F, numpy as np
    >>> F.logcumsumexp(np.array([[-1000, -1000], [1000, 0]], "f"), axis=1)
    variable([[-1000.    ,  -999.3069],
              [ 1000.    ,  1000.    ]], dtype=float32)
    """

def batch_det(a: Array) -> Variable:
    """Compute the determinants of a batch of matrices.

    With y the determinant, the gradient is g y a^-T, which is there where y is 0, too: it has the
    cofactors of `a` (on CUDA NaN). So is the second one; from the third on `a` needs an inverse.

    Args:
        a: (batch, n, n), floating. Floats of 16 bits are computed in float32.

    Returns:
        (batch,), and the dtype of `a`.

    Raises:
        InvalidType: `a` is not a batch of square matrices, or not floating.

    >>> import core.functions as F, numpy as np
    >>> F.batch_det(np.array([[[2]], [[4]]], "f"))
    variable([2., 4.], dtype=float32)
    """

def erf(x: Array) -> Variable:
    """Compute the error function of each element: 2/√π times the integral of exp(-t²) from 0 to x.

    The derivative is 2 exp(-x^2) / √π.

    Args:
        x: Floating, of any shape.

    Returns:
        The shape and dtype of `x`, in [-1, 1].

    Raises:
        InvalidType: `x` is not floating.

    >>> import core.functions as F, numpy as np
    >>> F.erf(np.array([0, 9], "f"))
    variable([0., 1.], dtype=float32)
    """

def erfc(x: Array) -> Variable:
    """Compute the complementary error function, 1 - erf(x), precise also where it is small.

    The derivative is -2 exp(-x^2) / √π.

    Args:
        x: Floating, of any shape.

    Returns:
        The shape and dtype of `x`, in [0, 2].

    Raises:
        InvalidType: `x` is not floating.

    >>> import core.functions as F, numpy as np
    >>> F.erfc(np.array([-9, 0, 5], "d"))
    variable([2.00000000e+00, 1.00000000e+00, 1.53745979e-12])
    """

def erfcx(x: Array) -> Variable:
    """Compute the scaled complementary error function of each element: exp(x²) (1 - erf(x)).

    With y the result, the derivative is 2 x y - 2 / √π, computed without this difference for x > 0.

    Args:
        x: Floating, of any shape.

    Returns:
        The shape and dtype of `x`, positive; about 1 / (x √π) for large x.

    Raises:
        InvalidType: `x` is not floating.

    >>> import core.functions as F, numpy as np
    >>> F.erfcx(np.array([0, 1e6], "d"))
    variable([1.00000000e+00, 5.64189584e-07])
    """

def erfcinv(x: Array) -> Variable:
    """Compute the inverse of the complementary error function: the y with erfc(y) = x.

    With y the result, the derivative is -√π/2 exp(y^2).

    Args:
        x: Floating, of any shape, in [0, 2].

    Returns:
        The shape and dtype of `x`; infinite at 0 and 2, NaN beyond.

    Raises:
        InvalidType: `x` is not floating.

    >>> import core.functions as F, numpy as np
    >>> F.erfcinv(np.array([1e-300, 1, 2], "d"))
    variable([26.20946996,  0.        ,        -inf])
    """

def erfinv(x: Array) -> Variable:
    """Compute the inverse of the error function for each element: the y with erf(y) = x.

    With y the result, the derivative is √π/2 exp(y^2).

    Args:
        x: Floating, of any shape, in [-1, 1].

    Returns:
        The shape and dtype of `x`; infinite at -1 and 1, NaN beyond.

    Raises:
        InvalidType: `x` is not floating.

    >>> import core.functions as F, numpy as np
    >>> F.erfinv(np.array([0, 0.5, 1], "f"))
    variable([0.        , 0.47693625,        inf], dtype=float32)
    """

def exp(x: Array) -> Variable:
    """Compute the exponential function of each element.

    It is its own derivative.

    Args:
        x: Floating, of any shape.

    Returns:
        The shape and dtype of `x`.

    Raises:
        InvalidType: `x` is not floating.

    >>> import core.functions as F, numpy as np
    >>> F.exp(np.array([0, 1], "f"))
    variable([1.      , 2.718282], dtype=float32)
    """

def expm1(x: Array) -> Variable:
    """Compute exp(x) - 1 of each element, precise also near 0.

    The derivative is exp(x).

    Args:
        x: Floating, of any shape.

    Returns:
        The shape and dtype of `x`.

    Raises:
        InvalidType: `x` is not floating.

    >>> import core.functions as F, numpy as np
    >>> F.expm1(np.array([0, 1e-6], "f"))
    variable([0.0000000e+00, 1.0000005e-06], dtype=float32)
    """

def max(x: Array, axis: Axes = None, keepdims: bool = False) -> Variable:
    """Find the greatest element over axes; NaN if there is one.

    Each of several equal maxima gets the whole gradient.

    Args:
        x: Floating, of any shape.
        axis: None for all axes, an int, or several.
        keepdims: Whether the axes stay, with length 1.

    Returns:
        The dtype of `x`.

    Raises:
        InvalidType: `x` has no such axis, or has no element along it.
        ValueError: An axis comes twice.

    >>> import core.functions as F, numpy as np
    >>> F.max(np.array([[1, 2], [4, 3]], "f"), axis=1)
    variable([2., 4.], dtype=float32)
    """

def min(x: Array, axis: Axes = None, keepdims: bool = False) -> Variable:
    """Find the least element over axes; NaN if there is one.

    Each of several equal minima gets the whole gradient.

    Args:
        x: Floating, of any shape.
        axis: None for all axes, an int, or several.
        keepdims: Whether the axes stay, with length 1.

    Returns:
        The dtype of `x`.

    Raises:
        InvalidType: `x` has no such axis, or has no element along it.
        ValueError: An axis comes twice.

    >>> import core.functions as F, numpy as np
    >>> F.min(np.array([[1, 2], [4, 3]], "f"), axis=1)
    variable([1., 3.], dtype=float32)
    """

def fmod(x: Operand, divisor: Operand) -> Variable:
    """Compute the remainder of the division of each element, with the sign of `x`, as C's fmod.

    It is x - n y with n = x / y cut off at the point; the derivatives are 1 and -n.

    Args:
        x: Floating, of any shape.
        divisor: Of the dtype of `x`, and a shape that broadcasts; a number will do.

    Returns:
        The common shape, and the dtype of `x`.

    Raises:
        InvalidType: Shapes or dtypes do not fit.

    >>> import core.functions as F, numpy as np
    >>> F.fmod(np.array([-7, 7], "f"), 3)
    variable([-1.,  1.], dtype=float32)
    """

def digamma(x: Array) -> Variable:
    """Compute the derivative of the gamma function's logarithm for each element.

    The derivative is the sum of 1 / (x + k)^2 over k = 0, 1, 2, ...

    Args:
        x: Floating, of any shape.

    Returns:
        The shape and dtype of `x`; NaN at -1, -2, ..., and infinite at 0, with the other sign.

    Raises:
        InvalidType: `x` is not floating.

    >>> import core.functions as F, numpy as np
    >>> F.digamma(np.array([1, 0.5], "d"))
    variable([-0.57721566, -1.96351003])
    """

def lgamma(x: Array) -> Variable:
    """Compute the logarithm of the gamma function's magnitude, log |Γ(x)|, for each element.

    The derivative is digamma.

    Args:
        x: Floating, of any shape.

    Returns:
        The shape and dtype of `x`; infinite at 0, -1, -2, ..., and at both infinities.

    Raises:
        InvalidType: `x` is not floating.

    >>> import core.functions as F, numpy as np
    >>> F.lgamma(np.array([5, -0.5], "d"))
    variable([3.17805383, 1.26551212])
    """

def arccosh(x: Array) -> Variable:
    """Compute the inverse hyperbolic cosine of each element.

    The derivative is 1 / sqrt(x^2 - 1).

    Args:
        x: Floating, of any shape, at least 1.

    Returns:
        The shape and dtype of `x`; NaN below 1.

    Raises:
        InvalidType: `x` is not floating.

    >>> import core.functions as F, numpy as np
    >>> F.arccosh(np.array([1, 2], "f"))
    variable([0.      , 1.316958], dtype=float32)
    """

def arcsinh(x: Array) -> Variable:
    """Compute the inverse hyperbolic sine of each element.

    The derivative is 1 / sqrt(x^2 + 1).

    Args:
        x: Floating, of any shape.

    Returns:
        The shape and dtype of `x`.

    Raises:
        InvalidType: `x` is not floating.

    >>> import core.functions as F, numpy as np
    >>> F.arcsinh(np.array([0, 1], "f"))
    variable([0.       , 0.8813736], dtype=float32)
    """

def arctanh(x: Array) -> Variable:
    """Compute the inverse hyperbolic tangent of each element.

    The derivative is 1 / (1 - x^2).

    Args:
        x: Floating, of any shape, in [-1, 1].

    Returns:
        The shape and dtype of `x`; infinite at -1 and 1, NaN beyond.

    Raises:
        InvalidType: `x` is not floating.

    >>> import core.functions as F, numpy as np
    >>> F.arctanh(np.array([0, 0.5], "f"))
    variable([0.        , 0.54930615], dtype=float32)
    """

def cosh(x: Array) -> Variable:
    """Compute the hyperbolic cosine of each element.

    The derivative is sinh(x).

    Args:
        x: Floating, of any shape.

    Returns:
        The shape and dtype of `x`.

    Raises:
        InvalidType: `x` is not floating.

    >>> import core.functions as F, numpy as np
    >>> F.cosh(np.array([0, 1], "f"))
    variable([1.       , 1.5430807], dtype=float32)
    """

def sinh(x: Array) -> Variable:
    """Compute the hyperbolic sine of each element.

    The derivative is cosh(x).

    Args:
        x: Floating, of any shape.

    Returns:
        The shape and dtype of `x`.

    Raises:
        InvalidType: `x` is not floating.

    >>> import core.functions as F, numpy as np
    >>> F.sinh(np.array([0, 1], "f"))
    variable([0.       , 1.1752012], dtype=float32)
    """

def batch_inv(a: Array) -> Variable:
    """Compute the inverses of a batch of matrices.

    Args:
        a: (batch, n, n), floating. Floats of 16 bits are computed in float32.

    Returns:
        (batch, n, n), and the dtype of `a`.

    Raises:
        InvalidType: `a` is not a batch of square matrices, or not floating.
        numpy.linalg.LinAlgError: On NumPy: a matrix has no inverse.

    >>> import core.functions as F, numpy as np
    >>> F.batch_inv(np.array([[[2]], [[4]]], "f"))
    variable([[[0.5 ]],
    <BLANKLINE>
              [[0.25]]], dtype=float32)
    """

def inv(a: Array) -> Variable:
    """Compute the inverse of a matrix.

    With y the result, the gradient is -y^T g y^T.

    Args:
        a: (n, n), floating. Floats of 16 bits are computed in float32.

    Returns:
        (n, n), and the dtype of `a`.

    Raises:
        InvalidType: `a` is not a square matrix, or not floating.
        numpy.linalg.LinAlgError: On NumPy: `a` has no inverse.

    >>> import core.functions as F, numpy as np
    >>> F.inv(np.array([[2, 0], [0, 4]], "f"))
    variable([[0.5 , 0.  ],
              [0.  , 0.25]], dtype=float32)
    """

def log(x: Array) -> Variable:
    """Compute the natural logarithm of each element.

    The derivative is 1 / x.

    Args:
        x: Floating, of any shape, positive.

    Returns:
        The shape and dtype of `x`; -inf for 0, NaN below.

    Raises:
        InvalidType: `x` is not floating.

    >>> import core.functions as F, numpy as np
    >>> F.log(np.array([1, 0.5], "f"))
    variable([ 0.       , -0.6931472], dtype=float32)
    """

def log10(x: Array) -> Variable:
    """Compute the logarithm to base 10 of each element.

    The derivative is 1 / (x log 10).

    Args:
        x: Floating, of any shape, positive.

    Returns:
        The shape and dtype of `x`; -inf for 0, NaN below.

    Raises:
        InvalidType: `x` is not floating.

    >>> import core.functions as F, numpy as np
    >>> F.log10(np.array([1, 100], "f"))
    variable([0.       , 2.0000002], dtype=float32)
    """

def log1p(x: Array) -> Variable:
    """Compute log(1 + x) of each element, precise also near 0.

    The derivative is 1 / (1 + x).

    Args:
        x: Floating, of any shape, greater than -1.

    Returns:
        The shape and dtype of `x`; -inf for -1, NaN below.

    Raises:
        InvalidType: `x` is not floating.

    >>> import core.functions as F, numpy as np
    >>> F.log1p(np.array([0, 1e-6], "f"))
    variable([0.000000e+00, 9.999995e-07], dtype=float32)
    """

def log2(x: Array) -> Variable:
    """Compute the logarithm to base 2 of each element.

    The derivative is 1 / (x log 2).

    Args:
        x: Floating, of any shape, positive.

    Returns:
        The shape and dtype of `x`; -inf for 0, NaN below.

    Raises:
        InvalidType: `x` is not floating.

    >>> import core.functions as F, numpy as np
    >>> F.log2(np.array([1, 8], "f"))
    variable([0., 3.], dtype=float32)
    """

def logsumexp(x: Array, axis: Axes = None, *, keepdims: bool = False) -> Variable:
    """Compute the logarithm of the sum of exponentials over axes, without overflow.

    With y the result, the gradient is that of the softmax: g exp(x - y).

    Args:
        x: Floating, of any shape.
        axis: None for all axes, an int, or several.
        keepdims: Whether the axes stay, with length 1.

    Returns:
        The dtype of `x`; -inf where all elements are.

    Raises:
        InvalidType: `x` has no such axis, or has no element along it.
        ValueError: An axis comes twice.

    >>> import core.functions as F, numpy as np
    >>> F.logsumexp(np.array([[1000, -1000], [0, 0]], "f"), axis=1)
    variable([1.000000e+03, 6.931472e-01], dtype=float32)
    """

def maximum(x1: Operand, x2: Operand) -> Variable:
    """Take the greater of two elements; NaN if one is NaN.

    Where both are equal, `x1` gets the gradient.

    Args:
        x1: Floating, of any shape.
        x2: Of the dtype of `x1`, and a shape that broadcasts. One of the two may be a number.

    Returns:
        The common shape and dtype.

    Raises:
        InvalidType: Shapes or dtypes do not fit.

    >>> import core.functions as F, numpy as np
    >>> F.maximum(np.array([1, 5], "f"), np.array([3, 4], "f"))
    variable([3., 5.], dtype=float32)
    """

def minimum(x1: Operand, x2: Operand) -> Variable:
    """Take the lesser of two elements; NaN if one is NaN.

    Where both are equal, `x1` gets the gradient.

    Args:
        x1: Floating, of any shape.
        x2: Of the dtype of `x1`, and a shape that broadcasts. One of the two may be a number.

    Returns:
        The common shape and dtype.

    Raises:
        InvalidType: Shapes or dtypes do not fit.

    >>> import core.functions as F, numpy as np
    >>> F.minimum(np.array([1, 5], "f"), np.array([3, 4], "f"))
    variable([1., 4.], dtype=float32)
    """

def log_ndtr(x: Array) -> Variable:
    """Compute the logarithm of the normal distribution function, finite far below 0 as well.

    The derivative is the density over ndtr, in the form that fits x.

    Args:
        x: Floating, of any shape.

    Returns:
        The shape and dtype of `x`, not positive.

    Raises:
        InvalidType: `x` is not floating.

    >>> import core.functions as F, numpy as np
    >>> F.log_ndtr(np.array([-1000, 0], "d"))
    variable([-5.00007827e+05, -6.93147181e-01])
    """

def ndtr(x: Array) -> Variable:
    """Compute the standard normal distribution function of each element: the probability below x.

    The derivative is the normal density exp(-x^2/2) / √(2π).

    Args:
        x: Floating, of any shape.

    Returns:
        The shape and dtype of `x`, in [0, 1].

    Raises:
        InvalidType: `x` is not floating.

    >>> import core.functions as F, numpy as np
    >>> F.ndtr(np.array([-1, 0, 9], "f"))
    variable([0.15865526, 0.5       , 1.        ], dtype=float32)
    """

def ndtri(x: Array) -> Variable:
    """Compute the inverse of the standard normal distribution function, also called probit.

    With y the result, the derivative is √(2π) exp(y^2/2).

    Args:
        x: Floating, of any shape, in [0, 1].

    Returns:
        The shape and dtype of `x`; infinite at 0 and 1, NaN beyond.

    Raises:
        InvalidType: `x` is not floating.

    >>> import core.functions as F, numpy as np
    >>> F.ndtri(np.array([0.025, 0.5], "d"))
    variable([-1.95996398, -0.        ])
    """

def batch_l2_norm_squared(x: Array) -> Variable:
    """Compute the squared Euclidean length of each example.

    It is the sum of squares over all axes but the first; the gradient is 2 g x.

    Args:
        x: Floating, (batch, n, ...). Floats of 16 bits are summed in float32.

    Returns:
        (batch,), and the dtype of `x`.

    Raises:
        InvalidType: `x` is not floating, or has less than two axes.

    >>> import core.functions as F, numpy as np
    >>> F.batch_l2_norm_squared(np.array([[3, 4], [0, 1]], "f"))
    variable([25.,  1.], dtype=float32)
    """

def prod(x: Array, axis: Axes = None, keepdims: bool = False) -> Variable:
    """Multiply over axes; the gradient is also right where elements are 0.

    Each element's derivative is the product of the others.

    Args:
        x: Floating, of any shape. Floats of 16 bits are multiplied in float32.
        axis: None for all axes, an int, or several.
        keepdims: Whether the axes stay, with length 1.

    Returns:
        The dtype of `x`.

    Raises:
        InvalidType: `x` has no such axis.
        ValueError: An axis comes twice.

    >>> import core.functions as F, numpy as np
    >>> F.prod(np.array([[1, 2], [3, 4]], "f"), axis=1)
    variable([ 2., 12.], dtype=float32)
    """

def rsqrt(x: Array) -> Variable:
    """Compute the reciprocal of the square root of each element: 1 / sqrt(x).

    With y the result, the derivative is -y^3 / 2.

    Args:
        x: Floating, of any shape, positive.

    Returns:
        The shape and dtype of `x`; infinite at 0, NaN below.

    Raises:
        InvalidType: `x` is not floating.

    >>> import core.functions as F, numpy as np
    >>> F.rsqrt(np.array([4, 0.25], "f"))
    variable([0.5, 2. ], dtype=float32)
    """

def sqrt(x: Array) -> Variable:
    """Compute the square root of each element.

    The derivative at 0 is infinite. The derivative is 1 / (2 sqrt(x)).

    Args:
        x: Floating, of any shape, not negative.

    Returns:
        The shape and dtype of `x`; NaN below 0.

    Raises:
        InvalidType: `x` is not floating.

    >>> import core.functions as F, numpy as np
    >>> F.sqrt(np.array([4, 9], "f"))
    variable([2., 3.], dtype=float32)
    """

def square(x: Array) -> Variable:
    """Square each element.

    The derivative is 2 x.

    Args:
        x: Floating, of any shape.

    Returns:
        The shape and dtype of `x`.

    Raises:
        InvalidType: `x` is not floating.

    >>> import core.functions as F, numpy as np
    >>> F.square(np.array([-2, 3], "f"))
    variable([4., 9.], dtype=float32)
    """

def ceil(x: Array) -> Variable:
    """Round each element up. The derivative is 0.

    Args:
        x: Floating, of any shape.

    Returns:
        The shape and dtype of `x`.

    Raises:
        InvalidType: `x` is not floating.

    >>> import core.functions as F, numpy as np
    >>> F.ceil(np.array([-1.5, 1.5], "f"))
    variable([-1.,  2.], dtype=float32)
    """

def fix(x: Array) -> Variable:
    """Round each element towards 0. The derivative is 0.

    Args:
        x: Floating, of any shape.

    Returns:
        The shape and dtype of `x`.

    Raises:
        InvalidType: `x` is not floating.

    >>> import core.functions as F, numpy as np
    >>> F.fix(np.array([-1.5, 1.5], "f"))
    variable([-1.,  1.], dtype=float32)
    """

def floor(x: Array) -> Variable:
    """Round each element down. The derivative is 0.

    Args:
        x: Floating, of any shape.

    Returns:
        The shape and dtype of `x`.

    Raises:
        InvalidType: `x` is not floating.

    >>> import core.functions as F, numpy as np
    >>> F.floor(np.array([-1.5, 1.5], "f"))
    variable([-2.,  1.], dtype=float32)
    """

def segment_max(x: Array, segments: Array, count: int, empty: float = 0.0) -> Variable:
    """Find the greatest element of each segment of rows; NaN if there is one.

    Each of several equal maxima gets the whole gradient.

    Args:
        x: Floating, (n, ...).
        segments: Integers, (n,), each in [0, count): the segment of each row, in any order.
        count: How many segments there are.
        empty: What a segment without rows gets.

    Returns:
        (count, ...), and the dtype of `x`.

    Raises:
        InvalidType: Shapes or dtypes do not fit.
        OutOfRange: A number is none of a segment; where devices run ahead, under
            `core.config.debug`.
        ValueError: `count` is negative.

    >>> import core.functions as F, numpy as np
    >>> F.segment_max(np.array([1, 2, 4], "f"), np.array([0, 2, 0]), 3)
    variable([4., 0., 2.], dtype=float32)
    """

def segment_mean(x: Array, segments: Array, count: int) -> Variable:
    """Average the rows of each segment.

    Args:
        x: Floating, (n, ...). Floats of 16 bits are summed in float32.
        segments: Integers, (n,), each in [0, count): the segment of each row, in any order.
        count: How many segments there are, which may have no rows.

    Returns:
        (count, ...), and the dtype of `x`; 0 for a segment without rows.

    Raises:
        InvalidType: Shapes or dtypes do not fit.
        OutOfRange: A number is none of a segment; where devices run ahead, under
            `core.config.debug`.
        ValueError: `count` is negative.

    >>> import core.functions as F, numpy as np
    >>> F.segment_mean(np.array([1, 2, 4], "f"), np.array([0, 2, 0]), 3)
    variable([2.5, 0. , 2. ], dtype=float32)
    """

def segment_min(x: Array, segments: Array, count: int, empty: float = 0.0) -> Variable:
    """Find the least element of each segment of rows; NaN if there is one.

    Each of several equal minima gets the whole gradient.

    Args:
        x: Floating, (n, ...).
        segments: Integers, (n,), each in [0, count): the segment of each row, in any order.
        count: How many segments there are.
        empty: What a segment without rows gets.

    Returns:
        (count, ...), and the dtype of `x`.

    Raises:
        InvalidType: Shapes or dtypes do not fit.
        OutOfRange: A number is none of a segment; where devices run ahead, under
            `core.config.debug`.
        ValueError: `count` is negative.

    >>> import core.functions as F, numpy as np
    >>> F.segment_min(np.array([1, 2, 4], "f"), np.array([0, 2, 0]), 3)
    variable([1., 0., 2.], dtype=float32)
    """

def segment_softmax(x: Array, segments: Array, count: int) -> Variable:
    """Make each column of each segment of rows positive, with sum 1: softmax over the segment.

    Attention over the neighbours of each node of a graph, for example.

    Args:
        x: Floating, (n, ...).
        segments: Integers, (n,), each in [0, count): the segment of each row, in any order.
        count: How many segments there are.

    Returns:
        The shape and dtype of `x`.

    Raises:
        InvalidType: Shapes or dtypes do not fit.
        OutOfRange: A number is none of a segment; where devices run ahead, under
            `core.config.debug`.
        ValueError: `count` is negative.

    Source: Velickovic et al. 2018 (arXiv:1710.10903), equation 2.

    >>> import core.functions as F, numpy as np
    >>> F.segment_softmax(np.array([0, 7, 0], "f"), np.array([0, 2, 0]), 3)
    variable([0.5, 1. , 0.5], dtype=float32)
    """

def segment_sum(x: Array, segments: Array, count: int) -> Variable:
    """Sum the rows of each segment.

    Args:
        x: Floating, (n, ...). Floats of 16 bits are summed in float32.
        segments: Integers, (n,), each in [0, count): the segment of each row, in any order.
        count: How many segments there are, which may have no rows.

    Returns:
        (count, ...), and the dtype of `x`; 0 for a segment without rows.

    Raises:
        InvalidType: Shapes or dtypes do not fit.
        OutOfRange: A number is none of a segment; where devices run ahead, under
            `core.config.debug`.
        ValueError: `count` is negative.

    >>> import core.functions as F, numpy as np
    >>> F.segment_sum(np.array([1, 2, 4], "f"), np.array([0, 2, 0]), 3)
    variable([5., 0., 2.], dtype=float32)
    """

def sign(x: Array) -> Variable:
    """Compute the sign of each element: -1, 0 or 1. The derivative is 0.

    Args:
        x: Floating, of any shape.

    Returns:
        The shape and dtype of `x`.

    Raises:
        InvalidType: `x` is not floating.

    >>> import core.functions as F, numpy as np
    >>> F.sign(np.array([-2, 0, 3], "f"))
    variable([-1.,  0.,  1.], dtype=float32)
    """

def squared_difference(x1: Operand, x2: Operand) -> Variable:
    """Square the difference of each two elements: (x1 - x2)².

    The derivatives are 2 (x1 - x2) and its negative.

    Args:
        x1: Floating, of any shape.
        x2: Of the dtype of `x1`, and a shape that broadcasts.

    Returns:
        The common shape and dtype.

    Raises:
        InvalidType: Shapes or dtypes do not fit.

    >>> import core.functions as F, numpy as np
    >>> F.squared_difference(np.array([1, 5], "f"), np.array([3, 4], "f"))
    variable([4., 1.], dtype=float32)
    """

def sum(x: Array, axis: Axes = None, keepdims: bool = False) -> Variable:
    """Sum over axes.

    Args:
        x: Of any shape. Floats of 16 bits are summed in float32.
        axis: None for all axes, an int, or several.
        keepdims: Whether the axes stay, with length 1.

    Returns:
        The dtype of `x`; of truth values, which are counted, int64.

    Raises:
        InvalidType: `x` has no such axis.
        ValueError: An axis comes twice.

    >>> import core.functions as F, numpy as np
    >>> F.sum(np.array([[1, 2], [3, 4]], "f"), axis=0)
    variable([4., 6.], dtype=float32)
    """

def arccos(x: Array) -> Variable:
    """Compute the inverse cosine of each element.

    The derivative is -1 / sqrt(1 - x^2).

    Args:
        x: Floating, of any shape, in [-1, 1].

    Returns:
        The shape and dtype of `x`, in [0, π]; NaN beyond.

    Raises:
        InvalidType: `x` is not floating.

    >>> import core.functions as F, numpy as np
    >>> F.arccos(np.array([0, 1], "f"))
    variable([1.5707964, 0.       ], dtype=float32)
    """

def arcsin(x: Array) -> Variable:
    """Compute the inverse sine of each element.

    The derivative is 1 / sqrt(1 - x^2).

    Args:
        x: Floating, of any shape, in [-1, 1].

    Returns:
        The shape and dtype of `x`, in [-π/2, π/2]; NaN beyond.

    Raises:
        InvalidType: `x` is not floating.

    >>> import core.functions as F, numpy as np
    >>> F.arcsin(np.array([0, 1], "f"))
    variable([0.       , 1.5707964], dtype=float32)
    """

def arctan(x: Array) -> Variable:
    """Compute the inverse tangent of each element.

    The derivative is 1 / (1 + x^2).

    Args:
        x: Floating, of any shape.

    Returns:
        The shape and dtype of `x`, in [-π/2, π/2].

    Raises:
        InvalidType: `x` is not floating.

    >>> import core.functions as F, numpy as np
    >>> F.arctan(np.array([0, 1], "f"))
    variable([0.       , 0.7853982], dtype=float32)
    """

def arctan2(x1: Operand, x2: Operand) -> Variable:
    """Compute the angle of the point (x2, x1): arctan(x1 / x2) in the right quadrant.

    With r the distance of the point, the derivatives are x2 / r^2 and -x1 / r^2; at (0, 0) they are
    taken as 0.

    Args:
        x1: Floating, of any shape.
        x2: Of the dtype of `x1`, and a shape that broadcasts.

    Returns:
        The common shape and dtype, in [-π, π].

    Raises:
        InvalidType: Shapes or dtypes do not fit.

    >>> import core.functions as F, numpy as np
    >>> F.arctan2(np.array([0, 1], "f"), np.array([1, 0], "f"))
    variable([0.       , 1.5707964], dtype=float32)
    """

def cos(x: Array) -> Variable:
    """Compute the cosine of each element.

    The derivative is -sin(x).

    Args:
        x: Floating, of any shape.

    Returns:
        The shape and dtype of `x`.

    Raises:
        InvalidType: `x` is not floating.

    >>> import core.functions as F, numpy as np
    >>> F.cos(np.array([0, 1], "f"))
    variable([1.       , 0.5403023], dtype=float32)
    """

def sin(x: Array) -> Variable:
    """Compute the sine of each element.

    The derivative is cos(x).

    Args:
        x: Floating, of any shape.

    Returns:
        The shape and dtype of `x`.

    Raises:
        InvalidType: `x` is not floating.

    >>> import core.functions as F, numpy as np
    >>> F.sin(np.array([0, 1], "f"))
    variable([0.      , 0.841471], dtype=float32)
    """

def tan(x: Array) -> Variable:
    """Compute the tangent of each element.

    The derivative is 1 + tan(x)^2.

    Args:
        x: Floating, of any shape.

    Returns:
        The shape and dtype of `x`.

    Raises:
        InvalidType: `x` is not floating.

    >>> import core.functions as F, numpy as np
    >>> F.tan(np.array([0, 1], "f"))
    variable([0.       , 1.5574077], dtype=float32)
    """

def zeta(x: Operand, q: Operand) -> Variable:
    """Compute Hurwitz's zeta function of each pair: the sum of (q + k)^-x over k = 0, 1, 2, ...

    Its derivative by q is -x zeta(x + 1, q); that by x is the derivative, term by term, of the sum
    and estimate that compute it.

    Args:
        x: Floating, of any shape, greater than 1.
        q: Of the dtype of `x` and a shape that broadcasts; a number will do.

    Returns:
        The common shape, and the dtype of `x`; infinite at x = 1 and q = 0, -1, -2, ...; NaN where
        x < 1, and between those q unless x is whole.

    Raises:
        InvalidType: Shapes or dtypes do not fit.

    >>> import core.functions as F, numpy as np
    >>> F.zeta(np.array([2, 4], "d"), 1.0)
    variable([1.64493407, 1.08232323])
    """

@overload
def gaussian(
    mean: Array,
    ln_var: Array,
    *,
    eps: Array | None = None,
    return_eps: Literal[False] = False,
) -> Variable:
    """Draw from normal distributions so that gradients reach their means and variances.

    y = μ + exp(ln σ² / 2) ε with ε from the standard normal distribution.

    Args:
        mean: Means, floating, of any shape.
        ln_var: Logarithms of the variances, of the same shape and dtype.
        eps: An array like `mean` to take for ε instead of drawing it.
        return_eps: Also give ε, an array.

    Returns:
        The shape and dtype of `mean`, or a pair with `return_eps`.

    Raises:
        InvalidType: Shapes or dtypes do not fit, that of `eps` included.

    Source: Kingma and Welling 2013 (arXiv:1312.6114), section 2.4.

    >>> import core.functions as F, numpy as np
    >>> F.gaussian(np.ones(2, "f"), np.zeros(2, "f"), eps=np.array([0, 2], "f"))
    variable([1., 3.], dtype=float32)
    """

@overload
def gaussian(
    mean: Array,
    ln_var: Array,
    *,
    eps: Array | None = None,
    return_eps: Literal[True],
) -> tuple[Variable, BackendArray]: ...
@overload
def gaussian(
    mean: Array,
    ln_var: Array,
    *,
    eps: Array | None = None,
    return_eps: bool,
) -> Variable | tuple[Variable, BackendArray]: ...
def normalize(x: Array, eps: float = 1e-05, axis: Axes = 1) -> Variable:
    """Divide by the Euclidean norm over `axis`: y = x / (‖x‖ + ε).

    At x = 0 the derivative is that of x / eps, and the second derivative, which does not exist
    there, is given as 0.

    Args:
        x: Floating.
        eps: Added to the norm, so that zeros stay zeros.
        axis: The axis of the vectors, or several axes, whose elements together are a vector.

    Returns:
        The shape and dtype of `x`. The gradient at a vector of zeros is that of x / ε.

    Raises:
        InvalidType: `x` has no such axis.

    >>> import core.functions as F, numpy as np
    >>> F.normalize(np.array([[3, 4]], "f"), eps=1e-8)
    variable([[0.6, 0.8]], dtype=float32)
    """

def local_response_normalization(
    x: Array,
    n: int = 5,
    k: float = 2,
    alpha: float = 0.0001,
    beta: float = 0.75,
) -> Variable:
    """Divide by the strength of neighbouring channels at the same place.

    y_i = x_i / (k + α Σ_j x_j²)^β, with j from i - n // 2 to i + n // 2 where there are channels.

    Args:
        x: Floating, (b, c, ...).
        n: How many channels are neighbours, the channel itself included.
        k: Added to the sum, above 0.
        alpha: Weight of the squares.
        beta: Exponent.

    Returns:
        The shape and dtype of `x`.

    Raises:
        InvalidType: `x` is not floating, or has no channels.

    Source: Krizhevsky, Sutskever and Hinton 2012, "ImageNet classification with deep convolutional
    neural networks", section 3.3.

    >>> import core.functions as F, numpy as np
    >>> F.local_response_normalization(np.array([[3, 4]], "f"), k=0, alpha=1, beta=0.5)
    variable([[0.6, 0.8]], dtype=float32)
    """

def rms_normalization(x: Array, gamma: Array, eps: float = 1e-05) -> Variable:
    """Divide each example by the root of the mean square of its features, then scale.

    y = γ x / √(mean(x²) + ε), the mean over the last axis.

    Args:
        x: Floating, (..., k), k > 0.
        gamma: Scales, (k,), of the dtype of `x`.
        eps: Added to the mean square.

    Returns:
        The shape and dtype of `x`.

    Raises:
        InvalidType: Sizes or dtypes do not fit.

    Source: Zhang and Sennrich 2019 (arXiv:1910.07467), equation 4.

    >>> import core.functions as F, numpy as np
    >>> F.rms_normalization(np.array([[1, 7]], "f"), np.full(2, 5, "f"), eps=1e-8)
    variable([[1., 7.]], dtype=float32)
    """

def average_pooling_1d(
    x: Array,
    ksize: Sizes,
    stride: Sizes | None = None,
    pad: Sizes = 0,
    pad_value: float | None = 0,
) -> Variable:
    """The mean of each window over one spatial axis, the padding counted as zeros.

    Args:
        x: Floating, (n, c, l).
        ksize: Size of the windows, in a tuple or alone.
        stride: Distance of neighbouring windows, likewise; None takes `ksize`.
        pad: How far the windows reach over the edges, likewise.
        pad_value: 0, or None to leave the padding out of the mean.

    Returns:
        (n, c, l') with sizes as in `convolution_1d`, and the dtype of `x`.

    Raises:
        InvalidType: `x` is not floating or has other axes, or no window fits into it.
        ValueError: Sizes make no windows, or another padding is asked for.

    >>> import core.functions as F, numpy as np
    >>> F.average_pooling_1d(np.ones((1, 1, 4), "f"), 2).shape
    (1, 1, 2)
    """

def average_pooling_2d(
    x: Array,
    ksize: Sizes,
    stride: Sizes | None = None,
    pad: Sizes = 0,
) -> Variable:
    """The mean of each window over images, the padding counted as zeros.

    Args:
        x: Floating, (n, c, h, w).
        ksize: Size of the windows, for each axis or for both.
        stride: Distance of neighbouring windows, likewise; None takes `ksize`.
        pad: How far the windows reach over the edges, likewise.

    Returns:
        (n, c, h', w') with sizes as in `convolution_2d`, and the dtype of `x`.

    Raises:
        InvalidType: `x` is not floating or has other axes, or no window fits into it.
        ValueError: Sizes make no windows, or another padding is asked for.

    >>> import core.functions as F, numpy as np
    >>> F.average_pooling_2d(np.ones((1, 1, 4, 4), "f"), 2).shape
    (1, 1, 2, 2)
    """

def average_pooling_3d(
    x: Array,
    ksize: Sizes,
    stride: Sizes | None = None,
    pad: Sizes = 0,
    pad_value: float | None = 0,
) -> Variable:
    """The mean of each window over volumes, the padding counted as zeros.

    Args:
        x: Floating, (n, c, d, h, w).
        ksize: Size of the windows, for each axis or for all.
        stride: Distance of neighbouring windows, likewise; None takes `ksize`.
        pad: How far the windows reach over the edges, likewise.
        pad_value: 0, or None to leave the padding out of the mean.

    Returns:
        (n, c, d', h', w') with sizes as in `convolution_3d`, and the dtype of `x`.

    Raises:
        InvalidType: `x` is not floating or has other axes, or no window fits into it.
        ValueError: Sizes make no windows, or another padding is asked for.

    >>> import core.functions as F, numpy as np
    >>> F.average_pooling_3d(np.ones((1, 1, 4, 4, 4), "f"), 2).shape
    (1, 1, 2, 2, 2)
    """

def average_pooling_nd(
    x: Array,
    ksize: Sizes,
    stride: Sizes | None = None,
    pad: Sizes = 0,
    pad_value: float | None = 0,
) -> Variable:
    """The mean of each window over any number of spatial axes, the padding counted as zeros.

    Args:
        x: Floating, (n, c, d_1, ..., d_N).
        ksize: Size of the windows, for each axis or for all.
        stride: Distance of neighbouring windows, likewise; None takes `ksize`.
        pad: How far the windows reach over the edges, likewise.
        pad_value: 0, or None to leave the padding out of the mean.

    Returns:
        (n, c, e_1, ..., e_N) with sizes as in `convolution_nd`, and the dtype of `x`.

    Raises:
        InvalidType: `x` is not floating or has other axes, or no window fits into it.
        ValueError: Sizes make no windows, or another padding is asked for.

    >>> import core.functions as F, numpy as np
    >>> F.average_pooling_nd(np.ones((1, 1, 4, 4, 4, 4), "f"), 2).shape
    (1, 1, 2, 2, 2, 2)
    """

@overload
def max_pooling_1d(
    x: Array,
    ksize: Sizes,
    stride: Sizes | None = None,
    pad: Sizes = 0,
    cover_all: bool = True,
    return_indices: Literal[False] = False,
) -> Variable:
    """The greatest element of each window over one spatial axis.

    Args:
        x: Floating, (n, c, l).
        ksize: Size of the windows, in a tuple or alone.
        stride: Distance of neighbouring windows, likewise; None takes `ksize`.
        pad: How far the windows reach over the edges, where they see minus infinity, likewise.
        cover_all: Let the windows reach every element.
        return_indices: Also give, as an array of int32, the place of each maximum in its window.

    Returns:
        (n, c, l') with sizes as in `convolution_1d`, and the dtype of `x`.
        NaN in a window is its maximum. Of equal elements the first one gets the gradient,
        and padding never does.

    Raises:
        InvalidType: `x` is not floating or has other axes, or no window fits into it.
        ValueError: Sizes make no windows.

    >>> import core.functions as F, numpy as np
    >>> F.max_pooling_1d(np.ones((1, 1, 5), "f"), 2).shape
    (1, 1, 3)
    """

@overload
def max_pooling_1d(
    x: Array,
    ksize: Sizes,
    stride: Sizes | None = None,
    pad: Sizes = 0,
    cover_all: bool = True,
    *,
    return_indices: Literal[True],
) -> tuple[Variable, BackendArray]: ...
@overload
def max_pooling_1d(
    x: Array,
    ksize: Sizes,
    stride: Sizes | None = None,
    pad: Sizes = 0,
    cover_all: bool = True,
    *,
    return_indices: bool,
) -> Variable | tuple[Variable, BackendArray]: ...
@overload
def max_pooling_2d(
    x: Array,
    ksize: Sizes,
    stride: Sizes | None = None,
    pad: Sizes = 0,
    cover_all: bool = True,
    return_indices: Literal[False] = False,
) -> Variable:
    """The greatest element of each window over images.

    Args:
        x: Floating, (n, c, h, w).
        ksize: Size of the windows, for each axis or for both.
        stride: Distance of neighbouring windows, likewise; None takes `ksize`.
        pad: How far the windows reach over the edges, where they see minus infinity, likewise.
        cover_all: Let the windows reach every element.
        return_indices: Also give, as an array of int32, the place of each maximum in its window.

    Returns:
        (n, c, h', w') with sizes as in `convolution_2d`, and the dtype of `x`.
        NaN in a window is its maximum. Of equal elements the first one gets the gradient,
        and padding never does.

    Raises:
        InvalidType: `x` is not floating or has other axes, or no window fits into it.
        ValueError: Sizes make no windows.

    >>> import core.functions as F, numpy as np
    >>> F.max_pooling_2d(np.ones((1, 1, 5, 5), "f"), 2).shape
    (1, 1, 3, 3)
    """

@overload
def max_pooling_2d(
    x: Array,
    ksize: Sizes,
    stride: Sizes | None = None,
    pad: Sizes = 0,
    cover_all: bool = True,
    *,
    return_indices: Literal[True],
) -> tuple[Variable, BackendArray]: ...
@overload
def max_pooling_2d(
    x: Array,
    ksize: Sizes,
    stride: Sizes | None = None,
    pad: Sizes = 0,
    cover_all: bool = True,
    *,
    return_indices: bool,
) -> Variable | tuple[Variable, BackendArray]: ...
@overload
def max_pooling_3d(
    x: Array,
    ksize: Sizes,
    stride: Sizes | None = None,
    pad: Sizes = 0,
    cover_all: bool = True,
    return_indices: Literal[False] = False,
) -> Variable:
    """The greatest element of each window over volumes.

    Args:
        x: Floating, (n, c, d, h, w).
        ksize: Size of the windows, for each axis or for all.
        stride: Distance of neighbouring windows, likewise; None takes `ksize`.
        pad: How far the windows reach over the edges, where they see minus infinity, likewise.
        cover_all: Let the windows reach every element.
        return_indices: Also give, as an array of int32, the place of each maximum in its window.

    Returns:
        (n, c, d', h', w') with sizes as in `convolution_3d`, and the dtype of `x`.
        NaN in a window is its maximum. Of equal elements the first one gets the gradient,
        and padding never does.

    Raises:
        InvalidType: `x` is not floating or has other axes, or no window fits into it.
        ValueError: Sizes make no windows.

    >>> import core.functions as F, numpy as np
    >>> F.max_pooling_3d(np.ones((1, 1, 5, 5, 5), "f"), 2).shape
    (1, 1, 3, 3, 3)
    """

@overload
def max_pooling_3d(
    x: Array,
    ksize: Sizes,
    stride: Sizes | None = None,
    pad: Sizes = 0,
    cover_all: bool = True,
    *,
    return_indices: Literal[True],
) -> tuple[Variable, BackendArray]: ...
@overload
def max_pooling_3d(
    x: Array,
    ksize: Sizes,
    stride: Sizes | None = None,
    pad: Sizes = 0,
    cover_all: bool = True,
    *,
    return_indices: bool,
) -> Variable | tuple[Variable, BackendArray]: ...
@overload
def max_pooling_nd(
    x: Array,
    ksize: Sizes,
    stride: Sizes | None = None,
    pad: Sizes = 0,
    cover_all: bool = True,
    return_indices: Literal[False] = False,
) -> Variable:
    """The greatest element of each window over any number of spatial axes.

    Args:
        x: Floating, (n, c, d_1, ..., d_N).
        ksize: Size of the windows, for each axis or for all.
        stride: Distance of neighbouring windows, likewise; None takes `ksize`.
        pad: How far the windows reach over the edges, where they see minus infinity, likewise.
        cover_all: Let the windows reach every element.
        return_indices: Also give, as an array of int32, the place of each maximum in its window.

    Returns:
        (n, c, e_1, ..., e_N) with sizes as in `convolution_nd`, and the dtype of `x`.
        NaN in a window is its maximum. Of equal elements the first one gets the gradient,
        and padding never does.

    Raises:
        InvalidType: `x` is not floating or has other axes, or no window fits into it.
        ValueError: Sizes make no windows.

    >>> import core.functions as F, numpy as np
    >>> F.max_pooling_nd(np.ones((1, 1, 5, 5, 5, 5), "f"), 2).shape
    (1, 1, 3, 3, 3, 3)
    """

@overload
def max_pooling_nd(
    x: Array,
    ksize: Sizes,
    stride: Sizes | None = None,
    pad: Sizes = 0,
    cover_all: bool = True,
    *,
    return_indices: Literal[True],
) -> tuple[Variable, BackendArray]: ...
@overload
def max_pooling_nd(
    x: Array,
    ksize: Sizes,
    stride: Sizes | None = None,
    pad: Sizes = 0,
    cover_all: bool = True,
    *,
    return_indices: bool,
) -> Variable | tuple[Variable, BackendArray]: ...
def unpooling_1d(
    x: Array,
    ksize: Sizes,
    stride: Sizes | None = None,
    pad: Sizes = 0,
    outsize: Sizes | None = None,
    cover_all: bool = True,
) -> Variable:
    """Spread each element over a window, the opposite of pooling over one spatial axis.

    Where windows overlap the elements are summed: average pooling's gradient but for a factor.

    Args:
        x: Floating, (n, c, l).
        ksize: Size of the windows, in a tuple or alone.
        stride: Distance of neighbouring windows, likewise; None takes `ksize`.
        pad: How much is cut off each end of the output, likewise.
        outsize: Spatial sizes (l') of the output, None for the least. Pooling of an
            array of these sizes has to give those of `x`.
        cover_all: Whether that pooling is one that covers all elements, so that the last window
            may reach over the end.

    Returns:
        (n, c, l'), and the dtype of `x`; by default each size becomes
        stride (size - 1) + ksize - 2 pad, with `cover_all` less by stride - 1.

    Raises:
        InvalidType: `x` is not floating, has other axes, or does not fit `outsize`.

    >>> import core.functions as F, numpy as np
    >>> F.unpooling_1d(np.ones((1, 1, 3), "f"), 2, outsize=6).shape
    (1, 1, 6)
    """

def unpooling_2d(
    x: Array,
    ksize: Sizes,
    stride: Sizes | None = None,
    pad: Sizes = 0,
    outsize: Sizes | None = None,
    cover_all: bool = True,
) -> Variable:
    """Spread each element over a window, the opposite of pooling over images.

    Where windows overlap the elements are summed: average pooling's gradient but for a factor.

    Args:
        x: Floating, (n, c, h, w).
        ksize: Size of the windows, for each axis or for both.
        stride: Distance of neighbouring windows, likewise; None takes `ksize`.
        pad: How much is cut off each end of the output, likewise.
        outsize: Spatial sizes (h', w') of the output, None for the least. Pooling of an
            array of these sizes has to give those of `x`.
        cover_all: Whether that pooling is one that covers all elements, so that the last window
            may reach over the end.

    Returns:
        (n, c, h', w'), and the dtype of `x`; by default each size becomes
        stride (size - 1) + ksize - 2 pad, with `cover_all` less by stride - 1.

    Raises:
        InvalidType: `x` is not floating, has other axes, or does not fit `outsize`.

    >>> import core.functions as F, numpy as np
    >>> F.unpooling_2d(np.ones((1, 1, 3, 3), "f"), 2, outsize=6).shape
    (1, 1, 6, 6)
    """

def unpooling_3d(
    x: Array,
    ksize: Sizes,
    stride: Sizes | None = None,
    pad: Sizes = 0,
    outsize: Sizes | None = None,
    cover_all: bool = True,
) -> Variable:
    """Spread each element over a window, the opposite of pooling over volumes.

    Where windows overlap the elements are summed: average pooling's gradient but for a factor.

    Args:
        x: Floating, (n, c, d, h, w).
        ksize: Size of the windows, for each axis or for all.
        stride: Distance of neighbouring windows, likewise; None takes `ksize`.
        pad: How much is cut off each end of the output, likewise.
        outsize: Spatial sizes (d', h', w') of the output, None for the least. Pooling of an
            array of these sizes has to give those of `x`.
        cover_all: Whether that pooling is one that covers all elements, so that the last window
            may reach over the end.

    Returns:
        (n, c, d', h', w'), and the dtype of `x`; by default each size becomes
        stride (size - 1) + ksize - 2 pad, with `cover_all` less by stride - 1.

    Raises:
        InvalidType: `x` is not floating, has other axes, or does not fit `outsize`.

    >>> import core.functions as F, numpy as np
    >>> F.unpooling_3d(np.ones((1, 1, 3, 3, 3), "f"), 2, outsize=6).shape
    (1, 1, 6, 6, 6)
    """

def unpooling_nd(
    x: Array,
    ksize: Sizes,
    stride: Sizes | None = None,
    pad: Sizes = 0,
    outsize: Sizes | None = None,
    cover_all: bool = True,
) -> Variable:
    """Spread each element over a window, the opposite of pooling over any number of spatial axes.

    Where windows overlap the elements are summed: average pooling's gradient but for a factor.

    Args:
        x: Floating, (n, c, d_1, ..., d_N).
        ksize: Size of the windows, for each axis or for all.
        stride: Distance of neighbouring windows, likewise; None takes `ksize`.
        pad: How much is cut off each end of the output, likewise.
        outsize: Spatial sizes (e_1, ..., e_N) of the output, None for the least. Pooling of an
            array of these sizes has to give those of `x`.
        cover_all: Whether that pooling is one that covers all elements, so that the last window
            may reach over the end.

    Returns:
        (n, c, e_1, ..., e_N), and the dtype of `x`; by default each size becomes
        stride (size - 1) + ksize - 2 pad, with `cover_all` less by stride - 1.

    Raises:
        InvalidType: `x` is not floating, has other axes, or does not fit `outsize`.

    >>> import core.functions as F, numpy as np
    >>> F.unpooling_nd(np.ones((1, 1, 3, 3, 3, 3), "f"), 2, outsize=6).shape
    (1, 1, 6, 6, 6, 6)
    """

def lstm(c_prev: Array, x: Array) -> tuple[Variable, Variable]:
    """Make one step of long short-term memory units.

    With the columns of x assigned in turn to a, i, f and o:
    c = tanh(a) σ(i) + σ(f) c_prev and h = σ(o) tanh(c).

    Args:
        c_prev: Cell states, (m, u, ...), floating.
        x: Inputs of the gates, (n, 4 u, ...), n <= m, of the same dtype.

    Returns:
        A pair: the new cell states (m, u, ...), whose rows from n on are those of `c_prev`, and the
        outputs (n, u, ...).

    Raises:
        InvalidType: Sizes or dtypes do not fit.

    Source: Gers, Schmidhuber and Cummins 2000, "Learning to forget: continual prediction with
    LSTM", Neural Computation 12(10).

    >>> import core.functions as F, numpy as np
    >>> c, h = F.lstm(np.ones((1, 2), "f"), np.zeros((1, 8), "f"))
    >>> c
    variable([[0.5, 0.5]], dtype=float32)
    """

def slstm(c_prev1: Array, c_prev2: Array, x1: Array, x2: Array) -> tuple[Variable, Variable]:
    """Apply one unit of long short-term memory to two children.

    With the columns of x1 and x2 assigned in turn to a, i, f and o:
    c = tanh(a₁) σ(i₁) + tanh(a₂) σ(i₂) + σ(f₁) c_prev1 + σ(f₂) c_prev2 and h = σ(o₁ + o₂) tanh(c).

    Args:
        c_prev1: Cell states of the first children, (n, u, ...), floating.
        c_prev2: Those of the second ones, alike.
        x1: What the first children give to the gates, (n, 4 u, ...), of the same dtype.
        x2: What the second ones give, alike.

    Returns:
        A pair: the cell states and the outputs, both (n, u, ...).

    Raises:
        InvalidType: Sizes or dtypes do not fit.

    Source: Zhu, Sobhani and Guo 2015, "Long short-term memory over recursive structures", ICML.

    >>> import core.functions as F, numpy as np
    >>> one, zero = np.ones((1, 2), "f"), np.zeros((1, 8), "f")
    >>> c, h = F.slstm(one, one, zero, zero)
    >>> c
    variable([[1., 1.]], dtype=float32)
    """

def of(distribution: str) -> Offer: ...
