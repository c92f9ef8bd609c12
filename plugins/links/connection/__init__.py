"""Linear maps with weights: fully connected, convolutional, embedding."""

provides = {
    "linear": "Linear",
    "convolution_2d": "Convolution2D",
    "embed_id": "EmbedID",
}
