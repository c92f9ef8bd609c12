"""The array standard's names on Variables: its signatures and defaults, differentiable.

What is an op of some family already is that op; what needs another signature stands in the modules
here. Arguments that the standard takes by keyword alone are taken in order as well, so that NumPy's
own functions find what they pass on.
"""

from __future__ import annotations

from core.registry import lazily

operations = {
    "activation.tanh": {"tanh": "Tanh"},
    "math.absolute": {"abs": "Absolute"},
    "math.exponential": {"exp": "Exp", "expm1": "Expm1"},
    "math.hyperbolic": {
        "acosh": "Arccosh",
        "asinh": "Arcsinh",
        "atanh": "Arctanh",
        "cosh": "Cosh",
        "sinh": "Sinh",
    },
    "math.logarithm": {"log": "Log", "log10": "Log10", "log1p": "Log1p", "log2": "Log2"},
    "math.sign": {"sign": "Sign"},
    "math.root": {"sqrt": "Sqrt"},
    "math.trigonometric": {
        "acos": "Arccos",
        "asin": "Arcsin",
        "atan": "Arctan",
        "cos": "Cos",
        "sin": "Sin",
        "tan": "Tan",
    },
}
"""Module -> the standard's name -> the op whose call it is."""

provides = {
    "constants": "e inf nan pi",
    "arithmetic": (
        "atan2 ceil clip copysign floor hypot logaddexp maximum minimum reciprocal remainder "
        "square trunc"
    ),
    "complex_parts": "conj imag real",
    "creation": (
        "arange asarray empty empty_like eye from_dlpack full full_like linspace ones tril triu "
        "zeros"
    ),
    "info": "namespace_info",
    "inspection": "can_cast finfo iinfo isdtype result_type",
    "manipulation": (
        "broadcast_arrays concat diff expand_dims flip meshgrid moveaxis repeat roll squeeze stack "
        "tile unstack"
    ),
    "operators": (
        "add astype broadcast_to divide equal floor_divide greater greater_equal less "
        "less_equal matmul matrix_transpose multiply negative not_equal ones_like "
        "permute_dims positive pow reshape subtract sum where zeros_like"
    ),
    "plain": (
        "all any argmax argmin argsort bitwise_and bitwise_invert bitwise_left_shift bitwise_or "
        "bitwise_right_shift bitwise_xor count_nonzero isfinite isinf isnan logical_and "
        "logical_not logical_or logical_xor nextafter nonzero round searchsorted signbit"
    ),
    "products": "tensordot vecdot",
    "reductions": "cumulative_prod cumulative_sum max mean min prod std var",
    "selection": "sort take take_along_axis",
    "sets": "unique_all unique_counts unique_inverse unique_values",
}
"""Module here -> the standard's names in it."""


def provided() -> dict[str, str]:
    """Every name with where it is found."""
    calls = {
        name: f"plugins.functions.{module}:{op}.call"
        for module, ops in operations.items()
        for name, op in ops.items()
    }
    extensions = {"linalg": f"{__name__}.linalg:extension"}
    return calls | lazily(__name__, provides) | extensions
