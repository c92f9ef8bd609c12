"""Functions of functions: derivatives of all kinds, and one example's function for many.

Begin with `derivatives`, which asks the graph, and `mapping`, which runs a program for many
examples.
"""

from core.derivatives.derivatives import hessian as hessian
from core.derivatives.derivatives import hvp as hvp
from core.derivatives.derivatives import jacobian as jacobian
from core.derivatives.derivatives import jvp as jvp
from core.derivatives.derivatives import vjp as vjp
from core.derivatives.mapping import vmap as vmap

__all__ = [
    "hessian",
    "hvp",
    "jacobian",
    "jvp",
    "vjp",
    "vmap",
]
