"""What operations are called in the graph, of both libraries."""

import operator

import numpy as np
from oracles.cases import _called, all_cases, draw

X, M = np.array([1.0, 2.0], "f"), np.ones((2, 2), "f")
UNARY = {"-x": operator.neg, "abs(x)": abs}
BINARY = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "**": operator.pow,
}
NUMBERS = (2, 2.5, -1.5, np.float32(0.5), 1e-9)


def operators(Variable):
    """Text -> the result of an operator: on two Variables, with a number, with an array."""
    x, m = Variable(X), Variable(M)
    found = {text: act(x) for text, act in UNARY.items()}
    for sign, act in BINARY.items():
        found[f"x {sign} x"] = act(x, x)
        found[f"x {sign} array"], found[f"array {sign} x"] = act(x, X), act(X, x)
        for c in map(float, NUMBERS):
            found[f"x {sign} {c}"], found[f"{c} {sign} x"] = act(x, c), act(c, x)
    return found | {"m @ m": m @ m, "x[0]": x[0], "m.T": m.T, "x.reshape": x.reshape(1, 2)}


def of(library):
    """What the creators of outputs are called, by operator and by function in its first case."""
    found = {text: [_label(y)] for text, y in operators(library.Variable).items()}
    for case in all_cases().values():
        if case.number == 0 and case.call is None and hasattr(library.functions, case.name):
            try:
                found[case.name] = _of_case(library, case)
            except Exception:
                found[case.name] = None
    return found


def _of_case(library, case):
    args, settings, leaves, _, _ = draw(case, "float32")
    leaves = [library.Variable(array) for array in leaves]
    return [_label(y) for y in _called(library, case, args, settings, leaves)]


def _label(y):
    creator = getattr(y, "creator", None)
    return None if creator is None else creator.label
