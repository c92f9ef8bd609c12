"""Variables, the functions that made them, and the walk back from a loss to the leaves.

Start with `variable` and `variable_node`, then `walk`; `backprop` is what users call.
"""

__all__ = [
    "array_api",
    "backprop",
    "debug",
    "function_hook",
    "graph_node",
    "history",
    "html",
    "methods",
    "variable",
    "variable_node",
    "walk",
]
