"""What functions make of arguments of mixed floating dtypes, in both libraries."""

import numpy as np
from oracles.cases import _called, all_cases, draw


def of(library):
    """By function, argument and its dtype beside float32: dtypes of outputs and of gradients.

    None where that is refused, or has no backward.
    """
    found = {}
    for case in all_cases().values():
        first = case.number == 0 and case.call is None and hasattr(library.functions, case.name)
        args, settings, leaves, _, _ = draw(case, "float32")
        if first and len(leaves) > 1:
            for i in range(min(len(leaves), 3)):
                for dtype in ("float64", "float16"):
                    xs = [x.astype(dtype) if i == j else x for j, x in enumerate(leaves)]
                    try:
                        made = _dtypes(library, case, args, settings, xs)
                    except Exception:
                        made = None
                    found[f"{case.name} {i} {dtype}"] = made
    return found


def _dtypes(library, case, args, settings, arrays):
    xs = [library.Variable(x) for x in arrays]
    ys = _called(library, case, args, settings, xs)
    for y in ys:
        y.grad = np.ones_like(y.array)
        y.backward()
    gradients = [None if x.grad is None else x.grad.dtype.name for x in xs]
    return [[y.dtype.name for y in ys], gradients]
