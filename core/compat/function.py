"""Old-style functions: gradients computed on arrays, and so differentiable once.

A `Function` is what the user writes, holds and calls. Each call puts a function node of its own in
the graph, a `FunctionAdapter`. The adapter owns its function, which in turn knows it weakly.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from weakref import ref

from core.arrays.backend import of as backend_of
from core.arrays.spec import spec_of
from core.errors import BackendError, GraphError, NotDifferentiable
from core.errors.scalars import is_scalar
from core.errors.slips import TellsSlips
from core.graph.function_hook import FunctionHook
from core.graph.variable import Variable, wrap
from core.ops.function_node import FunctionNode
from core.registry.configuration import current_state
from core.registry.configuration import force_backprop_mode as force_backprop_mode
from core.registry.configuration import no_backprop_mode as no_backprop_mode
from core.registry.public import listing

_running: ContextVar[FunctionAdapter | None] = ContextVar("core.function.running", default=None)


class Function(TellsSlips):
    """Base of functions whose backward works on arrays.

    A subclass defines `forward` and `backward`, or the `_cpu` and `_gpu` forms of them, and calls
    its instances on Variables or arrays. It may keep arrays as attributes of its own for backward.
    Without a backward the function is not differentiable: its inputs get no gradient. Second
    derivatives are refused; they need a `core.FunctionNode`.

    All inputs are retained for backward unless `retain_inputs` says otherwise. An instance may be
    called again: the earlier call then keeps a copy of it, with the attributes of that time.

    >>> import core, numpy as np
    >>> class Square(core.Function):
    ...     def forward(self, inputs):
    ...         return (inputs[0] * inputs[0],)
    ...     def backward(self, inputs, grad_outputs):
    ...         return (2 * inputs[0] * grad_outputs[0],)
    >>> x = core.Variable(np.array([3.0], "f"))
    >>> y = Square()(x)
    >>> y.backward()
    >>> x.grad
    array([6.], dtype=float32)
    """

    _node: ref[FunctionAdapter] | None = None
    _hooks: dict[str, FunctionHook] | None = None

    def __call__(self, *inputs: Any) -> Any:
        """Apply to Variables or arrays: a Variable, or a tuple of them for several outputs."""
        self._leave_earlier_call()
        node = FunctionAdapter(self)
        self._node = ref(node)
        outputs = node.apply(inputs)
        return outputs[0] if len(outputs) == 1 else outputs

    def _leave_earlier_call(self) -> None:
        node = self._node() if self._node is not None else None
        if node is not None and node.inputs is not None:
            left = copy.copy(self)
            left._node = self._node
            node._function = left

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the place in a graph, which can be neither pickled nor copied."""
        return {name: value for name, value in self.__dict__.items() if name != "_node"}

    # ------------------------------------------------------------------ what a subclass defines

    def check_type_forward(self, in_types: Any, /) -> None:
        """Refuse ill-fitting inputs, in the language of `core.type_check`."""

    def forward(self, inputs: tuple[Any, ...], /) -> tuple[Any, ...]:
        """Output arrays from input arrays; by default `forward_gpu` or `forward_cpu`."""
        return self.forward_gpu(inputs) if _on_gpu(inputs) else self.forward_cpu(inputs)

    def forward_cpu(self, inputs: tuple[Any, ...], /) -> tuple[Any, ...]:
        """Output arrays from input arrays of any backend but CUDA."""
        raise self._unwritten("forward, or forward_cpu")

    def forward_gpu(self, inputs: tuple[Any, ...], /) -> tuple[Any, ...]:
        """Output arrays from input arrays on a GPU."""
        raise self._unwritten("forward, or forward_gpu")

    def _unwritten(self, what: str) -> GraphError:
        return GraphError(f"{self.label}: expected the class to define {what}; it has none of them")

    def backward(self, inputs: tuple[Any, ...], grad_outputs: tuple[Any, ...], /) -> Sequence[Any]:
        """Gradients of all inputs, arrays or None, from the gradients of the outputs.

        `inputs` has None for arrays not retained, `grad_outputs` for outputs that got no gradient.
        """
        on_gpu = _on_gpu((*inputs, *grad_outputs))
        compute = self.backward_gpu if on_gpu else self.backward_cpu
        return compute(inputs, grad_outputs)

    def backward_cpu(
        self, inputs: tuple[Any, ...], grad_outputs: tuple[Any, ...], /
    ) -> Sequence[Any]:
        """Gradients on any backend but CUDA; None for each input where not overridden."""
        return (None,) * len(inputs)

    def backward_gpu(
        self, inputs: tuple[Any, ...], grad_outputs: tuple[Any, ...], /
    ) -> Sequence[Any]:
        """Gradients on a GPU; None for each input where not overridden."""
        return (None,) * len(inputs)

    # ------------------------------------------------------------------ called inside forward

    def retain_inputs(self, indexes: Iterable[int]) -> None:
        """Keep for backward only the inputs of these indexes; called inside `forward`."""
        if self._inside_forward("retain_inputs"):
            self.node.retain_inputs(indexes)

    def retain_outputs(self, indexes: Iterable[int], retain_after_backward: bool = False) -> None:
        """Keep these outputs, for `output_data` in backward; called inside `forward`.

        They are kept as long as the graph is, whatever `retain_after_backward` says.
        """
        if self._inside_forward("retain_outputs"):
            self.node.retain_outputs(indexes)

    def _inside_forward(self, what: str) -> bool:
        """True in a recorded forward, False in one that was called directly; otherwise an error."""
        if self.node._forwarding:
            return True
        frame: Any = sys._getframe(2)
        while frame is not None:
            if frame.f_code.co_name.startswith("forward") and frame.f_locals.get("self") is self:
                return False
            frame = frame.f_back
        raise GraphError(f"{self.label}.{what} was called outside forward; call it inside.")

    # ------------------------------------------------------------------ the place in the graph

    @property
    def node(self) -> FunctionAdapter:
        """The adapter at work, or that of the latest call, or a new one."""
        running = _running.get()
        if running is not None and running.function is self:
            return running
        node = self._node() if self._node is not None else None
        if node is None:
            node = FunctionAdapter(self)
            self._node = ref(node)
        return node

    @property
    def label(self) -> str:
        """What graphs and messages call the function: by default the name of its class."""
        return type(self).__name__

    @property
    def inputs(self) -> Any:
        """The nodes of the inputs, a tuple; None outside a graph."""
        return self.node.inputs

    @property
    def outputs(self) -> tuple[Any, ...]:
        """Weak references to the nodes of the outputs."""
        return self.node.outputs

    @property
    def output_data(self) -> tuple[Any, ...]:
        """The retained output arrays, None for those not retained."""
        return self.node.output_data

    @property
    def rank(self) -> int:
        """Length of the longest path from a leaf."""
        return self.node.rank

    @property
    def stack(self) -> Any:
        """Where the function was called, if that was in debug mode."""
        return self.node.stack

    def unchain(self) -> None:
        """Cut the function off its inputs and outputs."""
        self.node.unchain()

    @property
    def local_function_hooks(self) -> dict[str, FunctionHook]:
        """The hooks of this function alone, by name."""
        if self._hooks is None:
            self._hooks = {}
        return self._hooks

    def add_hook(self, hook: FunctionHook, name: str | None = None) -> None:
        """Call `hook` before and after this function's forward and backward."""
        node = self.node
        node.add_hook(hook, name)
        self._hooks = node.local_function_hooks

    def delete_hook(self, name: str) -> None:
        """Remove a hook of this function."""
        node = self.node
        node.delete_hook(name)
        self._hooks = node.local_function_hooks


class FunctionAdapter(FunctionNode):
    """The function node of one call of an old-style `Function`."""

    def __init__(self, function: Function) -> None:
        self._function = function
        self._local_hooks = function.local_function_hooks

    @property
    def function(self) -> Function:
        """The function whose call this is."""
        return self._function

    @property
    def creator(self) -> Function:
        """The function: what users see as the creator of the outputs."""
        return self._function

    @property
    def label(self) -> str:
        """The label of the function."""
        return self._function.label

    def check_type_forward(self, in_types: Any) -> None:
        """The function's own check."""
        self._function.check_type_forward(in_types)

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """The outputs that the function computes; all inputs are retained unless it says less."""
        if self._forwarding:
            self.retain_inputs(range(len(inputs)))
        with _at_work(self):
            return self._function.forward(inputs)

    def backward(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Variable | None, ...]
    ) -> tuple[Variable | None, ...]:
        """The gradients that the function computes, as Variables that refuse to be derived."""
        kept = self._kept_inputs or ()
        arrays = tuple([node.data if i in kept else None for i, node in enumerate(self.inputs)])
        grads = tuple([None if g is None else g.array for g in grad_outputs])
        with _at_work(self):
            found = self._function.backward(arrays, grads)
        self._check_number(found)
        gradients = [self._checked(i, found[i]) for i in target_input_indexes]
        if current_state().backprop:
            return _Gradient(self.label).record(self, grad_outputs, gradients)
        return tuple([None if g is None else wrap(g) for g in gradients])

    def _check_number(self, found: Any) -> None:
        if not isinstance(found, (tuple, list)) or len(found) != len(self.inputs):
            got = len(found) if isinstance(found, (tuple, list)) else type(found).__name__
            raise ValueError(
                f"{self.label}.backward: expected a tuple of {len(self.inputs)} gradients, arrays "
                f"or None, one for each input; got {got}."
            )

    def _checked(self, index: int, gradient: Any) -> Any:
        """The gradient as an array, where it is one like the input."""
        spec = self.inputs[index].spec
        if gradient is None or spec is None:
            return gradient
        gradient = self._as_array(index, gradient)
        given = spec_of(gradient)
        if given is not spec and given is not None:
            self._compare(index, "shape", spec.shape, given.shape)
            self._compare(index, "dtype", spec.name, given.name)
        return gradient

    def _as_array(self, index: int, gradient: Any) -> Any:
        """The gradient itself, or an array of the scalar that some library made of it."""
        try:
            backend_of(gradient)
        except BackendError as error:
            if not is_scalar(gradient):
                raise TypeError(
                    f"{self.label}.backward: expected an array or None as the gradient of input "
                    f"{index}, got {type(gradient).__name__}."
                ) from error
            return self.inputs[index].spec.backend.asarray(gradient)
        return gradient

    def _compare(self, index: int, what: str, expected: Any, got: Any) -> None:
        if expected != got:
            kind = TypeError if what == "dtype" else ValueError
            raise kind(
                f"{self.label}.backward: expected a gradient of {what} {expected} for input "
                f"{index}, which has that {what}; got {got}."
            )


class _Gradient(FunctionNode):
    """Stands in the graph of a backward for the gradient of an old-style function, and stops it.

    It depends on all that the gradient depends on, so that no derivative passes it by unseen.
    """

    def __init__(self, name: str) -> None:
        self._of = name

    @property
    def label(self) -> str:
        return f"{self._of} (gradient)"

    def record(
        self,
        adapter: FunctionAdapter,
        grad_outputs: tuple[Variable | None, ...],
        gradients: Sequence[Any],
    ) -> tuple[Variable | None, ...]:
        """The gradients as outputs of this node; None stays None."""
        sources = [node.get_variable() for node in adapter.inputs]
        sources += [g for g in grad_outputs if g is not None]
        outputs = [None if g is None else wrap(g, True) for g in gradients]
        self.needs_grad = sum([1 << i for i, v in enumerate(sources) if v.requires_grad])
        self._record(sources, (), [v for v in outputs if v is not None])
        return tuple(outputs)

    def backward(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Variable | None, ...]
    ) -> tuple[Variable | None, ...]:
        raise NotDifferentiable(
            f"{self._of}: its second derivative was asked for, but it is an old-style Function, "
            "which computes its gradient on arrays and is differentiable once. Write it as a "
            "core.FunctionNode, with a backward on Variables."
        )


@contextmanager
def _at_work(node: FunctionAdapter) -> Iterator[None]:
    token = _running.set(node)
    try:
        yield
    finally:
        _running.reset(token)


def _on_gpu(arrays: Iterable[Any]) -> bool:
    first = next((array for array in arrays if array is not None), None)
    return first is not None and backend_of(first).on_gpu


__all__ = ["Function", "FunctionAdapter", "force_backprop_mode", "no_backprop_mode"]

__dir__ = listing(__name__)
