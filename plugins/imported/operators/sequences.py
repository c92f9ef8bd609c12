"""Sequences of values, and values that may be missing."""

from __future__ import annotations

from typing import Any

import numpy as np

from core import functions as F
from plugins.imported.operators.common import Refused, ints, parts_of, plain, xp_of
from plugins.imported.operators.control import inner


def _place(sequence: list[Any], at: Any, more: int = 0) -> int:
    (i,) = ints(at)
    if not -len(sequence) - more <= i < len(sequence) + more:
        raise Refused(f"expected a place among {len(sequence)} values, got {i}")
    return i


@plain
def _insert(node: Any, sequence: Any, value: Any, at: Any = None) -> Any:
    i = len(sequence) if at is None else _place(sequence, at, 1)
    i = i + len(sequence) if i < 0 else i
    return [[*sequence[:i], value, *sequence[i:]]]


@plain
def _erase(node: Any, sequence: Any, at: Any = None) -> Any:
    gone = _place(sequence, at) % len(sequence) if at is not None else len(sequence) - 1
    return [[x for i, x in enumerate(sequence) if i != gone]]


def _length(run: Any, node: Any, values: Any, sequence: Any) -> Any:
    return run.constant(np.asarray(len(sequence), "int64"))


@plain
def _split(node: Any, x: Any, sizes: Any = None) -> Any:
    axis = node.get("axis", 0) % x.ndim
    n = x.shape[axis]
    each = [1] if sizes is None else ints(sizes)
    if min(each, default=0) < (1 if sizes is None or not sizes.ndim else 0):
        raise Refused(f"expected parts of at least 1, got {each}")
    if sizes is None or not sizes.ndim:
        each = [min(each[0], n - i) for i in range(0, n, each[0])]
    if sum(each) != n and sizes is not None:
        raise Refused(f"expected parts of {n} elements together, got {each}")
    parts = parts_of(x, axis, each)
    if sizes is None and not node.get("keepdims", 1):
        parts = [xp_of(part).squeeze(part, axis=axis) for part in parts]
    return [parts]


@plain
def _concat(node: Any, sequence: Any) -> Any:
    if not sequence:
        raise Refused("expected a sequence of at least one value, got an empty one")
    join = F.stack if node.get("new_axis", 0) else F.concat
    return join(sequence, axis=node.get("axis"))


def _map(run: Any, node: Any, values: Any, sequence: Any, *others: Any) -> Any:
    body, found = node.get("body"), []
    for i, x in enumerate(sequence):
        run.step()
        rest = [other[i] if isinstance(other, list) else other for other in others]
        found.append(inner(run, body, values, dict(zip(body.inputs, [x, *rest], strict=True))))
    return [[each[k] for each in found] for k in range(len(body.outputs))]


@plain
def _element(node: Any, value: Any) -> Any:
    if value is None:
        raise Refused("expected a value, got none")
    return [value]


def _has_element(run: Any, node: Any, values: Any, value: Any = None) -> Any:
    return run.constant(np.asarray(value is not None))


OPERATORS: dict[str, Any] = {
    "ConcatFromSequence": _concat,
    "Optional": plain(lambda node, value=None: [value]),
    "OptionalGetElement": _element,
    "OptionalHasElement": _has_element,
    "SequenceAt": plain(lambda node, sequence, at: [sequence[_place(sequence, at)]]),
    "SequenceConstruct": plain(lambda node, *values: [[*values]]),
    "SequenceEmpty": plain(lambda node: [[]]),
    "SequenceErase": _erase,
    "SequenceInsert": _insert,
    "SequenceLength": _length,
    "SequenceMap": _map,
    "SplitToSequence": _split,
}
