"""The discrete Fourier transform, real and imaginary parts apart."""

from __future__ import annotations

from typing import Any

from core import Domain, FunctionNode, Variable, choice, real
from core.typing import Array


class FFT(FunctionNode):
    """The transform along the last axis, or its inverse; each is the other's adjoint up to n."""

    inverse: bool = False
    output_names = ("real", "imag")
    wide = True
    domain = Domain(
        "(n,...),(n,...)->(n,...),(n,...)",
        x=real(-2, 2),
        y=real(-2, 2),
        settings={"inverse": choice(False, True)},
        dims={"n": (1, 5)},
        empty=False,
        valid="x.shape[-1] > 0",
    )

    def compute(self, xp, x, y):
        double = self.backend.dtype_name(x.dtype) == "float64"  # in either order of bytes
        dtype = xp.complex128 if double else xp.complex64
        z = xp.astype(x, dtype) + xp.astype(y, dtype) * 1j
        z = xp.fft.ifft(z) if self.inverse else xp.fft.fft(z)
        return xp.real(z), xp.imag(z)

    def gradient(self, xp, g):
        real, imag = g
        n = (real if imag is None else imag).shape[-1]
        real = xp.zeros_like(imag) if real is None else real
        imag = xp.zeros_like(real) if imag is None else imag
        scale = 1 / n if self.inverse else float(n)
        back = FFT(not self.inverse).evaluate(real, imag)
        return back[0] * scale, back[1] * scale


def fft(x: tuple[Array, Array]) -> tuple[Variable, Variable]:
    """Compute the discrete Fourier transform along the last axis: sum of x_j exp(-2πi j k / n).

    Args:
        x: A pair: the real and the imaginary part, (..., n), floating, of one dtype.

    Returns:
        A pair of Variables of the same shape and dtype: real and imaginary part.

    Raises:
        InvalidType: Shapes or dtypes of the parts do not fit, or n is 0.

    >>> import core.functions as F, numpy as np
    >>> F.fft((np.array([1, 0, 0, 1], "f"), np.zeros(4, "f")))
    (variable([2., 1., 0., 1.], dtype=float32), variable([ 0.,  1.,  0., -1.], dtype=float32))
    """
    return FFT.call(*_parts("fft", x), inverse=False)


def ifft(x: tuple[Array, Array]) -> tuple[Variable, Variable]:
    """Compute the inverse discrete Fourier transform: 1/n sum of x_j exp(2πi j k / n).

    Args:
        x: A pair: the real and the imaginary part, (..., n), floating, of one dtype.

    Returns:
        A pair of Variables of the same shape and dtype: real and imaginary part.

    Raises:
        InvalidType: Shapes or dtypes of the parts do not fit, or n is 0.

    >>> import core.functions as F, numpy as np
    >>> F.ifft((np.array([2, 1, 0, 1], "f"), np.array([0, 1, 0, -1], "f")))[0]
    variable([1., 0., 0., 1.], dtype=float32)
    """
    return FFT.call(*_parts("ifft", x), inverse=True)


def _parts(name: str, x: Any) -> tuple[Any, Any]:
    try:
        real, imag = x
    except (TypeError, ValueError):
        count = f" of {len(x)}" if getattr(x, "shape", (0,)) and hasattr(x, "__len__") else ""
        raise TypeError(
            f"{name}: expected x to be a pair of arrays, the real and the imaginary part, got "
            f"{type(x).__name__}{count}. That of real numbers is 0: {name}((x, 0 * x))."
        ) from None
    return real, imag
