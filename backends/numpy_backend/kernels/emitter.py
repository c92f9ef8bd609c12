"""`emitted`: a function of loops that is written in LLVM's words, for what numba has none: vectors.

A processor has registers of some width and number, and a block of a product is fastest when its
sums fill them. They are those of the machine for which numba compiles, found when it does. What is
written this way also compiles in a fraction of the time, for no types have to be inferred.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, NamedTuple


class Registers(NamedTuple):
    """The vector registers of a processor."""

    bits: int
    number: int


def registers(features: str) -> Registers:
    """Those of a processor with LLVM's features.

    >>> registers("+sse2,+avx2,-avx512f"), registers("+avx2,+avx512f")
    (Registers(bits=256, number=16), Registers(bits=512, number=32))
    """
    has = features.split(",")
    if "+avx512f" in has:
        return Registers(512, 32)
    if "+avx" in has or "+avx2" in has:
        return Registers(256, 16)
    return Registers(128, 32 if "+neon" in has else 16)


class Number:
    """A whole number of the loop, with Python's operators; it is divided as one without a sign."""

    def __init__(self, builder: Any, value: Any) -> None:
        self.builder = builder
        self.value = value

    def _with(self, name: str, other: Any, *first: str) -> Number:
        value = getattr(self.builder, name)(*first, self.value, self._of(other))
        return Number(self.builder, value)

    def _of(self, other: Any) -> Any:
        from llvmlite import ir

        return other.value if isinstance(other, Number) else ir.Constant(ir.IntType(64), int(other))

    def __add__(self, other: Any) -> Number:
        return self._with("add", other)

    def __mul__(self, other: Any) -> Number:
        return self._with("mul", other)

    __radd__, __rmul__ = __add__, __mul__

    def __sub__(self, other: Any) -> Number:
        return self._with("sub", other)

    def __floordiv__(self, other: Any) -> Number:
        return self._with("udiv", other)

    def __mod__(self, other: Any) -> Number:
        return self._with("urem", other)

    def __and__(self, other: Any) -> Number:
        return self._with("and_", other)

    def __lt__(self, other: Any) -> Any:
        return self._with("icmp_signed", other, "<").value

    def __ge__(self, other: Any) -> Any:
        return self._with("icmp_signed", other, ">=").value

    def __le__(self, other: Any) -> Any:
        return self._with("icmp_signed", other, "<=").value

    def within(self, size: Any) -> Any:
        """Whether it is at least 0 and less than `size`."""
        return self.builder.icmp_unsigned("<", self.value, self._of(size))

    def is_not(self, other: Any) -> Any:
        """Whether they differ."""
        return self._with("icmp_signed", other, "!=").value

    def equals(self, other: Any) -> Any:
        """Whether they are the same."""
        return self._with("icmp_signed", other, "==").value

    def least(self, other: Any) -> Number:
        """The smaller of the two."""
        return Number(self.builder, self.builder.select(self < other, self.value, self._of(other)))


class Variable:
    """What holds one value after another; it becomes a register."""

    def __init__(self, builder: Any, value: Any) -> None:
        self.builder = builder
        self._whole = isinstance(value, Number)
        with builder.goto_entry_block():
            self._place = builder.alloca(value.value.type if self._whole else value.type)
        self.set(value)

    def get(self) -> Any:
        """What it holds."""
        value = self.builder.load(self._place)
        return Number(self.builder, value) if self._whole else value

    def set(self, value: Any) -> None:
        """Let it hold another value."""
        self.builder.store(value.value if self._whole else value, self._place)


class Emitter:
    """Writes instructions for reals of one dtype; arrays are pointers to their first element."""

    def __init__(self, builder: Any, real: Any, wide: Registers) -> None:
        self.builder = builder
        self.real = real
        self.wide = wide
        self.bytes = 4 if str(real) == "float" else 8
        self.lanes = wide.bits // (8 * self.bytes)

    # -- numbers and places --------------------------------------------------------------------

    def number(self, value: int) -> Number:
        """A constant."""
        from llvmlite import ir

        return Number(self.builder, ir.Constant(ir.IntType(64), value))

    def variable(self, value: Any) -> Variable:
        """What holds a value, then others."""
        return Variable(self.builder, value)

    def choose(self, condition: Any, yes: Any, no: Any) -> Number:
        """One of two numbers."""
        yes, no = (n if isinstance(n, Number) else self.number(n) for n in (yes, no))
        return Number(self.builder, self.builder.select(condition, yes.value, no.value))

    def both(self, a: Any, b: Any) -> Any:
        """Whether two conditions hold."""
        return self.builder.and_(a, b)

    def at(self, pointer: Any, offset: Any) -> Any:
        """The pointer to the element `offset` further on."""
        offset = offset if isinstance(offset, Number) else self.number(offset)
        return self.builder.gep(pointer, [offset.value])

    def aligned(self, pointer: Any, bytes: int = 64) -> Any:
        """The first place from a pointer on where a line of a cache begins."""
        from llvmlite import ir

        whole = ir.IntType(64)
        address = Number(self.builder, self.builder.ptrtoint(pointer, whole)) + (bytes - 1)
        return self.builder.inttoptr((address & -bytes).value, pointer.type)

    def pointer(self, address: Number) -> Any:
        """The pointer to a whole number at an address."""
        from llvmlite import ir

        return self.builder.inttoptr(address.value, ir.IntType(64).as_pointer())

    def numbers(self, pointer: Any, count: int) -> list[Number]:
        """The first `count` numbers of an array of them."""
        return [Number(self.builder, self.builder.load(self.at(pointer, i))) for i in range(count)]

    # -- between threads -----------------------------------------------------------------------

    def current(self, pointer: Any) -> Number:
        """A number that other threads write."""
        return Number(self.builder, self.builder.load_atomic(pointer, "seq_cst", 8))

    def publish(self, number: Number, pointer: Any) -> None:
        """Write a number that other threads read, after all that was written before."""
        self.builder.store_atomic(number.value, pointer, "seq_cst", 8)

    def replaced(self, pointer: Any, old: Number, new: Number) -> Any:
        """Put `new` where `old` is, and say whether it was."""
        pair = self.builder.cmpxchg(pointer, old.value, new.value, "seq_cst", "seq_cst")
        return self.builder.extract_value(pair, 1)

    def add_to(self, pointer: Any, value: int) -> Number:
        """Add to a number to which other threads add, and give what it was before."""
        added = self.number(value).value
        return Number(self.builder, self.builder.atomic_rmw("add", pointer, added, "seq_cst"))

    def pause(self) -> None:
        """Tell the processor that this thread waits for another one."""
        from llvmlite import ir

        machine = self.builder.module.triple.partition("-")[0]
        if machine in ("x86_64", "i686"):
            self._declared("llvm.x86.sse2.pause", ir.FunctionType(ir.VoidType(), []), [])
        elif machine in ("aarch64", "arm64"):
            number = ir.IntType(32)
            kind = ir.FunctionType(ir.VoidType(), [number])
            self._declared("llvm.aarch64.hint", kind, [ir.Constant(number, 1)])

    def _declared(self, name: str, kind: Any, arguments: list[Any]) -> Any:
        from llvmlite import ir

        known = self.builder.module.globals
        if name not in known:
            ir.Function(self.builder.module, kind, name)
        return self.builder.call(known[name], arguments)

    def call(self, address: Number, *arguments: Any) -> None:
        """Call the function at an address; what it returns is left alone."""
        from llvmlite import ir

        values = [a.value if isinstance(a, Number) else a for a in arguments]
        kind = ir.FunctionType(ir.VoidType(), [value.type for value in values])
        function = self.builder.inttoptr(address.value, kind.as_pointer())
        self.builder.call(function, values)

    # -- reals ---------------------------------------------------------------------------------

    def constant(self, value: float) -> Any:
        """A real."""
        from llvmlite import ir

        return ir.Constant(self.real, value)

    def read(self, pointer: Any) -> Any:
        """One real."""
        return self.builder.load(pointer)

    def write(self, value: Any, pointer: Any) -> None:
        """Put one real."""
        self.builder.store(value, pointer)

    def load(self, pointer: Any, lanes: int = 0, where: Any = None) -> Any:
        """A vector that lies anywhere; without `lanes` a full one.

        `where` is a condition for each lane: of the others nothing is read, they are zeros.
        """
        from llvmlite import ir

        kind = ir.VectorType(self.real, lanes or self.lanes)
        place = self.builder.bitcast(pointer, kind.as_pointer())
        if where is not None:
            return self.masked("load", kind, [place, self._align(), where, ir.Constant(kind, None)])
        value = self.builder.load(place)
        value.align = self.bytes
        return value

    def store(self, value: Any, pointer: Any, where: Any = None) -> None:
        """Put a vector anywhere, or those of its lanes for which a condition holds."""
        from llvmlite import ir

        place = self.builder.bitcast(pointer, value.type.as_pointer())
        if where is not None:
            self.masked("store", ir.VoidType(), [value, place, self._align(), where])
        else:
            self.builder.store(value, place).align = self.bytes

    def _align(self) -> Any:
        from llvmlite import ir

        return ir.Constant(ir.IntType(32), self.bytes)

    def masked(self, what: str, result: Any, arguments: list[Any]) -> Any:
        """LLVM's own access to those lanes of a vector for which a condition holds."""
        from llvmlite import ir

        vector = result if what == "load" else arguments[0].type
        text = f"{vector.element}".replace("float", "f32").replace("double", "f64")
        kind = f"v{vector.count}{text}"
        signature = ir.FunctionType(result, [argument.type for argument in arguments])
        return self._declared(f"llvm.masked.{what}.{kind}.p0{kind}", signature, arguments)

    def prefetch(self, pointer: Any, written: bool = False) -> None:
        """Tell the processor that this line of memory is read soon, or also written."""
        from llvmlite import ir

        number = ir.IntType(32)
        place = self.builder.bitcast(pointer, ir.IntType(8).as_pointer())
        kind = ir.FunctionType(ir.VoidType(), [place.type, number, number, number])
        how, nearest, data = (ir.Constant(number, n) for n in (int(written), 3, 1))
        self._declared("llvm.prefetch.p0i8", kind, [place, how, nearest, data])

    def broadcast(self, value: Any, lanes: int = 0) -> Any:
        """A vector of one value; without `lanes` a full one."""
        from llvmlite import ir

        lanes = lanes or self.lanes
        undefined = ir.Constant(ir.VectorType(value.type, lanes), ir.Undefined)
        one = self.builder.insert_element(undefined, value, ir.Constant(ir.IntType(32), 0))
        return self.shuffle(one, undefined, [0] * lanes)

    def shuffle(self, a: Any, b: Any, places: list[int]) -> Any:
        """The lanes of two vectors at `places`."""
        from llvmlite import ir

        mask = ir.Constant(ir.VectorType(ir.IntType(32), len(places)), places)
        return self.builder.shuffle_vector(a, b, mask)

    def transposed(self, lines: list[Any]) -> list[Any]:
        """As many vectors as they have lanes, turned: the first lane of each, the second, ..."""
        size = half = len(lines)
        in_turn = [place for lane in range(size) for place in (lane, size + lane)]
        while half > 1:
            half //= 2
            pairs = list(zip(lines[: size // 2], lines[size // 2 :], strict=True))
            lines = [
                self.shuffle(a, b, in_turn[start : start + size])
                for a, b in pairs
                for start in (0, size)
            ]
        return lines

    def lanes_from(self, first: Number) -> Any:
        """A condition for each lane of a full vector: whether it is `first` or a later one."""
        from llvmlite import ir

        kind = ir.VectorType(ir.IntType(64), self.lanes)
        numbers = ir.Constant(kind, list(range(self.lanes)))
        return self.builder.icmp_signed(">=", numbers, self.broadcast(first.value))

    def lanes_before(self, stop: Number) -> Any:
        """A condition for each lane of a full vector: whether it is one before `stop`."""
        return self.builder.not_(self.lanes_from(stop))

    def where(self, condition: Any, yes: Any, no: Any) -> Any:
        """The lanes of one vector where a condition holds, else those of another."""
        return self.builder.select(condition, yes, no)

    def fused(self, a: Any, b: Any, c: Any) -> Any:
        """`a * b + c` of vectors, rounded once where the processor can."""
        from llvmlite import ir

        name = f"llvm.fmuladd.v{a.type.count}f{8 * self.bytes}"
        return self._declared(name, ir.FunctionType(a.type, [a.type] * 3), [a, b, c])

    def sums(self, vectors: list[Any]) -> list[Any]:
        """The sum over the lanes of each of 2**n vectors."""
        from llvmlite import ir

        lanes = share = vectors[0].type.count
        while share > 1:
            # Each lane belongs to the sum of one vector, `share` lanes side by side to each. The
            # halves of all shares are added; two vectors become one as long as there are two.
            share //= 2
            lower = [i for i in range(lanes) if i // share % 2 == 0]
            upper = [i for i in range(lanes) if i // share % 2]
            if len(vectors) > 1:
                pairs = list(zip(vectors[::2], vectors[1::2], strict=True))
                lower, upper = ([*half, *[lanes + i for i in half]] for half in (lower, upper))
            else:
                pairs, lanes = [(vectors[0], vectors[0])], lanes // 2
            vectors = [
                self.builder.fadd(self.shuffle(a, b, lower), self.shuffle(a, b, upper))
                for a, b in pairs
            ]
        return [
            self.builder.extract_element(vector, ir.Constant(ir.IntType(32), i))
            for vector in vectors
            for i in range(lanes)
        ]

    def greatest(self, vector: Any) -> Any:
        """The greatest lane of one vector without NaN."""
        from llvmlite import ir

        lanes = vector.type.count
        while lanes > 1:
            lanes //= 2
            low, high = (
                self.shuffle(vector, vector, list(range(first, first + lanes)))
                for first in (0, lanes)
            )
            vector = self.where(self.builder.fcmp_ordered(">", high, low), high, low)
        return self.builder.extract_element(vector, ir.Constant(ir.IntType(32), 0))

    # -- loops and branches --------------------------------------------------------------------

    @contextmanager
    def loop(self, stop: Any, step: Any = 1, start: Any = 0) -> Iterator[Number]:
        """For each number from `start` to `stop`."""
        index = self.variable(start if isinstance(start, Number) else self.number(start))
        with self.repeat(lambda: index.get() < stop):
            i = index.get()
            yield i
            index.set(i + step)

    @contextmanager
    def repeat(self, condition: Callable[[], Any]) -> Iterator[None]:
        """As long as a condition holds."""
        test, body, after = (self.builder.append_basic_block() for _ in range(3))
        self.builder.branch(test)
        self.builder.position_at_end(test)
        self.builder.cbranch(condition(), body, after)
        self.builder.position_at_end(body)
        yield
        self.builder.branch(test)
        self.builder.position_at_end(after)

    @contextmanager
    def when(self, condition: Any) -> Iterator[None]:
        """If a condition holds."""
        with self.builder.if_then(condition):
            yield

    def whether(self, condition: Any) -> Any:
        """A context of two contexts: if a condition holds, and if not."""
        return self.builder.if_else(condition)


class Emitted:
    """A function that LLVM is given as it is, for the dtype of its first array.

    Loops call it with arrays, whole numbers and reals; others of its kind by `f(e, ...)`.
    """

    def __init__(self, emit: Callable[..., None]) -> None:
        self.emit = emit
        self.__doc__ = emit.__doc__
        self.native = cache(self._native)

    def __call__(self, e: Emitter, *args: Any) -> None:
        """Write a call."""
        whole = [e.number(a) if isinstance(a, int) else a for a in args]
        values = [a.value if isinstance(a, Number) else a for a in whole]
        e.builder.call(self._function(e.builder.module, e.real, e.wide, values), values)

    def _native(self, dtype: Any) -> Any:
        """What numba calls from loops for this dtype."""
        import numba
        from numba.core import types
        from numba.extending import intrinsic
        from numba.np.arrayobj import make_array

        real = numba.from_dtype(dtype)

        def typed(_: Any, *args: Any) -> Any:
            arrays = [isinstance(kind, types.Array) for kind in args]

            def written(context: Any, builder: Any, signature: Any, values: Any) -> Any:
                values = [
                    make_array(kind)(context, builder, value).data if array else value
                    for kind, value, array in zip(args, values, arrays, strict=True)
                ]
                wide = registers(context.codegen().magic_tuple()[2])
                lone = context.get_data_type(real)
                builder.call(self._function(builder.module, lone, wide, values), values)
                return context.get_dummy_value()

            kinds = [
                kind if array else real if isinstance(kind, types.Float) else types.intp
                for kind, array in zip(args, arrays, strict=True)
            ]
            return types.void(*kinds), written

        own = inspect.signature(self.emit)
        typed.__signature__ = own.replace(return_annotation=own.empty)  # type: ignore[attr-defined]
        typed.__name__ = typed.__qualname__ = self.emit.__name__
        return intrinsic(typed)

    def _function(self, module: Any, real: Any, wide: Registers, values: list[Any]) -> Any:
        """The function in a module; but for `overlapping` ones, its arrays never overlap."""
        from llvmlite import ir

        kind = ir.FunctionType(ir.VoidType(), [value.type for value in values])
        name = "".join(filter(str.isalnum, f"{self.emit.__name__}{real}{kind}"))
        if name not in module.globals:
            function = ir.Function(module, kind, name)
            function.linkage = "internal"
            function.attributes.add("nounwind")
            function.attributes.add("noinline")
            function.attributes.add("optsize")
            overlapping = getattr(self.emit, "overlapping", ())
            for i, argument in enumerate(function.args):
                if isinstance(argument.type, ir.PointerType) and i not in overlapping:
                    argument.add_attribute("noalias")
            builder = ir.IRBuilder(function.append_basic_block())
            whole = ir.IntType(64)
            self.emit(
                Emitter(builder, real, wide),
                *[Number(builder, a) if a.type == whole else a for a in function.args],
            )
            builder.ret_void()
        return module.globals[name]


def emitted(emit: Callable[..., None]) -> Any:
    """Declare `emit(emitter, *arguments)`, which writes instructions, as a function of loops."""
    return Emitted(emit)
