"""Which tensors of PyTorch's modules a link's arrays are, and what has to be done to them.

A rule gives, for a link, parts: entries of the link, the tensors that they are made of, how, and
how tensors are made of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from core import Link, Variable, no_backprop_mode, using_config
from plugins.serializers.dictionary import host_array
from plugins.serializers.entries import Array
from plugins.serializers.matching import joined, rule_of, units_in

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

SHIFTS = ("b", "beta")
"""What a module that was made with `bias=False` lacks."""

NORMS = ("LayerNormalization", "RMSNormalization")
"""Normalizations of blocks that have nothing but parameters, as there."""


class Part(NamedTuple):
    """Entries of a link, what each tensor may be called, and what is done to them, in words.

    `convert` makes arrays of tensors, `back` tensors of arrays. What is `optional` stands for terms
    that a module may have been made without, and links always have: 0 where there are no tensors.
    """

    entries: tuple[str, ...]
    tensors: tuple[tuple[str, ...], ...]
    convert: Callable[..., list[Array]]
    back: Callable[..., list[Array]]
    how: str = ""
    optional: bool = False


class Unit(NamedTuple):
    """A link that stands for one module."""

    path: str
    parts: list[Part]


def units_of(model: Link, entries: Mapping[str, Any], names: set[str] | None = None) -> list[Unit]:
    """The modules that a model's entries make up, in the order of their definition.

    With the names of tensors, a rule is left out where there are none that it names.
    """
    ends = None if names is None else _ends(names)
    owned: dict[str, list[str]] = {}
    for name in entries:
        owned.setdefault(name.rpartition("/")[0], []).append(name)

    def whole(link: Any, path: str) -> list[Unit]:
        rule = rule_of(RULES, link)
        parts = [*rule(link)] if rule else []
        return [Unit(path, parts)] if parts and (ends is None or _possible(parts, ends)) else []

    def alone(link: Any, path: str) -> list[Unit]:
        parts = [*_alike(link, path, entries, owned.get(path, []))]
        return [Unit(path, parts)] if parts else []

    found = [*units_in(model, whole, alone)]
    known = {joined(unit.path, e) for unit in found for part in unit.parts for e in part.entries}
    for name in entries:
        if name not in known:  # what hooks have added to a link of a rule
            path, _, own = name.rpartition("/")
            found.append(Unit(path, [_same(own, NAMES.get(own, own))]))
    return found


def _ends(names: set[str]) -> set[str]:
    """All that names end in, from a dot on."""
    parts = [name.split(".") for name in names]
    return {".".join(each[n:]) for each in parts for n in range(len(each))}


def _possible(parts: list[Part], ends: set[str]) -> bool:
    """Whether the file has tensors called so anywhere."""
    return not ends.isdisjoint(parts[0].tensors[0])


def _alike(link: Any, path: str, entries: Mapping[str, Any], owned: list[str]) -> Iterator[Part]:
    """The entries that are a link's own, as they are, but for what hooks compute weights from."""
    names = [name.removeprefix(f"{path}/" if path else "") for name in owned]
    hooks = [hook for hook in link.local_link_hooks.values() if hasattr(hook, "begun")]
    kept = {name for hook in hooks for name in hook.kept}
    for own in names:
        computing = [hook for hook in hooks if hook.weight_name == own]
        if own in kept:
            continue
        if computing:
            yield _computed(link, own, computing, names)
        else:
            shift = len(owned) > 1 and own in SHIFTS
            yield _same(own, NAMES.get(own, own))._replace(optional=shift)


def _computed(link: Any, own: str, hooks: list[Any], names: list[str]) -> Part:
    """What hooks make the module's weight of: a weight, and what they keep beside it."""
    kept = [name for hook in hooks for name in hook.kept]
    there = [name for name in kept if name in names]

    def convert(x: Array) -> list[Array]:
        known = getattr(link, own).array
        if known is not None and known.shape != x.shape:
            raise ValueError("another shape, with which no hook need begin")
        weight = Variable(x, requires_grad=False)
        begun = dict(
            zip(kept, [a for hook in hooks for a in hook.begun(link, weight)], strict=True)
        )
        return [x, *[begun[name] for name in there]]

    def back(*_: Array) -> list[Array]:
        weight: Any = Variable(getattr(link, own).array, requires_grad=False)
        with no_backprop_mode(), using_config("train", False):
            for hook in hooks:
                weight = hook.replacement(link, weight)
        return [host_array(weight.array)]

    how = " and ".join([hook.name for hook in hooks])
    return Part((own, *there), ((NAMES.get(own, own),),), convert, back, how)


def _same(entry: str, tensor: str) -> Part:
    return Part((entry,), ((tensor,),), lambda x: [x], lambda x: [x])


def _together(
    entries: tuple[str, ...], names: tuple[str, ...], how: str, optional: bool = False
) -> Part:
    """Entries that are one tensor there, one after the other."""
    return Part(
        entries,
        (names,),
        lambda x: np.split(x, len(entries)),
        lambda *parts: [np.concatenate(parts)],
        how,
        optional,
    )


def _layers(gates: int) -> Callable[[Any], Iterator[Part]]:
    """Layers over whole sequences, whose gates stand one after the other there.

    One layer of one direction may be a cell there, whose tensors have no end.
    """

    def rule(link: Any) -> Iterator[Part]:
        directions = 2 if link.use_bi_direction else 1
        for i in range(len(link)):
            behind = f"_l{i // directions}{'_reverse' if i % directions else ''}"
            ends = (behind, "") if len(link) == 1 else (behind,)
            for letter, what in (("w", "weight"), ("b", "bias")):
                for first, side in ((0, "ih"), (gates, "hh")):
                    entries = tuple([f"{i}/{letter}{first + k}" for k in range(gates)])
                    names = tuple([f"{what}_{side}{end}" for end in ends])
                    yield _together(entries, names, f"{gates} gates apart", letter == "b")

    return rule


def interleaved(x: Array) -> Array:
    """Gates input, forget, cell, output, each together, as cell, input, forget, output by unit."""
    i, f, g, o = np.split(x, 4)
    return np.stack([g, i, f, o], axis=1).reshape(x.shape)


def _apart(x: Array) -> Array:
    """The way back."""
    g, i, f, o = np.moveaxis(x.reshape(-1, 4, *x.shape[1:]), 1, 0)
    return np.concatenate([i, f, g, o])


def _lstm(*ends: str) -> Callable[[Any], Iterator[Part]]:
    """A layer over steps; its tensors may have these ends."""

    def names(name: str) -> tuple[str, ...]:
        return tuple([name + end for end in ends])

    def rule(link: Any) -> Iterator[Part]:
        how = "gates interleaved"
        for entry, name in (("upward/W", "weight_ih"), ("lateral/W", "weight_hh")):
            weight = (names(name),)
            yield Part((entry,), weight, lambda x: [interleaved(x)], lambda x: [_apart(x)], how)
        yield Part(
            ("upward/b",),
            (names("bias_ih"), names("bias_hh")),
            lambda x, y: [interleaved(x + y)],
            lambda x: [_apart(x), np.zeros_like(x)],
            f"summed, {how}",
            optional=True,
        )

    return rule


def _attention(link: Any) -> Iterator[Part]:
    """MultiHeadAttention, whose matrices are one tensor where queries and keys are of one size."""
    thirds = ("query", "key", "value")
    if len({getattr(link, name).in_size for name in thirds}) == 1:
        matrices = tuple([f"{name}/W" for name in thirds])
        yield _together(matrices, ("in_proj_weight",), "3 matrices apart")
    else:
        for name in thirds:
            yield _same(f"{name}/W", f"{name[0]}_proj_weight")
    yield from _arrays_of("output", "out_proj", link.output)
    if link.output.b is not None:
        vectors = tuple([f"{name}/b" for name in thirds])
        yield _together(vectors, ("in_proj_bias",), "3 vectors apart", optional=True)


def _arrays_of(here: str, there: str, link: Any) -> Iterator[Part]:
    for path, _ in link.namedparams():
        own = path.strip("/")
        shift = own in SHIFTS
        yield _same(f"{here}/{own}", f"{there}.{NAMES[own]}")._replace(optional=shift)


def _block(link: Any) -> Iterator[Part]:
    """TransformerBlock, as TransformerEncoderLayer or, with a memory, TransformerDecoderLayer."""
    attentions = [("self_attn", "attention")]
    norms = ["norm1", "norm2"]
    if link.memory_attention is not None:
        attentions.append(("multihead_attn", "memory_attention"))
        norms.insert(1, "norm_memory")
    if any([type(getattr(link, name)).__name__ not in NORMS for name in norms]):
        return
    for there, here in attentions:
        for part in _attention(getattr(link, here)):
            entries = tuple([f"{here}/{name}" for name in part.entries])
            tensors = tuple([tuple([f"{there}.{t}" for t in each]) for each in part.tensors])
            yield part._replace(entries=entries, tensors=tensors)
    yield from _arrays_of("inner", "linear1", link.inner)
    yield from _arrays_of("outer", "linear2", link.outer)
    for i, name in enumerate(norms):
        yield from _arrays_of(name, f"norm{i + 1}", getattr(link, name))


def _prelu(link: Any) -> Iterator[Part]:
    shape = link.W.shape
    yield Part(("W",), (("weight",),), lambda x: [x.reshape(shape)], lambda x: [x.reshape(-1)])


def _bilinear(link: Any) -> Iterator[Part]:
    """Outputs come first there, and no linear terms."""

    def back(x: Array) -> list[Array]:
        return [np.moveaxis(x, -1, 0)]

    yield Part(("W",), (("weight",),), lambda x: [np.moveaxis(x, 0, -1)], back, "outputs last")
    for name in ("V1", "V2", "b"):
        if getattr(link, name) is not None:
            yield _same(name, NAMES.get(name, name))._replace(optional=True)


def _depthwise(link: Any) -> Iterator[Part]:
    """A convolution of as many groups as channels there; the filters of a channel come together."""
    m = link.channel_multiplier

    def convert(x: Array) -> list[Array]:
        return [np.moveaxis(x.reshape(-1, m, *x.shape[2:]), 1, 0)]

    def back(x: Array) -> list[Array]:
        return [np.moveaxis(x, 0, 1).reshape(-1, 1, *x.shape[2:])]

    yield Part(("W",), (("weight",),), convert, back, "by channel")
    if link.b is not None:
        yield _same("b", "bias")._replace(optional=True)


RULES: dict[str, Callable[[Any], Iterator[Part]]] = {
    "Bilinear": _bilinear,
    "DepthwiseConvolution2D": _depthwise,
    "LSTM": _lstm("_l0", ""),
    "StatelessLSTM": _lstm("", "_l0"),
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
