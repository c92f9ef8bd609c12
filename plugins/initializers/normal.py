"""Normal initializers: mean 0, the standard deviation chosen freely or by the fans of the weight.

`rng` of each is an optional generator with NumPy's `normal(loc, scale, size)`; without one the
numbers come from the backend of the array.
"""

from __future__ import annotations

from typing import Any

from core.arrays.backend import Backend
from core.typing import AnyArray, DType, Shape
from plugins.initializers.spreads import ByFans, Glorot, He, Random, check_fan_option


class Normal(Random):
    r"""Fills with draws from :math:`N(0, \mathrm{scale}^2)`.

    Args:
        scale: The standard deviation.
        dtype: The dtype that arrays made for it get.
        rng: A generator to draw from, in place of the backend's.

    >>> import core
    >>> core.Parameter(core.initializers.Normal(0.1), (2, 3)).shape
    (2, 3)
    """

    width = 1.0

    def draw(
        self, home: Backend, spread: float, shape: Shape, dtype: DType, device: Any
    ) -> AnyArray:
        """An array of the backend `home`, filled with draws."""
        return home.random.normal(shape, dtype, device=device) * spread

    def from_generator(self, rng: Any, spread: float, shape: Shape) -> AnyArray:
        """An array of draws of a generator that has NumPy's methods."""
        return rng.normal(0.0, spread, shape)


class LeCunNormal(ByFans, Normal):
    r"""Fills with draws of the standard deviation :math:`s \sqrt{1 / \mathrm{fan_{in}}}`.

    It keeps the variance of a linear layer's outputs at that of its inputs. Arrays have the shape
    (out, in, *kernel). Source: LeCun et al., Efficient BackProp (1998), section 4.6.

    Args:
        scale: The factor s.
        dtype: The dtype that arrays made for it get.
        rng: A generator to draw from, in place of the backend's.

    >>> import core
    >>> core.initializers.LeCunNormal().spread((10, 4))
    0.5
    """


class GlorotNormal(Glorot, Normal):
    r"""Draws of the standard deviation :math:`s \sqrt{2/(\mathrm{fan_{in}}+\mathrm{fan_{out}})}`.

    A compromise between keeping the variance of outputs and that of gradients. Arrays have the
    shape (out, in, *kernel). Args: as for `LeCunNormal`. Source: Glorot and Bengio, AISTATS 2010,
    equation 12.

    >>> import core
    >>> core.initializers.GlorotNormal().spread((5, 3))
    0.5
    """


class HeNormal(He, Normal):
    r"""Fills with draws of the standard deviation :math:`s \sqrt{2 / \mathrm{fan}}`.

    It keeps the variance through layers of rectifiers. Arrays have the shape (out, in, *kernel).
    Source: He et al. 2015 (arXiv:1502.01852), equations 10 and 14.

    Args:
        scale: The factor s.
        dtype: The dtype that arrays made for it get.
        fan_option: `'fan_in'` keeps the variance of outputs, `'fan_out'` that of gradients.
        rng: A generator to draw from, in place of the backend's.

    >>> import core
    >>> core.initializers.HeNormal().spread((10, 8))
    0.5
    >>> core.initializers.HeNormal(fan_option="fan_out").spread((8, 10))
    0.5
    """

    def __init__(
        self,
        scale: float = 1.0,
        dtype: DType = None,
        fan_option: str = "fan_in",
        *,
        rng: Any = None,
    ) -> None:
        super().__init__(scale, dtype, rng=rng)
        self.fan_option = check_fan_option(fan_option)

    def fan(self, fan_in: int, fan_out: int) -> int:
        """The one that the option names."""
        return fan_in if self.fan_option == "fan_in" else fan_out
