"""Uniform initializers: symmetric about 0, the bound chosen freely or by the fans of the weight.

`rng` of each is an optional generator with NumPy's `uniform(low, high, size)`; without one the
numbers come from the backend of the array. A uniform distribution on [-b, b) has the standard
deviation b / sqrt(3), so these are the normal ones of the same names with another shape.
"""

from __future__ import annotations

from typing import Any

from core.arrays.backend import Backend
from core.typing import AnyArray, DType, Shape
from plugins.initializers.spreads import ByFans, Glorot, He, Random


class Uniform(Random):
    r"""Fills with draws from the uniform distribution on :math:`[-\mathrm{scale}, \mathrm{scale})`.

    Args:
        scale: The bound.
        dtype: The dtype that arrays made for it get.
        rng: A generator to draw from, in place of the backend's.

    >>> import core
    >>> p = core.Parameter(core.initializers.Uniform(0.1), (2, 3))
    >>> bool((abs(p.array) <= 0.1).all())
    True
    """

    width = 3.0

    def draw(
        self, home: Backend, spread: float, shape: Shape, dtype: DType, device: Any
    ) -> AnyArray:
        """An array of the backend `home`, filled with draws."""
        return home.random.uniform(shape, dtype, -spread, spread, device=device)

    def from_generator(self, rng: Any, spread: float, shape: Shape) -> AnyArray:
        """An array of draws of a generator that has NumPy's methods."""
        return rng.uniform(-spread, spread, shape)


class LeCunUniform(ByFans, Uniform):
    r"""Fills with draws from [-b, b) with :math:`b = s \sqrt{3 / \mathrm{fan_{in}}}`.

    The standard deviation of `LeCunNormal`, for arrays of the shape (out, in, *kernel), in another
    distribution. Args: as for `LeCunNormal`. Source: LeCun et al., Efficient BackProp (1998).

    >>> import core
    >>> core.initializers.LeCunUniform().spread((10, 12))
    0.5
    """


class GlorotUniform(Glorot, Uniform):
    r"""Draws from [-b, b) with :math:`b = s \sqrt{6 / (\mathrm{fan_{in}} + \mathrm{fan_{out}})}`.

    The standard deviation of `GlorotNormal`, for arrays of the shape (out, in, *kernel). Args: as
    for `GlorotNormal`. Source: Glorot and Bengio, AISTATS 2010, equation 16.

    >>> import core
    >>> core.initializers.GlorotUniform().spread((12, 12))
    0.5
    """


class HeUniform(He, Uniform):
    r"""Fills with draws from [-b, b) with :math:`b = s \sqrt{6 / \mathrm{fan_{in}}}`.

    The standard deviation of `HeNormal`, for arrays of the shape (out, in, *kernel). Args: as for
    `HeNormal`, without the option. Source: He et al. 2015 (arXiv:1502.01852), equation 10.

    >>> import core
    >>> core.initializers.HeUniform().spread((10, 24))
    0.5
    """
