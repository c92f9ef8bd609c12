"""Programs as Python functions: one line for each equation, what is not needed any more let go."""

from __future__ import annotations

import linecache
import weakref
from collections.abc import Callable
from itertools import count
from typing import Any

from core.arrays.backend import host
from core.errors import TraceError
from core.programs.equation import Call, Equation, Value, values_in
from core.programs.lifetimes import Lifetimes
from core.programs.over import Over, Pair
from core.programs.place import Place
from core.programs.recorded import Recorded
from core.programs.text import Writer

Run = Callable[..., tuple[Any, ...]]
_NUMBERS = count(1)


def compiled(
    program: Recorded, live: bool = False, tick: Callable[[int], None] | None = None
) -> Run:
    """A function of the arrays of arguments and places: the results, and what changes become.

    Results are not views of what is written, nor of constants; without `live` they are no views of
    each other either. With `live` scalars among them are arrays. `tick` is called with the number
    of each equation, after it.
    """
    code = _Code(program)
    for i, equation in enumerate(program.equations):
        code.write(i, equation, tick)
    text = code.finished(live)
    where = f"<program {program.name} {next(_NUMBERS)}>"  # an id would be another's later on
    exec(compile(text, where, "exec"), code.scope)
    made: Run = code.scope.pop("program")  # else it would refer to itself
    linecache.cache[where] = (len(text), None, text.splitlines(True), where)
    weakref.finalize(made, linecache.cache.pop, where, None).atexit = False
    return made


class _Code(Writer):
    """The text of a program; functions and constants are names in its scope."""

    def __init__(self, program: Recorded) -> None:
        named = program.names()
        super().__init__(named.__getitem__)
        self._named = named
        self._program = program
        backend = program.backend
        self._elsewhere = backend is not host()
        self.scope: dict[str, Any] = {
            named[v]: backend.asarray(array) if self._elsewhere else array
            for v, array in program.constants.items()
        }
        self._placed = ""
        if self._elsewhere and len(backend.devices()) > 1:
            self._placed = f", device={self._bound(backend.native_device())}"
        self.scope["copy"] = program.backend.copy
        self.scope["asarray"] = program.backend.asarray
        self._functions: dict[Any, str] = {}  # names by calls, and by functions themselves
        self._numbers: dict[Any, str] = {}
        self._lives = Lifetimes(program)
        self._changeable = self._lives.changeable()
        self._over = self._lives.taken_over()
        parameters = [*program.inputs, *[place.value for place in program.places]]
        self._lines = [f"def program({', '.join([named[value] for value in parameters])}):"]

    def _bound(self, x: Any) -> str:
        name = f"k{len(self.scope)}"
        self.scope[name] = x
        return name

    def rare(self, x: Any) -> str:
        """A name in the scope for what has no literal of its own."""
        return self._bound(self._theirs(x))

    def _theirs(self, x: Any) -> Any:
        """What the library has for a dtype, or scalar, of the host's."""
        xp = host().xp
        if not self._elsewhere:
            return x
        if isinstance(x, xp.dtype) or (isinstance(x, type) and issubclass(x, xp.generic)):
            return self._program.backend.dtype(host().dtype_name(xp.dtype(x)))
        return x.item() if isinstance(x, xp.generic) else x

    def function(self, call: Call) -> str:
        """A name for what is called."""
        if call not in self._functions:
            backend = self._program.backend
            try:
                self._functions[call] = self._bound(call.found(backend))
            except AttributeError:
                raise TraceError(
                    f"{self._program.name}: backend {backend.name} has no {call.name}."
                ) from None
        return self._functions[call]

    def index(self, index: Any) -> str:
        """What stands between brackets; made once where it is constant."""
        if isinstance(index, (int, bool)) or list(values_in(index)):
            return super().index(index)
        return self._bound(index)

    def expression(self, equation: Equation) -> str:
        """The right-hand side, with functions for operators: they take half as long if small."""
        call, args = equation.call, equation.args
        function: Any = None
        if self._elsewhere:
            return self._expression_of_others(equation)
        if call.kind == "operator" and call.name in _FUNCTIONS:
            function = getattr(self._program.backend.xp, _FUNCTIONS[call.name])
        elif call.kind == "xp" and call.name not in ("pow", "power") and not equation.kwargs:
            function = call.found(self._program.backend)
        waits = any([value.waits for value in equation.inputs])  # and is to be added as it is
        plain = equation.inputs and not waits and all(map(_is_operand, args))
        if not plain or not hasattr(function, "nargs"):
            return super().expression(equation)
        kinds = [x.dtype if isinstance(x, Value) else type(x) for x in args]
        taken = function.resolve_dtypes((*kinds, *[None] * function.nout))
        texts = [self._operand_beside(x, dtype) for x, dtype in zip(args, taken, strict=False)]
        if None in texts:
            return super().expression(equation)
        return f"{self._bound_once(function)}({', '.join(filter(None, texts))})"

    def _expression_of_others(self, equation: Equation) -> str:
        """The right-hand side for another library, whose arrays have not all of the methods.

        Products are those of its namespace, which a backend may amend.
        """
        call = equation.call
        if call == _PRODUCT:
            call = Call("xp", "matmul")
            return f"{self.function(call)}({self.arguments(equation.args, {})})"
        placed = self._placed if call.kind == "xp" and call.name in _MAKING else ""
        if call.kind != "method" and not placed:
            return super().expression(equation)
        given = self.arguments(equation.args, equation.kwargs)
        return f"{self.function(call)}({given}{placed})"

    def _operand_beside(self, x: Any, dtype: Any) -> str | None:
        """An operand as a function takes it; a number as an array of the dtype that it takes on."""
        if isinstance(x, Value):
            return self.literal(x)
        if dtype.kind != "f":
            return None
        key = repr(x), dtype
        if key not in self._numbers:
            self._numbers[key] = self._bound(self._program.backend.asarray(x, dtype))
        return self._numbers[key]

    def _bound_once(self, function: Any) -> str:
        if function not in self._functions:
            self._functions[function] = self._bound(function)
        return self._functions[function]

    def literal(self, x: Any) -> str:
        """The text of an argument."""
        if type(x) is float and x - x != 0:
            return self._bound(x)
        return super().literal(x)

    def write(self, i: int, equation: Equation, tick: Callable[[int], None] | None) -> None:
        """The lines of an equation."""
        outputs = equation.outputs
        left = ", ".join([self._named[value] for value in outputs])
        left += "," if equation.several and len(outputs) == 1 else ""
        lives, changed, pair = self._lives, self._changeable.get(i), self._over.get(i)
        if changed is not None:
            self._lines += self._in_place(equation, self._named[changed], left)
        elif pair is not None:
            changed = equation.inputs[pair.argument]
            self._lines += self._taken_over(equation, pair, left)
        else:
            right = self.expression(equation)
            if equation.call.kind == "kernel":
                right = f"{self.function(equation.call)}({self._arrays(equation)})"
            self._lines.append(f"  {left} = {right}" if left else f"  {right}")
        dead = {v for v in equation.inputs if lives.last[v] == i} - lives.given - {changed}
        dead |= {v for v in outputs if v not in lives.last}
        if dead:
            self._lines.append(f"  del {', '.join(sorted([self._named[v] for v in dead]))}")
        if tick is not None:
            self._lines.append(f"  {self._bound_once(tick)}({i})")

    def _arrays(self, equation: Equation) -> str:
        """The arguments of a kernel; one that keeps or changes them gets none of the program's."""
        keeps = getattr(equation.call.function, "keeps", False)
        texts = []
        for value in equation.args:
            given = self._lives.memory_of(value) in self._lives.given
            texts.append(f"copy({self._named[value]})" if keeps and given else self._named[value])
        return ", ".join(texts)

    def _taken_over(self, equation: Equation, pair: Pair, left: str) -> list[str]:
        """The call of a function that may put a result into an argument, which it alone holds."""
        function = self._bound(Over(equation.call.function, pair, self._program.backend))
        names = [self._named[value] for value in equation.inputs]
        last = names.pop(pair.argument)
        given = ", ".join(["last", *names])
        return [f"  last = [{last}]", f"  del {last}", f"  {left} = {function}({given})"]

    def _in_place(self, equation: Equation, name: str, left: str) -> list[str]:
        """The change of an array that nobody else reads, without a copy."""
        call, args = equation.call, equation.args
        backend = self._program.backend
        rest = ", ".join(map(self.literal, args[1:]))
        if call.name == "set_item" and self._elsewhere:
            line = f"{self._bound(backend.put)}({name}, {rest})"
        elif call.name == "set_item":
            line = f"{name}[{self.index(args[1])}] = {self.literal(args[2])}"
        elif call.name in ("copyto", "scatter_add", "add_in_place"):
            method = self._bound(getattr(backend, call.name))
            line = f"{method}({name}, {rest})"
        elif (
            not self._elsewhere
            and call.name in _INTO
            and isinstance(args[1], Value)
            and not args[1].scalar
        ):
            function = self._bound_once(getattr(backend.xp, _INTO[call.name]))
            line = f"{function}({name}, {rest}, {name})"
        else:
            line = f"{name} {_SIGNS[call.name]} {rest}"
        return [f"  {line}", f"  {left} = {name}", f"  del {name}"]

    def finished(self, live: bool) -> str:
        """All of the text."""
        program = self._program
        written = {
            t.value if isinstance(t, Place) else program.inputs[t] for t, _ in program.changes
        }
        seen = written | set(program.constants)
        returned = []
        for i, value in enumerate(self._lives.results):
            memory, text = self._lives.memory_of(value), self._named[value]
            if memory in seen:
                text = f"copy({text})"
            if live and value.scalar and not self._elsewhere:
                text = f"asarray({text})"
            returned.append(text)
            if not live or i >= len(program.outputs):
                seen.add(memory)
        self._lines.append(f"  return ({''.join([text + ', ' for text in returned])})")
        return "\n".join(self._lines) + "\n"


def _is_operand(x: Any) -> bool:
    """Whether it is an array, or a number of Python's that may become one."""
    if isinstance(x, Value):
        return bool(x.shape) and not x.scalar
    return type(x) in (int, float) and abs(x) <= 1 << 20


_PRODUCT = Call("operator", "matmul")
_MAKING = frozenset(("arange", "empty", "eye", "full", "linspace", "ones", "zeros"))
_FUNCTIONS = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "divide",
    "neg": "negative",
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
    "eq": "equal",
    "ne": "not_equal",
}
_INTO = {"iadd": "add", "isub": "subtract", "imul": "multiply", "itruediv": "divide"}
_SIGNS = {
    "iadd": "+=",
    "isub": "-=",
    "imul": "*=",
    "itruediv": "/=",
    "ifloordiv": "//=",
    "imod": "%=",
    "ipow": "**=",
    "iand": "&=",
    "ior": "|=",
    "ixor": "^=",
    "ilshift": "<<=",
    "irshift": ">>=",
    "imatmul": "@=",
}
