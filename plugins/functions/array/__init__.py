"""Shapes, pieces and copies of arrays."""

provides = {
    "as_strided": "as_strided",
    "axis_order": "Rollaxis Swapaxes Transpose moveaxis rollaxis swapaxes transpose",
    "broadcast": "Broadcast BroadcastTo broadcast broadcast_to",
    "cast": "Cast cast",
    "concat": "Concat concat dstack hstack vstack",
    "copy": "Copy copy",
    "depth2space": "Depth2Space Space2Depth depth2space space2depth",
    "diagonal": "diagonal",
    "expand_dims": "ExpandDims expand_dims",
    "flip": "Flip FlipLR FlipUD flip fliplr flipud",
    "get_item": "GetItem SetItem get_item",
    "im2col": "Im2Col im2col",
    "one_hot": "one_hot",
    "pad": "Pad pad",
    "pad_sequence": "PadSequence pad_sequence",
    "permutate": "Permutate permutate",
    "pixel_shuffle": "pixel_shuffle pixel_unshuffle",
    "repeat": "repeat",
    "reshape": "Reshape flatten reshape",
    "resize_images": "ResizeImages resize_images",
    "scatter_add": "scatter_add",
    "select_item": "SelectItem select_item",
    "spatial_transformer": (
        "SpatialTransformerGrid SpatialTransformerSampler "
        "spatial_transformer_grid spatial_transformer_sampler"
    ),
    "split_axis": "SplitAxis separate split_axis",
    "squeeze": "Squeeze squeeze",
    "stack": "Stack stack",
    "tile": "Tile tile",
    "transpose_sequence": "TransposeSequence transpose_sequence",
    "where": "Where where",
}
