"""The rectified linear unit that leaks at random (Xu et al. 2015, arXiv:1505.00853)."""

from __future__ import annotations

from typing import Any

from core import Domain, Elementwise, Variable, as_variable, choice, config, real
from core.arrays import backend
from core.errors import InvalidType
from core.errors.kinds import checked
from core.typing import Array, BackendArray
from plugins.functions.beside import beside


def _like_x(f: Any, x: Any) -> None:
    if f.r is None:
        return
    dtype = backend.of(f.r).dtype_name(f.r.dtype)
    if (x.shape, x.name) != (f.r.shape, dtype):
        raise InvalidType(f"r {x.shape} {x.name}, as x", f"{f.r.shape} {dtype}")


class RReLU(Elementwise):
    """x for x >= 0, else r x, with r from the uniform distribution unless it is given."""

    low: float = 1.0 / 8
    high: float = 1.0 / 3
    r: Any = None

    saved = ("r",)
    domain = Domain(
        x=real(-3, 3, kinks=(0,)),
        settings={"low": choice(0.0, 0.125), "high": choice(0.125, 0.5)},
        leave_out={"forward": "random"},
        valid=_like_x,
    )

    def compute(self, xp, x):
        if self.r is None:
            draw = self.backend.random.uniform
            device = self.backend.device_of(x)
            self.r = draw(x.shape, x.dtype, self.low, self.high, device=device)
        return xp.where(x >= 0, x, x * self.r)

    def gradient(self, xp, g, x, r):
        return xp.where(x >= 0, g, g * r)


@checked
def rrelu(
    x: Array,
    l: float = 1.0 / 8,  # noqa: E741
    u: float = 1.0 / 3,
    *,
    r: Array | None = None,
    return_r: bool = False,
) -> Variable | tuple[Variable, BackendArray]:
    """Scale negative elements down by random factors: x for x >= 0, otherwise r x.

    While training, each r is drawn from the uniform distribution on [l, u); with
    `core.config.train` off all are (l + u) / 2, whatever `r` is given. The derivative at 0 is taken
    as 1.

    Args:
        x: Floating, of any shape.
        l: The lowest factor.
        u: The highest factor, not below `l`.
        r: An array like `x` to take for the factors instead of drawing them.
        return_r: Also give the factors, an array.

    Returns:
        The shape and dtype of `x`, or a pair with `return_r`.

    Raises:
        InvalidType: `x` is not floating, or `r` has another shape or dtype.
        ValueError: `u` is below `l`.

    Source: Xu, Wang, Chen and Li 2015, "Empirical evaluation of rectified activations in
    convolutional network" (arXiv:1505.00853), section 2.4.

    >>> import core.functions as F, numpy as np
    >>> F.rrelu(np.array([-2, 3], "f"), r=np.array([0.25, 0.25], "f"))
    variable([-0.5,  3. ], dtype=float32)
    """
    if u < l:
        raise ValueError(f"rrelu: expected bounds l <= u of the factors, got l={l} and u={u}")
    if not config.train:
        x = as_variable(x)
        r = x.xp.full_like(x.array, (l + u) / 2)
    elif r is not None:
        r = beside(r, x)
    node = RReLU(l, u, r)
    (y,) = node.apply((x,))
    return (y, node.r) if return_r else y
