"""Products of matrices with a factor in common, or that are added up, as one product each.

A network that goes step by step multiplies a few rows with the same weights at each step, and its
gradient is a sum of as many products of a few rows. The weights are read from memory each time, and
a product of a few rows is far from what a processor can do. Rows of products that do not depend on
each other are put below each other, factors of products that are added up beside each other: one
product does for all. Sums are taken in another order then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from heapq import heapify, heappop, heappush
from math import prod
from typing import Any, NamedTuple

from core.programs.equation import Call, Equation, Origin, Value, draws, values_in
from core.programs.lifetimes import keeps
from core.programs.loops.loops import name_of
from core.programs.recorded import Recorded

ROWS = 128  # of a product that are few
LARGE = 1 << 14  # elements of a factor, or a result, that is worth while to go through once
SMALLER = 4  # times than their product are factors that are kept until all are there


def stacked(program: Recorded) -> tuple[Equation, ...]:
    """The equations of a program, with one product in the place of several."""
    found: list[Equation] = []
    for part in _parts(_summed(program)):
        found += [_as_elementwise(equation) for equation in _Rows(part).in_order()]
    return tuple(found)


def _as_elementwise(equation: Equation) -> Equation:
    """A product of a column with a row as one of their elements, which loops take along."""
    if not _is_product(equation) or equation.args[0].shape[1] != 1:
        return equation
    made, origin = equation.outputs, equation.origin
    return Equation(Call("operator", "mul"), equation.args, {}, made, False, origin)


def _parts(equations: list[Equation]) -> Iterator[list[Equation]]:
    """The equations cut where one changes arrays from outside; it is a part by itself."""
    part: list[Equation] = []
    for equation in equations:
        part.append(equation)
        if keeps(equation):
            yield part[:-1]
            yield part[-1:]
            part = []
    yield part


def _is_product(equation: Equation) -> bool:
    """Whether the equation is a product of two matrices of one dtype."""
    args = equation.args
    call = equation.call
    if call.kind not in ("xp", "operator") or call.name != "matmul" or equation.kwargs:
        return False
    if len(args) != 2 or not all([isinstance(x, Value) and len(x.shape) == 2 for x in args]):
        return False
    (made,) = equation.outputs
    return bool(args[0].dtype == args[1].dtype == made.dtype)


def _reads(equations: Iterable[Equation]) -> Counter[Value]:
    """How often each value is read."""
    return Counter([value for equation in equations for value in equation.inputs])


def _equation(name: str, args: tuple[Any, ...], shape: Any, dtype: Any, origin: Origin) -> Any:
    """An equation of the function that operations on such arrays have, and what it gives."""
    kind, name = ("operator", name) if name in ("add", "getitem") else ("xp", name)
    kwargs = {"axis": 0} if name == "concat" else {}
    made = Value(tuple(shape), dtype)
    of = max([made.shape, *[value.shape for value in values_in(args)]], key=prod)
    return Equation(Call(kind, name, of), args, kwargs, (made,), False, origin), made


def _below(values: list[Value], origin: Origin) -> Any:
    """The equation that puts matrices below each other."""
    rows = sum([value.shape[0] for value in values])
    shape = (rows, values[0].shape[1])
    return _equation("concat", (tuple(values),), shape, values[0].dtype, origin)


# -- sums of products ------------------------------------------------------------------------------


class _Sum(NamedTuple):
    """A sum of products of a transposed `left` with a `right`, and of `others`.

    `equations` are those that compute it now; the last one gives the sum.
    """

    left: list[Value]
    right: list[Value]
    others: list[Value]
    equations: list[Equation]


def _summed(program: Recorded) -> list[Equation]:
    """The equations of a program, with one product in the place of those that are added up."""
    sums = [each for each in _sums(program) if len(each.left) > 1]
    ends = {each.equations[-1]: each for each in sums}
    gone = {equation for each in sums for equation in each.equations}
    found: list[Equation] = []
    for equation in program.equations:
        if equation in ends:
            found += _as_one(ends[equation])
        elif equation not in gone:
            found.append(equation)
    return found


def _sums(program: Recorded) -> list[_Sum]:
    """All sums, each as long as it can be."""
    readers = _reads(program.equations)
    readers.update([*program.outputs, *[value for _, value in program.changes]])
    transposed: dict[Value, Value] = {}
    sums: dict[Value, _Sum] = {}
    complete: list[_Sum] = []  # for what they are made of is changed
    for equation in program.equations:
        if keeps(equation):
            complete += sums.values()
            sums = {}
        values = equation.inputs
        if equation.call.name == "T" and len(values) == 1 and len(values[0].shape) == 2:
            transposed[equation.outputs[0]] = values[0]
        elif _is_product(equation):
            left, right = equation.args
            (made,) = equation.outputs
            if left in transposed and _are_small(left.shape, right.shape, made.size):
                sums[made] = _Sum([transposed[left]], [right], [], [equation])
        elif name_of(equation) == "add" and _adds_alike(equation):
            parts = [
                sums.pop(v) if v in sums and readers[v] == 1 else _Sum([], [], [v], [])
                for v in values
            ]
            if parts[0].left or parts[1].left:
                joined = _Sum(*[sum(lists, []) for lists in zip(*parts, strict=True)])
                joined.equations.append(equation)
                sums[equation.outputs[0]] = joined
    return complete + [*sums.values()]


def _are_small(left: Any, right: Any, product: int) -> bool:
    """Whether two factors are much smaller than their product."""
    (p, rows), (_, q) = left, right
    return rows <= ROWS and product >= LARGE and SMALLER * rows * (p + q) <= product


def _adds_alike(equation: Equation) -> bool:
    values = equation.inputs
    shapes = {(value.shape, value.dtype, value.waits) for value in [*values, *equation.outputs]}
    return (
        len(values) == len(equation.args) == 2 and len(shapes) == 1 and values[0] is not values[1]
    )


def _as_one(terms: _Sum) -> list[Equation]:
    """The equations of one product in the place of a sum."""
    last = terms.equations[-1]
    (made,), origin = last.outputs, last.origin
    left, one = _below(terms.left, origin)
    right, other = _below(terms.right, origin)
    turned = Value(one.shape[::-1], one.dtype)
    flat = Equation(Call("attribute", "T"), (one,), {}, (turned,), False, origin)
    product, total = _equation("matmul", (turned, other), made.shape, made.dtype, origin)
    found = [left, right, flat, product]
    for value in terms.others:
        added, total = _equation("add", (total, value), made.shape, made.dtype, origin)
        found.append(added)
    final = found[-1]
    found[-1] = Equation(final.call, final.args, final.kwargs, (made,), False, origin)
    return found


# -- rows of products ------------------------------------------------------------------------------


class _Rows:
    """Equations as nodes that depend on others; sets of nodes are integers.

    A product and the bias that is added to it are one node.
    """

    def __init__(self, equations: list[Equation]) -> None:
        self.nodes: list[list[Equation]] = []
        self.node: dict[Value, int] = {}  # which gives a value
        self.above: list[int] = []
        self.unit: list[int] = []  # the first of the nodes that have become one with a node
        self.inputs: list[set[int]] = []  # nodes that a node needs at once
        self._drawn: int | None = None
        self._place(equations)
        self.members: dict[int, list[int]] = {}
        for family in self._families():
            self._stack(family)

    def _place(self, equations: list[Equation]) -> None:
        readers = _reads(equations)
        made = {value for equation in equations for value in equation.outputs}
        for equation in equations:
            n = self._product_of(equation, readers, made)
            if n is not None:
                self.nodes[n].append(equation)
                self.node[equation.outputs[0]] = n
                continue
            n = len(self.nodes)
            needs = {self.node[value] for value in equation.inputs if value in self.node}
            if draws(equation):
                needs |= set() if self._drawn is None else {self._drawn}
                self._drawn = n
            above = 0
            for m in needs:
                above |= self.above[m] | 1 << m
            self.nodes.append([equation])
            self.above.append(above)
            self.inputs.append(needs)
            self.unit.append(n)
            for value in equation.outputs:
                self.node[value] = n

    def _product_of(
        self, equation: Equation, readers: Counter[Value], made: set[Value]
    ) -> int | None:
        """The node of the product to which an equation adds a bias from outside."""
        if name_of(equation) != "add" or len(equation.inputs) != 2 or len(equation.args) != 2:
            return None
        x, bias = equation.args
        n = self.node.get(x)
        if n is None or len(self.nodes[n]) > 1 or not _is_product(self.nodes[n][0]):
            return None
        fits = bias not in made and bias.shape == x.shape[1:] and bias.dtype == x.dtype
        alone = readers[x] == 1 and equation.outputs[0].shape == x.shape
        return n if fits and alone else None

    def _families(self) -> list[list[int]]:
        """Products of a few rows, grouped by the other factor and the bias that they share."""
        found: dict[Any, list[int]] = {}
        for n, equations in enumerate(self.nodes):
            if _is_product(equations[0]):
                x, other = equations[0].args
                lies = x not in self.node or self.nodes[self.node[x]][0].call.name != "T"
                if lies and x.shape[0] <= ROWS and other.size >= LARGE:
                    biases = [equation.args[1] for equation in equations[1:]]
                    found.setdefault((other, *biases), []).append(n)
        return [family for family in found.values() if len(family) > 1]

    def _stack(self, family: list[int]) -> None:
        """Gather nodes of a family that do not depend on each other into units."""
        units: list[tuple[list[int], int]] = []
        for n in family:
            for i, (members, mask) in enumerate(units):
                apart = not self.above[n] & mask and not self.above[members[0]] >> n & 1
                if apart:
                    members.append(n)
                    units[i] = members, mask | 1 << n
                    self._join(members, mask | 1 << n)
                    break
            else:
                units.append(([n], 1 << n))
        for members, _ in units:
            if len(members) > 1:
                self.members[members[0]] = members
                for n in members:
                    self.unit[n] = members[0]

    def _join(self, members: list[int], mask: int) -> None:
        """Let each member depend on what any does, and what depends on one of them, on all."""
        above = 0
        for n in members:
            above |= self.above[n]
        for n in members:
            self.above[n] = above
        both = above | mask
        for m, found in enumerate(self.above):
            if found & mask:
                self.above[m] = found | both

    def in_order(self) -> list[Equation]:
        """All equations, each after those on which it depends."""
        unit = self.unit
        needs: dict[int, set[int]] = {}
        for n, inputs in enumerate(self.inputs):
            needs.setdefault(unit[n], set()).update([unit[m] for m in inputs])
        after: dict[int, list[int]] = {}
        for n, inputs in needs.items():
            for m in inputs:
                after.setdefault(m, []).append(n)
        left = {n: len(inputs) for n, inputs in needs.items()}
        ready = [n for n, count in left.items() if not count]
        heapify(ready)
        found: list[Equation] = []
        while ready:
            n = heappop(ready)
            found += self._equations(self.members[n]) if n in self.members else self.nodes[n]
            for m in after.get(n, ()):
                left[m] -= 1
                if not left[m]:
                    heappush(ready, m)
        return found

    def _equations(self, members: list[int]) -> list[Equation]:
        """One product in the place of those of several nodes."""
        products = [self.nodes[n] for n in members]
        first, origin = products[0], products[0][0].origin
        other = first[0].args[1]
        together, rows = _below([each[0].args[0] for each in products], origin)
        shape = (rows.shape[0], other.shape[1])
        product, made = _equation("matmul", (rows, other), shape, other.dtype, origin)
        found = [together, product]
        if len(first) > 1:
            call, bias = first[1].call, first[1].args[1]
            biased = Value(shape, other.dtype)
            found.append(Equation(call, (made, bias), {}, (biased,), False, first[1].origin))
            made = biased
        start = 0
        for each in products:
            stop = start + each[0].args[0].shape[0]
            call, part = Call("operator", "getitem"), (slice(start, stop),)
            found.append(Equation(call, (made, part), {}, each[-1].outputs, False, each[-1].origin))
            start = stop
        return found
