"""The general form of an operation: `forward` on arrays and `backward` on Variables, as in Chainer.

A forward says by `retain_inputs` and `retain_outputs` what its backward will ask for. Classes that
declare `compute` instead answer the same calls from their declaration.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from typing import Any

from core.arrays.backend import of as backend_of
from core.arrays.spec import spec_of
from core.errors import GraphError
from core.errors.scalars import is_number, is_whole
from core.errors.slips import TellsSlips
from core.graph.fitting import is_array
from core.graph.graph_node import next_sequence
from core.graph.variable import Variable, as_variable, wrap
from core.ops.checking import checked
from core.ops.operands import beside_traced
from core.ops.operation import Operation
from core.ops.outputs import link_outputs
from core.registry.configuration import current_state


class GeneralForm(Operation, TellsSlips):
    """The methods of Chainer's function nodes, with which `core.ops.function_node` begins."""

    __slots__ = ()

    _compute: Any  # of declared ones

    # What an instance has while `forward` runs.
    _kept_inputs: tuple[int, ...] | None = None
    _kept_outputs: tuple[int, ...] | None = None
    _forwarding: bool = False

    def forward(self, inputs: tuple[Any, ...], /) -> tuple[Any, ...]:
        """Compute outputs from input arrays: by `compute` if declared, otherwise by backend."""
        if self.declared is not None:
            result = self._compute(inputs)
            return result if type(result) is tuple else (result,)
        on_gpu = backend_of(*inputs).on_gpu
        return self.forward_gpu(inputs) if on_gpu else self.forward_cpu(inputs)

    def forward_cpu(self, inputs: tuple[Any, ...], /) -> tuple[Any, ...]:
        """Compute outputs from input arrays of any backend but CUDA."""
        raise GraphError(
            f"{self.label}: expected the class to define forward, forward_cpu and forward_gpu, or "
            "compute; it lacks them"
        )

    def forward_gpu(self, inputs: tuple[Any, ...], /) -> tuple[Any, ...]:
        """Compute outputs from input arrays on a GPU."""
        return GeneralForm.forward_cpu(self, inputs)

    def backward(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Variable | None, ...], /
    ) -> tuple[Variable | None, ...]:
        """Compute gradients of the target inputs, as Variables, from those of the outputs.

        None stands for no gradient, on both sides. A class that defines nothing is not
        differentiable: its gradients are None.
        """
        var = self._rules[2]
        if var is None:
            return (None,) * len(target_input_indexes)
        needs_grad = sum([1 << i for i in target_input_indexes])
        g = grad_outputs[0] if self._single else grad_outputs
        gradients = var(self, g, needs_grad)
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
        if len(gradients) == len(self._sources) != count:
            gradients = tuple([gradients[i] for i in target_input_indexes])
        if len(gradients) != count:
            raise ValueError(
                f"{self.label}.backward: expected {count} gradients (of inputs "
                f"{', '.join(map(str, target_input_indexes))}), got {len(gradients)}"
            )
        added = zip(map(self._as_gradient, gradients), grad_inputs, strict=True)
        return tuple(
            [new if old is None else old if new is None else old + new for new, old in added]
        )

    def _as_gradient(self, g: Any) -> Variable | None:
        if g is None or isinstance(g, Variable):
            return g
        if not is_array(g):
            raise TypeError(
                f"{self.label}.backward: expected Variables or None, got {type(g).__name__}"
            )
        return wrap(g)

    def check_type_forward(self, in_types: Any, /) -> None:
        """Refuse inputs that do not fit, in the language of `core.type_check`."""

    def retain_inputs(self, indexes: Iterable[int]) -> None:
        """Keep the input arrays of these indexes for backward; called inside `forward`."""
        self._retain("inputs", indexes)

    def retain_outputs(self, indexes: Iterable[int]) -> None:
        """Keep the output arrays of these indexes for backward; called inside `forward`."""
        self._retain("outputs", indexes)

    def _retain(self, what: str, indexes: Any) -> None:
        if self._inside_forward(f"retain_{what}"):
            if is_whole(indexes):
                raise TypeError(
                    f"{self.label}.retain_{what}: expected a tuple of indexes, got {indexes}."
                )
            setattr(self, f"_kept_{what}", tuple(indexes))

    def _inside_forward(self, what: str) -> bool:
        """True in a recorded forward, False in one that was called directly; otherwise an error."""
        if self._forwarding:
            return True
        frame = sys._getframe(3)
        while frame is not None:
            if frame.f_code.co_name.startswith("forward") and frame.f_locals.get("self") is self:
                return False
            frame = frame.f_back  # type: ignore[assignment]
        raise GraphError(f"{self.label}.{what} was called outside forward; call it inside.")

    def _apply_generally(self, inputs: Sequence[Any]) -> tuple[Variable, ...]:
        """What `apply` does with a node of the general form."""
        if any([is_number(x) for x in inputs]):
            raise TypeError(
                f"{self.label}: expected Variables or arrays, got a number. Make an array."
            )
        state = current_state()
        if state.slow_path:
            inputs = beside_traced(tuple(inputs))
        variables = [as_variable(x) for x in inputs]
        arrays = tuple([v.array for v in variables])
        self.needs_grad = sum([1 << i for i, v in enumerate(variables) if v.requires_grad])
        checked(self, [v._spec for v in variables], state.check)
        self._before_forward(state, arrays)
        spec = variables[0]._spec if variables else None
        around = None if spec is None else spec.backend.around(spec.device)
        with nullcontext() if around is None else around():
            outputs = tuple([wrap(y) for y in self._forward(arrays)])
        self._after_forward(state, arrays, outputs)
        if self.needs_grad and state.backprop:
            self._record(variables, arrays, outputs)
            self._after_recording(state)
        else:
            self._kept_inputs = self._kept_outputs = None
        return outputs

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
        if is_array(y):
            return y
        if isinstance(y, Variable) or not hasattr(y, "dtype"):
            raise TypeError(
                f"{self.label}.forward: expected arrays, got {type(y).__name__}. It takes and "
                "gives arrays; Variables are for backward."
            )
        return like.backend.asarray(y)

    def _record(
        self, variables: Sequence[Variable], arrays: tuple[Any, ...], outputs: Sequence[Variable]
    ) -> None:
        self._sources = tuple([v._source or v.node for v in variables])
        self.sequence = next_sequence()
        for i in self._kept_inputs or ():
            self._sources[i].data = arrays[i]
        kept = self._kept_outputs or ()
        retained = tuple([v.array if i in kept else None for i, v in enumerate(outputs)])
        link_outputs(self, outputs, retained)

    def _indexes_of(self, what: str, names: tuple[str, ...]) -> tuple[int, ...]:
        """Which inputs, or outputs, of these names are retained."""
        if self.declared is None:
            return getattr(self, f"_kept_{what}") or ()
        count, needed = len(self._sources), self.needs_grad
        return tuple([i for i, n in enumerate(names) if self.declared.kept(n, count) & needed])

    def get_retained_inputs(self) -> tuple[Variable, ...]:
        """Return the retained inputs as Variables, connected to the graph."""
        names = self.declared and self.declared.sources_of(len(self._sources))
        return tuple([self.inputs[i].get_variable() for i in self._indexes_of("inputs", names)])

    def get_retained_outputs(self) -> tuple[Variable, ...]:
        """Return the retained outputs as Variables, connected to the graph."""
        names = self.declared and (self.declared.outputs or ("out",))
        return tuple([self._output_variable(i) for i in self._indexes_of("outputs", names)])
