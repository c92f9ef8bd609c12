"""What a trace has recorded, as plain data."""

from __future__ import annotations

from typing import Any, Self

from core.arrays.backend import Backend, host
from core.programs.equation import Equation, Value
from core.programs.group import Group
from core.programs.place import Place
from core.programs.steps import Steps


class Recorded:
    """Equations between values, from arguments to results.

    `inputs` are the values of the arguments' arrays, `form` their structure, `places` the arrays
    read from links and optimizers; `constants` maps values to the arrays that the trace found
    outside. `equations` are in an order in which they can be computed, `outputs` the results, with
    the structure `result`, and `changes` pairs of a place, or the number of an argument, and what
    its array becomes. `steps` are counted in each run.
    """

    def __init__(
        self,
        name: str,
        backend: Backend,
        inputs: tuple[Value, ...],
        form: Any,
        places: tuple[Place, ...],
        constants: dict[Value, Any],
        equations: tuple[Equation, ...],
        outputs: tuple[Value, ...],
        result: Any,
        changes: tuple[tuple[Place | int, Value], ...],
        steps: tuple[Steps, ...],
    ) -> None:
        self.name = name
        self.backend = backend
        self.inputs = inputs
        self.form = form
        self.places = places
        self.constants = constants
        self.equations = equations
        self.outputs = outputs
        self.result = result
        self.changes = changes
        self.steps = steps

    def changed(self, **parts: Any) -> Self:
        """Another program, with other parts in the place of these."""
        own = {name: part for name, part in vars(self).items() if name != "_run"}
        return type(self)(**(own | parts))

    def part(self, kind: str, equations: list[Equation], outputs: tuple[Value, ...]) -> Recorded:
        """Some equations as a program by themselves, of what they read, which gives `outputs`."""
        made = {value for equation in equations for value in equation.outputs}
        read = list(dict.fromkeys([value for equation in equations for value in equation.inputs]))
        inputs = tuple([v for v in read if v not in made and v not in self.constants])
        constants = {v: self.constants[v] for v in read if v in self.constants}
        name, own = f"{kind} of {self.name}", tuple(equations)
        return Recorded(name, self.backend, inputs, None, (), constants, own, outputs, None, (), ())

    def flat(self) -> list[Equation]:
        """The equations, those within loops as well in the place of the loops."""
        found: list[Equation] = []
        for equation in self.equations:
            group = equation.call.function
            found += group.equations if isinstance(group, Group) else [equation]
        return found

    def names(self) -> dict[Value, str]:
        """What values are called in the text: `x` arguments, `p` places, `c` constants, `v`."""
        found = {value: f"x{i}" for i, value in enumerate(self.inputs)}
        found |= {place.value: f"p{i}" for i, place in enumerate(self.places)}
        found |= {value: f"c{i}" for i, value in enumerate(self.constants)}
        results = [value for equation in self.flat() for value in equation.outputs]
        return found | {value: f"v{i}" for i, value in enumerate(results)}

    def memories(self) -> dict[Value, Value]:
        """For values that may be views: the value whose memory they may show."""
        found: dict[Value, Value] = {}
        for equation in self.equations:
            if equation.call.views and equation.inputs:
                source = equation.inputs[0]
                found |= dict.fromkeys(equation.outputs, found.get(source, source))
        return found


def in_memory_order(array: Any) -> tuple[Any, tuple[int, ...]]:
    """The array with its axes as they lie in memory, and the axes that `transpose` then takes.

    A copy that lies otherwise would be summed in another order, as by products of matrices.
    """
    axes = tuple(range(getattr(array, "ndim", 0)))
    if not isinstance(array, host().xp.ndarray) or array.flags.c_contiguous:
        return array, axes
    order = sorted(axes, key=lambda axis: -abs(array.strides[axis]))
    return array.transpose(order), tuple([order.index(axis) for axis in axes])
