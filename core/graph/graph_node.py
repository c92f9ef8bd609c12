"""A function's place in a graph: its inputs and outputs, and what is retained of them.

What it computes, and how it is applied, is added by `core.ops.function_node`.
"""

from __future__ import annotations

from itertools import count
from typing import Any, ClassVar
from weakref import ref

from core.errors import GraphError
from core.graph.copies import Uncopied
from core.graph.history import rank_of
from core.graph.hooked import Hooked
from core.graph.output_node import OutputNode
from core.graph.variable import Variable, variable_of
from core.graph.variable_node import VariableNode

_new = object.__new__

places = count(1)
next_sequence = places.__next__
"""The place of a function that is about to be recorded in the order of creation."""


class GraphNode(Hooked, Uncopied):
    """What every function node has for its neighbours in the graph."""

    __slots__ = ("__dict__", "__weakref__", "_sources", "data", "sequence", "spec", "needs_grad")

    # What the walk looks at; core.ops.declaring sets it for each declared class.
    is_function: ClassVar[bool] = True  # as a source of others; see core.graph.variable_node
    _constant: ClassVar[bool] = False
    _single: ClassVar[bool] = False  # has one output, always
    # Whether the short step will do: one output, nobody looks on. Gradients on arrays, Variables.
    _rules: tuple[bool, Any, Any] = (False, None, None)

    _sources: Any  # of the inputs, once the graph is recorded; None before, and once it was cut
    needs_grad: int  # bit i: input i needs a gradient
    data: Any  # what is retained of the outputs: the array, or a tuple for several
    spec: Any  # the spec of a lone output
    sequence: int  # creation order, which is a topological order

    # What an instance may have in its dict.
    _outputs: Any = None  # weak references to output nodes
    _nodes: Any = None  # the inputs' nodes, once asked for
    _grad: Any = None  # of a lone output: its gradient and name
    _name: str | None = None
    shapes: Any = None
    _freed: bool = False  # whether a backward has cut it that was to free the graph

    __array_ufunc__ = None

    def __new__(cls, /, *args: Any, **kwargs: Any) -> Any:
        """A node outside any graph; subclasses need not call `__init__` of this class."""
        f = _new(cls)
        f._sources = f.data = f.spec = None
        f.needs_grad = f.sequence = 0
        return f

    # ------------------------------------------------------------------ names and neighbours

    @property
    def label(self) -> str:
        """What graphs and messages call it: its class, unless that has a `label` of its own."""
        return type(self).__name__

    # Itself, as the creator of its outputs, and beside an old-style Function, which has an adapter.
    node = creator = property(lambda f: f)

    @property
    def rank(self) -> int:
        """Length of the longest path from a leaf; worked out when asked."""
        return rank_of(self)

    @property
    def inputs(self) -> Any:
        """The nodes of the inputs, a tuple; None outside a graph."""
        if self._sources is None:
            return None
        if self._nodes is None:
            self._nodes = tuple([e.output_node() if e.is_function else e for e in self._sources])
        return self._nodes

    @property
    def outputs(self) -> tuple[Any, ...]:
        """Callables that give the nodes of the outputs: weak references where there are several."""
        if self._single:
            return (self.output_node,) if self._sources is not None else ()
        return self._outputs or ()

    def set_grad(self, gradient: Any) -> None:
        """Set the gradient of a lone output; the walk then clears it when it comes by."""
        self._grad = gradient
        self._rules = (False, *self._rules[1:])

    def output_node(self: Any, variable: Variable | None = None) -> OutputNode:
        """The node of a lone output, the same one as long as anybody holds it."""
        node: OutputNode | None = self._outputs[0]() if self._outputs else None
        if node is None:
            node = OutputNode(self)
            self._outputs = (ref(node),)
        if variable is not None:
            node._variable = ref(variable)
        return node

    def input_shape(self, index: int) -> tuple[int, ...]:
        """The shape of an input, which costs no retention."""
        return self._sources[index].spec.shape  # type: ignore[no-any-return]

    def input_dtype(self, index: int) -> Any:
        """The dtype of an input."""
        return self._sources[index].spec.dtype

    @property
    def out(self) -> Any:
        """What is retained of the outputs: the array of a single one, or a tuple."""
        return self.data

    @property
    def output_data(self) -> tuple[Any, ...]:
        """The retained output arrays, None for those that are not retained."""
        return (self.data,) if self._single else tuple(self.data or ())

    def _output_variable(self: Any, index: int) -> Variable:
        """Output `index` as a Variable whose creator is this node, revived if it is gone."""
        if self._single:
            return variable_of(self)
        node: VariableNode | None = self._outputs[index]()
        if node is None:
            node = VariableNode(None, data=self.data[index])
            node.creator_node = self
            references = list(self._outputs)
            references[index] = ref(node)
            self._outputs = tuple(references)
        return node.get_variable()

    def come_from(self, function: GraphNode | None) -> None:
        """Be, or with None no longer be, what made the lone output that this stands for."""
        if function is None:
            self.unchain()
        elif function is not self:
            raise GraphError(f"the output of {self.label} cannot get another creator")

    def unchain(self) -> None:
        """Cut the node off its inputs and outputs."""
        if not self._single:
            for reference in self._outputs or ():
                node = reference()
                if node is not None:
                    node.unchain()
        self._sources = self._nodes = None
