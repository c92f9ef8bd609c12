"""What Python and array libraries ask of a Variable: a number, an array, its namespace, a text.

What needs more than the array is in `core.show.variable` and `core.compat.numpy_functions`, which
are loaded when first asked for.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from core.graph import array_api
from core.registry.configuration import current_state

if TYPE_CHECKING:
    from core.graph.variable import Variable
    from core.typing import Operand


class Protocols:
    """The special methods by which a Variable takes part where numbers and arrays do."""

    __slots__ = ()

    def __len__(self: Any) -> int:
        if not self.shape:
            raise TypeError("len() of a Variable without dimensions")
        return self.shape[0]  # type: ignore[no-any-return]

    def __iter__(self: Any) -> Iterator[Variable]:
        if not self.shape:
            raise TypeError("a Variable without dimensions has no elements to go over")
        if array_api.numpy_functions.only_looked_at(sys._getframe(1)):
            return iter(self.backend.to_host(self.array))
        return iter(array_api.functions.separate(self))

    def __contains__(self: Any, element: Any) -> bool:
        """Whether some element equals `element`, or one that it is broadcast to, as in NumPy."""
        found = self == element
        return found is not False and bool(found.any())

    def __divmod__(self: Any, other: Operand) -> tuple[Variable, Variable]:
        return self // other, self % other

    def __rdivmod__(self: Any, other: Operand) -> tuple[Variable, Variable]:
        return other // self, other % self

    def item(self: Any) -> Any:
        """The one element as a Python number; waits for the device."""
        return self.backend.to_host(self._array).item()

    def tolist(self: Any) -> Any:
        """The elements as Python numbers, in lists of lists; waits for the device.

        >>> import core, numpy as np
        >>> core.Variable(np.array([[1, 2], [3, 4]], "f")).tolist()
        [[1.0, 2.0], [3.0, 4.0]]
        """
        return self.backend.to_host(self.array).tolist()

    def __format__(self: Any, spec: str) -> str:
        """As a number is written where there is one element: `f"{loss:.3f}"`."""
        if spec and self.size != 1:
            raise TypeError(
                f"format(Variable, {spec!r}): expected one element, got the shape {self.shape}"
            )
        return format(self.item(), spec) if spec else str(self)

    def __round__(self: Any, ndigits: int | None = None) -> Any:
        return round(self.item(), ndigits)

    def __bool__(self: Any) -> bool:
        if self.size != 1:
            raise ValueError(
                f"the truth of a Variable of {self.size} elements is ambiguous; "
                "say .any() or .all()"
            )
        return bool(self.item())

    def __float__(self: Any) -> float:
        return float(self.item())

    def __int__(self: Any) -> int:
        return int(self.item())

    def __complex__(self: Any) -> complex:
        return complex(self.item())

    def __index__(self: Any) -> int:
        if self.ndim or self.backend.kind(self.dtype) not in "iu":
            raise TypeError(
                "only a Variable of an integer without dimensions can be an index, not one of "
                f"{self.backend.dtype_name(self.dtype)} in the shape {self.shape}"
            )
        return int(self.item())

    def _refuse_silent_loss(self: Any, what: str) -> None:
        if self._source is not None and self._spec.kind not in "biu" and current_state().backprop:
            raise TypeError(
                f"{what}: this Variable needs a gradient, which a plain array would silently lose. "
                "Take its .array, or use it under core.no_backprop_mode()."
            )

    def __array__(self: Any, dtype: Any = None, copy: bool | None = None) -> Any:
        if not (self.array is None or array_api.numpy_functions.only_looked_at(sys._getframe(1))):
            self._refuse_silent_loss("numpy.asarray(Variable)")
        return array_api.numpy_functions.as_numpy(self, dtype, copy)

    def __dlpack__(
        self: Any,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[Any, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """The elements for another library, shared unless `copy` or the device asks for a copy.

        What lies backwards is copied, unless `copy` is False.
        """
        export = self._exported("__dlpack__")
        self._refuse_silent_loss("Variable.__dlpack__")
        if copy is None and min(getattr(self.array, "strides", ()), default=0) < 0:
            export = self.backend.copy(self.array).__dlpack__  # at others PyTorch ends the process
        asked = {"max_version": max_version, "dl_device": dl_device, "copy": copy}
        given = {name: value for name, value in asked.items() if value is not None}
        try:
            return export(stream=stream, **given)
        except BufferError as error:
            raise BufferError(
                f"Variable.__dlpack__: {error} Expected what DLPack hands out, got an array of "
                f"{self._spec.name}; F.from_torch and core.interop.as_torch share bfloat16."
            ) from None

    def __dlpack_device__(self: Any) -> tuple[Any, int]:
        return self._exported("__dlpack_device__")()  # type: ignore[no-any-return]

    def _exported(self: Any, name: str) -> Any:
        if self.array is None:
            self._lacking(name)
        return getattr(self.array, name)

    def __array_namespace__(self: Any, *, api_version: str | None = None) -> Any:
        """The differentiable namespace: the array standard's functions, on Variables."""
        return array_api.provider.namespace_of(self.backend, api_version)

    def __array_ufunc__(self: Any, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return array_api.numpy_functions.from_ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(
        self: Any, function: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        frame = sys._getframe(1)
        return array_api.numpy_functions.from_array_function(function, args, kwargs, frame)

    def __repr__(self) -> str:
        """The array in NumPy's look, as `variable([1., 2.], dtype=float32)`.

        >>> import core, numpy as np
        >>> core.Variable(np.arange(2, dtype="f"))
        variable([0., 1.], dtype=float32)
        """
        return array_api.shown.text(self)  # type: ignore[no-any-return]

    def __str__(self) -> str:
        """The array in NumPy's short look, as `variable([1. 2.])`."""
        return array_api.shown.short(self)  # type: ignore[no-any-return]

    def debug_print(self) -> str:
        """Describe the array and its gradient in a few lines: place, size, mean and spread."""
        return array_api.shown.statistics(self)  # type: ignore[no-any-return]

    def summary(self: Any) -> str:
        """The name, if any, in one word of text."""
        return f"<variable {self.name}>" if self.name else "<variable>"

    def _repr_html_(self) -> str:
        return array_api.shown.html(self)  # type: ignore[no-any-return]
