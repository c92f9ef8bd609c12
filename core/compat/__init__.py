"""What scripts for Chainer look for: old-style functions, their type checks, `cuda`, tools.

Also NumPy's own functions, for scripts that call them on Variables.
"""

__all__ = ["backends", "cuda", "function", "model", "numpy_functions", "type_check", "utils"]
