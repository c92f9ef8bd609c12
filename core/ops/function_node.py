"""Function nodes: the operations of a graph.

A class is written in one of two ways. *Declared*: `compute` and gradient rules on arrays, of which
`core.ops.specialize` makes the fast calls and the backward on Variables. *General*: `forward` on
arrays and `backward` on Variables, with `retain_inputs` and `retain_outputs`. Both give the same
kind of node, and `apply` works on both.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self, dataclass_transform

from core.arrays.backend import BACKENDS, Backend, on_kernels_changed
from core.arrays.backend import of as backend_of
from core.arrays.spec import ensure_array, spec_of
from core.errors import GraphError
from core.errors.scalars import is_number, is_whole
from core.graph.graph_node import GraphNode, next_sequence
from core.graph.variable import Variable, as_variable, wrap
from core.ops import declaring, dispatch
from core.ops.operands import scalar_as_array
from core.registry.configuration import State, current_state
from core.registry.once import publishing

if TYPE_CHECKING:
    from core.ops.specialize import Variant
    from core.ops.types.domain import Domain


@dataclass_transform()  # checkers derive the constructor from the settings, as `declaring` does
class FunctionNode(GraphNode):
    """One operation in a graph, from its input nodes to its output nodes.

    See docs/architecture.md for the declared form. In the general form a subclass defines `forward`
    (or `forward_cpu` and `forward_gpu`) and `backward`:

    >>> import core, numpy as np
    >>> class Double(core.FunctionNode):
    ...     def forward(self, inputs):
    ...         return (inputs[0] * 2,)
    ...     def backward(self, indexes, grad_outputs):
    ...         return (grad_outputs[0] * 2,)
    >>> x = core.Variable(np.ones(2, "f"))
    >>> (y,) = Double().apply((x,))
    >>> y
    variable([2., 2.], dtype=float32)
    """

    __slots__ = ()

    # What a class declares; see core.ops.declaration.
    domain: Domain | None = None
    saved: ClassVar[tuple[str, ...]] = ()
    wide: ClassVar[bool] = False  # compute 16-bit floats in float32
    promotes: ClassVar[bool] = False  # mixed inputs give the widest dtype, not that of the first
    inline: ClassVar[bool] = False  # copy one-line bodies into the calls; see core.ops.inline
    kernels_of: ClassVar[type | None] = None  # whose kernels serve too; not inherited
    declared: Any = None
    call: Any  # declared: call(*inputs, **settings) -> a Variable, or a tuple for several outputs

    # What is derived from it when the class is created.
    _plans: ClassVar[dict[Any, Any]] = {}
    _unchecked_plans: ClassVar[dict[Any, Any]] = {}
    _gradient_kernels: ClassVar[dict[type, Any]] = {}
    _variants: ClassVar[dict[int, Variant]] = {}
    _elementwise: ClassVar[bool] = False
    _keeps_spec: ClassVar[bool] = False
    _plan_by_settings: ClassVar[bool] = False
    _checks_types: ClassVar[bool] = False
    _prepares: ClassVar[bool] = False
    _is_specialized: ClassVar[bool] = True
    _bound: ClassVar[list[Callable[[Any], None]]] = []
    _inlined: ClassVar[bool] = False  # a plan may say None: compute stands in the call itself
    _run: Any = None

    # What an instance has while `forward` runs.
    _kept_inputs: tuple[int, ...] | None = None
    _kept_outputs: tuple[int, ...] | None = None
    _forwarding: bool = False

    @classmethod
    def ready_call(cls) -> Any:
        """The specialised call; it is written when first asked for, not when the class is made."""
        if not cls._is_specialized:
            with publishing:
                if not cls._is_specialized:
                    cls.specialize()
        return cls.call

    @classmethod
    def specialize(cls) -> None:
        """Write the calls and gradients, again after a change of kernels."""
        with publishing:
            declaring.specialize_class(cls)
            for bind in cls._bound:
                bind(cls.call)

    @classmethod
    def bind(cls, bind: Callable[[Any], None]) -> None:
        """Give `bind` the call, now and again whenever a better one is written."""
        with publishing:
            cls._bound.append(bind)
            bind(cls.call)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._checks_types = cls.check_type_forward is not FunctionNode.check_type_forward
        if not hasattr(cls, "compute") or declaring.written_generally(cls):
            cls.declared = cls._run = None
            declaring.set_rules(cls, None, None)
            cls._single = False
            return
        declaring.declare(cls)

    @classmethod
    def variant(cls, arity: int) -> Variant:
        """The specialised functions for calls with that many inputs."""
        return declaring.variant(cls, arity)

    def __repr__(self) -> str:
        name = type(self).__name__
        if self.declared is None:
            return f"<{name}>"
        settings = [f"{field}={getattr(self, field)!r}" for field in self.declared.fields]
        return f"{name}({', '.join(settings)})"

    # ------------------------------------------------------------------ applying

    def __call__(self, *inputs: Any) -> Any:
        """Apply to Variables or arrays: a Variable, or a tuple of them for several outputs."""
        outputs = self.apply(inputs)
        return outputs[0] if len(outputs) == 1 else outputs

    def apply(self, inputs: Iterable[Any]) -> tuple[Variable, ...]:
        """Compute the outputs, and record this node if some input needs a gradient.

        A node that is part of a graph already stays as it is: another of the same settings is
        applied in its place.

        Args:
            inputs: Variables or arrays.

        Raises:
            InvalidType: The inputs do not fit.
            BackendError: They live on several backends or devices.
        """
        inputs = tuple(inputs)
        if self._sources is not None:
            return self.again().apply(inputs)
        if self.declared is None:
            return self._apply(inputs)
        hooked = self._local_hooks is not None
        try:
            made = dispatch.take_slow_path(self, inputs) if hooked else self._run(*inputs)
        except TypeError:
            self.variant(len(inputs))  # which refuses a wrong number of them by name
            raise
        return (made,) if self._single else made

    def again(self) -> Self:
        """Make a node with the same settings and hooks that is in no graph."""
        made: Self = GraphNode.__new__(type(self))
        own = {name: kept for name, kept in vars(self).items() if not hasattr(FunctionNode, name)}
        vars(made).update(own)
        if self._local_hooks:
            made._local_hooks, made._plain_raw, made._plain_var = self._local_hooks, None, None
        return made

    def evaluate(self, *args: Any) -> Any:
        """Compute inside a rule: from arrays arrays, from Variables recorded Variables.

        Gradient rules use other operations this way, and so stay differentiable. One output is
        given itself, several as a tuple.
        """
        if any([isinstance(x, Variable) for x in args]):
            outputs = self.apply(args)
            lone = self._single or self.declared is None and len(outputs) == 1
            return outputs[0] if lone else outputs
        args = tuple([scalar_as_array(x) for x in args])
        if self.declared is None:
            results = self._forward(args)
            return results[0] if len(results) == 1 else results
        result = self._compute(args)
        like: Any = spec_of(args[0])
        if type(result) is tuple:
            return tuple([y if y is None else ensure_array(y, like) for y in result])
        return ensure_array(result, like)

    def _compute(self, arrays: tuple[Any, ...]) -> Any:
        """What `compute`, or what a backend has in its place, makes of arrays."""
        specs: Any = tuple([spec_of(x) for x in arrays])
        key = self._plan_key(specs)
        try:
            plan = self._plans[key]
        except (KeyError, TypeError):  # TypeError: an unhashable setting
            plan = None
        compute, xp, _ = plan or dispatch.plan_for(self, key, specs)
        return (compute or type(self).compute)(self, xp, *arrays)  # type: ignore[attr-defined]

    def _plan_key(self, specs: tuple[Any, ...]) -> Any:
        """What a plan is remembered by, as the specialised calls compute it."""
        if self._plan_by_settings and self.declared.fields:
            return (*specs, *[getattr(self, name) for name in self.declared.fields])
        return specs[0] if all([spec is specs[0] for spec in specs]) else specs

    def _apply(self, inputs: Sequence[Any]) -> tuple[Variable, ...]:
        """What `apply` does with a node of the general form."""
        if any([is_number(x) for x in inputs]):
            raise TypeError(
                f"{self.label}: expected Variables or arrays, got a number. Make an array."
            )
        state = current_state()
        variables = [as_variable(x) for x in inputs]
        arrays = tuple([v.array for v in variables])
        self.needs_grad = sum([1 << i for i, v in enumerate(variables) if v.requires_grad])
        self._check(state, variables)
        self._before_forward(state, arrays)
        outputs = tuple([wrap(y) for y in self._forward(arrays)])
        self._after_forward(state, arrays, outputs)
        if self.needs_grad and state.backprop:
            self._record(variables, arrays, outputs)
            self._after_recording(state)
        else:
            self._kept_inputs = self._kept_outputs = None
        return outputs

    def _check(self, state: State, variables: Sequence[Variable]) -> None:
        for v in variables:
            if v.array is None:
                raise GraphError(f"{self.label}: an input is uninitialized")
        backend_of(*[v.array for v in variables])
        if state.check and (self._checks_types or self.domain is not None):
            dispatch.check_types(self, [v._spec for v in variables])  # type: ignore[misc]

    def _forward(self, arrays: tuple[Any, ...]) -> tuple[Any, ...]:
        self._kept_inputs = self._kept_outputs = None
        self._forwarding = True
        try:
            results = self.forward(arrays)
        finally:
            self._forwarding = False
        if type(results) is not tuple:
            raise TypeError(
                f"{self.label}.forward: expected a tuple of arrays, got {type(results).__name__}. "
                "A single output is returned as (y,)."
            )
        self._kept_inputs = self._counted("inputs", self._kept_inputs, len(arrays))
        self._kept_outputs = self._counted("outputs", self._kept_outputs, len(results))
        like = spec_of(arrays[0]) if arrays else None
        if like is None:
            return results
        return tuple([y if y is None else self._as_output(y, like) for y in results])

    def _counted(
        self, what: str, indexes: tuple[int, ...] | None, count: int
    ) -> tuple[int, ...] | None:
        """Indexes counted from the beginning; IndexError for those that do not exist."""
        if not indexes:
            return indexes
        for i in indexes:
            if not -count <= i < count:
                raise IndexError(
                    f"{self.label}.retain_{what}: expected indexes of its {count} {what}, got {i}"
                )
        return tuple([i % count for i in indexes])

    def _as_output(self, y: Any, like: Any) -> Any:
        """An output as an array: itself, or made of the scalar of a library."""
        try:
            BACKENDS[type(y)]
        except TypeError:
            if isinstance(y, Variable) or not hasattr(y, "dtype"):
                raise TypeError(
                    f"{self.label}.forward: expected arrays, got {type(y).__name__}. It takes and "
                    "gives arrays; Variables are for backward."
                ) from None
            return like.backend.asarray(y)
        return y

    def _record(
        self, variables: Sequence[Variable], arrays: tuple[Any, ...], outputs: Sequence[Variable]
    ) -> None:
        self._sources = tuple([v._source or v.node for v in variables])
        self.sequence = next_sequence()
        for i in self._kept_inputs or ():
            self._sources[i].data = arrays[i]
        kept = self._kept_outputs or ()
        retained = tuple([v.array if i in kept else None for i, v in enumerate(outputs)])
        dispatch.link_outputs(self, outputs, retained)

    # ------------------------------------------------------------------ the general contract

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Compute outputs from input arrays: by `compute` if declared, otherwise by backend."""
        if self.declared is not None:
            result = self._compute(inputs)
            return result if type(result) is tuple else (result,)
        on_gpu = backend_of(*inputs).on_gpu
        return self.forward_gpu(inputs) if on_gpu else self.forward_cpu(inputs)

    def forward_cpu(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Compute outputs from input arrays of any backend but CUDA."""
        raise self._unwritten("forward, or forward_cpu")

    def forward_gpu(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Compute outputs from input arrays on a GPU."""
        raise self._unwritten("forward, or forward_gpu")

    def _unwritten(self, what: str) -> GraphError:
        return GraphError(
            f"{self.label}: expected the class to define {what}, or compute; it has none of them"
        )

    def backward(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Variable | None, ...]
    ) -> tuple[Variable | None, ...]:
        """Compute gradients of the target inputs, as Variables, from those of the outputs.

        None stands for no gradient, on both sides. A class that defines nothing is not
        differentiable: its gradients are None.
        """
        if self._var is None:
            return (None,) * len(target_input_indexes)
        needs_grad = sum([1 << i for i in target_input_indexes])
        g = grad_outputs[0] if self._single else grad_outputs
        gradients = self._var(self, g, needs_grad)
        return tuple([gradients[i] for i in target_input_indexes])

    def backward_accumulate(
        self,
        target_input_indexes: tuple[int, ...],
        grad_outputs: tuple[Variable | None, ...],
        grad_inputs: tuple[Variable | None, ...],
    ) -> tuple[Variable | None, ...]:
        """Compute gradients as `backward` does, and add them to those that the inputs have."""
        gradients = self.backward(target_input_indexes, grad_outputs)
        count = len(target_input_indexes)
        if not isinstance(gradients, (tuple, list)):
            raise TypeError(
                f"{self.label}.backward: expected a tuple of Variables, one for each of the inputs "
                f"{target_input_indexes}, got {type(gradients).__name__}. A single gradient is "
                "returned as (gx,)."
            )
        gradients = tuple([None if g is None else self._as_gradient(g) for g in gradients])
        if len(gradients) == len(self._sources) != count:
            gradients = tuple([gradients[i] for i in target_input_indexes])
        if len(gradients) != count:
            raise ValueError(
                f"{self.label}.backward: expected {count} gradients (of inputs "
                f"{', '.join(map(str, target_input_indexes))}), got {len(gradients)}"
            )
        return tuple(
            [
                new if old is None else old if new is None else old + new
                for new, old in zip(gradients, grad_inputs, strict=True)
            ]
        )

    def _as_gradient(self, g: Any) -> Variable:
        try:
            return as_variable(g)
        except TypeError:
            raise TypeError(
                f"{self.label}.backward: expected Variables or None, got {type(g).__name__}"
            ) from None

    def check_type_forward(self, in_types: Any) -> None:
        """Refuse inputs that do not fit, in the language of `core.type_check`."""

    def retain_inputs(self, indexes: Iterable[int]) -> None:
        """Keep the input arrays of these indexes for backward; called inside `forward`."""
        if self._inside_forward("retain_inputs"):
            self._kept_inputs = self._indexes("retain_inputs", indexes)

    def retain_outputs(self, indexes: Iterable[int]) -> None:
        """Keep the output arrays of these indexes for backward; called inside `forward`."""
        if self._inside_forward("retain_outputs"):
            self._kept_outputs = self._indexes("retain_outputs", indexes)

    def _indexes(self, what: str, indexes: Any) -> tuple[int, ...]:
        if is_whole(indexes):
            raise TypeError(f"{self.label}.{what}: expected a tuple of indexes, got {indexes}.")
        return tuple(indexes)

    def _inside_forward(self, what: str) -> bool:
        """True in a recorded forward, False in one that was called directly; otherwise an error."""
        if self._forwarding:
            return True
        frame = sys._getframe(2)
        while frame is not None:
            if frame.f_code.co_name.startswith("forward") and frame.f_locals.get("self") is self:
                return False
            frame = frame.f_back  # type: ignore[assignment]
        raise GraphError(f"{self.label}.{what} was called outside forward; call it inside.")

    def _input_indexes(self) -> tuple[int, ...]:
        if self.declared is None:
            return self._kept_inputs or ()
        count = len(self._sources)
        kept = [self._keeps(name) for name in self.declared.names]
        if self.declared.variadic:
            return tuple(range(count)) if kept[0] else ()
        return tuple([i for i in range(count) if kept[i]])

    def _output_indexes(self) -> tuple[int, ...]:
        if self.declared is None:
            return self._kept_outputs or ()
        names = self.declared.outputs or ("out",)
        return tuple([i for i, name in enumerate(names) if self._keeps(name)])

    def _keeps(self, name: str) -> bool:
        return bool(self.declared.kept(name, len(self._sources)) & self.needs_grad)

    def get_retained_inputs(self) -> tuple[Variable, ...]:
        """Return the retained inputs as Variables, connected to the graph."""
        return tuple([self.inputs[i].get_variable() for i in self._input_indexes()])

    def get_retained_outputs(self) -> tuple[Variable, ...]:
        """Return the retained outputs as Variables, connected to the graph."""
        return tuple([self._output_variable(i) for i in self._output_indexes()])


class Elementwise(FunctionNode):
    """An operation on corresponding elements: inputs broadcast and have one dtype, the result's.

    A result of another dtype (a comparison) sets `keeps_dtype = False`. With `with_scalar` a number
    as the second input takes that operation instead, whose setting `operand` it is; beside integers
    an operand has to be whole.
    """

    _elementwise = True
    _keeps_spec = True
    keeps_dtype: ClassVar[bool] = True
    with_scalar: ClassVar[Any] = None
    operand: ClassVar[str | None] = None
    _unbroadcast: ClassVar[Any]  # beside core.ops.intrinsics.broadcasting.SumTo, which it calls

    def __init_subclass__(cls, **kwargs: Any) -> None:
        cls._keeps_spec = cls.keeps_dtype
        super().__init_subclass__(**kwargs)


def _below(cls: type[FunctionNode]) -> Iterator[type[FunctionNode]]:
    for derived in cls.__subclasses__():
        yield derived
        yield from _below(derived)


def _plan_anew(backend: Backend) -> None:
    dispatch.forget_plans(_below(FunctionNode), backend)


on_kernels_changed.append(_plan_anew)
