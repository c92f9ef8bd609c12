"""Layers' linear maps: matrix products, convolutions, embeddings."""

provides = {
    "linear": "LinearFunction linear",
    "convolution": ("Convolution convolution_1d convolution_2d convolution_3d convolution_nd"),
    "embed_id": "EmbedIDFunction embed_id",
}
