"""What `functions` measures: a function of plugrad's, the same in PyTorch, and their inputs."""

from collections.abc import Callable, Sequence
from operator import add, mul, truediv
from typing import Any, NamedTuple

import numpy as np


class Labels(NamedTuple):
    """Whole numbers below `below`."""

    below: int
    shape: tuple[int, ...]


class Case(NamedTuple):
    """`ours` of `core.functions` and inputs, `theirs` of torch and inputs."""

    ours: Callable[..., Any]
    theirs: Callable[..., Any]
    inputs: tuple[tuple[int, ...] | Labels, ...]

    def arrays(self) -> list[Any]:
        """The inputs: float32 from a normal distribution, or labels."""
        drawn = np.random.default_rng(0)
        return [
            drawn.integers(0, given.below, given.shape).astype("i")
            if isinstance(given, Labels)
            else drawn.standard_normal(given, "f")
            for given in self.inputs
        ]


TABLE, MAPS, WIDE, SIGNAL = (512, 1024), (32, 64, 28, 28), (512, 4096), (16, 64, 256)


def _of_one(name: str, theirs: str = "", shape: tuple[int, ...] = TABLE) -> Case:
    """A function of one array, which PyTorch has among its own or those for networks."""

    def torchs(torch: Any, x: Any) -> Any:
        known = torch.nn.functional
        found = getattr(known, theirs or name, None) or getattr(torch, theirs or name)
        return found(x)

    return Case(lambda F, x: getattr(F, name)(x), torchs, (shape,))


def _of_two(name: str, theirs: Callable[..., Any]) -> Case:
    return Case(lambda F, x, y: getattr(F, name)(x, y), theirs, (TABLE, TABLE))


def _arithmetic(
    x: tuple[int, ...], y: tuple[int, ...], operation: Any = add, positive: bool = False
) -> Case:
    """Of two arrays, of which one may broadcast; the second one's elements at least 1 if so."""

    def both(_: Any, x: Any, y: Any) -> Any:
        return operation(x, y * y + 1.0 if positive else y)

    return Case(both, both, (x, y))


def _pooling(kind: str, axes: int, shape: tuple[int, ...], *window: int) -> Case:
    """Maxima or means of windows: their size, stride and padding."""
    options = {"cover_all": False} if kind == "max" else {}
    ours = f"{'max' if kind == 'max' else 'average'}_pooling_{axes}d"
    return Case(
        lambda F, x: getattr(F, ours)(x, *window, **options),
        lambda torch, x: getattr(torch.nn.functional, f"{kind}_pool{axes}d")(x, *window),
        (shape,),
    )


def _convolution(
    x: tuple[int, ...],
    W: tuple[int, ...],
    stride: int = 1,
    pad: int = 0,
    dilate: int = 1,
    groups: int = 1,
) -> Case:
    axes = len(x) - 2
    return Case(
        lambda F, x, W, b: getattr(F, f"convolution_{axes}d")(
            x, W, b, stride, pad, dilate=dilate, groups=groups
        ),
        lambda torch, x, W, b: getattr(torch.nn.functional, f"conv{axes}d")(
            x, W, b, stride, pad, dilate, groups
        ),
        (x, W, W[:1]),
    )


def _log_odds(torch: Any, x: Any, t: Any) -> Any:
    return torch.nn.functional.binary_cross_entropy_with_logits(x, t.to(x.dtype))


LENGTHS = (
    *(50, 48, 47, 45, 43, 40, 39, 37, 34, 33, 31, 29),
    *(27, 25, 24, 21, 19, 18, 16, 13, 11, 9, 7, 5),
)
BY_TIME = [sum([length > time for length in LENGTHS]) for time in range(LENGTHS[0])]


def _sequences(kind: str, layers: int, units: int) -> Case:
    """Recurrent layers over sequences of `LENGTHS`, whose rows lie by time in both."""
    gates, states = {"lstm": (4, 2), "gru": (3, 1)}[kind]

    def ours(F: Any, x: Any, *parts: Any) -> Any:
        each = [[*F.split_axis(a, gates, 0), *F.split_axis(b, gates, 0)] for a, b in _pairs(parts)]
        first = [np.zeros((layers, len(LENGTHS), units), "f")] * states
        xs = F.split_axis(x, np.cumsum(BY_TIME)[:-1].tolist(), 0)
        run = getattr(F, f"n_step_{kind}")
        return F.concat(run(layers, 0.0, *first, each[::2], each[1::2], xs)[-1], 0)

    def theirs(torch: Any, x: Any, *parts: Any) -> Any:
        first = [torch.zeros(layers, len(LENGTHS), units)] * states
        given = x, torch.tensor(BY_TIME), first if states > 1 else first[0], [p / 8 for p in parts]
        return getattr(torch, kind)(*given, True, layers, 0.0, True, False)[0]

    weights = (gates * units, units), (gates * units, units), (gates * units,), (gates * units,)
    return Case(ours, theirs, ((sum(BY_TIME), units), *weights * layers))


def _pairs(parts: Sequence[Any]) -> list[tuple[Any, Any]]:
    return [(a / 8, b / 8) for a, b in zip(parts[::2], parts[1::2], strict=True)]


CASES: dict[str, Case] = {
    **{name: _of_one(name) for name in ("sigmoid", "tanh", "relu", "gelu", "elu", "selu")},
    **{name: _of_one(name) for name in ("softplus", "silu", "relu6", "exp", "sin", "erf")},
    "rsqrt of squares": Case(
        lambda F, x: F.rsqrt(x * x + 1), lambda torch, x: torch.rsqrt(x * x + 1), (TABLE,)
    ),
    "lgamma of squares": Case(
        lambda F, x: F.lgamma(x * x + 0.5), lambda torch, x: torch.lgamma(x * x + 0.5), (TABLE,)
    ),
    "digamma of squares": Case(
        lambda F, x: F.digamma(x * x + 0.5), lambda torch, x: torch.digamma(x * x + 0.5), (TABLE,)
    ),
    "prelu": Case(
        lambda F, x, W: F.prelu(x, W),
        lambda torch, x, W: torch.nn.functional.prelu(x, W),
        (MAPS, (64,)),
    ),
    "maximum": _of_two("maximum", lambda torch, x, y: torch.maximum(x, y)),
    "x y + row": Case(
        lambda F, x, y, b: x * y + b, lambda torch, x, y, b: x * y + b, (TABLE, TABLE, (1024,))
    ),
    "x + y": _arithmetic(TABLE, TABLE),
    "x + row": _arithmetic(TABLE, (1024,)),
    "x + column": _arithmetic(TABLE, (512, 1)),
    "column x row": _arithmetic((512, 1), (1024,), mul),
    "x by channels": _arithmetic(MAPS, (64, 1, 1), mul),
    "x / sums": _arithmetic((8192, 32), (8192, 1), truediv, positive=True),
    "sum over rows": Case(lambda F, x: F.sum(x, 0), lambda torch, x: x.sum(0), (TABLE,)),
    "sum of all": Case(lambda F, x: F.sum(x), lambda torch, x: x.sum(), (TABLE,)),
    "sum of each row": Case(lambda F, x: F.sum(x, 1), lambda torch, x: x.sum(1), (TABLE,)),
    "sum over channels": Case(lambda F, x: F.sum(x, 1), lambda torch, x: x.sum(1), (MAPS,)),
    "mean of maps": Case(lambda F, x: F.mean(x, (2, 3)), lambda torch, x: x.mean((2, 3)), (MAPS,)),
    "mean of colours": Case(
        lambda F, x: F.mean(x, -1), lambda torch, x: x.mean(-1), ((32, 64, 64, 3),)
    ),
    "max of four": Case(lambda F, x: F.max(x, -1), lambda torch, x: x.amax(-1), ((512, 256, 4),)),
    "softmax": Case(lambda F, x: F.softmax(x), lambda torch, x: torch.softmax(x, 1), (TABLE,)),
    "log_softmax of maps": Case(
        lambda F, x: F.log_softmax(x), lambda torch, x: torch.log_softmax(x, 1), (MAPS,)
    ),
    "logsumexp": Case(
        lambda F, x: F.logsumexp(x, axis=1), lambda torch, x: torch.logsumexp(x, 1), (TABLE,)
    ),
    "cumsum": Case(lambda F, x: F.cumsum(x, 1), lambda torch, x: torch.cumsum(x, 1), (TABLE,)),
    "softmax_cross_entropy": Case(
        lambda F, x, t: F.softmax_cross_entropy(x, t),
        lambda torch, x, t: torch.nn.functional.cross_entropy(x, t),
        (TABLE, Labels(1024, (512,))),
    ),
    "softmax_cross_entropy of maps": Case(
        lambda F, x, t: F.softmax_cross_entropy(x, t),
        lambda torch, x, t: torch.nn.functional.cross_entropy(x, t),
        (MAPS, Labels(64, (32, 28, 28))),
    ),
    "sigmoid_cross_entropy": Case(
        lambda F, x, t: F.sigmoid_cross_entropy(x, t), _log_odds, (TABLE, Labels(2, TABLE))
    ),
    "mean_squared_error": _of_two(
        "mean_squared_error", lambda torch, x, y: torch.nn.functional.mse_loss(x, y)
    ),
    "mean_absolute_error": _of_two(
        "mean_absolute_error", lambda torch, x, y: torch.nn.functional.l1_loss(x, y)
    ),
    "huber_loss": Case(
        lambda F, x, y: F.huber_loss(x, y, 1.0, reduce="no"),
        lambda torch, x, y: torch.nn.functional.huber_loss(x, y, reduction="none"),
        (TABLE, TABLE),
    ),
    "layer_normalization": Case(
        lambda F, x, gamma, beta: F.layer_normalization(x, gamma, beta),
        lambda torch, x, gamma, beta: torch.nn.functional.layer_norm(x, (1024,), gamma, beta),
        (TABLE, (1024,), (1024,)),
    ),
    "rms_normalization": Case(
        lambda F, x, gamma: F.rms_normalization(x, gamma, eps=1e-6),
        lambda torch, x, gamma: torch.nn.functional.rms_norm(x, (1024,), gamma, 1e-6),
        (TABLE, (1024,)),
    ),
    "group_normalization": Case(
        lambda F, x, gamma, beta: F.group_normalization(x, 8, gamma, beta),
        lambda torch, x, gamma, beta: torch.nn.functional.group_norm(x, 8, gamma, beta),
        (MAPS, (64,), (64,)),
    ),
    "batch_normalization": Case(
        lambda F, x, gamma, beta: F.batch_normalization(x, gamma, beta, eps=1e-5),
        lambda torch, x, gamma, beta: torch.nn.functional.batch_norm(
            x, None, None, gamma, beta, True
        ),
        (MAPS, (64,), (64,)),
    ),
    "normalize": Case(
        lambda F, x: F.normalize(x), lambda torch, x: torch.nn.functional.normalize(x), (TABLE,)
    ),
    "max_pooling_2d, 2": _pooling("max", 2, MAPS, 2, 2, 0),
    "max_pooling_2d, 3 by 2": _pooling("max", 2, MAPS, 3, 2, 1),
    "average_pooling_2d, 2": _pooling("avg", 2, MAPS, 2, 2, 0),
    "max_pooling_3d, 2": _pooling("max", 3, (4, 16, 16, 32, 32), 2, 2, 0),
    "resize_images": Case(
        lambda F, x: F.resize_images(x, (56, 56)),
        lambda torch, x: torch.nn.functional.interpolate(
            x, size=(56, 56), mode="bilinear", align_corners=True
        ),
        ((16, 32, 28, 28),),
    ),
    "resize_images to half": Case(
        lambda F, x: F.resize_images(x, (128, 128)),
        lambda torch, x: torch.nn.functional.interpolate(
            x, size=(128, 128), mode="bilinear", align_corners=True
        ),
        ((8, 3, 256, 256),),
    ),
    "adaptive_average_pooling_nd": Case(
        lambda F, x: F.adaptive_average_pooling_nd(x, 7),
        lambda torch, x: torch.nn.functional.adaptive_avg_pool2d(x, 7),
        ((16, 32, 32, 32),),
    ),
    "adaptive_max_pooling_nd": Case(
        lambda F, x: F.adaptive_max_pooling_nd(x, 7),
        lambda torch, x: torch.nn.functional.adaptive_max_pool2d(x, 7),
        ((16, 32, 32, 32),),
    ),
    "select_item": Case(
        lambda F, x, t: F.select_item(x, t),
        lambda torch, x, t: torch.gather(x, 1, t[:, None])[:, 0],
        (WIDE, Labels(4096, (512,))),
    ),
    "prod over rows": Case(
        lambda F, x: F.prod(x * 0.1 + 1.0, 0),
        lambda torch, x: torch.prod(x * 0.1 + 1.0, 0),
        (TABLE,),
    ),
    "pad": Case(
        lambda F, x: F.pad(x, ((0, 0), (0, 0), (2, 2), (2, 2)), "constant"),
        lambda torch, x: torch.nn.functional.pad(x, (2,) * 4),
        (MAPS,),
    ),
    "transpose": Case(
        lambda F, x: F.transpose(x, (0, 2, 3, 1)) * 2.0,
        lambda torch, x: x.permute(0, 2, 3, 1) * 2.0,
        (MAPS,),
    ),
    "concat": Case(
        lambda F, x, y: F.concat([x, y]), lambda torch, x, y: torch.cat([x, y], 1), (TABLE, TABLE)
    ),
    "embed_id": Case(
        lambda F, W, i: F.embed_id(i, W),
        lambda torch, W, i: torch.nn.functional.embedding(i, W),
        ((10_000, 256), Labels(10_000, (32, 64))),
    ),
    "linear": Case(
        lambda F, x, W, b: F.linear(x, W, b),
        lambda torch, x, W, b: torch.nn.functional.linear(x, W, b),
        (TABLE, (512, 1024), (512,)),
    ),
    "matmul of stacks": Case(
        lambda F, a, b: F.matmul(a, b),
        lambda torch, a, b: a @ b,
        ((64, 64, 64), (64, 64, 64)),
    ),
    "attention": Case(
        lambda F, q, k, v: F.scaled_dot_product_attention(q, k, v),
        lambda torch, q, k, v: torch.nn.functional.scaled_dot_product_attention(q, k, v),
        ((8, 8, 128, 32),) * 3,
    ),
    **{
        f"{kind} of sequences, {layers} x {units}": _sequences(kind, layers, units)
        for kind in ("lstm", "gru")
        for layers in (1, 2)
        for units in (128, 256, 650)
    },
    "convolution 3x3": _convolution((16, 64, 28, 28), (64, 64, 3, 3), pad=1),
    "convolution 3x3, stride 2": _convolution((16, 64, 28, 28), (128, 64, 3, 3), 2, 1),
    "convolution 7x7, stride 2": _convolution((4, 3, 112, 112), (64, 3, 7, 7), 2, 3),
    "convolution 5x5": _convolution((16, 16, 28, 28), (32, 16, 5, 5), pad=2),
    "convolution 1x1": _convolution((16, 256, 14, 14), (64, 256, 1, 1)),
    "convolution 1x1, stride 2": _convolution((16, 256, 14, 14), (512, 256, 1, 1), 2),
    "depthwise 3x3": _convolution((16, 64, 28, 28), (64, 1, 3, 3), pad=1, groups=64),
    "depthwise 3x3, stride 2": _convolution((16, 64, 28, 28), (64, 1, 3, 3), 2, 1, groups=64),
    "depthwise 7x7": _convolution((8, 96, 14, 14), (96, 1, 7, 7), pad=3, groups=96),
    "convolution 3x3, 4 groups": _convolution((16, 64, 28, 28), (64, 16, 3, 3), pad=1, groups=4),
    "convolution 3x3, dilated": _convolution((16, 64, 28, 28), (64, 64, 3, 3), 1, 2, 2),
    "convolution 3 of signals": _convolution(SIGNAL, (64, 64, 3), pad=1),
    "convolution 3x3x3": _convolution((2, 16, 16, 28, 28), (32, 16, 3, 3, 3), pad=1),
    "deconvolution 4x4, stride 2": Case(
        lambda F, x, W, b: F.deconvolution_2d(x, W, b, 2, 1),
        lambda torch, x, W, b: torch.nn.functional.conv_transpose2d(x, W, b, 2, 1),
        ((16, 64, 14, 14), (64, 32, 4, 4), (32,)),
    ),
}
