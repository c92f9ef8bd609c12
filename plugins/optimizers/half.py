"""The treatment of float16 parameters by small numbers in a rule."""

from __future__ import annotations

import warnings
from typing import Any

from core.optimizer import UpdateRule

_LEAST = 2.0**-25  # what rounds to 0 in float16


def divisor(rule: UpdateRule, xp: Any, size: Any, name: str = "eps") -> Any:
    """What a step divides by: `size`, or infinity where it is 0, so that nothing moves there.

    It is 0 in float16 alone, which knows no `eps` of 1e-8 and loses the squares of small gradients.
    The hyper-parameter of that kind has a `name`.
    """
    eps = getattr(rule.hyperparam, name)
    if eps > _LEAST or size.dtype != getattr(xp, "float16", None):
        return size
    warnings.warn(
        f"{type(rule).__name__.removesuffix('Rule')}: {name}={eps} is 0 in float16, and so are the "
        "squares of small gradients, so those elements do not change. Call "
        f"optimizer.use_fp32_update(), or give an {name} of 1e-4 or more.",
        stacklevel=2,
    )
    return xp.where(size == 0, xp.full_like(size, xp.inf), size)
