"""References of special functions: SciPy's."""

import math

from references.tools import each
from scipy import special

REFERENCES = {
    "Digamma": special.digamma,
    "Erfc": each(math.erfc),
    "Erfcinv": special.erfcinv,
    "Erfcx": special.erfcx,
    "Erfinv": special.erfinv,
    "LGamma": each(math.lgamma),
    "LogNdtr": special.log_ndtr,
    "Ndtr": special.ndtr,
    "Ndtri": special.ndtri,
    "Polygamma": special.polygamma,
    "Trigamma": lambda x: special.polygamma(1, x),
    "Zeta": special.zeta,
}
