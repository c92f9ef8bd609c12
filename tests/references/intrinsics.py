"""References of the operations behind the operators."""

import math
import operator

import numpy as np
from references.tools import each, total


def matmul(a, b):
    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a = np.broadcast_to(a, lead + a.shape[-2:])
    b = np.broadcast_to(b, lead + b.shape[-2:])
    y = np.empty(lead + (a.shape[-2], b.shape[-1]))
    for *at, i, j in np.ndindex(*y.shape):
        row, column = a[(*at, i)], b[(*at, slice(None), j)]
        y[(*at, i, j)] = math.fsum(p * q for p, q in zip(row, column, strict=True))
    return y


def reshape(x, shape):
    if -1 in shape:
        known = -math.prod(shape)
        shape = tuple(x.size // known if n == -1 else n for n in shape)
    y = np.empty(shape)
    for index, value in zip(np.ndindex(*shape), x.ravel().tolist(), strict=True):
        y[index] = value
    return y


def transpose(x, axes=None):
    axes = tuple(range(x.ndim))[::-1] if axes is None else axes
    y = np.empty([x.shape[a] for a in axes])
    for index in np.ndindex(*y.shape):
        source = [0] * x.ndim
        for a, i in zip(axes, index, strict=True):
            source[a] = i
        y[index] = x[tuple(source)]
    return y


def broadcast_to(x, shape):
    y = np.empty(shape)
    for index in np.ndindex(*shape):
        tail = index[len(shape) - x.ndim :]
        y[index] = x[tuple(0 if n == 1 else i for n, i in zip(x.shape, tail, strict=True))]
    return y


def sum_to(x, shape):
    lead = x.ndim - len(shape)
    axes = [i for i in range(x.ndim) if i < lead or shape[i - lead] == 1]
    return total(x, tuple(axes), keepdims=True).reshape(shape) if axes else x


def get_item(x, slices):
    """By the positions of the elements, which are looked up one by one."""
    positions = np.arange(x.size).reshape(x.shape)[slices]
    flat = x.ravel().tolist()
    return each(lambda p: flat[p])(positions)


def set_item(x, value, slices):
    y = x.copy()
    targets = np.arange(x.size).reshape(x.shape)[slices]
    for position, number in zip(
        targets.ravel(), np.broadcast_to(value, targets.shape).ravel(), strict=True
    ):
        y.flat[position] = number
    return y


def scatter_add(x, slices, shape):
    y = np.zeros(shape)
    positions = np.arange(y.size).reshape(shape)[slices]
    for position, value in zip(positions.ravel(), x.ravel(), strict=True):
        y.flat[position] += value
    return y


def power(x, y):
    return math.exp(y * math.log(x))


REFERENCES = {
    "AddConstant": each(lambda x, value: x + value),
    "SubtractConstant": each(lambda x, value: x - value),
    "SubtractFromConstant": each(lambda x, value: value - x),
    "MultiplyConstant": each(lambda x, value: x * value),
    "DivideConstant": each(lambda x, value: x / value),
    "DivideFromConstant": each(lambda x, value: value / x),
    "PowerConstant": each(lambda x, value: power(x, value)),
    "ConstantPower": each(lambda x, value: power(value, x)),
    "Add": each(operator.add),
    "Subtract": each(operator.sub),
    "Multiply": each(operator.mul),
    "Divide": each(operator.truediv),
    "FloorDivide": each(lambda x, y: math.floor(x / y)),
    "Power": each(power),
    "Negative": each(operator.neg),
    "Sign": each(lambda x: (x > 0) - (x < 0)),
    "Absolute": each(math.fabs),
    "Log": each(math.log),
    "Where": each(lambda condition, x, y: x if condition else y),
    "WhereNumber": each(
        lambda condition, x, number, otherwise: x if bool(condition) != otherwise else number
    ),
    "Equal": each(operator.eq, bool),
    "NotEqual": each(operator.ne, bool),
    "Less": each(operator.lt, bool),
    "LessEqual": each(operator.le, bool),
    "Greater": each(operator.gt, bool),
    "GreaterEqual": each(operator.ge, bool),
    "Reshape": reshape,
    "Transpose": transpose,
    "BroadcastTo": broadcast_to,
    "SumTo": sum_to,
    "Sum": total,
    "MatMul": matmul,
    "MatVec": lambda a, b: (a * b).sum(-1),
    "GetItem": get_item,
    "ScatterAdd": scatter_add,
    "SetItem": set_item,
    "Cast": each(lambda x, typ: x),
}
