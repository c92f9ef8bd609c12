"""How gradients go back through `core.vmap`: the walk back of one example, made for all at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from typing import Any, NamedTuple

from core import functions
from core.arrays.backend import Backend
from core.derivatives.batching import compute
from core.derivatives.batching_rules import Examples
from core.errors import NotDifferentiable, TraceError
from core.graph.backprop import grad
from core.graph.variable import Variable, wrap
from core.link.parameter import Parameter
from core.ops.function_node import FunctionNode
from core.programs import Equation, Program, Value, flattened, leaves, rebuilt, without_dead
from core.registry.configuration import current_state, using_config
from core.tracing import (
    Places,
    Tape,
    as_values,
    depends_on,
    taken_by,
    traced,
    tracing_backend,
    what_is_around,
)
from core.tracing import tape as tapes


class Sources(Places):
    """The places of a function from whose results gradients go back to what is outside of it.

    `graded` are the parameters and Variables there, `around` what derivatives that are being taken
    come to, of these and of arguments.
    """

    def __init__(self, tape: Tape) -> None:
        super().__init__(tape)
        self.graded: list[Variable] = []
        self.around: list[Variable] = []
        self._ends: dict[int, tuple[Any, Any]] = {}  # places in graphs outside, and leaves for them

    def take_parameter(self, parameter: Any) -> None:
        """Let a parameter hold a traced array."""
        known = id(parameter) in self._known
        super().take_parameter(parameter)
        if not known and id(parameter) in self._known and parameter.requires_grad:
            self.graded.append(parameter)
            self._ends[id(parameter._source)] = parameter._source, parameter._source

    def _from_outside(self, x: Any) -> None:
        """Let a Variable be a leaf, where gradients end; several may stand for one place."""
        source = getattr(x, "_source", None)
        if source is None or isinstance(x, Parameter):
            return
        if id(source) not in self._ends:
            self.graded.append(x)
            leaf = source
            if x.creator_node is not None:
                leaf = Variable(x._array)._source
                if depends_on(self._differentiated, x):
                    self.around.append(x)
            self._ends[id(source)] = self._ends[id(leaf)] = source, leaf
        _, leaf = self._ends[id(source)]
        if leaf is not source:
            x._source = leaf
            self._undo.append(lambda: setattr(x, "_source", source))


class Walk:
    """A function of one example, and after it the walk back from its results.

    It is there to be traced: what it gives are the results, and gradients of `reached`, which are
    numbers of arguments with gradients, and behind these of Variables from outside.
    """

    def __init__(self, function: Callable[..., Any], tape: Tape) -> None:
        self.function = function
        self.__name__ = getattr(function, "__name__", type(function).__name__)
        self._tape = tape
        self._sources = tape.places = Sources(tape) if current_state().backprop else None
        self._end: int | None = None
        self.leading: list[int] = []  # among results with gradients, but for leaves made inside
        self.weights: list[Value] = []
        self.reached: list[int] = []
        self.error: Exception | None = None

    @property
    def outside(self) -> list[Variable]:
        """Variables from outside that the function names."""
        return [] if self._sources is None else self._sources.graded

    def __call__(self, *args: Any) -> Any:
        """The results, and gradients."""
        places = self._sources
        if places is None:
            return self.function(*args), ()
        if what_is_around():  # whose derivatives go through the arguments
            places.around += graded(args)
            with taken_by(places.around):
                result = self.function(*args)
        else:
            result = self.function(*args)
        tape = self._tape
        as_values(tape, flattened(result)[0])  # views of what has changed since are made anew here
        self._end = end = len(tape.equations)
        every = [places.lifted(y) for y in graded(result)]
        xs = [*graded(args), *self.outside]
        ends = {id(x._source) for x in xs}
        self.leading = [
            i for i, y in enumerate(every) if y.creator_node is not None or id(y._source) in ends
        ]
        ys = [every[i] for i in self.leading]
        if not ys or not xs:
            return result, ()
        self.weights = [Value(y.shape, y.dtype) for y in ys]
        before = tape.refused
        try:
            found = grad(ys, xs, [wrap(traced(tape, value)) for value in self.weights])
        except (NotDifferentiable, TraceError) as error:  # told to who asks for gradients
            del tape.equations[end:]
            tape.refused, self.error, self.reached = before, error, list(range(len(xs)))
            return result, ()
        self.reached = [i for i, g in enumerate(found) if g is not None]
        return result, [g.array for g in found if g is not None]

    def forward(self, whole: Program) -> Program:
        """The equations that give the results."""
        count = len(whole.outputs) - (0 if self.error else len(self.reached))
        return without_dead(
            whole.changed(
                equations=whole.equations[: self._end],
                outputs=whole.outputs[:count],
                result=whole.result[0],
            )
        )

    def backward(self, whole: Program, forward: Program) -> Program:
        """The equations that give the gradients, without those that the forward pass has made."""
        count = len(forward.outputs)
        program = without_dead(whole.changed(outputs=whole.outputs[count:], changes=()))
        made = {id(e) for e in forward.equations}
        kept = [e for e in program.equations if id(e) not in made]
        return program.changed(equations=tuple(kept))


def graded(tree: Any) -> list[Variable]:
    """The Variables in a structure that need gradients."""
    return [x for x in leaves(tree) if isinstance(x, Variable) and x.requires_grad]


def beside(x: Any) -> Any:
    """Another Variable of the same array and place in the graph, for nodes keep no Variables."""
    if not isinstance(x, Variable) or isinstance(x, Parameter):
        return x
    other = wrap(x._array)
    other._source = x._source
    return other


class Way(NamedTuple):
    """A result, or what it depends on, and the value of one example's gradient.

    `axis` is where its examples lie, None where it is the same for all.
    """

    gradient: Value
    axis: int | None


class Pull:
    """The equations that give gradients from weights, and what they read of the way forward."""

    def __init__(
        self,
        backend: Backend,
        size: int,
        equations: Iterable[Equation],
        found: dict[Value, Any],
        outputs: list[Way],
        inputs: list[Way],
    ) -> None:
        self._backend = backend
        self._size = size
        self._equations = list(equations)
        read = {v for e in self._equations for v in e.inputs} | {way.gradient for way in inputs}
        self._found = {value: found[value] for value in read if value in found}
        self._outputs = outputs
        self._inputs = inputs
        self._summed = self._products()
        self._kept = {way.gradient for way in inputs}
        self._kept |= {value for e in self._summed.values() for value in e.inputs}

    def _products(self) -> dict[Value, Equation]:
        """Products of matrices of which nothing is wanted but their sum over the examples."""
        reads = [value for e in self._equations for value in e.inputs]
        reads += [way.gradient for way in self._inputs]
        shared = {way.gradient for way in self._inputs if way.axis is None}
        return {
            e.outputs[0]: e
            for e in self._equations
            if e.call.kind == "xp"
            and e.call.name == "matmul"
            and not e.kwargs
            and e.outputs[0] in shared
            and reads.count(e.outputs[0]) == 1
            and all([len(value.shape) == 2 for value in e.inputs])
        }

    def __call__(self, weights: list[Any], wanted: tuple[int, ...]) -> tuple[Any, ...]:
        """The gradients of the inputs that are wanted, from those of the outputs."""
        backend = tracing_backend() if tapes.under_way() else self._backend
        found = dict(self._found)
        for way, g in zip(self._outputs, weights, strict=True):
            found[way.gradient] = Examples(self._spread(backend.xp, way, g))
        later = [id(e) for e in self._summed.values()]
        equations = [e for e in self._equations if id(e) not in later]
        compute(equations, backend, self._size, found, self._kept)
        return tuple([self._gradient(backend, self._inputs[i], found) for i in wanted])

    def _spread(self, xp: Any, way: Way, g: Any) -> Any:
        """The weights of all examples; that of a result that they share is in the first alone."""
        shape = (self._size, *way.gradient.shape)
        if g is None:
            return xp.zeros(shape, dtype=way.gradient.dtype)
        if way.axis is not None:
            return xp.moveaxis(g, way.axis, 0)
        none = xp.zeros((self._size - 1, *shape[1:]), dtype=g.dtype)
        return xp.concat([xp.reshape(g, (1, *g.shape)), none])

    def _gradient(self, backend: Backend, way: Way, found: dict[Value, Any]) -> Any:
        xp = backend.xp
        product = self._summed.get(way.gradient)
        if product is not None:
            a, b = (found[value] for value in product.args)
            if isinstance(a, Examples) and isinstance(b, Examples):  # one product of longer sums
                rows, columns = a.shape[0], b.shape[1]
                left = xp.reshape(xp.moveaxis(a.array, 0, 1), (rows, -1))
                return xp.matmul(left, xp.reshape(b.array, (-1, columns)))
            compute([product], backend, self._size, found, self._kept)
        g = found[way.gradient]
        if not isinstance(g, Examples):  # which no weight has a part in: zeros
            g = Examples(xp.zeros((self._size, *way.gradient.shape), dtype=way.gradient.dtype))
        if way.axis is None:
            return backend.asarray(xp.sum(g.array, axis=0, dtype=g.dtype))
        return xp.moveaxis(g.array, 0, way.axis)


class Again(NamedTuple):
    """A call of `vmap`, and what is needed to make it again, with the walk back inside of it.

    `leading` are the numbers of the results, among those with gradients, that lead back;
    `arrays` are those of the arguments, of the structure `form`; `outside` the Variables from
    elsewhere, and `reached` the numbers, among both with gradients, of those that get one.
    """

    vmap: Callable[..., Any]
    function: Callable[..., Any]
    form: Any
    arrays: list[Any]
    axes: list[int | None]
    outside: list[Variable]
    reached: list[int]
    outputs: list[Way]
    leading: list[int]
    around: list[Variable]
    train: Any

    def gradients(self, weights: list[Variable | None], wanted: tuple[int, ...]) -> list[Any]:
        """The gradients of the inputs that are wanted, with a graph of their own."""
        present = [j for j, g in enumerate(weights) if g is not None]
        targets = [self.reached[i] for i in wanted]

        def pull(arrays: list[Any], *weights: Any) -> list[Any]:
            args = rebuilt(self.form, lambda leaf: arrays[leaf.number])
            lifted = tapes.current().places.lifted
            ys = graded(self.function(*args))
            starts = [lifted(ys[self.leading[j]]) for j in present]
            xs = [*graded(args), *self.outside]
            return grad(starts, [xs[k] for k in targets], weights, enable_double_backprop=True)

        own = [axis for axis, x in zip(self.axes, self.arrays, strict=True) if graded(x)]
        axes = [own[k] if k < len(own) else None for k in targets]
        along = self.axes, *[self.outputs[j].axis for j in present]
        mapped = self.vmap(pull, along, [0 if axis is None else axis for axis in axes])
        around = taken_by(self.around) if self.around else nullcontext()
        with using_config("train", self.train), around:
            found = mapped(self.arrays, *[weights[j] for j in present])
        return [
            functions.sum(g, axis=0) if g is not None and axis is None else g
            for g, axis in zip(found, axes, strict=True)
        ]


class Mapped(FunctionNode):
    """What `core.vmap` gives that leads back to what it was given, and to what is outside."""

    label = "vmap"

    def __init__(
        self, pull: Pull | Exception, again: Again | None, results: tuple[Any, ...]
    ) -> None:
        self.pull = pull
        self.call = again
        self.results = results

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """The results, which were computed before the node was made."""
        results, self.results = self.results, ()
        return results

    def backward(
        self, indexes: tuple[int, ...], grad_outputs: tuple[Variable | None, ...]
    ) -> tuple[Variable | None, ...]:
        """By the recorded equations; with a graph, by calling `vmap` again with the walk inside."""
        if isinstance(self.pull, Exception):
            raise self.pull
        if not current_state().backprop:
            weights = [None if g is None else g.array for g in grad_outputs]
            return tuple(map(wrap, self.pull(weights, indexes)))
        if self.call is None:
            raise NotDifferentiable(
                "vmap: the function draws random numbers, or gives what is the same for all, and "
                "so has first derivatives alone. Take the first ones inside of vmap."
            )
        return tuple(self.call.gradients(list(grad_outputs), indexes))
