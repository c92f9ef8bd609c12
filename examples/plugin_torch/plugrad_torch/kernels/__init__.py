"""What PyTorch's own functions compute faster than the formulas, by the class that they stand for.

A kernel gives NotImplemented for what its function does not take, and the formula is used.
"""

_AT = __name__
_FUNCTIONS = "plugins.functions"
_OPTIMIZERS = "plugins.optimizers"


def _table(root: str, rows: dict[str, str], ending: str = "") -> dict[str, str]:
    return {f"{root}.{of}": f"{_AT}.{kernel}{ending}" for of, kernel in rows.items()}


_BOTH = {
    "activation.clipped_relu:ClippedReLU": "activations:clipped_relu",
    "activation.elu:ELU": "activations:elu",
    "activation.gelu:GELU": "activations:gelu",
    "activation.hard_sigmoid:HardSigmoid": "activations:hard_sigmoid",
    "activation.leaky_relu:LeakyReLU": "activations:leaky_relu",
    "activation.softplus:Softplus": "activations:softplus",
    "activation.swish:SiLU": "activations:silu",
    "activation.relu:ReLU": "layers:relu",
    "activation.sigmoid:Sigmoid": "layers:sigmoid",
    "activation.log_softmax:LogSoftmax": "layers:log_softmax",
    "activation.softmax:Softmax": "layers:softmax",
    "attention.attention:Attention": "attention:attention",
    "connection.convolution:Convolution": "convolution:convolution",
    "connection.convolution:Deconvolution": "convolution:deconvolution",
    "connection.linear:LinearFunction": "layers:linear",
    "loss.sigmoid_cross_entropy:SigmoidCrossEntropy": "losses:sigmoid_cross_entropy",
    "loss.softmax_cross_entropy:SoftmaxCrossEntropy": "losses:softmax_cross_entropy",
    "normalization.batch_normalization:BatchNormalization": "normalization:batch_normalization",
    "normalization.group_normalization:GroupNormalization": "normalization:group_normalization",
    "normalization.layer_normalization:LayerNormalization": "normalization:layer_normalization",
    "pooling.max_pooling:MaxPooling2D": "pooling:max_pooling",
    "rnn.lstm:LSTM": "recurrent:lstm",
    "rnn.gru_sequence:GRUSequence": "sequences:gru_sequence",
    "rnn.lstm_sequence:LSTMSequence": "sequences:lstm_sequence",
    "rnn.simple_sequence:ReLUSequence": "sequences:relu_sequence",
    "rnn.simple_sequence:TanhSequence": "sequences:tanh_sequence",
}
_COMPUTE = _BOTH | {
    "activation.tanh:TanhGradient": "layers:tanh_share",
    "array.get_item:GetItem": "layers:get_item",
    "array.select_item:PlaceItem": "layers:place_item",
    "connection.convolution:ConvolutionFilterGradient": "convolution:filter_gradient",
    "connection.embed_id:EmbedIDGradient": "layers:embed_id_gradient",
    "normalization.fixed_batch_normalization:FixedBatchNormalization": (
        "normalization:fixed_batch_normalization"
    ),
    "pooling.max_pooling:MaxPoolingGradient": "pooling:spread_maxima",
    "pooling.average_pooling:AveragePooling2D": "pooling:average_pooling",
    "pooling.average_pooling:AveragePoolingGradient": "pooling:average_pooling_gradient",
}
_GRADIENT = _BOTH | {"activation.tanh:Tanh": "layers:tanh"}
_UPDATE_ALL = {
    "adam:AMSGradRule": "update:amsgrad",
    "adam:AdamRule": "update:adam",
    "adam:AdamWRule": "update:adam",
    "momentum_sgd:MomentumSGDRule": "update:momentum_sgd",
    "sgd:SGDRule": "update:sgd",
}

TABLES = {
    "compute": _table(_FUNCTIONS, _COMPUTE),
    "gradient": _table(_FUNCTIONS, _GRADIENT, "_gradient"),
    "update_all": _table(_OPTIMIZERS, _UPDATE_ALL),
}
