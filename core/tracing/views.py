"""What arrays show together: memories, and how a view is put back into the whole."""

from __future__ import annotations

from typing import Any
from weakref import ref

from core.arrays.backend import host
from core.graph.variable import as_array
from core.programs import Call, Value, names
from core.tracing import tape as tapes
from core.tracing.emission import emit


class Memory:
    """What an array and its views show: the present value of the whole.

    `kin` are the memories that may be one with this, or may not; `plain` says that the elements lie
    in order without gaps, and `spoiled` at which line of the user's one of the kin was changed.
    """

    __slots__ = ("__weakref__", "kin", "plain", "spoiled", "value", "version")

    def __init__(self, value: Value, plain: bool = False) -> None:
        self.value = value
        self.version = 0
        self.plain = plain
        self.spoiled = ""
        self.kin: list[ref[Memory]] | None = None

    def akin(self, other: Memory) -> None:
        """Note that it may be one with another memory."""
        mine, theirs = self.kin or [ref(self)], other.kin or [ref(other)]
        if mine is theirs:
            return
        joined = [known for known in (*mine, *theirs) if known() is not None]
        for known in joined:
            each = known()
            if each is not None:
                each.kin = joined

    def put(self, value: Value) -> None:
        """Replace the value: something was assigned."""
        self.value = value
        self.version += 1
        for known in self.kin or ():
            each = known()
            if each is not None and each is not self:
                each.spoiled = tapes.users_line()


def plain_index(index: Any) -> Any:
    """An index with Python's integers in the place of NumPy's, which give views as well.

    And with arrays in the place of Variables.
    """
    if isinstance(index, tuple):
        return tuple(map(_plain_part, index))
    return _plain_part(index)


def _plain_part(part: Any) -> Any:
    part = as_array(part)
    return int(part) if isinstance(part, host().xp.integer) else part


def is_basic(index: Any) -> bool:
    """Whether an index is made of integers, slices, None and the ellipsis: it gives a view."""
    parts = index if isinstance(index, tuple) else (index,)
    return all(
        [
            part is None
            or part is Ellipsis
            or (isinstance(part, (slice, int)) and not isinstance(part, bool))
            for part in parts
        ]
    )


def put_back(
    tape: tapes.Tape, call: Call, args: Any, kwargs: Any, around: Value, part: Value
) -> Value:
    """`around` with `part` where the view shows it."""
    name = call.name
    if name == "getitem":
        made = Value(around.shape, around.dtype)
        tape.record(Call("change", "set_item"), (around, args[0], part), {}, (made,))
        return made
    if name in names.FLIPS:
        return emit(tape, call, (part, *args), kwargs)  # type: ignore[no-any-return]
    xp = Call("xp", "reshape"), Call("xp", "permute_dims")
    if name in names.RESHAPED:
        return emit(tape, xp[0], (part, around.shape), {})  # type: ignore[no-any-return]
    marks = host().xp.empty(tuple(range(2, 2 + len(around.shape))), dtype="bool")
    order = [n - 2 for n in call.found(host())(marks, *args, **kwargs).shape]
    inverse = tuple([order.index(i) for i in range(len(order))])
    return emit(tape, xp[1], (part, inverse), {})  # type: ignore[no-any-return]
