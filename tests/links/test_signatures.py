"""Every link of the reference is made with its arguments, in their order, by the same defaults."""

import inspect
from inspect import Parameter
from pathlib import Path

import pytest

import core.functions as F  # noqa: F401 - defaults in the list name functions
import core.links as L

LIST = Path(__file__).parents[1] / "data" / "link_signatures.txt"

# Arguments that may be left out here: a size that is given alone is that of the outputs.
OPTIONAL = {
    "BatchRenormalization": {"size"},
    **dict.fromkeys(["Convolution1D", "Convolution3D"], {"ksize"}),
    **dict.fromkeys(["Deconvolution1D", "Deconvolution3D"], {"ksize"}),
    **dict.fromkeys(["GRU", "StatefulGRU", "StatelessGRU", "StatefulMGU"], {"out_size"}),
    **dict.fromkeys(["StatefulPeepholeLSTM", "StatefulZoneoutLSTM"], {"out_size"}),
    "StatelessMGU": {"n_units"},
}

# Keywords that plugrad adds.
MORE = {
    "BatchRenormalization": {"freeze_running_statistics"},
    "LayerNormalization": {"use_gamma", "use_beta"},
    "StatefulZoneoutLSTM": {"lateral_init", "upward_init", "bias_init", "forget_bias_init"},
}

# Arguments that are keywords in the reference, and may stand without a name here as well.
POSITIONAL = {"MLPConvolution2D": {"conv_init", "bias_init"}}


def signatures():
    lines = LIST.read_text(encoding="utf-8").splitlines()
    lines = [line for line in lines if line and not line.startswith("#")]
    return {line.partition("(")[0]: line.partition("(")[2].removesuffix(")") for line in lines}


def taken(function):
    parameters = inspect.signature(function).parameters.values()
    return [p for p in parameters if p.kind is not Parameter.VAR_KEYWORD]


@pytest.mark.parametrize(("name", "arguments"), signatures().items())
def test_signature(name, arguments):
    expected = taken(eval(f"lambda {arguments}: None"))
    given = [p for p in taken(getattr(L, name)) if p.name not in MORE.get(name, ())]
    assert [p.name for p in given] == [p.name for p in expected]
    for mine, theirs in zip(given, expected, strict=True):
        optional = mine.name in OPTIONAL.get(name, ())
        assert mine.default == (None if optional else theirs.default), mine.name
        assert (mine.kind != theirs.kind) == (mine.name in POSITIONAL.get(name, ())), mine.name


def test_all_links_are_listed_and_additions_are_there():
    assert len(signatures()) == 61
    for name, added in MORE.items():
        parameters = inspect.signature(getattr(L, name)).parameters
        assert all(parameters[each].kind is Parameter.KEYWORD_ONLY for each in added)
