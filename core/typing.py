"""What arrays are to type checkers, whatever library they come from."""

from __future__ import annotations

from collections.abc import Sequence
from types import EllipsisType
from typing import TYPE_CHECKING, Annotated, Any, Protocol, SupportsIndex, TypeAlias

Shape: TypeAlias = tuple[int, ...]
"""The lengths of the axes."""

Axis: TypeAlias = int | tuple[int, ...] | None
"""One axis or several, negative ones from the last; None for all."""

Axes: TypeAlias = int | Sequence[int] | None
"""What functions take for axes; operations are given it as an `Axis`."""

Sizes: TypeAlias = int | Sequence[int]
"""One size for every spatial axis, or one each."""

Pair: TypeAlias = int | tuple[int, int]
"""One size for both axes of an image, or one each."""

Count: TypeAlias = Annotated[int, "[1, inf)"]
"""How many of what there has to be one of."""

Counts: TypeAlias = Count | Sequence[Count]
"""One count for every spatial axis, or one each."""

Number: TypeAlias = Annotated[int, "[0, inf)"]
"""How many of what there may be none of."""

Width: TypeAlias = Annotated[int, "[0, inf)"]
"""Of a border, which may be missing."""

Widths: TypeAlias = Width | Sequence[Width]
"""One width for every spatial axis, or one each."""

Seed: TypeAlias = Annotated[int, "[0, inf)"]
"""What random numbers follow from."""

Ratio: TypeAlias = Annotated[float, "[0, 1)"]
"""The share of what is left out, where something remains."""

Probability: TypeAlias = Annotated[float, "[0, 1]"]
"""Of anything."""

Positive: TypeAlias = Annotated[float, "(0, inf)"]
"""What is divided by, or added to what may be 0 and is divided by."""

NotNegative: TypeAlias = Annotated[float, "[0, inf)"]
"""A bound of a size, or what is added to it."""

DType: TypeAlias = Any
"""An object of the array's library, or a name such as 'float32': no type is common to them."""


class Array(Protocol):
    """An array that functions and links take: of any backend, or a Variable.

    Lists and numbers are none: `numpy.asarray` makes an array of them.
    """

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes."""

    @property
    def dtype(self) -> Any:
        """The type of the elements, an object of the array's library."""

    @property
    def ndim(self) -> int:
        """The number of axes."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: Any, /) -> Any: ...


class Scalar(Protocol):
    """A number as array libraries have it, such as `numpy.float32(1)`."""

    @property
    def shape(self) -> tuple[()]:
        """No axes."""

    def item(self) -> Any:
        """The number of Python."""


Operand: TypeAlias = Array | Scalar | complex
"""What arithmetic takes beside an array: another, or a number."""

Index: TypeAlias = (
    SupportsIndex
    | slice
    | EllipsisType
    | None
    | Array
    | Sequence[int]
    | Sequence[Sequence[int]]
    | tuple[Any, ...]  # of these, for which checkers infer `object` where kinds are mixed
)
"""What stands in the brackets of an array."""
AnyArray: TypeAlias = Any
"""An array to compute with in the words of the standard: the libraries share no type for it."""

if TYPE_CHECKING:

    class BackendArray(Any):  # type: ignore[misc]  # stands for any type
        """An array that a Variable, a gradient or a backend gives.

        Which library's it is, is decided at run time: beside what all arrays have, checkers let it
        have anything, and stand for any type of array.
        """

        @property
        def shape(self) -> tuple[int, ...]:
            """The lengths of the axes."""

        @property
        def dtype(self) -> Any:
            """The type of the elements, an object of the array's library."""

        @property
        def ndim(self) -> int:
            """The number of axes."""

        @property
        def size(self) -> int:
            """The number of elements."""

        @property
        def T(self) -> BackendArray:
            """The transpose."""

        def __len__(self) -> int: ...
        def __getitem__(self, index: Any, /) -> BackendArray: ...
        def __setitem__(self, index: Any, value: Any, /) -> None: ...
        def __float__(self) -> float: ...
        def __int__(self) -> int: ...
        def __bool__(self) -> bool: ...
        def __neg__(self) -> BackendArray: ...
        def __add__(self, other: Any, /) -> BackendArray: ...
        def __radd__(self, other: Any, /) -> BackendArray: ...
        def __sub__(self, other: Any, /) -> BackendArray: ...
        def __rsub__(self, other: Any, /) -> BackendArray: ...
        def __mul__(self, other: Any, /) -> BackendArray: ...
        def __rmul__(self, other: Any, /) -> BackendArray: ...
        def __truediv__(self, other: Any, /) -> BackendArray: ...
        def __rtruediv__(self, other: Any, /) -> BackendArray: ...
        def __pow__(self, other: Any, /) -> BackendArray: ...
        def __matmul__(self, other: Any, /) -> BackendArray: ...
        def __eq__(self, other: Any, /) -> BackendArray: ...
        def __ne__(self, other: Any, /) -> BackendArray: ...

    MaybeArray: TypeAlias = BackendArray | Any
    """A `BackendArray`, or None where there is none yet, which checkers do not insist on."""
else:
    BackendArray = MaybeArray = Any
