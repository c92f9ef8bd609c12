"""References of special functions: SciPy's."""

import math

from references.tools import each
from scipy import special


def erfcx_slope(x, order):
    """By the differential equation of erfcx."""
    before, y = special.erfcx(x), 2 * x * special.erfcx(x) - 2 / math.sqrt(math.pi)
    for n in range(1, order):
        before, y = y, 2 * n * before + 2 * x * y
    return y


REFERENCES = {
    "Digamma": special.digamma,
    "Erfc": each(math.erfc),
    "Erfcinv": special.erfcinv,
    "Erfcx": special.erfcx,
    "ErfcxSlope": erfcx_slope,
    "Erfinv": special.erfinv,
    "LGamma": each(math.lgamma),
    "LogNdtr": special.log_ndtr,
    "Ndtr": special.ndtr,
    "Ndtri": special.ndtri,
    "Polygamma": special.polygamma,
    "Trigamma": lambda x: special.polygamma(1, x),
    "Zeta": special.zeta,
}
