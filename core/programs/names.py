"""What a trace knows of functions by their names: their results' shapes, and whose memory it is."""

from __future__ import annotations


def _set(names: str) -> frozenset[str]:
    return frozenset(names.split())


REDUCTIONS = _set("sum prod max min mean std var any all argmax argmin count_nonzero amax amin")

SAME = _set(
    "astype clip where round full_like zeros_like ones_like empty_like tril triu sort argsort flip "
    "roll cumulative_sum copy nan_to_num"
)
"""Functions whose result has the shape that their arguments broadcast to."""

UNSHAPED = _set(
    "nonzero argwhere flatnonzero unique unique_all unique_counts unique_inverse unique_values "
    "extract compress bincount histogram trim_zeros setdiff1d union1d intersect1d"
)
"""Functions whose results have as many elements as the elements of their arguments say."""

TOLD = _set(
    "isdtype can_cast finfo iinfo result_type promote_types broadcast_shapes shape ndim size "
    "iscomplexobj isrealobj issubdtype dtype __array_namespace_info__"
)
"""What depends on shapes and dtypes alone, and is told at once."""

WRITING = _set("copyto put place putmask fill_diagonal put_along_axis")
"""NumPy's functions that change an argument."""

LOOKS = _set(
    "__bool__ __int__ __float__ __complex__ __index__ __array__ __dlpack__ __dlpack_device__ "
    "__contains__ item tolist tobytes __format__ __reduce__ __reduce_ex__ __round__"
)
"""Methods that need values."""

UNTRACED = _set("flat view partition argpartition choose byteswap put getfield tofile dump dumps")
"""Attributes and methods of NumPy's arrays that are not recorded."""

PLAIN = _set("zeros ones empty full arange eye normal uniform bernoulli permutation integers")
"""Functions whose results lie in order without gaps."""

FLIPS = _set("flip fliplr flipud")
"""Functions that are undone by doing them again."""

VIEWS = FLIPS | _set(
    "permute_dims transpose matrix_transpose linalg.matrix_transpose swapaxes moveaxis rollaxis T "
    "mT"
)
"""Functions whose result shows the memory of the first argument, all of it in another order."""

RESHAPED = _set("reshape ravel expand_dims squeeze")
"""The same in its order, where it lies in order without gaps."""

ALWAYS = _set("expand_dims squeeze")
"""Those of RESHAPED that are views however the elements lie."""

UNSURE = RESHAPED | _set(
    "split array_split vsplit hsplit dsplit unstack real imag real_if_close diagonal diag "
    "linalg.diagonal broadcast_to broadcast_arrays windows lib.stride_tricks.sliding_window_view "
    "asarray ascontiguousarray atleast_1d atleast_2d atleast_3d rot90 astype conj"
)
"""Functions whose results may share the memory of the first argument, in a way not followed."""

SHARING = VIEWS | UNSURE | _set("getitem")
"""All whose results may share the memory of the first argument."""

MOVING = _set(
    "copy copyto set_item take take_along_axis concat concatenate stack vstack hstack roll flip "
    "repeat tile astype getitem "
    "zeros ones empty full zeros_like ones_like empty_like full_like arange eye asarray "
    "normal uniform bernoulli permutation integers tril triu"
)
"""Functions that compute nothing: they move elements, fill or draw them."""
