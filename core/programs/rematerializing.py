"""Less memory for more work: what is cheap is computed again where it is read, not kept until then.

At the peak of a program some of what is in use waits for equations that come much later. What an
elementwise function, a view or a loop has given is let go of, and computed once more just before:
of what is there at that time, or can be computed again itself. One after the other, the largest
first, until the peak is low enough. What draws, or costs more, as products do, is never repeated.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from core.arrays.backend import host, random_state, set_random_state
from core.programs.cost import is_view
from core.programs.equation import Call, Equation, Value, mapped
from core.programs.group import Group
from core.programs.inference import quiet
from core.programs.lifetimes import Lifetimes, keeps, peak
from core.programs.program import Program

LONGEST = 16  # equations that are computed again for one array
TRIED = 8  # arrays that are tried before there are none
LEAST = 1000  # a smaller share of the peak is not worth a call


def rematerialized(program: Program, most: int) -> Program:
    """The program with a peak of at most `most` bytes, or as near to that as it can get."""
    present: Program | None = program
    cheap = _Cheap()
    while present is not None:
        program = present
        present = _Peak(program, cheap).lowered() if peak(program) > most else None
    return program


class _Cheap:
    """Which equations may be made again; what is found out of kernels is kept."""

    def __init__(self) -> None:
        self._kernels: dict[int, bool] = {}

    def __call__(self, equation: Equation) -> bool:
        call, values = equation.call, (*equation.inputs, *equation.outputs)
        if any([value.waits for value in values]) or not equation.outputs:
            return False
        if isinstance(call.function, Group) or is_view(equation):
            return True
        if call.kind == "kernel":
            if id(call.function) not in self._kernels:
                self._kernels[id(call.function)] = _repeats(equation)
            return self._kernels[id(call.function)]
        if call.kind == "operator":
            return call.name != "matmul"
        name = call.name.rpartition(".")[2]
        if call.kind == "xp":
            return name in _CHEAP or (name not in _PRODUCTS and _is_elementwise(call))
        return call.kind == "method" and name in _CHEAP


_CHEAP = frozenset(
    ["where", "clip", "astype", "copy", "zeros_like", "ones_like", "full_like", "broadcast_to"]
)
_PRODUCTS = frozenset(["matmul", "vecdot", "matvec", "vecmat"])


def _is_elementwise(call: Call) -> bool:
    return hasattr(call.found(host()), "nargs")


def _repeats(equation: Equation) -> bool:
    """Whether a kernel is that of an elementwise operation, and draws nothing."""
    function: Any = equation.call.function
    if not getattr(getattr(function, "cls", None), "_elementwise", False):
        return False
    xp, before = host().xp, random_state()
    samples = [xp.zeros(value.shape, dtype=value.dtype) for value in equation.inputs]
    try:
        with quiet():
            function(*samples)
    except Exception:  # of zeros it can say nothing
        return False
    if random_state() == before:
        return True
    set_random_state(before)
    return False


class _Peak:
    """The first equation with the most memory in use, and what waits there for later ones."""

    def __init__(self, program: Program, cheap: _Cheap) -> None:
        self._program = program
        self._cheap = cheap
        self._lives = Lifetimes(program)
        self._use = self._lives.in_use()
        self._most = max(self._use)
        self._at = self._use.index(self._most)
        self._shown: defaultdict[Value, list[Value]] = defaultdict(list)
        for value in self._lives.born:
            self._shown[self._lives.memory_of(value)].append(value)
        self._reads: defaultdict[Value, list[int]] = defaultdict(list)
        for i, equation in enumerate(program.equations):
            for value in equation.inputs:
                self._reads[value].append(i)

    def lowered(self) -> Program | None:
        """The program with one array less in memory at the peak; None where that lowers nothing."""
        found = []
        for memory, shown in self._shown.items():
            if memory not in self._lives.given and memory.nbytes * LEAST >= self._most:
                instead = self._instead(memory, shown)
                if instead is not None and instead[0] > 0:
                    found.append(instead)
        for _, number, chain in sorted(found, key=lambda each: each[0], reverse=True)[:TRIED]:
            program = self._without(number, chain)
            use = Lifetimes(program).in_use()
            most = max(use)
            fewer = use.count(most) < self._use.count(self._most)
            if most < self._most or (most == self._most and fewer):
                return program
        return None

    def _instead(self, memory: Value, shown: list[Value]) -> tuple[int, int, list[Equation]] | None:
        """Bytes that letting go of a memory saves, and what is repeated before which equation."""
        lives, at, equations = self._lives, self._at, self._program.equations
        waits = lives.born[memory] < at < lives.until.get(memory, -1) < len(equations)
        reads = [i for value in shown for i in self._reads[value]]
        number = min([i for i in reads if i > at], default=-1)
        if not waits or at in reads or number < 0:
            return None
        needed = [v for v in shown if lives.born[v] < at and max(self._reads[v], default=-1) > at]
        return self._chain(memory, needed, number)

    def _chain(
        self, memory: Value, needed: list[Value], number: int
    ) -> tuple[int, int, list[Equation]] | None:
        """As `_instead`, for the values `needed`; what is kept longer for it counts against it."""
        lives, equations = self._lives, self._program.equations
        # What stands before a change of parameters is not computed again behind it.
        first = max([i for i in range(number) if keeps(equations[i])], default=-1)
        chain: dict[int, Equation] = {}
        size = memory.nbytes
        while needed:
            value = needed.pop()
            if value in lives.given or lives.born[value] in chain:
                continue
            born, root = lives.born[value], lives.memory_of(value)
            if root is not memory and lives.until.get(root, -1) >= self._at:
                continue  # it is there
            if born > first and self._cheap(equations[born]):
                chain[born] = equations[born]
                needed += equations[born].inputs
            elif root is memory:
                return None
            else:
                size -= root.nbytes  # it is kept instead
            if len(chain) > LONGEST:
                return None
        return size, number, [chain[i] for i in sorted(chain)]

    def _without(self, number: int, chain: list[Equation]) -> Program:
        """The program that computes a chain again before an equation, for it and those after."""
        put = {value: _like(value) for equation in chain for value in _made(equation)}
        equations = self._program.equations
        again = [_with_values(equation, put) for equation in chain]
        after = [_with_values(equation, put) for equation in equations[number:]]
        return self._program.changed(equations=(*equations[:number], *again, *after))


def _made(equation: Equation) -> list[Value]:
    """All that an equation gives, and makes inside of its loop."""
    group = equation.call.function
    inside = group.equations if isinstance(group, Group) else ()
    return [value for each in (equation, *inside) for value in each.outputs]


def _like(value: Value) -> Value:
    return Value(value.shape, value.dtype, value.scalar)


def _with_values(equation: Equation, put: dict[Value, Value]) -> Equation:
    """An equation of other values, which it may give as well; its loop is of these, too."""
    if put.keys().isdisjoint((*equation.inputs, *equation.outputs)):
        return equation
    call = equation.call
    if isinstance(call.function, Group):
        call = call._replace(function=_group_with_values(call.function, put))
    args, kwargs = mapped(lambda v: put.get(v, v), (equation.args, equation.kwargs))
    outputs = tuple([put.get(value, value) for value in equation.outputs])
    return Equation(call, args, kwargs, outputs, equation.several, equation.origin)


def _group_with_values(group: Group, put: dict[Value, Value]) -> Group:
    equations = tuple([_with_values(equation, put) for equation in group.equations])

    def instead(values: Any) -> Any:
        return [put.get(value, value) for value in values]

    extents = dict(zip(instead(group.extents), group.extents.values(), strict=True))
    made = Group(
        equations,
        tuple(instead(group.inputs)),
        tuple(instead(group.outputs)),
        group.rows,
        group.columns,
        extents,
        frozenset(instead(group.ends)),
    )
    made.run = group.run
    return made
