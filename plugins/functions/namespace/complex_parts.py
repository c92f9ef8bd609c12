"""Complex numbers, as far as they go: of real arrays.

Complex arrays are outside of what the framework computes with; these names refuse them.
"""

from __future__ import annotations

from typing import Any

from core import Variable, as_variable
from core.graph.variable import wrap
from core.typing import Array
from plugins.functions.array.cast import refuse_complex


def real(x: Array, /) -> Variable:
    """The real part of an array of real numbers: itself.

    >>> import numpy as np
    >>> real(np.array([1.0]))
    variable([1.])
    """
    return _of_real_numbers("real", x)


def imag(x: Array, /) -> Variable:
    """The imaginary part of an array of real numbers: zeros.

    >>> import numpy as np
    >>> imag(np.array([1.0]))
    variable([0.])
    """
    x = _of_real_numbers("imag", x)
    return wrap(x.xp.zeros_like(x.array))


def conj(x: Array, /) -> Variable:
    """The conjugate of an array of real numbers: itself.

    >>> import numpy as np
    >>> conj(np.array([1.0]))
    variable([1.])
    """
    return _of_real_numbers("conj", x)


def _of_real_numbers(name: str, x: Any) -> Variable:
    refuse_complex(name, x)
    return as_variable(x)
