"""Which tensors of PyTorch's modules a link's arrays are, and what has to be done to them.

A rule gives, for a link, parts: entries of the link, the tensors that they are made of, and how.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from core import Link
from plugins.serializers.entries import Array

NAMES = {
    "W": "weight",
    "b": "bias",
    "gamma": "weight",
    "beta": "bias",
    "avg_mean": "running_mean",
    "avg_var": "running_var",
    "N": "num_batches_tracked",
}
"""What arrays of a layer are called there; others have the same name."""


class Part(NamedTuple):
    """Entries of a link, what each tensor may be called, and what is done to them, in words."""

    entries: tuple[str, ...]
    tensors: tuple[tuple[str, ...], ...]
    convert: Callable[..., list[Array]]
    how: str = ""


class Unit(NamedTuple):
    """A link that stands for one module."""

    path: str
    parts: list[Part]


def units_of(model: Link, entries: Mapping[str, Any], names: set[str]) -> list[Unit]:
    """The modules that a model's entries make up, in the order of their definition."""
    found: list[Unit] = []
    covered: list[str] = []
    for path, link in model.namedlinks():
        here = path.strip("/")
        if any([not each or here.startswith(f"{each}/") for each in covered]):
            continue
        rule = next((RULES[c.__name__] for c in type(link).__mro__ if c.__name__ in RULES), None)
        parts = list(rule(link)) if rule else []
        if parts and _possible(parts, names):
            covered.append(here)
        else:
            parts = list(_alike(here, entries))
        if parts:
            found.append(Unit(here, parts))
    return found


def _possible(parts: list[Part], names: set[str]) -> bool:
    """Whether the file has tensors called so anywhere."""
    wanted = parts[0].tensors[0]
    return any([name == w or name.endswith(f".{w}") for name in names for w in wanted])


def _alike(path: str, entries: Mapping[str, Any]) -> Iterator[Part]:
    """The arrays of a link itself, as they are."""
    prefix = f"{path}/" if path else ""
    for name in entries:
        own = name.removeprefix(prefix)
        if name.startswith(prefix) and "/" not in own:
            yield Part((own,), ((NAMES.get(own, own),),), lambda x: [x])


def _split(count: int) -> Callable[[Array], list[Array]]:
    return lambda x: np.split(x, count)


def _layers(gates: int) -> Callable[[Any], Iterator[Part]]:
    """Layers over whole sequences, whose gates stand one after the other there."""

    def rule(link: Any) -> Iterator[Part]:
        directions = 2 if link.use_bi_direction else 1
        for i in range(len(link)):
            behind = f"_l{i // directions}{'_reverse' if i % directions else ''}"
            for letter, what in (("w", "weight"), ("b", "bias")):
                for first, side in ((0, "ih"), (gates, "hh")):
                    entries = tuple([f"{i}/{letter}{first + k}" for k in range(gates)])
                    tensor = (f"{what}_{side}{behind}",)
                    yield Part(entries, (tensor,), _split(gates), f"{gates} gates apart")

    return rule


def _interleaved(x: Array) -> Array:
    """Gates input, forget, cell, output, each together, as cell, input, forget, output by unit."""
    i, f, g, o = np.split(x, 4)
    return np.stack([g, i, f, o], axis=1).reshape(x.shape)


def _lstm(link: Any) -> Iterator[Part]:
    how = "gates interleaved"
    ih, hh = (("weight_ih_l0", "weight_ih"), ("weight_hh_l0", "weight_hh"))
    yield Part(("upward/W",), (ih,), lambda x: [_interleaved(x)], how)
    yield Part(("lateral/W",), (hh,), lambda x: [_interleaved(x)], how)
    biases = (("bias_ih_l0", "bias_ih"), ("bias_hh_l0", "bias_hh"))
    yield Part(("upward/b",), biases, lambda x, y: [_interleaved(x + y)], f"summed, {how}")


def _attention(link: Any) -> Iterator[Part]:
    thirds = ("query", "key", "value")
    together = tuple([f"{name}/W" for name in thirds])
    yield Part(together, (("in_proj_weight",),), _split(3), "3 matrices apart")
    yield from _affine("output", "out_proj")
    if link.output.b is not None:
        together = tuple([f"{name}/b" for name in thirds])
        yield Part(together, (("in_proj_bias",),), _split(3), "3 vectors apart")


def _affine(here: str, there: str) -> Iterator[Part]:
    for own in ("W", "b"):
        yield Part((f"{here}/{own}",), ((f"{there}.{NAMES[own]}",),), lambda x: [x])


def _block(link: Any) -> Iterator[Part]:
    """TransformerBlock, as TransformerEncoderLayer(norm_first=True)."""
    for part in _attention(link.attention):
        entries = tuple([f"attention/{name}" for name in part.entries])
        tensors = tuple([tuple([f"self_attn.{t}" for t in each]) for each in part.tensors])
        yield part._replace(entries=entries, tensors=tensors)
    yield from _affine("inner", "linear1")
    yield from _affine("outer", "linear2")
    for name in ("norm1", "norm2"):
        for own in ("gamma", "beta"):
            yield Part((f"{name}/{own}",), ((f"{name}.{NAMES[own]}",),), lambda x: [x])


def _prelu(link: Any) -> Iterator[Part]:
    yield Part(("W",), (("weight",),), lambda x: [x.reshape(link.W.shape)])


RULES: dict[str, Callable[[Any], Iterator[Part]]] = {
    "LSTM": _lstm,
    "StatelessLSTM": _lstm,
    "MultiHeadAttention": _attention,
    "TransformerBlock": _block,
    "PReLU": _prelu,
    "NStepLSTM": _layers(4),
    "NStepBiLSTM": _layers(4),
    "NStepGRU": _layers(3),
    "NStepBiGRU": _layers(3),
    "NStepRNNTanh": _layers(1),
    "NStepBiRNNTanh": _layers(1),
    "NStepRNNReLU": _layers(1),
    "NStepBiRNNReLU": _layers(1),
}
"""Links, by the names of their classes, that stand for a module with tensors of its own making."""
