"""Shapes, pieces and copies of arrays."""

provides = {
    "axis_order": "Transpose moveaxis rollaxis swapaxes transpose",
    "broadcast": "BroadcastTo broadcast broadcast_to",
    "cast": "Cast cast",
    "concat": "Concat concat dstack hstack vstack",
    "copy": "Copy copy",
    "expand_dims": "ExpandDims expand_dims",
    "flip": "Flip flip fliplr flipud",
    "get_item": "GetItem get_item",
    "pad": "Pad pad",
    "permutate": "Permutate permutate",
    "repeat": "repeat",
    "reshape": "Reshape flatten reshape",
    "select_item": "SelectItem select_item",
    "split_axis": "SplitAxis separate split_axis",
    "squeeze": "Squeeze squeeze",
    "stack": "Stack stack",
    "tile": "Tile tile",
    "transpose_sequence": "TransposeSequence transpose_sequence",
    "where": "Where where",
}
