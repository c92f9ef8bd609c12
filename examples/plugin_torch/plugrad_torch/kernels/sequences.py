"""Recurrent cells over whole sequences: few calls of PyTorch a step, which write where rows lie.

Gates begin as the products of the inputs, to whose rows a step adds the product of its state.
Backward, how outputs change with gates is found for all rows at once; what is left to a step is to
multiply that by its gradients, and these by the weights. Gates lie in blocks, each of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

_of_sigmoid = torch.ops.aten.sigmoid_backward.grad_input
_of_tanh = torch.ops.aten.tanh_backward.grad_input
_of_relu = torch.ops.aten.threshold_backward.grad_input


def _walk(
    f: Any, first: Sequence[Tensor], step: Callable[..., Any], rows: Any, back: bool = False
) -> list[Tensor]:
    """The states after the last step of each sequence, from those before its first.

    A step is given the states of the sequences that take part in it, which are the first ones, and
    its own of all `rows`. Backward the last step comes first, and states are their gradients.
    """
    sizes = [size for _, size in f.blocks(len(first[0]), len(rows[0]))]
    by_time = sizes[::-1] if f.reverse else sizes
    steps = list(zip(*[each.split_with_sizes(by_time) for each in rows], strict=True))
    if f.reverse is not back:
        steps.reverse()
    if back:
        sizes.reverse()
    n, most = sizes[0], max(sizes)
    states, ended = [each[:n] for each in first], [[each[most:]] for each in first]
    for size, own in zip(sizes, steps, strict=True):
        if size > n:
            states = [torch.cat((s, each[n:size])) for s, each in zip(states, first, strict=True)]
        elif size < n:
            for parts, state in zip(ended, states, strict=True):
                parts.append(state[size:])
            states = [state[:size] for state in states]
        states, n = step(*states, *own), size
    return [torch.cat((s, *parts[::-1])) for s, parts in zip(states, ended, strict=True)]


def _gradients(g: Sequence[Any], first: Sequence[Tensor], output: Tensor) -> Any:
    """Those of all outputs and of the last states, zeros for none."""
    pairs = zip(g, (output, *first), strict=True)
    own, *last = [torch.zeros_like(x) if each is None else each for each, x in pairs]
    return own, last


# -- long short-term memory ------------------------------------------------------------------------


def _apart(x: Tensor) -> Tensor:
    """The blocks of gates that lie interleaved along the second axis, in memory of their own."""
    blocks = x.reshape(len(x), x.shape[1] // 4, 4).transpose(1, 2)
    return blocks.clone(memory_format=torch.contiguous_format)


def _by_block(W: Tensor) -> Tensor:
    """The rows of interleaved gates, block after block."""
    return W.reshape(len(W) // 4, 4, W.shape[1]).transpose(0, 1).reshape(W.shape)


def lstm_sequence(f: Any, xp: Any, h_first: Tensor, c_first: Tensor, x: Tensor, W: Tensor) -> Any:
    """All outputs and the last states."""
    W, f.gates = _by_block(W).t(), _apart(x)
    h, f.c = x.new_empty(2, len(x), c_first.shape[1])

    def step(
        h: Any, c: Any, z: Any, a: Any, i: Any, remember: Any, o: Any, ifo: Any, new: Any, out: Any
    ) -> Any:
        z.addmm_(h, W)
        a.tanh_()
        ifo.sigmoid_()
        torch.mul(remember, c, out=new).addcmul_(a, i)
        return torch.tanh(new, out=out).mul_(o), new

    rows = (f.gates.view(x.shape), *f.gates.unbind(1), f.gates[:, 1:], f.c, h)
    return h, *_walk(f, (h_first, c_first), step, rows)


def lstm_sequence_gradient(f: Any, g: Any, needs_grad: int) -> Any:
    """Gradients of the same."""
    h_first, c_first, _, W = [source.data for source in f._sources]
    h, c, gates, slopes = f.data[0], f.c, f.gates, torch.empty_like(f.gates)
    (a, i, remember, o), (of_a, of_i, of_f, of_o) = gates.unbind(1), slopes.unbind(1)
    squashed = torch.tanh(c)
    _of_tanh(i, a, grad_input=of_a)
    _of_sigmoid(a, i, grad_input=of_i)
    _of_sigmoid(f.before(torch, c_first, c), remember, grad_input=of_f)
    _of_sigmoid(squashed, o, grad_input=of_o)
    through = torch.ops.aten.tanh_backward(o, squashed)
    blocks = _by_block(W)

    def step(
        gh: Any, gc: Any, g: Any, through: Any, remember: Any, of_c: Any, of_h: Any, gz: Any
    ) -> Any:
        gh = gh + g
        gc = torch.addcmul(gc, gh, through)
        of_c.mul_(gc[:, None])
        of_h.mul_(gh)
        return torch.mm(gz, blocks), gc * remember

    own, last = _gradients(g, (h_first, c_first), h)
    rows = (own, through, remember, slopes[:, :3], of_o, slopes.view(len(h), len(W)))
    firsts = _walk(f, last, step, rows, back=True)
    gx = slopes.transpose(1, 2).reshape(len(h), len(W))
    return *firsts, gx, torch.mm(gx.t(), f.before(torch, h_first, h))


# -- gated recurrent units -------------------------------------------------------------------------


def gru_sequence(f: Any, xp: Any, h_first: Tensor, x: Tensor, W: Tensor, b: Tensor) -> Any:
    """All outputs and the last ones."""
    units, transposed, h = W.shape[1], W.t(), x.new_empty(len(x), W.shape[1])
    both = x[:, : 2 * units] + b[: 2 * units]
    sums = torch.cat((both, b[2 * units :].expand(h.shape), x[:, 2 * units :]), 1)
    f.gates = sums.view(len(x), 4, units)
    r, z, inner, a = f.gates.unbind(1)

    def step(h: Any, q: Any, rz: Any, r: Any, z: Any, inner: Any, a: Any, out: Any) -> Any:
        q.addmm_(h, transposed)
        rz.sigmoid_()
        a.addcmul_(r, inner).tanh_()
        return (torch.lerp(a, h, z, out=out),)

    rows = (sums[:, : 3 * units], sums[:, : 2 * units], r, z, inner, a, h)
    return h, *_walk(f, (h_first,), step, rows)


def gru_sequence_gradient(f: Any, g: Any, needs_grad: int) -> Any:
    """Gradients of the same."""
    h_first, _, W, _ = [source.data for source in f._sources]
    h, slopes = f.data[0], torch.empty_like(f.gates)
    (r, z, inner, a), (of_r, of_z, of_q, of_a) = f.gates.unbind(1), slopes.unbind(1)
    before = f.before(torch, h_first, h)
    _of_tanh(1.0 - z, a, grad_input=of_a)
    _of_sigmoid(before - a, z, grad_input=of_z)
    _of_sigmoid(of_a * inner, r, grad_input=of_r)
    torch.mul(of_a, r, out=of_q)
    gq = slopes.view(len(h), 4 * W.shape[1])[:, : len(W)]

    def step(gh: Any, g: Any, z: Any, slopes: Any, gq: Any) -> Any:
        gh = gh + g
        slopes.mul_(gh[:, None])
        return (gh.mul_(z).addmm_(gq, W),)

    own, last = _gradients(g, (h_first,), h)
    firsts = _walk(f, last, step, (own, z, slopes, gq), back=True)
    gx = torch.cat((gq[:, : 2 * W.shape[1]], of_a), 1)
    return *firsts, gx, torch.mm(gq.t(), before), gq.sum(0)


# -- simple recurrent units ------------------------------------------------------------------------


def tanh_sequence(f: Any, xp: Any, h_first: Tensor, x: Tensor, W: Tensor) -> Any:
    """All outputs and the last ones."""
    return _simple(f, torch.tanh_, h_first, x, W)


def relu_sequence(f: Any, xp: Any, h_first: Tensor, x: Tensor, W: Tensor) -> Any:
    """All outputs and the last ones."""
    return _simple(f, torch.relu_, h_first, x, W)


def _simple(f: Any, activation: Any, h_first: Tensor, x: Tensor, W: Tensor) -> Any:
    h, transposed = x.clone(memory_format=torch.contiguous_format), W.t()

    def step(h: Any, out: Any) -> Any:
        return (activation(out.addmm_(h, transposed)),)

    return h, *_walk(f, (h_first,), step, (h,))


def tanh_sequence_gradient(f: Any, g: Any, needs_grad: int) -> Any:
    """Gradients of the same."""
    return _simple_gradient(f, g, _of_tanh)


def relu_sequence_gradient(f: Any, g: Any, needs_grad: int) -> Any:
    """Gradients of the same."""
    return _simple_gradient(f, g, partial(_of_relu, threshold=0))


def _simple_gradient(f: Any, g: Any, derivative: Any) -> Any:
    (h_first, _, W), h = [source.data for source in f._sources], f.data[0]
    gx = torch.empty_like(h)

    def step(gh: Any, g: Any, h: Any, gx: Any) -> Any:
        return (torch.mm(derivative(gh + g, h, grad_input=gx), W),)

    own, last = _gradients(g, (h_first,), h)
    first = _walk(f, last, step, (own, h, gx), back=True)
    return *first, gx, torch.mm(gx.t(), f.before(torch, h_first, h))
