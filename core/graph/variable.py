"""Variables: arrays that remember how they were computed.

A `Variable` holds an array and, while it needs a gradient, points to its `VariableNode`; the node
points to the function that made it, the function to the nodes of its inputs. Nothing points back
strongly, so a graph dies by reference count with the last variable that leads to it.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from core.arrays.backend import BACKENDS
from core.arrays.spec import Spec, spec_of
from core.errors import kinds, scalars
from core.errors.keywords import answering, checked_when_called, complete_early
from core.errors.refused import RemovedAttribute, real_names, refuse_names_of_others
from core.graph.attributes import Attributes, rare
from core.graph.copies import Copies
from core.graph.fitting import check_grad, is_array, no_array, taken
from core.graph.history import History
from core.graph.methods import Methods
from core.graph.moving import Moving
from core.graph.operators import Operators
from core.graph.protocols import Protocols
from core.graph.variable_node import VariableNode
from core.registry.once import publishing

if TYPE_CHECKING:
    from core.typing import Array, BackendArray, MaybeArray


@answering("cleargrad", "retain_data")
class Variable(Attributes, Copies, History, Methods, Moving, Operators, Protocols):
    """An array with a history, from which `backward` computes derivatives.

    Args:
        data: An array of a registered backend, or None.
        name: What error messages and graphs call it.
        grad: The initial gradient, an array like `data`.
        requires_grad: Whether backpropagation computes a gradient for it.

    Operators, indexing, `len` and comparisons work on elements as NumPy's do, with broadcasting;
    comparisons give Variables without gradient. Hashing is by identity.

    >>> import core, numpy as np
    >>> x = core.Variable(np.array([5], "f"))
    >>> y = x**2 - 2 * x + 1
    >>> y
    variable([16.], dtype=float32)
    >>> y.backward()
    >>> x.grad
    array([8.], dtype=float32)
    """

    # No dict: an attribute that nobody knows is refused, and a variable is small.
    __slots__ = (
        "__weakref__",
        "_array",
        "_nondifferentiable",  # where set, the operation without a derivative that gave it
        "_source",
        "_own_constant",
        "_own_loss_scale",
        "_own_shown",
        "_spec",
    )
    _constant = rare("_own_constant", "The node of a variable without gradient, if asked for.")
    _shown = rare("_own_shown", "The node of a declared operation's output, if asked for.")
    loss_scale = rare("_own_loss_scale", "The factor that the last backward put on the gradient.")

    _scaled: ClassVar[bool] = False  # whether any backward has put a factor on gradients

    _nondifferentiable: str
    _array: BackendArray
    _source: Any  # the VariableNode or GraphNode that stands for it in the graph, if any does
    _spec: Spec | None

    _backward_from: ClassVar[Any]  # core.graph.backprop sets it

    volatile: Any = RemovedAttribute("Compute under core.no_backprop_mode() instead.")
    __array_priority__ = 200
    __hash__ = object.__hash__

    @partial(checked_when_called, checks=False)
    def __init__(
        self,
        data: Array | None = None,
        *,
        name: str | None = None,
        grad: Array | None = None,
        requires_grad: bool = True,
    ) -> None:
        array = None if data is None else taken(data)
        if array is None and data is not None:
            raise no_array("Variable: expected", data)
        self._array = array  # type: ignore[assignment]  # it is some backend's
        self._spec = spec_of(array)
        if requires_grad is not True and requires_grad is not False:
            requires_grad = kinds.truth(type(self).__name__, "requires_grad", requires_grad)
        self._source = VariableNode(self) if requires_grad else None
        if name is not None:
            self.name = name
        if grad is not None:
            self.grad = grad

    def __dir__(self) -> list[str]:
        return real_names(self)

    @property
    def array(self) -> MaybeArray:
        """The array; setting it does not change the graph."""
        return self._array

    @array.setter
    def array(self, array: Array | None) -> None:
        if array is not None and (take := BACKENDS[type(array)].taken) is not None:
            array = take(array)
        self._spec = spec = spec_of(array)
        source = self._source or self._constant
        if source is not None:
            source.spec = spec
        # Last: a parameter that has its array has all.
        self._array = array  # type: ignore[assignment]  # it is some backend's

    data = array

    # ------------------------------------------------------------------ its place in the graph

    @property
    def node(self) -> VariableNode:
        """The variable's place in the graph."""
        source = self._source
        if source is None:
            if self._constant is None:
                with publishing:
                    self._constant = self._constant or VariableNode(self, requires_grad=False)
            return self._constant  # type: ignore[no-any-return]
        if source.is_function:  # the node is made on request, and lives as long as this variable
            self._shown = source = source.output_node(self)
        return source  # type: ignore[no-any-return]

    @property
    def requires_grad(self) -> bool:
        """Whether backpropagation computes a gradient for it."""
        return self._source is not None

    @property
    def name(self) -> str | None:
        """The name in error messages and graphs."""
        source = self._source or self._constant
        return None if source is None else source._name

    @name.setter
    def name(self, name: str | None) -> None:
        (self._source or self.node)._name = name

    @property
    def label(self) -> str:
        """Shape and dtype in words, as graphs show them."""
        return self.node.label

    def retain_data(self) -> None:
        """Keep the array with the graph, beyond the life of this variable."""
        (self._source or self.node).data = self.array

    # ------------------------------------------------------------------ gradients

    @property
    def _grad(self) -> Any:
        source = self._source or self._constant
        return None if source is None else source._grad

    @_grad.setter
    def _grad(self, gradient: Any) -> None:
        source: Any = self._source or self._constant
        if source is None:
            if gradient is None:
                return
            source = self.node
        source.set_grad(gradient)

    @property
    def grad(self) -> MaybeArray:
        """The gradient as an array, or None."""
        source = self._source or self._constant
        gradient: Any = None if source is None else source._grad
        return gradient.array if isinstance(gradient, Variable) else gradient

    @grad.setter
    def grad(self, gradient: Array | None) -> None:
        if isinstance(gradient, Variable):
            raise TypeError("Variable.grad: expected an array, got a Variable. Set grad_var.")
        self.grad_var = gradient

    @property
    def grad_var(self) -> Variable | None:
        """The gradient as a Variable, whose own graph `enable_double_backprop` records."""
        gradient = self._grad
        if gradient is not None and not isinstance(gradient, Variable):
            gradient = self._grad = wrap(gradient, requires_grad=True)
        return gradient  # type: ignore[no-any-return]

    @grad_var.setter
    def grad_var(self, gradient: Array | None) -> None:
        if gradient is None:
            self.cleargrad()
        else:
            self._grad = check_grad(self._spec, self.name, gradient)

    def cleargrad(self) -> None:
        """Set the gradient to None."""
        source = self._source or self._constant
        if source is not None:
            source.set_grad(None)
        if Variable._scaled:
            self.loss_scale = None  # that of a gradient which is no longer there

    def backward(
        self,
        retain_grad: bool = False,
        enable_double_backprop: bool = False,
        loss_scale: float | None = None,
        *,
        free_graph: bool = False,
    ) -> None:
        """Compute gradients: add to those of all leaves that this variable was computed from.

        Args:
            retain_grad: Keep the gradients of the variables in between as well.
            enable_double_backprop: Record the graph of the gradients, for derivatives of them.
            loss_scale: Factor on the initial gradient, which optimizers divide out again.
            free_graph: Let the graph, as far as nobody else holds it, die as the walk goes. A later
                backward from this Variable, or through it, raises GraphError.

        A variable of one element starts with the gradient 1; else `grad` must have been set. Behind
        a leaf, as one is that was unchained, there is nothing, and nothing happens.

        Raises:
            GraphError: There is no gradient to start with, or this variable needs none.
        """
        self._backward_from([self], retain_grad, enable_double_backprop, loss_scale, free_graph)


_new = Variable.__new__


def wrap(array: Any, requires_grad: bool = False) -> Variable:
    """A Variable around an array that is known to be one."""
    variable = _new(Variable)
    variable._array = array
    variable._spec = spec_of(array)
    variable._source = VariableNode(variable) if requires_grad else None
    return variable


def variable_of(source: Any) -> Variable:
    """A variable that stands for a source, with the array that was retained."""
    variable = _new(Variable)
    variable._array = source.data
    variable._spec = source.spec
    if source._constant:
        variable._source = None
        variable._constant = source
    else:
        variable._source = source
    return variable


def _revive(node: VariableNode) -> Variable:
    """The variable of a node whose own is gone."""
    variable = variable_of(node._source)
    if node._source is not node:
        variable._shown = node
    return variable


VariableNode.revive = _revive


refuse_names_of_others(Variable)


def as_variable(obj: Any) -> Variable:
    """Return `obj` if it is a Variable, otherwise a Variable around it that needs no gradient.

    >>> import core, numpy as np
    >>> core.as_variable(np.zeros(2)).requires_grad
    False
    """
    if isinstance(obj, Variable):
        return obj
    array = taken(obj)
    return Variable(obj, requires_grad=False) if array is None else wrap(array)


def as_array(obj: Any) -> BackendArray:
    """Return the array of a Variable; anything else is returned unchanged."""
    return obj.array if isinstance(obj, Variable) else obj


kinds.Variable, kinds.as_array, kinds.is_array = Variable, as_array, is_array
scalars.Variable = Variable
complete_early()
