"""The defaults in standard code, on NumPy and on the strict referee, against NumPy's own words."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import array_api_strict as strict
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.arrays import windows
from core.arrays.array_backend import Backend
from core.arrays.fallbacks import Fallbacks

NAMESPACES = [np, strict]
namespaces = pytest.mark.parametrize("xp", NAMESPACES, ids=["numpy", "strict"])


def by(xp: Any) -> Fallbacks:
    """The formulas with a namespace."""
    formulas = Fallbacks()
    formulas.xp, formulas.mutable = xp, True
    for name in ("add_in_place", "put", "put_sum"):
        setattr(formulas, name, partial(getattr(Backend, name), formulas))
    return formulas


def host(x: Any) -> np.ndarray[Any, Any]:
    return np.asarray(x)


def drawn(seed: int, *shape: int) -> np.ndarray[Any, Any]:
    return np.random.RandomState(seed).uniform(-2, 2, shape)


def direct_windows(
    x: np.ndarray[Any, Any], g: windows.Geometry, value: float
) -> np.ndarray[Any, Any]:
    """Element by element from the definition."""
    out = np.full((*x.shape[:2], *g.ksize, *g.out), value)
    for place in np.ndindex(*g.ksize, *g.out):
        inside, at = place[: len(g.ksize)], place[len(g.ksize) :]
        where = [
            o * s + i * d - p
            for o, s, i, d, p in zip(at, g.stride, inside, g.dilate, g.pad, strict=True)
        ]
        if all(0 <= w < n for w, n in zip(where, g.size, strict=True)):
            out[(slice(None), slice(None), *place)] = x[(slice(None), slice(None), *where)]
    return out


@st.composite
def geometries(draw: st.DrawFn) -> dict[str, Any]:
    ndim = draw(st.integers(1, 2))
    each = st.tuples(*[st.integers(1, 3)] * ndim)
    found = {
        "size": draw(st.tuples(*[st.integers(3, 7)] * ndim)),
        "ksize": draw(each),
        "stride": draw(each),
        "pad": draw(st.tuples(*[st.integers(0, 2)] * ndim)),
        "dilate": draw(st.tuples(*[st.integers(1, 2)] * ndim)),
        "cover_all": draw(st.booleans()),
    }
    return found


def fits(g: dict[str, Any]) -> bool:
    try:
        windows.Geometry(**g).checked()
    except ValueError:
        return False
    return True


fitting = geometries().filter(fits)


@namespaces
@given(fitting)
def test_windows_are_what_the_definition_says(xp: Any, g: dict[str, Any]) -> None:
    x = drawn(0, 2, 3, *g["size"])
    geometry = windows.Geometry(**g)
    found = by(xp).windows(
        xp.asarray(x), g["ksize"], g["stride"], g["pad"], g["dilate"], g["cover_all"], 9.0
    )
    np.testing.assert_array_equal(host(found), direct_windows(x, geometry, 9.0))


@namespaces
@given(fitting)
def test_fold_is_the_adjoint_of_windows(xp: Any, g: dict[str, Any]) -> None:
    x = drawn(1, 1, 2, *g["size"])
    args = (g["stride"], g["pad"], g["dilate"])
    w = host(by(np).windows(x, g["ksize"], *args, g["cover_all"], 0.0))
    y = drawn(2, *w.shape)
    folded = host(by(xp).fold(xp.asarray(y), g["size"], *args))
    assert folded.shape == x.shape
    assert math.isclose(np.vdot(w, y), np.vdot(x, folded), rel_tol=1e-10, abs_tol=1e-10)


def test_windows_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="do not fit into"):
        by(np).windows(drawn(0, 1, 1, 3), 5, 1, 0, 1, False, 0.0)


def test_fold_refuses_windows_of_another_image() -> None:
    with pytest.raises(ValueError, match="do not come from"):
        by(np).fold(drawn(0, 1, 1, 3, 7), (5,), 1, 0, 1)


@pytest.mark.parametrize("stride", [(1,), (1, 2, 3)])
def test_sizes_for_other_ranks_are_refused(stride: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="expected 2 integers"):
        by(np).windows(drawn(0, 1, 1, 5, 5), 3, stride, 0, 1, False, 0.0)


@namespaces
def test_pad(xp: Any) -> None:
    x = drawn(0, 2, 3)
    found = windows.pad(xp, xp.asarray(x), [(1, 0), (0, 2)], 5.0)
    expected = np.pad(x, [(1, 0), (0, 2)], constant_values=5.0)
    np.testing.assert_array_equal(host(found), expected)


@pytest.mark.parametrize("widths", [[(0, 1)], [(0, -1), (0, 0)]])
def test_pad_refuses_wrong_widths(widths: list[tuple[int, int]]) -> None:
    with pytest.raises(ValueError, match="expected 2 pairs"):
        windows.pad(np, drawn(0, 2, 3), widths, 0.0)


@namespaces
@given(st.data())
def test_scatter_add_adds_as_often_as_a_place_is_named(xp: Any, data: st.DataObject) -> None:
    n, k = data.draw(st.integers(1, 5)), data.draw(st.integers(0, 9))
    index = np.array(data.draw(st.lists(st.integers(0, n - 1), min_size=k, max_size=k)), np.int64)
    values = drawn(3, k, 2)
    expected = drawn(4, n, 2)
    a = xp.asarray(expected, copy=True)
    np.add.at(expected, index, values)
    by(xp).scatter_add(a, xp.asarray(index), xp.asarray(values))
    np.testing.assert_allclose(host(a), expected, rtol=1e-12, atol=1e-12)


@namespaces
@pytest.mark.parametrize(
    "index", [(), 1, slice(None, None, 2), (Ellipsis, 1), (None, slice(1, 3)), Ellipsis], ids=repr
)
def test_scatter_add_by_slices(xp: Any, index: Any) -> None:
    expected = drawn(5, 4, 3)
    a = xp.asarray(expected, copy=True)
    expected[index] += 2.0
    by(xp).scatter_add(a, index, xp.full(host(a)[index].shape, 2.0, dtype=xp.float64))
    np.testing.assert_array_equal(host(a), expected)


@namespaces
def test_scatter_add_by_mask_and_by_several_arrays(xp: Any) -> None:
    expected = drawn(6, 4, 3)
    a = xp.asarray(expected, copy=True)
    mask = expected > 0
    expected[mask] += 1.5
    with strict.ArrayAPIStrictFlags(data_dependent_shapes=True):
        by(xp).scatter_add(a, xp.asarray(mask), 1.5)
    np.testing.assert_array_equal(host(a), expected)
    rows, columns = np.array([0, 0, 3]), np.array([1, 1, 2])
    np.add.at(expected, (rows, columns), np.array([1.0, 2.0, 3.0]))
    values = xp.asarray([1.0, 2.0, 3.0], dtype=xp.float64)
    by(xp).scatter_add(a, (xp.asarray(rows), xp.asarray(columns)), values)
    np.testing.assert_allclose(host(a), expected, rtol=1e-12)
