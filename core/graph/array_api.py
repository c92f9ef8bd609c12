"""What operations give to Variables: the array standard's functions, and NumPy's on Variables."""

from __future__ import annotations

from typing import Any

# Both stand above this room, and set themselves here.
provider: Any = None
"""The module core.ops.namespace."""

intrinsics: Any = None
"""The module core.ops.intrinsics."""
