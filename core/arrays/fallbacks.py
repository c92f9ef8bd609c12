"""What a backend computes beyond its namespace, in the array standard's own words.

A backend overrides what its library does better; an override may be faster, never different. What
they need is loaded when they are first called.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from core.typing import AnyArray, Sizes


class Fallbacks:
    """What the array API standard lacks, computed with the namespace `xp`."""

    xp: Any
    put: Callable[[AnyArray, Any, Any], AnyArray]
    put_sum: Callable[[AnyArray, Any, Any], AnyArray]

    def scatter_add(self, a: AnyArray, index: Any, values: Any) -> AnyArray:
        """`a[index] += values`; a place that `index` names twice is added to twice. Gives `a`.

        Where `index` holds arrays, the additions to one place happen in the order of `values`.
        Where arrays are not mutable, gives a new array. The default looks how often a place is
        named at most, and so waits for the device, and is never part of a `stage`.
        """
        from core.arrays import scatter

        xp = self.xp
        places = scatter.places(xp, a, index if isinstance(index, tuple) else (index,))
        if not isinstance(values, (int, float, complex)):
            values = xp.reshape(xp.broadcast_to(values, places.shape), (-1,))
        flat = xp.reshape(a, (-1,))
        added = scatter.add_at(xp, flat, xp.reshape(places, (-1,)), values)
        return self.put(a, ..., xp.reshape(added, a.shape))

    def windows(
        self,
        x: AnyArray,
        ksize: Sizes,
        stride: Sizes = 1,
        pad: Sizes = 0,
        dilate: Sizes = 1,
        cover_all: bool = False,
        pad_value: float = 0.0,
    ) -> AnyArray:
        """All windows of `x` (n, c, *spatial): an array (n, c, *ksize, *out), not to be written to.

        `out` along each axis is `core.arrays.windows.window_count`. With `cover_all` the windows
        reach every element of `x`, the last ones padded further.
        """
        from core.arrays.windows import Geometry
        from core.arrays.windows import pad as padded_by

        g = Geometry(x.shape[2:], ksize, stride, pad, dilate, cover_all).checked()
        padded = padded_by(self.xp, x, [(0, 0), (0, 0), *g.widths()], pad_value, self.put)
        parts = [padded[(slice(None), slice(None), *where)] for _, where in g.offsets()]
        return self.xp.reshape(self.xp.stack(parts, axis=2), (*x.shape[:2], *g.ksize, *g.out))

    def fold(
        self,
        windows: AnyArray,
        size: Sequence[int],
        stride: Sizes = 1,
        pad: Sizes = 0,
        dilate: Sizes = 1,
    ) -> AnyArray:
        """The adjoint of `windows`: (n, c, *ksize, *out) to (n, c, *size), overlaps summed."""
        from core.arrays.scatter import native_place
        from core.arrays.windows import unfolded

        g = unfolded(windows.shape, size, stride, pad, dilate)
        shape = (*windows.shape[:2], *g.padded_size())
        image = self.xp.zeros(shape, dtype=windows.dtype, device=native_place(windows))
        for place, where in g.offsets():
            part = windows[(slice(None), slice(None), *place, Ellipsis)]
            image = self.put_sum(image, (slice(None), slice(None), *where), part)
        return image[(slice(None), slice(None), *g.inside())]

    def outside(self, numbers: AnyArray, size: int) -> bool:
        """Whether one of `numbers`, integers, is not in [0, size).

        A backend whose devices run ahead of the host answers in debug mode alone: to answer is to
        wait.
        """
        few = size > self.xp.iinfo(numbers.dtype).max  # none is larger then, and libraries differ
        return bool(self.xp.any(numbers < 0 if few else (numbers < 0) | (numbers >= size)))
