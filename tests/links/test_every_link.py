"""No link goes without check_link, and with all of its checks."""

import inspect
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import core
from core import registry
from core.link import Chain, ChainList, Link
from core.link.sequential import Sequential
from core.link.unregistered import unregistered
from core.testing.links import check_link, outputs, reset, values

TABLES = {
    "test_activation_links": ["LINKS"],
    "test_attention_links": ["LINKS"],
    "test_bundled_links": ["LINKS"],
    "test_connection_links": ["LINKS"],
    "test_function_links": ["LINKS"],
    "test_loss_links": ["LINKS"],
    "test_normalization_links": ["LINKS"],
    "test_recurrent_links": ["LINKS", "LAYERS"],
}

# Those that have tests of their own instead, with the reason.
ELSEWHERE = {
    "Parameter": "takes no input; test_connection_links.test_a_parameter_alone",
    "CaffeFunction": "takes a file; tests/imported/test_caffe.py",
    "ONNXModel": "takes a file; tests/imported/test_onnx_model.py",
    **dict.fromkeys(
        [
            *["BottleneckA", "BottleneckB", "BuildingBlock", "GoogLeNet", "ResNetLayers"],
            *["ResNet50Layers", "ResNet101Layers", "ResNet152Layers"],
            *["VGG16Layers", "VGG19Layers", "VGGLayers"],
        ],
        "large networks of links that are checked here; test_vision_models",
    ),
}


def tables():
    """Every case of check_link: file, name, and its arguments."""
    for file, names in TABLES.items():
        spec = spec_from_file_location(f"cases_{file}", Path(__file__).with_name(f"{file}.py"))
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        for name in names:
            yield from ((file, case, *given) for case, given in getattr(module, name).items())


@pytest.fixture(scope="module")
def cases():
    return list(tables())


def bundled():
    names = registry.catalogue("links").names()
    return sorted(set(names) - ELSEWHERE.keys())


@pytest.fixture(scope="module")
def checked(cases):
    """The classes of links in any case, those inside of others included."""
    plain = {Link, Chain, ChainList, Sequential}
    made = [make() for _, _, make, *_ in cases]
    return {type(link).__name__ for each in made for link in each.links()} - plain


@pytest.mark.parametrize("name", bundled())
def test_a_link_is_among_the_cases(name, checked):
    assert name in checked


def test_exceptions_exist():
    assert set(registry.catalogue("links").names()) >= ELSEWHERE.keys()


def test_every_case_has_a_reference_or_a_reason(cases):
    assert all(len(given) == 3 and callable(given[2]) for _, _, *given in cases)


@pytest.mark.parametrize("file", TABLES)
def test_the_cases_are_run_with_all_checks(file):
    """Nobody turns a check off: second derivatives, or copies with new initial values."""
    text = Path(__file__).with_name(f"{file}.py").read_text(encoding="utf-8")
    assert "check_link(" in text and "double=False" not in text and "init=False" not in text
    defaults = inspect.signature(check_link).parameters
    assert defaults["double"].default is True and defaults["init"].default is True


def test_they_own_whatever_they_hold(cases):
    """An optimizer that is set up has nothing to warn of."""
    for file, case, make, *_ in cases:
        link = make()
        assert not list(unregistered(link)), f"{file}: {case}"


NARROW = {"float16": (np.dtype("float16"), 0.02), "bfloat16": (np.dtype(ml_dtypes.bfloat16), 0.1)}


@pytest.mark.parametrize("name", NARROW)
def test_16_bit_floats(cases, name):
    """A link made in a 16-bit dtype computes in it, whatever is in force when it is called."""
    dtype, allowed = NARROW[name]
    for file, case, make, inputs, reference in cases:
        where = f"{file}: {case}"
        with core.using_config("dtype", name):
            link = make()
        xs = [x.astype(dtype) if x.dtype.kind == "f" else x for x in map(np.asarray, inputs)]
        with core.using_config("train", False):
            outputs(link, xs)
        reset(link)
        assert {p.dtype for p in link.params()} <= {dtype}, where
        before = values(link)
        found = outputs(link, xs)
        wide = [x.astype("float64") if x.dtype == dtype else x for x in xs]
        expected = reference(before, *wide)
        expected = expected if isinstance(expected, tuple) else (expected,)
        for y, e in zip(found, expected, strict=True):
            assert y.dtype == dtype or np.asarray(e).dtype.kind != "f", where
            error = np.abs(y.array.astype("float64") - e) / (1 + np.abs(e))
            assert error.max(initial=0) < allowed, where
        for y in found:
            if y.requires_grad:
                y.grad = np.ones(y.shape, y.dtype)
                y.backward()
        assert {p.grad.dtype for p in link.params() if p.grad is not None} <= {dtype}, where
