"""What the engine looks at of an operation: what its class says, and what is derived from that.

How it is derived, and what can be done with an operation, is added by `core.ops.function_node`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from core.graph.graph_node import GraphNode
from core.ops.types.domain import Domain


class Operation(GraphNode):
    """An operation in a graph, as those see it that plan, write and check its calls."""

    __slots__ = ()

    # What a class declares; see core.ops.declaration.
    output_names: ClassVar[tuple[str, ...]] = ()  # where there are several
    domain: Domain | None = None
    saved: ClassVar[tuple[str, ...]] = ()
    wide: ClassVar[bool] = False  # compute 16-bit floats in float32
    keeps_dtype: ClassVar[bool] = False  # the result's spec is known; see core.ops.elementwise
    promotes: ClassVar[bool] = False  # mixed inputs give the widest dtype, not that of the first
    inline: ClassVar[bool] = False  # copy one-line bodies into the calls; see core.ops.inline
    kernels_of: ClassVar[type | None] = None  # whose kernels serve too; not inherited
    recorded_gradient: ClassVar[type[Operation] | None] = None  # see core.ops.gradients
    _looked_for: ClassVar[tuple[str, ...]] = ("compute", "gradient", "prepare")  # if they are there
    call: Any  # declared: call(*inputs, **settings) -> a Variable, or a tuple for several outputs

    # What is derived from it when the class is created.
    declared: Any = None
    _checks_types: ClassVar[bool] = False
    _plans: ClassVar[dict[Any, Any]] = {}
    _gradient_kernels: ClassVar[dict[type, Any]] = {}
    _variants: ClassVar[dict[int, Any]] = {}
    _elementwise: ClassVar[bool] = False
    _plan_by_settings: ClassVar[bool] = False
    _prepares: ClassVar[bool] = False
    _is_specialized: ClassVar[bool] = True
    _bound: ClassVar[list[Callable[[Any], None]]] = []
    _inlined: ClassVar[bool] = False  # a plan may say None: compute stands in the call itself
    _run: Any = None

    # What core.ops.function_node adds.
    __call__: Any
    ready_call: Any
    specialize: Any
    variant: Any
