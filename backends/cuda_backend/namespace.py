"""CuPy's namespace with what it lacks of the array API standard.

The main namespace of CuPy 14 has the standard's names save `unstack` and `vecdot`, the inspection
of itself, `device=` where arrays are made, and a few keywords: `stable` and `descending` of
sorting, `correction` of variances, `min` and `max` of clipping, `keepdims` of counting. Its
`linalg` lacks the norms of these names, `svdvals`, and what the main namespace has as well.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import wraps
from importlib import import_module
from typing import Any

from core import is_debug
from core.typing import AnyArray

CREATORS = (
    *("arange", "asarray", "astype", "empty", "empty_like", "eye", "from_dlpack", "full"),
    *("full_like", "linspace", "ones", "ones_like", "zeros", "zeros_like"),
)
FLOATS, COMPLEX = ("float32", "float64"), ("complex64", "complex128")
SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")


class Namespace:
    """The names of `module` (CuPy, or anything that is like NumPy), amended where they differ.

    `on` turns what was passed as `device=` into a context in which arrays are made there, and
    `devices` lists what there is.
    """

    __array_api_version__ = "2024.12"

    def __init__(
        self,
        module: Any,
        on: Callable[[Any], AbstractContextManager[Any]],
        devices: Callable[[], list[Any]],
    ) -> None:
        self._module = module
        self._devices = devices
        for name in CREATORS:
            setattr(self, name, _placed(getattr(module, name), on))
        self.linalg = LinearAlgebra(module, self)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"the namespace of the CUDA backend has no {name!r}")
        found = getattr(self._module, name)
        setattr(self, name, found)
        return found

    def __dir__(self) -> list[str]:
        return sorted({*dir(self._module), *super().__dir__()})

    def __repr__(self) -> str:
        return f"<{self._module.__name__} as a namespace of the array API standard>"

    def __array_namespace_info__(self) -> Info:
        """What arrays of this namespace can be."""
        return Info(self._module, self._devices)

    def argsort(
        self, x: AnyArray, /, *, axis: int = -1, descending: bool = False, stable: bool = True
    ) -> AnyArray:
        """Indices that sort `x`; equal elements keep their order."""
        if not descending:
            return self._module.argsort(x, axis=axis)
        last = x.shape[axis] - 1
        mirrored = self._module.argsort(self._module.flip(x, axis=axis), axis=axis)
        return last - self._module.flip(mirrored, axis=axis)

    def sort(
        self, x: AnyArray, /, *, axis: int = -1, descending: bool = False, stable: bool = True
    ) -> AnyArray:
        """`x` sorted along an axis."""
        found = self._module.sort(x, axis=axis)
        return self._module.flip(found, axis=axis) if descending else found

    def std(
        self, x: AnyArray, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False
    ) -> AnyArray:
        """Standard deviation, dividing by the count less `correction`."""
        return self._module.std(x, axis=axis, ddof=correction, keepdims=keepdims)

    def var(
        self, x: AnyArray, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False
    ) -> AnyArray:
        """Variance, dividing by the count less `correction`."""
        return self._module.var(x, axis=axis, ddof=correction, keepdims=keepdims)

    def clip(self, x: AnyArray, /, min: Any = None, max: Any = None) -> AnyArray:
        """`x` held between two bounds, either of which may be left out."""
        if min is None and max is None:
            return self._module.positive(x)
        return self._module.clip(x, min, max)

    def count_nonzero(
        self, x: AnyArray, /, *, axis: Any = None, keepdims: bool = False
    ) -> AnyArray:
        """How many elements differ from zero."""
        return self._module.sum(x != 0, axis=axis, keepdims=keepdims, dtype=self._module.int64)

    def unstack(self, x: AnyArray, /, *, axis: int = 0) -> tuple[AnyArray, ...]:
        """The slices of `x` along an axis, which the slices no longer have."""
        moved = self._module.moveaxis(x, axis, 0)
        return tuple(moved[i] for i in range(moved.shape[0]))

    def vecdot(self, x1: AnyArray, x2: AnyArray, /, *, axis: int = -1) -> AnyArray:
        """Scalar products along an axis, the first operand conjugated."""
        a, b = (self._module.moveaxis(x, axis, -1) for x in (x1, x2))
        product = self.matmul(self._module.conj(a)[..., None, :], b[..., :, None])
        return product[..., 0, 0]


class LinearAlgebra:
    """`module.linalg`, with what it lacks of the standard's extension.

    CuPy gives anything for what has no decomposition, as a matrix that is not positive definite,
    for to look would be to wait. In debug mode LinAlgError is raised as by NumPy.
    """

    def __init__(self, module: Any, namespace: Namespace) -> None:
        self._module = module
        self._namespace = namespace

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"linalg of the CUDA backend has no {name!r}")
        if name in ("matmul", "outer", "tensordot", "vecdot"):
            return getattr(self._namespace, name)
        found = getattr(self._module.linalg, name)
        if not callable(found) or isinstance(found, type):
            return found

        @wraps(found)
        def call(*args: Any, **kwargs: Any) -> Any:
            if not is_debug():
                return found(*args, **kwargs)
            with import_module("cupyx").errstate(linalg="raise"):
                return found(*args, **kwargs)

        setattr(self, name, call)
        return call

    def __dir__(self) -> list[str]:
        return sorted({*dir(self._module.linalg), *super().__dir__()})

    def svdvals(self, x: AnyArray, /) -> AnyArray:
        """The singular values of matrices, the largest first."""
        return self.svd(x, compute_uv=False)

    def diagonal(self, x: AnyArray, /, *, offset: int = 0) -> AnyArray:
        """The diagonals of matrices."""
        return self._module.diagonal(x, offset, -2, -1)

    def trace(self, x: AnyArray, /, *, offset: int = 0, dtype: Any = None) -> AnyArray:
        """The sums of diagonals."""
        return self._module.trace(x, offset, -2, -1, dtype)

    def matrix_norm(self, x: AnyArray, /, *, keepdims: bool = False, ord: Any = "fro") -> AnyArray:
        """The norms of matrices."""
        return self.norm(x, ord, (-2, -1), keepdims)

    def vector_norm(
        self, x: AnyArray, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2
    ) -> AnyArray:
        """The norms along an axis, or of all elements along several."""
        axes = range(x.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
        axes = tuple([i % x.ndim for i in axes])
        left = [i for i in range(x.ndim) if i not in axes]
        flat = self._module.transpose(x, (*left, *axes)).reshape(*[x.shape[i] for i in left], -1)
        found = self.norm(flat, ord, -1)
        shape = tuple([1 if i in axes else n for i, n in enumerate(x.shape)])
        return found.reshape(shape) if keepdims else found


class Info:
    """What `__array_namespace_info__` answers with."""

    def __init__(self, module: Any, devices: Callable[[], list[Any]]) -> None:
        self._module = module
        self._devices = devices

    def capabilities(self) -> dict[str, Any]:
        """Boolean indexing and shapes that depend on data are there."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 32}

    def default_device(self) -> Any:
        """The first device."""
        return self._devices()[0]

    def devices(self) -> list[Any]:
        """All devices."""
        return self._devices()

    def default_dtypes(self, *, device: Any = None) -> dict[str, Any]:
        """What dtype a number gets that has none."""
        kinds = {
            "real floating": "float64",
            "complex floating": "complex128",
            "integral": "int64",
            "indexing": "int64",
        }
        return {kind: self._module.dtype(name) for kind, name in kinds.items()}

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, Any]:
        """The standard's dtypes by name; of one kind, or of several in a tuple, where asked."""
        every = ("bool", *SIGNED, *UNSIGNED, *FLOATS, *COMPLEX)
        found = {name: self._module.dtype(name) for name in every}
        if kind is None:
            return found
        return {name: d for name, d in found.items() if self._module.isdtype(d, kind)}


def _placed(
    make: Callable[..., AnyArray], on: Callable[[Any], AbstractContextManager[Any]]
) -> Callable[..., AnyArray]:
    """A function that makes arrays, with the `device=` that it lacks."""

    @wraps(make)
    def placed(*args: Any, device: Any = None, **kwargs: Any) -> AnyArray:
        if device is None:
            return make(*args, **kwargs)
        with on(device):
            return make(*args, **kwargs)

    return placed
