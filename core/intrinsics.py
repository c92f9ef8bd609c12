"""The few operations behind the operators: the smallest set that is closed under its own backward.

Plugins re-export them (`F.matmul`, `F.sum`, ...), so there is one operation of each meaning. The
functions at the end take the arguments of the array standard and fill `standard`, the part of the
differentiable namespace that the core brings itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from core.domain import Domain, anything, boolean, choice, number, real
from core.domain import axes as axes_setting
from core.function_node import Elementwise, FunctionNode
from core.type_check import expect, expect_broadcast_shapes
from core.variable import Variable, as_array, as_variable, is_array, wrap

Axis = int | tuple[int, ...] | None


def axes_of(axis: Axis, ndim: int) -> tuple[int, ...]:
    """The axes that `axis` (a number, several, or None for all) names, counted from the front."""
    if axis is None:
        return tuple(range(ndim))
    return tuple([a % ndim for a in ((axis,) if isinstance(axis, int) else axis)])


# ---------------------------------------------------------------------- arithmetic with numbers


class AddConstant(Elementwise):
    """x + c."""

    value: float
    domain = Domain("()->()", x=anything(), settings={"value": number(-3, 3)})

    def compute(self, xp, x):
        return x + self.value

    def gradient(self, xp, g):
        return g


class SubtractConstant(Elementwise):
    """x - c."""

    value: float
    domain = Domain("()->()", x=anything(0, 3), settings={"value": number(-3, 0)})

    def compute(self, xp, x):
        return x - self.value

    def gradient(self, xp, g):
        return g


class SubtractFromConstant(Elementwise):
    """c - x."""

    value: float
    domain = Domain("()->()", x=anything(0, 2), settings={"value": number(2, 5)})

    def compute(self, xp, x):
        return self.value - x

    def gradient(self, xp, g):
        return -g


class MultiplyConstant(Elementwise):
    """c x."""

    value: float
    domain = Domain("()->()", x=anything(), settings={"value": number(-3, 3)})

    def compute(self, xp, x):
        return x * self.value

    def gradient(self, xp, g):
        return g * self.value


class DivideConstant(Elementwise):
    """x / c."""

    value: float
    domain = Domain("()->()", x=real(-3, 3), settings={"value": number(0.5, 3)})

    def compute(self, xp, x):
        return x / self.value

    def gradient(self, xp, g):
        return g / self.value


class DivideFromConstant(Elementwise):
    """c / x, whose derivative is -c / x^2."""

    value: float
    domain = Domain("()->()", x=real(0.5, 3), settings={"value": number(-3, 3)})

    def compute(self, xp, x):
        return self.value / x

    def gradient(self, xp, g, x):
        return -(g * self.value) / (x * x)


class PowerConstant(Elementwise):
    """x^c, whose derivative is c x^(c-1)."""

    value: float
    domain = Domain("()->()", x=real(0.3, 3), settings={"value": choice(0, 1, 2, 3, 0.5, -1, -1.5)})

    def compute(self, xp, x):
        return x * x if self.value == 2 else x**self.value

    def gradient(self, xp, g, x):
        c = self.value
        if c == 2:
            return g * x * 2.0
        return g * 0.0 if c == 0 else g * (x ** (c - 1) * float(c))


class ConstantPower(Elementwise):
    """c^x, whose derivative is c^x log(c)."""

    value: float
    domain = Domain("()->()", x=real(-2, 2), settings={"value": number(0.5, 3)})

    def compute(self, xp, x):
        return self.value**x

    def gradient(self, xp, g, out):
        return g * out * _log(self.value)


def _log(value: float) -> float:
    from math import log

    return log(value) if value > 0 else float("-inf" if value == 0 else "nan")


# ---------------------------------------------------------------------- arithmetic of two arrays


class Add(Elementwise):
    """x + y."""

    with_scalar = AddConstant
    domain = Domain("(),()->()", x=anything(), y=anything())

    def compute(self, xp, x, y):
        return x + y

    def gradient_x(self, xp, g):
        return g

    def gradient_y(self, xp, g):
        return g


class Subtract(Elementwise):
    """x - y."""

    with_scalar = SubtractConstant
    domain = Domain("(),()->()", x=anything(2, 4), y=anything(0, 2))

    def compute(self, xp, x, y):
        return x - y

    def gradient_x(self, xp, g):
        return g

    def gradient_y(self, xp, g):
        return -g


class Multiply(Elementwise):
    """x y."""

    with_scalar = MultiplyConstant
    domain = Domain("(),()->()", x=anything(), y=anything())

    def compute(self, xp, x, y):
        return x * y

    def gradient_x(self, xp, g, y):
        return g * y

    def gradient_y(self, xp, g, x):
        return g * x


class Divide(Elementwise):
    """x / y, whose derivatives are 1 / y and -x / y^2."""

    with_scalar = DivideConstant
    domain = Domain("(),()->()", x=real(-3, 3), y=real(0.5, 3))

    def compute(self, xp, x, y):
        return x / y

    def gradient_x(self, xp, g, y):
        return g / y

    def gradient_y(self, xp, g, y, out):
        return -(g * out) / y


class FloorDivide(Elementwise):
    """The greatest whole number not above x / y; it has no derivative worth the name."""

    domain = Domain("(),()->()", x=anything(0, 9), y=anything(1, 3))

    def compute(self, xp, x, y):
        return x // y


class Power(Elementwise):
    """x^y, whose derivatives are y x^(y-1) and x^y log(x); at x = 0 the latter is taken as 0."""

    with_scalar = PowerConstant
    domain = Domain("(),()->()", x=real(0.3, 3), y=real(-2, 2))

    def compute(self, xp, x, y):
        return x**y

    def gradient_x(self, xp, g, x, y):
        return g * y * x ** (y - 1.0)

    def gradient_y(self, xp, g, x, out):
        logarithm = xp.log(xp.where(x == 0, xp.ones_like(x), x))
        return g * out * logarithm


class Negative(Elementwise):
    """-x."""

    domain = Domain("()->()", x=anything(-3, 3))

    def compute(self, xp, x):
        return -x

    def gradient(self, xp, g):
        return -g


class Sign(Elementwise):
    """-1, 0 or 1 by the sign of x; its derivative is 0 wherever it has one."""

    domain = Domain("()->()", x=real(-3, 3), kinks=(0,))

    def compute(self, xp, x):
        return xp.sign(x)

    def gradient(self, xp, g):
        return g * 0.0


class Absolute(Elementwise):
    """|x|, whose derivative is the sign of x, taken as 0 at 0."""

    domain = Domain("()->()", x=real(-3, 3), kinks=(0,))

    def compute(self, xp, x):
        return xp.abs(x)

    def gradient(self, xp, g, x):
        return g * xp.sign(x)


class Log(Elementwise):
    """The natural logarithm, whose derivative is 1 / x."""

    domain = Domain("()->()", x=real(0.2, 4))

    def compute(self, xp, x):
        return xp.log(x)

    def gradient(self, xp, g, x):
        return g / x


class Where(Elementwise):
    """x where the condition holds, else y."""

    domain = Domain("(),(),()->()", condition=boolean(), x=anything(), y=anything())

    def compute(self, xp, condition, x, y):
        return xp.where(condition, x, y)

    def gradient_x(self, xp, g, condition):
        return xp.where(condition, g, xp.zeros_like(g))

    def gradient_y(self, xp, g, condition):
        return xp.where(condition, xp.zeros_like(g), g)


# ---------------------------------------------------------------------- comparisons


class _Comparison(Elementwise):
    """An elementwise comparison: truth values, without gradient."""

    keeps_dtype = False
    domain = Domain("(),()->()", x=anything(), y=anything())


class Equal(_Comparison):
    """x == y."""

    def compute(self, xp, x, y):
        return x == y


class NotEqual(_Comparison):
    """x != y."""

    def compute(self, xp, x, y):
        return x != y


class Less(_Comparison):
    """x < y."""

    def compute(self, xp, x, y):
        return x < y


class LessEqual(_Comparison):
    """x <= y."""

    def compute(self, xp, x, y):
        return x <= y


class Greater(_Comparison):
    """x > y."""

    def compute(self, xp, x, y):
        return x > y


class GreaterEqual(_Comparison):
    """x >= y."""

    def compute(self, xp, x, y):
        return x >= y


# ---------------------------------------------------------------------- shapes


class Reshape(FunctionNode):
    """The same elements in another shape, read in row-major order."""

    shape: tuple[int, ...]
    domain = Domain(
        "(...)->(...b)",
        x=anything(),
        settings={"shape": choice(lambda shapes: _reshapings(shapes["x"]))},
    )

    def check_type_forward(self, in_types):
        known = [n for n in self.shape if n >= 0]
        size = 1
        for n in known:
            size *= n
        if len(known) == len(self.shape):
            expect(in_types[0].size == size)
        else:
            expect(size > 0, in_types[0].size % max(size, 1) == 0)

    def compute(self, xp, x):
        return xp.reshape(x, self.shape)

    def gradient(self, xp, g):
        return xp.reshape(g, self.inputs[0].shape)


def _reshapings(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    size = 1
    for n in shape:
        size *= n
    return [(size,), (1, size), (-1, 1) if size else (size, 1)]


class Transpose(FunctionNode):
    """The axes in another order: axis i of the result is axis `axes[i]` of x; None reverses."""

    axes: tuple[int, ...] | None = None
    domain = Domain("(...)->(...b)", x=anything(), settings={"axes": axes_setting("x", permutation=True, none=True)})

    def check_type_forward(self, in_types):
        if self.axes is not None:
            ndim = len(self.axes)
            expect(in_types[0].ndim == ndim)
            if sorted([a % max(ndim, 1) for a in self.axes]) != list(range(ndim)):
                raise ValueError(f"Transpose: {self.axes} is no permutation of {ndim} axes")

    def order(self, ndim: int) -> tuple[int, ...]:
        """The permutation, counted from the front."""
        if self.axes is None:
            return tuple(range(ndim - 1, -1, -1))
        return tuple([a % ndim for a in self.axes])

    def compute(self, xp, x):
        return xp.permute_dims(x, self.order(x.ndim))

    def gradient(self, xp, g):
        order = self.order(g.ndim)
        inverse = sorted(range(len(order)), key=order.__getitem__)
        return xp.permute_dims(g, tuple(inverse))


class BroadcastTo(FunctionNode):
    """x repeated along new axes and along those of length 1, up to a shape."""

    shape: tuple[int, ...]
    domain = Domain(
        "(...)->(...b)",
        x=anything(),
        settings={"shape": choice(lambda shapes: _enlarged(shapes["x"]))},
    )

    def check_type_forward(self, in_types):
        expect(in_types[0].ndim <= len(self.shape))
        expect_broadcast_shapes(in_types[0].shape, self.shape)

    def compute(self, xp, x):
        return xp.broadcast_to(x, self.shape)

    def gradient(self, xp, g):
        return SumTo(self.inputs[0].shape).evaluate(g)


class SumTo(FunctionNode):
    """x summed over the axes along which a shape was repeated: the adjoint of broadcasting."""

    shape: tuple[int, ...]
    wide = True
    domain = Domain(
        "(...)->(...b)",
        x=real(-3, 3),
        settings={"shape": choice(lambda shapes: _reduced(shapes["x"]))},
    )

    def compute(self, xp, x):
        lead = x.ndim - len(self.shape)
        axes = [
            i
            for i in range(x.ndim)
            if i < lead or (self.shape[i - lead] == 1 and x.shape[i] != 1)
        ]
        if axes:
            x = xp.sum(x, axis=tuple(axes), keepdims=True)
        return xp.reshape(x, self.shape)

    def gradient(self, xp, g):
        lead = len(self.inputs[0].shape) - len(self.shape)
        return xp.broadcast_to(xp.reshape(g, (1,) * lead + self.shape), self.inputs[0].shape)


class Sum(FunctionNode):
    """The sum over some axes; 16-bit floats are summed in float32."""

    axis: Axis = None
    keepdims: bool = False
    wide = True
    domain = Domain(
        "(...)->(...b)",
        x=anything(),
        settings={"axis": axes_setting("x", many=True, none=True), "keepdims": choice(False, True)},
    )

    def check_type_forward(self, in_types):
        check_axes(self.axis, in_types[0])

    def compute(self, xp, x):
        return xp.sum(x, axis=self.axis, dtype=x.dtype, keepdims=self.keepdims)

    def gradient(self, xp, g):
        shape = self.inputs[0].shape
        if not self.keepdims and g.ndim:
            kept = set(axes_of(self.axis, len(shape)))
            g = xp.reshape(g, tuple([1 if i in kept else n for i, n in enumerate(shape)]))
        return xp.broadcast_to(g, shape)


def check_axes(axis: Axis, in_type: Any) -> None:
    """Refuse axes that an input of this type does not have, or has twice."""
    if axis is None:
        return
    named = (axis,) if isinstance(axis, int) else axis
    for a in named:
        if a >= 0:
            expect(a < in_type.ndim)
        else:
            expect(-a <= in_type.ndim)


def _enlarged(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    widened = tuple([3 if n == 1 else n for n in shape])
    return [shape, widened, (2, *widened)]


def _reduced(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    return [shape, shape[1:], tuple([1 for _ in shape]), shape[:1] and (1, *shape[1:])]


# ---------------------------------------------------------------------- products


class MatMul(FunctionNode):
    """The matrix product over the last two axes; leading axes broadcast."""

    wide = True
    domain = Domain("(...,n,k),(...,k,m)->(...,n,m)", a=real(-2, 2), b=real(-2, 2))

    def compute(self, xp, a, b):
        return xp.matmul(a, b)

    def gradient_a(self, xp, g, b):
        return _summed(xp.matmul(g, xp.matrix_transpose(b)), self.inputs[0].shape)

    def gradient_b(self, xp, g, a):
        return _summed(xp.matmul(xp.matrix_transpose(a), g), self.inputs[1].shape)


def _summed(g: Any, shape: tuple[int, ...]) -> Any:
    return g if g.shape == shape else SumTo(shape).evaluate(g)


# ---------------------------------------------------------------------- indexing


class GetItem(FunctionNode):
    """x[slices], with NumPy's indexing: numbers, slices, None, ..., and arrays of integers or truth."""

    slices: Any
    domain = Domain(
        "(...)->(...b)",
        x=anything(),
        settings={"slices": choice(lambda shapes: _slicings(shapes["x"]))},
    )

    def compute(self, xp, x):
        return x[self.slices]

    def gradient(self, xp, g):
        return ScatterAdd(self.slices, self.inputs[0].shape).evaluate(g)


class ScatterAdd(FunctionNode):
    """Zeros of a shape with x added where an index says, as often as it says: GetItem's adjoint."""

    slices: Any
    shape: tuple[int, ...]

    def compute(self, xp, x):
        full = xp.zeros(self.shape, dtype=x.dtype, device=x.device)
        self.backend.scatter_add(full, self.slices, x)
        return full

    def gradient(self, xp, g):
        return GetItem(self.slices).evaluate(g)


def _slicings(shape: tuple[int, ...]) -> list[Any]:
    if not shape or 0 in shape:
        return [...]
    return [..., 0, slice(None, None, 2), (None, ...), (slice(1), ...)]


# ---------------------------------------------------------------------- dtypes


class Cast(FunctionNode):
    """x in another dtype; the gradient is cast back."""

    typ: Any
    domain = Domain("(...)->(...)", x=anything(), settings={"typ": choice("float32", "float64")})

    def compute(self, xp, x):
        return xp.astype(x, self.backend.dtype(self.typ))

    def gradient(self, xp, g):
        return xp.astype(g, self.inputs[0].dtype)


# ---------------------------------------------------------------------- the standard's functions


def getitem(x: Any, slices: Any) -> Variable:
    """x[slices]; indices that are Variables are taken as their arrays."""
    if isinstance(slices, tuple):
        slices = tuple([as_array(s) for s in slices])
    return GetItem.call(x, as_array(slices))


def matmul(a: Any, b: Any) -> Variable:
    """The matrix product, vectors being rows on the left and columns on the right."""
    a, b = as_variable(a), as_variable(b)
    if a.ndim > 1 and b.ndim > 1:
        return MatMul.call(a, b)
    rows = reshape(a, (1, *a.shape)) if a.ndim == 1 else a
    columns = reshape(b, (*b.shape, 1)) if b.ndim == 1 else b
    y = MatMul.call(rows, columns)
    shape = [n for i, n in enumerate(y.shape) if not (
        (b.ndim == 1 and i == y.ndim - 1) or (a.ndim == 1 and i == y.ndim - 2)
    )]
    return reshape(y, tuple(shape))


def reshape(x: Any, shape: Any, *, copy: bool | None = None) -> Variable:
    """x in another shape; one entry may be -1."""
    shape = (int(shape),) if hasattr(shape, "__index__") else tuple([int(n) for n in shape])
    return Reshape.call(x, shape)


def transpose(x: Any, axes: tuple[int, ...] | None = None) -> Variable:
    """x with permuted axes; None reverses them."""
    axes = None if axes is None else tuple([int(a) for a in axes])
    return Transpose.call(x, axes)


def matrix_transpose(x: Any) -> Variable:
    """x with its last two axes swapped."""
    ndim = as_variable(x).ndim
    return transpose(x, (*range(ndim - 2), ndim - 1, ndim - 2))


def broadcast_to(x: Any, shape: Any) -> Variable:
    """x repeated up to a shape."""
    shape = tuple([int(n) for n in shape])
    x = as_variable(x)
    return x if x.shape == shape else BroadcastTo.call(x, shape)


def sum(x: Any, *, axis: Axis = None, dtype: Any = None, keepdims: bool = False) -> Variable:
    """The sum over axes, in the dtype of x unless another is given."""
    x = x if dtype is None else astype(x, dtype)
    return Sum.call(x, axis, keepdims)


def astype(x: Any, dtype: Any, *, copy: bool = True, device: Any = None) -> Variable:
    """x in another dtype; itself if it has that one."""
    x = as_variable(x)
    if x.dtype == x.backend.dtype(dtype):
        return x
    return Cast.call(x, dtype)


def where(condition: Any, x: Any, y: Any) -> Variable:
    """x where the condition holds, else y."""
    return Where.call(condition, x, y)


def _made_like(name: str) -> Callable[..., Variable]:
    def like(x: Any, **options: Any) -> Variable:
        x = as_variable(x)
        return wrap(getattr(x.xp, name)(x.array, **options))

    like.__name__ = name
    like.__doc__ = f"The namespace's `{name}` of the array of x: a Variable without gradient."
    return like


def power(x: Any, y: Any) -> Variable:
    """x^y."""
    return Power.call(x, y)


standard: dict[str, Any] = {
    "add": Add.call,
    "subtract": Subtract.call,
    "multiply": Multiply.call,
    "divide": Divide.call,
    "floor_divide": FloorDivide.call,
    "pow": power,
    "negative": Negative.call,
    "positive": as_variable,
    "abs": Absolute.call,
    "sign": Sign.call,
    "log": Log.call,
    "where": where,
    "equal": Equal.call,
    "not_equal": NotEqual.call,
    "less": Less.call,
    "less_equal": LessEqual.call,
    "greater": Greater.call,
    "greater_equal": GreaterEqual.call,
    "reshape": reshape,
    "permute_dims": transpose,
    "matrix_transpose": matrix_transpose,
    "broadcast_to": broadcast_to,
    "sum": sum,
    "matmul": matmul,
    "astype": astype,
    "zeros_like": _made_like("zeros_like"),
    "ones_like": _made_like("ones_like"),
}


# ---------------------------------------------------------------------- operators


def _reflected(operation: Any, with_constant: Any) -> Callable[[Variable, Any], Variable]:
    """The operator for a Variable on the right: of a number, or of an array."""
    from core.dispatch import is_number, plain

    def reflected(self: Variable, other: Any) -> Variable:
        if is_number(other):
            return with_constant(self, plain(other))
        if not isinstance(other, Variable) and not is_array(other):
            return NotImplemented
        return operation(other, self)

    return reflected


def _install() -> None:
    """Give Variable its operators: the specialised calls themselves, without a frame between."""
    v: Any = Variable
    v.__add__, v.__radd__ = Add.call, _reflected(Add.call, AddConstant.call)
    v.__sub__ = Subtract.call
    v.__rsub__ = _reflected(Subtract.call, SubtractFromConstant.call)
    v.__mul__, v.__rmul__ = Multiply.call, _reflected(Multiply.call, MultiplyConstant.call)
    v.__truediv__ = Divide.call
    v.__rtruediv__ = _reflected(Divide.call, DivideFromConstant.call)
    v.__floordiv__ = FloorDivide.call
    v.__rfloordiv__ = lambda self, other: FloorDivide.call(other, self)
    v.__pow__, v.__rpow__ = Power.call, _reflected(Power.call, ConstantPower.call)
    v.__matmul__, v.__rmatmul__ = matmul, lambda self, other: matmul(other, self)
    v.__neg__, v.__abs__ = Negative.call, Absolute.call
    v.__pos__ = lambda self: self
    v.__getitem__ = getitem
    for name, operation in (
        ("eq", Equal),
        ("ne", NotEqual),
        ("lt", Less),
        ("le", LessEqual),
        ("gt", Greater),
        ("ge", GreaterEqual),
    ):
        setattr(v, f"__{name}__", _comparison(operation))


def _comparison(operation: Any) -> Callable[[Variable, Any], Any]:
    from core.dispatch import is_number

    def compare(self: Variable, other: Any) -> Any:
        if not isinstance(other, Variable) and not is_number(other) and not is_array(other):
            return NotImplemented  # such as None: then by identity
        return operation.call(self, other)

    return compare


_install()
