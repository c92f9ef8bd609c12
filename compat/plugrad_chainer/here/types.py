"""Names of `chainer.types`, by which programs for Chainer annotate theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from core import Initializer
from core.typing import Shape

__all__ = [
    "TYPE_CHECKING",
    "AbstractInitializer",
    "CudaDeviceSpec",
    "DTypeSpec",
    "DeviceSpec",
    "InitializerSpec",
    "NdArray",
    "ScalarValue",
    "Shape",
    "ShapeSpec",
    "Xp",
]

AbstractInitializer = Initializer
CudaDeviceSpec: TypeAlias = Any
DTypeSpec: TypeAlias = Any
DeviceSpec: TypeAlias = Any
InitializerSpec: TypeAlias = Any
NdArray: TypeAlias = Any
ScalarValue: TypeAlias = Any
ShapeSpec: TypeAlias = int | tuple[int, ...]
Xp: TypeAlias = Any
