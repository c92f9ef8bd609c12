"""The checks of `check_op` by name, and the reasons for which a domain may leave one out.

Nothing else is imported here, so that lists of operations need no test library.
"""

from __future__ import annotations

from typing import Any

from core.errors import DeclarationError, nearest

REASONS = (
    "random",
    "integer-valued",
    "not differentiable",
    "dtype the backend lacks",
    "depends on values",
)
"""Why an op may leave a check out; there is no sixth reason."""

CHECKS = (
    "forward",
    "gradient",
    "double_gradient",
    "dtypes",
    "layouts",
    "empty",
    "mutation",
    "retention",
    "kernels",
    "backends",
    "repeat",
    "traced",
)
"""The checks of `core.testing.check_op`, by the names that `leave_out` takes."""


def left_out(domain: Any) -> dict[str, str]:
    """The checks that a domain leaves out, each with the reason; DeclarationError for other names.

    `gradient_x` leaves out the rule for the input `x` alone.

    >>> from core import Domain
    >>> left_out(Domain("()->()", leave_out={"gradients": "random"}))
    Traceback (most recent call last):
    core.errors.DeclarationError: leave_out: there is no check 'gradients'. Did you mean 'gradient'?
    """
    found: dict[str, str] = domain.leave_out
    checks = (*CHECKS, *[f"gradient_{name}" for name in domain.values])
    for check, reason in found.items():
        for name, known, what in ((check, checks, "check"), (reason, REASONS, "reason")):
            if name not in known:
                raise DeclarationError(
                    f"leave_out: there is no {what} {name!r}.{nearest(name, known)}"
                )
    return found
