"""References of mathematics: Python's math, SciPy, and loops."""

import math
import statistics

import numpy as np
from references.tools import along, each
from scipy import special


def _extremum(better):
    """The first place of the greatest, or least, element."""

    def place(values):
        best = 0
        for i, v in enumerate(values):
            if better(v, values[best]):
                best = i
        return best

    def reference(x, axis=None):
        found = along(place)(x, axis)
        return np.asarray(found, "int32")

    return reference


def _nearest_below(x):
    return float(math.floor(x))


def _of_segments(function):
    """A function of a list of numbers for each column of each segment."""

    def reference(x, segments, count, empty=0.0):
        y = np.full((count, *x.shape[1:]), empty)
        for k in set(segments.tolist()):
            for column in np.ndindex(*x.shape[1:]):
                y[(k, *column)] = function(x[(segments == k, *column)].tolist())
        return y

    return reference


def _segment_softmax(x, segments, count):
    sums = _of_segments(lambda values: math.fsum(map(math.exp, values)))(x, segments, count)
    return np.exp(x) / sums[segments]


REFERENCES = {
    "ArgMax": _extremum(lambda a, b: a > b),
    "ArgMin": _extremum(lambda a, b: a < b),
    "Mean": along(statistics.fmean),
    "Max": along(max),
    "Min": along(min),
    "Prod": along(math.prod),
    "LogSumExp": lambda x, axis=None, keepdims=False: np.reshape(
        special.logsumexp(x, axis=axis, keepdims=keepdims),  # of one number it gives an axis
        np.max(x, axis=axis, keepdims=keepdims).shape,
    ),
    "BatchL2NormSquared": lambda x: np.array(
        [math.fsum(v * v for v in row.ravel().tolist()) for row in x], float
    ),
    "Clip": each(
        lambda x, x_min, x_max: max(
            min(x, math.inf if x_max is None else x_max), -math.inf if x_min is None else x_min
        )
    ),
    "Erf": each(math.erf),
    "SegmentMax": _of_segments(max),
    "SegmentMean": _of_segments(statistics.fmean),
    "SegmentMin": _of_segments(min),
    "SegmentSoftmax": _segment_softmax,
    "SegmentSum": _of_segments(math.fsum),
    "Exp": each(math.exp),
    "Expm1": each(math.expm1),
    "Fmod": each(math.fmod),
    "Sinh": each(math.sinh),
    "Cosh": each(math.cosh),
    "Arcsinh": each(math.asinh),
    "Arccosh": each(math.acosh),
    "Arctanh": each(math.atanh),
    "Identity": each(lambda x: x),
    "LinearInterpolate": each(lambda p, x, y: math.fsum([p * x, (1 - p) * y])),
    "Log2": each(math.log2),
    "Log10": each(math.log10),
    "Log1p": each(math.log1p),
    "Maximum": each(max),
    "Minimum": each(min),
    "Square": each(lambda x: math.pow(x, 2)),
    "Sqrt": each(math.sqrt),
    "Rsqrt": each(lambda x: math.pow(x, -0.5)),
    "Floor": each(_nearest_below),
    "Ceil": each(lambda x: float(math.ceil(x))),
    "Fix": each(lambda x: float(math.trunc(x))),
    "SquaredDifference": each(lambda x, y: math.pow(x - y, 2)),
    "Sin": each(math.sin),
    "Cos": each(math.cos),
    "Tan": each(math.tan),
    "Arcsin": each(math.asin),
    "OneMinusSquare": each(lambda x: 1 - x * x),
    "Arccos": each(math.acos),
    "Arctan": each(math.atan),
    "Arctan2": each(math.atan2),
}
