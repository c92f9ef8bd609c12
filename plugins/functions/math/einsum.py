"""Sums of products over labelled axes."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from string import ascii_letters
from typing import Any, NamedTuple

from core import Domain, FunctionNode, Variable, as_variable, choice, real
from core.errors import InvalidType
from core.errors.kinds import ARRAY, kind_of, refusal
from plugins.functions.array.axis_order import transpose
from plugins.functions.array.diagonal import diagonal
from plugins.functions.math.subscripts import parse
from plugins.functions.math.sum import Sum

_TEXT = kind_of("str")
_LABELS = kind_of("tuple[int, ...]")


class EinSum(FunctionNode):
    """The sums of products of two operands in which no label comes twice and no axis broadcasts.

    An operand's gradient is the same kind of sum: of g and the other operand, over the labels of
    that operand; along a label that only this operand has, it is repeated.
    """

    subscripts: str
    wide = True
    domain = Domain(
        "(...s),(...t)->(...u)",
        a=real(-2, 2),
        b=real(-2, 2),
        settings={"subscripts": choice(lambda shapes: _choices(**shapes))},
    )

    def compute(self, xp, a, b):
        plan = _plan(self.subscripts)
        left, right = plan.left.matrix(xp, a), plan.right.matrix(xp, b)
        product = xp.matmul(left, right) if plan.inner else left * right
        sizes = {**plan.right.sizes(b.shape), **plan.left.sizes(a.shape)}
        return _ordered(xp, xp.reshape(product, tuple([sizes[c] for c in plan.labels])), plan.order)

    def gradient_a(self, xp, g, b):
        one, other, output = _read(self.subscripts)
        return _toward(xp, g, b, (output, other, one), self.input_shape(0))

    def gradient_b(self, xp, g, a):
        one, other, output = _read(self.subscripts)
        return _toward(xp, g, a, (output, one, other), self.input_shape(1))


def _read(subscripts: str) -> tuple[str, str, str]:
    left, _, output = subscripts.partition("->")
    one, _, other = left.partition(",")
    return one, other, output


class _Factor(NamedTuple):
    """How an operand becomes a stack of matrices."""

    labels: str
    gone: tuple[int, ...]  # axes that nobody else has, which are summed over
    order: tuple[int, ...]
    groups: tuple[str, str, str]

    def matrix(self, xp: Any, x: Any) -> Any:
        """The sum over axes that are gone, with each group of labels made one axis."""
        sizes = self.sizes(x.shape)
        if self.gone:
            x = xp.sum(x, axis=self.gone, dtype=x.dtype)
        shape = tuple([prod([sizes[c] for c in group]) for group in self.groups])
        return xp.reshape(_ordered(xp, x, self.order), shape)

    def sizes(self, shape: tuple[int, ...]) -> dict[str, int]:
        """Label -> how long its axis is."""
        return dict(zip(self.labels, shape, strict=True))


class _Plan(NamedTuple):
    """Both operands, whether they have labels in common that are gone, and the product's axes."""

    left: _Factor
    right: _Factor
    inner: str
    labels: str
    order: tuple[int, ...]


@lru_cache(256)
def _plan(subscripts: str) -> _Plan:
    one, other, output = _read(subscripts)
    batch = "".join([c for c in one if c in other and c in output])
    inner = "".join([c for c in one if c in other and c not in output])
    rows = "".join([c for c in one if c not in other and c in output])
    columns = "".join([c for c in other if c not in one and c in output])
    labels = batch + rows + columns
    return _Plan(
        _factor(one, (batch, rows, inner)),
        _factor(other, (batch, inner, columns)),
        inner,
        labels,
        _order(labels, output),
    )


def _factor(labels: str, groups: tuple[str, str, str]) -> _Factor:
    needed = "".join(groups)
    kept = "".join([c for c in labels if c in needed])
    gone = tuple([i for i, c in enumerate(labels) if c not in needed])
    return _Factor(labels, gone, _order(kept, needed), groups)


def _order(labels: str, wanted: str) -> tuple[int, ...]:
    return tuple([labels.index(c) for c in wanted])


def _ordered(xp: Any, x: Any, order: tuple[int, ...]) -> Any:
    """The array with its axes in this order, itself if it has them so."""
    return x if order == tuple(range(len(order))) else xp.permute_dims(x, order)


def _toward(xp: Any, g: Any, x: Any, labels: tuple[str, str, str], shape: tuple[int, ...]) -> Any:
    """The gradient of the operand with the last labels, from g and the other one with theirs."""
    output, theirs, own = labels
    known = "".join([c for c in own if c in output or c in theirs])
    found = EinSum(f"{output},{theirs}->{known}").evaluate(g, x)
    kept = tuple([n if c in known else 1 for c, n in zip(own, shape, strict=True)])
    return xp.broadcast_to(xp.reshape(found, kept), shape)


def _choices(a: tuple[int, ...], b: tuple[int, ...]) -> list[str]:
    """Subscripts that share labels where sizes allow: contracted, elementwise, outer, summed."""
    one, other = ascii_letters[: len(a)], ""
    for i, n in enumerate(b):
        fits = [c for c, m in zip(one, a, strict=True) if m == n and c not in other]
        other += fits[-1] if fits else ascii_letters[10 + i]
    free = "".join([c for c in one + other if (c in one) != (c in other)])
    every = "".join(dict.fromkeys(other + one))
    outputs = dict.fromkeys([free, every, every[::-1], every[1:], ""])
    return [f"{one},{other}->{output}" for output in outputs]


def einsum(*operands: Any) -> Variable:
    """Sum products of arrays as a string in Einstein's notation says.

    `einsum("ij,jk->ik", a, b)` is the matrix product. A label that comes twice in one operand means
    the diagonal; an ellipsis stands for axes that broadcast; without an arrow the result has the
    labels that come once, in alphabetical order. Labels may also be given as lists of numbers,
    behind each operand, and those of the result at the end: `einsum(a, [0, 1], b, [1, 2], [0, 2])`.

    Args:
        *operands: The text and the arrays or Variables, floating and of one dtype; or arrays and
            lists in turn. Floats of 16 bits are summed in float32.

    Returns:
        The dtype of the operands.

    Raises:
        InvalidType: An operand has another number of axes than labels, a label stands for two
            sizes, or dtypes do not fit.
        ValueError: The text is not well-formed.

    >>> import core.functions as F, numpy as np
    >>> a = np.array([[1, 2], [3, 4]], "f")
    >>> F.einsum("ij,kj->ik", a, a)
    variable([[ 5., 11.],
              [11., 25.]], dtype=float32)
    >>> F.einsum(a, [0, 0], [0])
    variable([1., 4.], dtype=float32)
    """
    if not operands:
        raise ValueError("einsum: expected subscripts and at least one operand, got nothing")
    text, arrays = operands[0], operands[1:]
    if not isinstance(text, str):
        if not ARRAY.takes(text):
            raise refusal(_TEXT | ARRAY, "einsum", "operands[0]", text)
        text, arrays = _from_lists(operands)
    for x in arrays:
        if not ARRAY.takes(x):
            raise refusal(ARRAY, "einsum", "each operand", x)
    xs = [as_variable(x) for x in arrays]
    return _contracted(text, xs)


def _from_lists(operands: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    """The text for operands and lists of labels in turn."""
    pairs = len(operands) // 2
    text = ",".join([_letters(operands[2 * i + 1]) for i in range(pairs)])
    if len(operands) % 2:
        text += "->" + _letters(operands[-1])
    return text, operands[: 2 * pairs : 2]


def _letters(labels: Any) -> str:
    if not isinstance(labels, (list, tuple)):
        raise refusal(_LABELS, "einsum", "labels", labels)
    return "".join(["..." if label is Ellipsis else ascii_letters[label] for label in labels])


def _contracted(text: str, xs: list[Variable]) -> Variable:
    inputs, output = _parsed(text, tuple([x.ndim for x in xs]))
    sizes = _sizes(inputs, xs)
    operands = [_plain(labels, x) for labels, x in zip(inputs, xs, strict=True)]
    labels, y = operands[0]
    for i, (theirs, x) in enumerate(operands[1:], 2):
        later = output + "".join([more for more, _ in operands[i:]])
        kept = "".join([c for c in dict.fromkeys(labels + theirs) if c in later])
        if i == len(operands):
            kept = "".join([c for c in output if c in kept])
        y = EinSum.call(y, x, subscripts=f"{labels},{theirs}->{kept}")
        labels = kept
    # A label that every operand has with length 1 was dropped everywhere.
    y, shape = _arranged(labels, y, output), tuple([sizes[c] for c in output])
    return y if y.shape == shape and y is not xs[0] else y.reshape(shape)


@lru_cache(256)
def _parsed(text: str, ranks: tuple[int, ...]) -> tuple[list[str], str]:
    """The labels of operands of so many axes, and of the result."""
    parts = text.replace(" ", "").partition("->")[0].split(",")
    for i, (part, ndim) in enumerate(zip(parts, ranks, strict=False)):
        count = len(part.replace("...", ""))
        if ndim < count or (ndim > count and "..." not in part):
            raise _refused(f"operands[{i}].ndim fits {part!r}", str(ndim))
    return parse(text, list(ranks))


def _arranged(labels: str, x: Variable, output: str) -> Variable:
    """What a single operand gives: the sum over labels that the output lacks, in its order."""
    kept = [c for c in output if c in labels]
    gone = tuple([i for i, c in enumerate(labels) if c not in kept])
    if gone:
        x, labels = Sum.call(x, gone), "".join([c for c in labels if c in kept])
    order = tuple([labels.index(c) for c in kept])
    return x if order == tuple(range(len(order))) else transpose(x, order)


def _sizes(inputs: list[str], xs: list[Variable]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for labels, x in zip(inputs, xs, strict=True):
        for label, n in zip(labels, x.shape, strict=True):
            if sizes.setdefault(label, n) == 1:
                sizes[label] = n
            elif n not in (1, sizes[label]):
                raise _refused(f"one size for label {label!r}", f"{sizes[label]} and {n}")
    return sizes


def _plain(labels: str, x: Variable) -> tuple[str, Variable]:
    """An operand without axes of length 1, each of its labels once."""
    if 1 in x.shape:
        axes = [i for i, n in enumerate(x.shape) if n != 1]
        labels = "".join([labels[i] for i in axes])
        x = x.reshape(tuple([x.shape[i] for i in axes]))
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            x = diagonal(x, axis1=first, axis2=second)
            labels = labels[:first] + labels[first + 1 : second] + labels[second + 1 :] + label
    return labels, x


def _refused(expect: str, actual: str) -> InvalidType:
    return InvalidType(expect, actual, operation="einsum")
