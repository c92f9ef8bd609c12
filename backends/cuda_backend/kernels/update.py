"""Steps of update rules in CUDA C: one launch for all parameters, written from the rule's `step`.

What `core.optimizer.elements` records of a step is compiled. Numbers are arguments of the kernel,
so that another rate needs no other one.
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
from core.optimizer import Unrecorded, record_step
from core.programs import NAMES

CHUNK = 4096
"""Elements of a block; a table says for each block which array it is of, and where it begins."""


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


def record(
    rule: Any, xp: Any, dtype: Any, name: str, states: Sequence[str], others: dict[str, Any]
) -> tuple[Recorded, list[float]]:
    """What a rule's step does to parameter, gradient and states, and the numbers of this step.

    `others` is state that is no array. Raises Unrecorded where no loop over elements does it.
    """
    made, numbers = record_step(rule, xp, dtype, states, others)
    steps = []
    for called, operands in made.operations:
        known = NAMES.get(called, called)
        if known not in FUNCTIONS:
            raise Unrecorded(called)
        taken = "bool" if known in ("and_", "or_", "invert", "xor") else name
        steps.append(Step(known, operands, taken, "bool" if known in COMPARED else taken))
    return Recorded(name, made.arrays, tuple(steps), made.changes), numbers


@cache
def source(recorded: Recorded) -> Source:
    """`update(places, sizes, count, blocks, *numbers)`, a block for each chunk of an array.

    `places` are the addresses of each kind of arrays. After their sizes stand for each block the
    number of its array, and then where in it each block begins.
    """
    dtype, kind = recorded.dtype, COMPUTED[recorded.dtype]
    stored = STORED[dtype]
    lines = [
        "const long long* owners = sizes + count;",
        "const long long n = owners[blockIdx.x], begin = owners[blocks + blockIdx.x];",
        f"const long long size = sizes[n], whole = begin + {CHUNK};",
        "const long long end = whole < size ? whole : size;",
    ]
    for i in range(recorded.arrays):
        lines.append(f"{stored}* a{i} = ({stored}*)places[{i} * count + n];")
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
        Parameter("const long long*", "places"),
        Parameter("const long long*", "sizes"),
        Parameter("long long", "count"),
        Parameter("long long", "blocks"),
        *[Parameter("double", f"k{i}") for i in range(numbers)],
    )
    return Source("update", parameters, "".join([f"  {line}\n" for line in lines]))
