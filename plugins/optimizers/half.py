"""What 16-bit parameters ask of the small numbers in a rule."""

from __future__ import annotations

from core import Parameter
from core.errors import UpdateError

_LEAST_HALF = 2.0**-25  # what rounds to 0 in float16


def refuse_lost_eps(optimizer: str, eps: float, param: Parameter) -> None:
    """Refuse an `eps` that is 0 in the parameter's dtype, since 0 / 0 would follow."""
    if eps <= _LEAST_HALF and param.backend.dtype_name(param.dtype) == "float16":
        raise UpdateError(
            f"{optimizer}: eps={eps} is 0 in float16, the dtype of the parameter "
            f"{param.name}. Call optimizer.use_fp32_update(), or give an eps of 1e-4 or more."
        )
