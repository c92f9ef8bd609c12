"""Numbers that no call could use are refused where the link is made, by their annotation."""

import inspect

import numpy as np
import pytest

import core
import core.links as L
from core.errors import InvalidSetting
from core.errors.kinds import kind_of

RANGED = {
    "stride",
    "dilate",
    "groups",
    "ratio",
    "c_ratio",
    "h_ratio",
    "dropout",
    "n_layers",
    "sample_size",
}
PRETRAINED = ("ResNetLayers", "VGGLayers")  # which name the numbers of layers that there are
X = np.ones((2, 3), "f")
SAMPLES = (2, 0.5, True, "a", (1, 1))


def kinds(made):
    """Its arguments with what they may be."""
    own = getattr(made, "_kinds", {})
    return {
        p: own.get(p.name) or kind_of(p.annotation, made.__module__)
        for p in inspect.signature(made).parameters.values()
    }


def cases():
    for name in core.registry.catalogue("links").names():
        made = getattr(L, name)
        if inspect.isclass(made) and name not in PRETRAINED:
            for parameter in kinds(made):
                if parameter.name in RANGED:
                    yield pytest.param(made, parameter.name, id=f"{name}-{parameter.name}")


@pytest.mark.parametrize(("made", "name"), [*cases()])
def test_what_no_call_could_use_is_refused_by_the_constructor(made, name):
    given = {}
    for parameter, kind in kinds(made).items():
        if (
            parameter.default is parameter.empty
            and parameter.kind is parameter.POSITIONAL_OR_KEYWORD
        ):
            given[parameter.name] = next((s for s in SAMPLES if kind.takes(s)), None)
    wrong = -0.5 if name in ("ratio", "c_ratio", "h_ratio", "dropout") else 0
    with pytest.raises(InvalidSetting, match=rf"{made.__name__}: expected {name} to be .* in \["):
        made(**given | {name: wrong})


@pytest.mark.parametrize(
    "make",
    [
        lambda: L.Convolution2D(3, 4, 3, stride=0),
        lambda: L.Convolution2D(3, 4, 3, stride=(1, 0)),
        lambda: L.Convolution2D(3, 4, 3, pad=-1),
        lambda: L.Convolution2D(4, 0),
        lambda: L.Deconvolution2D(3, 4, 3, pad=-1),
        lambda: L.Convolution2D(3, 4, 0),
        lambda: L.MaxPooling2D(0),
        lambda: L.AveragePooling2D(2, pad=(0, -1)),
        lambda: L.Dropout(1.5),
        lambda: L.Dropout(1.0),
        lambda: L.Dropout(float("nan")),
        lambda: L.NStepLSTM(0, 2, 3, 0.0),
        lambda: L.BatchNormalization(3, decay=2),
        lambda: L.BatchNormalization(3, eps=0),
        lambda: L.BatchRenormalization(3, rmax=0.5),
        lambda: L.BatchRenormalization(3, dmax=-1),
        lambda: L.DecorrelatedBatchNormalization(2, decay=-0.1),
        lambda: L.LayerNormalization(3, eps=-1),
        lambda: L.GroupNormalization(1, 3, eps=float("nan")),
        lambda: L.RMSNormalization(3, eps=-1),
        lambda: core.link_hooks.SpectralNormalization(eps=-1),
        lambda: core.link_hooks.SpectralNormalization(factor=0),
        lambda: core.link_hooks.WeightStandardization(eps=-1),
        lambda: core.functions.layer_normalization(X, X[0], X[0], eps=-1),
        lambda: core.functions.huber_loss(X, X, delta=-1),
        lambda: core.functions.local_response_normalization(X, n=0),
    ],
)
def test_links_without_meaning(make):
    with pytest.raises(ValueError, match="expected .* in "):
        make()


def test_what_has_a_meaning_is_taken():
    x = np.ones((1, 2, 4, 4), "f")
    assert L.Convolution2D(2, 3, 3, stride=(1, np.int64(2)), pad=[1, 0])(x).shape == (1, 3, 4, 1)
    assert L.Dropout(0)(x).shape == L.Dropout(np.float32(0.5))(x).shape == x.shape


def test_a_deconvolution_cuts_nothing_negative():
    x, W = np.ones((1, 2, 5, 5), "f"), np.ones((2, 2, 3, 3), "f")
    with pytest.raises(
        InvalidSetting, match=r"deconvolution_2d: expected pad to be .* in \[0, inf"
    ):
        core.functions.deconvolution_2d(x, W, pad=-1)
