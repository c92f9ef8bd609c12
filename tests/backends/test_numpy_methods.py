"""NumPy's functions without the Python around methods: the same results and errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.numpy_backend.methods import OF_FEW
from backends.numpy_backend.namespace import few, namespace

AXES = st.one_of(st.none(), st.integers(-4, 3), st.sampled_from([(0,), (0, 1), (-1, 0), ()]))
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
@given(
    st.sampled_from(["max", "min", "amax", "amin", "mean", "expand_dims", "squeeze", "stack"]),
    st.sampled_from(["f", "d", "e", "i", "?"]),
    st.sampled_from([(), (1,), (3,), (3, 4), (1, 3, 1), (2, 0), (9, 5)]),
    AXES,
    st.booleans(),
    st.booleans(),
)
def test_with_axes(
    name: str, kind: str, shape: tuple[int, ...], axis: Any, keepdims: bool, subclass: bool
) -> None:
    a = arrays(kind, shape).astype(kind)
    if subclass:
        a = a.view(np.memmap)
    if name == "stack":
        assert_alike(name, [a, a], axis=axis)
    elif name in ("expand_dims", "squeeze"):
        assert_alike(name, a, axis=axis)
    else:
        assert_alike(name, a, axis=axis, keepdims=keepdims)


@given(
    st.sampled_from([(name, others) for name, several in CALLS.items() for others in several]),
    st.sampled_from(["f", "d", "i", "?"]),
    st.sampled_from([(), (3,), (3, 4), (2, 3, 4), (0, 3)]),
)
def test_with_shapes_and_places(
    call: tuple[str, tuple[Any, ...]], kind: str, shape: tuple[int, ...]
) -> None:
    name, given = call
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
    assert_alike("stack", [np.ones(2), [1.0, 2.0]])
    assert_alike("stack", [np.ones(2), np.ones(3)])
