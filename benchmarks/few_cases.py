"""What `functions --few` measures: calls on a few elements, as of small batches."""

from typing import Any

from benchmarks.function_cases import Case, Labels

TABLE, MAPS = (8, 16), (2, 4, 8, 8)


def _of(ours: Any, theirs: Any, *inputs: Any) -> Case:
    return Case(ours, theirs, inputs or (TABLE,))


def _known(torch: Any) -> Any:
    return torch.nn.functional


_NAMED = ("sigmoid", "tanh", "relu", "gelu", "elu", "softplus", "silu")

CASES: dict[str, Case] = {
    **{
        name: _of(
            lambda F, x, name=name: getattr(F, name)(x),
            lambda torch, x, name=name: getattr(torch.nn.functional, name)(x),
        )
        for name in _NAMED
    },
    "erf": _of(lambda F, x: F.erf(x), lambda torch, x: torch.erf(x)),
    "x + y": _of(lambda F, x, y: x + y, lambda torch, x, y: x + y, TABLE, TABLE),
    "where, a number": _of(
        lambda F, x: F.where(x.array > 0, x, 0.0),
        lambda torch, x: torch.where(x.detach() > 0, x, 0.0),
    ),
    "sum": _of(lambda F, x: F.sum(x), lambda torch, x: x.sum()),
    "mean": _of(lambda F, x: F.mean(x), lambda torch, x: x.mean()),
    "max": _of(lambda F, x: F.max(x, axis=1), lambda torch, x: x.max(1).values),
    "softmax": _of(lambda F, x: F.softmax(x), lambda torch, x: torch.softmax(x, 1)),
    "log_softmax": _of(lambda F, x: F.log_softmax(x), lambda torch, x: torch.log_softmax(x, 1)),
    "logsumexp": _of(lambda F, x: F.logsumexp(x, axis=1), lambda torch, x: torch.logsumexp(x, 1)),
    "softmax_cross_entropy": _of(
        lambda F, x, t: F.softmax_cross_entropy(x, t),
        lambda torch, x, t: _known(torch).cross_entropy(x, t),
        TABLE,
        Labels(16, (8,)),
    ),
    "sigmoid_cross_entropy": _of(
        lambda F, x, t: F.sigmoid_cross_entropy(x, t),
        lambda torch, x, t: _known(torch).binary_cross_entropy_with_logits(x, t.to(x.dtype)),
        TABLE,
        Labels(2, TABLE),
    ),
    "mean_squared_error": _of(
        lambda F, x, y: F.mean_squared_error(x, y),
        lambda torch, x, y: _known(torch).mse_loss(x, y),
        TABLE,
        TABLE,
    ),
    "linear": _of(
        lambda F, x, W, b: F.linear(x, W, b),
        lambda torch, x, W, b: _known(torch).linear(x, W, b),
        TABLE,
        (16, 16),
        (16,),
    ),
    "matmul": _of(lambda F, x, y: F.matmul(x, y), lambda torch, x, y: x @ y, TABLE, (16, 16)),
    "attention": _of(
        lambda F, q, k, v: F.scaled_dot_product_attention(q, k, v),
        lambda torch, q, k, v: _known(torch).scaled_dot_product_attention(q, k, v),
        *((2, 2, 8, 8),) * 3,
    ),
    "attention, one query": _of(
        lambda F, q, k, v: F.scaled_dot_product_attention(q, k, v),
        lambda torch, q, k, v: _known(torch).scaled_dot_product_attention(q, k, v),
        (1, 8, 1, 32),
        *((1, 8, 256, 32),) * 2,
    ),
    "reshape": _of(lambda F, x: F.reshape(x, (16, 8)), lambda torch, x: x.reshape(16, 8)),
    "transpose": _of(lambda F, x: F.transpose(x), lambda torch, x: x.T),
    "x[:, 1:]": _of(lambda F, x: x[:, 1:], lambda torch, x: x[:, 1:]),
    "concat": _of(
        lambda F, x, y: F.concat((x, y)), lambda torch, x, y: torch.cat((x, y), 1), TABLE, TABLE
    ),
    "stack": _of(
        lambda F, x, y: F.stack((x, y)), lambda torch, x, y: torch.stack((x, y)), TABLE, TABLE
    ),
    "split_axis": _of(
        lambda F, x: F.split_axis(x, 2, 1)[0], lambda torch, x: torch.chunk(x, 2, 1)[0]
    ),
    "expand_dims": _of(lambda F, x: F.expand_dims(x, 0), lambda torch, x: x[None]),
    "broadcast_to": _of(
        lambda F, x: F.broadcast_to(x, TABLE), lambda torch, x: x.expand(*TABLE), (16,)
    ),
    "pad": _of(
        lambda F, x: F.pad(x, 1, "constant"), lambda torch, x: _known(torch).pad(x, (1,) * 4)
    ),
    "embed_id": _of(
        lambda F, W, i: F.embed_id(i, W),
        lambda torch, W, i: _known(torch).embedding(i, W),
        (16, 16),
        Labels(16, (8,)),
    ),
    "layer_normalization": _of(
        lambda F, x, gamma, beta: F.layer_normalization(x, gamma, beta),
        lambda torch, x, gamma, beta: _known(torch).layer_norm(x, (16,), gamma, beta),
        TABLE,
        (16,),
        (16,),
    ),
    "batch_normalization": _of(
        lambda F, x, gamma, beta: F.batch_normalization(x, gamma, beta, eps=1e-5),
        lambda torch, x, gamma, beta: _known(torch).batch_norm(x, None, None, gamma, beta, True),
        MAPS,
        (4,),
        (4,),
    ),
    "group_normalization": _of(
        lambda F, x, gamma, beta: F.group_normalization(x, 2, gamma, beta),
        lambda torch, x, gamma, beta: _known(torch).group_norm(x, 2, gamma, beta),
        MAPS,
        (4,),
        (4,),
    ),
    "max_pooling_2d": _of(
        lambda F, x: F.max_pooling_2d(x, 2), lambda torch, x: _known(torch).max_pool2d(x, 2), MAPS
    ),
    "average_pooling_2d": _of(
        lambda F, x: F.average_pooling_2d(x, 2),
        lambda torch, x: _known(torch).avg_pool2d(x, 2),
        MAPS,
    ),
    "convolution_2d": _of(
        lambda F, x, W, b: F.convolution_2d(x, W, b, pad=1),
        lambda torch, x, W, b: _known(torch).conv2d(x, W, b, padding=1),
        (2, 3, 8, 8),
        (4, 3, 3, 3),
        (4,),
    ),
    "convolution_1d": _of(
        lambda F, x, W: F.convolution_1d(x, W, pad=1),
        lambda torch, x, W: _known(torch).conv1d(x, W, padding=1),
        (2, 4, 16),
        (8, 4, 3),
    ),
}
