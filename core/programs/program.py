"""Programs: the array operations of a call, in static single assignment."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from core.arrays.backend import BACKENDS
from core.errors import TraceError
from core.graph.variable import wrap
from core.programs.equation import Equation, Value, value_like
from core.programs.execution import compiled
from core.programs.group import Group
from core.programs.place import Place
from core.programs.recorded import Recorded, in_memory_order
from core.programs.sequences import in_sequences
from core.programs.sharing import apart_in_the_end
from core.programs.structure import Leaf, alike, described, flattened, rebuilt
from core.programs.text import Writer, spec_text

if TYPE_CHECKING:
    from core.programs.cost import Cost
    from core.programs.profile import Profile
    from core.show.computational_graph import ComputationalGraph


class Program(Recorded):
    """What `core.trace` gives: equations between values, from arguments to results.

    Calling it runs it, on arrays of the same structure, shapes and dtypes: draws are made anew,
    parameters and states are read as they are, and changed where the function changes them. A
    pickle, or a deep copy, has parameters and states of its own, or shares those of a model that is
    pickled, or copied, with it.
    """

    _run: Callable[..., tuple[Any, ...]] | None = None

    # ------------------------------------------------------------------ running

    def __call__(self, *arrays: Any) -> Any:
        """Run it on other arrays.

        Raises TraceError where structure, shapes, dtypes, or the numbers that updates are made
        with, differ from those that were traced; then nothing has been computed or changed.
        """
        given, form = flattened(arrays)
        if not alike(form, self.form):
            raise TraceError(
                f"{self.name}: expected the arguments {described(self.form)}, got "
                f"{described(form)}. Trace again for another structure."
            )
        for i, (array, value) in enumerate(zip(given, self.inputs, strict=True)):
            self._check(f"argument array {i}", array, value)
        for steps in self.steps:
            steps.refuse_others()
        read = [place.read() for place in self.places]
        for place, array in zip(self.places, read, strict=True):
            self._check(place.name, array, place.value)
        self._refuse_shared(given)
        if self._run is None:
            self._run = compiled(in_sequences(self))
        results = self._run(*given, *read)
        count = len(self.outputs)
        outputs = [self.backend.asarray(y) for y in results[:count]]
        self.change(given, read, results[count:])
        for steps in self.steps:
            steps.count()
        return rebuilt(self.result, lambda leaf: _as_result(leaf, outputs[leaf.number]))

    def change(self, given: Any, read: list[Any], becomes: Any) -> None:
        """Write what arguments and places have become into their arrays."""
        found = dict(zip(self.places, read, strict=True))
        for (target, _), y in zip(self.changes, becomes, strict=True):
            if isinstance(target, Place):
                target.write(self.backend, found[target], y)
            else:
                self.backend.copyto(given[target], y)

    def _check(self, what: str, array: Any, value: Value) -> None:
        if array is None or BACKENDS[type(array)] is not self.backend:
            got = type(array).__name__
            raise TraceError(
                f"{self.name}: expected {what} to be an array of backend {self.backend.name}, "
                f"got {got}. Move it there, as by to_device(); within a trace, as of vmap or an "
                "export, call the function that was traced."
            )
        like = value_like(array)
        if like.shape != value.shape or like.dtype != value.dtype:
            got = spec_text(like)
            raise TraceError(
                f"{self.name}: expected {what} to be {spec_text(value)}, got {got}. "
                "Trace again for another shape or dtype."
            )

    def _refuse_shared(self, given: list[Any]) -> None:
        """Raise where a change of one array would change another as well."""
        shared = apart_in_the_end(self).shared(given) if self.changes else None
        if shared is not None:
            raise TraceError(
                f"{self.name}: expected {shared[0]}, which is changed in place, to have memory of "
                f"its own, got that of {shared[1]}. Copy one of them."
            )

    def fused(self) -> Program:
        """The program with loops in the place of several equations, where its backend has such.

        On NumPy they are compiled by numba (the extra `fast`): what is elementwise, and sums, means
        and maxima beside it. Without it, this is the program itself.
        """
        fuser = self.backend.fuser()
        if fuser is None:
            return self
        from core.programs.loops import fused

        return self.changed(equations=fused(self, fuser))

    # ------------------------------------------------------------------ copying

    def __copy__(self) -> Program:
        return self.changed()

    def __getstate__(self) -> dict[str, Any]:
        """What a pickle, or a deep copy, takes along: parameters and states as well.

        Raises TraceError where kernels have been recorded: they are functions of this process.
        """
        for equation in self.equations:
            call = equation.call
            if call.function is not None and not isinstance(call.function, Group):
                raise TraceError(
                    f"{self.name}: expected a program without kernels, got {call.name}, which can "
                    "be neither pickled nor deeply copied. Trace with kernels=False."
                )
        constants = {value: in_memory_order(array) for value, array in self.constants.items()}
        return {k: x for k, x in vars(self).items() if k != "_run"} | {"constants": constants}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take over a state; loops are made for where they are now."""
        vars(self).update(state)
        self.constants = {
            value: array if axes == tuple(range(len(axes))) else array.transpose(axes)
            for value, (array, axes) in self.constants.items()
        }
        fuser = self.backend.fuser()
        for equation in self.equations:
            group = equation.call.function
            if isinstance(group, Group):
                run = None if fuser is None else fuser.made(group)
                if run is None:
                    raise TraceError(
                        f"{self.name}: expected that loops can be compiled where it is loaded, as "
                        "where it was pickled. Install plugrad[fast], or pickle the program before "
                        "fused()."
                    )
                group.run = run

    # ------------------------------------------------------------------ looking

    def graph(self) -> ComputationalGraph:
        """The equations as a `ComputationalGraph`, to be drawn: `dump()`, `render("a.svg")`."""
        from core.programs.drawing import drawn

        return drawn(self)

    def cost(self) -> Cost:
        """Operations and bytes, in all, by operation and by link: a `Cost`, shown as a table.

        The bytes in all are those that are read and written; those in use at most are the peak of
        the memory that a run takes.

        >>> import core, numpy as np
        >>> core.trace(lambda x: x @ x + 1, np.ones((10, 10))).cost()
                        operations  bytes
        in all               2,100  3,200
        in use at most              1,600
        by operation
          (outside)          2,100  3,200
        by link
          (outside)          2,100  3,200
        """
        from core.programs.cost import cost

        return cost(self)

    def profile(self, *arrays: Any) -> Profile:
        """Where the time of a run goes: a `Profile`, shown as a table, of ten runs on arrays.

        What the program changes is changed ten times.

        >>> import core, numpy as np
        >>> x = np.ones((10, 10))
        >>> profile = core.trace(lambda x: x @ x + 1, x).profile(x)
        >>> sorted(profile.by_call()), 0 < profile.seconds < 1
        (['add', 'matmul'], True)
        """
        from core.programs.profile import profiled

        return profiled(self, self, lambda: self(*arrays), False)

    def source(self) -> str:
        """The text of a Python module that needs NumPy alone; its function `program` runs it.

        It takes what the traced function takes, with plain arrays for Variables, and the arrays of
        `places` by name. Where the function changes parameters or arguments, it gives the result
        and the changed arrays by name. Its bits are those of the program, save that it draws by
        NumPy alone, where the program may draw large masks by numba, and that large products of
        matrices are left to NumPy's own threads.
        """
        from core.programs.source import source

        return source(self)

    def __str__(self) -> str:
        """The equations, with the operations and links that they come from."""
        names = self.names()
        writer = Writer(names.__getitem__)
        lines = [f"{self.name}({', '.join([names[value] for value in self.inputs])}):"]
        lines += [f"  {names[value]}: {spec_text(value)}" for value in self.inputs]
        lines += [f"  {names[p.value]}: {spec_text(p.value)} = {p.name}" for p in self.places]
        for value, array in self.constants.items():
            shown = f" = {array}" if value.size == 1 else ""
            lines.append(f"  {names[value]}: {spec_text(value)}, constant{shown}")
        lines += self._body(self.equations, "  ", writer)
        for target, value in self.changes:
            name = target.name if isinstance(target, Place) else names[self.inputs[target]]
            lines.append(f"  {name}[...] = {names[value]}")
        results = rebuilt(self.result, lambda leaf: _Text(names[self.outputs[leaf.number]]))
        return "\n".join([*lines, f"  return {results!r}"])

    def _body(self, equations: Sequence[Equation], indent: str, writer: Writer) -> Iterator[str]:
        before = None
        for equation in equations:
            group = equation.call.function
            if isinstance(group, Group):
                yield f"{indent}loop of {group.rows} x {group.columns}:"
                yield from self._body(group.equations, indent + "  ", writer)
                yield f"{indent}  gives {', '.join(map(writer.name, group.outputs))}"
                before = None
                continue
            if equation.origin != before and str(equation.origin):
                yield f"{indent}# {equation.origin}"
            before = equation.origin
            left = ", ".join([f"{writer.name(v)}: {spec_text(v)}" for v in equation.outputs])
            comma = "," if equation.several and len(equation.outputs) == 1 else ""
            right = writer.expression(equation)
            yield f"{indent}{left}{comma} = {right}" if left else f"{indent}{right}"

    def __repr__(self) -> str:
        return (
            f"<program {self.name}: {len(self.equations)} equations, {len(self.inputs)} arguments, "
            f"{len(self.places)} places, {len(self.outputs)} results>"
        )


class _Text(str):
    """A name in the text of a structure."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _as_result(leaf: Leaf, array: Any) -> Any:
    return array if leaf.kind == "array" else wrap(array)
