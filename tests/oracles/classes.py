"""The function classes of version 3, each constructed by position as then, and given inputs."""

import numpy as np
from oracles.cases import Family, real, truth, values, whole

CASES = Family()


def add(name, settings, *inputs):
    """Arguments of the class, and what an instance is applied to."""
    CASES.add(name, *inputs, settings=settings)


x, image, labels = real(3, 4), real(1, 2, 4, 4), whole(3, hi=4)

for name in (
    *("Arctan", "Cos", "Cosh", "Exp", "Expm1", "HardSigmoid", "Identity", "ReLU", "Sigmoid"),
    *("Sin", "Sinh", "Square", "Tan", "Tanh"),
):
    add(name, (), x)
for name in ("Ceil", "Floor"):
    add(name, (), x)
for name in ("Arccos", "Arcsin"):
    add(name, (), real(3, 4, lo=-0.9, hi=0.9))
for name in ("Log", "Log10", "Log1p", "Log2", "Sqrt"):
    add(name, (), real(3, 4, lo=0.1))
for name in ("Arctan2", "Maximum", "Minimum", "SquaredDifference", "AbsoluteError", "SquaredError"):
    add(name, (), x, x)
for name in ("MeanAbsoluteError", "MeanSquaredError"):
    add(name, (), x, x)
add("Fmod", (), x, real(3, 4, lo=0.5))
add("Where", (), truth(3, 4), x, x)
add("LinearInterpolate", (), x, x, x)
add("CReLU", (), x)
add("CReLU", (0,), x)
add("ClippedReLU", (0.5,), x)
add("Clip", (-0.5, 0.5), x)
add("ELU", (0.5,), x)
add("LeakyReLU", (0.1,), x)
add("Softplus", (2.0,), x)
add("Softmax", (), x)
add("Softmax", (0,), x)
add("LogSoftmax", (), x)
add("LogSumExp", (), x)
add("LogSumExp", (1,), x)
for name in ("Max", "Min", "Sum", "Prod"):
    add(name, (), x)
    add(name, (1, True), x)
for name in ("ArgMax", "ArgMin"):
    add(name, (1,), x)
add("BatchDet", (), real(2, 3, 3))
add("BatchInv", (), real(2, 3, 3))
add("Inv", (), real(3, 3))
add("BatchL2NormSquared", (), x)
add("NormalizeL2", (), x)
add("NormalizeL2", (1e-5, 0), x)
add("LayerNormalization", (1e-5,), x, real(4), real(4))
add("LocalResponseNormalization", (3, 1, 0.1, 0.5), real(2, 6))
add("MatMul", (), x, real(4, 2))
add("MatMul", (True, False), x, real(3, 2))
add("MatMul", (False, True), x, real(2, 4))
add("MatMul", (True, True), real(2, 4, 3), real(2, 5, 4))
add("Accuracy", (), x, labels)
add("Accuracy", (1,), x, labels)
add("BinaryAccuracy", (), real(3), whole(3, lo=-1, hi=2))
add("ClassificationSummary", (4, 1.0, -1), x, labels)
add("SoftmaxCrossEntropy", (), x, labels)
add("SoftmaxCrossEntropy", (False, True, None, 1, "no"), x, labels)
add("SigmoidCrossEntropy", (), x, whole(3, 4, lo=-1, hi=2))
add("SigmoidCrossEntropy", (False, "no"), x, whole(3, 4, lo=-1, hi=2))
add("Hinge", (), x, labels)
add("Hinge", ("L2", "no"), x, labels)
add("HuberLoss", (0.5,), x, x)
add("HuberLoss", (0.5, "no"), x, x)
add("Contrastive", (1.0,), x, x, whole(3, hi=2))
add("Contrastive", (0.5, "no"), x, x, whole(3, hi=2))
add("Triplet", (0.2,), x, x, x)
add("Triplet", (0.5, "no"), x, x, x)
add("CrossCovariance", (), x, real(3, 2))
add("CrossCovariance", ("no",), x, real(3, 2))
add("DeCov", (), x)
add("DeCov", ("no",), x)
add(
    "ConnectionistTemporalClassification",
    (0,),
    values([4, 4], "int32"),
    values([2, 1], "int32"),
    values([[1, 2], [2, 0]], "int32"),
    *[real(2, 3) for _ in range(4)],
)
add("Broadcast", (), real(3, 1), real(4))
add("BroadcastTo", ((2, 3, 4),), x)
add("Cast", ("float64",), x)
add("Concat", (), x, real(3, 2))
add("Concat", (0,), x, real(2, 4))
add("Copy", (-1,), x)
add("Depth2Space", (2,), real(1, 8, 2, 2))
add("Space2Depth", (2,), image)
add("ExpandDims", (1,), x)
add("Flip", (0,), x)
add("FlipLR", (), x)
add("FlipUD", (), x)
add("GetItem", ((slice(None), 1),), x)
add("Im2Col", ((2, 2), (1, 1), (0, 0), False, (1, 1)), image)
add("Pad", (((1, 1), (0, 2)), "constant"), x)
add("PadSequence", (None, 0), real(2, 4), real(3, 4))
add("PadSequence", (4, -1), real(2, 4), real(3, 4))
add("Permutate", (), x, values([2, 0, 1], "int32"))
add("Permutate", (1, True), x, values([2, 0, 1, 3], "int32"))
add("Reshape", ((4, 3),), x)
add("ResizeImages", ((3, 2),), image)
add("Rollaxis", (2, 0), image)
add("SelectItem", (), x, labels)
add("SplitAxis", (2, 1), x)
add("SplitAxis", ([1], 1), x)
add("Squeeze", (), image)
add("Squeeze", (0,), image)
add("Swapaxes", (0, 1), x)
add("Tile", (2,), x)
add("Tile", ((2, 1),), x)
add("Transpose", (), x)
add("Transpose", ((0, 2, 1, 3),), image)
add("TransposeSequence", (2,), real(2, 4), real(1, 4), real(1, 4))
add("AveragePooling2D", (2, 2), image)
add("AveragePooling2D", ((2, 1), None, (1, 0), False), image)
add("AveragePoolingND", (1, 2), real(1, 2, 4))
add("AveragePoolingND", (2, 3, 2, 1), image)
add("MaxPooling2D", (2, 2), image)
add("MaxPooling2D", ((2, 1), None, (1, 0), False), image)
add("MaxPoolingND", (1, 2), real(1, 2, 4))
add("MaxPoolingND", (2, 3, 2, 1, False), image)
add("Unpooling2D", (2, 2), image)
add("Unpooling2D", (3, 2, 1, (7, 6)), image)
add("UnpoolingND", (1, 2), real(1, 2, 4))
add("UnpoolingND", (2, 3, 2, 1, (7, 6), True), image)
at = values([[[[0, 3], [1, 2]], [[3, 3], [0, 0]]]], "int32")
add("Upsampling2D", (np.array(at.make(None), "int32"), 2, 2, 0, (4, 4)), real(1, 2, 2, 2))
add("ROIPooling2D", (2, 2, 1.0), image, values([[0, 0, 0, 3, 3]], plain=True))
add("SpatialTransformerGrid", ((3, 2),), real(1, 2, 3))
add("SpatialTransformerSampler", (), image, real(1, 2, 3, 2, lo=-0.9, hi=0.9))
add("LSTM", (), real(3, 2), real(3, 8))
add("SLSTM", (), real(3, 2), real(3, 2), real(3, 8), real(3, 8))
add("Dropout", (0.5,), x)
add("Zoneout", (0.5,), x, x)
add("Gaussian", (), x, x)
add("SimplifiedDropconnect", (0.5,), x, real(2, 4), real(2))
add("SimplifiedDropconnect", (0.5, None, False), x, real(2, 4))
add("Forget", (abs,), x)


def construct(F, case):
    """The instance of the case."""
    return getattr(F, case.name)(*case.settings["settings"])


def call(F, *inputs, settings, name):
    """What version 3 calls is called; what it does not, a FunctionNode, is applied."""
    f = getattr(F, name)(*settings)
    return f(*inputs) if callable(f) else f.apply(inputs)


CASES = {
    f"{case.name}-{i}": type(case)(
        case.name, case.args, {**case.settings, "name": case.name}, call, {}, i
    )
    for i, case in enumerate(CASES)
}


def attributes(f):
    """The public attributes of an instance, in words that JSON has; of arrays and the like none."""
    found = {name: list(v) if isinstance(v, tuple) else v for name, v in vars(f).items()}
    return {n: v for n, v in found.items() if not n.startswith("_") and _is_plain(v)}


def _is_plain(value):
    if isinstance(value, list):
        return all(type(v) is int for v in value)
    return value is None or type(value) in (bool, int, float, str)
