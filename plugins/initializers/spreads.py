"""The common parts of normal and uniform initializers: the spread of their draws.

An initializer of either family is one line of mathematics, its `gain` and its `fan`; the family
adds what is drawn and what `width` its distribution has.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, ClassVar

from core.arrays import backend
from core.arrays.backend import Backend
from core.errors import nearest
from core.errors.scalars import as_number
from core.link.initializer import Initializer, get_fans
from core.typing import AnyArray, DType, Shape

FAN_OPTIONS = ("fan_in", "fan_out")


class Random(Initializer, ABC):
    """Fills with independent draws of mean 0, whose spread is `scale`.

    A subclass says how to `draw` them.
    """

    width: ClassVar[float]  # the spread's square over the variance

    def __init__(self, scale: float = 0.05, dtype: DType = None, *, rng: Any = None) -> None:
        super().__init__(dtype)
        self.scale: float = as_number(type(self).__name__, "scale", scale)
        self.rng = checked_generator(type(self).__name__, rng)

    def spread(self, shape: tuple[int, ...]) -> float:
        """The standard deviation of normal draws, the bound of uniform ones, for a shape."""
        return self.scale

    def __call__(self, array: AnyArray) -> None:
        """Fill `array` in place, from `rng` if there is one, else from the array's backend."""
        home, shape = backend.of(array), tuple(array.shape)
        refuse_whole(type(self).__name__, home, array.dtype)
        spread = abs(self.spread(shape))  # draws are symmetric, and generators refuse a sign
        if self.rng is not None:
            home.copyto(array, self.from_generator(self.rng, spread, shape))
        else:
            array[...] = self.draw(home, spread, shape, array.dtype, home.device_of(array))

    @abstractmethod
    def draw(
        self, home: Backend, spread: float, shape: Shape, dtype: DType, device: Any
    ) -> AnyArray:
        """An array of the backend `home`, filled with draws."""

    @abstractmethod
    def from_generator(self, rng: Any, spread: float, shape: Shape) -> AnyArray:
        """An array of draws of a generator that has NumPy's methods."""


class ByFans(Random):
    """Fills with draws of the variance scale² gain / fan."""

    gain: ClassVar[float] = 1.0

    def __init__(self, scale: float = 1.0, dtype: DType = None, *, rng: Any = None) -> None:
        super().__init__(scale, dtype, rng=rng)

    def fan(self, fan_in: int, fan_out: int) -> int:
        """What the variance is divided by."""
        return fan_in

    def spread(self, shape: tuple[int, ...]) -> float:
        """The standard deviation of normal draws, the bound of uniform ones, for a shape."""
        fan = self.fan(*get_fans(shape))
        return self.scale * math.sqrt(self.width * self.gain / max(fan, 1))


class Glorot(ByFans):
    """Both fans count alike."""

    gain = 2.0

    def fan(self, fan_in: int, fan_out: int) -> int:
        """Their sum."""
        return fan_in + fan_out


class He(ByFans):
    """Half of what comes in is rectified away."""

    gain = 2.0


def refuse_whole(name: str, home: Backend, dtype: Any) -> None:
    """Raise TypeError for a dtype of whole numbers, in which draws would lose their fractions."""
    if home.kind(dtype) in "biu":
        raise TypeError(
            f"{name}: expected an array of floats to fill, got one of {home.dtype_name(dtype)}, "
            "in which draws lose their fractions: small ones would all be 0. Give dtype='float32', "
            "or none, which is core.config.dtype."
        )


def checked_generator(name: str, rng: Any) -> Any:
    """None, or a generator that has NumPy's methods."""
    if rng is None or hasattr(rng, "normal") or hasattr(rng, "uniform"):
        return rng
    raise TypeError(
        f"{name}: expected rng to be None or a generator with NumPy's methods, got "
        f"{rng!r:.60}. For one from a seed give numpy.random.default_rng(seed)."
    )


def check_fan_option(option: str) -> str:
    """The option, if there is one of that name."""
    if option not in FAN_OPTIONS:
        raise ValueError(
            f"fan_option: expected 'fan_in' or 'fan_out', got {option!r}."
            + nearest(str(option), FAN_OPTIONS)
        )
    return option
