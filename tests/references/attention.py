"""References of attention."""

import math

import numpy as np


def attention(query, key, value, scale=1.0, is_causal=False):
    lead = np.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
    q, k, v = (np.broadcast_to(x, (*lead, *x.shape[-2:])) for x in (query, key, value))
    y = np.zeros((*q.shape[:-1], v.shape[-1]))
    for *head, i in np.ndindex(*q.shape[:-1]):
        keys, values = k[tuple(head)], v[tuple(head)]
        seen = min(i + 1, len(keys)) if is_causal else len(keys)
        shares = [math.exp(scale * math.fsum(q[(*head, i)] * keys[j])) for j in range(seen)]
        for c in range(v.shape[-1]):
            y[(*head, i, c)] = math.fsum(s * u for s, u in zip(shares, values[:, c], strict=False))
        y[(*head, i)] /= math.fsum(shares)
    return y


REFERENCES = {"Attention": attention}
