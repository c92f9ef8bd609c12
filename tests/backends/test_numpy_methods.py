"""NumPy's functions without the Python around methods: the same results and errors."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from backends.numpy_backend.methods import OF_FEW
from backends.numpy_backend.namespace import few, namespace

AXES: list[Any] = [None, *range(-4, 4), (0,), (0, 1), (-1, 0), ()]
CALLS = {
    "astype": (("d",), (np.int16,), ("?",), (None,), ("no dtype",)),
    "reshape": ((-1,), (2, -1), ((3, 4),), ([4, 3],), (np.int64(-1),)),
    "permute_dims": ((), ((1, 0),), (None,), ((0, 0),), ((2, 0, 1),)),
    "matrix_transpose": ((),),
    "zeros_like": ((), ("i",), (np.float32,)),
    "ones_like": ((), ("i",)),
    "broadcast_to": (((2, 3, 4),), ((3, 4),), (4,), ((300, 3, 4),), ((1,),), ([3, 4],)),
    "take": (([0, 1],), ([[1, -1]], 0), (1, -1), ([9], 0)),
    "repeat": ((2,), (2, 0), (2, -1), ([1, 2], 0)),
}


def arrays(kind: str, shape: tuple[int, ...]) -> Any:
    a = np.arange(int(np.prod(shape))).reshape(shape).astype(kind) % 7 - 3
    return a if a.ndim < 2 else np.ascontiguousarray(a.T).T


def outcome(function: Any, *args: Any, **options: Any) -> Any:
    with np.errstate(all="ignore"):
        try:
            return function(*args, **options)
        except (TypeError, ValueError, IndexError) as error:
            return type(error) if type(error) in (TypeError, IndexError) else ValueError


def assert_alike(name: str, *args: Any, **options: Any) -> None:
    expected = outcome(getattr(np, name), *args, **options)
    for xp in (few, namespace):
        found = outcome(getattr(xp, name), *args, **options)
        if isinstance(expected, type):
            assert found is expected, (name, args, options)
        else:
            np.testing.assert_array_equal(found, expected, strict=True)
            assert type(found) is type(expected)


@pytest.mark.filterwarnings("ignore:Mean of empty slice")
@pytest.mark.parametrize(
    "name", ["max", "min", "amax", "amin", "mean", "expand_dims", "squeeze", "stack"]
)
def test_with_axes(name: str) -> None:
    shapes: list[Any] = [(), (1,), (3,), (3, 4), (1, 3, 1), (2, 0), (9, 5)]
    for shape, axis, keeps in product(shapes, AXES, (False, True)):
        kind = "fdei?"[(len(shape) + len(str(axis)) + keeps) % 5]
        a = arrays(kind, shape).astype(kind)
        for given in (a, a.view(np.memmap)):
            if name == "stack":
                assert_alike(name, [given, given[::-1] if shape else given], axis=axis)
            elif name in ("expand_dims", "squeeze"):
                assert_alike(name, given, axis=axis)
            else:
                assert_alike(name, given, axis=axis, keepdims=keeps)


@pytest.mark.parametrize("name", CALLS)
def test_with_shapes_and_places(name: str) -> None:
    shapes: list[Any] = [(), (3,), (3, 4), (2, 3, 4), (0, 3)]
    for shape, kind, given in product(shapes, "fi?", CALLS[name]):
        assert_alike(name, arrays(kind, shape).astype(kind), *given)


def test_each_is_tried_and_scalars_are_taken() -> None:
    tried = {"max", "min", "amax", "amin", "mean", "expand_dims", "squeeze", "stack", *CALLS}
    assert tried == OF_FEW.keys()
    scalars: dict[str, tuple[Any, ...]] = {
        "reshape": (-1,),
        "expand_dims": (0,),
        "zeros_like": (),
        "mean": (),
    }
    for name, others in scalars.items():
        assert_alike(name, np.float32(2), *others)
        assert_alike(name, 2.0, *others)
    a = np.arange(4.0)
    assert_alike("take", a, [9, -1, 1], mode="clip")
    assert_alike("astype", a, "i", copy=False)
    assert_alike("ones_like", a, shape=(2, 3))
    assert_alike("zeros_like", a, shape=(2, 3))
    assert_alike("stack", [a, a + 1], dtype="f")
    assert_alike("stack", [np.ones(2), [1.0, 2.0]])
    assert_alike("stack", [np.ones(2), np.ones(3)])
