"""Uniform initializers: symmetric about 0, the bound chosen freely or by the fans of the weight.

`rng` of each is an optional generator with NumPy's `uniform(low, high, size)`; without one the
numbers come from the backend of the array. A uniform distribution on [-b, b) has the standard
deviation b / sqrt(3), so these are the normal ones of the same names with another shape.
"""

from __future__ import annotations

import math
from typing import Any

from core import backend
from core.initializer import Initializer, get_fans


def fill_uniform(array: Any, bound: float, rng: Any = None) -> None:
    """Fill `array` with draws from [-bound, bound)."""
    home = backend.of(array)
    shape = tuple(array.shape)
    if rng is not None:
        home.copyto(array, rng.uniform(-bound, bound, shape))
        return
    device = home.device_of(array)
    array[...] = home.random.uniform(shape, array.dtype, -bound, bound, device=device)


class Uniform(Initializer):
    r"""Fills with draws from the uniform distribution on [-scale, scale).

    Args:
        scale: The bound.
        dtype: The dtype that arrays made for it get.
        rng: A generator to draw from, in place of the backend's.

    >>> import core
    >>> p = core.Parameter(core.initializers.Uniform(0.1), (2, 3))
    >>> bool((abs(p.array) <= 0.1).all())
    True
    """

    def __init__(self, scale: float = 0.05, dtype: Any = None, *, rng: Any = None) -> None:
        super().__init__(dtype)
        self.scale = scale
        self.rng = rng

    def bound(self, shape: tuple[int, ...]) -> float:
        """The largest magnitude in an array of `shape`."""
        return self.scale

    def __call__(self, array: Any) -> None:
        """Fill `array` in place."""
        fill_uniform(array, self.bound(tuple(array.shape)), self.rng)


class LeCunUniform(Uniform):
    r"""Fills with draws from [-b, b) with :math:`b = s \sqrt{3 / \mathrm{fan_{in}}}`.

    It keeps the variance of a linear layer's outputs at that of its inputs. Arrays have the shape
    (out, in, *kernel). Source: LeCun et al., Efficient BackProp (1998), section 4.6.

    Args:
        scale: The factor s.
        dtype: The dtype that arrays made for it get.
        rng: A generator to draw from, in place of the backend's.

    >>> import core
    >>> core.initializers.LeCunUniform().bound((10, 12))
    0.5
    """

    def __init__(self, scale: float = 1.0, dtype: Any = None, *, rng: Any = None) -> None:
        super().__init__(scale, dtype, rng=rng)

    def bound(self, shape: tuple[int, ...]) -> float:
        """The largest magnitude in an array of `shape`."""
        return self.scale * math.sqrt(3 / max(get_fans(shape)[0], 1))


class GlorotUniform(LeCunUniform):
    r"""Draws from [-b, b) with :math:`b = s \sqrt{6 / (\mathrm{fan_{in}} + \mathrm{fan_{out}})}`.

    A compromise between keeping the variance of outputs and that of gradients. Arrays have the
    shape (out, in, *kernel). Source: Glorot and Bengio, AISTATS 2010, equation 16.

    Args:
        scale: The factor s.
        dtype: The dtype that arrays made for it get.
        rng: A generator to draw from, in place of the backend's.

    >>> import core
    >>> core.initializers.GlorotUniform().bound((12, 12))
    0.5
    """

    def bound(self, shape: tuple[int, ...]) -> float:
        """The largest magnitude in an array of `shape`."""
        return self.scale * math.sqrt(6 / max(sum(get_fans(shape)), 1))


class HeUniform(LeCunUniform):
    r"""Fills with draws from [-b, b) with :math:`b = s \sqrt{6 / \mathrm{fan_{in}}}`.

    It keeps the variance through layers of rectifiers. Arrays have the shape (out, in, *kernel).
    Source: He et al. 2015 (arXiv:1502.01852), equation 10.

    Args:
        scale: The factor s.
        dtype: The dtype that arrays made for it get.
        rng: A generator to draw from, in place of the backend's.

    >>> import core
    >>> core.initializers.HeUniform().bound((10, 24))
    0.5
    """

    def bound(self, shape: tuple[int, ...]) -> float:
        """The largest magnitude in an array of `shape`."""
        return self.scale * math.sqrt(6 / max(get_fans(shape)[0], 1))
