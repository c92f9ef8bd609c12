"""Sums of products over labelled axes."""

from __future__ import annotations

from math import prod
from string import ascii_letters
from typing import Any

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
        one, other, output = _read(self.subscripts)
        a, one = _summed(xp, a, one, other + output)
        b, other = _summed(xp, b, other, one + output)
        sizes = {**dict(zip(one, a.shape, strict=True)), **dict(zip(other, b.shape, strict=True))}
        batch = "".join([c for c in one if c in other and c in output])
        inner = "".join([c for c in one if c in other and c not in output])
        rows = "".join([c for c in one if c not in other])
        columns = "".join([c for c in other if c not in one])
        left = _grouped(xp, a, one, (batch, rows, inner), sizes)
        right = _grouped(xp, b, other, (batch, inner, columns), sizes)
        product = xp.matmul(left, right) if inner else left * right
        labels = batch + rows + columns
        product = xp.reshape(product, tuple([sizes[c] for c in labels]))
        return xp.permute_dims(product, tuple([labels.index(c) for c in output]))

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


def _summed(xp: Any, x: Any, labels: str, needed: str) -> tuple[Any, str]:
    """The sum over the labels that nobody needs, and those that remain."""
    kept = "".join([c for c in labels if c in needed])
    gone = tuple([i for i, c in enumerate(labels) if c not in needed])
    return (xp.sum(x, axis=gone, dtype=x.dtype) if gone else x), kept


def _grouped(
    xp: Any, x: Any, labels: str, groups: tuple[str, str, str], sizes: dict[str, int]
) -> Any:
    """The operand with its axes in the order of the groups, each group made one axis."""
    x = xp.permute_dims(x, tuple([labels.index(c) for c in "".join(groups)]))
    return xp.reshape(x, tuple([prod([sizes[c] for c in group]) for group in groups]))


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
    _check_ranks(text, xs)
    inputs, output = parse(text, [x.ndim for x in xs])
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
    return _arranged(labels, y, output).reshape(tuple([sizes[c] for c in output]))


def _check_ranks(text: str, xs: list[Variable]) -> None:
    parts = text.replace(" ", "").partition("->")[0].split(",")
    for i, (part, x) in enumerate(zip(parts, xs, strict=False)):
        count = len(part.replace("...", ""))
        if x.ndim < count or (x.ndim > count and "..." not in part):
            raise _refused(f"operands[{i}].ndim fits {part!r}", str(x.ndim))


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
