"""What an operation takes, and how it refuses the rest: domains, their rules, and shapes."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["check_own", "domain", "rules", "shapes", "values"]


def check_own(*what: Any) -> None:
    """Run a class's own `check_type_forward`; its language, which stands above, is loaded by it."""
    import_module("core.compat.type_check").check(*what)
