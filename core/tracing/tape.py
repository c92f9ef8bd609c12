"""The tape that a trace is recorded on: equations in their order, and where they come from."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from core.arrays.backend import Backend, Device, host
from core.errors import TraceError, place
from core.graph.function_hook import FunctionHook
from core.link import LinkHook
from core.programs import Call, Equation, Origin, Value, draws, on_host, value_like
from core.registry.configuration import config
from core.registry.once import once

_current: ContextVar[Tape | None] = ContextVar("plugrad_tape", default=None)


def current() -> Tape:
    """The tape of the trace that is under way in this context."""
    tape = _current.get()
    if tape is None:
        raise TraceError(
            "a traced array was used after its trace has ended, or in another thread; it has no "
            "values. Let the function return what is needed of it."
        )
    return tape


def under_way() -> bool:
    """Whether a trace is under way in this context."""
    return _current.get() is not None


@contextmanager
def coming_from(origin: Origin) -> Iterator[None]:
    """A context in which the trace that is under way, if any, records with an origin of its own."""
    tape = _current.get()
    if tape is None:
        yield
        return
    tape.operations.append((origin, origin))
    try:
        yield
    finally:
        tape.end(origin)


def refuse_nesting() -> None:
    """Raise where a trace is under way in this context."""
    if under_way():
        raise TraceError("trace: another trace is under way. Trace one function at a time.")


class Applied(NamedTuple):
    """An operation in a trace: what it took and gave, and between which equations it computed."""

    function: Any
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    first: int
    end: int


class Tape:
    """What is recorded: equations, and the arrays from outside, for arrays of one backend.

    `constants` maps values to copies, on the host, of the arrays that they stand for, `enclosed`
    others to the arrays of the traces around this one, of which `around` is the next. With
    `kernels` those of the backend are recorded where it has them, else formulas alone; with `loops`
    formulas as well where a kernel says that loops do as well.
    """

    def __init__(
        self,
        backend: Backend,
        kernels: bool = False,
        loops: bool = False,
        device: Device | None = None,
    ) -> None:
        self.backend = backend
        self.device = device
        self.kernels = kernels
        self.loops = loops
        self.trials: dict[Any, Any] = {}  # of kernels, and what they have left for gradients
        self.samples: dict[Value, Any] = {}
        self.equations: list[Equation] = []
        self.constants: dict[Value, Any] = {}
        self.enclosed: dict[Value, Any] = {}
        self.around = _current.get()
        self.operations: list[tuple[Any, Origin]] = []  # those under way, with their places
        self.differentiates = False  # whether gradients are computed that have no graph themselves
        self.links: list[Any] = []
        self.places: Any = None  # a `Places`, once there is one
        self.refused: TraceError | None = None  # also where the function goes on after it
        self.applied: list[Applied] | None = None  # operations, where somebody wants to know
        self.xp: Any = None  # the namespace of traced arrays
        self.called_of_numpy: list[str] = []  # functions that were not asked of this namespace
        self.drawn: list[Equation] = []  # what has drawn, once more where it has again
        self.same: dict[Value, Value] = {}  # of what has drawn again: what it was the first time
        self.again: Iterator[Equation] | None = None  # what it is that draws again
        self._known: dict[int, tuple[Any, Value]] = {}
        self._forwards: dict[Any, Origin] = {}
        self._began: dict[Any, int] = {}
        self._hooks: tuple[Any, ...] = (_Operations(self), _Links(self))

    def enter(self) -> None:
        """Be the one on which calls of this thread are recorded."""
        if self.around is not None:
            self.around.stop()
        _current.set(self)
        self.go_on()

    def leave(self) -> None:
        """Be so no more; after a part of `enter`, or of this, too, where somebody interrupts it."""
        self.stop()
        _current.set(self.around)
        self._forwards.clear()
        self._began.clear()
        self.operations.clear()
        # These lead back here, and would keep links and arrays until Python looks for cycles.
        self._known.clear()
        self.places, self._hooks = None, ()
        if self.around is not None:
            self.around.stop()
            self.around.go_on()

    def go_on(self) -> None:
        """Look at the calls of operations and links."""
        for hook in self._hooks:
            hook.__enter__()

    def stop(self) -> None:
        """Look at none, as while a trace within this one is under way."""
        for hook in self._hooks:
            hook.__exit__()

    @once
    def spec_device(self) -> Any:
        """What specs of arrays on the device have."""
        return self.backend.spec_device(self.backend.asarray(0.0, "float32", self.device))

    def placed(self) -> dict[str, Any]:
        """How functions of the backend that make arrays are told the device."""
        backend = self.backend
        return {"device": backend.native_device(self.device)} if len(backend.devices()) > 1 else {}

    # ------------------------------------------------------------------ recording

    def record(
        self,
        call: Call,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        outputs: tuple[Value, ...],
        several: bool = False,
    ) -> None:
        """Append an equation; arrays among the arguments are values already."""
        equation = Equation(call, args, kwargs, outputs, several, self.origin())
        if draws(equation):
            equation = self._first(equation)
            self.drawn.append(equation)
        if equation.outputs is outputs:
            self.equations.append(equation)

    def _first(self, equation: Equation) -> Equation:
        """The equation whose draws are to be given; itself where they are new ones."""
        if self.again is None:
            return equation
        earlier = next(self.again, None)
        if earlier is None or _drawn_of(earlier) != _drawn_of(equation):
            raise self.refusal(
                "a function that is called again for gradients draws other random numbers, or was "
                "first called outside of the trace. Draw them outside of it, and give them as "
                "arguments"
            )
        self.same.update(zip(equation.outputs, earlier.outputs, strict=True))
        return earlier

    def constant(self, array: Any, made: bool = False) -> Value:
        """The value of an array from outside, or of one that has been `made` in the trace.

        What it holds now; unless the places read what is outside in each run.
        """
        known = self._known.get(id(array))
        if known is None:
            value = None if made or self.places is None else self.places.outside(array)
            if value is None:
                value = value_like(array)
                self.constants[value] = host().copy(on_host(array))
            known = self._known[id(array)] = array, value
        return known[1]

    def is_within(self, tape: Tape) -> bool:
        """Whether another trace is one of those around this one."""
        around = self.around
        while around is not None and around is not tape:
            around = around.around
        return around is not None

    def enclose(self, array: Any) -> Value | None:
        """The value of an array of a trace around this one; None for one of any other trace."""
        if not self.is_within(array._tape):
            return None
        known = self._known.get(id(array))
        if known is None:
            value = Value(array.shape, array.dtype, array._value.scalar)
            self.enclosed[value] = array
            known = self._known[id(array)] = array, value
        return known[1]

    # ------------------------------------------------------------------ where it comes from

    def origin(self) -> Origin:
        """Where what is being recorded comes from."""
        if not self.operations:
            return Origin("", self.link_path(), users_line())
        origin = self.operations[-1][1]
        back = any([known.backward for _, known in self.operations])
        return origin._replace(backward=back)

    def link_path(self) -> str:
        """The path and class of the innermost link that is being called."""
        if not self.links:
            return ""
        return f"{place.path_of(self.links)} ({type(self.links[-1]).__name__})"

    def begin_operation(self, f: Any) -> None:
        """Note that an operation is about to compute."""
        origin = Origin(f.label, self.link_path(), users_line())
        if self.operations:  # an operation in the gradient of another
            around = self.operations[-1][1]
            origin = origin._replace(link=origin.link or around.link, line=around.line)
        self._forwards[f] = origin
        self._began[f] = len(self.equations)
        self.operations.append((f, origin))

    def begin_gradient(self, f: Any) -> None:
        """Note that the gradients of an operation are about to be computed."""
        self.differentiates |= not config.enable_backprop
        known = self._forwards.get(f) or Origin(f.label, "", users_line())
        self.operations.append((f, known._replace(backward=True)))

    def end(self, f: Any) -> None:
        """Note that an operation is done, and what it has begun in between."""
        while self.operations and self.operations.pop()[0] is not f:
            pass

    def note(self, f: Any, arrays: tuple[Any, ...], outputs: tuple[Any, ...]) -> None:
        """Keep what an operation has taken and given, if somebody wants to know."""
        first = self._began.pop(f)
        if self.applied is not None:
            given, made = (
                tuple([getattr(x, "value", None) or self.constant(x) for x in part])
                for part in (arrays, [y.array for y in outputs])
            )
            self.applied.append(Applied(f, given, made, first, len(self.equations)))

    def refusal(self, text: str, kind: type[TraceError] = TraceError) -> TraceError:
        """The error for what cannot be traced; it names operation, link and line.

        The trace fails even if somebody catches it, but who asks for an attribute may do without.
        """
        origin = self.origin()
        where = [f"in {origin}" if origin.operation else f"{origin}"] if str(origin) else []
        where += [f"at {origin.line}"] if origin.line else []
        error = kind(text + (f" ({', '.join(where)})" if where else ""))
        if not isinstance(error, AttributeError):
            self.refused = self.refused or error
        return error


def called_of_numpy() -> list[str]:
    """Functions of NumPy's that the trace under way was asked for, and not its namespace."""
    return current().called_of_numpy


class Draws:
    """What is drawn in a trace from when this is made until `end`, to be had again."""

    def __init__(self) -> None:
        self._tape = _current.get()
        self._first = self._end = self._count()

    def _count(self) -> int:
        return 0 if self._tape is None else len(self._tape.drawn)

    def end(self) -> None:
        """Leave out what is drawn from now on."""
        self._end = self._count()

    @contextmanager
    def again(self) -> Iterator[None]:
        """A context in which draws of a trace are these, one after the other.

        There it raises TraceError where something else is drawn, or in another trace.
        """
        tape = _current.get()
        if tape is None:
            yield
            return
        known = tape.drawn[self._first : self._end] if tape is self._tape else []
        before, tape.again = tape.again, iter(known)
        try:
            yield
        finally:
            tape.again = before


def _drawn_of(equation: Equation) -> Any:
    call = equation.call
    return call.kind, call.name, [(v.shape, v.dtype) for v in equation.outputs]


def users_line() -> str:
    """The line of the user's program that is being executed."""
    places = []
    frame: Any = sys._getframe(1)
    while frame is not None:
        places.append((frame.f_code.co_filename, frame.f_lineno))
        if place.is_users(frame.f_code.co_filename):  # the innermost
            break
        frame = frame.f_back
    return place.users_line(places[::-1])


class _Operations(FunctionHook):
    """Tells the tape which operation computes."""

    name = "core.trace"

    def __init__(self, tape: Tape) -> None:
        self._tape = tape

    def forward_preprocess(self, function: Any, in_data: Any) -> None:
        self._tape.begin_operation(function)

    def _computed(self, function: Any, in_data: Any, outputs: Any) -> None:
        self._tape.end(function)
        self._tape.note(function, in_data, outputs)

    def backward_preprocess(self, function: Any, in_data: Any, out_grad: Any) -> None:
        self._tape.begin_gradient(function)

    def backward_postprocess(self, function: Any, in_data: Any, out_grad: Any) -> None:
        self._tape.end(function)


class _Links(LinkHook):
    """Tells the tape which link is being called."""

    name = "core.trace"

    def __init__(self, tape: Tape) -> None:
        self._tape = tape

    def forward_preprocess(self, args: Any) -> None:
        if not self._tape.links and self._tape.places is not None:
            self._tape.places.take(args.link)
        self._tape.links.append(args.link)

    def forward_postprocess(self, args: Any) -> None:
        self._tape.links.pop()

    def forward_interrupted(self, args: Any) -> None:
        self._tape.links.pop()
