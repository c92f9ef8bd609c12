"""Faster forms of ops on NumPy: `plain` ones in NumPy's words; where numba is, `compiled` ones by
hand, and loops made of `formulas`.

Which one runs depends on what is installed and on dtypes and shapes, never on timing, so that a
run that is resumed has the same bits. A kernel that does not suit its arguments gives
NotImplemented; the compiled ones then hand on to the plain one, if there is one, and that to the
formula.
"""

from __future__ import annotations

from backends.numpy_backend.kernels import compiled, formulas, plain
from backends.numpy_backend.kernels.compiler import available

SECTIONS = ("compute", "gradient", "update", "update_all")


def tables() -> dict[str, dict[str, str]]:
    """What `register_kernels` gives: for each section, a kernel for the name of a class."""
    offered = {"compute": plain.COMPUTE, "gradient": plain.GRADIENT, "update": plain.UPDATE}
    if not available():
        return offered
    added = {
        "compute": formulas.COMPUTE | compiled.COMPUTE,
        "gradient": formulas.GRADIENT | compiled.GRADIENT,
        "update_all": compiled.UPDATE_ALL,
    }
    return {section: offered.get(section, {}) | added.get(section, {}) for section in SECTIONS}
