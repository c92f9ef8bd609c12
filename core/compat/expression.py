"""Conditions on input types as objects that know both their value and their text.

A type check that fails is run once more on these, so that the error can quote the failed condition.
Nothing here is built while checks pass.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from typing import Any

from core.errors import InvalidType

# How tightly each form binds, as in Python: decides where the text needs brackets.
_COMPARE, _SUM, _PRODUCT, _SIGN, _POWER, _ATOM = range(6)


class Expr:
    """A piece of a condition. Whatever is done to it, a call included, gives a larger piece.

    In a place that needs a plain value (`if`, `range`, `len`, a loop) it is evaluated.
    """

    __slots__ = ("_priority",)
    __array_ufunc__ = None  # NumPy scalars on the left leave the operator to us
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, priority: int) -> None:
        self._priority = priority

    def eval(self) -> Any:
        """The value."""
        raise NotImplementedError(f"{type(self).__name__} does not define eval()")

    def __getattr__(self, name: str) -> GetAttr:
        if name.startswith("_"):  # protocols of Python and NumPy probe for these
            raise AttributeError(name)
        return GetAttr(self, name)

    def __getitem__(self, key: Any) -> GetItem:
        return GetItem(self, key)

    def __call__(self, *args: Any) -> Call:
        """The call of this piece with `args`."""
        return Call(self, args)

    def __iter__(self) -> Iterator[Expr]:
        return (self[i] for i in range(len(self)))

    def __len__(self) -> int:
        return len(self.eval())

    def __bool__(self) -> bool:
        return bool(self.eval())

    def __index__(self) -> int:
        return operator.index(self.eval())

    def __abs__(self) -> Expr:
        return Call(Variable(abs, "abs"), (self,))

    def __neg__(self) -> Expr:
        return UnaryOperator(_SIGN, self, "-", operator.neg)

    def __add__(self, other: Any) -> Expr:
        return BinaryOperator(_SUM, self, other, "+", operator.add)

    def __radd__(self, other: Any) -> Expr:
        return BinaryOperator(_SUM, other, self, "+", operator.add)

    def __sub__(self, other: Any) -> Expr:
        return BinaryOperator(_SUM, self, other, "-", operator.sub)

    def __rsub__(self, other: Any) -> Expr:
        return BinaryOperator(_SUM, other, self, "-", operator.sub)

    def __mul__(self, other: Any) -> Expr:
        return BinaryOperator(_PRODUCT, self, other, "*", operator.mul)

    def __rmul__(self, other: Any) -> Expr:
        return BinaryOperator(_PRODUCT, other, self, "*", operator.mul)

    def __matmul__(self, other: Any) -> Expr:
        return BinaryOperator(_PRODUCT, self, other, "@", operator.matmul)

    def __rmatmul__(self, other: Any) -> Expr:
        return BinaryOperator(_PRODUCT, other, self, "@", operator.matmul)

    def __truediv__(self, other: Any) -> Expr:
        return BinaryOperator(_PRODUCT, self, other, "/", operator.truediv)

    def __rtruediv__(self, other: Any) -> Expr:
        return BinaryOperator(_PRODUCT, other, self, "/", operator.truediv)

    def __floordiv__(self, other: Any) -> Expr:
        return BinaryOperator(_PRODUCT, self, other, "//", operator.floordiv)

    def __rfloordiv__(self, other: Any) -> Expr:
        return BinaryOperator(_PRODUCT, other, self, "//", operator.floordiv)

    def __mod__(self, other: Any) -> Expr:
        return BinaryOperator(_PRODUCT, self, other, "%", operator.mod)

    def __rmod__(self, other: Any) -> Expr:
        return BinaryOperator(_PRODUCT, other, self, "%", operator.mod)

    def __pow__(self, other: Any) -> Expr:
        return BinaryOperator(_POWER, self, other, "**", operator.pow, True)

    def __rpow__(self, other: Any) -> Expr:
        return BinaryOperator(_POWER, other, self, "**", operator.pow, True)

    def __eq__(self, other: object) -> BoolBinaryOperator:  # type: ignore[override]
        return BoolBinaryOperator(self, other, "==", "!=", operator.eq)

    def __ne__(self, other: object) -> BoolBinaryOperator:  # type: ignore[override]
        return BoolBinaryOperator(self, other, "!=", "==", operator.ne)

    def __lt__(self, other: Any) -> BoolBinaryOperator:
        return BoolBinaryOperator(self, other, "<", ">=", operator.lt)

    def __le__(self, other: Any) -> BoolBinaryOperator:
        return BoolBinaryOperator(self, other, "<=", ">", operator.le)

    def __gt__(self, other: Any) -> BoolBinaryOperator:
        return BoolBinaryOperator(self, other, ">", "<=", operator.gt)

    def __ge__(self, other: Any) -> BoolBinaryOperator:
        return BoolBinaryOperator(self, other, ">=", "<", operator.ge)


class Atom(Expr):
    """An expression that never needs brackets."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(_ATOM)


class Constant(Atom):
    """A plain value that stands in a condition."""

    __slots__ = ("_value",)

    def __init__(self, value: Any) -> None:
        super().__init__()
        self._value = value

    def eval(self) -> Any:
        """The value."""
        return self._value

    def __str__(self) -> str:
        return text(self._value)


class Variable(Atom):
    """A value with a name, by which the error text calls it."""

    __slots__ = ("_name", "_value")

    def __init__(self, value: Any, name: str) -> None:
        super().__init__()
        self._value = value
        self._name = name

    def eval(self) -> Any:
        """The value."""
        return self._value

    def __str__(self) -> str:
        return self._name


class GetAttr(Atom):
    """`obj.name`."""

    __slots__ = ("_name", "_obj")

    def __init__(self, obj: Any, name: str) -> None:
        super().__init__()
        self._obj = wrap(obj)
        self._name = name

    def eval(self) -> Any:
        """The attribute of the object's value."""
        return getattr(self._obj.eval(), value(self._name))

    def __str__(self) -> str:
        return f"{_inner(self._obj, _ATOM)}.{self._name}"


class GetItem(Atom):
    """`obj[key]`; the key may be a slice, a tuple, or hold expressions."""

    __slots__ = ("_key", "_obj")

    def __init__(self, obj: Any, key: Any) -> None:
        super().__init__()
        self._obj = wrap(obj)
        self._key = key

    def eval(self) -> Any:
        """The item of the object's value."""
        return self._obj.eval()[_key_value(self._key)]

    def __str__(self) -> str:
        return f"{_inner(self._obj, _ATOM)}[{_key_text(self._key)}]"


class Call(Atom):
    """`obj(*args)`."""

    __slots__ = ("_args", "_obj")

    def __init__(self, obj: Any, args: tuple[Any, ...]) -> None:
        super().__init__()
        self._obj = wrap(obj)
        self._args = tuple(map(wrap, args))

    def eval(self) -> Any:
        """The result of the call."""
        return self._obj.eval()(*(arg.eval() for arg in self._args))

    def __str__(self) -> str:
        return f"{_inner(self._obj, _ATOM)}({', '.join(map(str, self._args))})"


class UnaryOperator(Expr):
    """`-term` and similar expressions."""

    __slots__ = ("_exp", "_func", "_term")

    def __init__(self, priority: int, term: Any, exp: str, func: Callable[[Any], Any]) -> None:
        super().__init__(priority)
        self._term = wrap(term)
        self._exp = exp
        self._func = func

    def eval(self) -> Any:
        """The operator applied to the term's value."""
        return self._func(self._term.eval())

    def __str__(self) -> str:
        return self._exp + _inner(self._term, self._priority)


class BinaryOperator(Expr):
    """`lhs exp rhs`, with as few brackets as Python needs."""

    __slots__ = ("_exp", "_func", "_lhs", "_rhs", "_right")

    def __init__(
        self,
        priority: int,
        lhs: Any,
        rhs: Any,
        exp: str,
        func: Callable[[Any, Any], Any],
        right_associative: bool = False,
    ) -> None:
        super().__init__(priority)
        self._lhs = wrap(lhs)
        self._rhs = wrap(rhs)
        self._exp = exp
        self._func = func
        self._right = right_associative

    def eval(self) -> Any:
        """The operator applied to both values."""
        return self._func(self._lhs.eval(), self._rhs.eval())

    def __str__(self) -> str:
        left = _inner(self._lhs, self._priority + self._right)
        right = _inner(self._rhs, self._priority + (not self._right))
        return f"{left} {self._exp} {right}"


class Testable:
    """Something that `expect` can be asked of."""

    __slots__ = ()
    __test__ = False  # pytest: not a class of tests

    def expect(self) -> None:
        """Raise `InvalidType` unless it holds."""
        raise NotImplementedError(f"{type(self).__name__} does not define expect()")


class BoolBinaryOperator(BinaryOperator, Testable):
    """A comparison; `inv` is the operator that holds where it fails."""

    __slots__ = ("_inv",)

    def __init__(
        self, lhs: Any, rhs: Any, exp: str, inv: str, func: Callable[[Any, Any], bool]
    ) -> None:
        super().__init__(_COMPARE, lhs, rhs, exp, func)
        self._inv = inv

    def expect(self) -> None:
        """Raise `InvalidType` with this condition, and with the two values, unless it holds."""
        try:
            left, right = self._lhs.eval(), self._rhs.eval()
            holds = self._func(left, right)
        except (ArithmeticError, AttributeError, LookupError, TypeError) as error:
            raise InvalidType(str(self), f"{type(error).__name__}: {error}") from error
        if not holds:
            raise InvalidType(str(self), f"{text(left)} {self._inv} {text(right)}")

    def __str__(self) -> str:
        # comparisons chain in Python: one inside another needs brackets on either side
        left, right = _inner(self._lhs, _SUM), _inner(self._rhs, _SUM)
        return f"{left} {self._exp} {right}"


def wrap(item: Any) -> Expr:
    """`item` as an expression."""
    return item if isinstance(item, Expr) else Constant(item)


def value(item: Any) -> Any:
    """The value of an expression, or of a tuple or list that holds some; others as they are."""
    if isinstance(item, Expr):
        return item.eval()
    return type(item)(map(value, item)) if type(item) in (tuple, list) else item


def text(item: Any) -> str:
    """How an error text shows a value: dtypes and classes by their names."""
    if isinstance(item, Expr):
        return str(item)
    if isinstance(item, type):
        return item.__name__
    name = getattr(item, "name", None)
    return name if isinstance(name, str) and hasattr(item, "kind") else repr(item)


def prod(xs: Any) -> Any:
    """The product of the values in `xs`, 1 of none."""
    return math.prod(map(value, xs))


def _inner(item: Expr, priority: int) -> str:
    return str(item) if item._priority >= priority else f"({item})"


def _key_value(key: Any) -> Any:
    if isinstance(key, slice):
        return slice(value(key.start), value(key.stop), value(key.step))
    return tuple(map(_key_value, key)) if isinstance(key, tuple) else value(key)


def _key_text(key: Any) -> str:
    if isinstance(key, tuple):
        return ", ".join(map(_key_text, key)) + ("," if len(key) == 1 else "")
    if not isinstance(key, slice):
        return "..." if key is Ellipsis else text(key)
    bounds = ["" if bound is None else text(bound) for bound in (key.start, key.stop)]
    return ":".join(bounds if key.step is None else [*bounds, text(key.step)])
