"""Steps of update rules in CUDA C: one launch for all parameters, written from the rule's `step`.

`step` is called with stand-ins for its arrays, which record what is done to each element. Numbers
are arguments of the kernel, so that another rate needs no other one; what is recorded anew in each
step is a few dozen operations of Python's, whatever the number of parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

from backends.cuda_backend.kernels.source import Parameter, Source
from backends.cuda_backend.kernels.words import (
    COMPARED,
    COMPUTED,
    FUNCTIONS,
    STORED,
    cast,
    computed,
)
from core.errors.scalars import is_number
from core.tracing import NAMES

CHUNK = 4096
"""Elements of a block; the table says for each block which array it is of, and where it begins."""


class Unwritten(Exception):
    """What a rule does cannot be written as a loop over elements."""


class Step(NamedTuple):
    """One operation on elements: of values before it (an int) and numbers (a text `k0`)."""

    name: str
    operands: tuple[int | str, ...]
    taken: str
    dtype: str


class Recorded(NamedTuple):
    """What a rule does to each element of some arrays, and which of these it changes to what."""

    dtype: str
    arrays: int
    steps: tuple[Step, ...]
    changes: tuple[tuple[int, int], ...]


class _Recorder:
    def __init__(self, dtype: Any, name: str) -> None:
        self.dtype = dtype
        self.name = name
        self.steps: list[Step] = []
        self.numbers: list[float] = []
        self.count = 0

    def number(self, x: float) -> str:
        self.numbers.append(float(x))
        return f"k{len(self.numbers) - 1}"

    def call(self, name: str, *args: Any) -> Element:
        name = NAMES.get(name, name)
        if name in ("pow", "power"):
            name, args = _power(args)
        if name not in FUNCTIONS:
            raise Unwritten(name)
        operands = tuple([x.place if isinstance(x, Element) else self._plain(x) for x in args])
        taken = self.name
        if name in ("and_", "or_", "invert", "xor"):
            taken = "bool"
        dtype = "bool" if name in COMPARED else taken
        self.steps.append(Step(name, operands, taken, dtype))
        return Element(self, self.count + len(self.steps) - 1, dtype)

    def _plain(self, x: Any) -> str:
        if not is_number(x) or isinstance(x, complex):
            raise Unwritten(repr(x))
        return self.number(x)


def _power(args: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    if args[1] == 2:
        return "square", args[:1]
    return ("sqrt", args[:1]) if args[1] == 0.5 else ("pow", args)


class Element:
    """Stands for an array while a rule's step is recorded."""

    __array_priority__ = 1000

    def __init__(self, recorder: _Recorder, place: int, name: str) -> None:
        self.recorder = recorder
        self.place = place
        self.name = name

    @property
    def dtype(self) -> Any:
        """The arrays' dtype."""
        if self.name == "bool":
            raise Unwritten("dtype")
        return self.recorder.dtype

    def __setitem__(self, index: Any, value: Any) -> None:
        if index is not Ellipsis:
            raise Unwritten("an index")
        if not isinstance(value, Element):
            value = self.recorder.call("same", value)
        self.place = value.place

    def __bool__(self) -> bool:
        raise Unwritten("a value is looked at")

    def __neg__(self) -> Element:
        return self.recorder.call("neg", self)

    def __abs__(self) -> Element:
        return self.recorder.call("abs", self)

    def __and__(self, other: Any) -> Element:
        return self.recorder.call("and_", self, other)

    def __or__(self, other: Any) -> Element:
        return self.recorder.call("or_", self, other)


def _operator(name: str, swapped: bool = False, in_place: bool = False) -> Any:
    def operated(self: Element, other: Any) -> Any:
        args = (other, self) if swapped else (self, other)
        made = self.recorder.call(name, *args)
        if not in_place:
            return made
        self.place = made.place
        return self

    return operated


for _name in ("add", "sub", "mul", "truediv", "pow"):
    setattr(Element, f"__{_name}__", _operator(_name))
    setattr(Element, f"__r{_name}__", _operator(_name, swapped=True))
    setattr(Element, f"__i{_name}__", _operator(_name, in_place=True))
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(Element, f"__{_name}__", _operator(_name))


class _Namespace:
    """The functions that steps call, recorded; constants are those of the namespace itself."""

    def __init__(self, recorder: _Recorder, xp: Any) -> None:
        self._recorder = recorder
        self._xp = xp

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._xp, name)
        if is_number(found) or not callable(found) or isinstance(found, type):
            return found
        return lambda *args: self._recorder.call(name, *args)

    def zeros_like(self, x: Element) -> Element:
        return self._recorder.call("same", 0.0)

    def ones_like(self, x: Element) -> Element:
        return self._recorder.call("same", 1.0)

    def full_like(self, x: Element, value: float) -> Element:
        return self._recorder.call("same", value)

    def clip(self, x: Element, min: Any = None, max: Any = None) -> Element:
        if min is not None:
            x = self._recorder.call("maximum", x, min)
        return x if max is None else self._recorder.call("minimum", x, max)


def record(
    rule: Any, xp: Any, dtype: Any, name: str, states: Sequence[str], others: dict[str, Any]
) -> tuple[Recorded, list[float]]:
    """What a rule's step does to parameter, gradient and states, and the numbers of this step.

    `others` is state that is no array. Raises Unwritten where no loop over elements does it.
    """
    recorder = _Recorder(dtype, name)
    recorder.count = 2 + len(states)
    arrays = [Element(recorder, i, name) for i in range(recorder.count)]
    named = dict(zip(states, arrays[2:], strict=True))
    rule.step(_Namespace(recorder, xp), arrays[0], arrays[1], **named, **others)
    changes = tuple([(i, array.place) for i, array in enumerate(arrays) if array.place != i])
    steps = tuple(recorder.steps)
    return Recorded(name, recorder.count, steps, changes), recorder.numbers


@cache
def source(recorded: Recorded) -> Source:
    """`update(table, count, blocks, *numbers)`, a block for each chunk of an array.

    The table has the addresses of each kind of arrays, their sizes, and for each block the number
    of its array and where in it the block begins.
    """
    dtype, kind = recorded.dtype, COMPUTED[recorded.dtype]
    stored = STORED[dtype]
    lines = [
        f"const long long* sizes = table + {recorded.arrays} * count;",
        "const long long* owners = sizes + count;",
        "const long long n = owners[blockIdx.x], begin = owners[blocks + blockIdx.x];",
        f"const long long size = sizes[n], whole = begin + {CHUNK};",
        "const long long end = whole < size ? whole : size;",
    ]
    for i in range(recorded.arrays):
        lines.append(f"{stored}* a{i} = ({stored}*)table[{i} * count + n];")
    lines.append("for (long long i = begin + threadIdx.x; i < end; i += blockDim.x) {")
    for i in range(recorded.arrays):
        lines.append(f"  const {kind} v{i} = get(a{i}, i);")
    dtypes = [dtype] * recorded.arrays
    numbers = 0
    for i, step in enumerate(recorded.steps, recorded.arrays):
        texts = []
        for j, operand in enumerate(step.operands):
            taken = "bool" if step.name == "where" and j == 0 else step.taken
            if isinstance(operand, str):
                numbers += 1
                texts.append(f"({cast(operand, 'float64', taken)})")
            else:
                texts.append(f"({cast(f'v{operand}', dtypes[operand], taken)})")
        dtypes.append(step.dtype)
        text = computed(step.name, texts, step.taken, step.dtype)
        lines.append(f"  const {COMPUTED[step.dtype]} v{i} = {text};")
    lines += [f"  put(a{i}, i, v{v});" for i, v in recorded.changes]
    lines.append("}")
    parameters = (
        Parameter("const long long*", "table"),
        Parameter("long long", "count"),
        Parameter("long long", "blocks"),
        *[Parameter("double", f"k{i}") for i in range(numbers)],
    )
    return Source("update", parameters, "".join([f"  {line}\n" for line in lines]))
