"""Operations whose formulas become loops on a GPU: the kernels are made from what they declare.

An operation stands here where its formula, or its gradient rules, are more than one call of CuPy's
and at least two of these fit into one loop. What a loop cannot hold, as products of matrices, is
CuPy's between the loops.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from core.arrays.backend import BACKENDS

FORMULAS = [
    "plugins.functions.activation.clipped_relu:ClippedReLU",
    "plugins.functions.activation.crelu:CReLU",
    "plugins.functions.activation.elu:ELU",
    "plugins.functions.activation.gelu:GELU",
    "plugins.functions.activation.hard_sigmoid:HardSigmoid",
    "plugins.functions.activation.leaky_relu:LeakyReLU",
    "plugins.functions.activation.log_softmax:LogSoftmax",
    "plugins.functions.activation.prelu:PReLU",
    "plugins.functions.activation.relu:ReLU",
    "plugins.functions.activation.relu:ReLUGradient",
    "plugins.functions.activation.rrelu:RReLU",
    "plugins.functions.activation.sigmoid:Sigmoid",
    "plugins.functions.activation.sigmoid:SigmoidGradient",
    "plugins.functions.activation.softmax:Softmax",
    "plugins.functions.activation.softplus:Softplus",
    "plugins.functions.activation.swish:SiLU",
    "plugins.functions.activation.tanh:Tanh",
    "plugins.functions.activation.tanh:TanhGradient",
    "plugins.functions.attention.attention:Attention",
    "plugins.functions.evaluation.r2_score:R2Score",
    "plugins.functions.loss.absolute_error:AbsoluteError",
    "plugins.functions.loss.contrastive:Contrastive",
    "plugins.functions.loss.covariance:CrossCovariance",
    "plugins.functions.loss.covariance:DeCov",
    "plugins.functions.loss.hinge:Hinge",
    "plugins.functions.loss.huber_loss:HuberLoss",
    "plugins.functions.loss.mean_absolute_error:MeanAbsoluteError",
    "plugins.functions.loss.mean_squared_error:MeanSquaredError",
    "plugins.functions.loss.sigmoid_cross_entropy:SigmoidCrossEntropy",
    "plugins.functions.loss.softmax_cross_entropy:SoftmaxCrossEntropy",
    "plugins.functions.loss.squared_error:SquaredError",
    "plugins.functions.loss.triplet:Triplet",
    "plugins.functions.loss.vae:BernoulliNLL",
    "plugins.functions.loss.vae:GaussianKLDivergence",
    "plugins.functions.loss.vae:GaussianNLL",
    "plugins.functions.math.arithmetic:Power",
    "plugins.functions.math.erf:Erf",
    "plugins.functions.math.erfc:Erfc",
    "plugins.functions.math.erfc:Erfcx",
    "plugins.functions.math.erfinv:Erfcinv",
    "plugins.functions.math.erfinv:Erfinv",
    "plugins.functions.math.exponential:Expm1",
    "plugins.functions.math.fmod:Fmod",
    "plugins.functions.math.gamma:Digamma",
    "plugins.functions.math.gamma:LGamma",
    "plugins.functions.math.gamma:Polygamma",
    "plugins.functions.math.hyperbolic:Arccosh",
    "plugins.functions.math.hyperbolic:Arcsinh",
    "plugins.functions.math.hyperbolic:Arctanh",
    "plugins.functions.math.hyperbolic:Cosh",
    "plugins.functions.math.hyperbolic:Sinh",
    "plugins.functions.math.lengths:EuclideanNorm",
    "plugins.functions.math.linear_interpolate:LinearInterpolate",
    "plugins.functions.math.logarithm:Log10",
    "plugins.functions.math.logarithm:Log1p",
    "plugins.functions.math.logarithm:Log2",
    "plugins.functions.math.logsumexp:LogSumExp",
    "plugins.functions.math.maximum:Maximum",
    "plugins.functions.math.maximum:Minimum",
    "plugins.functions.math.ndtr:LogNdtr",
    "plugins.functions.math.ndtr:Ndtr",
    "plugins.functions.math.ndtr:Ndtri",
    "plugins.functions.math.norm:BatchL2NormSquared",
    "plugins.functions.math.root:Rsqrt",
    "plugins.functions.math.root:Sqrt",
    "plugins.functions.math.root:Square",
    "plugins.functions.math.squared_difference:SquaredDifference",
    "plugins.functions.math.trigonometric:Arccos",
    "plugins.functions.math.trigonometric:Arcsin",
    "plugins.functions.math.trigonometric:Arctan",
    "plugins.functions.math.trigonometric:Arctan2",
    "plugins.functions.math.trigonometric:Cos",
    "plugins.functions.math.trigonometric:Sin",
    "plugins.functions.math.trigonometric:Tan",
    "plugins.functions.math.with_number:ConstantPower",
    "plugins.functions.math.with_number:DivideFromConstant",
    "plugins.functions.math.zeta:Zeta",
    "plugins.functions.namespace.arithmetic:Hypot",
    "plugins.functions.namespace.arithmetic:Logaddexp",
    "plugins.functions.namespace.arithmetic:Remainder",
    "plugins.functions.noise.gaussian:Gaussian",
    "plugins.functions.noise.simplified_dropconnect:SimplifiedDropconnect",
    "plugins.functions.noise.zoneout:Zoneout",
    "plugins.functions.normalization.batch_normalization:BatchNormalization",
    "plugins.functions.normalization.fixed_batch_normalization:FixedBatchNormalization",
    "plugins.functions.normalization.group_normalization:GroupNormalization",
    "plugins.functions.normalization.l2_normalization:NormalizeL2",
    "plugins.functions.normalization.layer_normalization:LayerNormalization",
    "plugins.functions.normalization.local_response_normalization:LocalResponseNormalization",
    "plugins.functions.normalization.rms_normalization:RMSNormalization",
    "plugins.functions.pooling.max_pooling:MaxPooling2D",
    "plugins.functions.pooling.max_pooling:MaxPoolingND",
    "plugins.functions.pooling.roi_max_pooling:ROIMaxPooling2D",
    "plugins.functions.pooling.roi_max_pooling:ROIPooling2D",
    "plugins.functions.pooling.unpooling:Unpooling2D",
    "plugins.functions.pooling.unpooling:UnpoolingND",
    "plugins.functions.pooling.upsampling:Upsampling2D",
    "plugins.functions.rnn.gru_sequence:GRUSequence",
    "plugins.functions.rnn.lstm:LSTM",
    "plugins.functions.rnn.lstm_sequence:LSTMSequence",
    "plugins.functions.rnn.simple_sequence:ReLUSequence",
    "plugins.functions.rnn.simple_sequence:TanhSequence",
    "plugins.functions.rnn.slstm:SLSTM",
    "plugins.functions.rnn.tree_lstm:TreeLSTM",
]

RULES = [
    "plugins.optimizers.adadelta:AdaDeltaRule",
    "plugins.optimizers.adagrad:AdaGradRule",
    "plugins.optimizers.adam:AMSBoundRule",
    "plugins.optimizers.adam:AMSGradRule",
    "plugins.optimizers.adam:AdaBoundRule",
    "plugins.optimizers.adam:AdamRule",
    "plugins.optimizers.adam:AdamWRule",
    "plugins.optimizers.adamax:AdaMaxRule",
    "plugins.optimizers.corrected_momentum_sgd:CorrectedMomentumSGDRule",
    "plugins.optimizers.lion:LionRule",
    "plugins.optimizers.momentum_sgd:MomentumSGDRule",
    "plugins.optimizers.msvag:MSVAGRule",
    "plugins.optimizers.nadam:NAdamRule",
    "plugins.optimizers.nesterov_ag:NesterovAGRule",
    "plugins.optimizers.radam:RAdamRule",
    "plugins.optimizers.rmsprop:RMSpropRule",
    "plugins.optimizers.rmsprop_graves:RMSpropGravesRule",
    "plugins.optimizers.sgd:SGDRule",
    "plugins.optimizers.smorms3:SMORMS3Rule",
]
"""Update rules whose steps are one launch for all parameters."""


def compute(f: Any, xp: Any, *arrays: Any) -> Any:
    """The kernel of an operation, from its formula."""
    backend: Any = BACKENDS[type(arrays[0])]
    return backend.formulas.compute(f, xp, *arrays)


def gradient(f: Any, g: Any, needs_grad: int) -> Any:
    """The kernel of its gradients, from its rules."""
    backend: Any = f._sources[0].spec.backend
    return backend.formulas.gradient(f, g, needs_grad)


# What is computed in float32 is widened, and rounded, within the kernel.
compute.takes_halves = gradient.takes_halves = True  # type: ignore[attr-defined]


def update_all(rule: Any, xp: Any, params: list[Any], grads: list[Any], states: list[Any]) -> Any:
    """The kernel of a rule's steps."""
    backend: Any = BACKENDS[type(params[0])]
    return backend.updates.update_all(rule, xp, params, grads, states)


def erf(f: Any, xp: Any, x: Any) -> Any:
    """The error function in one kernel, CuPy's own, which gives float64 of float16."""
    found = import_module("cupyx.scipy.special").erf(x)
    return found if found.dtype == x.dtype else found.astype(x.dtype)


def dropout(f: Any, xp: Any, x: Any) -> Any:
    """A mask that is drawn, and the array times it, in one kernel."""
    backend: Any = BACKENDS[type(x)]
    drawn = backend.random.dropout(x, f.dropout_ratio) if f.mask is None else None
    if drawn is None:
        return NotImplemented
    f.mask, y = drawn
    return y


_OPERATIONS = "plugins.functions"
_KERNELS = "backends.cuda_backend"

LIBRARIES = {
    "compute": {
        f"{_OPERATIONS}.attention.attention:Attention": f"{_KERNELS}.cudnn.attention:attention",
        f"{_OPERATIONS}.connection.convolution:Convolution": (
            f"{_KERNELS}.cudnn.convolution:convolution"
        ),
        f"{_OPERATIONS}.connection.convolution:ConvolutionFilterGradient": (
            f"{_KERNELS}.cudnn.convolution:filter_gradient"
        ),
        f"{_OPERATIONS}.connection.convolution:Deconvolution": (
            f"{_KERNELS}.cudnn.convolution:deconvolution"
        ),
        f"{_OPERATIONS}.connection.linear:LinearFunction": f"{_KERNELS}.epilogues:linear",
        f"{_OPERATIONS}.normalization.batch_normalization:BatchNormalization": (
            f"{_KERNELS}.cudnn.normalization:batch_normalization"
        ),
    },
    "gradient": {
        f"{_OPERATIONS}.attention.attention:Attention": (
            f"{_KERNELS}.cudnn.attention:attention_gradient"
        ),
        f"{_OPERATIONS}.connection.linear:LinearFunction": f"{_KERNELS}.epilogues:linear_gradient",
        f"{_OPERATIONS}.normalization.batch_normalization:BatchNormalization": (
            f"{_KERNELS}.cudnn.normalization:batch_normalization_gradient"
        ),
    },
}
"""Operations that cuDNN or cuBLASLt is asked first; what these decline is computed without them."""


def tables() -> dict[str, dict[str, str]]:
    """Where the kernels stand, for `register_kernels`."""
    here = __name__
    return {
        "compute": dict.fromkeys(FORMULAS, f"{here}:compute")
        | {
            "plugins.functions.math.erf:Erf": f"{here}:erf",
            "plugins.functions.noise.dropout:Dropout": f"{here}:dropout",
        }
        | LIBRARIES["compute"],
        "gradient": dict.fromkeys(FORMULAS, f"{here}:gradient") | LIBRARIES["gradient"],
        "update_all": dict.fromkeys(RULES, f"{here}:update_all"),
    }
