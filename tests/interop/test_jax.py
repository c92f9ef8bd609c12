"""JAX beside plugrad: arrays of the same memory, and gradients that are never lost silently."""

import numpy as np
import pytest

import core

jax = pytest.importorskip("jax", reason="JAX is missing: pip install jax")
jnp = jax.numpy


def aligned(n):
    """An array that lies where JAX wants arrays to lie: others it copies."""
    room = np.zeros(n * 4 + 64, "u1")
    start = -room.ctypes.data % 64
    return room[start : start + n * 4].view("f")


def test_memory_is_shared_both_ways():
    x = core.Variable(aligned(4), requires_grad=False)
    there = jnp.from_dlpack(x)
    assert there.unsafe_buffer_pointer() == x.array.ctypes.data
    here = x.__array_namespace__().from_dlpack(jnp.arange(3.0) + 1)
    assert isinstance(here, core.Variable) and here.array.tolist() == [1, 2, 3]
    array = jnp.arange(3.0)
    here = x.__array_namespace__().from_dlpack(array)
    assert here.array.ctypes.data == array.unsafe_buffer_pointer()


def test_parameters_are_shared_where_no_gradient_is_lost():
    p = core.Parameter(aligned(3))
    for lose in (jnp.from_dlpack, jnp.asarray):
        with pytest.raises(TypeError, match="needs a gradient, which a plain array would silently"):
            lose(p)
    with core.no_backprop_mode():
        assert jnp.from_dlpack(p).unsafe_buffer_pointer() == p.array.ctypes.data
