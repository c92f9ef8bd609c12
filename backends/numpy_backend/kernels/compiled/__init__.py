"""Kernels that numba compiles: a loop, and beside it the function that offers it for an operation.

Each is compared with the formula by tests/backends/test_compiled_kernels.py. Those that take the
formula's operations in its order give its bits; where sums are taken in another order, or
exponentials by another polynomial, results differ within the tolerance of the dtype.
"""

from __future__ import annotations

_FUNCTIONS = "plugins.functions"
_OPTIMIZERS = "plugins.optimizers"

_NORMALIZATION = f"{__name__}.normalization"
_POOLING = f"{__name__}.pooling"
_BATCH = f"{_FUNCTIONS}.normalization.batch_normalization:BatchNormalization"
_FIXED = f"{_FUNCTIONS}.normalization.fixed_batch_normalization:FixedBatchNormalization"

COMPUTE: dict[str, str] = {
    f"{_FUNCTIONS}.connection.convolution:Convolution": f"{__name__}.convolution:convolution",
    f"{_FUNCTIONS}.connection.convolution:Deconvolution": f"{__name__}.convolution:deconvolution",
    f"{_FUNCTIONS}.connection.convolution:ConvolutionFilterGradient": (
        f"{__name__}.convolution:filter_gradient"
    ),
    _BATCH: f"{_NORMALIZATION}:batch_normalization",
    _FIXED: f"{_NORMALIZATION}:fixed_batch_normalization",
    f"{_FUNCTIONS}.pooling.max_pooling:MaxPooling2D": f"{_POOLING}:max_pooling",
    f"{_FUNCTIONS}.pooling.max_pooling:MaxPoolingND": f"{_POOLING}:max_pooling",
    f"{_FUNCTIONS}.pooling.max_pooling:MaxPoolingGradient": f"{_POOLING}:max_pooling_gradient",
}
GRADIENT = {
    _BATCH: f"{_NORMALIZATION}:batch_normalization_gradient",
    f"{_FUNCTIONS}.activation.relu:ReLU": f"{__name__}.activation:relu_gradient",
}
UPDATE_ALL = {
    f"{_OPTIMIZERS}.{rule}": f"{__name__}.update:{kernel}"
    for rule, kernel in {
        "adadelta:AdaDeltaRule": "adadelta",
        "adagrad:AdaGradRule": "adagrad",
        "adam:AMSBoundRule": "amsbound",
        "adam:AMSGradRule": "amsgrad",
        "adam:AdaBoundRule": "adabound",
        "adam:AdamRule": "adam",
        "adam:AdamWRule": "adam",
        "corrected_momentum_sgd:CorrectedMomentumSGDRule": "corrected_momentum_sgd",
        "lion:LionRule": "lion",
        "momentum_sgd:MomentumSGDRule": "momentum_sgd",
        "nesterov_ag:NesterovAGRule": "nesterov_ag",
        "radam:RAdamRule": "radam",
        "rmsprop:RMSpropRule": "rmsprop",
        "rmsprop_graves:RMSpropGravesRule": "rmsprop_graves",
        "sgd:SGDRule": "sgd",
    }.items()
}
