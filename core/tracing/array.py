"""Arrays without elements: shape, dtype and device, and a place on the tape.

Several of them may show one memory, as views do in NumPy: an assignment to one is seen in the
others. Where NumPy itself decides by the layout whether memory is shared (`reshape`), who reads
after such an assignment is refused.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from core.arrays.backend import host
from core.errors import UntracedAttribute
from core.programs import Call, Shaped, Value, is_ufunc, mapped, names, place_of_out
from core.registry.configuration import current_state
from core.tracing import tape as tapes
from core.tracing.emission import emit, shaped
from core.tracing.operators import Operators, is_operand
from core.tracing.views import Memory, is_basic, plain_index, put_back


class TracedArray(Operators):
    """An array of a trace; nothing is known of its elements."""

    __slots__ = (
        "__weakref__",
        "_memory",
        "_steps",
        "_tape",
        "_value",
        "_version",
    )
    __array_priority__ = 1000
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, tape: tapes.Tape, value: Value, memory: Memory | None = None) -> None:
        value = tape.same.get(value, value)
        self._tape = tape
        self._memory = memory or Memory(value)
        self._steps: tuple[Any, ...] = ()
        self._value = value
        self._version = self._memory.version

    # ------------------------------------------------------------------ what is known

    def _refuse_to_set(self, _: Any) -> None:
        raise self._tape.refusal(
            "an array is given another shape or dtype in place, which cannot be traced. Write "
            "y = x.reshape(...), or leave this part out of the trace"
        )

    shape: Any = property(operator.attrgetter("_value.shape"), _refuse_to_set)
    dtype: Any = property(operator.attrgetter("_value.dtype"), _refuse_to_set)

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        """What `isinstance` asks for: the class of the arrays that it stands for."""
        return self._tape.backend.array_type

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return self._value.size

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return int(self.dtype.itemsize)

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self._value.nbytes

    @property
    def device(self) -> Any:
        """Where its library's functions would make such an array."""
        return self._tape.backend.native_device()

    @property
    def base(self) -> Any:
        """What tells apart whose memory it is: None, for it is nobody else's."""
        return None

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of an array without dimensions")
        return int(self.shape[0])

    def __iter__(self) -> Iterator[TracedArray]:
        return iter([self[i] for i in range(len(self))])

    def __repr__(self) -> str:
        return f"<traced array {self.dtype}{list(self.shape)}>"

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        return self._tape.xp

    def to_device(self, device: Any, /, *, stream: Any = None) -> TracedArray:
        """Itself: a trace has one device."""
        return self

    # ------------------------------------------------------------------ what is recorded

    @property
    def value(self) -> Value:
        """The value that it has at present."""
        tape, memory = self._tape, self._memory
        if tapes.current() is not tape:
            raise tape.refusal("an array of another trace was used. Give it as an argument")
        if memory.spoiled:
            raise tape.refusal(
                "an array is read that may, or may not, share the memory of one that was changed "
                f"in place, at {memory.spoiled}: that depends on how the elements lie. Copy it "
                "before"
            )
        if self._version != memory.version:
            value = memory.value
            for call, args, kwargs in self._steps:
                value = emit(tape, call, (value, *args), kwargs)
            self._value, self._version = value, memory.version
        return self._value

    def write(self, value: Value) -> None:
        """Take this value in the place of its own, and let all that share its memory see it."""
        if value.shape != self.shape or value.dtype != self.dtype:
            raise ValueError(f"expected {self.dtype}{self.shape}, got {value}")
        memory, tape = self._memory, self._tape
        around, shown = [], memory.value
        for call, args, kwargs in self._steps:
            around.append(shown)
            if len(around) < len(self._steps):
                shown = emit(tape, call, (shown, *args), kwargs)
        whole = value
        for (call, args, kwargs), shown in zip(self._steps[::-1], around[::-1], strict=True):
            whole = put_back(tape, call, args, kwargs, shown, whole)
        memory.put(whole)
        self._value, self._version = value, memory.version

    def _change(self, name: str, *args: Any) -> None:
        tape = self._tape
        call = Call("change", name)
        values = tuple([as_values(tape, arg) for arg in args])
        before = self.value
        result = Value(before.shape, before.dtype)
        tape.record(call, (before, *values), {}, (result,))
        self.write(result)

    def __getitem__(self, index: Any) -> Any:
        return apply(Call("operator", "getitem"), (self, plain_index(index)), {})

    def __setitem__(self, index: Any, value: Any) -> None:
        index = plain_index(index)
        if isinstance(value, TracedArray) and value._is_view(self, index):
            return  # x[i] += y has changed the view in place
        self._fits(index, value)
        self._change("set_item", index, value)

    def _apply(self, call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return (
            apply_into(call, args, kwargs) if call.kind == "method" else apply(call, args, kwargs)
        )

    def _is_view(self, whole: TracedArray, index: Any) -> bool:
        """Whether it is `whole[index]`, as it stands."""
        step: Any = (Call("operator", "getitem"), (index,), {})
        return (
            self._memory is whole._memory
            and is_basic(index)
            and self._steps == (*whole._steps, step)
        )

    def _fits(self, index: Any, value: Any) -> None:
        """Refuse what cannot be assigned, as NumPy would."""
        at = as_values(self._tape, index)
        part = shaped(self._tape, Call("operator", "getitem"), (self.value, at), {})
        shape = getattr(value, "shape", ())
        room = (1,) * (len(shape) - len(part.shape)) + tuple(part.shape)
        parts = index if isinstance(index, tuple) else (index,)
        # NumPy puts a number alone where every axis has one.
        lone = bool(shape) and not part.shape and all([type(i) is int for i in parts])
        misfit = [n not in (1, m) for n, m in zip(shape[::-1], room[::-1], strict=False)]
        if lone or any(misfit):
            raise ValueError(
                f"could not broadcast input array from shape {tuple(value.shape)} into shape "
                f"{part.shape}"
            )

    def _operate_in_place(self, name: str, plain: Call, other: Any) -> Any:
        tape = self._tape
        one = host().xp.ones((1,) * self.ndim, dtype=self.dtype)
        beside = mapped(_one_like, as_values(tape, other))
        getattr(operator, name)(one, beside)  # refuses a dtype that does not fit
        shape = getattr(other, "shape", ())
        from core.ops.types.shapes import broadcast_shapes

        if broadcast_shapes([self.shape, tuple(shape)]) != self.shape:
            raise ValueError(
                f"non-broadcastable output operand with shape {self.shape} doesn't match the "
                f"broadcast shape of {tuple(shape)}"
            )
        self._change(name, other)
        return self

    # ------------------------------------------------------------------ what cannot be

    def _look(self, *_: Any, **__: Any) -> Any:
        raise self._tape.refusal(
            "the value of an array was asked for, and a trace has none. Compute with arrays "
            "instead, as by where(), or as core.as_variable(table)[i] looks up rows of a NumPy "
            "array; or leave this part out of the trace"
        )

    def _refuse_name(self, name: str) -> Any:
        raise self._tape.refusal(
            f"x.{name} of an array cannot be traced. Write it by functions of the namespace, by "
            "indexing, reshape or astype, or leave this part out of the trace",
            UntracedAttribute,
        )

    def _is_beside(self, other: Any) -> bool:
        if type(other) in (list, tuple):
            raise self._tape.refusal(
                f"a {type(other).__name__} beside an array, of which NumPy would make one, cannot "
                "be traced. Make it yourself, by numpy.asarray"
            )
        return is_operand(other)

    def __copy__(self) -> Any:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> Any:
        return self.copy()

    def copy(self, order: str = "C") -> Any:
        """Another array of the same elements."""
        return apply(Call("method", "copy"), (self,), {"order": order})

    def fill(self, value: Any) -> None:
        """Let all elements be a number."""
        self[...] = value

    def sort(self, axis: int = -1, **how: Any) -> None:
        """Put the elements along an axis in order, in place."""
        self[...] = self._tape.xp.sort(self, axis=axis, **how)

    def astype(self, dtype: Any, copy: bool = True) -> Any:
        """Elements of another dtype."""
        if not copy and host().dtype(dtype) == self.dtype:
            return self
        return apply(Call("method", "astype"), (self, dtype), {})

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "__call__":
            raise self._tape.refusal(f"numpy.{ufunc.__name__}.{method} cannot be traced")
        others = [x for x in inputs if not isinstance(x, TracedArray)]
        if not any(hasattr(x, "dtype") for x in others):  # as of a scalar on the left of `*`
            self._tape.called_of_numpy.append(ufunc.__name__)
        return getattr(self._tape.xp, ufunc.__name__)(*inputs, **kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        path = f"{function.__module__}.{function.__name__}".removeprefix("numpy.")
        self._tape.called_of_numpy.append(path)
        where: Any = self._tape.xp
        for part in path.split("."):
            where = getattr(where, part)
        return where(*args, **kwargs)

    @staticmethod
    def _lift_beside(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """The inputs of an operation, those from outside the trace as its constants."""
        return tuple(map(tapes.current().places.lifted, inputs))

    @staticmethod
    def _lift_alone(inputs: tuple[Any, ...], f: Any) -> tuple[Any, ...]:
        """The inputs of an operation, all from outside the trace.

        They are traced where a graph is recorded, too: gradients that come back to it may be.
        """
        places = tapes.current().places
        found: list[Any] = []  # among the settings, as an index
        if f is not None:
            mapped(found.append, [getattr(f, name) for name in f.declared.fields], TracedArray)
        graph = current_state().backprop and any([getattr(x, "requires_grad", 0) for x in inputs])
        return tuple(map(places.lifted, inputs)) if places.live or found or graph else inputs


class TracedScalar(TracedArray):
    """What stands for a scalar of NumPy's, as the sum of all elements: it is not changed in place.

    The engine makes an array of it where an operation ends, as it does of NumPy's.
    """

    __slots__ = ()

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        """Its own: a scalar is an instance of no array's class."""
        return TracedScalar

    def _operate_in_place(self, name: str, plain: Call, other: Any) -> Any:
        return apply(plain, (self, other), {})

    def __setitem__(self, index: Any, value: Any) -> None:
        raise TypeError("a scalar, as NumPy makes of a sum, does not support item assignment")


class TracedSum(TracedArray):
    """A gradient that a kernel has put off: others are added to it, and an array is made of it."""

    __slots__ = ()

    def __add__(self, other: Any) -> Any:
        tape = self._tape
        if not isinstance(other, TracedSum):
            return apply(Call("operator", "add"), (self, other), {})
        value = Value(self.shape, self.dtype, waits=True)
        tape.record(Call("operator", "add"), (self.value, other.value), {}, (value,))
        return TracedSum(tape, value)

    __iadd__ = __add__


for _name in names.LOOKS:
    setattr(TracedArray, _name, TracedArray._look)
for _name in names.UNTRACED:
    setattr(TracedArray, _name, property(partial(TracedArray._refuse_name, name=_name)))


# ---------------------------------------------------------------------- recording


def as_values(tape: tapes.Tape, tree: Any) -> Any:
    """The arguments of a call with values in the place of arrays."""
    put: Callable[[Any], Any] = partial(_as_value, tape)
    return mapped(put, tree, (TracedArray, host().xp.ndarray, tape.backend.array_type))


def _as_value(tape: tapes.Tape, array: Any) -> Value:
    if not isinstance(array, TracedArray):
        return tape.constant(array)
    if array._tape is tape:
        return array.value
    value = tape.enclose(array)
    if value is None:
        raise tape.refusal("an array of another trace was used. Give it as an argument")
    return value


def _one_like(value: Value) -> Any:
    one = host().xp.ones((), dtype=value.dtype)
    return one[()] if value.scalar else one


def apply(call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Record a call of arrays; gives the traced result, or a tuple of several."""
    tape = tapes.current()
    given_args, given_kwargs = as_values(tape, args), as_values(tape, kwargs)
    found = shaped(tape, call, given_args, given_kwargs)
    several = not isinstance(found, Shaped)
    parts = found if several else (found,)
    if not all([isinstance(part, Shaped) for part in parts]):
        raise tape.refusal(f"{call.name}: arrays within tuples of results cannot be traced")
    values = tuple([Value(*part) for part in parts])
    tape.record(call, given_args, given_kwargs, values, several)
    made = [traced(tape, value) for value in values]
    source = args[0] if args else None
    if isinstance(source, TracedArray):
        for each in made:
            _share(each, source, call, given_args[1:], given_kwargs, several)
    if call.name in names.PLAIN:
        made[0]._memory.plain = True
    return tuple(made) if several else made[0]


def apply_into(call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Record a call; the array that it is to write to, by the name of `out` or in its place."""
    out = kwargs.pop("out", None)
    place = place_of_out(call.name) if out is None and len(args) > 1 else None
    if place is not None and len(args) > place:
        out, args = args[place], (*args[:place], None, *args[place + 1 :])
        args = args if any([x is not None for x in args[place:]]) else args[:place]
    if out is None:
        return apply(call, args, kwargs)
    tape = tapes.current()
    target, *others = out if isinstance(out, tuple) else (out,)
    if others:
        raise tape.refusal(f"{call.name}: it would change several arrays. Assign to each of them")
    if not isinstance(target, TracedArray):
        raise tape.refusal(
            f"{call.name}: it would change an array from outside the trace. Give the array as an "
            "argument"
        )
    where = kwargs.pop("where", True) if is_ufunc(call.found(host())) else True
    result = apply(call, args, kwargs)
    # Elements that are not chosen stay as they are; a result without `out` has anything there.
    target[...] = result if where is True else tape.xp.where(where, result, target)
    return target


def traced(tape: tapes.Tape, value: Value) -> TracedArray:
    """An array for a value, with a memory of its own."""
    return (TracedScalar if value.scalar else TracedArray)(tape, value)


# ---------------------------------------------------------------------- views


def _share(
    made: TracedArray, source: TracedArray, call: Call, args: Any, kwargs: Any, several: bool
) -> None:
    """Let an array that is a view of another show its memory."""
    name = call.name
    if isinstance(source, (TracedScalar, TracedSum)) or isinstance(made, TracedScalar):
        return
    followed = name in names.VIEWS or name in names.ALWAYS
    if name == "getitem":
        followed = is_basic(args[0])
        if not followed:
            return
    elif name in names.RESHAPED:
        in_order = all([step[0].name in names.RESHAPED for step in source._steps])
        followed = followed or (source._memory.plain and in_order)
    if followed and not several:
        made._memory = source._memory
        made._steps = (*source._steps, (call, args, kwargs))
        made._version = source._memory.version
    elif followed or name in names.UNSURE:
        made._memory.akin(source._memory)
