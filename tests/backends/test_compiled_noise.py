"""Dropout by a counter-based generator: known answers, statistics, and the same bits every time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import core
import core.functions as F
from backends.numpy_backend.kernels import compiler
from backends.numpy_backend.kernels.compiled import noise
from core.arrays.random_streams import set_stream_state, stream
from core.registry import configuration

pytestmark = pytest.mark.skipif(not compiler.available(), reason="needs plugrad[fast]")

SIZE = 400_000
MANY = 5  # standard deviations


@pytest.fixture(autouse=True)
def seeded() -> Iterator[None]:
    core.seed(11)
    yield
    core.seed(None)


def mask(ratio: float = 0.5, shape: Any = SIZE, dtype: str = "float32") -> Any:
    return F.dropout(np.ones(shape, dtype), ratio).array


# Published with the generator (Random123, kat_vectors).
ANSWERS = [
    ((0,) * 6, (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((0xFFFFFFFF,) * 6, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344, 0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]


@pytest.mark.parametrize(("words", "expected"), ANSWERS)
def test_the_generator_gives_the_known_answers(words: Any, expected: Any) -> None:
    with np.errstate(over="ignore"):
        found = noise.philox.function(*map(np.uint32, words))
    assert tuple(map(int, found)) == expected


@pytest.mark.parametrize("ratio", [0.0, 1e-3, 0.1, 0.5, 0.9, 1 - 1e-12])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_as_many_are_dropped_as_asked_and_the_rest_scaled(ratio: float, dtype: str) -> None:
    y = mask(ratio, dtype=dtype)
    kept = y.dtype.type(1) / y.dtype.type(1 - ratio)
    assert y.dtype == dtype and set(np.unique(y)) <= {0, kept}
    deviation = np.sqrt(SIZE * ratio * (1 - ratio))
    assert abs((y == 0).sum() - SIZE * ratio) <= MANY * deviation + 1


@pytest.mark.parametrize("shape", [(2048,), (3, 700), (SIZE,)])
def test_kernel_and_formula_drop_the_same(shape: Any) -> None:
    drawn = []
    for dtype in ("float32", "float64", "float16"):  # the last one by the formula
        core.seed(2)
        drawn.append(mask(0.3, shape, dtype) != 0)
    core.seed(2)
    drawn.append(core.backend.get("numpy").random.bernoulli(0.7, shape))
    for each in drawn[1:]:
        np.testing.assert_array_equal(each, drawn[0], strict=True)


def test_certain_booleans() -> None:
    draw = core.backend.get("numpy").random.bernoulli
    assert draw(1.0, (SIZE,)).all() and not draw(0.0, (SIZE,)).any()


def test_neighbours_quarters_and_draws_know_nothing_of_each_other() -> None:
    y, z = mask() - 1, mask() - 1  # signs
    pairs = [(y[:-k], y[k:]) for k in (1, 2, 3, 64, noise.QUARTER, noise.BLOCK)]
    for a, b in [*pairs, (y, z)]:
        assert abs((a * b).sum()) < MANY * np.sqrt(a.size)


def test_groups_of_eight_are_uniform() -> None:
    groups = np.packbits(mask().astype(bool))
    counts = np.bincount(groups, minlength=256)
    expected = groups.size / 256
    square = ((counts - expected) ** 2 / expected).sum()
    assert abs(square - 255) < MANY * np.sqrt(2 * 255)


def test_bits_are_those_of_any_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for count in (1, 2, 3):
        core.seed(5)
        monkeypatch.setitem(configuration._shared, "num_threads", count)
        found.append(mask(0.3, (7, 30011)).tobytes())
    assert len(set(found)) == 1


def test_a_stream_that_is_taken_up_goes_on_with_the_same_masks() -> None:
    mask()
    installed = stream()
    assert installed is not None
    state = installed.get_state()
    following = [mask(), mask()]
    set_stream_state(state)
    np.testing.assert_array_equal([mask(), mask()], following)
    assert not np.array_equal(*following)


def test_numpys_seed_decides_where_no_stream_is_installed() -> None:
    core.seed(None)
    kept = np.random.get_state()
    try:
        np.random.seed(3)
        first, second = mask(), mask()
        np.random.seed(3)
        np.testing.assert_array_equal(mask(), first)
        assert not np.array_equal(first, second)
    finally:
        np.random.set_state(kept)


def test_gradients_pass_where_values_do_whatever_the_order_of_the_input() -> None:
    x = core.Variable(np.random.default_rng(0).standard_normal((80, 90)).astype("f").T)
    y, drawn = F.dropout(x, 0.4, return_mask=True)
    np.testing.assert_array_equal(y.array, x.array * drawn)
    y.grad = np.full(y.shape, 2, "f")
    y.backward()
    np.testing.assert_array_equal(x.grad, 2 * drawn)
    again, given = F.dropout(x, 0.4, mask=drawn, return_mask=True)
    assert given is drawn
    np.testing.assert_array_equal(again.array, y.array)
