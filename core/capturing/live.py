"""What a captured step reads and leaves behind: parameters, state, gradients, reports, updates.

The places of a plain trace are read when its program runs, and written at its end. Those of a
captured step are more: attributes of links that hold arrays are read anew, and left as the step
leaves them; gradients are delivered; what is reported is reported again. An update of an optimizer
is one equation, which makes the real one: so rates, counts, hooks and random draws are those of
each run, and parameters have changed for what comes after it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple, Never
from weakref import ref

from core.arrays.backend import BACKENDS
from core.capturing import restoring
from core.capturing.leaving import (
    Left,
    attributes,
    counting,
    delivering,
    reporting,
    to_arguments,
    writing,
)
from core.capturing.updates import Update
from core.errors import TraceError
from core.graph.fitting import is_array
from core.graph.variable import Variable, wrap
from core.link.parameter import Parameter
from core.programs import Call, Place, Value, mapped
from core.tracing import Places, Tape, TracedArray, value_of


class Held(NamedTuple):
    """A parameter of a step, where it stands in graphs, and where a program reads it.

    `graded` has its gradient: the source, or the parameter itself while it is frozen, as a replay
    may find it frozen anew. `grad` is where a program reads the gradient that it has before the
    step.
    """

    parameter: Any
    source: Any
    graded: Any
    array: TracedArray
    place: Place
    grad: Place | None


class Live(Places):
    """The places of a captured step."""

    live = True

    def __init__(self, tape: Tape) -> None:
        super().__init__(tape)
        self.held: list[Held] = []
        self.unmade: list[Any] = []
        self.links: dict[int, tuple[str, Any, dict[str, Any], dict[str, Any]]] = {}
        self.optimizers: list[Any] = []
        self._counts: dict[int, dict[str, int]] = {}  # while gradients are accumulated
        self.reports: list[tuple[Mapping[str, Any], Any]] = []
        self.differentiates = False
        self.arguments: list[Any] | None = None  # those with gradients, in a run
        self._delivered: dict[int, tuple[Any, Any]] = {}  # gradient and its value, by parameter
        self._first: list[Any] | None = None  # whose gradients are replaced before others are read
        self._written: dict[int, Value] = {}  # of parameters, by id: what their arrays hold
        self.updated: set[Value] = set()  # of parameters, in their places
        self._put: dict[int, dict[str, Any]] = {}  # what attributes of links have been set to
        self.assigned: dict[int, set[str]] = {}  # the names of those that the step sets
        self._chained: list[tuple[str, Any]] = []
        self._variables: list[tuple[Any, ...]] = []  # that are attributes of links

    # ------------------------------------------------------------------ taking

    def take(self, link: Any) -> None:
        """Let all arrays of a link, and of the links below it, be traced."""
        new = [
            (path, each, dict(vars(each)))
            for path, each in link.namedlinks()
            if id(each) not in self.links
        ]
        for path, each, before in new:
            kept = {k: v.copy() for k, v in before.items() if type(v) in (list, dict, set)}
            self.links[id(each)] = path, each, before, kept
            self._undo.append(restoring.of_attributes(vars(each), before, kept))
        super().take(link)
        for path, each, before in new:
            for name, value in before.items():
                if name not in each._params and name not in each._persistent:
                    self._take_attribute(f"{path.rstrip('/')}/{name}", vars(each), name, value)
            self._put[id(each)] = dict(vars(each))

    def _take_attribute(self, path: str, own: dict[str, Any], name: str, value: Any) -> None:
        if isinstance(value, Variable) and not isinstance(value, Parameter):
            if not is_array(value._array):
                return

            def put(array: Any) -> None:
                own[name].array = array

            array = self._traced(path, value._array, lambda: own[name]._array, put=put)
            chained = value.creator_node is not None
            own[name] = held = wrap(array, requires_grad=value.requires_grad and not chained)
            self._variables.append((path, own, name, held, array, put))
            if chained:
                self._chained.append((path, self.found[-1]))
        elif is_array(value):
            put = partial(own.__setitem__, name)
            own[name] = self._traced(path, value, lambda: own[name], put=put)

    def _take_carried(self, name: str, link: Any, key: str) -> None:
        """They are attributes like others."""

    def _make_on_host(self, owner: Any, name: str) -> None:
        """Nothing is made in a trace: a call before it has made what there is to make."""

    def take_parameter(self, parameter: Any) -> None:
        """Let a parameter hold a traced array, and its gradient as well."""
        if id(parameter) in self._known or self._is_traced(parameter._array):
            return
        self._note(parameter)
        name = self._paths.get(id(parameter)) or parameter.name or "parameter"
        self._undo.append(restoring.of_parameter(name, parameter))
        if parameter._array is None:
            self.unmade.append(parameter)
            self._undo.append(partial(setattr, parameter, "initializer", parameter.initializer))
            parameter.initializer = unmade
            return
        array, source = parameter._array, parameter._source
        graded = source or parameter
        made = self._traced(name, array, lambda: parameter._array, _counting(parameter))
        place = self.found[-1]
        parameter.array = made
        self._written[id(parameter)] = made._value
        beside = None
        if graded._grad is not None:
            graded._grad = self._traced(f"{name}.grad", parameter.grad, lambda: parameter.grad)
            beside = self.found[-1]
        self._delivered[id(parameter)] = graded._grad, getattr(graded._grad, "_value", None)
        self.held.append(Held(parameter, source, graded, made, place, beside))

    def take_optimizer(self, optimizer: Any) -> None:
        """Let its target be traced."""
        if any([optimizer is known for known in self.optimizers]):
            return
        self.optimizers.append(optimizer)
        counts = _counts(optimizer)
        self._counts[id(optimizer)] = counts if optimizer._parts else dict.fromkeys(counts, 0)
        self._undo.append(restoring.of_optimizer(optimizer, counts))
        if optimizer.target is not None:
            self.take(optimizer.target)

    def outside(self, array: Any) -> Value | None:
        """The value of an array from outside, whose elements may be others in each run."""
        return self._traced("outside", array, lambda: array)._value

    def lifted(self, x: Any) -> Any:
        """An input of an operation from outside; a Variable holds a traced array for the time."""
        source = getattr(x, "_source", None)
        traced = isinstance(getattr(x, "_array", None), TracedArray)
        if source is None or traced or isinstance(x, Parameter) or not isinstance(x, Variable):
            return super().lifted(x)
        if x.creator_node is not None:
            raise TraceError(
                "capture: a Variable from outside comes from a graph, which a replay knows nothing "
                "of. Compute it in the step, or give it as an argument."
            )
        self._hold(x)
        return x

    def take_variable(self, x: Any) -> None:
        """Let a Variable that the step can name hold a traced array, if it comes from no graph."""
        if is_array(x._array) and x.creator_node is None:
            self._hold(x)

    def _hold(self, x: Any) -> None:
        array, known = x._array, ref(x)
        if x._source is not None:
            self._borrow(x._source, x._spec)

        def read() -> Any:
            present = known()
            return array if present is None else present._array

        made = self._traced("outside", array, read)
        self._undo.append(restoring.of_variable(x, made))
        x.array = made

    # ------------------------------------------------------------------ updates

    def update(self, optimizer: Any) -> None:
        """Record the step of an optimizer, with the gradients that there are."""
        tape = self._tape
        self.take_optimizer(optimizer)
        gradients = self.gradients()
        self._replace(gradients)
        for each in self.held:
            self.take_array(each.parameter)
        written = self._parameters_written()
        among = {id(p) for p in optimizer.target.params()}
        held = [each for each in self.held if id(each.parameter) in among]
        for each in held:
            if each.parameter._source is not each.source:
                raise restoring.otherwise_frozen(each.place.name)
        self.updated |= {each.place.value for each in held}
        graded = [e.parameter for e in held if e.source and e.source._grad is not None]
        values = [value_of(tape, g) for _, g in gradients if g is not None]
        outputs = []
        for array in [e.parameter._array for e in held] + [p.grad for p in graded]:
            value = Value(array.shape, array.dtype)
            array.write(value)
            outputs.append(value)
        self.gradients()  # what an update leaves is there when it has been made
        self._parameters_written()
        parameters = [each.parameter for each in held]
        put = _writing([each for each, _ in written])
        made = Update(optimizer, gradients, put, parameters, graded)
        self._counts[id(optimizer)] = dict.fromkeys(_counts(optimizer), 0)
        call = Call("kernel", f"{type(optimizer).__name__}.update", None, made)
        args = (*values, *[value for _, value in written])
        tape.record(call, args, {}, tuple(outputs), several=True)
        self.differentiates = True

    def gradients(self) -> list[tuple[Any, Any]]:
        """Parameters whose gradients have changed since they were last asked for, with these."""
        found = []
        for parameter, _, graded, *_ in self.held:
            grad, value = self._delivered[id(parameter)]
            now = graded._grad
            present = None if now is None else value_of(self._tape, _array(now))
            if now is not grad or present is not value:
                found.append((parameter, None if now is None else _array(now)))
                self._delivered[id(parameter)] = now, present
        return found

    def _replace(self, gradients: list[tuple[Any, Any]]) -> None:
        if self._first is None:
            self._first = [parameter for parameter, _ in gradients]

    def outdated(self, places: Any) -> list[Any]:
        """Where parameters keep gradients that a program with these places replaces unread."""
        first = {id(parameter) for parameter in self._first or ()}
        return [
            each.graded
            for each in self.held
            if id(each.parameter) in first and each.grad is not None and each.grad not in places
        ]

    def _parameters_written(self) -> list[tuple[Held, Value]]:
        """Parameters that the step itself has changed, with what they have become."""
        found = []
        for each in self.held:
            value = value_of(self._tape, each.parameter._array)
            if value is not self._written[id(each.parameter)]:
                self._written[id(each.parameter)] = value
                found.append((each, value))
        return found

    # ------------------------------------------------------------------ the end

    def refuse_graph(self, returned: Any) -> None:
        """Raise TraceError for a Variable with a graph, of a step without gradients."""
        if self.differentiates or self._tape.differentiates:
            return
        for variable in variables_in(returned):
            if variable.creator_node is not None:
                raise TraceError(
                    "capture: what it returns has a graph, which that of a replay has not. Compute "
                    "gradients in the step (those with a graph of their own do not count), return "
                    "its .array, or call it under core.no_backprop_mode()."
                )

    def left(self, arguments: list[Any]) -> list[Left]:
        """What is to be delivered after each run."""
        found = [Left(reporting(observer), values) for values, observer in self.reports]
        graded = [i for i, x in enumerate(arguments) if x._grad is not None]
        if graded:
            grads = [_array(arguments[i]._grad) for i in graded]
            self.arguments = arguments
            found.append(Left(to_arguments(arguments, graded), grads))
        gradients = self.gradients()
        self.differentiates |= bool(graded) or any([g is not None for _, g in gradients])
        self._replace(gradients)
        written = [(each, each.parameter._array) for each, _ in self._parameters_written()]
        for giving, pairs in ((delivering, gradients), (_writing, written)):
            if pairs:
                parameters, arrays = zip(*pairs, strict=True)
                found.append(Left(giving([*parameters]), [*arrays]))
        return [*found, *self._counted(), *self._in_variables(), *self._in_attributes()]

    def _counted(self) -> Iterator[Left]:
        """How many parts the step has accumulated the gradients of."""
        for optimizer in self.optimizers:
            before = self._counts[id(optimizer)]
            more = {name: n - before[name] for name, n in _counts(optimizer).items()}
            if optimizer._parts and any(more.values()):
                yield Left(counting(optimizer, more), ())
            elif before.get("_parts") and not optimizer._parts:
                raise TraceError(
                    f"capture: {type(optimizer).__name__}.drop_accumulated() is called in the "
                    "step. Call it outside."
                )

    def _in_variables(self) -> Iterator[Left]:
        """The arrays of Variables that are attributes of links."""
        for path, own, name, held, array, put in self._variables:
            if own.get(name) is not held:
                continue
            if held._grad is not None:
                raise TraceError(
                    f"capture: {path}, a Variable, gets a gradient. Make it a Parameter."
                )
            if held._array is not array:
                yield Left(put, held._array)

    def _in_attributes(self) -> Iterator[Left]:
        """What attributes of links have been set to."""
        for path, each, before, kept in self.links.values():
            put = attributes(path.rstrip("/"), each, before, kept, self._put[id(each)])
            yield from put.values()
            self.assigned[id(each)] = set(put)
        if any([parameter._array is not None for parameter in self.unmade]):
            raise TraceError("capture: a parameter gets its array in the step.")

    def changes(self) -> list[tuple[Any, Value]]:
        """The places whose arrays the step has changed, but for parameters and gradients."""
        own = {id(each.array) for each in self.held}
        grads = [each.graded._grad for each in self.held]
        graded = {id(_array(grad)) for grad in grads if grad is not None}
        return [
            (place, array.value)
            for place, array in self._arrays
            if id(array) not in own and id(array) not in graded and array.value is not place.value
        ]

    def refuse_chained(self, places: Any) -> None:
        """Raise TraceError where a program reads what an earlier graph has given."""
        for path, place in self._chained:
            if place in places:
                raise TraceError(
                    f"capture: {path} comes from the graph of an earlier step. Call "
                    "unchain_backward() on it at the end of the step, or reset_state() of its link."
                )

    def refuse_others(self, places: Any) -> None:
        """Raise TraceError where a program reads arrays of another backend than it runs on."""
        backend = self._tape.backend
        for place in places:
            theirs = BACKENDS[type(place.read())]
            if theirs is not backend:
                raise TraceError(
                    f"capture: expected {place.name} to be an array of backend {backend.name}, as "
                    f"the arguments are, got one of {theirs.name}."
                )


class Unmade(TraceError):
    """Raised in place of making a parameter's array, which a call that runs as it is does."""


def unmade(array: Any) -> Never:
    """The initializer of parameters without arrays, while a step is recorded."""
    raise Unmade("capture: a parameter gets its array in the step.")


def _array(grad: Any) -> Any:
    return grad._array if isinstance(grad, Variable) else grad


def _writing(held: list[Held]) -> Callable[[Any], None]:
    """What gives parameters what the step has: new elements, or another array."""
    return writing([e.parameter for e in held], [e.parameter._array is e.array for e in held])


def _counts(optimizer: Any) -> dict[str, int]:
    return {name: getattr(optimizer, name) for name in optimizer._of_gradients}


def _counting(parameter: Any) -> Callable[[], None]:
    def count() -> None:
        parameter.version += 1

    return count


def variables_in(tree: Any) -> list[Any]:
    """The Variables in tuples, lists and dicts."""
    found: list[Any] = []
    mapped(found.append, tree, Variable)
    return found
