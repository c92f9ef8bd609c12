"""Nonlinearities between layers."""

provides = {
    "clipped_relu": "ClippedReLU clipped_relu relu6",
    "crelu": "CReLU crelu",
    "elu": "ELU elu selu",
    "gelu": "GELU gelu",
    "hard_sigmoid": "HardSigmoid hard_sigmoid",
    "leaky_relu": "LeakyReLU leaky_relu",
    "log_softmax": "LogSoftmax log_softmax",
    "maxout": "maxout",
    "prelu": "PReLU prelu",
    "relu": "ReLU relu",
    "rrelu": "RReLU rrelu",
    "sigmoid": "Sigmoid sigmoid",
    "softmax": "Softmax softmax",
    "softplus": "Softplus softplus",
    "swish": "SiLU silu swish",
    "tanh": "Tanh tanh",
}
