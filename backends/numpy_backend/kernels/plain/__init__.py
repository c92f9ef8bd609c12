"""Kernels in NumPy's own words, kept only where a measurement shows the gain.

All give the same bits as the formula they replace, but for norms, which are sums in float64, and
gradients of weights that several operations share, which are added up in another order. What is not
here was measured and won nothing: sigmoid and tanh with reused temporaries gain a fifth,
convolutions by one large product lose to the formula's product per image.
"""

from __future__ import annotations

_FUNCTIONS = "plugins.functions"
_OPTIMIZERS = "plugins.optimizers"
_ACTIVATION = f"{__name__}.activation"
_POOLING = f"{__name__}.pooling"
_WEIGHTS = f"{__name__}.weights"

COMPUTE = {
    f"{_FUNCTIONS}.activation.leaky_relu:LeakyReLU": f"{_ACTIVATION}:leaky_relu",
    f"{_FUNCTIONS}.array.as_strided:AsStrided": f"{__name__}.places:as_strided",
    f"{_FUNCTIONS}.array.depth2space:Depth2Space": f"{__name__}.pixels:depth_to_space",
    f"{_FUNCTIONS}.array.pad:ConstantPad": f"{__name__}.pad:constant_pad",
    f"{_FUNCTIONS}.array.select_item:PlaceItem": f"{__name__}.places:place_item",
    f"{_FUNCTIONS}.array.select_item:SelectItem": f"{__name__}.places:select_item",
    f"{_FUNCTIONS}.array.take:AddTaken": f"{__name__}.places:add_taken",
    f"{_FUNCTIONS}.connection.embed_id:EmbedIDFunction": f"{_WEIGHTS}:embed_id",
    f"{_FUNCTIONS}.namespace.selection:AddAlongAxis": f"{__name__}.places:add_along_axis",
    f"{_FUNCTIONS}.namespace.selection:TakeAlongAxis": f"{__name__}.places:take_along_axis",
    f"{_FUNCTIONS}.pooling.max_pooling:MaxPooling2D": f"{_POOLING}:max_pooling",
    f"{_FUNCTIONS}.pooling.max_pooling:MaxPoolingND": f"{_POOLING}:max_pooling",
    f"{_FUNCTIONS}.pooling.max_pooling:MaxPoolingGradient": f"{_POOLING}:max_pooling_gradient",
    f"{_OPTIMIZERS}.hooks.norms:SquaredNorms": f"{__name__}.norms:squared_norms",
}
GRADIENT = {
    f"{_FUNCTIONS}.activation.relu:ReLU": f"{_ACTIVATION}:relu_gradient",
    f"{_FUNCTIONS}.activation.leaky_relu:LeakyReLU": f"{_ACTIVATION}:leaky_relu_gradient",
    f"{_FUNCTIONS}.activation.crelu:CReLU": f"{_ACTIVATION}:crelu_gradient",
    f"{_FUNCTIONS}.connection.embed_id:EmbedIDFunction": f"{_WEIGHTS}:embed_id_gradient",
    f"{_FUNCTIONS}.connection.linear:LinearFunction": f"{_WEIGHTS}:linear_gradient",
    f"{_FUNCTIONS}.math.product:MatMul": f"{_WEIGHTS}:matmul_gradient",
    f"{_FUNCTIONS}.math.clip:Clip": f"{_ACTIVATION}:clip_gradient",
    f"{_FUNCTIONS}.activation.clipped_relu:ClippedReLU": f"{_ACTIVATION}:clipped_relu_gradient",
    f"{_FUNCTIONS}.activation.hard_sigmoid:HardSigmoid": f"{_ACTIVATION}:hard_sigmoid_gradient",
    f"{_FUNCTIONS}.math.maximum:Maximum": f"{_ACTIVATION}:maximum_gradient",
    f"{_FUNCTIONS}.math.maximum:Minimum": f"{_ACTIVATION}:minimum_gradient",
}
UPDATE = dict.fromkeys(
    [
        f"{_OPTIMIZERS}.adadelta:AdaDeltaRule",
        f"{_OPTIMIZERS}.adagrad:AdaGradRule",
        f"{_OPTIMIZERS}.adam:AMSBoundRule",
        f"{_OPTIMIZERS}.adam:AMSGradRule",
        f"{_OPTIMIZERS}.adam:AdaBoundRule",
        f"{_OPTIMIZERS}.adam:AdamRule",
        f"{_OPTIMIZERS}.adam:AdamWRule",
        f"{_OPTIMIZERS}.corrected_momentum_sgd:CorrectedMomentumSGDRule",
        f"{_OPTIMIZERS}.msvag:MSVAGRule",
        f"{_OPTIMIZERS}.momentum_sgd:MomentumSGDRule",
        f"{_OPTIMIZERS}.nesterov_ag:NesterovAGRule",
        f"{_OPTIMIZERS}.rmsprop:RMSpropRule",
        f"{_OPTIMIZERS}.rmsprop_graves:RMSpropGravesRule",
        f"{_OPTIMIZERS}.sgd:SGDRule",
        f"{_OPTIMIZERS}.smorms3:SMORMS3Rule",
    ],
    f"{__name__}.update:blockwise",
)
