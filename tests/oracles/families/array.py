"""Cases of functions that move elements."""

from oracles.cases import Family, real, truth, values, whole

CASES = Family()
add = CASES.add

add("as_strided", real(2, 3), (3, 2), (1, 3))
add("as_strided", real(6), (3, 2), (1, 1))
add("as_strided", real(6), (2, 2), (2, 1), 1)
add("broadcast", real(2, 1), real(3))
add("broadcast", real(2, 3), real(1), real())
add("broadcast", real(2, 3))
add("broadcast", real(2, 3), real(2))
add("broadcast_to", real(2, 1), (2, 3))
add("broadcast_to", real(3), (2, 3))
add("broadcast_to", real(2, 3), (2, 3))
add("broadcast_to", real(), (2,))
add("broadcast_to", real(2, 3), (2, 2))
add("broadcast_to", real(2, 3), (3,))
add("cast", real(2, 3), "float32")
add("cast", real(2, 3), "float16")
add("cast", real(2, 3), "float64")
add("cast", real(2, 3), "int32")
add("concat", [real(2, 3), real(2, 1)])
add("concat", [real(2, 3), real(1, 3)], axis=0)
add("concat", [real(2, 3, 2), real(2, 3, 1)], axis=-1)
add("concat", (real(2, 3),))
add("concat", [real(2, 3), real(1, 3)])
add("concat", [real(2), real(3)])
add("copy", real(2, 3), -1)
for name in ("dstack", "hstack", "vstack"):
    add(name, [real(), real()])
    add(name, [real(3), real(3)])
    add(name, [real(2, 3), real(2, 3)])
    add(name, [real(2, 3, 2), real(2, 3, 2)])
    add(name, [real(2, 3)])
    add(name, [real(2, 3), real(2, 2)])
add("depth2space", real(2, 8, 2, 3), 2)
add("depth2space", real(1, 9, 1, 2), r=3)
add("depth2space", real(1, 6, 1, 2), 2)
add("space2depth", real(2, 2, 4, 2), 2)
add("space2depth", real(1, 1, 3, 6), r=3)
add("space2depth", real(1, 1, 3, 4), 2)
add("diagonal", real(3, 3))
add("diagonal", real(3, 4), 1)
add("diagonal", real(2, 3, 4), offset=-1, axis1=1, axis2=2)
add("diagonal", real(2, 3, 4), 1, 2, 0)
for axis in (0, 1, 2, -1, -3, 3):
    add("expand_dims", real(2, 3), axis)
add("flatten", real(2, 3))
add("flatten", real())
for axis in (0, 1, -1, 2):
    add("flip", real(2, 3), axis)
add("fliplr", real(2, 3, 2))
add("fliplr", real(3))
add("flipud", real(2, 3))
add("flipud", real(3))
for slices in (
    0,
    -1,
    slice(None),
    slice(None, None, 2),
    (slice(0, 2), 1),
    (1, slice(None, None, 1)),
    Ellipsis,
    (Ellipsis, 0),
    None,
    (slice(None), None, 1),
    [0, 1],
    ([0, 2, 0], [1, 0, 1]),
    (slice(None), [0, 0, 2]),
    ([0, 1], slice(None), [1, 1]),
    (0, [1, 2]),
    5,
    (0, 0, 0, 0),
):
    add("get_item", real(3, 4, 2), slices)
add("get_item", real(2, 3), truth(2, 3))
add("get_item", real(3, 2), whole(2, 2))
add("get_item", real(2, 3), (slice(None, None, -1), 0))
for options in (
    {"ksize": 2},
    {"ksize": (2, 1), "stride": 2},
    {"ksize": 3, "stride": (1, 2), "pad": 1},
    {"ksize": 2, "stride": 2, "pad": 1, "cover_all": True},
    {"ksize": 2, "dilate": 2, "pad": (0, 1)},
):
    add("im2col", real(1, 2, 4, 3), **options)
add("moveaxis", real(2, 3, 4), 0, 2)
add("moveaxis", real(2, 3, 4), (0, 1), (-1, 0))
add("moveaxis", real(2, 3, 4), -1, 0)
add("moveaxis", real(2, 3, 4), (0, 0), (1, 2))
for mode, options in (
    ("constant", {}),
    ("constant", {"constant_values": 2.0}),
    ("constant", {"constant_values": ((1.0, 2.0), (3.0, 4.0))}),
    ("edge", {}),
    ("reflect", {}),
    ("symmetric", {}),
    ("wrap", {}),
    ("maximum", {}),
    ("mean", {}),
    ("minimum", {"stat_length": 2}),
    ("mean", {"stat_length": ((1, 2), (3, 2))}),
    ("linear_ramp", {}),
    ("linear_ramp", {"end_values": ((1.0, 2.0), (3.0, 4.0))}),
):
    add("pad", real(3, 4), ((1, 2), (0, 1)), mode, **options)
add("pad", real(3, 4), 1, "constant")
add("pad", real(3), (1, 2), "constant")
add("pad_sequence", [real(2), real(3), real(1)])
add("pad_sequence", [real(2, 2), real(1, 2)], length=4)
add("pad_sequence", [real(2), real(1)], padding=-1.0)
add("pad_sequence", [real(2), real(0)], 3, 9.0)
add("pad_sequence", [real(2), real(3)], 2)
add("pad_sequence", [whole(2), whole(3)], padding=-1)
add("permutate", real(3, 2), values([2, 0, 1], "int32"))
add("permutate", real(2, 3), values([2, 0, 1], "int32"), axis=1)
add("permutate", real(3, 2), values([2, 0, 1], "int32"), inv=True)
add("permutate", real(2, 3), values([2, 0, 1], "int32"), -1, True)
add("repeat", real(2, 3), 2)
add("repeat", real(2, 3), 2, axis=0)
add("repeat", real(2, 3), (1, 2, 0), axis=1)
add("repeat", real(2, 3), (2,), axis=-1)
add("repeat", real(2, 3), 0, 1)
add("repeat", real(), 3)
add("reshape", real(2, 3), (3, 2))
add("reshape", real(2, 3), (-1,))
add("reshape", real(2, 3), (1, -1, 2))
add("reshape", real(1), ())
add("reshape", real(2, 3), (4,))
for shape in ((1, 1), (3, 5), (4, 2), (2, 6)):
    add("resize_images", real(1, 2, 3, 2), shape)
    for mode in ("bilinear", "nearest"):
        add("resize_images", real(1, 1, 2, 3), shape, mode=mode, align_corners=False)
add("rollaxis", real(2, 3, 4), 2)
add("rollaxis", real(2, 3, 4), 0, 3)
add("rollaxis", real(2, 3, 4), -1, start=1)
add("rollaxis", real(2, 3, 4), 1, -1)
add("rollaxis", real(2, 3, 4), 3)
add("scatter_add", real(3, 2), 1, real(2))
add("scatter_add", real(3, 2), [0, 2, 0], real(3, 2))
add("scatter_add", real(3, 2), (slice(None), 1), real(3))
add("scatter_add", real(3, 2), (slice(0, 2), None), real(2, 1, 2))
add("select_item", real(3, 4), values([0, 3, 1], "int32"))
add("select_item", real(3, 4), values([0, 3, 1], "int64"))
add("select_item", real(2, 4), values([0, 4], "int32"))
add("select_item", real(2, 4), values([0, -1], "int32"))
add("separate", real(2, 3))
add("separate", real(2, 3), axis=1)
add("separate", real(2, 3, 2), -1)
add("spatial_transformer_grid", real(2, 2, 3), (3, 2))
add("spatial_transformer_grid", real(1, 2, 3), (1, 1))
add("spatial_transformer_grid", real(2, 3, 3), (3, 2))
add("spatial_transformer_sampler", real(2, 2, 3, 4), real(2, 2, 2, 3, lo=-1.0, hi=1.0))
add("spatial_transformer_sampler", real(1, 1, 3, 3), real(1, 2, 3, 3, lo=-2.0, hi=2.0))
add("spatial_transformer_sampler", real(1, 1, 1, 2), real(1, 2, 2, 2, lo=-1.0, hi=1.0))
add(
    "spatial_transformer_sampler",
    real(1, 1, 3, 3),
    values([[[[-1.0, 1.0, 0.0]], [[1.0, -1.0, 0.0]]]]),
)
add("split_axis", real(2, 4), 2, 1)
add("split_axis", real(2, 4), [1, 3], axis=1)
add("split_axis", real(2, 4), (0, 4), 1)
add("split_axis", real(2, 4), values([1, 2], "int32"), -1)
add("split_axis", real(2, 4), 1, 0)
add("split_axis", real(2, 4), 1, 0, force_tuple=False)
add("split_axis", real(2, 4), [], 0)
add("split_axis", real(2, 4), 3, 1)
add("split_axis", real(2, 4), [5], 1)
add("split_axis", real(2, 4), [3, 1], 1)
add("squeeze", real(1, 2, 1))
add("squeeze", real(1, 2, 1), 0)
add("squeeze", real(1, 2, 1), axis=(0, -1))
add("squeeze", real(1, 2, 1), axis=1)
add("squeeze", real(1, 1))
for axis in (0, 1, 2, -1, -3, 3):
    add("stack", [real(2, 3), real(2, 3)], axis=axis)
add("stack", [real(), real()])
add("swapaxes", real(2, 3, 4), 0, 2)
add("swapaxes", real(2, 3, 4), axis1=-1, axis2=1)
add("swapaxes", real(2, 3), 0, 2)
add("tile", real(2, 3), 2)
add("tile", real(2, 3), (2, 1))
add("tile", real(3), (2, 2))
add("tile", real(2, 3), (1, 2, 1))
add("tile", real(2, 3), (0, 1))
add("tile", real(2, 3), ())
add("transpose", real(2, 3, 4))
add("transpose", real(2, 3, 4), (1, 0, 2))
add("transpose", real(2, 3, 4), axes=(-1, 0, 1))
add("transpose", real(2, 3), (0, 0))
add("transpose_sequence", [real(3), real(2), real(1)])
add("transpose_sequence", [real(3, 2), real(3, 2)])
add("transpose_sequence", [real(2, 2), real(0, 2)])
add("transpose_sequence", [real(1), real(2)])
add("where", truth(2, 3), real(2, 3), real(2, 3))
add("where", truth(2, 1), real(3), real(2, 3))
add("where", truth(2, 3), real(2, 3), real())
add("where", whole(2, 3), real(2, 3), real(2, 3))
add("where", truth(2, 3), real(2, 3), 0.5)
add("where", truth(2, 3), 1, real(2, 3))
add("where", truth(2, 3), real(2, 3), real(2, 2))
