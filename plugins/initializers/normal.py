"""Normal initializers: mean 0, the standard deviation chosen freely or by the fans of the weight.

`rng` of each is an optional generator with NumPy's `normal(loc, scale, size)`, or what its class
says; without one the numbers come from the backend of the array.
"""

from __future__ import annotations

import math
from typing import Any

from core import functions as F
from core import no_backprop_mode
from core.arrays.backend import Backend
from core.errors.scalars import as_number
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


class TruncatedNormal(Random):
    r"""Fills with draws from :math:`N(0, \mathrm{scale}^2)` of at most `bound` deviations.

    No draw lies beyond :math:`\pm \mathrm{bound} \cdot \mathrm{scale}`; each is the quantile of a
    uniform number. What is left of the deviation is 0.880 scale for a bound of 2.

    Args:
        scale: The standard deviation before what is beyond the bound is left out.
        dtype: The dtype that arrays made for it get.
        bound: In standard deviations, above 0.
        rng: A generator with NumPy's `uniform(low, high, size)`, in place of the backend's.

    Raises:
        ValueError: The bound is not above 0.

    Source: Devroye 1986, "Non-Uniform Random Variate Generation", section II.2.

    >>> import core
    >>> p = core.Parameter(core.initializers.TruncatedNormal(0.02), (200, 300))
    >>> bool((abs(p.array) <= 0.04).all())
    True
    """

    def __init__(
        self, scale: float = 0.05, dtype: DType = None, bound: float = 2.0, *, rng: Any = None
    ) -> None:
        super().__init__(scale, dtype, rng=rng)
        self.bound = as_number("TruncatedNormal", "bound", bound)
        if not self.bound > 0:
            raise ValueError(f"TruncatedNormal: expected a bound above 0, got {bound!r}.")

    def _quantiles(self, shares: Any, spread: float) -> Any:
        with no_backprop_mode():
            # Shares are rounded, so that a quantile may lie a step beyond the bound.
            return F.clip(F.ndtri(shares), -self.bound, self.bound).array * spread

    def _edge(self) -> float:
        return 0.5 * math.erfc(self.bound / math.sqrt(2))

    def draw(
        self, home: Backend, spread: float, shape: Shape, dtype: DType, device: Any
    ) -> AnyArray:
        """An array of the backend `home`, filled with draws."""
        wide = dtype if home.dtype_name(dtype) == "float64" else home.dtype("float32")
        edge = self._edge()
        shares = home.random.uniform(shape, wide, edge, 1 - edge, device=device)
        return home.asarray(self._quantiles(shares, spread), dtype, device)

    def from_generator(self, rng: Any, spread: float, shape: Shape) -> AnyArray:
        """An array of draws of a generator that has NumPy's methods."""
        edge = self._edge()
        return self._quantiles(rng.uniform(edge, 1 - edge, shape), spread)


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
