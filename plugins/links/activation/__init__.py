"""Activations: those with parameters, and functions as links."""

provides = {
    "functions": (
        "ClippedReLU ELU GELU HardSigmoid LeakyReLU LogSoftmax ReLU SELU Sigmoid SiLU Softmax "
        "Softplus Tanh"
    ),
    "maxout": "Maxout",
    "prelu": "PReLU",
    "simplified_dropconnect": "SimplifiedDropconnect",
    "swish": "Swish",
}
