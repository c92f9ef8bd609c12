"""What arrays are to type checkers, whatever library they come from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol


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

    def __getitem__(self, index: Any, /) -> Any: ...


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
else:
    BackendArray = Any
