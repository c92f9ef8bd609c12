"""Loops of programs in CUDA C, from the same plans that other backends write theirs from.

What is elementwise is one pass, an element of the table to each thread. Where rows are summed up, a
row belongs to threads of one block, which go through its columns once for each stage; values of
earlier passes are computed again, for they cost less than their way through memory. Reductions over
rows as well leave a part for each block, and a second kernel joins the parts in their order. So
results follow from shapes alone: nothing is added by whoever comes first.

Sums are taken in float64 and rounded once.
"""

from __future__ import annotations

from functools import cache

from backends.cuda_backend.kernels.source import Parameter, Source
from backends.cuda_backend.kernels.words import COMPUTED, STORED, cast, computed
from core.programs import Extent, Literal, Plan, Slot, Step

THREADS = 256
"""At most so many are in a block."""

_JOINS = {"sum": "{0} + {1}", "max": "larger({0}, {1})", "min": "smaller({0}, {1})"}
_ALONE = {
    Extent(True, True): "",
    Extent(False, True): "",
    Extent(True, False): "if (column == 0) ",
    Extent(False, False): "if (i == 0) ",
}
_STARTS = {"sum": "0", "max": "-infinite()", "min": "infinite()"}

_JOINED = """
__device__ inline double joined_{name}(double* shared, double x) {{
  double* row = shared + threadIdx.y * blockDim.x;
  row[threadIdx.x] = x;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half; half /= 2) {{
    if (threadIdx.x < half) {{
      const double a = row[threadIdx.x], b = row[threadIdx.x + half];
      row[threadIdx.x] = {join};
    }}
    __syncthreads();
  }}
  const double found = row[0];
  __syncthreads();
  return found;
}}
__device__ inline double whole_{name}(double* shared, double x) {{
  joined_{name}(shared, x);
  double found = {start};
  for (unsigned i = 0; i < blockDim.y; i++) {{
    const double a = found, b = shared[i * blockDim.x];
    found = {join};
  }}
  __syncthreads();
  return found;
}}
"""

JOINED = "".join(
    [
        _JOINED.format(name=name, join=join.format("a", "b"), start=_STARTS[name])
        for name, join in _JOINS.items()
    ]
)
"""What all threads of a row, or of a block, have found."""

_ENDED = """\
  __shared__ double shared[{threads}];
  for (long long j = blockIdx.x; j < size; j += gridDim.x) {{
    double x = {start};
    for (long long p = threadIdx.x; p < parts; p += blockDim.x) {{
      const double a = x, b = part[p * size + j];
      x = {join};
    }}
    x = joined_{name}(shared, x);
    if (threadIdx.x == 0) put(y, j, {value});
  }}
"""


@cache
def source(plan: Plan) -> Source:
    """The kernel `loop(*inputs, *outputs, *parts, *numbers, rows, columns)` of a plan.

    `outputs` are those that are no ends; each end has parts, of `parts_of` elements.
    """
    return _Loop(plan).source()


@cache
def ending(name: str, dtype: str) -> Source:
    """The kernel `end(part, y, parts, size, count)`, which joins the parts of a reduction."""
    kind = COMPUTED[dtype]
    value = cast("x", "float64", dtype)
    value = computed("truediv", [value, cast("count", "float64", dtype)], dtype, dtype)
    body = _ENDED.format(
        threads=THREADS,
        start=_STARTS[name],
        join=_JOINS[name].format("a", "b"),
        name=name,
        value=f"({kind})({value})",
    )
    parameters = (
        Parameter("const double*", "part"),
        Parameter(f"{STORED[dtype]}*", "y"),
        Parameter("long long", "parts"),
        Parameter("long long", "size"),
        Parameter("double", "count"),
    )
    return Source("end", parameters, body, JOINED)


class _Loop:
    """Writes the loop of a plan."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.stages = plan.stages()
        self.count = len(plan.inputs)
        self.steps = dict(enumerate(plan.steps, self.count))
        self.ends = [v for v, step in self.steps.items() if step.end]
        self.lines: list[str] = []

    def source(self) -> Source:
        plan = self.plan
        inputs = [
            Parameter(f"const {STORED[dtype]}* __restrict__", f"a{v}")
            for v, (dtype, _) in enumerate(plan.inputs)
        ]
        written = [v for v in plan.outputs if v not in self.ends]
        outputs = [Parameter(f"{STORED[plan.dtype(v)]}* __restrict__", f"y{v}") for v in written]
        parts = [Parameter("double* __restrict__", f"part{v}") for v in self.ends]
        numbers = [Parameter("double", f"k{i}") for i in range(numbers_of(plan))]
        sizes = [Parameter("long long", name) for name in ("rows", "columns")]
        reduces = any([step.reduces for step in plan.steps])
        if reduces:
            self._by_rows()
        else:
            self._flat()
        body = "".join([f"  {line}\n" for line in self.lines])
        parameters = (*inputs, *outputs, *parts, *numbers, *sizes)
        return Source("loop", parameters, body, JOINED if reduces else "")

    def _say(self, depth: int, *lines: str) -> None:
        self.lines += ["  " * depth + line for line in lines]

    # ------------------------------------------------------------------ elementwise

    def _flat(self) -> None:
        plan = self.plan
        every = [*range(self.count), *self.steps]
        extents = {plan.extent(v) for v in every}
        self._say(
            0,
            "const long long size = rows * columns;",
            "const long long step = (long long)gridDim.x * blockDim.x;",
            "long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;",
            "for (; i < size; i += step) {",
        )
        if extents & {Extent(True, False), Extent(False, True)}:
            self._say(1, "const long long row = i / columns, column = i - row * columns;")
        for v, (dtype, _) in enumerate(plan.inputs):
            self._say(1, f"const {COMPUTED[dtype]} v{v} = {self._got(v)};")
        for v, step in self.steps.items():
            self._say(1, self._declared(v, step))
            if v in plan.outputs:
                self._say(1, f"{_ALONE[plan.extent(v)]}put(y{v}, {self._at(v)}, v{v});")
        self._say(0, "}")

    # ------------------------------------------------------------------ by rows

    def _by_rows(self) -> None:
        self._say(0, f"__shared__ double shared[{THREADS}];")
        single = [v for v in self.ends if not self.plan.extent(v).columns]
        for v in single:
            self._say(0, f"double e{v} = {_STARTS[self.steps[v].name]};")
        self._say(
            0,
            "const long long begin = (long long)blockIdx.x * blockDim.y;",
            "const long long stride = (long long)gridDim.x * blockDim.y;",
            "for (long long first = begin; first < rows; first += stride) {",
            "  const long long row = first + threadIdx.y;",
            "  const bool here = row < rows;",
        )
        for v, (dtype, extent) in enumerate(self.plan.inputs):
            if not extent.columns:
                kind = COMPUTED[dtype]
                self._say(1, f"const {kind} v{v} = here ? {self._got(v)} : ({kind})0;")
        for stage in range(max(self.stages) + 1):
            self._of_whole_rows(stage)
            self._of_columns(stage)
        self._say(0, "}")
        for v in single:
            name = self.steps[v].name
            self._say(
                0,
                f"e{v} = whole_{name}(shared, e{v});",
                "if (threadIdx.x == 0 && threadIdx.y == 0)",
                f"  part{v}[(long long)blockIdx.x * gridDim.y + blockIdx.y] = e{v};",
            )

    def _of_whole_rows(self, stage: int) -> None:
        """What is the same in the whole row, as soon as it is known."""
        for v, step in self.steps.items():
            if self.stages[v] != stage or self.plan.extent(v).columns:
                continue
            if step.end and self._of_row(step):
                mine = "if (here && threadIdx.x == 0 && blockIdx.y == 0)"
                self._say(1, f"{mine} {self._joined(step, f'e{v}')}")
            elif not step.reduces:
                self._say(1, self._declared(v, step))
                self._write_row(v)

    def _of_row(self, step: Step) -> bool:
        """Whether a reduction goes over values of whole rows."""
        (x,) = step.operands
        return isinstance(x, int) and not self.plan.extent(x).columns

    def _write_row(self, v: int) -> None:
        if v in self.plan.outputs:
            mine = "if (here && threadIdx.x == 0 && blockIdx.y == 0)"
            self._say(1, f"{mine} put(y{v}, {self._at(v)}, v{v});")

    def _of_columns(self, stage: int) -> None:
        """A pass over the columns."""
        work = [v for v, step in self.steps.items() if self._passes(v, step) == stage]
        if not work:
            return
        sums = [v for v in work if self.steps[v].reduces and not self.steps[v].end]
        for v in sums:
            self._say(1, f"double r{v} = {_STARTS[self.steps[v].name]};")
        self._say(
            1,
            "if (here) {",
            "  long long column = (long long)blockIdx.y * blockDim.x + threadIdx.x;",
            "  for (; column < columns; column += (long long)gridDim.y * blockDim.x) {",
            "    const long long i = row * columns + column;",
        )
        for v in self._needed(work):
            if v < self.count:
                self._say(3, f"const {COMPUTED[self.plan.dtype(v)]} v{v} = {self._got(v)};")
            elif not self.steps[v].reduces:
                self._say(3, self._declared(v, self.steps[v]))
            if v in work:
                self._say(3, *self._worked(v, self.steps[v]))
        self._say(1, "  }", "}")
        for v in sums:
            step = self.steps[v]
            found = cast(f"joined_{step.name}(shared, r{v})", "float64", step.dtype)
            self._say(1, f"const {COMPUTED[step.dtype]} v{v} = {found};")
            self._write_row(v)

    def _passes(self, v: int, step: Step) -> int | None:
        """The stage whose pass over the columns writes a value, or sums it up; None for none."""
        if step.reduces:
            needed = not self._of_row(step)
        else:
            needed = v in self.plan.outputs and self.plan.extent(v).columns
        return self.stages[v] - (step.reduces and not step.end) if needed else None

    def _worked(self, v: int, step: Step) -> list[str]:
        """What a pass does with a value; reductions over rows as well have a part by column."""
        if not step.reduces:
            return [f"put(y{v}, {self._at(v)}, v{v});"]
        if not step.end:
            return [self._joined(step, f"r{v}")]
        if not step.extent.columns:
            return [self._joined(step, f"e{v}")]
        place = f"part{v}[(long long)blockIdx.x * columns + column]"
        return [
            f"if (first == begin) {place} = {_STARTS[step.name]};",
            self._joined(step, place),
        ]

    def _joined(self, step: Step, place: str) -> str:
        (x,) = step.operands
        return f"{place} = {_JOINS[step.name].format(place, f'(double)v{x}')};"

    def _needed(self, work: list[int]) -> list[int]:
        """What a pass computes, in order: what differs from column to column, and is asked for."""
        needed = set()
        left = list(work)
        while left:
            v = left.pop()
            if v in needed or (v not in work and not self.plan.extent(v).columns):
                continue
            needed.add(v)
            if v >= self.count:
                left += [o for o in self.steps[v].operands if isinstance(o, int)]
        return sorted(needed)

    # ------------------------------------------------------------------ values

    def _at(self, v: int) -> str:
        rows, columns = self.plan.extent(v)
        if rows:
            return "i" if columns else "row"
        return "column" if columns else "0"

    def _got(self, v: int) -> str:
        return f"get(a{v}, {self._at(v)})"

    def _declared(self, v: int, step: Step) -> str:
        operands = [self._operand(o, step.taken) for o in step.operands]
        if step.name == "where":
            operands[0] = self._operand(step.operands[0], "bool")
        text = computed(step.name, operands, step.taken, step.dtype)
        return f"const {COMPUTED[step.dtype]} v{v} = {text};"

    def _operand(self, operand: int | Slot | Literal, taken: str) -> str:
        if isinstance(operand, Literal):
            return f"({COMPUTED[taken]})({operand.number})"
        if isinstance(operand, Slot):
            return f"({cast(f'k{operand.place}', 'float64', taken)})"
        return f"({cast(f'v{operand}', self.plan.dtype(operand), taken)})"


def numbers_of(plan: Plan) -> int:
    """How many numbers a loop is given."""
    return sum([isinstance(o, Slot) for step in plan.steps for o in step.operands])


class Shape:
    """How many threads and blocks go over a table, and how many parts its ends have.

    It follows from the plan and the table's size, not from the device: so do the results.
    """

    def __init__(self, plan: Plan, rows: int, columns: int) -> None:
        ends = [step for step in plan.steps if step.end]
        along = any([step.extent.columns for step in ends])
        by_rows = any([step.reduces for step in plan.steps])
        if not by_rows:
            self.block = THREADS, 1
            self.grid = min(-(-rows * columns // THREADS), 1 << 16), 1
            return
        across = min(THREADS, max(32 if along else 1, 1 << (columns - 1).bit_length()))
        self.block = across, 1 if along else max(1, min(THREADS // across, rows))
        groups = -(-rows // self.block[1])
        serial = any([step.reduces and not step.end for step in plan.steps])
        slices = 1 if serial else min(-(-columns // across), 1024)
        most = 1 << 16
        if along:
            most = max(1, (1 << 18) // columns)
        elif ends:
            most = max(1, 1024 // slices)
        self.grid = min(groups, most), slices

    def parts(self, extent: Extent) -> int:
        """How many parts a value that is reduced over rows has."""
        return self.grid[0] * (1 if extent.columns else self.grid[1])
