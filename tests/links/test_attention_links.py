"""Attention, by check_link, against sums written out for each head and place."""

import numpy as np
import pytest
from scipy.special import erf

import core
import core.functions as F
import core.links as L
from core.testing import check_link

RANDOM = np.random.RandomState(0)
X = RANDOM.uniform(-1, 1, (2, 3, 4))
MEMORY = RANDOM.uniform(-1, 1, (2, 5, 6))
MASK = np.array([[True, True, False, True, False]])


def affine(p, x, name):
    return x @ p[f"{name}/W"].T + p.get(f"{name}/b", 0)


def attention(p, queries, keys, values, n_heads=2, seen=lambda n, i, m: True, name=""):
    q, k, v = (
        affine(p, x, f"{name}/{part}")
        for x, part in ((queries, "query"), (keys, "key"), (values, "value"))
    )
    d = q.shape[2] // n_heads
    y = np.zeros_like(q)
    for n, i, head in np.ndindex(*q.shape[:2], n_heads):
        part = slice(head * d, (head + 1) * d)
        places = [m for m in range(k.shape[1]) if seen(n, i, m)]
        weights = np.exp([q[n, i, part] @ k[n, m, part] / np.sqrt(d) for m in places])
        total = sum(w * v[n, m, part] for w, m in zip(weights, places, strict=True))
        y[n, i, part] = total / weights.sum()
    return affine(p, y, f"{name}/output")


def normalized(p, x, name):
    z = (x - x.mean(2, keepdims=True)) / np.sqrt(x.var(2, keepdims=True) + 1e-6)
    return z * p[f"{name}/gamma"] + p[f"{name}/beta"]


def gelu(x):
    return x * (1 + erf(x / np.sqrt(2))) / 2


def block(p, x, causal=False):
    z = normalized(p, x, "/norm1")
    seen = (lambda n, i, m: m <= i) if causal else (lambda n, i, m: True)
    x = x + attention(p, z, z, z, seen=seen, name="/attention")
    hidden = gelu(affine(p, normalized(p, x, "/norm2"), "/inner"))
    return x + affine(p, hidden, "/outer")


def decoder_block(p, x, mask, memory):
    """Of the first transformers: sums are normalized, and a memory is attended to."""
    seen = lambda n, i, m: mask[i, m]  # noqa: E731
    x = normalized(p, x + attention(p, x, x, x, seen=seen, name="/attention"), "/norm1")
    of_memory = attention(p, x, memory, memory, name="/memory_attention")
    x = normalized(p, x + of_memory, "/norm_memory")
    return normalized(p, x + affine(p, gelu(affine(p, x, "/inner")), "/outer"), "/norm2")


LINKS = {
    "self-attention": (
        lambda: L.MultiHeadAttention(4, 2, initial_bias=0.5),
        (X,),
        lambda p, x: attention(p, x, x, x),
    ),
    "causal": (
        lambda: L.MultiHeadAttention(4, 4, causal=True, nobias=True),
        (X,),
        lambda p, x: attention(p, x, x, x, 4, lambda n, i, m: m <= i),
    ),
    "of a memory": (
        lambda: L.MultiHeadAttention(4, 2, key_size=6),
        (X, MEMORY),
        lambda p, x, memory: attention(p, x, memory, memory),
    ),
    "of keys and values, masked": (
        lambda: L.MultiHeadAttention(4, 2, key_size=6),
        (X, MEMORY, MEMORY[::-1], np.repeat(MASK, 3, axis=0)),
        lambda p, x, k, v, mask: attention(p, x, k, v, 2, lambda n, i, m: mask[i, m]),
    ),
    "a block": (lambda: L.TransformerBlock(4, 2), (X,), block),
    "a causal block": (
        lambda: L.TransformerBlock(4, 2, 5, causal=True),
        (X,),
        lambda p, x: block(p, x, True),
    ),
    "a block of a decoder": (
        lambda: L.TransformerBlock(4, 2, norm_first=False, memory_size=6),
        (X, np.tri(3, dtype=bool), MEMORY),
        decoder_block,
    ),
}


@pytest.mark.parametrize("name", LINKS)
def test_link(name):
    check_link(*LINKS[name], kind="solution")


def test_mask_and_causality_add_up():
    layer = L.MultiHeadAttention(4, 2, causal=True)
    p = {path: param.array for path, param in layer.namedparams()}
    mask = np.array([[[True, True, True]], [[True, False, True]]])[:, None]  # (n, 1, 1, m)
    x = X.astype("f")
    expected = attention(p, x, x, x, 2, lambda n, i, m: mask[n, 0, 0, m] and m <= i)
    np.testing.assert_allclose(layer(x, mask=mask).array, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_a_query_that_sees_nothing_gets_the_bias_alone(dtype):
    with core.using_config("dtype", dtype):
        layer = L.MultiHeadAttention(4, 2, initial_bias=0.25)
    y = layer(X.astype(dtype), mask=np.zeros((3, 3), bool))
    np.testing.assert_array_equal(y.array, np.full(X.shape, 0.25, dtype))


def test_scores_below_any_constant_still_count():
    layer = L.MultiHeadAttention(4, 1)
    layer.query.W.array *= 1e5
    layer.key.W.array *= 1e5
    x = X.astype("f")
    seen = np.eye(3, dtype=bool)
    np.testing.assert_allclose(
        layer(x, mask=seen).array, layer.output(layer.value(x, 2), 2).array, rtol=1e-4, atol=1e-5
    )


@pytest.mark.parametrize(
    "shape", [(3, 5), (1, 5), (2, 3, 5), (2, 1, 5), (2, 2, 3, 5), (1, 2, 1, 1)]
)
def test_masks_of_any_form(shape):
    layer = L.MultiHeadAttention(4, 2, key_size=6)
    p = {path: param.array.astype("d") for path, param in layer.namedparams()}
    mask = RANDOM.uniform(size=shape) < 0.7
    mask[..., 0] = True
    x, memory = X.astype("f"), MEMORY.astype("f")
    wide = np.broadcast_to(mask[:, None] if mask.ndim == 3 else mask, (2, 2, 3, 5))
    if (wide[:, :1] == wide).all():
        seen = lambda n, i, m: wide[n, 0, i, m]  # noqa: E731
        expected = attention(p, X, MEMORY, MEMORY, seen=seen)
        np.testing.assert_allclose(
            layer(x, memory, mask=mask).array, expected, rtol=1e-4, atol=1e-5
        )
    added = np.where(mask, 0, -1e9).astype("f")
    np.testing.assert_allclose(
        layer(x, memory, mask=added).array, layer(x, memory, mask=mask).array, rtol=1e-4, atol=1e-5
    )


@pytest.mark.parametrize("shape", [(5,), (3, 4), (3, 3, 5), (2, 3, 3, 5), (1, 2, 2, 3, 5)])
def test_masks_that_do_not_fit_are_refused(shape):
    layer = L.MultiHeadAttention(4, 2, key_size=6)
    message = r"MultiHeadAttention[\s\S]*mask.shape is \(l, m\), .* of \(2, 2, 3, 5\)"
    with pytest.raises(core.type_check.InvalidType, match=message):
        layer(X.astype("f"), MEMORY.astype("f"), mask=np.ones(shape, bool))


def test_inputs_without_a_batch_are_refused():
    for layer in (L.MultiHeadAttention(4, 2), L.TransformerBlock(4, 2)):
        with pytest.raises(core.type_check.InvalidType, match="x.ndim == 3\nActual: 2"):
            layer(X[0].astype("f"))


@pytest.mark.parametrize("shape", [(0, 3, 4), (2, 0, 4), (0, 0, 4)])
@pytest.mark.parametrize("link", ["MultiHeadAttention", "TransformerBlock"])
def test_no_examples_and_no_places_give_none(link, shape):
    assert getattr(L, link)(4, 2)(np.zeros(shape, "f")).shape == shape


def test_what_comes_later_changes_nothing_before():
    layer = L.TransformerBlock(4, 2, causal=True)
    x = X.astype("f")
    other = x.copy()
    other[:, 2] = 9
    one, two = layer(x).array, layer(other).array
    np.testing.assert_array_equal(one[:, :2], two[:, :2])
    assert (one[:, 2] != two[:, 2]).any()


def test_dropout_in_training_only():
    layer = L.TransformerBlock(4, 2, dropout=0.5)
    x = X.astype("f")
    assert (layer(x).array != layer(x).array).any()
    with core.using_config("train", False):
        np.testing.assert_array_equal(layer(x).array, layer(x).array)


def test_a_block_with_other_parts():
    check_link(lambda: L.TransformerBlock(4, 1, 3, False, 0.0, F.tanh, L.RMSNormalization), (X,))


def test_a_memory_is_expected_where_there_is_one_and_only_there():
    x, memory = X.astype("f"), MEMORY.astype("f")
    with pytest.raises(TypeError, match=r"no memory, got one. Make the block with memory_size"):
        L.TransformerBlock(4, 2)(x, memory=memory)
    with pytest.raises(TypeError, match=r"expected a memory \(n, m, memory_size\), got none"):
        L.TransformerBlock(4, 2, memory_size=6)(x)


def test_heads_that_do_not_divide_are_refused():
    with pytest.raises(ValueError, match="expected a size that 3 heads divide, got 4"):
        L.MultiHeadAttention(4, 3)
    with pytest.raises(ValueError, match="expected a size that 0 heads divide, got 4"):
        L.MultiHeadAttention(4, 0)


def test_a_mask_of_keys_is_refused_with_the_cure():
    layer, x, memory = L.MultiHeadAttention(4, 2, key_size=6), X.astype("f"), MEMORY.astype("f")
    seen = np.array([[True] * 5, [True] * 3 + [False] * 2])  # (n, m)
    with pytest.raises(
        core.errors.InvalidType, match=r"Cure: write mask\[:, None\]: it has one row"
    ):
        layer(x, memory, mask=seen)
    y = layer(x, memory, mask=seen[:, None]).array
    np.testing.assert_allclose(y[1:], layer(x[1:], memory[1:, :3]).array, rtol=1e-4, atol=1e-5)


def test_a_mask_that_is_a_list_is_refused():
    with pytest.raises(TypeError, match="Expected an array of .*; got a builtins.list"):
        L.MultiHeadAttention(4, 2)(X.astype("f"), mask=[[True]])
