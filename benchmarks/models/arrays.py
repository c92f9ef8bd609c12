"""Nothing but parameters: `sizes` are their number and their shape. Gradients stay the same."""

import numpy as np

from benchmarks import models


def arrays(w):
    number, *shape = w.sizes
    r = models.random()
    return {f"p{i}": r.standard_normal(shape).astype("f") for i in range(number)}


def batch(w):
    """The gradients."""
    return tuple(0.01 * value for value in arrays(w).values())


def work(w):
    """Adam reads a parameter, its gradient and both moments, and writes three of them."""
    return {"bytes": 7 * 4 * int(np.prod(w.sizes))}
