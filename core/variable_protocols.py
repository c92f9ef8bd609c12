"""What Python and array libraries ask of a Variable: a number, an array, an array's namespace."""

from __future__ import annotations

from typing import Any

from core.configuration import current


class Protocols:
    """The special methods by which a Variable takes part where numbers and arrays do."""

    __slots__ = ()

    def __len__(self: Any) -> int:
        if not self.shape:
            raise TypeError("len() of a Variable without dimensions")
        return self.shape[0]  # type: ignore[no-any-return]

    def item(self: Any) -> Any:
        """The one element as a Python number; waits for the device."""
        return self.backend.to_host(self._array).item()

    def __bool__(self: Any) -> bool:
        if self.size != 1:
            raise ValueError(
                f"the truth of a Variable of {self.size} elements is ambiguous; "
                "compare its array with .any() or .all()"
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
        if self._edge is not None and current().backprop:
            raise TypeError(
                f"{what}: this Variable wants a gradient, which a plain array would lose without "
                "a word. Take its .array, or use it under core.no_backprop_mode()."
            )

    def __array__(self: Any, dtype: Any = None, copy: bool | None = None) -> Any:
        self._refuse_silent_loss("numpy.asarray(Variable)")
        host = self.backend.to_host(self.array)
        return host.__array__() if dtype is None else host.__array__(dtype)

    def __dlpack__(self: Any, **kwargs: Any) -> Any:
        self._refuse_silent_loss("Variable.__dlpack__")
        return self.array.__dlpack__(**kwargs)

    def __dlpack_device__(self: Any) -> Any:
        return self.array.__dlpack_device__()

    def __array_namespace__(self: Any, *, api_version: str | None = None) -> Any:
        """The differentiable namespace: the array standard's functions, on Variables."""
        from core.namespace import namespace_of

        return namespace_of(self.backend, api_version)

    def __array_ufunc__(self: Any, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        from core.namespace import from_ufunc

        return from_ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(
        self: Any, function: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        from core.namespace import from_array_function

        return from_array_function(function, args, kwargs)
