"""Groups of equations that one loop computes: what is elementwise, and reductions beside it.

Equations are taken in their order. Each joins the groups that its arguments come from, or one that
reads what it reads, if all of them go over one domain and nothing outside lies between them. The
domain is the shape of the largest values. It is seen as a table: some leading axes are its rows,
the others its columns. Which, follows from what is in the group: values that are the same in a
whole row or column, and reductions. So a group keeps all splits that are still possible.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

from core.programs.equation import Call, Equation, Value
from core.programs.fuser import Fuser
from core.programs.group import Extent, Group, reduced_axes
from core.programs.loops.masks import with_early_masks
from core.programs.loops.rectifying import with_rectifiers
from core.programs.loops.refining import refined
from core.programs.loops.stacking import stacked
from core.programs.recorded import Recorded

MOST = 24  # arrays that a loop reads and writes
SMALLER = 4  # times than all of a loop are arrays that are broadcast to its rows or columns
LONG = 256  # columns: for fewer a row takes longer to begin than what it has less to read
LARGE = 1 << 16  # elements: a sum of so many is taken in parts, so nothing in the loop waits for it


_Added = tuple[dict[Value, Extent], bool]


class _Draft:
    """A group that is being gathered. `splits` has the extents of its values for each split."""

    def __init__(self, domain: tuple[int, ...]) -> None:
        self.domain = domain
        self.equations: list[Equation] = []
        self.members: set[Value] = set()
        self.splits: dict[int, dict[Value, Extent]] = {s: {} for s in range(len(domain) + 1)}
        self.ends: dict[int, set[Value]] = {s: set() for s in range(len(domain) + 1)}

    @property
    def inputs(self) -> list[Value]:
        """What is read from outside."""
        read = [value for equation in self.equations for value in equation.inputs]
        return [value for value in dict.fromkeys(read) if value not in self.members]

    def sizes(self, split: int) -> tuple[int, int]:
        """Rows and columns."""
        return prod(self.domain[:split]), prod(self.domain[split:])

    # ------------------------------------------------------------------ extents

    def _extent(self, shape: tuple[int, ...], split: int) -> Extent | None:
        """The extent of an array that is broadcast to the domain; None where there is none."""
        whole = (1,) * (len(self.domain) - len(shape)) + shape
        extent = Extent(prod(whole[:split]) > 1, prod(whole[split:]) > 1)
        spread = self.spread(extent, split)
        if prod(spread) != prod(shape) and SMALLER * prod(spread) > prod(self.domain):
            return None
        return extent

    def spread(self, extent: Extent, split: int) -> tuple[int, ...]:
        """The shape of an array of an extent, which may be broadcast along some of its axes."""
        along = [extent.rows] * split + [extent.columns] * (len(self.domain) - split)
        return tuple([n if own else 1 for n, own in zip(self.domain, along, strict=True)])

    def _added(self, equation: Equation, part: str, split: int) -> _Added | None:
        """The extents that an equation adds, and whether it is an end; None if it does not fit."""
        if any([value in self.ends[split] for value in equation.inputs]):
            return None
        if part == "reduction":
            found = self._reduced(equation, split)
        elif part == "elementwise" and equation.outputs[0].shape == self.domain:
            found = self._broadcast(equation, split)
        else:
            found = self._of_rows(equation, part, split)
        known = self.splits[split]
        if found is None or any([known.get(v, extent) != extent for v, extent in found[0].items()]):
            return None
        return found

    def _broadcast(self, equation: Equation, split: int) -> _Added | None:
        """As `_added`, for an equation that gives an array of the domain."""
        extents = {}
        for value in (*equation.inputs, *equation.outputs):
            extent = self._extent(value.shape, split)
            if extent is None:
                return None
            extents[value] = extent
        return extents, False

    def _of_rows(self, equation: Equation, part: str, split: int) -> _Added | None:
        """As `_added`, for numbers of rows: computed of such that the group has, and of scalars."""
        (made,) = equation.outputs
        rows, columns = self.sizes(split)
        relabelled = part == "relabelled"
        if made.size != rows or (relabelled and columns == 1):  # a view of all that the loop gives
            return None
        arrays = [value for value in equation.inputs if value.size > 1]
        fit = all([v in self.members and (relabelled or v.shape == made.shape) for v in arrays])
        if not fit or self.members.isdisjoint(equation.inputs):
            return None
        return {v: Extent(v.size > 1, False) for v in (*equation.inputs, made)}, False

    def _reduced(self, equation: Equation, split: int) -> _Added | None:
        """As `_added`, for a reduction over all rows, all columns or both, or of rows' numbers."""
        (made,), x = equation.outputs, equation.args[0]
        rows, columns = self.sizes(split)
        long = {i for i, n in enumerate(x.shape) if n > 1}
        kept = long - reduced_axes(equation)
        if kept == long:
            return None
        if x.shape != self.domain:
            of_rows = x in self.members and self.splits[split][x] == Extent(True, False)
            return ({made: Extent(False, False)}, True) if of_rows and not kept else None
        leading = {i for i in long if i < split}
        sides = [(kept & leading, leading), (kept - leading, long - leading)]
        if columns == 1 or any([some and some != side for some, side in sides]):
            return None
        extent = Extent(*[bool(some) for some, _ in sides])
        end = extent.columns or (not extent.rows and (rows > 1 or columns >= LARGE))
        return {x: Extent(rows > 1, True), made: extent}, end

    # ------------------------------------------------------------------ growing

    def takes(self, equation: Equation, part: str) -> bool:
        """Take an equation, if it fits in."""
        found = {}
        for split in self.splits:
            added = self._added(equation, part, split)
            if added is not None:
                found[split] = added
        if not found:
            return False
        for split in list(self.splits):
            if split not in found:
                del self.splits[split]
                continue
            extents, end = found[split]
            self.splits[split].update(extents)
            if end:
                self.ends[split].update(equation.outputs)
        self.equations.append(equation)
        self.members.update(equation.outputs)
        return True

    def joined(self, other: _Draft, order: dict[Equation, int], parts: dict[Equation, str]) -> Any:
        """A group of the equations of both; None where there is none."""
        if self.domain != other.domain:
            return None
        made = _Draft(self.domain)
        for equation in sorted([*self.equations, *other.equations], key=order.__getitem__):
            if not made.takes(equation, parts[equation]):
                return None
        return made


class _Grouping:
    """Groups, and single equations, as nodes that depend on others; sets of nodes are integers."""

    def __init__(self, program: Recorded, fuser: Fuser, early: set[Value]) -> None:
        self.early = early  # values of which no group waits for what reads them
        self.order = {equation: i for i, equation in enumerate(program.equations)}
        self.parts = {
            equation: "" if _waits(equation) else fuser.part(equation)
            for equation in program.equations
        }
        self.drafts: dict[int, _Draft] = {}
        self.single: dict[int, Equation] = {}
        self.node: dict[Value, int] = {}  # which gives a value
        self.above: dict[int, int] = {}  # on which nodes a node depends, all the way
        self.readers: dict[Value, list[int]] = {}  # groups that read a value from outside
        self.count = 0
        self._checks: dict[Value, int] = {}  # what looks at a value before others read it
        self._acting: int | None = None
        self._barrier = 0  # what all that follows depends on
        for equation in program.equations:
            self._place(equation)

    def _place(self, equation: Equation) -> None:
        above = self._above_of(equation)
        part = self.parts[equation]
        if part:
            before = dict.fromkeys(self._before(equation))
            beside = [n for v in equation.inputs for n in self.readers.get(v, ())]
            for n in [*reversed(before), *beside[-2:]]:
                if n in self.drafts and self._join(n, equation, part, above):
                    return
        if getattr(equation.call.function, "keeps", False):  # it changes what was read before it
            for n, higher in self.above.items():
                above |= higher | 1 << n
            self._barrier = above | 1 << self.count + 1
        number = self._new(above)
        if part:
            x = equation.args[0] if part == "reduction" else equation.outputs[0]
            draft = _Draft(x.shape)
            if part != "relabelled" and draft.takes(equation, part):
                self.drafts[number] = draft
                self._note(number, equation)
                return
        self.single[number] = equation
        if equation.call.acts:
            self._acting = number
        if equation.call.name == "check_within":
            self._checks |= dict.fromkeys(equation.inputs, number)
        self._give(number, equation)

    def _before(self, equation: Equation) -> list[int]:
        """The nodes that an equation can join for what they give it."""
        return [self.node[v] for v in equation.inputs if v in self.node and v not in self.early]

    def _above_of(self, equation: Equation) -> int:
        found = self._barrier
        for value in equation.inputs:
            for nodes in (self.node, self._checks):
                if (n := nodes.get(value)) is not None:
                    found |= self.above[n] | 1 << n
        if equation.call.acts and self._acting is not None:
            found |= self.above[self._acting] | 1 << self._acting
        return found

    def _new(self, above: int) -> int:
        self.count += 1
        self.above[self.count] = above
        return self.count

    def _give(self, number: int, equation: Equation) -> None:
        for value in equation.outputs:
            self.node[value] = number

    def _note(self, number: int, equation: Equation) -> None:
        self._give(number, equation)
        for value in equation.inputs:
            if self.node.get(value) != number:
                self.readers.setdefault(value, []).append(number)

    def _through_others(self, n: int, above: int) -> bool:
        """Whether something between lies in `above` that depends on a node."""
        between = above & ~(self.above[n] | 1 << n) if above >> n & 1 else 0
        return any([self.above[m] >> n & 1 for m in _bits(between)])

    def _join(self, n: int, equation: Equation, part: str, above: int) -> bool:
        draft = self.drafts[n]
        if self._through_others(n, above):
            return False
        read = {*draft.inputs, *equation.inputs} - draft.members
        if len(read) > MOST or not draft.takes(equation, part):
            return False
        self._note(n, equation)
        self._depend(n, above & ~(1 << n))
        for other in self._before(equation):
            if other != n and other in self.drafts:
                self._merge(n, other)
        return True

    def _depend(self, n: int, above: int) -> None:
        """Let a node depend on others, and what depends on it."""
        self.above[n] |= above
        for m in self.above:
            if m != n and self.above[m] >> n & 1:
                self.above[m] |= self.above[n]

    def _merge(self, n: int, other: int) -> None:
        """Make one group of two, if nothing lies between them."""
        above = self.above[n] | self.above[other]
        if self._through_others(n, self.above[other]) or self._through_others(other, self.above[n]):
            return
        joined = self.drafts[n].joined(self.drafts[other], self.order, self.parts)
        if joined is None or len(joined.inputs) > MOST:
            return
        gone = self.drafts.pop(other)
        self.drafts[n] = joined
        for equation in gone.equations:
            self._note(n, equation)
        both = 1 << n | 1 << other
        del self.above[other]
        for m, found in self.above.items():
            if m != n and found & both:
                self.above[m] = found & ~both | 1 << n | above & ~both
        self.above[n] = above & ~both

    def in_order(self) -> Iterator[_Draft | Equation]:
        """All nodes, each after those on which it depends."""
        left = sorted(self.above, key=lambda n: self._first(n))
        done = 0
        while left:
            later = []
            for n in left:
                if self.above[n] & ~done:
                    later.append(n)
                    continue
                done |= 1 << n
                yield self.drafts[n] if n in self.drafts else self.single[n]
            if len(later) == len(left):
                raise RuntimeError("fused: groups of equations depend on each other in a circle.")
            left = later

    def _first(self, n: int) -> int:
        equations = self.drafts[n].equations if n in self.drafts else [self.single[n]]
        return max([self.order[equation] for equation in equations])


def _waits(equation: Equation) -> bool:
    """Whether the equation takes or gives a value that is no array yet."""
    return any([value.waits for value in (*equation.inputs, *equation.outputs)])


def _bits(numbers: int) -> Iterator[int]:
    while numbers:
        low = numbers & -numbers
        yield low.bit_length() - 1
        numbers ^= low


def fused(program: Recorded, fuser: Fuser) -> tuple[Equation, ...]:
    """The equations of a program, of which groups have become one each."""
    wanted = {*program.outputs, *[value for _, value in program.changes]}
    found: list[Equation] = []
    program = with_rectifiers(program.changed(equations=stacked(program)))
    program, early = with_early_masks(refined(program, fuser), fuser)
    readers: dict[Value, set[Equation]] = {}
    for equation in program.equations:
        for value in equation.inputs:
            readers.setdefault(value, set()).add(equation)
    for node in _Grouping(program, fuser, early).in_order():
        if isinstance(node, Equation):
            found.append(node)
        else:
            found += _made(node, fuser, wanted, readers)
    return tuple(found)


def _made(
    draft: _Draft, fuser: Fuser, wanted: set[Value], readers: dict[Value, set[Equation]]
) -> list[Equation]:
    """The equation of a group, or the equations as they were where no loop is worth while."""
    inside = set(draft.equations)
    made = [value for equation in draft.equations for value in equation.outputs]
    outputs = tuple([v for v in made if v in wanted or readers.get(v, inside) - inside])
    split = _split(draft)
    rows, columns = draft.sizes(split)
    ends = frozenset(draft.ends[split])
    before, read_as = _spread(draft, split)
    inputs = tuple([read_as.get(value, value) for value in draft.inputs])
    equations = [e.with_values(lambda value: read_as.get(value, value)) for e in draft.equations]
    extents = {read_as.get(value, value): extent for value, extent in draft.splits[split].items()}
    group = Group(tuple(equations), inputs, outputs, rows, columns, extents, ends)
    run = fuser.made(group)
    if run is None:
        return draft.equations
    group.run = run
    call = Call("kernel", "loop", None, group)
    return [*before, Equation(call, inputs, {}, outputs, True, draft.equations[-1].origin)]


def _split(draft: _Draft) -> int:
    """The split of the longest columns, one for which nothing is broadcast before if there is."""
    inputs, domain = draft.inputs, draft.domain
    for split in sorted(draft.splits):
        spread = [prod(draft.spread(draft.splits[split][v], split)) > v.size for v in inputs]
        if prod(domain[split:]) >= LONG and not any(spread):
            return split
    return min(draft.splits)


def _spread(draft: _Draft, split: int) -> tuple[list[Equation], dict[Value, Value]]:
    """Equations that broadcast inputs to whole rows or columns, and which value replaces which.

    Needed by an input that differs along some axes of the rows (or columns) only, as an array of
    channels beside images does.
    """
    found, read_as = [], {}
    for value in draft.inputs:
        extent = draft.splits[split][value]
        shape = draft.spread(extent, split)
        if prod(shape) != value.size:
            read_as[value] = Value(shape, value.dtype)
            call, args = Call("xp", "broadcast_to"), (value, shape)
            origin = draft.equations[-1].origin
            found.append(Equation(call, args, {}, (read_as[value],), False, origin))
    return found, read_as
