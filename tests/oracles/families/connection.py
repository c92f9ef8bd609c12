"""Cases of affine maps and convolutions."""

from oracles.cases import Family, real, values, whole

CASES = Family()
add = CASES.add

add("linear", real(2, 3), real(4, 3))
add("linear", real(2, 3), real(4, 3), real(4))
add("linear", real(2, 3, 2), real(4, 6), real(4))
add("linear", real(2, 3, 2), real(4, 2), real(4), n_batch_axes=2)
add("linear", real(2, 3, 1, 2), real(4, 2), n_batch_axes=2)
add("linear", real(2, 3), real(4, 3), n_batch_axes=2)
add("linear", real(2, 3), real(4, 2))
add("linear", real(0, 3), real(4, 3), real(4))
add("bilinear", real(2, 3), real(2, 4), real(3, 4, 2))
add("bilinear", real(2, 3), real(2, 4), real(3, 4, 2), real(3, 2), real(4, 2), real(2))
add("bilinear", real(2, 3, 1), real(2, 2, 2), real(3, 4, 2))
add("bilinear", real(2, 3), real(2, 4), real(3, 4, 2), real(3, 2))
add("embed_id", values([0, 2, 2], "int32"), real(3, 2))
add("embed_id", whole(2, 2, dtype="int64"), real(3, 2))
add("embed_id", values([0, -1, 2], "int32"), real(3, 2), ignore_label=-1)
add("embed_id", values([0, 1, 2], "int32"), real(3, 2), 1)
add("embed_id", values([0, -2], "int32"), real(3, 2))

CONVOLUTIONS = (
    {},
    {"stride": 2},
    {"pad": 1},
    {"stride": 2, "pad": 1, "cover_all": True},
    {"dilate": 2, "pad": 1},
)
for n, size, k in ((1, (5,), (2,)), (2, (4, 5), (2, 3)), (3, (3, 4, 3), (2, 1, 2))):
    x, W, b = real(2, 3, *size), real(2, 3, *k), real(2)
    name = f"convolution_{n}d"
    add(name, x, W)
    for options in CONVOLUTIONS:
        add(name, x, W, b, **options)
    add(name, real(1, 4, *size), real(6, 2, *k), real(6), groups=2)
    add(name, real(1, 2, *size), W)
    add("convolution_nd", x, W, b, 1, 1)
    add("convolution_nd", x, W, stride=2, pad=1, cover_all=True)
    add("convolution_nd", x, W, dilate=2, pad=1)
    add("convolution_nd", real(1, 4, *size), real(6, 2, *k), groups=2)
    x, W, b = real(2, 3, *[s - 1 for s in size]), real(3, 2, *k), real(2)
    name = f"deconvolution_{n}d"
    add(name, x, W)
    for options in ({}, {"stride": 2}, {"pad": 1}, {"stride": 2, "pad": 1}, {"dilate": 2}):
        add(name, x, W, b, **options)
    add(name, real(1, 4, *size), real(4, 3, *k), real(6), groups=2)
    out = tuple([2 * (s - 2) + j + 1 for s, j in zip(size, k, strict=True)])
    add(name, x, W, b, stride=2, outsize=out)
    add("deconvolution_nd", x, W, b, 2, 1)
    add("deconvolution_nd", x, W, b, stride=2, outsize=out)
    add("deconvolution_nd", x, W, b, dilate=2)
    add("deconvolution_nd", real(1, 4, *size), real(4, 3, *k), real(6), groups=2)
add("convolution_2d", real(2, 3, 4, 5), real(2, 3, 2, 3), None, (2, 1), (0, 2))
add("convolution_2d", real(2, 3, 4, 5), real(2, 3, 5, 3))
add("convolution_2d", real(2, 3, 4, 5), real(2, 3, 2, 3), real(3))
add("convolution_2d", real(2, 3, 5, 5), real(2, 3, 2, 2), dilate=(2, 1))
add("deconvolution_2d", real(2, 3, 2, 3), real(3, 2, 2, 3), None, (2, 1), (0, 1))
add("deconvolution_2d", real(2, 3, 2, 3), real(3, 2, 2, 3), stride=2, outsize=(9, 9))
add("depthwise_convolution_2d", real(2, 3, 4, 4), real(2, 3, 2, 2))
add("depthwise_convolution_2d", real(2, 3, 4, 4), real(2, 3, 2, 2), real(6), 2, 1)
add("depthwise_convolution_2d", real(1, 2, 4, 3), real(1, 2, 2, 1), real(2), (1, 2), (1, 0))
add("dilated_convolution_2d", real(2, 3, 5, 4), real(2, 3, 2, 2))
add("dilated_convolution_2d", real(2, 3, 5, 4), real(2, 3, 2, 2), real(2), 1, 0, 2)
add("dilated_convolution_2d", real(2, 3, 5, 4), real(2, 3, 2, 2), stride=2, pad=1, cover_all=True)
add("dilated_convolution_2d", real(2, 3, 5, 4), real(2, 3, 2, 2), dilate=(1, 2), pad=(0, 1))
add("local_convolution_2d", real(2, 2, 4, 3), real(3, 3, 2, 2, 2, 2), real(3, 3, 2))
add("local_convolution_2d", real(1, 2, 5, 4), real(3, 2, 2, 2, 2, 2), stride=2)
add("local_convolution_2d", real(1, 2, 4, 4), real(3, 3, 2, 2, 2, 2), real(3, 3, 2), (1, 2))
add("deformable_convolution_2d_sampler", real(1, 2, 4, 4), real(1, 8, 3, 3), real(3, 2, 2, 2))
add(
    "deformable_convolution_2d_sampler",
    *(real(1, 2, 4, 4), real(1, 8, 3, 3), real(3, 2, 2, 2), real(3)),
    stride=2,
    pad=1,
)
add("shift", real(1, 20, 3, 4))
add("shift", real(1, 10, 3, 4), dilate=2)
add("shift", real(1, 7, 3, 4), ksize=(3, 1))
add("shift", real(1, 15, 3, 3), ksize=(3, 5), dilate=(1, 2))
add("shift", real(1, 4, 3, 4))
