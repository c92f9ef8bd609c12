"""Function nodes: the operations of a graph.

A class is written in one of two ways. *Declared*: `compute` and gradient rules on arrays, of which
`core.ops.specialize` makes the fast calls and the backward on Variables. *General*: `forward` on
arrays and `backward` on Variables (`core.ops.general_form`). Both give the same kind of node, and
`apply` works on both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, dataclass_transform

from core.arrays.backend import on_kernels_changed
from core.graph.variable import Variable
from core.ops import declaring, dispatch
from core.ops.evaluated import Evaluated
from core.ops.from_settings import FromSettings
from core.ops.general_form import GeneralForm
from core.ops.specialize import Variant
from core.registry.once import publishing


@dataclass_transform()  # checkers derive the constructor from the settings, as `declaring` does
class FunctionNode(Evaluated, GeneralForm, FromSettings):
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
            return self._apply_generally(inputs)
        hooked = self._local_hooks is not None
        if hooked:  # perhaps before anything wrote the rules of its class
            self.ready_call()
            self._rules = (False, *type(self)._rules[1:])
        try:
            made = dispatch.take_slow_path(self, inputs) if hooked else self._run(*inputs)
        except TypeError:
            self.variant(len(inputs))  # which refuses a wrong number of them by name
            raise
        return (made,) if self._single else made


on_kernels_changed.append(dispatch.forget_plans)
