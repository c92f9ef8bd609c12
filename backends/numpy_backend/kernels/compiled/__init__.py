"""Kernels that numba compiles: a loop, and beside it the function that offers it for an operation.

Each is compared with the formula by tests/backends/test_compiled_kernels.py. Those that take the
formula's operations in its order give its bits; where sums are taken in another order, or
exponentials by another polynomial, results differ within the tolerance of the dtype.

Left to NumPy as measured on one thread: `tanh` (0.15 to 0.3 of PyTorch's time), sums over the first
axis (the gradient of a linear layer's bias, 14 us for 100 by 1000, beside milliseconds for its
products).
"""

from __future__ import annotations

_FUNCTIONS = "plugins.functions"
_OPTIMIZERS = "plugins.optimizers"

COMPUTE = {
    f"{_FUNCTIONS}.{operation}": f"{__name__}.{kernel}"
    for operation, kernel in {
        "activation.clipped_relu:ClippedReLU": "activation:clipped_relu",
        "activation.elu:ELU": "activation:elu",
        "activation.gelu:GELU": "activation:gelu",
        "activation.hard_sigmoid:HardSigmoid": "activation:hard_sigmoid",
        "activation.leaky_relu:LeakyReLU": "activation:leaky_relu",
        "activation.log_softmax:LogSoftmax": "loss.softmax:log_softmax",
        "activation.relu:ReLU": "activation:relu",
        "activation.sigmoid:Sigmoid": "activation:logistic",
        "activation.softmax:Softmax": "loss.softmax:softmax",
        "activation.softplus:Softplus": "activation:softplus",
        "activation.swish:SiLU": "activation:silu",
        "array.concat:Concat": "array.copies:concat",
        "array.pad:ConstantPad": "array.copies:constant_pad",
        "array.resize_images:ResizeImages": "array.resizing:resize_images",
        "array.where:Where": "array.choice:where",
        "array.where:WhereNumber": "array.choice:where_number",
        "array.spatial_transformer:SpatialTransformerSampler": "array.sampling:sampler",
        "attention.attention:Attention": "attention.attention:attention",
        "connection.convolution:Convolution": "convolution.convolution:convolution",
        "connection.convolution:ConvolutionFilterGradient": (
            "convolution.convolution:filter_gradient"
        ),
        "connection.convolution:Deconvolution": "convolution.convolution:deconvolution",
        "connection.linear:LinearFunction": "products.linear:linear",
        "loss.connectionist_temporal_classification:CTC": "loss.alignments:ctc",
        "loss.sigmoid_cross_entropy:SigmoidCrossEntropy": "loss.sigmoid:sigmoid_cross_entropy",
        "loss.softmax_cross_entropy:SoftmaxCrossEntropy": "loss.softmax:softmax_cross_entropy",
        "noise.dropout:Dropout": "noise:dropout",
        "math.arithmetic:Add": "math.arithmetic:add",
        "math.arithmetic:Divide": "math.arithmetic:divide",
        "math.arithmetic:Multiply": "math.arithmetic:multiply",
        "math.arithmetic:Subtract": "math.arithmetic:subtract",
        "math.cumulative:LogCumSumExp": "math.log_sums:logcumsumexp",
        "math.exponential:Expm1": "math.of_each:exponential_less_1",
        "math.hyperbolic:Arccosh": "math.of_each:hyperbolic_arccosine",
        "math.hyperbolic:Arcsinh": "math.of_each:hyperbolic_arcsine",
        "math.hyperbolic:Arctanh": "math.of_each:hyperbolic_arctangent",
        "math.hyperbolic:Cosh": "math.of_each:hyperbolic_cosine",
        "math.hyperbolic:Sinh": "math.of_each:hyperbolic_sine",
        "math.logarithm:Log10": "math.of_each:logarithm_to_10",
        "math.logarithm:Log1p": "math.of_each:logarithm_of_1_more",
        "math.logarithm:Log2": "math.of_each:logarithm_to_2",
        "math.segments:SegmentMax": "math.segments:segment_max",
        "math.segments:SegmentMin": "math.segments:segment_min",
        "math.trigonometric:Arccos": "math.of_each:arccosine",
        "math.trigonometric:Arcsin": "math.of_each:arcsine",
        "math.trigonometric:Arctan": "math.of_each:arctangent",
        "math.trigonometric:Arctan2": "math.of_each:arctangent_of_two",
        "math.trigonometric:Tan": "math.of_each:tangent",
        "math.with_number:AddConstant": "math.arithmetic:add_constant",
        "math.with_number:ConstantPower": "math.of_each:constant_power",
        "math.with_number:DivideConstant": "math.arithmetic:divide_constant",
        "math.with_number:DivideFromConstant": "math.arithmetic:divide_from_constant",
        "math.with_number:MultiplyConstant": "math.arithmetic:multiply_constant",
        "math.with_number:PowerConstant": "math.powers:power",
        "math.with_number:SubtractConstant": "math.arithmetic:subtract_constant",
        "math.with_number:SubtractFromConstant": "math.arithmetic:subtract_from_constant",
        "normalization.batch_normalization:BatchNormalization": (
            "normalization.batch:batch_normalization"
        ),
        "normalization.fixed_batch_normalization:FixedBatchNormalization": (
            "normalization.batch:fixed_batch_normalization"
        ),
        "normalization.group_normalization:GroupNormalization": (
            "normalization.own_statistics:group_normalization"
        ),
        "normalization.layer_normalization:LayerNormalization": (
            "normalization.own_statistics:layer_normalization"
        ),
        "pooling.adaptive_pooling:MeansOfShares": "pooling.shares:means_of_shares",
        "pooling.average_pooling:AveragePooling2D": "pooling.windows:average_pooling",
        "pooling.average_pooling:AveragePoolingGradient": "pooling.windows:spread_evenly",
        "pooling.average_pooling:AveragePoolingND": "pooling.windows:average_pooling",
        "pooling.max_pooling:MaxPooling2D": "pooling.windows:max_pooling",
        "pooling.max_pooling:MaxPoolingGradient": "pooling.windows:spread_maxima",
        "pooling.max_pooling:MaxPoolingND": "pooling.windows:max_pooling",
        "pooling.roi_average_pooling:WeighedRegions": "pooling.weighed_regions:weighed_regions",
        "pooling.roi_max_pooling:ROIMaxPooling2D": "pooling.regions:region_maxima",
        "pooling.roi_max_pooling:ROIPooling2D": "pooling.regions:region_maxima",
        "rnn.lstm:LSTM": "rnn.recurrent:lstm",
        "rnn.gru_sequence:GRUSequence": "rnn.sequences:gru_sequence",
        "rnn.lstm_sequence:LSTMSequence": "rnn.sequences:lstm_sequence",
        "rnn.simple_sequence:ReLUSequence": "rnn.sequences:relu_sequence",
        "rnn.simple_sequence:TanhSequence": "rnn.sequences:tanh_sequence",
    }.items()
} | {f"{_OPTIMIZERS}.hooks.norms:SquaredNorm": f"{__name__}.optimizers.norms:squared_norm"}
GRADIENT = {
    f"{_FUNCTIONS}.{operation}": f"{__name__}.{kernel}_gradient"
    for operation, kernel in {
        "activation.clipped_relu:ClippedReLU": "activation:clipped_relu",
        "activation.elu:ELU": "activation:elu",
        "activation.gelu:GELU": "activation:gelu",
        "activation.hard_sigmoid:HardSigmoid": "activation:hard_sigmoid",
        "activation.leaky_relu:LeakyReLU": "activation:leaky_relu",
        "activation.log_softmax:LogSoftmax": "loss.softmax:log_softmax",
        "activation.relu:ReLU": "activation:relu",
        "activation.sigmoid:Sigmoid": "activation:logistic",
        "activation.softmax:Softmax": "loss.softmax:softmax",
        "activation.softplus:Softplus": "activation:softplus",
        "activation.swish:SiLU": "activation:silu",
        "array.resize_images:ResizeImages": "array.resizing:resize_images",
        "array.where:Where": "array.choice:where",
        "array.where:WhereNumber": "array.choice:where_number",
        "array.spatial_transformer:SpatialTransformerSampler": "array.sampling:sampler",
        "attention.attention:Attention": "attention.attention:attention",
        "connection.linear:LinearFunction": "products.linear:linear",
        "math.arithmetic:Divide": "math.arithmetic:divide",
        "math.arithmetic:Multiply": "math.arithmetic:multiply",
        "math.clip:Clip": "activation:clip",
        "math.extrema:Max": "math.extrema:extremum",
        "math.extrema:Min": "math.extrema:extremum",
        "math.hyperbolic:Cosh": "math.of_each:hyperbolic_cosine",
        "math.hyperbolic:Sinh": "math.of_each:hyperbolic_sine",
        "math.prod:Prod": "math.products_of_others:prod",
        "math.with_number:PowerConstant": "math.powers:power",
        "loss.connectionist_temporal_classification:CTC": "loss.alignments:ctc",
        "loss.sigmoid_cross_entropy:SigmoidCrossEntropy": "loss.sigmoid:sigmoid_cross_entropy",
        "loss.softmax_cross_entropy:SoftmaxCrossEntropy": "loss.softmax:softmax_cross_entropy",
        "normalization.batch_normalization:BatchNormalization": (
            "normalization.batch:batch_normalization"
        ),
        "normalization.fixed_batch_normalization:FixedBatchNormalization": (
            "normalization.batch:fixed_batch_normalization"
        ),
        "normalization.group_normalization:GroupNormalization": (
            "normalization.own_statistics:group_normalization"
        ),
        "normalization.layer_normalization:LayerNormalization": (
            "normalization.own_statistics:layer_normalization"
        ),
        "pooling.adaptive_pooling:MeansOfShares": "pooling.shares:means_of_shares",
        "pooling.average_pooling:AveragePooling2D": "pooling.windows:average_pooling",
        "pooling.average_pooling:AveragePoolingND": "pooling.windows:average_pooling",
        "pooling.max_pooling:MaxPooling2D": "pooling.windows:max_pooling",
        "pooling.max_pooling:MaxPoolingND": "pooling.windows:max_pooling",
        "pooling.roi_average_pooling:WeighedRegions": "pooling.weighed_regions:weighed_regions",
        "rnn.lstm:LSTM": "rnn.recurrent:lstm",
        "rnn.gru_sequence:GRUSequence": "rnn.sequences:gru_sequence",
        "rnn.lstm_sequence:LSTMSequence": "rnn.sequences:lstm_sequence",
        "rnn.simple_sequence:ReLUSequence": "rnn.sequences:relu_sequence",
        "rnn.simple_sequence:TanhSequence": "rnn.sequences:tanh_sequence",
    }.items()
}
UPDATE_ALL = {
    f"{_OPTIMIZERS}.{rule}": f"{__name__}.optimizers.update:{kernel}"
    for rule, kernel in {
        "adadelta:AdaDeltaRule": "adadelta",
        "adagrad:AdaGradRule": "adagrad",
        "adam:AMSBoundRule": "amsbound",
        "adam:AMSGradRule": "amsgrad",
        "adam:AdaBoundRule": "adabound",
        "adam:AdamRule": "adam",
        "adam:AdamWRule": "adam",
        "adamax:AdaMaxRule": "adamax",
        "corrected_momentum_sgd:CorrectedMomentumSGDRule": "corrected_momentum_sgd",
        "lion:LionRule": "lion",
        "momentum_sgd:MomentumSGDRule": "momentum_sgd",
        "nadam:NAdamRule": "nadam",
        "nesterov_ag:NesterovAGRule": "nesterov_ag",
        "radam:RAdamRule": "radam",
        "rmsprop:RMSpropRule": "rmsprop",
        "rmsprop_graves:RMSpropGravesRule": "rmsprop_graves",
        "sgd:SGDRule": "sgd",
    }.items()
} | {f"{_OPTIMIZERS}.lamb:LAMBRule": f"{__name__}.optimizers.lamb:lamb"}
