"""Which weights of Keras's layers a link's arrays are, and what has to be done to them.

Kernels there have inputs before outputs, and those of convolutions have spatial axes first. A rule
gives, for a link, units, each of which stands for a layer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from plugins.serializers.entries import Array
from plugins.serializers.keras_file import SEPARABLE
from plugins.serializers.matching import rule_of, units_in
from plugins.serializers.torch_names import interleaved

Made = dict[str, Array]


class Unit(NamedTuple):
    """What stands for a layer: its path, the classes it may have there, and how arrays are made.

    `convert` gives arrays by the names of entries; ValueError where it is given too many or too
    few. `channels` gives those of a convolution by its weight, and 0 for what has none; None stands
    for what leaves them as they are.
    """

    path: str
    kinds: tuple[str, ...]
    convert: Callable[[Sequence[Array]], Made]
    channels: Callable[[Array], int] | None = lambda W: 0


def _with_bias(link: Any, kernel: Callable[[Array], Array]) -> Callable[[Sequence[Array]], Made]:
    """W and b; b is 0 where the layer has none."""

    def convert(arrays: Sequence[Array]) -> Made:
        W, *b = arrays
        if len(b) > (link.b is not None):
            raise ValueError
        made = {"W": kernel(W)}
        if link.b is not None:
            made["b"] = b[0] if b else np.zeros_like(link.b.array)
        return made

    return convert


def _dense(link: Any, path: str) -> Iterator[Unit]:
    yield Unit(path, ("dense", "time_distributed"), _with_bias(link, lambda k: k.T))


def _convolution(link: Any, path: str) -> Iterator[Unit]:
    kinds = (*[f"conv{n}d" for n in "123"], SEPARABLE[1])
    yield Unit(path, kinds, _with_bias(link, channels_first), len)


def _deconvolution(link: Any, path: str) -> Iterator[Unit]:
    kinds = tuple([f"conv{n}d_transpose" for n in "123"])
    convert = _with_bias(link, channels_first)
    yield Unit(path, kinds, convert, lambda W: W.shape[1] * link.groups)


def channels_first(kernel: Array) -> Array:
    """The last two axes before the others, the last one first."""
    return kernel.transpose(-1, -2, *range(kernel.ndim - 2))


def _depthwise(link: Any, path: str) -> Iterator[Unit]:
    convert = _with_bias(link, channels_first)
    yield Unit(path, ("depthwise_conv2d", SEPARABLE[0]), convert, lambda W: W.shape[0] * W.shape[1])


def _in_order(*names: str) -> Callable[[Sequence[Array]], Made]:
    def convert(arrays: Sequence[Array]) -> Made:
        return dict(zip(names, arrays, strict=True))

    return convert


def _norm(kind: str, *more: str) -> Callable[[Any, str], Iterator[Unit]]:
    def rule(link: Any, path: str) -> Iterator[Unit]:
        own = [name for name in ("gamma", "beta") if getattr(link, name, None) is not None]

        def convert(arrays: Sequence[Array]) -> Made:
            both = len(arrays) == 2 + len(more) and kind != "rms_normalization"
            names = ("gamma", "beta", *more) if both else (*own, *more)
            made = dict(zip(names, arrays, strict=True))
            for name, nothing in (("gamma", 1), ("beta", 0)):
                if name in made and name not in own and (made.pop(name) != nothing).any():
                    raise ValueError  # the layer scales or shifts what the link leaves as it is
            return made

        yield Unit(path, (kind,), convert, None)

    return rule


def _embedding(link: Any, path: str) -> Iterator[Unit]:
    yield Unit(path, ("embedding",), _in_order("W"))


def _prelu(link: Any, path: str) -> Iterator[Unit]:
    def convert(arrays: Sequence[Array]) -> Made:
        (alpha,) = arrays
        return {"W": np.moveaxis(alpha, -1, 0).reshape(link.W.shape)}

    yield Unit(path, ("p_re_lu", "prelu"), convert, None)


def _recurrent(kind: str, gates: Sequence[int]) -> Callable[[Any, str], Iterator[Unit]]:
    """Layers over whole sequences, with the places of the gates there."""
    n = len(gates)

    def side(at: int, arrays: Sequence[Array]) -> Made:
        kernel, recurrent, *bias = arrays
        if len(bias) > 1 or (kind == "gru" and bias and bias[0].ndim != 2):
            raise ValueError  # gates that are reset before the product are others
        rows = np.zeros((2, kernel.shape[1]), kernel.dtype)
        if bias:
            rows[: bias[0].size // rows.shape[1]] = bias[0]
        stacked = (("w", 0, kernel.T), ("w", n, recurrent.T), ("b", 0, rows[0]), ("b", n, rows[1]))
        return {
            f"{at}/{letter}{first + k}": np.split(whole, n)[gate]
            for letter, first, whole in stacked
            for k, gate in enumerate(gates)
        }

    def sides(places: Sequence[int], arrays: Sequence[Array]) -> Made:
        """The arrays of one direction or of two; the layer has one direction after the other."""
        count, odd = divmod(len(arrays), len(places))
        if odd:
            raise ValueError
        made: Made = {}
        for i, at in enumerate(places):
            made |= side(at, arrays[i * count : (i + 1) * count])
        return made

    def rule(link: Any, path: str) -> Iterator[Unit]:
        directions, kinds = (2, ("bidirectional",)) if link.use_bi_direction else (1, (kind,))
        for i in range(0, len(link), directions):
            yield Unit(path, kinds, partial(sides, range(i, i + directions)))

    return rule


def _gru(link: Any, path: str) -> Iterator[Unit]:
    """Gates that are reset before the product; what they let through is what they keep there."""

    def convert(arrays: Sequence[Array]) -> Made:
        kernel, recurrent, b = arrays
        if b.ndim != 1:  # gates that are reset after the product are others
            raise ValueError
        made: Made = {}
        for letter, whole, row in (("W", kernel, b), ("U", recurrent, np.zeros_like(b))):
            z, r, new = np.split(whole.T, 3)
            bz, br, bnew = np.split(row, 3)
            for name, W, own in (("_z", -z, -bz), ("_r", r, br), ("", new, bnew)):
                made |= {f"{letter}{name}/W": W, f"{letter}{name}/b": own}
        return made

    yield Unit(path, ("gru", "gru_cell"), convert)


def _lstm(link: Any, path: str) -> Iterator[Unit]:
    def convert(arrays: Sequence[Array]) -> Made:
        kernel, recurrent, *bias = arrays
        b = bias[0] if bias else np.zeros(kernel.shape[1], kernel.dtype)
        parts = (("upward/W", kernel.T), ("lateral/W", recurrent.T), ("upward/b", b))
        return {name: interleaved(array) for name, array in parts}

    yield Unit(path, ("lstm", "lstm_cell"), convert)


def _attention(link: Any, path: str) -> Iterator[Unit]:
    def convert(arrays: Sequence[Array]) -> Made:
        biased = link.output.b is not None
        made = dict[str, Array]()
        given = iter(arrays)
        for name in ("query", "key", "value", "output"):
            kernel = next(given, None)
            if kernel is None or kernel.ndim != 3:
                raise ValueError
            size = kernel.shape[-1] if name == "output" else -1
            rows = kernel.reshape(-1 if name == "output" else len(kernel), size)
            made[f"{name}/W"] = rows.T
            if biased:
                made[f"{name}/b"] = next(given).reshape(-1)
        if next(given, None) is not None:
            raise ValueError
        return made

    yield Unit(path, ("multi_head_attention",), convert)


_RNN = _recurrent("simple_rnn", (0,))
_LSTM = _recurrent("lstm", (0, 1, 2, 3))
_GRU = _recurrent("gru", (1, 0, 2))  # there z comes before r

RULES: dict[str, Callable[[Any, str], Iterator[Unit]]] = {
    "Linear": _dense,
    "ConvolutionND": _convolution,
    "DeconvolutionND": _deconvolution,
    "DepthwiseConvolution2D": _depthwise,
    "BatchNormalization": _norm("batch_normalization", "avg_mean", "avg_var"),
    "LayerNormalization": _norm("layer_normalization"),
    "GroupNormalization": _norm("group_normalization"),
    "RMSNormalization": _norm("rms_normalization"),
    "EmbedID": _embedding,
    "PReLU": _prelu,
    "LSTM": _lstm,
    "StatelessLSTM": _lstm,
    **dict.fromkeys(("GRU", "StatefulGRU", "StatelessGRU"), _gru),
    "MultiHeadAttention": _attention,
    **dict.fromkeys(("NStepRNNTanh", "NStepRNNReLU", "NStepBiRNNTanh", "NStepBiRNNReLU"), _RNN),
    **dict.fromkeys(("NStepLSTM", "NStepBiLSTM"), _LSTM),
    **dict.fromkeys(("NStepGRU", "NStepBiGRU"), _GRU),
}
"""Links, by the names of their classes."""


def units_of(model: Any) -> Iterator[Unit]:
    """The layers that the links of a model stand for, in the order of their definition."""

    def whole(link: Any, path: str) -> Iterable[Unit]:
        rule = rule_of(RULES, link)
        return rule(link, path) if rule else ()

    def alone(link: Any, path: str) -> Iterator[Unit]:
        own = [name.strip("/") for name, _ in link.namedparams() if name.count("/") == 1]
        if own:
            yield Unit(path, (), _in_order(*own), None)

    return units_in(model, whole, alone)
