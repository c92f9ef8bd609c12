"""References of ops that only move elements: by the place that each one comes from."""

import itertools
import operator

import numpy as np
from references.intrinsics import broadcast_to, reshape
from references.tools import each


def _filled(shape, element):
    y = np.empty(shape)
    for index in np.ndindex(*y.shape):
        y[index] = element(index)
    return y


def _replaced(index, axis, value):
    return (*index[:axis], value, *index[axis + 1 :])


def broadcast(*xs):
    ndim = max(x.ndim for x in xs)
    sizes = [(1,) * (ndim - x.ndim) + x.shape for x in xs]
    shape = tuple(0 if 0 in along else max(along) for along in zip(*sizes, strict=True))
    return tuple(broadcast_to(x, shape) for x in xs)


def concat(*xs, axis=1):
    axis %= xs[0].ndim
    places = [(x, i) for x in xs for i in range(x.shape[axis])]
    shape = _replaced(xs[0].shape, axis, len(places))

    def element(index):
        x, i = places[index[axis]]
        return x[_replaced(index, axis, i)]

    return _filled(shape, element)


def stack(*xs, axis=0):
    axis %= xs[0].ndim + 1
    shape = (*xs[0].shape[:axis], len(xs), *xs[0].shape[axis:])
    return _filled(shape, lambda index: xs[index[axis]][(*index[:axis], *index[axis + 1 :])])


def expand_dims(x, axis):
    axis %= x.ndim + 1
    return reshape(x, (*x.shape[:axis], 1, *x.shape[axis:]))


def squeeze(x, axis=None):
    axis = range(x.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
    gone = [a % x.ndim for a in axis if x.shape[a] == 1]
    return reshape(x, tuple(n for i, n in enumerate(x.shape) if i not in gone))


def flip(x, axis=None):
    axis = range(x.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
    turned = [a % x.ndim for a in axis]
    return _filled(
        x.shape,
        lambda index: x[
            tuple(x.shape[i] - 1 - k if i in turned else k for i, k in enumerate(index))
        ],
    )


def swapaxes(x, axis1, axis2):
    axis1, axis2 = axis1 % x.ndim, axis2 % x.ndim
    swap = {axis1: axis2, axis2: axis1}
    shape = [x.shape[swap.get(i, i)] for i in range(x.ndim)]
    return _filled(shape, lambda index: x[tuple(index[swap.get(i, i)] for i in range(x.ndim))])


def rollaxis(x, axis, start=0):
    return np.array(np.rollaxis(x, axis, start))


def pad(x, pad_width, constant_values):
    shape = [n + sum(w) for n, w in zip(x.shape, pad_width, strict=True)]

    def element(index):
        value, inside = None, []
        for i, k in enumerate(index):
            before = pad_width[i][0]
            if k < before:
                value = constant_values[i][0]
            elif k >= before + x.shape[i]:
                value = constant_values[i][1]
            inside.append(k - before)
        return x[tuple(inside)] if value is None else value

    return _filled(shape, element)


def permutate(x, indices, axis=0, inv=False):
    y = np.empty_like(x)
    axis %= x.ndim
    for index in np.ndindex(*x.shape):
        other = _replaced(index, axis, int(indices[index[axis]]))
        target, source = (other, index) if inv else (index, other)
        y[target] = x[source]
    return y


def take(x, indices, axis=0):
    axis %= x.ndim
    shape = (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])

    def element(index):
        place = index[axis : axis + indices.ndim]
        rest = index[axis + indices.ndim :]
        return x[(*index[:axis], int(indices[place]), *rest)]

    return _filled(shape, element)


def select_item(x, t):
    return np.array([row[k] for row, k in zip(x.tolist(), t.tolist(), strict=True)], x.dtype)


def split_axis(x, indices_or_sections, axis):
    n = x.shape[axis]
    if isinstance(indices_or_sections, int):
        step = n // indices_or_sections
        cuts = list(range(0, n, step)) if n else [0] * indices_or_sections
    else:
        cuts = [0, *indices_or_sections]
    ends = [*cuts[1:], n]
    moved = np.moveaxis(x, axis, 0)
    parts = [[moved[i] for i in range(a, b) if i < n] for a, b in zip(cuts, ends, strict=True)]
    return tuple(
        np.moveaxis(np.array(part).reshape((len(part), *moved.shape[1:])), 0, axis)
        for part in parts
    )


def tile(x, reps):
    reps = (reps,) if isinstance(reps, int) else reps
    reps = (1,) * (x.ndim - len(reps)) + tuple(reps)
    shape = (1,) * (len(reps) - x.ndim) + x.shape
    larger = [n * r for n, r in zip(shape, reps, strict=True)]
    lead = len(shape) - x.ndim
    return _filled(
        larger, lambda index: x[tuple(k % n for k, n in zip(index[lead:], x.shape, strict=True))]
    )


def transpose_sequence(*xs, length=None):
    longest = max(map(len, xs))
    return tuple(np.stack([x[t] for x in xs if t < len(x)]) for t in range(longest))


def one_hot(x, num_classes, axis, dtype):
    axis %= x.ndim + 1
    shape = (*x.shape[:axis], num_classes, *x.shape[axis:])
    y = _filled(shape, lambda index: index[axis] == x[index[:axis] + index[axis + 1 :]])
    return y.astype(dtype)


def take_along_axis(x, indices, axis=-1):
    y = np.empty(indices.shape)
    for index in np.ndindex(*indices.shape):
        source = list(index)
        source[axis] = int(indices[index])
        y[index] = x[tuple(source)]
    return y


def roll(x, shifts):
    return _filled(
        x.shape,
        lambda index: x[
            tuple((k - by) % n for k, by, n in zip(index, shifts, x.shape, strict=True))
        ],
    )


def triangle(is_kept):
    def of_matrices(x, k=0):
        return _filled(x.shape, lambda index: x[index] if is_kept(index[-1] - index[-2], k) else 0)

    return of_matrices


def difference(x, axis=-1):
    rows = np.moveaxis(x, axis, 0)
    found = [after - before for before, after in itertools.pairwise(rows)]
    return np.moveaxis(np.array(found).reshape((len(found), *rows.shape[1:])), 0, axis)


def separate(x, axis):
    axis %= x.ndim
    shape = x.shape[:axis] + x.shape[axis + 1 :]
    return tuple(
        [
            _filled(shape, lambda index, i=i: x[(*index[:axis], i, *index[axis:])])
            for i in range(x.shape[axis])
        ]
    )


def as_strided(x, shape, strides, offset=0):
    return _filled(shape, lambda index: x.ravel()[offset + np.dot(index, strides)])


REFERENCES = {
    "AsStrided": as_strided,
    "Difference": difference,
    "Tril": triangle(operator.le),
    "Triu": triangle(operator.ge),
    "BroadcastTo": broadcast_to,
    "Concat": concat,
    "Copy": each(lambda x, out_device: x),
    "ExpandDims": expand_dims,
    "Flip": flip,
    "FlipLR": lambda x: flip(x, 1),
    "FlipUD": lambda x: flip(x, 0),
    "OneHot": one_hot,
    "ConstantPad": pad,
    "Continued": lambda x, pad_width, mode: np.pad(x, pad_width, mode) if x.ndim else x,
    "Permutate": permutate,
    "Roll": roll,
    "Rollaxis": rollaxis,
    "SelectItem": select_item,
    "Separate": separate,
    "SplitAxis": split_axis,
    "Squeeze": squeeze,
    "Stack": stack,
    "Swapaxes": swapaxes,
    "Take": take,
    "Tile": tile,
    "TakeAlongAxis": take_along_axis,
    "TransposeSequence": transpose_sequence,
}
