"""Variable nodes: the places of variables in a graph.

The engine walks over *sources*: what a variable points to, and what a function points to its inputs
by. A source is a `VariableNode` for a leaf and for an output of several, and the `GraphNode`
itself for the lone output of a declared operation, which saves an object for each. Both kinds hold
the spec, the gradient, and in `data` the array, if some function retained it. Who asks for the node
of such an output gets an `OutputNode`, which shows what its function holds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias
from weakref import ref

from core.arrays.backend import BACKENDS
from core.arrays.spec import Spec, spec_of
from core.errors import GraphError
from core.graph.history import History

if TYPE_CHECKING:
    from core.graph.graph_node import GraphNode
    from core.graph.variable import Variable

Source: TypeAlias = "VariableNode | GraphNode"


class _Gone:
    """What a weak reference without a target was made from."""


NOBODY: Any = ref(_Gone())


class VariableNode(History):
    """A variable's place in the graph; it outlives the variable and keeps the array if asked to.

    Functions keep nodes, not variables, so that an array which no gradient rule needs is freed with
    its variable. `data` is the array if some function retained it.
    """

    __slots__ = (
        "__weakref__",
        "_constant",
        "_creator",
        "_sources",
        "_grad",
        "_name",
        "_variable",
        "data",
        "spec",
    )

    is_function: ClassVar[bool] = False
    revive: ClassVar[Callable[[VariableNode], Variable]]  # core.graph.variable sets it

    _constant: bool
    _creator: GraphNode | None
    _sources: tuple[()] | None  # None for a leaf, (): the walk asks every kind of source for them
    _grad: Any
    _name: str | None
    _variable: Any
    data: Any
    spec: Spec | None

    def __init__(
        self,
        variable: Variable | None,
        name: str | None = None,
        *,
        data: Any = None,
        requires_grad: bool = True,
    ) -> None:
        self._constant = not requires_grad
        self._creator = self._sources = self._grad = None
        self._name = name
        self._variable = NOBODY if variable is None else ref(variable)
        self.data = data
        self.spec = spec_of(data) if variable is None else variable._spec

    @property
    def _source(self) -> Any:
        """What the engine walks over: itself, or the function whose lone output it is."""
        return self

    @property
    def requires_grad(self) -> bool:
        """Whether backpropagation computes a gradient for it."""
        return not self._constant

    @property
    def name(self) -> str | None:
        """The name of the variable, if it has one."""
        return self._name

    @name.setter
    def name(self, name: str | None) -> None:
        self._name = name

    def come_from(self, function: GraphNode | None) -> None:
        """Take another creator, or with None become a leaf."""
        self._creator = function
        self._sources = None if function is None else ()

    @property
    def shape(self) -> tuple[int, ...] | None:
        """The shape of the array, None while there is no array."""
        return None if self.spec is None else self.spec.shape

    @property
    def dtype(self) -> Any:
        """The dtype of the array, None while there is no array."""
        return None if self.spec is None else self.spec.dtype

    @property
    def label(self) -> str:
        """Shape and dtype in words, as graphs show them."""
        if self.spec is None:
            return "(uninitialized)"
        shape = "" if self.spec.shape == () else f"({', '.join(map(str, self.spec.shape))}), "
        return shape + self.spec.name

    def get_variable_or_none(self) -> Variable | None:
        """Return the variable if it still exists, otherwise None."""
        return self._variable()  # type: ignore[no-any-return]

    def get_variable(self) -> Variable:
        """Return the variable; if it no longer exists, another one with the retained array."""
        variable: Variable | None = self._variable()
        if variable is None:
            variable = self.revive()
            self._variable = ref(variable)
        return variable

    @property
    def grad(self) -> Any:
        """The gradient as an array, or None."""
        gradient = self._grad
        return gradient if gradient is None or type(gradient) in BACKENDS else gradient.array

    def set_grad(self, gradient: Any) -> None:
        """Set the gradient, an array, a Variable or None."""
        self._grad = gradient

    @property
    def grad_var(self) -> Variable | None:
        """The gradient as a Variable, or None."""
        return self.get_variable().grad_var

    def retain_data(self) -> None:
        """Keep the array with the node, beyond the life of the variable."""
        variable = self._variable()
        if variable is None:
            raise GraphError(
                "VariableNode.retain_data: the variable is gone, and its array with it. "
                "Retain while the variable is alive."
            )
        self.data = variable.array
