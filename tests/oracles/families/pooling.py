"""Cases of pooling over windows and regions."""

from oracles.cases import Family, real, values

CASES = Family()
add = CASES.add

for n, size in ((1, (5,)), (2, (4, 5)), (3, (3, 4, 3))):
    x = real(1, 2, *size)
    for name in (f"max_pooling_{n}d", "max_pooling_nd"):
        add(name, x, 2)
        add(name, x, 2, 1, 1)
        add(name, x, 3, stride=2, pad=1, cover_all=False)
        add(name, x, (2,) * n, (2,) * n, (1,) * n, return_indices=True)
        add(name, x, 2, 1, cover_all=False, return_indices=True)
    for name in (f"average_pooling_{n}d", "average_pooling_nd"):
        add(name, x, 2)
        add(name, x, 2, 1, 1)
        add(name, x, (3,) * n, stride=2, pad=1)
        if name != "average_pooling_2d":
            add(name, x, 2, 1, 1, pad_value=None)
            add(name, x, 3, 2, 1, pad_value=0)
    x = real(1, 2, *[s - 2 for s in size])
    for name in (f"unpooling_{n}d", "unpooling_nd"):
        add(name, x, 2)
        add(name, x, 2, 1)
        add(name, x, 3, 2, 1)
        add(name, x, 3, 2, pad=1, cover_all=False)
        add(name, x, 2, outsize=tuple([2 * (s - 2) for s in size]))
        add(name, x, 2, 2, 0, tuple([2 * (s - 2) - 1 for s in size]), True)
add("max_pooling_2d", values([[[[1.0, 1.0], [1.0, 0.0]]]]), 2)
add("max_pooling_2d", real(1, 1, 2, 2), 3)
add("max_pooling_2d", real(1, 1, 2, 2), 3, cover_all=False)
add("average_pooling_2d", real(1, 1, 2, 2), 3)
add("average_pooling_2d", real(1, 1, 4, 4), (2, 1), (1, 2))


def upsampled(F, x, ksize, more, **options):
    y, indexes = F.max_pooling_2d(x, ksize, return_indices=True, **options)
    return F.upsampling_2d(y, indexes, ksize, **options, **more)


add("upsampling_2d", real(1, 2, 4, 4), 2, {}, call=upsampled)
add("upsampling_2d", real(1, 2, 4, 5), 2, {"outsize": (4, 5)}, call=upsampled)
add("upsampling_2d", real(1, 2, 5, 5), 3, {}, call=upsampled, stride=2, pad=1)
add("upsampling_2d", real(1, 2, 5, 5), 3, {}, call=upsampled, stride=2, cover_all=False)
add("spatial_pyramid_pooling_2d", real(1, 2, 4, 5), 2, "max")
add("spatial_pyramid_pooling_2d", real(1, 2, 7, 6), 3, pooling="max")
add("spatial_pyramid_pooling_2d", real(1, 2, 4, 5), 1)

ROIS = [[1.0, 1.0, 6.0, 6.0], [0.0, 2.0, 7.0, 7.0], [3.0, 1.0, 5.0, 9.0]]
rois = values(ROIS, plain=True)
at = values([0, 1, 0], "int32")
x = real(2, 2, 6, 5)
add(
    "roi_pooling_2d",
    x,
    values([[0.0, *ROIS[0]], [1.0, *ROIS[1]], [0.0, *ROIS[2]]], plain=True),
    2,
    3,
    0.6,
)
add("roi_pooling_2d", x, values([[1.0, *ROIS[0]]], plain=True), outh=3, outw=1, spatial_scale=1.0)
add("roi_pooling_2d", x, values([[1.0, *ROIS[1]], [0.0, *ROIS[2]]], plain=True), 1, 2, 0.25)
for name in ("roi_max_pooling_2d", "roi_average_pooling_2d"):
    add(name, x, rois, at, 2, 0.6)
    add(name, x, rois, at, (3, 2), 1.0)
    add(name, x, rois, at, outsize=(1, 2), spatial_scale=0.25)
for name in ("roi_max_align_2d", "roi_average_align_2d"):
    add(name, x, rois, at, 2, 0.6)
    add(name, x, rois, at, (3, 2), 1.0, 2)
    add(name, x, rois, at, (1, 2), 0.5, sampling_ratio=(1, 3))
    add(name, x, rois, at, (1, 2), 0.5, sampling_ratio=(None, 2))
