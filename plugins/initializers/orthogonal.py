"""Orthogonal initialization, in both orientations."""

from __future__ import annotations

import math
from typing import Any

from core.arrays import backend
from core.arrays.backend import Backend
from core.errors import nearest
from core.errors.scalars import as_number
from core.link.initializer import Initializer
from core.typing import AnyArray, DType
from plugins.initializers.spreads import checked_generator, refuse_whole

MODES = ("auto", "projection", "embedding", "basis")


class Orthogonal(Initializer):
    r"""Fills with a random orthogonal system of vectors, multiplied by `scale`.

    An array of shape (out, *in) is read as a matrix W of out rows and prod(in) columns. Where it is
    at most as high as wide (a projection) its rows are orthonormal, :math:`W W^T = s^2 I`; where it
    is higher (an embedding) its columns are, :math:`W^T W = s^2 I`. Every such system is as likely
    as any other. Source: Saxe et al. 2014 (arXiv:1312.6120), section 3.

    Args:
        scale: The factor s on the orthonormal system.
        dtype: The dtype that arrays made for it get.
        mode: `'auto'` takes either orientation; `'projection'` and `'embedding'` insist on theirs,
            and `'basis'` on as many rows as columns.
        rng: A generator with NumPy's `normal(loc, scale, size)`, in place of the backend's.

    Raises:
        ValueError: The shape does not allow the mode.

    >>> import core, numpy as np
    >>> W = core.Parameter(core.initializers.Orthogonal(1.0), (3, 5)).array
    >>> np.round(abs(W @ W.T), 5)
    array([[1., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.]], dtype=float32)
    """

    def __init__(
        self, scale: float = 1.1, dtype: DType = None, mode: str = "auto", *, rng: Any = None
    ) -> None:
        super().__init__(dtype)
        if mode not in MODES:
            raise ValueError(
                f"Orthogonal: expected a mode of {', '.join(MODES)}, got {mode!r}."
                + nearest(str(mode), MODES)
            )
        self.scale = as_number("Orthogonal", "scale", scale)
        self.mode = mode
        self.rng = checked_generator("Orthogonal", rng)

    def __call__(self, array: AnyArray) -> None:
        """Fill `array` in place; one without axes becomes plus or minus `scale`."""
        shape = tuple(array.shape)
        rows, columns = (shape[0], math.prod(shape[1:])) if shape else (1, 1)
        self._check(shape, rows, columns)
        home = backend.of(array)
        refuse_whole("Orthogonal", home, array.dtype)
        system = self._orthonormal(home, rows, columns)
        home.copyto(array, home.xp.reshape(system * self.scale, shape))

    def _check(self, shape: tuple[int, ...], rows: int, columns: int) -> None:
        need, fits = {
            "auto": ("", True),
            "projection": ("at most as many", rows <= columns),
            "embedding": ("at least as many", rows >= columns),
            "basis": ("just as many", rows == columns),
        }[self.mode]
        if not fits:
            raise ValueError(
                f"Orthogonal: mode {self.mode!r} needs {need} outputs as inputs, got {rows} and "
                f"{columns} (shape {shape}). Use mode='auto' to allow both orientations."
            )

    def _orthonormal(self, home: Backend, rows: int, columns: int) -> Any:
        """A matrix with an orthonormal system along its longer axis, uniform among all such."""
        xp = home.xp
        if self.rng is None:
            draws = home.random.normal((rows, columns), "float64")
        else:
            draws = home.asarray(self.rng.normal(0.0, 1.0, (rows, columns)))
        q, r = xp.linalg.qr(draws if rows >= columns else draws.T)
        # QR alone is not uniform: the signs of R's diagonal are a convention, and go back into Q.
        diagonal = xp.sum(r * xp.eye(r.shape[0], dtype=r.dtype), axis=0)
        system = q * xp.where(diagonal < 0, -xp.ones_like(diagonal), xp.ones_like(diagonal))
        return system if rows >= columns else system.T
