"""The operators of Variables: loaded when the first of them is used, and declared for checkers.

`core.ops.intrinsics.operators` gives Variable the real ones, which hide those here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from core.graph import array_api

if TYPE_CHECKING:
    from core.graph.variable import Variable
    from core.typing import Index, Operand

_OF_TWO = "add sub mul truediv floordiv pow matmul mod and or xor lshift rshift"
_OPERATORS = f"{_OF_TWO} r{_OF_TWO.replace(' ', ' r')} neg pos abs invert getitem setitem "
_OPERATORS += "eq ne lt le gt ge"


class Operators:
    """Arithmetic, comparisons and items: elementwise as those of arrays."""

    __slots__ = ()

    if TYPE_CHECKING:

        def _of_one(self) -> Variable: ...
        def _of_two(self, other: Operand) -> Variable: ...
        def _of_any(self, other: object) -> Variable: ...
        def __getitem__(self, slices: Index) -> Variable: ...
        def __setitem__(self, slices: Index, value: Operand) -> None: ...

        __neg__ = __pos__ = __abs__ = __invert__ = _of_one
        __add__ = __sub__ = __mul__ = __truediv__ = __floordiv__ = __pow__ = __matmul__ = _of_two
        __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __rfloordiv__ = __rpow__ = _of_two
        __mod__ = __and__ = __or__ = __xor__ = __lshift__ = __rshift__ = __rmatmul__ = _of_two
        __rmod__ = __rand__ = __ror__ = __rxor__ = __rlshift__ = __rrshift__ = _of_two
        __lt__ = __le__ = __gt__ = __ge__ = _of_two  # elementwise, as of arrays
        __eq__ = __ne__ = _of_any  # type: ignore[assignment]


def _first(name: str) -> Any:
    def operator(self: Any, *operands: Any) -> Any:
        array_api.intrinsics  # noqa: B018 - loading it gives the class its operators
        return getattr(type(self), name)(self, *operands)

    return operator


for _name in _OPERATORS.split():
    setattr(Operators, f"__{_name}__", _first(f"__{_name}__"))
