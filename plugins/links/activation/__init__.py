"""Activations that learn."""

provides = {
    "maxout": "Maxout",
    "prelu": "PReLU",
    "simplified_dropconnect": "SimplifiedDropconnect",
    "swish": "Swish",
}
