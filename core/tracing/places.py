"""Where arrays of a traced function live besides its arguments: parameters, and state.

While a function is traced, parameters, gradients, states of update rules, and persistents of links
hold traced arrays; afterwards what they held before. A run reads them, and writes those changed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from core.errors import NotDifferentiable, TraceError
from core.graph.fitting import is_array
from core.graph.variable import Variable, wrap
from core.link.parameter import Parameter
from core.programs import Place, Steps, Value, spec_text, value_like
from core.tracing.array import TracedArray, as_values, traced
from core.tracing.differentiated import depends_on, what_is_around
from core.tracing.tape import Tape


def _nothing() -> None:
    """The default of `changed`: nothing is to be done."""


class _Unstepped:
    """In the place of what a rule keeps, where a step of it cannot be traced: it refuses one."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def __getattr__(self, name: str) -> Any:
        raise TraceError(self._reason)


class Places:
    """The places of one trace; `live` says that what is outside is read in each run."""

    live = False

    def __init__(self, tape: Tape) -> None:
        self._tape = tape
        self._differentiated = what_is_around()  # outside: to their derivatives, constants go
        self._around: Places | None = getattr(tape.around, "places", None)  # they read there
        self.found: list[Place] = []
        self.steps: list[Steps] = []
        self._arrays: list[tuple[Place, TracedArray]] = []
        self._known: set[int] = set()
        self._held: list[Any] = []  # so that no id is given twice
        self._undo: list[Callable[[], None]] = []
        self._names: set[str] = set()
        self._settable: set[str] = set()  # names of places that may hold another array afterwards
        self._paths: dict[int, str] = {}  # of parameters, by their ids
        self.numbers: dict[int, Callable[[], float]] = {}  # what reads them, by the arrays' ids

    # ------------------------------------------------------------------ taking

    def take(self, link: Any) -> None:
        """Let all arrays of a link, and of the links below it, be traced."""
        if id(link) in self._known:
            return
        if self._around is not None:
            self._around.take(link)
        for path, each in link.namedlinks():
            if id(each) in self._known:
                continue
            self._note(each)
            if any([not parameter.is_initialized for _, parameter in each._own_params()]):
                self._make_on_host(each, "_device")
            prefix = f"{path.rstrip('/')}/"
            for name in each._params:
                parameter = each.__dict__[name]
                if parameter is not None:
                    self._paths.setdefault(id(parameter), prefix + name)
                    self.take_parameter(parameter)
            for name in each._persistent:
                self._take_persistent(prefix + name, each, name)
            for name in each.carried:
                self._take_carried(prefix + name, each, name)

    def _note(self, each: Any) -> None:
        self._known.add(id(each))
        self._held.append(each)

    def _make_on_host(self, owner: Any, name: str) -> None:
        """Let arrays that are made with the first input be real ones."""
        before = getattr(owner, name)
        if before is None:
            setattr(owner, name, self._tape.backend.default_device())
            self._undo.append(lambda: setattr(owner, name, before))

    def take_parameter(self, parameter: Any) -> None:
        """Let a parameter hold a traced array, and what its update rule keeps as well."""
        if id(parameter) in self._known or self._is_traced(parameter._array):
            return
        if self._around is not None:
            self._around.take_parameter(parameter)
        if parameter._array is None:
            self._make_on_host(parameter, "_home")
            return
        self._note(parameter)
        name = self._paths.get(id(parameter)) or parameter.name or "parameter"
        source = parameter._source or parameter._constant
        array, grad = parameter.array, parameter._grad
        data = None if source is None else source.data

        def restore() -> None:
            parameter.array = array
            present = parameter._source or parameter._constant
            if present is not None:
                present.data = data
                present._grad = grad

        self._undo.append(restore)
        rule = getattr(parameter, "update_rule", None)
        if rule is not None:
            self._take_rule(name, parameter, rule)
        read = partial(getattr, parameter, "array")
        made = self._settable_at(name, array, read, partial(_count, parameter))
        parameter.array = made
        if grad is not None and is_array(parameter.grad):
            read = partial(getattr, parameter, "grad")
            source._grad = self._traced(f"{name}.grad", parameter.grad, read)

    def take_array(self, parameter: Any) -> None:
        """Let a parameter that the function has given an array from outside hold a constant."""
        array = parameter._array
        if (
            id(parameter) in self._known
            and array is not None
            and not isinstance(array, TracedArray)
        ):
            parameter.array = traced(self._tape, self._tape.constant(array))

    def _is_traced(self, array: Any) -> bool:
        """Whether it is one of this trace, as what `functional_call` gives a parameter to hold."""
        return isinstance(array, TracedArray) and array._tape is self._tape

    def _take_persistent(self, name: str, link: Any, key: str) -> None:
        own = vars(link)
        before = own[key]
        if self._is_traced(before):  # of a link that the function makes
            return
        if is_array(before):
            put = partial(_set_attribute, link, key)
            own[key] = self._settable_at(name, before, partial(_attribute, link, key), put=put)

        def restore() -> None:
            after = own[key]
            own[key] = before
            if not is_array(before) and not isinstance(after, TracedArray) and after != before:
                raise TraceError(
                    f"trace: {name} went from {before!r} to {after!r}, which is no array, and so "
                    "would stay the same whenever the program runs."
                )

        self._undo.append(restore)

    def _take_carried(self, name: str, link: Any, key: str) -> None:
        """Let a Variable that a link keeps from call to call be traced."""
        before = getattr(link, key, None)
        if isinstance(before, Variable):
            if before.creator_node is not None:
                raise TraceError(
                    f"trace: {name} comes from an earlier graph, which a program knows nothing of. "
                    "Call unchain_backward() on it, or reset_state() of its link, first."
                )
            made = self._settable_at(name, before.array, partial(_carried, link, key))
            setattr(link, key, wrap(made))

        def restore() -> None:
            after = getattr(link, key, None)
            setattr(link, key, before)
            if (after is None) != (before is None):
                said = (
                    "has no value before the call and one after it. Call reset_state() at the end "
                    "of the function, or call its link once before tracing."
                )
                if after is None:
                    said = (
                        "has a value before the call and none after it. Call reset_state() before "
                        "tracing, too."
                    )
                raise TraceError(f"trace: {name} {said}")

        self._undo.append(restore)

    def _take_rule(self, name: str, parameter: Any, rule: Any) -> None:
        t, master, state = rule.t, rule._master, rule._state

        def stay() -> None:
            rule._master, rule._state = master, state

        if rule._has_master(parameter):
            self._undo.append(stay)
            rule._master = _Unstepped(
                f"trace: {name} has a float32 master, whose steps cannot be traced. Trace what "
                "computes the gradients, and make the step outside; or core.capture it."
            )
            return
        if state is None and isinstance(parameter._array, TracedArray):
            self._undo.append(stay)  # what is made of this array would be of a trace as well
            rule._state = _Unstepped(
                f"trace: {name} has taken no step yet, and its first one cannot be traced here. "
                "Make one before."
            )
            return
        if state is None:
            rule._prepare(parameter)
        state, before = rule._state, dict(rule._state)

        def restore() -> None:
            if rule.t != t:
                self.steps.append(Steps(name, rule, t))
            rule.t = t
            state.update(before)

        self._undo.append(restore)
        for key, array in before.items():
            if is_array(array):
                read = partial(_of_state, rule, key)
                state[key] = self._settable_at(f"{name}:{key}", array, read)

    def take_optimizer(self, optimizer: Any) -> None:
        """Let its target be traced, and its counts be as they were."""
        if self._around is not None:
            self._around.take_optimizer(optimizer)
        kept, t = dict(vars(optimizer)), optimizer.t

        def restore() -> None:
            if optimizer.t != t:
                self.steps.append(Steps("optimizer", optimizer, t))
            vars(optimizer).update(kept)
            optimizer.t = t

        self._undo.append(restore)
        if optimizer.target is not None:
            self.take(optimizer.target)

    def take_variable(self, x: Any) -> None:
        """A Variable from outside: a constant, unless what is outside is read in each run."""

    def outside(self, array: Any) -> Value | None:
        """The value of an array from outside that is read in each run; None for a constant."""
        return None

    def lifted(self, x: Any) -> Any:
        """An input of an operation; from outside, a parameter or a constant of the trace."""
        array = getattr(x, "_array", x)
        if self._is_traced(array):
            return x
        self._from_outside(x)
        if isinstance(array, TracedArray) or not is_array(array):
            return x
        if isinstance(x, Parameter):
            self.take_parameter(x)
            self.take_array(x)
            return x
        made = traced(self._tape, self._tape.constant(array))
        if not isinstance(x, Variable):
            return made
        beside = wrap(made)
        beside._source = x._source
        if x._source is not None:
            self._borrow(x._source, beside._spec)
        return beside

    def _from_outside(self, x: Any) -> None:
        """Refuse a Variable by which derivatives are taken: here it would be a constant."""
        if depends_on(self._differentiated, x):
            raise NotDifferentiable(
                "trace: a function uses a Variable from outside whose derivatives are being taken, "
                "and to them what is traced is a constant. Take the derivatives inside."
            )

    def _borrow(self, source: Any, spec: Any) -> None:
        """Let a source in a graph from outside stand for a traced array until the trace is over."""
        if id(source) in self._known:
            return
        self._note(source)
        data, before, grad = source.data, source.spec, source._grad

        def restore() -> None:
            source.data, source.spec, source._grad = data, before, grad

        self._undo.append(restore)
        source.spec = spec

    def _traced(
        self,
        name: str,
        array: Any,
        read: Callable[[], Any],
        changed: Callable[[], None] = _nothing,
        put: Callable[[Any], None] | None = None,
    ) -> TracedArray:
        tape = getattr(array, "_tape", None)
        if tape is not None and not self._tape.is_within(tape):
            raise TraceError(
                f"trace: {name} is being traced in another thread. Trace, or capture, functions of "
                "one model one after the other."
            )
        while name in self._names:
            name += "_"
        self._names.add(name)
        value = value_like(array)
        made = traced(self._tape, value)
        place = Place(name, read, value, changed, put)
        self.found.append(place)
        self._arrays.append((place, made))
        return made

    def _settable_at(self, name: str, *args: Any, **kwargs: Any) -> TracedArray:
        """What stands for the array of a place where the function may set another one."""
        made = self._traced(name, *args, **kwargs)
        self._settable.add(self.found[-1].name)
        return made

    def number(self, name: str, dtype: str, read: Callable[[], float]) -> TracedArray:
        """An array of a number that each run reads, as often as it likes; see `numbers`."""
        backend, device = self._tape.backend, self._tape.device

        def array() -> Any:
            return backend.asarray(read(), dtype, device)

        made = self._traced(name, array(), array)
        self.numbers[id(made)] = read
        return made

    # ------------------------------------------------------------------ giving back

    def changes(self) -> list[tuple[Place, Value]]:
        """The places whose arrays the function has changed, with what it has made of them."""
        found = [(place, self._become(place, array)) for place, array in self._arrays]
        return [(place, value) for place, value in found if value is not place.value]

    def _become(self, place: Place, array: TracedArray) -> Value:
        """What the elements of a place are in the end; refused where a run could not write it."""
        now = place.read() if place.name in self._settable else array
        if now is None:  # which is refused where it is put back
            return place.value
        if not is_array(now):
            raise TraceError(
                f"trace: {place.name} went from an array to {now!r}, which is none, and so would "
                "stay the same whenever the program runs."
            )
        value = value_of(self._tape, now)
        if (value.shape, value.dtype) != (place.value.shape, place.value.dtype):
            raise TraceError(
                f"trace: {place.name} went from {spec_text(place.value)} to {spec_text(value)}, "
                "and a program writes into the array that is there. Set one of the same kind; "
                "of what a recurrent link carries, call reset_state() at the end of the function."
            )
        return value

    def begin(self) -> None:
        """Record calls from now on, until all holds what it held before."""
        self._undo.append(self._tape.leave)  # first, and so the last to be undone
        self._tape.enter()

    def restore(self) -> None:
        """Let everything hold what it held before, also where somebody interrupts this."""
        errors: list[BaseException] = []
        while self._undo:
            try:
                while self._undo:
                    self._undo[-1]()
                    self._undo.pop()
            except KeyboardInterrupt as error:  # the same one again: a part of it may be left
                errors.insert(0, error)
            except TraceError as error:
                self._undo.pop()
                errors.append(error)
        if errors:
            raise errors[0]


def value_of(tape: Tape, array: Any) -> Value:
    """The value of an array, as a constant if it is from outside."""
    return as_values(tape, array)  # type: ignore[no-any-return]


# How programs read and write: functions of modules, so that programs can be pickled.


def _count(parameter: Any) -> None:
    if hasattr(parameter, "version"):
        parameter.version += 1


def _attribute(link: Any, key: str) -> Any:
    return vars(link)[key]


def _set_attribute(link: Any, key: str, array: Any) -> None:
    vars(link)[key] = array


def _carried(link: Any, key: str) -> Any:
    return getattr(getattr(link, key), "array", None)


def _of_state(rule: Any, key: str) -> Any:
    return rule._state[key]
