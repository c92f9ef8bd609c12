"""What operations give to Variables: operators, the array standard's functions, and NumPy's."""

from __future__ import annotations

from importlib import import_module
from typing import Any

# Both stand above this room, and are loaded when first asked for.
provider: Any
"""The module core.ops.namespace."""

intrinsics: Any
"""The module core.ops.intrinsics."""

_ABOVE = {"provider": "core.ops.namespace", "intrinsics": "core.ops.intrinsics"}

_OF_TWO = "add sub mul truediv floordiv pow matmul mod and or xor lshift rshift"
_OPERATORS = f"{_OF_TWO} r{_OF_TWO.replace(' ', ' r')} neg pos abs invert getitem setitem "
_OPERATORS += "eq ne lt le gt ge"


def __getattr__(name: str) -> Any:
    if name not in _ABOVE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = globals()[name] = import_module(_ABOVE[name])
    return module


def lend_operators(cls: Any) -> None:
    """Give `cls` operators that load the real ones, which take their places, when first used."""
    for name in _OPERATORS.split():
        setattr(cls, f"__{name}__", _first(cls, f"__{name}__"))


def _first(cls: Any, name: str) -> Any:
    def operator(self: Any, *operands: Any) -> Any:
        __getattr__("intrinsics")
        return getattr(cls, name)(self, *operands)

    return operator
