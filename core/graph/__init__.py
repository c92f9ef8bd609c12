"""Variables, the functions that made them, and the walk back from a loss to the leaves.

Start with `variable` and `variable_node`, then `walk`; `backprop` is what users call. What hooks
and debug mode need stands apart, in `hooked` and `complete_step`.
"""

__all__ = [
    "accumulate",
    "array_api",
    "backprop",
    "debug",
    "fitting",
    "function_hook",
    "graph_node",
    "history",
    "methods",
    "moving",
    "variable",
    "variable_node",
    "walk",
]
