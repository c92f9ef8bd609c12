"""Layers for which ONNX has an operator.

A translation returns None where the operator cannot do what the layer does: then its formula is
written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from core.tracing import Applied
from plugins.export.graph import Graph
from plugins.export.sizes import Dim, in_each_trace

Translated = TypeVar("Translated", bound=Callable[..., Any])


def takes_open_settings(translation: Translated) -> Translated:
    """Say that a translation takes an operation whose settings follow open sizes.

    Others are not asked then: they would write the settings as they are in one trace.
    """
    translation.takes_open_settings = True  # type: ignore[attr-defined]
    return translation


def linear(g: Graph, call: Applied, x: str, W: str, *b: str) -> list[str]:
    """Gemm."""
    return [g.add("Gemm", x, W, *b, transB=1)]


def embed_id(g: Graph, call: Applied, x: str, W: str) -> list[str] | None:
    """Gather, where no label is ignored."""
    if call.function.ignore_label is not None:
        return None
    return [g.add("Gather", W, g.cast(x, "int64"), dtype=g.dtype(W), axis=0)]


def _sizes(f: Any, ndim: int, *names: str) -> list[tuple[int, ...]]:
    """Settings of each axis, with those that follow open sizes as they are."""
    given = [getattr(f, name) for name in names]
    return [tuple(n) if isinstance(n, tuple | list) else (n,) * ndim for n in given]


def _after(
    shape: Sequence[int],
    out: Sequence[int],
    k: Any,
    stride: Any,
    pad: Any,
    dilate: Any,
    cover_all: bool | None = False,
) -> list[int] | None:
    """The padding behind, so that there are as many windows as the operation has.

    Along an axis of open size it is what the operation has been given, or, with `cover_all`, as
    much as reaches every element; None where this makes other numbers of windows in a trace. Where
    windows are summed, for which `cover_all` is None, it has to be the same in all traces.
    """
    found = []
    for size, o, n, s, p, d in zip(shape, out, k, stride, pad, dilate, strict=True):
        needed = [(b - 1) * s + (n - 1) * d + 1 - a - p for a, b in in_each_trace(size, o)]
        if len({*needed}) > 1 and cover_all is None:
            return None
        if len(needed) > 1 and cover_all is not None:
            most = p + s - 1 if cover_all else p
            if not all([most - s < each <= most for each in needed]):
                return None
            needed = [most]
        if -needed[0] >= s:  # what is left over would be a window more
            return None
        found.append(needed[0])
    return found


def _known(*shapes: Sequence[int]) -> bool:
    """Whether no size is 0, which ONNX's windows do not take."""
    return all([0 not in shape for shape in shapes])


def _convolved(call: Applied, transposed: bool = False) -> tuple[list[int], dict[str, Any]] | None:
    """The padding behind and the attributes of windows; None for those that ONNX has not."""
    f, (image, filters) = call.function, [v.shape for v in call.inputs[:2]]
    out = call.outputs[0].shape
    ndim = len(image) - 2
    if ndim not in (1, 2, 3) or not _known(image, filters, out):
        return None
    if any([isinstance(n, Dim) for n in filters]):
        return None
    stride, pad, dilate = _sizes(f, ndim, "stride", "pad", "dilate")
    whole, windows = (out, image) if transposed else (image, out)
    cover_all = None if transposed else f.cover_all
    after = _after(whole[2:], windows[2:], filters[2:], stride, pad, dilate, cover_all)
    if after is None:
        return None
    return after, {
        "kernel_shape": list(map(int, filters[2:])),
        "strides": list(stride),
        "pads": [*pad, *[max(n, 0) for n in after]],
        "dilations": list(dilate),
        "group": f.groups,
    }


def convolution(g: Graph, call: Applied, x: str, W: str, *b: str) -> list[str] | None:
    """Conv."""
    found = _convolved(call)
    return None if found is None else [g.add("Conv", x, W, *b, **found[1])]


def deconvolution(g: Graph, call: Applied, x: str, W: str, *b: str) -> list[str] | None:
    """ConvTranspose."""
    found = _convolved(call, transposed=True)
    if found is None:
        return None
    beyond = [max(-n, 0) for n in found[0]]
    return [g.add("ConvTranspose", x, W, *b, output_padding=beyond, **found[1])]


def _pooling(g: Graph, call: Applied, op: str, x: str, **more: Any) -> list[str] | None:
    f, image, out = call.function, call.inputs[0].shape, call.outputs[0].shape
    ndim = len(image) - 2
    if ndim not in (1, 2, 3) or not _known(image, out):
        return None
    ksize, pad = _sizes(f, ndim, "ksize", "pad")
    (stride,) = [ksize] if f.stride is None else _sizes(f, ndim, "stride")
    if any([isinstance(n, Dim) for n in (*ksize, *stride, *pad)]):
        pairs = zip(ksize, image[2:], strict=True)
        whole = all([k == n for pair in pairs for k, n in in_each_trace(*pair)])
        return [g.add(f"Global{op}", x)] if whole and not any(pad) else None
    after = _after(image[2:], out[2:], ksize, stride, pad, (1,) * ndim, f.cover_all)
    if after is None:
        return None
    pads = [*pad, *[max(n, 0) for n in after]]
    if any([n >= k for n, k in zip(pads, ksize * 2, strict=True)]):
        return None
    return [g.add(op, x, kernel_shape=list(ksize), strides=list(stride), pads=pads, **more)]


@takes_open_settings
def max_pooling(g: Graph, call: Applied, x: str) -> list[str] | None:
    """MaxPool."""
    return _pooling(g, call, "MaxPool", x)


@takes_open_settings
def average_pooling(g: Graph, call: Applied, x: str) -> list[str] | None:
    """AveragePool, which counts the padding."""
    return _pooling(g, call, "AveragePool", x, count_include_pad=1)


@takes_open_settings
def resize(g: Graph, call: Applied, x: str) -> list[str] | None:
    """Resize; pixels are repeated, where they are, a whole number of times."""
    f, image, out = call.function, call.inputs[0].shape, call.outputs[0].shape
    if not _known(image, out):
        return None
    how: dict[str, Any] = {"mode": "linear"}
    how["coordinate_transformation_mode"] = "align_corners" if f.align_corners else "half_pixel"
    if f.mode == "nearest":
        pairs = zip(out[2:], image[2:], strict=True)
        if any([new % old for pair in pairs for new, old in in_each_trace(*pair)]):
            return None
        how = {"mode": "nearest", "nearest_mode": "floor"}
        how["coordinate_transformation_mode"] = "asymmetric"
    return [g.add("Resize", x, "", "", g.integers(out[2:]), axes=[2, 3], **how)]


def batch_normalization(g: Graph, call: Applied, x: str, *parameters: str) -> list[str] | None:
    """BatchNormalization, where statistics are of the second axis."""
    f, ndim = call.function, len(call.inputs[0].shape)
    axes = f.axis if f.axis is not None else (0, *range(2, ndim))
    if ndim < 2 or tuple(axes) != (0, *range(2, ndim)) or len(call.inputs[1].shape) != 1:
        return None
    return [g.add("BatchNormalization", x, *parameters, epsilon=float(f.eps))]


def layer_normalization(g: Graph, call: Applied, x: str, gamma: str, beta: str) -> list[str] | None:
    """LayerNormalization, where the axes are the last ones."""
    f, ndim = call.function, len(call.inputs[0].shape)
    if tuple(f.axis) != tuple(range(min(f.axis), ndim)):
        return None
    return [g.add("LayerNormalization", x, gamma, beta, axis=min(f.axis), epsilon=float(f.eps))]


def group_normalization(g: Graph, call: Applied, x: str, *affine: str) -> list[str] | None:
    """GroupNormalization, from opset 21 on."""
    f = call.function
    if g.opset < 21 or len(call.inputs[0].shape) < 3:
        return None
    return [g.add("GroupNormalization", x, *affine, num_groups=f.groups, epsilon=float(f.eps))]


def lrn(g: Graph, call: Applied, x: str) -> list[str] | None:
    """LRN, for an odd number of channels in images."""
    f = call.function
    if f.n % 2 == 0 or len(call.inputs[0].shape) != 4:
        return None
    more = {"alpha": float(f.alpha * f.n), "beta": float(f.beta), "bias": float(f.k)}
    return [g.add("LRN", x, size=f.n, **more)]


def attention(g: Graph, call: Applied, *qkv: str) -> list[str] | None:
    """Attention, from opset 23 on, for queries of four axes."""
    f = call.function
    shapes = [v.shape for v in call.inputs]
    alike = all([len(s) == 4 and s[:2] == shapes[0][:2] for s in shapes])
    if g.opset < 23 or not alike:
        return None
    return [g.add("Attention", *qkv, scale=float(f.scale), is_causal=int(f.is_causal))]


def fft(g: Graph, call: Applied, real: str, imag: str) -> list[str] | None:
    """DFT over the last axis, from opset 20 on."""
    if g.opset < 20:
        return None
    ndim = len(call.inputs[0].shape)
    parts = [g.reshape(x, (*call.inputs[0].shape, 1)) for x in (real, imag)]
    joined = g.add("Concat", *parts, axis=ndim)
    inverse = int(call.function.inverse)
    found = g.add("DFT", joined, "", g.constant(ndim - 1, "int64"), inverse=inverse)
    return [g.gather(found, i, ndim) for i in (0, 1)]
