"""Weight standardization."""

from __future__ import annotations

from core import Link, Variable
from core import functions as F
from core.errors.kinds import checked
from core.typing import NotNegative
from plugins.link_hooks.weight_hook import WeightHook


class WeightStandardization(WeightHook):
    r"""Lets a link compute with a weight whose rows have mean 0 and variance 1.

    .. math:: \hat W_i = \frac{W_i - \mu_i}{\sqrt{\sigma_i^2 + \epsilon}}

    with mean :math:`\mu_i` and variance :math:`\sigma_i^2` of all that makes output i. Gradients go
    through it to the weight. It goes with normalizations that do not see the batch, as
    GroupNormalization.

    Args:
        eps: Added to the variance.
        weight_name: The weight, of any shape with the outputs first.
        name: The hook's name; that of its class by default.

    Source: Qiao et al. 2019 (arXiv:1903.10520), equations 2 to 4.

    >>> import core, numpy as np
    >>> import core.links as L
    >>> layer = L.Linear(2, 1, initialW=np.array([[3.0, 5.0]], "f"))
    >>> _ = layer.add_hook(core.link_hooks.WeightStandardization())
    >>> layer(np.array([[1, 0], [0, 1]], "f")).array.round(3)
    array([[-1.],
           [ 1.]], dtype=float32)
    """

    name = "WeightStandardization"

    @checked
    def __init__(
        self, *, eps: NotNegative = 1e-5, weight_name: str = "W", name: str | None = None
    ) -> None:
        super().__init__(weight_name, name)
        self.eps = eps

    def replacement(self, link: Link, weight: Variable) -> Variable:
        """The standardized weight."""
        rows = F.reshape(weight, (weight.shape[0], -1))
        space, place = weight.xp, weight.device.backend.native_device(weight.device)
        like = {"dtype": weight.dtype, "device": place}
        one, zero = [make(rows.shape[1:], **like) for make in (space.ones, space.zeros)]
        return F.reshape(F.layer_normalization(rows, one, zero, self.eps), weight.shape)
