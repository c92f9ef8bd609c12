"""What an operation takes, and how it refuses the rest: domains, their rules, and shapes."""

from __future__ import annotations

from typing import Any

__all__ = ["check_own", "domain", "rules", "shapes"]

check_own: Any = None
"""Runs a class's own `check_type_forward`; `core` sets it, as their language stands above."""
