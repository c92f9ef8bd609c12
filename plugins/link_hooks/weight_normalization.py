"""Weight normalization."""

from __future__ import annotations

from typing import Any

from core import Link, Parameter, Variable
from core import functions as F
from core.errors.kinds import checked
from core.initializers import Constant
from core.typing import AnyArray
from plugins.link_hooks.weight_hook import SIXTEEN_BIT, WeightHook


class WeightNormalization(WeightHook):
    r"""Lets a link compute with a weight of which length and direction are trained apart.

    .. math:: \hat W_i = g_i \frac{W_i}{\lVert W_i \rVert}

    for the part i of the weight along an axis. The lengths g, a parameter `W_g` of the link, begin
    as those of W, so that at first nothing changes; the weight is then trained as a direction. To
    delete the hook leaves the link with the weight that it computed with.

    Args:
        axis: The axis of W along which each place has a length of its own: 0, that of the outputs,
            but for deconvolutions, which have them along 1. None is one length for all.
        weight_name: The weight's name; that of the lengths has `_g` behind it.
        name: The hook's name; that of its class by default.

    `load_torch` gives a link with the hook a weight, of PyTorch's `weight_norm` too, with its
    lengths, and `save_torch` writes the weight that is computed with.

    Source: Salimans and Kingma 2016 (arXiv:1602.07868), equation 2.

    >>> import core, numpy as np
    >>> import core.links as L
    >>> layer = L.Linear(2, 1, initialW=np.array([[3.0, 4.0]], "f"))
    >>> _ = layer.add_hook(core.link_hooks.WeightNormalization())
    >>> layer.W_g.array
    array([[5.]], dtype=float32)
    >>> layer.W_g.array[...] = 10
    >>> layer(np.array([[1, 0], [0, 1]], "f")).array
    array([[6.],
           [8.]], dtype=float32)
    """

    name = "WeightNormalization"

    @checked
    def __init__(
        self, *, axis: int | None = 0, weight_name: str = "W", name: str | None = None
    ) -> None:
        super().__init__(weight_name, name)
        self.axis = axis
        self.length_name = weight_name + "_g"

    def added(self, link: Link | None) -> None:
        """Register the lengths; they get their values when the weight has its own."""
        super().added(link)
        if link is None:
            return
        link._refuse_attribute(self.length_name)
        link.add_param(self.length_name)
        weight = getattr(link, self.weight_name)
        if weight.is_initialized:
            self._start(link, weight)

    def deleted(self, link: Link | None) -> None:
        """Remove them, and leave the weight normalized."""
        if link is None:
            return
        weight = getattr(link, self.weight_name)
        if weight.is_initialized:
            fixed = Variable(weight.array, requires_grad=False)
            setattr(link, self.weight_name, self.replacement(link, fixed).array)
        delattr(link, self.length_name)

    def replacement(self, link: Link, weight: Variable) -> Variable:
        """The normalized weight."""
        lengths = self._start(link, weight)
        return weight * F.broadcast_to(lengths / self._norm(weight), weight.shape)

    @property
    def kept(self) -> tuple[str, ...]:
        """The lengths."""
        return (self.length_name,)

    def begun(self, link: Link, weight: Variable) -> list[AnyArray]:
        """Those of the weight."""
        return [self._norm(Variable(weight.array, requires_grad=False)).array]

    def _norm(self, weight: Variable) -> Variable:
        """The length of each part, along axes of 1; 16-bit squares would overflow."""
        own = None if self.axis is None else self.axis % max(weight.ndim, 1)
        others = tuple([i for i in range(weight.ndim) if i != own])
        narrow = weight.backend.dtype_name(weight.dtype) in SIXTEEN_BIT
        wide = F.cast(weight, "float32") if narrow else weight
        return F.cast(F.sqrt(F.sum(wide * wide, axis=others, keepdims=True)), weight.dtype)

    def _start(self, link: Link, weight: Variable) -> Parameter:
        """The lengths, which are those of the weight unless they are there."""
        lengths: Any = getattr(link, self.length_name)
        if not lengths.is_initialized:
            (norm,) = self.begun(link, weight)
            lengths.initializer = Constant(norm, dtype=weight.dtype)
            lengths.to_device(weight.device)
            lengths.initialize(norm.shape)
        found: Parameter = lengths
        return found
