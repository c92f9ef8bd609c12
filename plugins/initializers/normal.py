"""Normal initializers: mean 0, the standard deviation chosen freely or by the fans of the weight.

`rng` of each is an optional generator with NumPy's `normal(loc, scale, size)`; without one the
numbers come from the backend of the array.
"""

from __future__ import annotations

import math
from typing import Any

from core import backend
from core.initializer import Initializer, get_fans
from plugins.initializers.fans import by_option


def fill_normal(array: Any, deviation: float, rng: Any = None) -> None:
    """Fill `array` with draws of mean 0 and the given standard deviation."""
    home = backend.of(array)
    if rng is not None:
        home.copyto(array, rng.normal(0.0, deviation, tuple(array.shape)))
        return
    draws = home.random.normal(tuple(array.shape), array.dtype, device=home.device_of(array))
    array[...] = draws * deviation


class Normal(Initializer):
    r"""Fills with draws from :math:`N(0, \mathrm{scale}^2)`.

    Args:
        scale: The standard deviation.
        dtype: The dtype that arrays made for it get.
        rng: A generator to draw from, in place of the backend's.

    >>> import core
    >>> core.Parameter(core.initializers.Normal(0.1), (2, 3)).shape
    (2, 3)
    """

    def __init__(self, scale: float = 0.05, dtype: Any = None, *, rng: Any = None) -> None:
        super().__init__(dtype)
        self.scale = scale
        self.rng = rng

    def deviation(self, shape: tuple[int, ...]) -> float:
        """The standard deviation for an array of `shape`."""
        return self.scale

    def __call__(self, array: Any) -> None:
        """Fill `array` in place."""
        fill_normal(array, self.deviation(tuple(array.shape)), self.rng)


class LeCunNormal(Normal):
    r"""Fills with draws of the standard deviation :math:`s \sqrt{1 / \mathrm{fan_{in}}}`.

    It keeps the variance of a linear layer's outputs at that of its inputs. Arrays have the shape
    (out, in, *kernel). Source: LeCun et al., Efficient BackProp (1998), section 4.6.

    Args:
        scale: The factor s.
        dtype: The dtype that arrays made for it get.
        rng: A generator to draw from, in place of the backend's.

    >>> import core
    >>> core.initializers.LeCunNormal().deviation((10, 4))
    0.5
    """

    def __init__(self, scale: float = 1.0, dtype: Any = None, *, rng: Any = None) -> None:
        super().__init__(scale, dtype, rng=rng)

    def deviation(self, shape: tuple[int, ...]) -> float:
        """The standard deviation for an array of `shape`."""
        return self.scale * math.sqrt(1 / max(get_fans(shape)[0], 1))


class GlorotNormal(LeCunNormal):
    r"""Draws of the standard deviation :math:`s \sqrt{2/(\mathrm{fan_{in}}+\mathrm{fan_{out}})}`.

    A compromise between keeping the variance of outputs and that of gradients. Arrays have the
    shape (out, in, *kernel). Source: Glorot and Bengio, AISTATS 2010, equation 12.

    Args:
        scale: The factor s.
        dtype: The dtype that arrays made for it get.
        rng: A generator to draw from, in place of the backend's.

    >>> import core
    >>> core.initializers.GlorotNormal().deviation((5, 3))
    0.5
    """

    def deviation(self, shape: tuple[int, ...]) -> float:
        """The standard deviation for an array of `shape`."""
        return self.scale * math.sqrt(2 / max(sum(get_fans(shape)), 1))


class HeNormal(LeCunNormal):
    r"""Fills with draws of the standard deviation :math:`s \sqrt{2 / \mathrm{fan}}`.

    It keeps the variance through layers of rectifiers. Arrays have the shape (out, in, *kernel).
    Source: He et al. 2015 (arXiv:1502.01852), equations 10 and 14.

    Args:
        scale: The factor s.
        dtype: The dtype that arrays made for it get.
        fan_option: `'fan_in'` keeps the variance of outputs, `'fan_out'` that of gradients.
        rng: A generator to draw from, in place of the backend's.

    >>> import core
    >>> core.initializers.HeNormal().deviation((10, 8))
    0.5
    """

    def __init__(
        self,
        scale: float = 1.0,
        dtype: Any = None,
        fan_option: str = "fan_in",
        *,
        rng: Any = None,
    ) -> None:
        super().__init__(scale, dtype, rng=rng)
        self.fan_option = fan_option
        by_option(fan_option, (1, 1))

    def deviation(self, shape: tuple[int, ...]) -> float:
        """The standard deviation for an array of `shape`."""
        return self.scale * math.sqrt(2 / max(by_option(self.fan_option, get_fans(shape)), 1))
