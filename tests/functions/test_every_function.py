"""What holds for every public function alike, whatever it computes, by the oracle's cases of it."""

import inspect
import re
import warnings
from fnmatch import fnmatchcase
from functools import cache
from itertools import cycle

import numpy as np
import pytest
from oracles.cases import Case, Leaf, _called, all_cases, draw, real, whole
from oracles.differences import known
from oracles.test_functions_against_chainer import RECORDS

import core
import core.functions as F
from core.errors import CoreError

OWN = (
    Case("adaptive_average_pooling_nd", (real(1, 2, 3, 5), 2)),
    Case("adaptive_max_pooling_nd", (real(1, 2, 3, 5), 2)),
    Case("arccosh", (real(2, 3, lo=1.5, hi=3.0),)),
    Case("arcsinh", (real(2, 3),)),
    Case("gelu", (real(2, 3),)),
    Case("logcumsumexp", (real(2, 3),), {"axis": 1}),
    Case("non_maximum_suppression", (real(5, 4), 0.5)),
    Case("one_hot", (whole(2, 3), 4)),
    Case("pixel_shuffle", (real(1, 4, 2, 3), 2)),
    Case("pixel_unshuffle", (real(1, 1, 4, 2), 2)),
    Case("rms_normalization", (real(2, 3), real(3))),
    Case("scaled_dot_product_attention", (real(2, 3, 4), real(2, 5, 4), real(2, 5, 4))),
    Case("segment_max", (real(4, 2), whole(4), 4)),
    Case("segment_mean", (real(4, 2), whole(4), 4)),
    Case("segment_min", (real(4, 2), whole(4), 4)),
    Case("segment_softmax", (real(4, 2), whole(4), 4)),
    Case("segment_sum", (real(4, 2), whole(4), 4)),
    Case("silu", (real(2, 3),)),
)
MOST = 3  # cases of a function


def _computes(name):
    return any("error" not in r for r in RECORDS[name].values()) and "refused here" not in known(
        name
    )


def _chosen():
    found = {}
    for name, case in all_cases().items():
        if _computes(name):
            found.setdefault(case.name, {})[name] = case
    some = [dict(list(cases.items())[:MOST]) for cases in found.values()]
    return {name: case for cases in some for name, case in cases.items()} | {
        case.id: case for case in OWN
    }


CASES = _chosen()
FIRST = {name: case for name, case in CASES.items() if case.number == 0}
OFF_KINKS = {
    "cast-0": "cast-2",  # not to another precision
    "clip-0": "clip-2",
    "clipped_relu-0": "clipped_relu-2",
    "leaky_relu-0": "leaky_relu-1",
    "rrelu-0": "rrelu-1",
}
"""Cases to differentiate where the first of a function lies on its kinks."""
HOST = core.backend.get("numpy")


def run(case, dtype="float64", move=None, change=None):
    """The outputs of a case that are Variables, and its differentiable arguments.

    `move` makes arrays of another backend from the host's, `change` other leaves.
    """
    args, settings, leaves, _, _ = draw(case, dtype)
    if move:
        args, settings = moved(args, move), moved(settings, move)
        leaves = [move(leaf) for leaf in leaves]
    if change:
        leaves = change(leaves)
    leaves = [core.Variable(leaf) for leaf in leaves]
    outputs = _called(core, case, args, settings, leaves)
    return [y for y in outputs if isinstance(y, core.Variable)], leaves


def moved(part, move):
    if isinstance(part, np.ndarray):
        return move(part)
    if isinstance(part, dict):
        return {name: moved(value, move) for name, value in part.items()}
    if isinstance(part, (list, tuple)):
        return type(part)([moved(p, move) for p in part])
    return part


def weighted(outputs, order):
    """A scalar of all outputs that are differentiable: what a gradient of them is taken of."""
    total = None
    for i, y in enumerate(outputs):
        if y is not None and y.requires_grad and y.backend.kind(y.dtype) == "f":
            weight = np.cos(np.arange(y.size) * (order + 1.0) + i + 0.3).reshape(y.shape)
            weight = y.backend.asarray(weight, y.dtype, y.device)
            part = F.sum(y * weight)
            total = part if total is None else total + part
    return total


def gradients(outputs, leaves, **options):
    loss = weighted(outputs, 0)
    if loss is None or not leaves:
        return []
    return core.grad([loss], leaves, **options)


def test_every_function_has_a_case():
    names = core.registry.catalogue("functions").names()
    functions = {n for n in names if not inspect.isclass(getattr(F, n))}
    functions -= {"from_torch"}  # of PyTorch's own functions: tests/interop/test_torch_bridge.py
    assert {case.name for case in CASES.values()} >= functions


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", CASES)
def test_dtypes_are_kept_and_inputs_as_they_were(name, dtype):
    case = CASES[name]
    watched = []

    def watch(leaves):
        watched.extend((leaf, leaf.copy()) for leaf in leaves)
        return leaves

    quiet = any(fnmatchcase(name, p) for p in LOUD)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if quiet else "error")
        outputs, leaves = run(case, dtype, change=watch)
        found = gradients(outputs, leaves)
    if case.name != "cast":
        assert {y.dtype.name for y in outputs if y.dtype.kind == "f" and leaves} <= {dtype}
    for g, x in zip(found, leaves, strict=False):
        assert g is None or (g.dtype, g.shape) == (x.dtype, x.shape)
    for array, before in watched:
        assert array.tobytes() == before.tobytes()


@pytest.mark.parametrize("name", CASES)
def test_the_other_order_of_bytes_is_that_of_the_same_numbers(name):
    sides = cycle((True, False))

    def turned(array):
        """One array after the other in the other order, so that both meet in most cases."""
        return array.astype(array.dtype.newbyteorder() if next(sides) else array.dtype)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        there, here = run(CASES[name], move=turned), run(CASES[name])
        results = [*there[0], *gradients(*there)], [*here[0], *gradients(*here)]
    for actual, expected in zip(*results, strict=True):
        assert (actual is None) == (expected is None)
        if actual is not None:
            assert actual.dtype.name == expected.dtype.name
            np.testing.assert_allclose(actual.array, expected.array, rtol=1e-9, atol=1e-11)


LOUD = ("log-2", "sqrt-2")
"""Cases whose results are infinite, of which NumPy warns."""


@pytest.mark.parametrize("name", CASES)
def test_the_referee_agrees_on_its_second_device(name):
    case, strict = CASES[name], core.backend.get("strict")
    if any(fnmatchcase(name, p) for p in BEYOND_THE_STANDARD):
        pytest.skip("beyond the array standard")
    device = strict.devices()[1]

    def move(array):
        return strict.asarray(array, None, device)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        there, here = run(case, move=move), run(case)
        results = [*there[0], *gradients(*there)], [*here[0], *gradients(*here)]
    for actual, expected in zip(*results, strict=True):
        assert (actual is None) == (expected is None)
        if actual is not None:
            assert strict.device_of(actual.array) == strict.device_of(move(np.ones(1)))
            host = strict.to_host(actual.array)
            np.testing.assert_allclose(host, expected.array, rtol=1e-7, atol=1e-9)


BEYOND_THE_STANDARD = (
    "cast-1",  # float16
    "copy-*",  # to the host
    "get_item-1[0-4]",  # lists as indices
    "scatter_add-1",  # an array of integers for the first of two axes
)


@pytest.mark.parametrize("name", FIRST)
def test_derivatives_of_three_orders(name):
    """Each order is the central difference of the one before, along a direction."""
    case = CASES[OFF_KINKS.get(name, name)]
    if case.name in CONSTANT_INSIDE:
        pytest.skip("not the derivative of the function, as is documented")

    def nth(order, step):
        directions = np.random.RandomState(3)

        def change(leaves):
            moves = [directions.normal(size=leaf.shape) for leaf in leaves]
            return [np.asarray(x + step * d) for x, d in zip(leaves, moves, strict=True)]

        outputs, leaves = run(case, change=change)
        value = weighted(outputs, 0)
        for n in range(1, order + 1):
            if value is None or not leaves:
                return None, None
            value = weighted(core.grad([value], leaves, enable_double_backprop=True), n)
        return value, leaves

    for order in range(3):
        value, leaves = nth(order, 0.0)
        if value is None or not leaves:
            return
        found = core.grad([value], leaves)
        directions = np.random.RandomState(3)
        moves = [directions.normal(size=leaf.shape) for leaf in leaves]
        along = sum(
            float(np.sum(g.array * d)) for g, d in zip(found, moves, strict=True) if g is not None
        )
        assert any(
            abs((float(nth(order, h)[0].array) - float(nth(order, -h)[0].array)) / (2 * h) - along)
            <= 1e-5 * max(1.0, abs(along))
            for h in (1e-4, 1e-5, 1e-6)
        ), f"derivative of order {order + 1}"


CONSTANT_INSIDE = {"batch_renormalization", "sparse_matmul"}
"""Gradients take r and d of the first for constants; the case of the other a whole matrix."""

SPOILS = {
    "other kind": lambda a: a.astype("int32" if a.dtype.kind == "f" else "float64"),
    "booleans": lambda a: a.astype(bool),
    "complex": lambda a: a.astype("complex128"),
    "another precision": lambda a: a.astype("float32" if a.dtype.kind == "f" else "uint8"),
    "an axis more": lambda a: a[None],
    "an axis less": lambda a: np.asarray(a[0]),
    "no axes": lambda a: np.ones((), a.dtype),
    "five axes": lambda a: np.ones((2,) * 5, a.dtype),
    "one element more": lambda a: np.concatenate([a, a[..., :1]], -1),
    "one element less": lambda a: a[..., :-1],
    "one row less": lambda a: a[:-1],
    "nothing": lambda a: a[:0],
    "None": lambda a: None,
    "a list": lambda a: a.tolist(),
    "a text": lambda a: "text",
}


def spoilt(part, which, spoil, seen):
    """The arguments with the array of number `which` spoilt."""
    if isinstance(part, np.ndarray):
        seen.append(part)
        return spoil(part) if len(seen) - 1 == which else part
    if isinstance(part, (list, tuple)):
        return type(part)([spoilt(p, which, spoil, seen) for p in part])
    return part


def filled(part, leaves):
    if isinstance(part, Leaf):
        return leaves[part]
    if isinstance(part, (list, tuple)):
        return type(part)([filled(p, leaves) for p in part])
    return part


NAMED = re.compile(r"(\w+|_ [+*] _|\|_\|): ")  # functions of an operator are called as it is


@cache
def arrays_of(name):
    seen = []
    args, _, leaves, _, _ = draw(CASES[name], "float64")
    spoilt(filled(args, leaves), -1, None, seen)
    return tuple(seen)


@pytest.mark.parametrize("name", [n for n, case in CASES.items() if case.call is None])
def test_arrays_that_do_not_fit_are_refused_by_name(name):
    """Whatever is refused, an error of ours says so, or one that begins with a name."""
    case = CASES[name]
    args, settings, leaves, _, _ = draw(case, "float64")
    args = filled(args, leaves)
    for which, array in enumerate(arrays_of(name)[:6]):
        for how, spoil in SPOILS.items():
            if not array.ndim and how not in ("other kind", "booleans", "complex", "None"):
                continue
            if not array.size and how == "an axis less":
                continue
            given = spoilt(args, which, spoil, [])
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                try:
                    _called(core, case, given, settings, leaves)
                except CoreError:
                    continue
                except (TypeError, ValueError, IndexError) as error:
                    assert NAMED.match(str(error)), f"{how} of argument {which}: {error!r}"


@pytest.mark.parametrize("name", [n for n, case in FIRST.items() if case.call is None])
@pytest.mark.parametrize("count", ["none", "one less"])
def test_wrong_numbers_of_arguments_are_refused(name, count):
    args, settings, leaves, _, _ = draw(FIRST[name], "float64")
    args = {"none": (), "one less": filled(args, leaves)[:-1]}[count]
    try:
        _called(core, FIRST[name], args, settings, leaves)
    except (CoreError, TypeError, ValueError, IndexError) as error:
        named = FIRST[name].name in str(error) or re.match(r"\s*(\w+: |Invalid)", str(error))
        assert named, repr(error)


@pytest.mark.parametrize("name", FIRST)
def test_what_is_not_a_number_stays_so(name):
    case = FIRST[name]
    if case.name in CHOOSING:
        pytest.skip("gives labels, shares of labels, or what a mask chooses")
    for which in range(len(draw(case, "float64")[2])):

        def change(leaves, which=which):
            return [leaf * np.nan if i == which else leaf for i, leaf in enumerate(leaves)]

        with np.errstate(all="ignore"):
            outputs, _ = run(case, change=lambda leaves: [*map(np.asarray, change(leaves))])
        assert any(np.isnan(y.array).any() for y in outputs), f"argument {which}"


CHOOSING = {
    "non_maximum_suppression",
    "accuracy",
    "argmax",
    "argmin",
    "binary_accuracy",
    "precision",
    "recall",
    "zoneout",
}


NUMBERS = {
    "scalars": {int: np.int64, float: np.float64},
    "arrays of no dimensions": {int: np.array, float: np.array},
}
"""Python's numbers as NumPy's, of which float64 would widen arrays of float32."""


def as_numbers(part, types):
    if type(part) in (tuple, list):
        return type(part)([as_numbers(p, types) for p in part])
    return types.get(type(part), lambda same: same)(part)


@pytest.mark.parametrize("types", NUMBERS.values(), ids=NUMBERS)
@pytest.mark.parametrize("name", CASES)
def test_settings_may_be_numbers_of_numpy(name, types):
    case = CASES[name]
    settings = {key: as_numbers(value, types) for key, value in case.settings.items()}
    args = as_numbers(case.args, types)
    other = Case(case.name, args, settings, case.call, case.config, case.number)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [[*o, *gradients(o, x)] for o, x in (run(c, "float32") for c in (other, case))]
    for actual, expected in zip(*found, strict=True):
        assert (actual is None) == (expected is None)
        if actual is not None:
            assert actual.dtype == expected.dtype
            np.testing.assert_allclose(actual.array, expected.array, rtol=1e-5, atol=1e-5)
