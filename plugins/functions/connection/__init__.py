"""Layers' linear maps: matrix products, convolutions, embeddings."""

provides = {
    "bilinear": "bilinear",
    "convolution": (
        "Convolution Convolution2DFunction Deconvolution "
        "convolution_1d convolution_2d convolution_3d convolution_nd"
    ),
    "deconvolution": "deconvolution_1d deconvolution_2d deconvolution_3d deconvolution_nd",
    "deformable_convolution": "deformable_convolution_2d_sampler",
    "depthwise_convolution": "depthwise_convolution_2d",
    "dilated_convolution": "dilated_convolution_2d",
    "embed_id": "EmbedIDFunction embed_id",
    "local_convolution": "local_convolution_2d",
    "linear": "LinearFunction linear",
    "shift": "Shift shift",
}
