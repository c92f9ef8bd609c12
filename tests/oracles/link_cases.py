"""Links to be compared with Chainer's, and what is done with each.

This module is read by Chainer's interpreter and by ours, so it imports neither library. Draws are
uniform ones of NumPy's legacy generator, whose stream never changes.
"""

import io
from zlib import crc32

import numpy as np

LABELS = np.array([0, 1, 2, 0], "i")
IDS = np.array([[0, 3], [2, 2]], "i")


def real(*shape):
    """How an input of this shape is drawn."""
    return lambda random: random.uniform(-1, 1, shape).astype("f")


X, H, C = real(4, 3), real(4, 2), real(4, 2)
LINES, IMAGES, VOLUMES = real(2, 2, 6), real(2, 4, 6, 5), real(2, 2, 4, 4, 4)
SEQUENCES = [real(3, 3), real(2, 3), real(1, 3)]
CHILDREN = [C, real(4, 2), H, real(4, 2)]
WORDS = {0: 3, 1: 2, 2: 1}

CASES = {
    "Linear": (lambda L: L.Linear(3, 2), [X]),
    "Bias": (lambda L: L.Bias(1, (3,)), [X]),
    "Scale": (lambda L: L.Scale(1, (3,), True), [X]),
    "Bilinear": (lambda L: L.Bilinear(3, 2, 4), [X, H]),
    "Convolution1D": (lambda L: L.Convolution1D(2, 3, 2), [LINES]),
    "Convolution2D": (lambda L: L.Convolution2D(4, 6, (3, 2), 2, 1, groups=2), [IMAGES]),
    "Convolution3D": (lambda L: L.Convolution3D(2, 3, 2), [VOLUMES]),
    "ConvolutionND": (lambda L: L.ConvolutionND(3, 2, 3, 3, 2, cover_all=True), [VOLUMES]),
    "Deconvolution1D": (lambda L: L.Deconvolution1D(2, 3, 2), [LINES]),
    "Deconvolution2D": (lambda L: L.Deconvolution2D(4, 6, 3, 2, 1, groups=2), [IMAGES]),
    "Deconvolution3D": (lambda L: L.Deconvolution3D(2, 3, 2), [VOLUMES]),
    "DeconvolutionND": (lambda L: L.DeconvolutionND(3, 2, 3, 2, outsize=(5, 5, 5)), [VOLUMES]),
    "DepthwiseConvolution2D": (lambda L: L.DepthwiseConvolution2D(4, 2, 2), [IMAGES]),
    "DilatedConvolution2D": (lambda L: L.DilatedConvolution2D(4, 2, 2, dilate=2), [IMAGES]),
    "DeformableConvolution2D": (lambda L: L.DeformableConvolution2D(4, 2, 3, 1, 1), [IMAGES]),
    "LocalConvolution2D": (lambda L: L.LocalConvolution2D(4, 2, (6, 5), 2), [IMAGES]),
    "MLPConvolution2D": (lambda L: L.MLPConvolution2D(4, (3, 2), 2), [IMAGES]),
    "EmbedID": (lambda L: L.EmbedID(4, 3, ignore_label=2), [IDS]),
    "Highway": (lambda L: L.Highway(3), [X]),
    "Inception": (lambda L: L.Inception(4, 2, 1, 3, 1, 4, 1), [IMAGES]),
    "InceptionBN": (lambda L: L.InceptionBN(4, 2, 1, 3, 1, 4, "avg", 1), [IMAGES]),
    "InceptionBN, shrinking": (
        lambda L: L.InceptionBN(4, 0, 1, 3, 1, 4, "max", stride=2),
        [IMAGES],
    ),
    "Maxout": (lambda L: L.Maxout(3, 2, 4), [X]),
    "PReLU": (lambda L: L.PReLU((3,)), [X]),
    "Swish": (lambda L: L.Swish((3,)), [X]),
    "SimplifiedDropconnect": (lambda L: L.SimplifiedDropconnect(3, 2, ratio=0.0), [X]),
    "BatchNormalization": (lambda L: L.BatchNormalization(3), [X]),
    "BatchNormalization, axes": (
        lambda L: L.BatchNormalization((4, 5), 0.8, 1e-3, axis=(0, 2)),
        [IMAGES],
    ),
    "BatchRenormalization": (lambda L: L.BatchRenormalization(3, 2, 0.5), [X]),
    "DecorrelatedBatchNormalization": (
        lambda L: L.DecorrelatedBatchNormalization(4, groups=2),
        [IMAGES],
    ),
    "LayerNormalization": (lambda L: L.LayerNormalization(3), [X]),
    "GroupNormalization": (lambda L: L.GroupNormalization(2, 4), [IMAGES]),
    "LSTM": (lambda L: L.LSTM(3, 2), [X]),
    "StatelessLSTM": (lambda L: L.StatelessLSTM(3, 2), [C, H, X]),
    "StatefulGRU": (lambda L: L.StatefulGRU(3, 2), [X]),
    "GRU": (lambda L: L.GRU(3, 2), [X]),
    "StatelessGRU": (lambda L: L.StatelessGRU(3, 2), [H, X]),
    "StatefulMGU": (lambda L: L.StatefulMGU(3, 2), [X]),
    "StatelessMGU": (lambda L: L.StatelessMGU(3, 2), [H, X]),
    "StatefulPeepholeLSTM": (lambda L: L.StatefulPeepholeLSTM(3, 2), [X]),
    "StatefulZoneoutLSTM": (lambda L: L.StatefulZoneoutLSTM(3, 2, 0.0, 0.0), [X]),
    "ChildSumTreeLSTM": (lambda L: L.ChildSumTreeLSTM(3, 2), [*CHILDREN, X]),
    "NaryTreeLSTM": (lambda L: L.NaryTreeLSTM(3, 2, 2), [*CHILDREN, X]),
    "CRF1d": (lambda L: L.CRF1d(3), [[X, X, real(2, 3)], [LABELS, LABELS, LABELS[:2]]]),
    "BinaryHierarchicalSoftmax": (
        lambda L: L.BinaryHierarchicalSoftmax(
            3, L.BinaryHierarchicalSoftmax.create_huffman_tree(WORDS)
        ),
        [X, LABELS],
    ),
    "NegativeSampling": (lambda L: L.NegativeSampling(3, [1, 2, 3], 2), None),  # draws
    "BlackOut": (lambda L: L.BlackOut(3, [1, 2, 3], 2), None),
    "Classifier": (lambda L: L.Classifier(L.Linear(3, 3)), [X, LABELS]),
}


def _over_sequences(kind, direction):
    states = [real(4 if direction else 2, 3, 2) for _ in range(2 if kind == "LSTM" else 1)]
    return lambda L: getattr(L, f"NStep{direction}{kind}")(2, 3, 2, 0.0), [*states, SEQUENCES]


for _kind in ("GRU", "LSTM", "RNNTanh", "RNNReLU"):
    for _direction in ("", "Bi"):
        CASES[f"NStep{_direction}{_kind}"] = _over_sequences(_kind, _direction)


def run(name, library):
    """What a link of `library` (chainer, or core) gives: arrays by what they are.

    In test mode; in training, in a second call too where it keeps a state; the gradients of
    parameters and inputs; and what is saved in the end.
    """
    make, recipes = CASES[name]
    random = np.random.RandomState(crc32(name.encode()))
    link = make(library.links)
    for _, param in sorted(link.namedparams()):
        param.array[...] = random.uniform(-0.5, 0.5, param.shape)
    found = {}
    if recipes is not None:
        inputs = _drawn(recipes, random)
        with library.using_config("train", False):
            _keep(found, "test", _flat(link(*inputs)))
        stateful = hasattr(link, "reset_state")
        if stateful:
            link.reset_state()
        link.cleargrads()
        given = _variables(inputs, library)
        outputs = _flat(link(*given))
        _keep(found, "training", outputs)
        if stateful:
            outputs = _flat(link(*given))
            _keep(found, "again", outputs)
        _differentiate(outputs, random, library)
        for path, param in link.namedparams():
            found[f"gradient/{path.lstrip('/')}"] = param.grad
        for i, x in enumerate(_flat(given)):
            if x.dtype.kind == "f":
                found[f"input gradient/{i}"] = x.grad
    found.update({f"saved/{key}": value for key, value in _saved(link, library).items()})
    return {key: np.asarray(value) for key, value in found.items()}


def _drawn(recipe, random):
    if isinstance(recipe, list):
        return [_drawn(each, random) for each in recipe]
    return recipe(random) if callable(recipe) else recipe


def _variables(inputs, library):
    if isinstance(inputs, list):
        return [_variables(each, library) for each in inputs]
    return library.Variable(inputs) if inputs.dtype.kind == "f" else inputs


def _flat(values):
    if isinstance(values, (tuple, list)):
        return [each for value in values for each in _flat(value)]
    return [values]


def _keep(found, what, outputs):
    found.update({f"{what}/{i}": y.array for i, y in enumerate(outputs)})


def _differentiate(outputs, random, library):
    total = 0
    for y in outputs:
        total += library.functions.sum(y * random.uniform(-1, 1, y.shape).astype("f"))
    total.backward()


def _saved(link, library):
    file = io.BytesIO()
    library.serializers.save_npz(file, link)
    file.seek(0)
    with np.load(file) as arrays:
        return dict(arrays)
