"""Models in the formats of other programs, and what ONNX has for whole operations."""

from __future__ import annotations

from core import hookimpl


@hookimpl
def register_formats() -> dict[str, str]:
    """The formats, loaded when asked for."""
    from core.registry import lazily

    return lazily(__name__, {"onnx_file": "onnx"})


@hookimpl
def register_exporters() -> dict[str, str]:
    """ONNX's own operators for operations, by the classes of these."""
    return {
        f"plugins.functions.{operation}": f"{__name__}.{translation}"
        for operation, translation in _OPERATORS.items()
    }


_OPERATORS = {
    "activation.clipped_relu:ClippedReLU": "activations:clipped_relu",
    "activation.elu:ELU": "activations:elu",
    "activation.gelu:GELU": "activations:gelu",
    "activation.hard_sigmoid:HardSigmoid": "activations:hard_sigmoid",
    "activation.leaky_relu:LeakyReLU": "activations:leaky_relu",
    "activation.log_softmax:LogSoftmax": "activations:log_softmax",
    "activation.prelu:PReLU": "activations:prelu",
    "activation.relu:ReLU": "activations:relu",
    "activation.sigmoid:Sigmoid": "activations:sigmoid",
    "activation.softmax:Softmax": "activations:softmax",
    "activation.softplus:Softplus": "activations:softplus",
    "activation.swish:SiLU": "activations:silu",
    "math.erf:Erf": "activations:erf",
    "array.resize_images:ResizeImages": "layers:resize",
    "attention.attention:Attention": "layers:attention",
    "connection.convolution:Convolution": "layers:convolution",
    "connection.convolution:Deconvolution": "layers:deconvolution",
    "connection.embed_id:EmbedIDFunction": "layers:embed_id",
    "connection.linear:LinearFunction": "layers:linear",
    "math.fft:FFT": "layers:fft",
    "normalization.fixed_batch_normalization:FixedBatchNormalization": "layers:batch_normalization",
    "normalization.group_normalization:GroupNormalization": "layers:group_normalization",
    "normalization.layer_normalization:LayerNormalization": "layers:layer_normalization",
    "normalization.local_response_normalization:LocalResponseNormalization": "layers:lrn",
    "pooling.average_pooling:AveragePooling2D": "layers:average_pooling",
    "pooling.average_pooling:AveragePoolingND": "layers:average_pooling",
    "pooling.max_pooling:MaxPooling2D": "layers:max_pooling",
    "pooling.max_pooling:MaxPoolingND": "layers:max_pooling",
    "rnn.gru_sequence:GRUSequence": "recurrent:gru_sequence",
    "rnn.lstm_sequence:LSTMSequence": "recurrent:lstm_sequence",
    "rnn.simple_sequence:ReLUSequence": "recurrent:relu_sequence",
    "rnn.simple_sequence:TanhSequence": "recurrent:tanh_sequence",
}
