"""The dtype of mixed precision, as a setting."""

from __future__ import annotations

from typing import Any

from core.arrays.array_backend import known


class Mixed16:
    """Stands for float16 where statistics, and copies that are updated, are float32.

    As `core.config.dtype` it gives parameters and images float16. `core.get_dtype` tells a link
    that needs more precision for some of them: it names another dtype with `map_mixed16`. Call the
    optimizer's `use_fp32_update()` and `loss_scaling()` for the rest.

    >>> import core
    >>> import core.links as L
    >>> with core.using_config("dtype", core.mixed16):
    ...     layer = L.Linear(3, 2)
    ...     core.get_dtype(), core.get_dtype(map_mixed16="float32")
    (mixed16, dtype('float32'))
    >>> layer.W.dtype
    dtype('float16')
    """

    name = "float16"

    @property
    def dtype(self) -> Any:
        """The dtype of arrays, for `numpy.dtype(mixed16)`."""
        return known.host().dtype("float16")

    def __repr__(self) -> str:
        return "mixed16"

    def __reduce__(self) -> str:
        return "mixed16"


mixed16 = Mixed16()
