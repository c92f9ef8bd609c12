"""Vectors of a loop, with Python's operators, and functions of them, written in LLVM's words.

Arithmetic, comparisons and square roots are rounded as NumPy rounds them, one by one. Elementary
functions are within four units in the last place, infinite and NaN where the exact ones are; their
series are those of `elementary`.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, log, nan, sqrt
from typing import Any

from backends.numpy_backend.kernels.compiled import elementary

BITS = {"bool": 1, "int32": 32, "int64": 64, "float32": 32, "float64": 64}
"""The dtypes that lanes can have."""


def kind_of(dtype: str) -> Any:
    """LLVM's type of a lane."""
    from llvmlite import ir

    if dtype.startswith("float"):
        return ir.FloatType() if dtype == "float32" else ir.DoubleType()
    return ir.IntType(BITS[dtype])


class Vector:
    """Lanes of one dtype."""

    def __init__(self, e: Any, value: Any, dtype: str) -> None:
        self.e = e
        self.value = value
        self.dtype = dtype

    @property
    def lanes(self) -> int:
        """Number of lanes."""
        return int(self.value.type.count)

    @property
    def real(self) -> bool:
        """Whether lanes are real numbers."""
        return self.dtype.startswith("float")

    @property
    def double(self) -> bool:
        """Whether lanes have 64 bits."""
        return BITS[self.dtype] == 64

    def like(self, value: Any) -> Vector:
        """A vector of the same dtype."""
        return Vector(self.e, value, self.dtype)

    def full(self, number: Any) -> Vector:
        """A vector of one number."""
        return constant(self.e, number, self.dtype, self.lanes)

    def of(self, other: Any) -> Vector:
        """Another vector, or a number in all lanes."""
        return other if isinstance(other, Vector) else self.full(other)

    def _with(self, real: str, whole: str, other: Any, *first: str) -> Any:
        name = real if self.real else whole
        return getattr(self.e.builder, name)(*first, self.value, self.of(other).value)

    def __add__(self, other: Any) -> Vector:
        return self.like(self._with("fadd", "add", other))

    def __sub__(self, other: Any) -> Vector:
        return self.like(self._with("fsub", "sub", other))

    def __mul__(self, other: Any) -> Vector:
        return self.like(self._with("fmul", "mul", other))

    def __truediv__(self, other: Any) -> Vector:
        return self.like(self._with("fdiv", "sdiv", other))

    def __neg__(self) -> Vector:
        builder = self.e.builder
        return self.like(builder.fneg(self.value) if self.real else builder.neg(self.value))

    def __and__(self, other: Any) -> Vector:
        return self.like(self.e.builder.and_(self.value, self.of(other).value))

    def __or__(self, other: Any) -> Vector:
        return self.like(self.e.builder.or_(self.value, self.of(other).value))

    def __xor__(self, other: Any) -> Vector:
        return self.like(self.e.builder.xor(self.value, self.of(other).value))

    def __invert__(self) -> Vector:
        return self.like(self.e.builder.not_(self.value))

    def shifted(self, bits: int) -> Vector:
        """Whole numbers with their bits so far to the left, or for less than 0 to the right."""
        move = self.e.builder.shl if bits >= 0 else self.e.builder.lshr
        return self.like(move(self.value, self.full(abs(bits)).value))

    def compared(self, sign: str, other: Any) -> Vector:
        """Where a comparison holds; with NaN only "!=" does."""
        builder, other = self.e.builder, self.of(other).value
        if self.real:
            compare = builder.fcmp_unordered if sign == "!=" else builder.fcmp_ordered
        else:
            compare = builder.icmp_unsigned if self.dtype == "bool" else builder.icmp_signed
        return Vector(self.e, compare(sign, self.value, other), "bool")

    def __lt__(self, other: Any) -> Vector:
        return self.compared("<", other)

    def __gt__(self, other: Any) -> Vector:
        return self.compared(">", other)

    def is_nan(self) -> Vector:
        """Where it is no number."""
        return self.compared("!=", self)

    def where(self, yes: Any, no: Any) -> Vector:
        """`yes` where it holds, else `no`; one of them is a vector."""
        like: Vector = yes if isinstance(yes, Vector) else no
        chosen = self.e.builder.select(self.value, like.of(yes).value, like.of(no).value)
        return like.like(chosen)

    def cast(self, dtype: str) -> Vector:
        """The numbers in another dtype."""
        if dtype == self.dtype:
            return self
        if dtype == "bool":
            return self.compared("!=", 0)
        from llvmlite import ir

        kind, builder = ir.VectorType(kind_of(dtype), self.lanes), self.e.builder
        wider = BITS[dtype] > BITS[self.dtype]
        if self.real and dtype.startswith("float"):
            change = builder.fpext if wider else builder.fptrunc
        elif self.real:
            change = builder.fptosi
        elif dtype.startswith("float"):
            change = builder.uitofp if self.dtype == "bool" else builder.sitofp
        elif self.dtype == "bool":
            change = builder.zext
        else:
            change = builder.sext if wider else builder.trunc
        return Vector(self.e, change(self.value, kind), dtype)

    def bits(self) -> Vector:
        """The bits of real numbers as whole ones, and the other way round."""
        from llvmlite import ir

        size = BITS[self.dtype]
        dtype = f"int{size}" if self.real else f"float{size}"
        kind = ir.VectorType(kind_of(dtype), self.lanes)
        return Vector(self.e, self.e.builder.bitcast(self.value, kind), dtype)

    def called(self, name: str, *others: Vector) -> Vector:
        """What LLVM's own function of this name gives for real numbers."""
        from llvmlite import ir

        kind = self.value.type
        name = f"llvm.{name}.v{self.lanes}f{BITS[self.dtype]}"
        arguments = [self.value, *[other.value for other in others]]
        signature = ir.FunctionType(kind, [kind] * len(arguments))
        return self.like(self.e._declared(name, signature, arguments))

    def times_plus(self, other: Any, more: Any) -> Vector:
        """A product and a sum, rounded once where the processor can."""
        return self.called("fmuladd", self.of(other), self.of(more))

    def widened(self, lanes: int) -> Vector:
        """The one lane in so many."""
        if lanes == self.lanes:
            return self
        from llvmlite import ir

        undefined = ir.Constant(self.value.type, ir.Undefined)
        return self.like(self.e.shuffle(self.value, undefined, [0] * lanes))

    def halves(self) -> tuple[Vector, Vector]:
        """The lower lanes and the upper ones."""
        half = self.lanes // 2
        low = self.e.shuffle(self.value, self.value, list(range(half)))
        high = self.e.shuffle(self.value, self.value, list(range(half, 2 * half)))
        return self.like(low), self.like(high)


def constant(e: Any, number: Any, dtype: str, lanes: int) -> Vector:
    """A number that stands in the loop, in all lanes."""
    from llvmlite import ir

    kind = kind_of(dtype)
    value = float(number) if dtype.startswith("float") else int(number)
    return Vector(e, ir.Constant(ir.VectorType(kind, lanes), [value] * lanes), dtype)


# ---------------------------------------------------------------------- NumPy's arithmetic


def larger(a: Vector, b: Vector) -> Vector:
    """The larger of two numbers; NaN if one of them is."""
    kept = a.compared(">=", b)
    return (kept | a.is_nan()).where(a, b) if a.real else kept.where(a, b)


def smaller(a: Vector, b: Vector) -> Vector:
    """The smaller of two numbers; NaN if one of them is."""
    kept = a.compared("<=", b)
    return (kept | a.is_nan()).where(a, b) if a.real else kept.where(a, b)


def absolute(x: Vector) -> Vector:
    """|x|."""
    return x.called("fabs") if x.real else (x < 0).where(-x, x)


def sign(x: Vector) -> Vector:
    """-1, 0 or 1; NaN of NaN."""
    return (x > 0).where(x.full(1), (x < 0).where(x.full(-1), x + 0 if x.real else x))


def finite(x: Vector) -> Vector:
    """Where it is neither infinite nor NaN."""
    return absolute(x).compared("<", inf)


# ---------------------------------------------------------------------- elementary functions


def _number(x: Vector, of: Any) -> Any:
    """A number, or numbers, of `elementary` for the dtype of a vector."""
    return of._values[x.double]


def _series(x: Vector, coefficients: Any) -> Vector:
    """A polynomial, the highest power first."""
    first, *others = _number(x, coefficients)
    p = x.full(first)
    for c in others:
        p = p.times_plus(x, x.full(c))
    return p


def _clipped(x: Vector, low: float, high: float) -> Vector:
    """The number within bounds; NaN stays."""
    x = (x < low).where(low, x)
    return (x > high).where(high, x)


def _whole(x: Vector) -> Vector:
    rounding = x.full(_number(x, elementary._ROUNDING))
    return (x + rounding) - rounding


def _power_of_two(n: Vector) -> Vector:
    mantissa = _number(n, elementary._MANTISSA)
    bias = n.full(_number(n, elementary._BIAS) + _number(n, elementary._ROUNDING))
    return (n + bias).bits().shifted(mantissa).bits()


def _reduced(x: Vector) -> tuple[Vector, Vector]:
    """N and exp(r) - 1 for x = n log(2) + r, |r| at most log(2) / 2."""
    n = _whole(x * _number(x, elementary._LOG2_E))
    r = n.times_plus(-_number(x, elementary._LN2_HIGH), x)
    r = n.times_plus(-_number(x, elementary._LN2_LOW), r)
    return n, _series(r, elementary._SERIES).times_plus(r * r, r)


def exp(x: Vector) -> Vector:
    """e^x."""
    x = _clipped(x, _number(x, elementary._LEAST), _number(x, elementary._GREATEST))
    n, small = _reduced(x)
    part = _whole(n * 0.5)  # 2^n may be no normal number where the result is one
    return (small + 1) * _power_of_two(part) * _power_of_two(n - part)


def expm1(x: Vector) -> Vector:
    """e^x - 1, exact to the last digits about 0 as well, which keeps its sign."""
    n, small = _reduced(_clipped(x, -60, 60))
    power = _power_of_two(n)
    near = small.times_plus(power, power - 1).called("copysign", x)
    return (x > 40).where(exp(x), near)


def tanh(x: Vector) -> Vector:
    """The hyperbolic tangent."""
    bound = _number(x, elementary._TANH_IS_ONE)
    x = _clipped(x, -bound, bound)
    n, small = _reduced(x + x)
    power = _power_of_two(n)
    e = small.times_plus(power, power - 1)
    return (e / (e + 2)).called("copysign", x)


def _artanh(s: Vector) -> Vector:
    """2 artanh(s) for |s| at most 1/3."""
    square = s * s
    fourth = square * square
    even, odd = (_number(s, part) for part in (elementary._EVEN, elementary._ODD))
    p, q = fourth.full(even[0]), fourth.full(odd[0])
    for c in even[1:]:
        p = p.times_plus(fourth, fourth.full(c))
    for c in odd[1:]:
        q = q.times_plus(fourth, fourth.full(c))
    return q.times_plus(square, p) * s


def _log(x: Vector, more: Vector | None = None) -> Vector:
    """log(x (1 + more)) of a normal number, `more` being tiny."""
    size = BITS[x.dtype]
    mantissa = _number(x, elementary._MANTISSA)
    one = x.full(1).bits()
    offset = one - x.full(sqrt(0.5)).bits()
    bits = x.bits() + offset
    exponent = bits.shifted(-mantissa) - int(_number(x, elementary._BIAS))
    part = (x.bits() - exponent.shifted(mantissa)).bits()  # from sqrt(1/2) to sqrt(2)
    n = exponent.cast(f"float{size}")
    s = (part - 1) / (part + 1)
    low = n * _number(x, elementary._LN2_LOW)
    if more is not None:
        low = low + more
    return n.times_plus(_number(x, elementary._LN2_HIGH), low + _artanh(s))


def _at_poles(x: Vector, found: Vector) -> Vector:
    found = x.compared("==", 0).where(-inf, found)
    found = x.compared("==", inf).where(inf, found)
    return (x.compared(">=", 0)).where(found, nan)


def logarithm(x: Vector) -> Vector:
    """log(x)."""
    tiny = 2.0**-1022 if x.double else 2.0**-126
    power = 54 if x.double else 25
    small = x < tiny
    found = _log(small.where(x * 2.0**power, x))
    return _at_poles(x, small.where(found - power * log(2), found))


def log1p(x: Vector) -> Vector:
    """log(1 + x), exact to the last digits about 0 as well."""
    u = x + 1
    near = absolute(x).compared("<", 0.4)
    lost = (x - (u - 1)) / u
    lost = absolute(x).compared("<", 2.0**60).where(lost, 0.0)
    far = _at_poles(u, _log(u, lost))
    return near.where(_artanh(x / (x + 2)), far)


Function = Callable[..., Vector]

FUNCTIONS: dict[str, Function] = {
    "add": lambda a, b: a | b if a.dtype == "bool" else a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a & b if a.dtype == "bool" else a * b,
    "truediv": lambda a, b: a / b,
    "neg": lambda a: -a,
    "pos": lambda a: a,
    "abs": absolute,
    "sign": sign,
    "square": lambda a: a * a,
    "reciprocal": lambda a: a.full(1) / a,
    "sqrt": lambda a: a.called("sqrt"),
    "maximum": lambda a, b: larger(b, a),  # of zeros NumPy takes the second one
    "minimum": lambda a, b: smaller(b, a),
    "lt": lambda a, b: a.compared("<", b),
    "le": lambda a, b: a.compared("<=", b),
    "gt": lambda a, b: a.compared(">", b),
    "ge": lambda a, b: a.compared(">=", b),
    "eq": lambda a, b: a.compared("==", b),
    "ne": lambda a, b: a.compared("!=", b),
    "and_": lambda a, b: a & b,
    "or_": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "invert": lambda a: ~a,
    "isnan": lambda a: a.is_nan(),
    "isfinite": finite,
    "where": lambda c, a, b: c.where(a, b),
    "clip": lambda a, low, high: smaller(larger(a, low), high),
    "exp": exp,
    "expm1": expm1,
    "log": logarithm,
    "log1p": log1p,
    "tanh": tanh,
    "same": lambda a: a,
}
"""What equations of a loop compute, by name."""

COSTLY = frozenset(["exp", "expm1", "log", "log1p", "tanh"])
"""Those that are rounded otherwise than NumPy's, and take long."""
