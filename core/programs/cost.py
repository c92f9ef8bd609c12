"""What a program costs: operations on numbers, and bytes that are read and written."""

from __future__ import annotations

from math import isqrt, prod
from typing import NamedTuple

from core.programs import names
from core.programs.equation import Equation, Value
from core.programs.group import Group
from core.programs.lifetimes import peak
from core.programs.recorded import Recorded
from core.programs.tables import table, totals

_CUBIC = {
    "linalg.cholesky": 1 / 3,
    "linalg.det": 2 / 3,
    "linalg.slogdet": 2 / 3,
    "linalg.solve": 2 / 3,
    "linalg.qr": 4 / 3,
    "linalg.inv": 2.0,
    "linalg.eigh": 9.0,
    "linalg.svd": 22.0,
}
"""How many operations for each n³ of a matrix, as a leading term."""


class Line(NamedTuple):
    """The costs of one equation, and where it comes from."""

    operation: str
    link: str
    operations: int
    bytes: int


class Cost:
    """Operations and bytes of a program, in all, by operation and by link.

    An addition, a comparison, a root or an exponential of one number is one operation; a product of
    matrices (m, k) and (k, n) is 2mkn. Bytes are those of the arrays that each equation reads and
    writes; views cost nothing. `peak` is what a run has in use of memory at most, in bytes, beside
    arguments, places and constants, and what functions take for themselves while they compute.
    """

    def __init__(self, lines: list[Line], peak: int) -> None:
        self.lines = lines
        self.peak = peak

    @property
    def operations(self) -> int:
        """Operations in all."""
        return sum([line.operations for line in self.lines])

    @property
    def bytes(self) -> int:
        """Bytes in all."""
        return sum([line.bytes for line in self.lines])

    def by_operation(self) -> dict[str, tuple[int, int]]:
        """Operations and bytes by the name of the operation; of its gradients apart."""
        return totals([(line.operation, line.operations, line.bytes) for line in self.lines])

    def by_link(self) -> dict[str, tuple[int, int]]:
        """The same by the path and class of the link."""
        return totals([(line.link, line.operations, line.bytes) for line in self.lines])

    def __repr__(self) -> str:
        """A table, the most expensive first."""
        head = [
            ("", "operations", "bytes"),
            ("in all", *_shown(self.operations, self.bytes)),
            ("in use at most", "", f"{self.peak:,}"),
        ]
        return table(head, {"operation": self.by_operation(), "link": self.by_link()}, _shown)


def _shown(operations: int, size: int) -> tuple[str, str]:
    return f"{operations:,}", f"{size:,}"


def cost(program: Recorded) -> Cost:
    """The costs of all equations; see `Program.cost`."""
    lines = [line for equation in program.equations for line in _lines(equation)]
    return Cost(lines, peak(program))


def _lines(equation: Equation) -> list[Line]:
    group = equation.call.function
    if not isinstance(group, Group):
        return [_line(equation, bytes_of(equation))]
    seen: set[Value] = set()
    lines = []
    for each in group.equations:  # a loop reads what is outside once, and writes what is needed
        moved = ({*each.inputs} & {*group.inputs} - seen) | ({*each.outputs} & {*group.outputs})
        seen.update(each.inputs)
        lines.append(_line(each, sum([value.nbytes for value in moved])))
    return lines


def _line(equation: Equation, size: int) -> Line:
    origin = equation.origin
    operation = origin.operation + ", backward" * origin.backward if origin.operation else ""
    return Line(operation, origin.link, operations_of(equation), size)


def operations_of(equation: Equation) -> int:
    """How many operations on numbers an equation makes."""
    call, inputs = equation.call, equation.inputs
    size = sum([value.size for value in equation.outputs])
    name = call.name.rpartition(".")[2]
    if is_view(equation) or name in names.MOVING:
        return 0
    factors = [getattr(each, "shape", ()) for each in equation.args[:2]]  # a number has none
    if name in ("matmul", "imatmul", "dot", "vecdot") and all(factors):
        return 2 * size * inputs[0].shape[-1]
    if name == "tensordot" and size:
        return 2 * size * isqrt(inputs[0].size * inputs[1].size // size)
    if name == "einsum":
        return _of_einsum(equation)
    if call.name in _CUBIC:
        n = inputs[0].shape[-1]
        return int(_CUBIC[call.name] * n * inputs[0].size)
    if name in names.REDUCTIONS or name in ("fold", "check_within"):
        return inputs[0].size
    if name == "scatter_add":
        return inputs[-1].size
    return size


def _of_einsum(equation: Equation) -> int:
    """Each product of elements once, and each sum."""
    inputs = equation.args[0].partition("->")[0].replace(" ", "").split(",")
    sizes: dict[str, int] = {}
    for letters, value in zip(inputs, equation.inputs, strict=True):
        for letter, n in zip(letters, value.shape, strict=False):
            sizes[letter] = max(n, sizes.get(letter, 1))
    return len(inputs) * prod(sizes.values())


def bytes_of(equation: Equation) -> int:
    """How many bytes an equation reads and writes."""
    if is_view(equation):
        return 0
    written = sum([value.nbytes for value in equation.outputs])
    read: list[Value] = list(dict.fromkeys(equation.inputs))
    if equation.call.name in ("getitem", "take"):  # no more is read than is taken
        return 2 * written + sum([value.nbytes for value in read[1:]])
    return written + sum([value.nbytes for value in read])


def is_view(equation: Equation) -> bool:
    """Whether an equation gives its argument's elements as they lie, without a copy."""
    name = equation.call.name
    if name == "getitem":
        return len(equation.inputs) == 1
    return equation.call.views and name not in ("astype", "conj")
