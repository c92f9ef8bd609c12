"""What a plugin's author proves an op, a link, an optimizer or a backend with, in one line each.

    from core.testing import check_op
    def test_mish():
        check_op(Mish, reference=lambda x: x * np.tanh(np.log1p(np.exp(x))))

This room may import NumPy and Hypothesis; the core never loads it.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = {
    "Case": "core.testing.strategies",
    "assert_allclose": "core.testing.gradient_check",
    "cases": "core.testing.strategies",
    "check_backend": "core.testing.backends",
    "check_link": "core.testing.links",
    "check_op": "core.testing.ops",
    "check_optimizer": "core.testing.optimizers",
    "mutants": "core.testing.mutation",
    "parameterize": "core.testing.parameterized",
    "product": "core.testing.parameterized",
    "product_dict": "core.testing.parameterized",
    "tolerance": "core.testing.tolerances",
    "unary_math_function_unittest": "core.testing.unary",
}


def __getattr__(name: str) -> Any:
    """Each name loads its own file, and what that needs."""
    if name not in _HOMES:
        raise AttributeError(f"module 'core.testing' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*_HOMES, "gradient_check"])
