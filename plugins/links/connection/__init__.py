"""Linear maps with weights: fully connected, convolutional, embedding."""

provides = {
    "bias": "Bias",
    "bilinear": "Bilinear",
    "convolution": "Convolution1D Convolution2D Convolution3D ConvolutionND",
    "deconvolution": "Deconvolution1D Deconvolution2D Deconvolution3D DeconvolutionND",
    "deformable_convolution_2d": "DeformableConvolution2D",
    "depthwise_convolution_2d": "DepthwiseConvolution2D",
    "dilated_convolution_2d": "DilatedConvolution2D",
    "embed_id": "EmbedID",
    "highway": "Highway",
    "inception": "Inception",
    "inceptionbn": "InceptionBN",
    "linear": "Linear",
    "local_convolution_2d": "LocalConvolution2D",
    "mlp_convolution_2d": "MLPConvolution2D",
    "parameter": "Parameter",
    "scale": "Scale",
}
