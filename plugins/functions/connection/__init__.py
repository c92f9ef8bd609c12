"""Layers' linear maps: matrix products, convolutions, embeddings."""

provides = {
    "convolution": (
        "Convolution Deconvolution convolution_1d convolution_2d convolution_3d convolution_nd"
    ),
    "deconvolution": "deconvolution_1d deconvolution_2d deconvolution_3d deconvolution_nd",
    "embed_id": "EmbedIDFunction embed_id",
    "linear": "LinearFunction linear",
}
