"""Sizes that are left out are taken from the first input, and the link is then as if given them."""

import numpy as np
import pytest

import core
import core.links as L
from core.testing.links import outputs
from core.testing.memory import load, saved

X = np.ones((4, 3), "f")
H = np.ones((4, 2), "f")
LINES = np.ones((2, 3, 6), "f")
IMAGES = np.ones((2, 3, 6, 5), "f")
VOLUMES = np.ones((2, 3, 4, 4, 4), "f")
SEQUENCES = [np.ones((n, 3), "f") for n in (2, 3)]

# The link with all sizes given, the ways to leave them out, and what it is called with.
CASES = {
    "Linear": (L.Linear, (3, 2), [(None, 2), (2,)], (X,)),
    "Maxout": (L.Maxout, (3, 2, 4), [(None, 2, 4)], (X,)),
    "SimplifiedDropconnect": (L.SimplifiedDropconnect, (3, 2), [(None, 2)], (X,)),
    "Swish": (L.Swish, ((3,),), [(None,)], (X,)),
    **{
        f"{kind}{suffix}": (
            getattr(L, f"{kind}{suffix}"),
            (*rank, 3, 2, 2),
            [(*rank, None, 2, 2), (*rank, 2, 2)],
            (x,),
        )
        for kind in ("Convolution", "Deconvolution")
        for suffix, rank, x in [
            ("1D", (), LINES),
            ("2D", (), IMAGES),
            ("3D", (), VOLUMES),
            ("ND", (3,), VOLUMES),
        ]
    },
    "DilatedConvolution2D": (L.DilatedConvolution2D, (3, 2, 2), [(None, 2, 2), (2, 2)], (IMAGES,)),
    "DepthwiseConvolution2D": (L.DepthwiseConvolution2D, (3, 2, 2), [(None, 2, 2)], (IMAGES,)),
    "DeformableConvolution2D": (L.DeformableConvolution2D, (3, 2, 2), [(None, 2, 2)], (IMAGES,)),
    "LocalConvolution2D": (
        L.LocalConvolution2D,
        (3, 2, (6, 5), 2),
        [(None, 2, None, 2), (None, 2, (6, 5), 2), (3, 2, None, 2)],
        (IMAGES,),
    ),
    "MLPConvolution2D": (
        L.MLPConvolution2D,
        (3, (4, 2), 2),
        [(None, (4, 2), 2), ((4, 2), 2)],
        (IMAGES,),
    ),
    "Inception": (L.Inception, (3, 1, 1, 1, 1, 1, 1), [(None, 1, 1, 1, 1, 1, 1)], (IMAGES,)),
    "InceptionBN": (
        L.InceptionBN,
        (3, 1, 1, 1, 1, 1, "max", 1),
        [(None, 1, 1, 1, 1, 1, "max", 1)],
        (IMAGES,),
    ),
    "BatchNormalization": (L.BatchNormalization, (3,), [(), (None,)], (X,)),
    "BatchRenormalization": (L.BatchRenormalization, (3,), [(), (None,)], (X,)),
    "LayerNormalization": (L.LayerNormalization, (3,), [(), (None,)], (X,)),
    "RMSNormalization": (L.RMSNormalization, (3,), [(), (None,)], (X,)),
    "GroupNormalization": (L.GroupNormalization, (3, 3), [(3,), (3, None)], (IMAGES,)),
    **{
        name: (getattr(L, name), (3, 2), [(None, 2), (2,)], (X,))
        for name in ("GRU", "LSTM", "StatefulGRU", "StatefulMGU", "StatefulPeepholeLSTM")
    },
    "StatefulZoneoutLSTM": (L.StatefulZoneoutLSTM, (3, 2), [(None, 2), (2,)], (X,)),
    "StatelessGRU": (L.StatelessGRU, (3, 2), [(None, 2), (2,)], (H, X)),
    "StatelessMGU": (L.StatelessMGU, (3, 2), [(None, 2), (2,)], (H, X)),
    "StatelessLSTM": (L.StatelessLSTM, (3, 2), [(None, 2), (2,)], (H, H, X)),
    "ChildSumTreeLSTM": (L.ChildSumTreeLSTM, (3, 2), [(None, 2)], (H, H, X)),
    "NaryTreeLSTM": (L.NaryTreeLSTM, (3, 2, 1), [(None, 2, 1)], (H, H, X)),
    **{
        f"NStep{name}": (getattr(L, f"NStep{name}"), (1, 3, 2, 0.0), [(1, None, 2, 0.0)], given)
        for name, given in [
            ("GRU", (None, SEQUENCES)),
            ("BiGRU", (None, SEQUENCES)),
            ("LSTM", (None, None, SEQUENCES)),
            ("BiLSTM", (None, None, SEQUENCES)),
            ("RNNReLU", (None, SEQUENCES)),
            ("BiRNNReLU", (None, SEQUENCES)),
            ("RNNTanh", (None, SEQUENCES)),
            ("BiRNNTanh", (None, SEQUENCES)),
        ]
    },
}

WAYS = [(name, way) for name, case in CASES.items() for way in range(len(case[2]))]


def call(link, inputs):
    """The arrays that a link gives in test mode."""
    found = []
    with core.using_config("train", False):
        for y in outputs(link, inputs):
            found += y if isinstance(y, list) else [y]
    return [y.array for y in found]


@pytest.mark.parametrize(("name", "way"), WAYS)
def test_omitted(name, way):
    cls, sizes, ways, inputs = CASES[name]
    given, omitted = cls(*sizes), cls(*ways[way])
    assert any(not param.is_initialized for param in omitted.params())
    expected, found = call(given, inputs), call(omitted, inputs)
    assert [y.shape for y in found] == [y.shape for y in expected]
    shapes = [{path: p.shape for path, p in link.namedparams()} for link in (given, omitted)]
    assert shapes[0] == shapes[1]
    assert saved(given).keys() == saved(omitted).keys()
    assert repr(given) == repr(omitted)


@pytest.mark.parametrize(
    "name", [name for name, case in CASES.items() if hasattr(case[0], "_initialize_params")]
)
def test_sizes_become_known_in_a_method_that_programs_for_chainer_override(name):
    cls, sizes, ways, inputs = CASES[name]

    class Scaled(cls):
        def _initialize_params(self, *known):
            super()._initialize_params(*known)
            with self.init_scope():
                self.scale = core.Parameter(1.0, ())
            self.sized = known

    given, omitted = Scaled(*sizes), Scaled(*ways[0])
    assert not hasattr(omitted, "scale")
    call(omitted, inputs)
    assert given.scale.is_initialized and omitted.scale.is_initialized
    assert given.sized == omitted.sized


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("mode", ["share", "copy", "init"])
def test_a_copy_made_before_the_sizes_are_known(name, mode):
    cls, _, ways, inputs = CASES[name]
    link = cls(*ways[0])
    duplicate = link.copy(mode)
    call(duplicate, inputs)
    sized = all(param.is_initialized for param in link.params())
    assert sized == (mode == "share"), "other copies' sizes are their own"
    call(link, inputs)
    for (path, mine), (_, theirs) in zip(link.namedparams(), duplicate.namedparams(), strict=True):
        assert mine.shape == theirs.shape, path
        assert (mine.array is theirs.array) is (mode == "share"), path


@pytest.mark.parametrize("name", CASES)
def test_sizes_come_with_what_is_loaded(name):
    cls, sizes, ways, inputs = CASES[name]
    given, omitted = cls(*sizes), cls(*ways[0])
    expected = call(given, inputs)
    for link in given.links():
        if hasattr(link, "reset_state"):
            link.reset_state()
    load(omitted, saved(given))
    assert all(param.is_initialized for param in omitted.params())
    for y, e in zip(call(omitted, inputs), expected, strict=True):
        np.testing.assert_array_equal(y, e)


@pytest.mark.parametrize("what", ["a list", "nothing", "no batch"])
@pytest.mark.parametrize("name", [name for name, case in CASES.items() if len(case[3]) == 1])
def test_what_is_no_batch_is_refused_and_sizes_nothing(name, what):
    cls, _, ways, (x,) = CASES[name]
    link, bad = cls(*ways[0]), {"a list": x.tolist(), "nothing": None}.get(what, x.ravel())
    if what == "no batch" and name in ("Swish", "LayerNormalization", "RMSNormalization"):
        bad = np.array(1, "f")
    known = {path for path, param in link.namedparams() if param.is_initialized}
    with pytest.raises(TypeError, match="Expected an array|expected an array|Expect: "):
        link(bad)
    assert known == {path for path, param in link.namedparams() if param.is_initialized}
    link(x)
