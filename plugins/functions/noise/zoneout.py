"""Zoneout (Krueger et al. 2016, arXiv:1606.01305)."""

from __future__ import annotations

from typing import Any

from core import Domain, FunctionNode, Variable, as_variable, choice, config, real
from core.errors import InvalidType
from core.errors.kinds import checked
from core.typing import Array
from plugins.functions.beside import beside


def _mask_fits(f: Any, h: Any, x: Any) -> None:
    if not f.draws and f.mask.shape != x.shape:
        raise InvalidType(f"a mask of the shape {x.shape}", f"{f.mask.shape}")


class Zoneout(FunctionNode):
    """h where a random mask is true, x elsewhere; the mask is drawn unless it is given."""

    zoneout_ratio: float
    mask: Any = None

    saved = ("mask",)
    domain = Domain(
        "(...),(...)->(...)",
        h=real(-3, 3),
        x=real(-3, 3),
        settings={"zoneout_ratio": choice(0.0, 0.3, 0.9)},
        leave_out={"forward": "random"},
        valid=_mask_fits,
    )

    def prepare(self) -> None:
        self.draws = self.mask is None

    def compute(self, xp, h, x):
        if self.draws:
            changed = self.backend.random.bernoulli(
                1 - self.zoneout_ratio, x.shape, device=self.backend.device_of(x)
            )
            self.mask = xp.logical_not(changed)
        return xp.where(self.mask, h, x)

    def gradient_h(self, xp, g, mask):
        return xp.where(mask, g, xp.zeros_like(g))

    def gradient_x(self, xp, g, mask):
        return xp.where(mask, xp.zeros_like(g), g)


@checked
def zoneout(h: Array, x: Array, ratio: float = 0.5, *, mask: Array | None = None) -> Variable:
    """Keep randomly chosen elements of a state, in training mode.

    Each element is that of `h` with probability `ratio`, and otherwise that of `x`. With
    `core.config.train` off it is that of `x`.

    Args:
        h: The state before, floating, of any shape.
        x: The state after, of the same shape and dtype.
        ratio: In [0, 1].
        mask: Booleans of the shape of `x`, true where `h` stays, to take instead of drawing them.

    Returns:
        The shape and dtype of `x`.

    Raises:
        InvalidType: Shapes or dtypes do not fit, that of `mask` included.
        ValueError: The ratio is out of range.

    Source: Krueger et al. 2016 (arXiv:1606.01305), section 3.

    >>> import core.functions as F, numpy as np
    >>> F.zoneout(np.zeros(2, "f"), np.ones(2, "f"), mask=np.array([True, False]))
    variable([0., 1.], dtype=float32)
    """
    if not 0 <= ratio <= 1:
        raise ValueError(f"zoneout: expected a ratio in [0, 1], got {ratio}")
    if mask is not None:
        mask = beside(mask, h, x)
    return Zoneout.call(h, x, ratio, mask) if config.train else as_variable(x)
