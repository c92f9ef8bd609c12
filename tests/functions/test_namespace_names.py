"""Every name of the standard of 2024.12 is in the namespace, with the standard's signature."""

import inspect

import array_api_strict as standard
import numpy as np
import pytest

import core
from core.ops.namespace import VERSION, namespace, namespace_of

BEYOND_2024 = {"broadcast_shapes", "isin"}
OF_THE_REFEREE = {
    "ArrayAPIStrictFlags",
    "Device",
    "get_array_api_strict_flags",
    "reset_array_api_strict_flags",
    "set_array_api_strict_flags",
    "fft",  # an extension: its results are complex, which the framework does not compute with
    "__version__",
}
MAIN = sorted(set(standard.__all__) - BEYOND_2024 - OF_THE_REFEREE | {"e", "inf", "nan", "pi"})
LINALG = sorted(standard.linalg.__all__)
FUNCTIONS = [
    (room, name)
    for room, names in (("", MAIN), ("linalg", LINALG))
    for name in names
    if inspect.isfunction(getattr(getattr(standard, room) if room else standard, name))
]
# What is wider here: a default where the standard has none, and none but the standard's own marker
# of "not given" there.
WIDER = {("permute_dims", "axes"), ("squeeze", "axis")}


def test_all_names_are_there():
    for name in MAIN:
        assert hasattr(namespace, name), name
        assert name in dir(namespace) or name.startswith("__"), name
    for name in LINALG:
        assert hasattr(namespace.linalg, name), name
    assert len(MAIN) > 150 and len(LINALG) == 23
    assert namespace.__array_api_version__ == VERSION == "2024.12"


def parameters(function):
    return list(inspect.signature(function).parameters.values())


@pytest.mark.parametrize(("room", "name"), FUNCTIONS, ids=lambda part: part or "main")
def test_signatures(room, name):
    """As the public conformance suite has it: names, order, kinds and defaults."""
    theirs = getattr(getattr(standard, room) if room else standard, name)
    ours = getattr(getattr(namespace, room) if room else namespace, name)
    given = parameters(ours)
    assert len(given) >= len(parameters(theirs))
    for mine, expected in zip(given, parameters(theirs), strict=False):
        if expected.kind in (expected.VAR_POSITIONAL, expected.VAR_KEYWORD):
            assert mine.kind == expected.kind
        elif expected.kind == expected.POSITIONAL_ONLY:
            assert mine.kind in (mine.POSITIONAL_ONLY, mine.POSITIONAL_OR_KEYWORD)
        else:
            assert mine.name == expected.name
            assert mine.kind in (expected.kind, mine.POSITIONAL_OR_KEYWORD)
        not_given = type(expected.default).__name__ == "Undef" or (name, mine.name) in WIDER
        assert mine.default == expected.default or (not_given and mine.default is None)
    extra = given[len(parameters(theirs)) :]
    assert all(p.default is not p.empty for p in extra)


METHODS = [
    name
    for name, member in vars(type(standard.asarray(0.0))).items()
    if (not name.startswith("_") or name.endswith("__")) and (callable(member) or "T" in name)
]
# Python's own, and the referee's conversions to NumPy.
NOT_STANDARD = {
    *("__new__", "__repr__", "__str__", "__hash__", "__array__", "__buffer__", "__iter__"),
}


def test_all_methods_and_properties_are_there():
    expected = set(METHODS) - NOT_STANDARD | {"T", "mT", "device", "dtype", "ndim", "shape", "size"}
    assert len(expected) > 50
    missing = [name for name in sorted(expected) if not hasattr(core.Variable, name)]
    # In-place operators fall back to the others, and bind a new Variable to the name.
    assert [name for name in missing if not name.startswith("__i")] == []


def test_versions():
    x = core.Variable(np.ones(2))
    for version in ("2022.12", "2023.12", "2024.12"):
        assert x.__array_namespace__(api_version=version) is x.__array_namespace__()
    with pytest.raises(ValueError, match=r"api_version.*2024\.12.*got '2019\.01'"):
        x.__array_namespace__(api_version="2019.01")


@pytest.mark.parametrize("where", ["numpy", "strict"])
def test_new_arrays_and_dtypes_are_those_of_the_backend(where):
    backend = core.backend.get(where)
    xp = core.Variable(backend.asarray([1.0, 2.0])).__array_namespace__()
    assert xp is namespace_of(backend)
    assert xp.asarray([1.0]).backend is backend
    assert xp.zeros(2, dtype=xp.float32).dtype == backend.dtype("float32") == xp.float32
    assert xp.isdtype(xp.int8, "integral") and not xp.isdtype(xp.int8, ("bool", xp.float32))
    assert xp.result_type(xp.float32, xp.float64) == xp.float64
    assert xp.can_cast(xp.int8, xp.int16) and not xp.can_cast(xp.int16, xp.int8)
    assert type(xp.finfo(xp.float32).eps) is float and xp.finfo(xp.float32).bits == 32
    assert xp.iinfo(xp.zeros(1, dtype=xp.int8)).max == 127
    info = xp.__array_namespace_info__()
    assert info.default_device() in info.devices()
    assert info.default_dtypes()["real floating"] == xp.float64
    assert set(info.dtypes(kind="real floating")) == {"float32", "float64"}
    assert set(info.capabilities()) >= {"boolean indexing", "data-dependent shapes"}
    assert repr(xp) == f"<the differentiable namespace of backend {where!r}>"


def test_an_unknown_kind_is_refused_by_name():
    with pytest.raises(ValueError, match="expected kind to be one of bool, signed integer"):
        namespace.isdtype("int8", "whole")


def test_arrays_are_made_on_devices_and_moved_between_them():
    backend = core.backend.get("strict")
    xp = namespace_of(backend)
    first, second = xp.__array_namespace_info__().devices()[:2]
    for made in (
        xp.zeros(2, device=second),
        xp.arange(3, device=second),
        xp.asarray([1.0], device=second),
        xp.full_like(xp.ones(2), 3.0, device=second),
        xp.zeros_like(xp.ones(2), device=second),
    ):
        assert made.device == second
    assert xp.from_dlpack(np.ones(2), device=first).device == first
    with second:
        assert xp.ones(2).device == xp.__array_namespace_info__().default_device() == second
    x = core.Variable(backend.asarray([1.0, 2.0]))
    y = xp.asarray(x, device=second) * 3.0
    z = xp.astype(y, xp.float32, device=first)
    assert (x.device, y.device, z.device) == (first, second, first)
    xp.sum(z).backward()
    assert backend.to_host(x.grad).tolist() == [3, 3]
