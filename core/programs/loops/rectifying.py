"""Rectifiers that the kernel before them takes along, while what it gives is in registers.

What a convolution gives goes through memory once more for `maximum(y, 0)`. Where nobody else reads
it, a kernel with an attribute `rectified` computes both.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from core.programs.equation import Call, Equation, Value
from core.programs.recorded import Recorded


def with_rectifiers(program: Recorded) -> Recorded:
    """The program, of which such kernels compute the rectifiers behind them."""
    makers = {value: equation for equation in program.equations for value in equation.outputs}
    reads = Counter([value for equation in program.equations for value in equation.inputs])
    reads.update([*program.outputs, *[value for _, value in program.changes]])
    joined = dict[Equation, Equation | None]()
    for equation in program.equations:
        x = _rectified(equation)
        if x in makers and reads[x] == 1 and (both := _both(makers[x], equation)) is not None:
            joined |= {makers[x]: both, equation: None}
    equations = [joined.get(equation, equation) for equation in program.equations]
    return program.changed(equations=tuple([each for each in equations if each is not None]))


def _rectified(equation: Equation) -> Value | None:
    """The array of which an equation gives `maximum(x, 0)`."""
    numbers = [x for x in equation.args if not isinstance(x, Value)]
    if equation.call[:2] != ("xp", "maximum") or equation.kwargs or numbers != [0]:
        return None
    [x], [y] = equation.inputs, equation.outputs
    return x if x.dtype == y.dtype and x.shape == y.shape else None


def _both(maker: Equation, rectifier: Equation) -> Equation | None:
    """One equation for both, if the first is a kernel that has such a form."""
    call: Any = maker.call
    found = getattr(call.function, "rectified", lambda: None)()
    if found is None:
        return None
    operations = f"{maker.origin.operation}, {rectifier.origin.operation}"
    return Equation(
        Call("kernel", f"{call.name}.rectified", None, found),
        *(maker.args, maker.kwargs, rectifier.outputs, maker.several),
        maker.origin._replace(operation=operations),
    )
